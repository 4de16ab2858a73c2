//! Halo exchanges as data: which cells fill which halo cells, and which of them travel between ranks.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::strip::{Strip, StripSide};
use crate::{AlongEdge, Axis, Corner, Edge, Layout, Tile};

/// What an exchange fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum ExchangeKind {
    /// What sweeps along one axis read: the strips beyond both tile edges normal to the axis, and the strips beyond
    /// those other panel edges whose seam is crossed during this sweep because the owner's edge is normal to the axis.
    Sweep(Axis),
    /// The strips beyond all four edges of every tile, without corners.
    Edges,
    /// All four edges and the corner blocks of every tile. Blocks at cube vertices, where no fourth panel exists, are
    /// filled from the tile's own strips afterwards: see [`HaloPlan::vertex_corners`].
    Full,
}

/// Values that travel together between two ranks, strip after strip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The other rank.
    pub peer: usize,
    /// Strips in packing order, the same on both sides.
    pub strips: Vec<Strip>,
}

impl Message {
    /// Number of cells in the message.
    pub fn cells(&self) -> usize {
        self.strips.iter().map(Strip::cells).sum()
    }
}

/// One rank's part of a halo exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HaloPlan {
    /// What the exchange fills.
    pub kind: ExchangeKind,
    /// Copies between tiles of this rank.
    pub local: Vec<Strip>,
    /// One message for each rank that reads cells of this one, peers ascending.
    pub sends: Vec<Message>,
    /// One message from each rank this one reads, peers ascending.
    pub receives: Vec<Message>,
    /// Copies into vertex corner blocks for sweeps along X and along Y; empty unless the kind is `Full`.
    pub corner_copies: [Vec<Strip>; 2],
}

impl HaloPlan {
    /// Plan of `rank`; empty for a rank the layout does not have.
    ///
    /// Work and memory are proportional to the tiles of the rank and their neighbours.
    pub fn new(layout: &Layout, kind: ExchangeKind, rank: usize) -> HaloPlan {
        let owner = |tile: usize| layout.tiles()[tile].rank;
        let mut local = Vec::new();
        let mut received: BTreeMap<usize, Vec<Strip>> = BTreeMap::new();
        let mut neighbours = BTreeSet::new();
        let mut corner_copies = [Vec::new(), Vec::new()];
        for tile in layout.tiles_of(rank) {
            for strip in strips_into(layout, kind, tile) {
                match owner(strip.source.tile) {
                    peer if peer == rank => local.push(strip),
                    peer => received.entry(peer).or_default().push(strip),
                }
            }
            // Being a neighbour is mutual, so the tiles read here include all that read from here.
            let sources = strips_into(layout, ExchangeKind::Full, tile).into_iter().map(|strip| strip.source.tile);
            neighbours.extend(sources.filter(|&source| owner(source) != rank));
            if kind == ExchangeKind::Full {
                for axis in [Axis::X, Axis::Y] {
                    corner_copies[axis as usize].extend(vertex_copies(layout, tile, axis));
                }
            }
        }
        let mut sent: BTreeMap<usize, Vec<Strip>> = BTreeMap::new();
        for reader in neighbours.into_iter().map(|tile| &layout.tiles()[tile]) {
            let strips = strips_into(layout, kind, reader).into_iter().filter(|strip| owner(strip.source.tile) == rank);
            sent.entry(reader.rank).or_default().extend(strips);
        }
        sent.retain(|_, strips| !strips.is_empty());
        let messages = |by_peer: BTreeMap<usize, Vec<Strip>>| {
            by_peer.into_iter().map(|(peer, strips)| Message { peer, strips }).collect()
        };
        HaloPlan { kind, local, sends: messages(sent), receives: messages(received), corner_copies }
    }

    /// Copies that fill the corner blocks at cube vertices for a sweep along `axis`, to be made once the edge strips
    /// are in place. Empty unless the plan is `Full`.
    ///
    /// The block is the tile's own halo beyond its E or W edge (axis X) or its N or S edge (axis Y), turned by 90
    /// degrees about the vertex, so that it continues the rows a sweep along `axis` follows (Putman & Lin 2007).
    pub fn vertex_corners(&self, axis: Axis) -> &[Strip] {
        &self.corner_copies[axis as usize]
    }

    /// Cells sent to other ranks.
    pub fn send_cells(&self) -> usize {
        self.sends.iter().map(Message::cells).sum()
    }

    /// Cells received from other ranks.
    pub fn receive_cells(&self) -> usize {
        self.receives.iter().map(Message::cells).sum()
    }
}

/// All strips that fill the halo of `tile`: edges N, S, E, W, then corner blocks, each along increasing index.
fn strips_into(layout: &Layout, kind: ExchangeKind, tile: &Tile) -> Vec<Strip> {
    let mut strips = Vec::new();
    for edge in Edge::ALL {
        let wanted = match kind {
            ExchangeKind::Edges | ExchangeKind::Full => true,
            ExchangeKind::Sweep(axis) => edge.axis() == axis || crossed_in_sweep(layout, tile, edge, axis),
        };
        if wanted {
            let (start, len) = along_range(tile, edge);
            strips_beyond(layout, tile, edge, start, len, &mut strips);
        }
    }
    if kind == ExchangeKind::Full {
        for corner in Corner::ALL {
            let (row, column) = corner.edges();
            // The block continues the strip of an edge past the end at which the panel goes on.
            let (edge, end) = match (layout.on_panel_edge(tile, row), layout.on_panel_edge(tile, column)) {
                (true, true) => continue,
                (_, false) => (row, column),
                (false, true) => (column, row),
            };
            let (start, len) = along_range(tile, edge);
            let start = if end.is_outflow() { start + len } else { start - layout.halo() };
            strips_beyond(layout, tile, edge, start, layout.halo(), &mut strips);
        }
    }
    strips
}

/// Whether `edge` of `tile` lies on a seam that sweeps along `axis` cross.
fn crossed_in_sweep(layout: &Layout, tile: &Tile, edge: Edge, axis: Axis) -> bool {
    layout.on_panel_edge(tile, edge) && layout.convention().seam_at(tile.panel, edge).0.axis == axis
}

/// First along-edge index, within the panel, of `edge` of `tile`, and its length.
pub(crate) fn along_range(tile: &Tile, edge: Edge) -> (usize, usize) {
    match edge.axis() {
        Axis::X => (tile.j0, tile.nj),
        Axis::Y => (tile.i0, tile.ni),
    }
}

/// Appends the strips that fill the halo of `tile` beyond `edge` at along-edge indices `start`..`start + len` of the
/// panel, one for each source tile. The range may leave the tile by up to a halo width, but not the panel.
fn strips_beyond(layout: &Layout, tile: &Tile, edge: Edge, start: usize, len: usize, strips: &mut Vec<Strip>) {
    if layout.halo() == 0 {
        return;
    }
    let (tile_start, _) = along_range(tile, edge);
    let mut s = start;
    while s < start + len {
        let (source, source_edge, sense) = source_beyond(layout, tile, edge, s);
        let mapped = sense.map(s, layout.nc());
        let (source_start, source_len) = along_range(source, source_edge);
        let to_source_end = match sense {
            AlongEdge::Aligned => source_start + source_len - mapped,
            AlongEdge::Reversed => mapped + 1 - source_start,
        };
        let run = to_source_end.min(start + len - s);
        strips.push(Strip {
            source: StripSide::inside(source, source_edge, mapped as isize - source_start as isize, sense),
            target: StripSide::outside(tile, edge, s as isize - tile_start as isize),
            len: run,
            depth: layout.halo(),
        });
        s += run;
    }
}

/// Tile beyond `edge` of `tile` at along-edge index `s` of the panel, its touching edge and the sense along it.
fn source_beyond<'a>(layout: &'a Layout, tile: &Tile, edge: Edge, s: usize) -> (&'a Tile, Edge, AlongEdge) {
    let last = layout.nc() - 1;
    if layout.on_panel_edge(tile, edge) {
        let contact = layout.convention().contact(tile.panel, edge);
        let s = contact.along.map(s, layout.nc());
        let (i, j) = match contact.edge {
            Edge::North => (s, last),
            Edge::South => (s, 0),
            Edge::East => (last, s),
            Edge::West => (0, s),
        };
        (layout.tile_at(contact.panel, i, j), contact.edge, contact.along)
    } else {
        let (i, j) = match edge {
            Edge::North => (s, tile.j0 + tile.nj),
            Edge::South => (s, tile.j0 - 1),
            Edge::East => (tile.i0 + tile.ni, s),
            Edge::West => (tile.i0 - 1, s),
        };
        (layout.tile_at(tile.panel, i, j), edge.opposite(), AlongEdge::Aligned)
    }
}

/// Copies into the corner blocks of `tile` that lie at cube vertices, for sweeps along `axis`.
fn vertex_copies(layout: &Layout, tile: &Tile, axis: Axis) -> Vec<Strip> {
    let halo = layout.halo();
    let at_vertex = |corner: &Corner| {
        let (row, column) = corner.edges();
        halo > 0 && layout.on_panel_edge(tile, row) && layout.on_panel_edge(tile, column)
    };
    let copy = |corner: Corner| {
        let (row, column) = corner.edges();
        // First cells inside and outside, along each axis, counted from the vertex.
        let near = |n: usize, edge: Edge| if edge.is_outflow() { (n as isize - 1, n as isize) } else { (0, -1) };
        let (in_i, out_i) = near(tile.ni, column);
        let (in_j, out_j) = near(tile.nj, row);
        let (outward_i, outward_j) = (column.outward(), row.outward());
        let target = StripSide { tile: tile.id, i: out_i, j: out_j, along: outward_i, across: outward_j };
        let source = match axis {
            Axis::X => StripSide { tile: tile.id, i: out_i, j: in_j, along: outward_j.reversed(), across: outward_i },
            Axis::Y => StripSide { tile: tile.id, i: in_i, j: out_j, along: outward_j, across: outward_i.reversed() },
        };
        Strip { source, target, len: halo, depth: halo }
    };
    Corner::ALL.into_iter().filter(at_vertex).map(copy).collect()
}
