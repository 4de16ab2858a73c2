//! Storage of fields on the tiles of one rank.

mod packed;
mod slabs;

pub use packed::{AIR, PackedState};
pub use slabs::{Slabs, TileSet};
