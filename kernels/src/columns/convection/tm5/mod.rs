//! Implicit mass-flux convection after TM5 (Tiedtke 1989; Heimann & Keeling 1989).
//!
//! Every column with an updraught gives a matrix that is factored once and solved for all tracers, which go side by side
//! through the solves. The scheme is stable for any step.

mod column;
mod factors;
mod matrix;

pub use factors::{Factors, LowerPart};
pub use matrix::{CloudIndices, Plumes, Tm5Column, cloud_indices};

pub(super) use column::convect;

use crate::columns::convection::loops::LANES;
use crate::columns::convection::{ColumnAir, ConvectionError};
use crate::columns::{Ledger, LedgerStats};
use crate::cpu::AlignedBuffer;
use crate::real::Scalar;

/// Entrainment and detrainment of a block of columns, each `nk · width` and ≥ 0 [kg m⁻² s⁻¹].
#[derive(Clone, Copy, Debug)]
pub struct Tm5Forcing<'a, R> {
    /// Into the updraught.
    pub entu: &'a [R],
    /// Out of the updraught.
    pub detu: &'a [R],
    /// Into and out of the downdraught, `None` if there is none anywhere.
    pub downdraft: Option<Downdraft<'a, R>>,
}

/// The downdraught's part of the forcing.
#[derive(Clone, Copy, Debug)]
pub struct Downdraft<'a, R> {
    /// Into the downdraught.
    pub entd: &'a [R],
    /// Out of the downdraught; what reaches the lowest layer stays there.
    pub detd: &'a [R],
}

/// Unknown the matrix is solved for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Solve {
    /// The tracer mass after the step.
    Plain,
    /// The change of the tracer mass: a background does not enter, rounding is that of the change. Where it would make a
    /// non-negative tracer negative, the column of this tracer is solved plainly.
    #[default]
    Delta,
}

/// Choices of [`Tm5`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tm5Options {
    /// Unknown of the solve.
    pub solve: Solve,
    /// Only this many of the lowest layers convect, 0: all. The updraught ends at their top.
    pub lmax_conv: usize,
    /// Neighbouring layers solved as one, counted from the surface; 1: none are merged.
    pub n_merge: usize,
}

impl Default for Tm5Options {
    fn default() -> Self {
        Self { solve: Solve::default(), lmax_conv: 0, n_merge: 1 }
    }
}

/// Implicit convection of blocks of columns, with its scratch; one per thread.
#[derive(Debug)]
pub struct Tm5<R> {
    options: Tm5Options,
    /// First layer that takes part.
    shift: usize,
    /// Layers of the columns that are solved.
    layers: usize,
    nk: usize,
    factors: Factors<R>,
    plumes: Plumes<R>,
    /// Rates and air of a column: five rows of `layers`.
    column: Vec<R>,
    /// Fine tracer columns, columns to solve, and a copy, several tracers side by side.
    tracers: AlignedBuffer<R>,
    solved: AlignedBuffer<R>,
    copy: AlignedBuffer<R>,
}

impl<R: Scalar> Tm5<R> {
    /// Scratch for columns of `nk` layers. Errors: groups of 0 layers, or more layers than there are.
    pub fn new(nk: usize, options: Tm5Options) -> Result<Self, ConvectionError> {
        let merge = options.n_merge;
        if merge == 0 {
            return Err(ConvectionError::NoMerge);
        }
        let taking_part = if options.lmax_conv == 0 { nk } else { options.lmax_conv };
        let layers = taking_part / merge;
        if taking_part > nk || layers == 0 {
            return Err(ConvectionError::Layers { layers: taking_part, merge, nk });
        }
        Ok(Self {
            options,
            shift: nk - layers * merge,
            layers,
            nk,
            factors: Factors::new(layers),
            plumes: Plumes::new(layers),
            column: vec![R::lit(0.0); 5 * layers],
            tracers: AlignedBuffer::zeros(LANES * layers * merge),
            solved: AlignedBuffer::zeros(LANES * layers),
            copy: AlignedBuffer::zeros(LANES * layers),
        })
    }

    /// Convects all tracers of a block for `dt` seconds.
    ///
    /// `tracers` holds one field of `nk · width` after the other, a carry in `ledger` `width` values per tracer; columns
    /// without an updraught keep both bit for bit.
    pub fn convect(
        &mut self,
        air: &ColumnAir<R>,
        forcing: &Tm5Forcing<R>,
        dt: R,
        tracers: &mut [R],
        mut ledger: Ledger<R>,
    ) -> LedgerStats {
        assert_eq!(air.block.nk(), self.nk, "scratch of another number of layers");
        R::convect_tm5(self, air, forcing, dt, tracers, &mut ledger)
    }
}
