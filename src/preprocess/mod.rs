//! From archived meteorology to transport files (spec 40 §1).
//!
//! A [`MetReader`] gives, for the windows of a day, dry air at both ends and fluxes through the faces of the cube, on the
//! archive's layers. [`Preprocessor`] merges layers, sets the global mass, balances the fluxes against the mass changes,
//! chooses substeps, closes every layer with vertical fluxes and writes a file that takes its place only after all checks.

mod balance;
mod closure;
mod coarsen;
mod columns;
mod day;
mod dry_air;
mod error;
mod faces;
mod fluxes;
#[cfg(test)]
mod gates_tests;
mod geometry;
#[cfg(feature = "grib")]
pub mod grib;
mod levels;
mod line_integral;
mod physics;
mod pin;
mod poisson;
mod reader;
pub mod readers;
mod stages;
mod stored;
mod substeps;
mod target;
#[cfg(test)]
mod testing;
mod weights;
mod wind_to_flux;
mod winds;

pub use balance::{Balance, BalanceError, BalanceReport};
pub use closure::{ClosureReport, as_stored, close_columns};
pub use coarsen::{Coarsening, CoarseningError};
pub use day::{BalanceMode, DayProgress, DayReport, DaySettings, Preprocessor, SOURCE_INPUTS};
pub use dry_air::{dry_thickness, thickness_to_mass};
pub use error::PreprocessError;
pub use faces::{FacePlace, FaceTable};
pub use fluxes::{FluxSettings, FluxTime, Thickness};
pub use geometry::{FaceArc, FaceGeometry};
pub use levels::{LevelError, LevelMap, Preset, Transform};
pub use line_integral::{LineIntegral, RingsError};
pub use pin::{Campaign, Pin, mean_pressure};
pub use poisson::{Poisson, PoissonScratch, Solved};
pub use reader::{Endpoint, MetReader, WindowMet};
pub use stages::{Stage, Stages};
pub use substeps::{StepRule, outflow_ratio};
pub use target::Target;
pub use weights::{ColumnWeights, LayerWeights};
pub use wind_to_flux::{FaceFluxes, FaceInterpolation, FaceLengths, WindToFlux};
pub use winds::{LatLonToCube, WindRegrid};
