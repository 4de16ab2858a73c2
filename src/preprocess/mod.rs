//! From archived meteorology to transport files: face fluxes that close the air mass of every cell.

mod balance;
mod closure;
mod columns;
mod faces;
mod geometry;
mod poisson;
#[cfg(test)]
mod testing;
mod weights;

pub use balance::{Balance, BalanceError, BalanceReport};
pub use closure::{ClosureReport, as_stored, close_columns};
pub use faces::{FacePlace, FaceTable};
pub use geometry::{FaceArc, FaceGeometry};
pub use poisson::{Poisson, PoissonScratch, Solved};
pub use weights::{ColumnWeights, LayerWeights};
