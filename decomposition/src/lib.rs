//! Cubed-sphere topology, rank layouts and exchange plans. Pure data: no MPI, no files.

#![forbid(unsafe_code)]

mod contact;
mod layout;
mod panel;
mod seam;
mod split;
mod tile;
mod vertex;

pub use contact::{AlongEdge, Contact};
pub use layout::{Layout, LayoutError, TileGrid};
pub use panel::{Axis, Edge, Panel, PanelConvention};
pub use seam::{Seam, SeamSide, SeamSign};
pub use split::largest_usable_ranks;
pub use tile::Tile;
pub use vertex::{Corner, Vertex};
