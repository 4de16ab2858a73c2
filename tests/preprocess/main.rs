//! `atmostr preprocess` on gridded winds: real states, files made for the purpose, faults, interruptions.

#[path = "../support/mod.rs"]
mod support;

mod analytic;
mod chain;
mod faults;
mod interrupted;
mod omega;
mod real;
mod winds;
