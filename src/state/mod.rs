//! Storage of fields on the tiles of one rank.

mod slabs;

pub use slabs::{Slabs, TileSet};
