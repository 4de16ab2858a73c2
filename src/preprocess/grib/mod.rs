//! GRIB files of editions 1 and 2: an index of their messages, fields in spherical harmonics, on Gaussian grids and on
//! longitudes and latitudes, coefficients of hybrid levels.
//!
//! Files are mapped and indexed once; a message is read where it lies when its field is asked for, so that days of many
//! gigabytes take no memory of that size. Decoding is ecCodes'.

mod codes;
mod encode;
mod error;
mod field;
mod index;
mod scan;

pub use encode::Draft;
pub use error::GribError;
pub use field::{GribField, GribGrid};
pub use index::{GribEntry, GribFile, GribTime, GribWanted};
