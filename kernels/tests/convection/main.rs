//! Convection of columns: acceptance of the schemes, drift of repeated steps, columns of other models.

#[path = "../common/mod.rs"]
mod common;

mod cmfmc;
mod cmfmc_drift;
mod factors;
mod fixtures;
mod rates;
mod reference;
mod tm5;
mod tm5_drift;
mod tm5_layers;
