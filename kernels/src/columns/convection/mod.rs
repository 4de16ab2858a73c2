//! Convective transport of tracers in columns.
//!
//! Two operators work on blocks of columns: [`tm5`] solves an implicit mass-flux matrix, [`cmfmc`] steps an explicit
//! plume. [`rates`] turns archived fields into what they need. Layers count from the top; fields hold `nk · width` values,
//! edge arrays `(nk + 1) · width`. Columns that pad a block must have no convection.
//!
//! Both operators conserve the tracer of a column; what rounding takes is returned by a ledger, see
//! [`ledger_step`](crate::numerics::ledger_step).

pub mod cmfmc;
mod loops;
pub mod rates;
mod settle;
pub mod tm5;

pub use loops::ConvectionLoops;

use super::ColumnBlock;
use crate::real::Scalar;

/// Air of a block of columns.
#[derive(Clone, Copy, Debug)]
pub struct ColumnAir<'a, R> {
    /// Shape of the block.
    pub block: ColumnBlock,
    /// Air mass of the cells, `nk · width` [kg].
    pub mass: &'a [R],
    /// Area of the columns, `width` [m²].
    pub area: &'a [R],
}

/// Convection that cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConvectionError {
    /// An entrainment or detrainment rate is negative or no number.
    #[error("convection rate {name} of layer {layer} is {value}, expected a number of at least 0")]
    InvalidRate {
        /// Name of the rate.
        name: &'static str,
        /// Layer, 0 at the top.
        layer: usize,
        /// Its value [kg m⁻² s⁻¹].
        value: f64,
    },
    /// The Courant number of the cloud mass flux is infinite or no number.
    #[error(
        "the Courant number of the cloud mass flux is not finite: the flux or the air mass holds what is no number"
    )]
    NotFinite,
    /// The cloud mass flux needs more sub-steps than any sound forcing does.
    #[error(
        "the cloud mass flux needs {needed} sub-steps (at most {limit}): is it in kg m-2 s-1 and the air mass in kg?"
    )]
    TooManySubsteps {
        /// Sub-steps the Courant number asks for.
        needed: f64,
        /// Largest number accepted.
        limit: usize,
    },
    /// The cloud base comes from an archive that is not there.
    #[error("cloud base by rain production needs the archived cloud base")]
    MissingCloudBase,
    /// Layers are merged in groups of at least one.
    #[error("n_merge is 0, expected at least 1")]
    NoMerge,
    /// More layers are to convect than there are, or merging leaves none.
    #[error("{layers} layers in groups of {merge} do not fit {nk} layers")]
    Layers {
        /// Lowest layers that take part.
        layers: usize,
        /// Layers merged into one.
        merge: usize,
        /// Layers of the column.
        nk: usize,
    },
}

/// Fluxes and masses at or below this count as none: 1e-6 in single, 1e-14 in double precision.
pub(crate) fn smallest<R: Scalar>() -> R {
    R::lit(if R::EPSILON.to_f64() > 1e-10 { 1e-6 } else { 1e-14 })
}
