//! Cubed-sphere geometry and the vertical coordinate.
//!
//! Everything here is double precision and independent of ranks and files. A grid is a number of cells per panel
//! edge, one of the two [`GeometryBundle`]s, a longitude offset and a radius; [`CubedSphere`] holds it and answers
//! for corners, centres, areas, lengths, local axes and the cell that contains a point.

mod bundle;
pub mod constants;
mod error;
mod frame;
mod hybrid;
mod level_sets;
mod metrics;
mod sphere;
mod tangent;
pub mod vector;

pub use bundle::GeometryBundle;
pub use error::GridError;
pub use hybrid::HybridCoordinate;
pub use sphere::{CellIndex, CubedSphere};
pub use tangent::TangentBasis;
