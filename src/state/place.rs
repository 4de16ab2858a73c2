//! Cells of a rank.

/// A value of the packed state of a rank; ordered as cells are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellPlace {
    /// Level, from 0 at the top.
    pub level: usize,
    /// Tile within the rank's set.
    pub tile: usize,
    /// Plane: 0 is air, tracer `t` is `t + 1`.
    pub plane: usize,
    /// Row, from the first interior one.
    pub j: usize,
    /// Column, from the first interior one.
    pub i: usize,
}
