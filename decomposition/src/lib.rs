//! Cubed-sphere topology, rank layouts and exchange plans. Pure data: no MPI, no files.

#![forbid(unsafe_code)]

mod panel;
mod tile;

pub use panel::{Axis, Edge, Panel, PanelConvention};
pub use tile::Tile;
