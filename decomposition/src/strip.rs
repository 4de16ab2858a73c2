//! Rectangles of cells that are copied from one tile into the halo of another.

use crate::{AlongEdge, Edge, Tile};

/// Step from one cell to the next, in the i and j of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CellStep {
    /// Change of i.
    pub di: isize,
    /// Change of j.
    pub dj: isize,
}

impl CellStep {
    /// The opposite step.
    pub fn reversed(self) -> CellStep {
        CellStep { di: -self.di, dj: -self.dj }
    }
}

impl Edge {
    /// Step across the edge, out of the panel or tile.
    pub fn outward(self) -> CellStep {
        match self {
            Edge::North => CellStep { di: 0, dj: 1 },
            Edge::South => CellStep { di: 0, dj: -1 },
            Edge::East => CellStep { di: 1, dj: 0 },
            Edge::West => CellStep { di: -1, dj: 0 },
        }
    }

    /// Step along the edge, toward larger i (N, S) or j (E, W).
    pub fn along(self) -> CellStep {
        match self {
            Edge::North | Edge::South => CellStep { di: 1, dj: 0 },
            Edge::East | Edge::West => CellStep { di: 0, dj: 1 },
        }
    }
}

/// One side of a [`Strip`]: an affine walk over cells of one tile.
///
/// Cells are tile-local: the interior is 0..ni by 0..nj, halo cells have negative or larger indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StripSide {
    /// Tile, by its `id` in the layout.
    pub tile: usize,
    /// i of cell (s, d) = (0, 0).
    pub i: isize,
    /// j of cell (s, d) = (0, 0).
    pub j: isize,
    /// Step of s.
    pub along: CellStep,
    /// Step of d.
    pub across: CellStep,
}

impl StripSide {
    /// Tile-local (i, j) of cell (`s`, `d`).
    pub fn cell(&self, s: usize, d: usize) -> (isize, isize) {
        let (s, d) = (s as isize, d as isize);
        (self.i + s * self.along.di + d * self.across.di, self.j + s * self.along.dj + d * self.across.dj)
    }

    /// Cells inside `edge` of `tile`, from along-edge index `start` on, rows counted from the edge inward.
    pub(crate) fn inside(tile: &Tile, edge: Edge, start: isize, sense: AlongEdge) -> StripSide {
        let (i, j) = edge_cell(tile, edge, start);
        let along = match sense {
            AlongEdge::Aligned => edge.along(),
            AlongEdge::Reversed => edge.along().reversed(),
        };
        StripSide { tile: tile.id, i, j, along, across: edge.outward().reversed() }
    }

    /// Halo cells outside `edge` of `tile`, from along-edge index `start` on, rows counted from the edge outward.
    pub(crate) fn outside(tile: &Tile, edge: Edge, start: isize) -> StripSide {
        let (i, j) = edge_cell(tile, edge, start);
        let across = edge.outward();
        StripSide { tile: tile.id, i: i + across.di, j: j + across.dj, along: edge.along(), across }
    }
}

/// Tile-local interior cell at along-edge index `s` of `edge`.
pub(crate) fn edge_cell(tile: &Tile, edge: Edge, s: isize) -> (isize, isize) {
    match edge {
        Edge::North => (s, tile.nj as isize - 1),
        Edge::South => (s, 0),
        Edge::East => (tile.ni as isize - 1, s),
        Edge::West => (0, s),
    }
}

/// A copy: cell (s, d) of `target` takes the value of cell (s, d) of `source`, s in 0..`len`, d in 0..`depth`.
///
/// In a message the cells of a strip follow each other with s fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Strip {
    /// Where the values come from.
    pub source: StripSide,
    /// Halo cells that receive them.
    pub target: StripSide,
    /// Extent of s.
    pub len: usize,
    /// Extent of d.
    pub depth: usize,
}

impl Strip {
    /// Number of cells copied.
    pub fn cells(&self) -> usize {
        self.len * self.depth
    }
}
