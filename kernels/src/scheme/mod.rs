//! Advection schemes as types, and the choice of one at model build.

mod cell_scheme;
mod choice;
mod linrood;

pub use cell_scheme::{
    CellScheme, FluxKind, Fv3Hord8, Fv3Hord13, LinRoodQuasi, PpmCw84, PpmHuynhPd, PpmMonotone, PpmNone, PpmNoneLinear,
    SlopesMonotone, SlopesNone, SlopesPositivity, Stage, SweptMpPd, SweptUniversal, Upwind,
};
pub use choice::{Choice, Fusion, Sign, Vertical};
pub use linrood::{EdgeRule, LinRood, LinRoodRule, SeamGhost};

use crate::cpu::{LinRoodKernel, SweepKernel};
use crate::real::Scalar;

/// Limiter of the slopes scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SlopesLimiter {
    /// Centred slopes.
    None,
    /// Monotone slopes.
    Monotone,
    /// Slopes bounded by the cell mean.
    Positivity,
}

/// Limiter of the piecewise parabolic scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PpmLimiter {
    /// Fourth-order edges, swept parabola.
    None,
    /// Fourth-order edges, monotone cells, linear flux.
    Monotone,
    /// Monotone edges and cells, swept parabola.
    Cw84,
    /// Huynh's constraint and positive-definite cells, swept parabola.
    HuynhPd,
    /// Monotone edges, offsets no larger than twice the monotone half slope, swept parabola (FV3 `hord = 8`).
    Mono,
    /// Monotone edges, positive-definite cells, swept parabola (FV3 `hord = 13`).
    Pd,
    /// Sixth-order swept means under the universal limiter: monotone.
    Universal,
    /// Sixth-order swept means under monotonicity-preserving bounds, non-negative.
    MpPd,
}

/// An advection scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// First-order upwind.
    Upwind,
    /// Linear profiles.
    Slopes(SlopesLimiter),
    /// Piecewise parabolas.
    Ppm(PpmLimiter),
    /// Two-dimensional operator of Lin & Rood on the cubed sphere; its rule alone where only one direction is meant.
    LinRood(LinRood),
}

impl Scheme {
    /// Every scheme of directional sweeps.
    pub const ALL: [Scheme; 12] = [
        Scheme::Upwind,
        Scheme::Slopes(SlopesLimiter::None),
        Scheme::Slopes(SlopesLimiter::Monotone),
        Scheme::Slopes(SlopesLimiter::Positivity),
        Scheme::Ppm(PpmLimiter::None),
        Scheme::Ppm(PpmLimiter::Monotone),
        Scheme::Ppm(PpmLimiter::Cw84),
        Scheme::Ppm(PpmLimiter::HuynhPd),
        Scheme::Ppm(PpmLimiter::Mono),
        Scheme::Ppm(PpmLimiter::Pd),
        Scheme::Ppm(PpmLimiter::Universal),
        Scheme::Ppm(PpmLimiter::MpPd),
    ];

    /// Every scheme, those of directional sweeps first.
    pub fn every() -> impl Iterator<Item = Scheme> {
        Self::ALL.into_iter().chain(LinRood::ALL.into_iter().map(Scheme::LinRood))
    }

    /// Halo width the scheme needs, in cells.
    pub fn halo(self) -> usize {
        match self {
            Scheme::Upwind => Upwind::HALO,
            Scheme::Slopes(_) => SlopesMonotone::HALO,
            Scheme::Ppm(_) => PpmCw84::HALO,
            Scheme::LinRood(operator) => operator.halo(),
        }
    }

    /// Name for messages and reports.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Upwind => Upwind::NAME,
            Scheme::Slopes(SlopesLimiter::None) => SlopesNone::NAME,
            Scheme::Slopes(SlopesLimiter::Monotone) => SlopesMonotone::NAME,
            Scheme::Slopes(SlopesLimiter::Positivity) => SlopesPositivity::NAME,
            Scheme::Ppm(PpmLimiter::None) => PpmNone::NAME,
            Scheme::Ppm(PpmLimiter::Monotone) => PpmMonotone::NAME,
            Scheme::Ppm(PpmLimiter::Cw84) => PpmCw84::NAME,
            Scheme::Ppm(PpmLimiter::HuynhPd) => PpmHuynhPd::NAME,
            Scheme::Ppm(PpmLimiter::Mono) => Fv3Hord8::NAME,
            Scheme::Ppm(PpmLimiter::Pd) => Fv3Hord13::NAME,
            Scheme::LinRood(operator) => operator.name(),
            Scheme::Ppm(PpmLimiter::Universal) => SweptUniversal::NAME,
            Scheme::Ppm(PpmLimiter::MpPd) => SweptMpPd::NAME,
        }
    }
}

/// The compiled loops of a scheme; chosen once, so that no choice is made inside a loop over cells.
pub fn kernel<R: Scalar>(scheme: Scheme) -> &'static dyn SweepKernel<R> {
    R::sweep_kernel(scheme)
}

/// The compiled loops of the horizontal operator of Lin & Rood.
pub fn linrood_kernel<R: Scalar>(rule: LinRoodRule) -> &'static dyn LinRoodKernel<R> {
    R::linrood_kernel(rule)
}
