//! Archives.

mod archive;
pub mod geos;
pub mod gridded;
pub mod merra2;
mod units;

pub use archive::{NextDay, PhysicsGroup};
pub(crate) use units::{Quantity, factor};
