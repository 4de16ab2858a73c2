//! Archives.

pub mod gridded;
mod units;

pub(crate) use units::{Quantity, factor};
