//! Explicit convection by a cloud mass flux, after the relaxed Arakawa–Schubert transport of GEOS-Chem, for inert tracers.
//!
//! One plume rises from cloud base, entrains, detrains, and pushes the air around it down. Below cloud base the air is
//! well mixed. All of a block's columns go through the same loops side by side; choices are selects.

mod prepare;
mod scan;
mod update;

pub(super) use prepare::prepare;
pub(super) use scan::courant;
pub(super) use update::convect;

use crate::columns::convection::loops::LANES;
use crate::columns::convection::{ColumnAir, ConvectionError};
use crate::columns::{ColumnBlock, Ledger, LedgerStats};
use crate::cpu::AlignedBuffer;
use crate::real::Scalar;

/// Cloud mass flux and detrainment of a block of columns.
#[derive(Clone, Copy, Debug)]
pub struct CmfmcForcing<'a, R> {
    /// Upward mass flux through layer tops, `(nk + 1) · width` [kg m⁻² s⁻¹].
    pub cloud_flux: &'a [R],
    /// Detrainment, `nk · width` [kg m⁻² s⁻¹]; `None`: what the flux loses between two edges.
    pub detrainment: Option<&'a [R]>,
    /// Archived cloud base, the number of its layer (1 at the top) per column.
    pub cloud_base: Option<&'a [R]>,
}

/// Where the plume starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CloudBase {
    /// The lowest layer with a flux through its bottom.
    #[default]
    CloudFlux,
    /// The archived layer, where the column has a flux at all.
    Archived,
    /// The lowest layer: no mixed layer below the cloud.
    None,
}

/// How the layer at cloud base takes part in the exchange with the mixed layer below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BaseExchange {
    /// It exchanges first; the plume then entrains what it became.
    #[default]
    BeforePlume,
    /// The plume entrains it as it was, as in GEOS-Chem.
    WithPlume,
}

/// What the scheme computes with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Update {
    /// Mixing ratios, turned into tracer masses where they changed.
    MixingRatio,
    /// Departures from the smallest mixing ratio of the column; tracer masses change by fluxes computed once per edge.
    #[default]
    MassFlux,
}

/// What happens to negative mixing ratios.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Negative {
    /// They stay; with the Courant number kept there are none.
    #[default]
    Kept,
    /// They become 0, and the column is scaled to its mass before. Not linear, without ledger.
    Clamped,
}

/// Choices of [`Cmfmc`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CmfmcOptions {
    /// Where the plume starts.
    pub cloud_base: CloudBase,
    /// Exchange through cloud base.
    pub exchange: BaseExchange,
    /// What is computed with.
    pub update: Update,
    /// Treatment of negative results.
    pub negative: Negative,
}

/// Largest Courant number of a sub-step.
const COURANT_LIMIT: f64 = 0.5;
/// Sub-steps beyond which the forcing must be wrong.
const MOST_SUBSTEPS: usize = 1024;
/// Sub-steps taken at most where negative values are clamped.
const MOST_CLAMPED: usize = 48;

/// Largest Courant number of the cloud mass flux in a block for a step of `dt` seconds; the caller takes the largest of
/// all blocks and ranks with [`finite_max`](crate::numerics::finite_max).
///
/// Edges beside a layer without air (or whose mass is no number) are skipped; a flux that is infinite or no number makes
/// the result no number.
pub fn largest_courant<R: Scalar>(air: &ColumnAir<R>, cloud_flux: &[R], dt: R) -> R {
    R::largest_courant(air, cloud_flux, dt)
}

/// Sub-steps that keep the Courant number within ½, from its largest value anywhere.
///
/// Errors: it is no number, or asks for more than 1024 sub-steps. Where negatives are clamped, 48 are enough.
pub fn substeps(courant: f64, negative: Negative) -> Result<usize, ConvectionError> {
    if !courant.is_finite() {
        return Err(ConvectionError::NotFinite);
    }
    let needed = (courant / COURANT_LIMIT).ceil().max(1.0);
    match negative {
        Negative::Clamped => Ok(needed.min(MOST_CLAMPED as f64) as usize),
        Negative::Kept if needed <= MOST_SUBSTEPS as f64 => Ok(needed as usize),
        Negative::Kept => Err(ConvectionError::TooManySubsteps { needed, limit: MOST_SUBSTEPS }),
    }
}

/// Explicit convection of blocks of columns: what all tracers of a block share, and scratch; one per thread.
#[derive(Debug)]
pub struct Cmfmc<R> {
    options: CmfmcOptions,
    block: ColumnBlock,
    substeps: usize,
    /// Time step over air mass per area, 0 where there is no air, `nk · width`.
    rate: AlignedBuffer<R>,
    /// Flux through layer tops, 0 below cloud base, `nk · width`.
    flux: AlignedBuffer<R>,
    /// Air that leaves the plume or goes on with it, `nk · width`.
    leaving: AlignedBuffer<R>,
    /// Per column: index of the layer at cloud base, flux through its bottom, air per area of the mixed layer below (0
    /// where it does not exchange), time step times area, and two flags, 0 or 1: convects, keeps a ledger.
    base: AlignedBuffer<R>,
    base_flux: AlignedBuffer<R>,
    mixed_air: AlignedBuffer<R>,
    step_area: AlignedBuffer<R>,
    active: AlignedBuffer<R>,
    ledger: AlignedBuffer<R>,
    /// Length of a sub-step [s].
    dt: R,
    /// Mixing ratios of the columns side by side.
    ratio: AlignedBuffer<R>,
}

impl<R: Scalar> Cmfmc<R> {
    /// Room for blocks of up to the size of `largest`.
    pub fn new(largest: ColumnBlock, options: CmfmcOptions) -> Self {
        let cells = || AlignedBuffer::zeros(largest.values());
        let columns = || AlignedBuffer::zeros(largest.width());
        Self {
            options,
            block: largest,
            substeps: 1,
            rate: cells(),
            flux: cells(),
            leaving: cells(),
            base: columns(),
            base_flux: columns(),
            mixed_air: columns(),
            step_area: columns(),
            active: columns(),
            ledger: columns(),
            dt: R::lit(0.0),
            ratio: AlignedBuffer::zeros(largest.nk() * LANES),
        }
    }

    /// Takes over forcing and air of a block, for `substeps` equal parts of `dt` seconds. Errors: the cloud base is to
    /// come from the archive, and there is none.
    pub fn prepare(
        &mut self,
        air: &ColumnAir<R>,
        forcing: &CmfmcForcing<R>,
        dt: R,
        substeps: usize,
    ) -> Result<(), ConvectionError> {
        let fits = air.block.nk() * LANES <= self.ratio.len() && air.block.width() <= self.base.len();
        assert!(fits && air.block.values() <= self.rate.len(), "scratch of a smaller block");
        if self.options.cloud_base == CloudBase::Archived && forcing.cloud_base.is_none() {
            return Err(ConvectionError::MissingCloudBase);
        }
        (self.block, self.substeps) = (air.block, substeps);
        R::prepare_cmfmc(self, air, forcing, dt / R::lit(substeps as f64));
        Ok(())
    }

    /// Convects one tracer of the block that was prepared: all sub-steps.
    ///
    /// `tracer` holds `nk · width` values. Columns without convection keep it and their carry bit for bit; the carry stays
    /// as well where no ledger is kept: flux through the model top, a layer without air, or clamping.
    pub fn convect(&mut self, air: &ColumnAir<R>, tracer: &mut [R], mut ledger: Ledger<R>) -> LedgerStats {
        assert_eq!(air.block, self.block, "another block was prepared");
        R::convect_cmfmc(self, air, tracer, &mut ledger)
    }
}
