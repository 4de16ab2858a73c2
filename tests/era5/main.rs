//! `atmostr preprocess` and its reader on ERA5. The archive is made by the tests: a small one in the layout of the real one.
#![cfg(feature = "grib")]

#[path = "../support/mod.rs"]
mod support;

mod archive;
#[path = "../preprocess_archives/checks.rs"]
mod checks;
mod days;
mod faults;
mod fluxes;
mod physics;
