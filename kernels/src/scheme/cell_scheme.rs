//! Advection schemes as types: one cell profile and one face flux each.

use crate::numerics as nm;
use crate::real::Real;

/// How a face flux uses the donor's profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FluxKind {
    /// Donor mean only, [`flux_donor`](nm::flux_donor).
    Donor,
    /// Downwind edge, [`flux_linear`](nm::flux_linear).
    Linear,
    /// Swept parabola, [`flux_parabola`](nm::flux_parabola).
    Parabola,
}

/// A scheme whose profile of a cell depends on at most two neighbours on either side.
///
/// The profile is also available in three stages (slope, edge, limit), so that loops over many cells form each slope and
/// edge once. Composed, the stages give [`profile`](CellScheme::profile) bit for bit.
pub trait CellScheme: Copy + Send + Sync + 'static {
    /// Halo cells needed on each side of a face's donor, plus one: 1 (no neighbour), 2 (one) or 3 (two).
    const HALO: usize;
    /// Form of the face flux.
    const FLUX: FluxKind;
    /// Name for messages and reports.
    const NAME: &'static str;
    /// Whether [`slope`](CellScheme::slope) is used by the edges.
    const HAS_SLOPES: bool = false;
    /// Whether [`edge`](CellScheme::edge) is used by the limit.
    const HAS_EDGES: bool = false;

    /// Offsets `(b_l, b_r)` of the edges of the middle cell of `w` from its mean.
    fn profile<R: Real>(w: [R; 5]) -> (R, R);

    /// Half slope of cell `b` between `a` and `c`.
    #[inline(always)]
    fn slope<R: Real>(_a: R, b: R, _c: R) -> R {
        b
    }

    /// Value of the edge between cells `a` and `b` from four means and the half slopes of `a` and `b`.
    #[inline(always)]
    fn edge<R: Real>(_aa: R, a: R, _b: R, _bb: R, _slope_a: R, _slope_b: R) -> R {
        a
    }

    /// Profile from the window and the two edge values.
    #[inline(always)]
    fn limit<R: Real>(w: [R; 5], _edge_l: R, _edge_r: R) -> (R, R) {
        Self::profile(w)
    }

    /// Tracer flux through the face between a left and a right cell with means `q` and profiles `(b_l, b_r)`.
    #[inline(always)]
    fn flux<R: Real>(flux: R, courant: R, q_l: R, left: (R, R), q_r: R, right: (R, R)) -> R {
        match Self::FLUX {
            FluxKind::Donor => nm::flux_donor(flux, q_l, q_r),
            FluxKind::Linear => nm::flux_linear(flux, courant, q_l, left.1, q_r, right.0),
            FluxKind::Parabola => nm::flux_parabola(flux, courant, q_l, left, q_r, right),
        }
    }
}

/// First-order upwind.
#[derive(Clone, Copy, Debug)]
pub struct Upwind;

impl CellScheme for Upwind {
    const HALO: usize = 1;
    const FLUX: FluxKind = FluxKind::Donor;
    const NAME: &'static str = "upwind";

    #[inline(always)]
    fn profile<R: Real>(w: [R; 5]) -> (R, R) {
        nm::profile_upwind(w)
    }
}

macro_rules! slopes {
    ($(#[$doc:meta])* $type:ident, $name:literal, $profile:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $type;

        impl CellScheme for $type {
            const HALO: usize = 2;
            const FLUX: FluxKind = FluxKind::Linear;
            const NAME: &'static str = $name;

            #[inline(always)]
            fn profile<R: Real>(w: [R; 5]) -> (R, R) {
                nm::$profile(w)
            }
        }
    };
}

slopes!(
    /// Linear profiles with centred slopes, no limiter.
    SlopesNone, "slopes none", profile_slopes_none
);
slopes!(
    /// Linear profiles with monotone slopes.
    SlopesMonotone, "slopes monotone", profile_slopes_monotone
);
slopes!(
    /// Linear profiles that stay positive.
    SlopesPositivity, "slopes positivity", profile_slopes_positivity
);

macro_rules! fourth_order {
    ($(#[$doc:meta])* $type:ident, $name:literal, $flux:ident, $profile:ident, $limit:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $type;

        impl CellScheme for $type {
            const HALO: usize = 3;
            const FLUX: FluxKind = FluxKind::$flux;
            const NAME: &'static str = $name;
            const HAS_EDGES: bool = true;

            #[inline(always)]
            fn profile<R: Real>(w: [R; 5]) -> (R, R) {
                nm::$profile(w)
            }

            #[inline(always)]
            fn edge<R: Real>(aa: R, a: R, b: R, bb: R, _slope_a: R, _slope_b: R) -> R {
                nm::edge_fourth_order(aa, a, b, bb)
            }

            #[inline(always)]
            fn limit<R: Real>(w: [R; 5], edge_l: R, edge_r: R) -> (R, R) {
                $limit(edge_l - w[2], edge_r - w[2])
            }
        }
    };
}

#[inline(always)]
fn unlimited<R: Real>(b_l: R, b_r: R) -> (R, R) {
    (b_l, b_r)
}

fourth_order!(
    /// Piecewise parabolas with fourth-order edges, no limiter.
    PpmNone, "ppm none", Parabola, profile_ppm_none, unlimited
);
fourth_order!(
    /// Fourth-order edges without limiter under the linear flux (only to reproduce published tables).
    PpmNoneLinear, "ppm none, linear flux", Linear, profile_ppm_none, unlimited
);
fourth_order!(
    /// Fourth-order edges, monotone cell limiter, linear flux.
    PpmMonotone, "ppm monotone", Linear, profile_ppm_monotone, nm::cell_colella_woodward
);

/// Monotone piecewise parabolas of Colella & Woodward 1984.
#[derive(Clone, Copy, Debug)]
pub struct PpmCw84;

impl CellScheme for PpmCw84 {
    const HALO: usize = 3;
    const FLUX: FluxKind = FluxKind::Parabola;
    const NAME: &'static str = "ppm cw84";
    const HAS_SLOPES: bool = true;
    const HAS_EDGES: bool = true;

    #[inline(always)]
    fn profile<R: Real>(w: [R; 5]) -> (R, R) {
        nm::profile_ppm_cw84(w)
    }

    #[inline(always)]
    fn slope<R: Real>(a: R, b: R, c: R) -> R {
        nm::half_slope_monotone(a, b, c)
    }

    #[inline(always)]
    fn edge<R: Real>(_aa: R, a: R, b: R, _bb: R, slope_a: R, slope_b: R) -> R {
        nm::edge_colella_woodward(a, b, slope_a, slope_b)
    }

    #[inline(always)]
    fn limit<R: Real>(w: [R; 5], edge_l: R, edge_r: R) -> (R, R) {
        nm::cell_colella_woodward(edge_l - w[2], edge_r - w[2])
    }
}

/// Positive-definite piecewise parabolas that keep smooth extrema.
#[derive(Clone, Copy, Debug)]
pub struct PpmHuynhPd;

impl CellScheme for PpmHuynhPd {
    const HALO: usize = 3;
    const FLUX: FluxKind = FluxKind::Parabola;
    const NAME: &'static str = "ppm huynh_pd";
    const HAS_EDGES: bool = true;

    #[inline(always)]
    fn profile<R: Real>(w: [R; 5]) -> (R, R) {
        nm::profile_ppm_huynh_pd(w)
    }

    #[inline(always)]
    fn edge<R: Real>(aa: R, a: R, b: R, bb: R, _slope_a: R, _slope_b: R) -> R {
        nm::edge_large_scale(aa, a, b, bb)
    }

    #[inline(always)]
    fn limit<R: Real>(w: [R; 5], edge_l: R, edge_r: R) -> (R, R) {
        nm::cell_huynh_positive(w, edge_l, edge_r)
    }
}
