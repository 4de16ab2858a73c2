//! From archived meteorology to transport files: face fluxes that close the air mass of every cell.

mod balance;
mod closure;
mod coarsen;
mod columns;
mod faces;
mod geometry;
mod poisson;
mod stored;
mod substeps;
#[cfg(test)]
mod testing;
mod weights;
mod wind_to_flux;

pub use balance::{Balance, BalanceError, BalanceReport};
pub use closure::{ClosureReport, as_stored, close_columns};
pub use coarsen::{Coarsening, CoarseningError};
pub use faces::{FacePlace, FaceTable};
pub use geometry::{FaceArc, FaceGeometry};
pub use poisson::{Poisson, PoissonScratch, Solved};
pub use substeps::{StepRule, outflow_ratio};
pub use weights::{ColumnWeights, LayerWeights};
pub use wind_to_flux::{FaceFluxes, FaceInterpolation, FaceLengths, WindToFlux};
