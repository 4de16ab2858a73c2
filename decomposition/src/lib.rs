//! Cubed-sphere topology, rank layouts and exchange plans. Pure data: no MPI, no files.

#![forbid(unsafe_code)]

mod contact;
mod cost;
mod halo;
mod layout;
mod panel;
mod seam;
mod seam_plan;
mod split;
mod strip;
mod tile;
mod vertex;

pub use contact::{AlongEdge, Contact};
pub use cost::{ExchangeCost, LayoutReport, Machine, Payload};
pub use halo::{ExchangeKind, HaloPlan, Message};
pub use layout::{Layout, LayoutError, TileGrid};
pub use panel::{Axis, Edge, Panel, PanelConvention};
pub use seam::{Seam, SeamSide, SeamSign};
pub use seam_plan::{SeamPlan, SeamSegment, StencilOrder};
pub use split::largest_usable_ranks;
pub use strip::{CellStep, Strip, StripSide};
pub use tile::Tile;
pub use vertex::{Corner, Vertex};
