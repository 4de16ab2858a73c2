//! Advection schemes as types, and the choice of one at model build.

mod cell_scheme;

pub use cell_scheme::{
    CellScheme, FluxKind, PpmCw84, PpmHuynhPd, PpmMonotone, PpmNone, PpmNoneLinear, SlopesMonotone, SlopesNone,
    SlopesPositivity, Stage, SweptMpPd, SweptUniversal, Upwind,
};

use crate::cpu::SweepKernel;
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
    /// Sixth-order swept means under the universal limiter: monotone.
    Universal,
    /// Sixth-order swept means under monotonicity-preserving bounds, non-negative.
    MpPd,
}

/// An advection scheme of directional sweeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// First-order upwind.
    Upwind,
    /// Linear profiles.
    Slopes(SlopesLimiter),
    /// Piecewise parabolas.
    Ppm(PpmLimiter),
}

impl Scheme {
    /// Every scheme.
    pub const ALL: [Scheme; 10] = [
        Scheme::Upwind,
        Scheme::Slopes(SlopesLimiter::None),
        Scheme::Slopes(SlopesLimiter::Monotone),
        Scheme::Slopes(SlopesLimiter::Positivity),
        Scheme::Ppm(PpmLimiter::None),
        Scheme::Ppm(PpmLimiter::Monotone),
        Scheme::Ppm(PpmLimiter::Cw84),
        Scheme::Ppm(PpmLimiter::HuynhPd),
        Scheme::Ppm(PpmLimiter::Universal),
        Scheme::Ppm(PpmLimiter::MpPd),
    ];

    /// Halo width the scheme needs, in cells.
    pub fn halo(self) -> usize {
        match self {
            Scheme::Upwind => Upwind::HALO,
            Scheme::Slopes(_) => SlopesMonotone::HALO,
            Scheme::Ppm(_) => PpmCw84::HALO,
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
            Scheme::Ppm(PpmLimiter::Universal) => SweptUniversal::NAME,
            Scheme::Ppm(PpmLimiter::MpPd) => SweptMpPd::NAME,
        }
    }
}

/// The compiled loops of a scheme; chosen once, so that no choice is made inside a loop over cells.
pub fn kernel<R: Scalar>(scheme: Scheme) -> &'static dyn SweepKernel<R> {
    R::sweep_kernel(scheme)
}
