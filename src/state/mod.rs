//! Storage of fields on the tiles of one rank.

mod packed;
mod place;
mod slabs;

pub use packed::{AIR, PackedState};
pub use place::CellPlace;
pub use slabs::{Slabs, TileSet};
