//! From archived meteorology to transport files: face fluxes that close the air mass of every cell.

mod faces;
mod geometry;
mod poisson;

pub use faces::{FacePlace, FaceTable};
pub use geometry::{FaceArc, FaceGeometry};
pub use poisson::{Poisson, PoissonScratch, Solved};
