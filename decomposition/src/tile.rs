//! Rectangular piece of a panel.

use serde::Serialize;

use crate::Panel;

/// A rectangle of cells of one panel, owned by one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Tile {
    /// Position in the layout's list of tiles.
    pub id: usize,
    /// Panel the tile lies on.
    pub panel: Panel,
    /// First cell along i within the panel, counted from 0.
    pub i0: usize,
    /// First cell along j within the panel, counted from 0.
    pub j0: usize,
    /// Cells along i.
    pub ni: usize,
    /// Cells along j.
    pub nj: usize,
    /// Owning rank.
    pub rank: usize,
}
