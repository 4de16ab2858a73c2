//! Transport numerics, written once.
//!
//! [`numerics`] holds pure scalar functions in a small subset of Rust (the device form is generated from them);
//! [`cpu`] and [`columns`] hold the vectorised loops around them (sweeps; vertical physics), [`scheme`] the advection schemes
//! both are chosen by. Nothing here knows about MPI, devices or files.

mod arithmetic;
pub mod columns;
pub mod cpu;
pub mod device;
mod lanes;
pub mod numerics;
pub mod real;
pub mod scheme;
mod shape;

pub use arithmetic::arithmetic_fault;
pub use lanes::Lanes;
pub use real::{Real, Scalar};
pub use scheme::Scheme;
pub use shape::TileShape;
