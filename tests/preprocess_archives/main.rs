//! `atmostr preprocess` on archives in their own layouts: MERRA-2, GEOS-IT, GEOS-FP. The files are made by the tests.

#[path = "../support/mod.rs"]
mod support;

mod checks;
mod configs;
mod full_day;
mod geos;
mod geos_days;
mod geos_faults;
mod geos_files;
mod merra2;
mod merra2_days;
mod merra2_faults;
mod merra2_files;
mod writer;
