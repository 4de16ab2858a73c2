//! Where the tiles of a rank touch seams, and how to read both sides in the owner's orientation.

use crate::halo::along_range;
use crate::strip::edge_cell;
use crate::{AlongEdge, Axis, CellStep, Edge, Layout, Seam, SeamSide, SeamSign, Tile};

/// Order in which the cells of a tile across its panel edge appear along the positive axis of the seam's owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StencilOrder {
    /// The tile's interior cells, the innermost first, then its halo cells.
    InteriorFirst,
    /// The tile's halo cells, the outermost first, then its interior cells.
    HaloFirst,
}

/// The part of a seam along one edge of one tile. Index s in 0..`len` runs with the owner's along-edge index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeamSegment {
    /// Seam, by its `number`.
    pub seam: usize,
    /// Side of the seam on which the tile lies.
    pub side: SeamSide,
    /// Tile, by its `id` in the layout.
    pub tile: usize,
    /// Edge of the tile.
    pub edge: Edge,
    /// Tile-local edge cell at s = 0.
    pub cell: (isize, isize),
    /// Step of s from edge cell to edge cell.
    pub along: CellStep,
    /// Step from an edge cell into the tile.
    pub inward: CellStep,
    /// Number of faces.
    pub len: usize,
    /// Along-edge index of s = 0 on the owner's panel, counted from 0.
    pub owner_start: usize,
    /// Order of the cells across the edge along the owner's positive axis.
    pub order: StencilOrder,
    /// Sign between the flux copies of both sides.
    pub sign: SeamSign,
    /// Tile-local index of the boundary face at s = 0 in the face plane of the edge's axis: W (0, j), E (ni, j),
    /// S (i, 0), N (i, nj).
    pub face: (isize, isize),
    /// Step of s from face to face.
    pub face_along: CellStep,
    /// +1 if a positive flux through the owner's edge leaves the owner's panel (N, E), −1 if it enters (S, W).
    pub leaves_owner: f64,
}

/// Seam segments of one rank for sweeps along one axis: in the order of the seams, the owner's side first, then along
/// the owner's edge. A seam is listed for every tile that touches it, on both sides.
///
/// A cell at a cube vertex may touch two seams of one sweep; following this order makes its sum the same on every
/// layout.
#[derive(Clone, Debug, PartialEq)]
pub struct SeamPlan {
    segments: Vec<SeamSegment>,
}

impl SeamPlan {
    /// Segments of `rank` on the seams crossed by sweeps along `axis`; none for a rank the layout does not have.
    pub fn new(layout: &Layout, axis: Axis, rank: usize) -> SeamPlan {
        let seams = layout.convention().seams();
        let mut segments = Vec::new();
        for tile in layout.tiles_of(rank) {
            for seam in seams.iter().filter(|seam| seam.axis == axis) {
                for side in [SeamSide::Owner, SeamSide::Other] {
                    let (panel, edge) = seam.edge_of(side);
                    if panel == tile.panel && layout.on_panel_edge(tile, edge) {
                        segments.push(segment(layout.nc(), tile, seam, side));
                    }
                }
            }
        }
        segments.sort_by_key(|segment| (segment.seam, segment.side, segment.owner_start));
        SeamPlan { segments }
    }

    /// All segments in order.
    pub fn segments(&self) -> &[SeamSegment] {
        &self.segments
    }
}

impl std::ops::Deref for SeamPlan {
    type Target = [SeamSegment];

    fn deref(&self) -> &[SeamSegment] {
        &self.segments
    }
}

fn segment(nc: usize, tile: &Tile, seam: &Seam, side: SeamSide) -> SeamSegment {
    let (_, edge) = seam.edge_of(side);
    let owner_edge = seam.owner.1;
    let (start, len) = along_range(tile, edge);
    let backward = side == SeamSide::Other && seam.along == AlongEdge::Reversed;
    let (first, along) = if backward { (len - 1, edge.along().reversed()) } else { (0, edge.along()) };
    let cell = edge_cell(tile, edge, first as isize);
    // Faces are numbered by the cell on their high side.
    let past = if edge.is_outflow() { edge.outward() } else { CellStep { di: 0, dj: 0 } };
    let owner_start = if backward { seam.along.map(start + first, nc) } else { start };
    let outflow_first = owner_edge.is_outflow() == (side == SeamSide::Owner);
    SeamSegment {
        seam: seam.number,
        side,
        tile: tile.id,
        edge,
        cell,
        along,
        inward: edge.outward().reversed(),
        len,
        owner_start,
        order: if outflow_first { StencilOrder::InteriorFirst } else { StencilOrder::HaloFirst },
        sign: seam.sign,
        face: (cell.0 + past.di, cell.1 + past.dj),
        face_along: along,
        leaves_owner: if owner_edge.is_outflow() { 1.0 } else { -1.0 },
    }
}
