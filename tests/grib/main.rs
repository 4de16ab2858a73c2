//! Reading GRIB files: real messages in spherical harmonics and on grids, and written ones.
#![cfg(feature = "grib")]

mod real;
#[path = "../support/synthesis.rs"]
mod synthesis;
mod written;
