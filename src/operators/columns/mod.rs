//! Vertical physics of the columns of a rank: diffusion, emissions, convection.
//!
//! What closures make of a window is computed once when it is read ([`WindowPhysics`]). Diffusion and emissions act
//! within the vertical sweeps, while a column is in cache ([`CentrePhysics`]); convection acts at the end of a window, or
//! of a substep ([`ConvectionOperator`]).

mod centre;
mod convection;
mod rows;
mod settings;
mod window;

pub use centre::{CentrePhysics, CentreStep, ColumnStats, Emitter};
pub use convection::{ConvectionOperator, cell_areas};
pub use rows::{ColumnStore, RowBlocks};
pub use settings::{
    Centre, Convection, DeviceFactors, Diffusion, DiffusivityProfile, ExchangeSource, ImplicitConvection, KzUpdate,
};
pub use window::{WindowField, WindowPhysics};

pub(crate) use centre::gather_field;
pub(in crate::operators) use centre::{BlockCentre, Halves, halves};
pub(in crate::operators) use convection::{convection_forcing, tile_view, tile_view_mut};
pub(crate) use rows::widest;
pub(in crate::operators) use rows::{gather, pad, scatter};
