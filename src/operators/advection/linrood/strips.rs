//! Halo strips beyond all four edges, for planes that are chosen by the edge.

use decomposition::{Axis, CellStep, ExchangeKind, HaloPlan, Layout, Message, Strip, StripSide};
use kernels::{Scalar, TileShape};

use crate::operators::halo::{copy_line, read_line, write_line};
use crate::state::TileSet;

/// One side of a strip within a plane of a tile of the rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    /// Position of the tile among those of the rank.
    pub(super) tile: usize,
    /// Axis across the edge.
    pub(super) across_axis: Axis,
    start: isize,
    along: isize,
    across: isize,
}

impl Side {
    fn new(side: &StripSide, set: &TileSet) -> Self {
        let tile = set.local(side.tile).expect("plans name the rank's own tiles");
        let shape: &TileShape = &set.shapes()[tile];
        let step = |s: CellStep| s.dj * shape.pitch as isize + s.di;
        Self {
            tile,
            across_axis: if side.across.di == 0 { Axis::Y } else { Axis::X },
            start: shape.index(side.i, side.j) as isize,
            along: step(side.along),
            across: step(side.across),
        }
    }

    /// From the edge cells to the positions of their faces on the edge.
    pub(super) fn to_faces(self) -> usize {
        // The other way from an edge cell lies inside; faces are stored with the cell on their high side.
        (-self.across).max(0) as usize
    }

    fn line(&self, plane: usize, d: usize) -> isize {
        plane as isize + self.start + d as isize * self.across
    }
}

#[derive(Clone, Copy, Debug)]
struct Path<S, T> {
    source: S,
    target: T,
    len: usize,
}

/// Strips of one rank: copies between its tiles, and messages to and from other ranks.
pub(super) struct EdgeStrips {
    local: Vec<Path<Side, Side>>,
    sends: Vec<Vec<Path<Side, ()>>>,
    receives: Vec<Vec<Path<(), Side>>>,
    peers: [Vec<usize>; 2],
}

impl EdgeStrips {
    /// Strips beyond all edges, with or without corners within panels.
    pub(super) fn new(layout: &Layout, kind: ExchangeKind, set: &TileSet, rank: usize) -> Self {
        let plan = HaloPlan::new(layout, kind, rank);
        let source = |s: &Strip| Side::new(&s.source, set);
        let target = |s: &Strip| Side::new(&s.target, set);
        let peers = |messages: &[Message]| messages.iter().map(|m| m.peer).collect();
        let local = |s: &Strip| Path { source: source(s), target: target(s), len: s.len };
        let send = |s: &Strip| Path { source: source(s), target: (), len: s.len };
        let receive = |s: &Strip| Path { source: (), target: target(s), len: s.len };
        Self {
            local: plan.local.iter().map(local).collect(),
            sends: plan.sends.iter().map(|m| m.strips.iter().map(send).collect()).collect(),
            receives: plan.receives.iter().map(|m| m.strips.iter().map(receive).collect()).collect(),
            peers: [peers(&plan.sends), peers(&plan.receives)],
        }
    }

    /// Whether this rank writes to or hears from another one.
    pub(super) fn any_messages(&self) -> bool {
        self.peers.iter().any(|peers| !peers.is_empty())
    }

    /// Peer and number of cells of each message sent, for one plane per strip of this depth.
    pub(super) fn sent(&self, depth: usize) -> impl Iterator<Item = (usize, usize)> {
        let cells = move |strips: &Vec<Path<Side, ()>>| strips.iter().map(|path| path.len * depth).sum();
        self.peers[0].iter().copied().zip(self.sends.iter().map(cells))
    }

    /// The same of each message received.
    pub(super) fn received(&self, depth: usize) -> impl Iterator<Item = (usize, usize)> {
        let cells = move |strips: &Vec<Path<(), Side>>| strips.iter().map(|path| path.len * depth).sum();
        self.peers[1].iter().copied().zip(self.receives.iter().map(cells))
    }

    /// Copies between tiles of the rank; `from` and `to` tell where the planes begin that a side is read from and written to.
    pub(super) fn copy<R: Scalar>(
        &self,
        data: &mut [R],
        depth: usize,
        from: impl Fn(&Side) -> usize,
        to: impl Fn(&Side) -> usize,
    ) {
        for path in &self.local {
            let (from, to) = (from(&path.source), to(&path.target));
            for d in 0..depth {
                let (source, target) = (path.source.line(from, d), path.target.line(to, d));
                copy_line(data, source, path.source.along, target, path.target.along, path.len);
            }
        }
    }

    /// Writes the strips of message `n` to the front of `message`; returns what is left of it.
    pub(super) fn pack<'a, R: Scalar>(
        &self,
        n: usize,
        data: &[R],
        depth: usize,
        plane: impl Fn(&Side) -> usize,
        mut message: &'a mut [R],
    ) -> &'a mut [R] {
        for path in &self.sends[n] {
            let from = plane(&path.source);
            for d in 0..depth {
                let (line, after) = message.split_at_mut(path.len);
                read_line(data, path.source.line(from, d) as usize, path.source.along, line);
                message = after;
            }
        }
        message
    }

    /// Reads the strips of message `n` from the front of `message`; returns what is left of it.
    pub(super) fn unpack<'a, R: Scalar>(
        &self,
        n: usize,
        data: &mut [R],
        depth: usize,
        plane: impl Fn(&Side) -> usize,
        mut message: &'a [R],
    ) -> &'a [R] {
        for path in &self.receives[n] {
            let to = plane(&path.target);
            for d in 0..depth {
                let (line, after) = message.split_at(path.len);
                write_line(data, path.target.line(to, d) as usize, path.target.along, line);
                message = after;
            }
        }
        message
    }
}
