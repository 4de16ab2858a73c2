//! Variables on longitude-latitude grids in NetCDF files: inventories, initial states and meteorology.
//!
//! A [`GriddedVariable`] hands out one record at a time as `[level][lat][lon]`, south to north and eastwards, whatever
//! the order of dimensions, latitudes and longitudes in the file, with packed values unpacked.

mod calendar;
mod error;
mod file;
mod names;
pub(crate) mod stored;
mod variable;
mod weights;

pub(crate) use calendar::time_unit;
pub use error::GriddedError;
pub use file::GriddedFile;
pub use names::AxisNames;
pub(crate) use names::{Role, check_degrees, role_by_degrees};
pub use variable::{GriddedVariable, Missing};
pub use weights::Weights;
