//! First-order conservative regridding: meshes, the areas that their cells share, and what follows from them.
//!
//! A [`Mesh`] is a set of cells on the unit sphere: a lat-lon mesh, a reduced Gaussian one, or the cubed sphere. An
//! [`Overlap`] holds the area of every intersection of a source cell with a destination cell, in steradian and double
//! precision whatever the precision of the run. Means, amounts and flux densities are mapped with it; a [`WeightCache`]
//! keeps it on disk.

mod apply;
mod arc;
mod axes;
mod build;
mod cache;
mod clip;
mod cut;
mod error;
mod export;
mod gaussian;
mod latlon;
mod mesh;
mod names;
mod outline;
mod overlap;
mod polygons;
mod product;
mod reduced;
mod store;
mod strips;
mod tree;

pub use apply::Coverage;
pub use axes::LatLonAxes;
pub use cache::WeightCache;
pub use error::RegridError;
pub use gaussian::GaussianLatitudes;
pub use latlon::{LatLonMesh, LatLonSides};
pub use mesh::{Fingerprint, Mesh};
pub use overlap::Overlap;
pub use reduced::{ReducedMesh, RingStart};
