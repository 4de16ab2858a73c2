//! Archives.

mod archive;
pub mod era5;
pub mod geos;
pub mod gridded;
pub mod merra2;
mod units;

pub use archive::{NextDay, PhysicsGroup};
pub(crate) use units::{Quantity, factor};
