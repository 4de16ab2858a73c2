//! Analytic flows as transport files: known winds, exact budgets, no input data.
//!
//! A flow is a handful of fixed fields on the sphere (stream functions at cell corners, vector fields integrated along cell
//! sides) times amplitudes per layer and time. Fluxes of a window are integrals over its length, seam fluxes have the same bits
//! on both panels, and vertical fluxes close the budget of every layer. Equal options give equal bytes.

mod basis;
mod carried;
mod columns;
mod error;
mod flow;
mod flows;
mod generator;
mod physics;
mod quadrature;
mod recipe;
mod winds;
mod write;

pub use error::SynthError;
pub use flow::SynthFlow;
pub use winds::{AnalyticWinds, WindowAir};
pub use write::{SynthOptions, SynthPhysics, SynthProgress, SynthReport, write};
