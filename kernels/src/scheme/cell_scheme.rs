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
    /// Mean over the swept volume straight from the six cells around the face, [`face`](CellScheme::face); no profiles.
    /// The donor mean where a cell of the six is missing.
    Swept,
}

/// The function of the numerics a stage consists of, as text: the device form calls what the trait method calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Names of the parameters of the stage.
    pub parameters: &'static [&'static str],
    /// Name of the function in [`numerics`](crate::numerics).
    pub function: &'static str,
    /// The parameters it is given.
    pub arguments: &'static [&'static str],
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
    /// What [`profile`](CellScheme::profile) calls.
    const PROFILE: Stage;
    /// What [`slope`](CellScheme::slope) calls.
    const SLOPE: Option<Stage> = None;
    /// What [`edge`](CellScheme::edge) calls.
    const EDGE: Option<Stage> = None;
    /// What [`limit`](CellScheme::limit) calls.
    const LIMIT: Option<Stage> = None;
    /// What [`face`](CellScheme::face) calls.
    const FACE: Option<Stage> = None;
    /// Whether [`slope`](CellScheme::slope) is used by the edges.
    const HAS_SLOPES: bool = Self::SLOPE.is_some();
    /// Whether [`edge`](CellScheme::edge) is used by the limit.
    const HAS_EDGES: bool = Self::EDGE.is_some();

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
            FluxKind::Donor | FluxKind::Swept => nm::flux_donor(flux, q_l, q_r),
            FluxKind::Linear => nm::flux_linear(flux, courant, q_l, left.1, q_r, right.0),
            FluxKind::Parabola => nm::flux_parabola(flux, courant, q_l, left, q_r, right),
        }
    }

    /// Tracer flux through the face in the middle of six cells: `first` and the window `w` of the cell
    /// behind the face. Only for [`FluxKind::Swept`].
    #[inline(always)]
    fn face<R: Real>(flux: R, _courant: R, _first: R, w: [R; 5]) -> R {
        nm::flux_donor(flux, w[1], w[2])
    }
}

macro_rules! stage {
    ([$($parameter:ident),*] $function:ident($($argument:ident),*)) => {
        Stage {
            parameters: &[$(stringify!($parameter)),*],
            function: stringify!($function),
            arguments: &[$(stringify!($argument)),*],
        }
    };
}

/// Each stage once, as a method and as text.
macro_rules! scheme {
    (@face $flux:ident, $courant:ident, $first:ident, $w:ident = $face:ident($($argument:ident),*)) => {
        #[inline(always)]
        fn face<R: Real>($flux: R, $courant: R, $first: R, $w: [R; 5]) -> R {
            nm::$face($($argument),*)
        }
    };
    (
        $(#[$doc:meta])*
        $type:ident: $name:literal, halo $halo:literal, flux $flux:ident,
        profile($w:ident) = $profile:ident($($profile_argument:ident),*)
        $(, slope($($slope_parameter:ident),*) = $slope:ident($($slope_argument:ident),*))?
        $(, edge($($edge_parameter:ident),*) = $edge:ident($($edge_argument:ident),*))?
        $(, limit($window:ident, $edge_l:ident, $edge_r:ident) = $limit:ident($($limit_argument:ident),*))?
        $(, face($($face_parameter:ident),*) = $face:ident($($face_argument:ident),*))?
        $(,)?
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $type;

        impl CellScheme for $type {
            const HALO: usize = $halo;
            const FLUX: FluxKind = FluxKind::$flux;
            const NAME: &'static str = $name;
            const PROFILE: Stage = stage!([$w] $profile($($profile_argument),*));
            $(const SLOPE: Option<Stage> = Some(stage!([$($slope_parameter),*] $slope($($slope_argument),*)));)?
            $(const EDGE: Option<Stage> = Some(stage!([$($edge_parameter),*] $edge($($edge_argument),*)));)?
            $(const LIMIT: Option<Stage> = Some(stage!([$window, $edge_l, $edge_r] $limit($($limit_argument),*)));)?
            $(const FACE: Option<Stage> = Some(stage!([$($face_parameter),*] $face($($face_argument),*)));)?

            #[inline(always)]
            fn profile<R: Real>($w: [R; 5]) -> (R, R) {
                nm::$profile($($profile_argument),*)
            }

            $(#[inline(always)]
            fn slope<R: Real>($($slope_parameter: R),*) -> R {
                nm::$slope($($slope_argument),*)
            })?

            $(#[inline(always)]
            fn edge<R: Real>($($edge_parameter: R),*) -> R {
                nm::$edge($($edge_argument),*)
            })?

            $(#[inline(always)]
            fn limit<R: Real>($window: [R; 5], $edge_l: R, $edge_r: R) -> (R, R) {
                nm::$limit($($limit_argument),*)
            })?

            $(scheme!(@face $($face_parameter),* = $face($($face_argument),*));)?
        }
    };
}

scheme!(
    /// First-order upwind.
    Upwind: "upwind", halo 1, flux Donor,
    profile(w) = profile_upwind(w),
);
scheme!(
    /// Linear profiles with centred slopes, no limiter.
    SlopesNone: "slopes none", halo 2, flux Linear,
    profile(w) = profile_slopes_none(w),
);
scheme!(
    /// Linear profiles with monotone slopes.
    SlopesMonotone: "slopes monotone", halo 2, flux Linear,
    profile(w) = profile_slopes_monotone(w),
);
scheme!(
    /// Linear profiles that stay positive.
    SlopesPositivity: "slopes positivity", halo 2, flux Linear,
    profile(w) = profile_slopes_positivity(w),
);
scheme!(
    /// Piecewise parabolas with fourth-order edges, no limiter.
    PpmNone: "ppm none", halo 3, flux Parabola,
    profile(w) = profile_ppm_none(w),
    edge(aa, a, b, bb, _slope_a, _slope_b) = edge_fourth_order(aa, a, b, bb),
    limit(w, edge_l, edge_r) = cell_unlimited_edges(w, edge_l, edge_r),
);
scheme!(
    /// Fourth-order edges without limiter under the linear flux (only to reproduce published tables).
    PpmNoneLinear: "ppm none, linear flux", halo 3, flux Linear,
    profile(w) = profile_ppm_none(w),
    edge(aa, a, b, bb, _slope_a, _slope_b) = edge_fourth_order(aa, a, b, bb),
    limit(w, edge_l, edge_r) = cell_unlimited_edges(w, edge_l, edge_r),
);
scheme!(
    /// Fourth-order edges, monotone cell limiter, linear flux.
    PpmMonotone: "ppm monotone", halo 3, flux Linear,
    profile(w) = profile_ppm_monotone(w),
    edge(aa, a, b, bb, _slope_a, _slope_b) = edge_fourth_order(aa, a, b, bb),
    limit(w, edge_l, edge_r) = cell_colella_woodward_edges(w, edge_l, edge_r),
);
scheme!(
    /// Monotone piecewise parabolas of Colella & Woodward 1984.
    PpmCw84: "ppm cw84", halo 3, flux Parabola,
    profile(w) = profile_ppm_cw84(w),
    slope(a, b, c) = half_slope_monotone(a, b, c),
    edge(_aa, a, b, _bb, slope_a, slope_b) = edge_colella_woodward(a, b, slope_a, slope_b),
    limit(w, edge_l, edge_r) = cell_colella_woodward_edges(w, edge_l, edge_r),
);
scheme!(
    /// Positive-definite piecewise parabolas that keep smooth extrema.
    PpmHuynhPd: "ppm huynh_pd", halo 3, flux Parabola,
    profile(w) = profile_ppm_huynh_pd(w),
    edge(aa, a, b, bb, _slope_a, _slope_b) = edge_large_scale(aa, a, b, bb),
    limit(w, edge_l, edge_r) = cell_huynh_positive(w, edge_l, edge_r),
);
scheme!(
    /// Raw parabolas, flat at extrema (the rule of the Lin–Rood operator of orders 5 and 7).
    LinRoodQuasi: "linrood quasi", halo 3, flux Parabola,
    profile(w) = profile_linrood_ord5(w),
    edge(aa, a, b, bb, _slope_a, _slope_b) = edge_fourth_order(aa, a, b, bb),
    limit(w, edge_l, edge_r) = cell_extremum_flat_edges(w, edge_l, edge_r),
);
scheme!(
    /// Monotone edges and the fast monotone limiter of FV3's `hord = 8`.
    Fv3Hord8: "ppm mono", halo 3, flux Parabola,
    profile(w) = profile_fv3_hord8(w),
    slope(a, b, c) = half_slope_monotone(a, b, c),
    edge(_aa, a, b, _bb, slope_a, slope_b) = edge_colella_woodward(a, b, slope_a, slope_b),
    limit(w, edge_l, edge_r) = cell_fast_monotone_edges(w, edge_l, edge_r),
);
scheme!(
    /// Monotone edges and the positive-definite limiter of FV3's `hord = 13`.
    Fv3Hord13: "ppm pd", halo 3, flux Parabola,
    profile(w) = profile_fv3_hord13(w),
    slope(a, b, c) = half_slope_monotone(a, b, c),
    edge(_aa, a, b, _bb, slope_a, slope_b) = edge_colella_woodward(a, b, slope_a, slope_b),
    limit(w, edge_l, edge_r) = cell_positive_definite_edges(w, edge_l, edge_r),
);
scheme!(
    /// Sixth-order swept means under the universal limiter: no new extrema.
    SweptUniversal: "ppm universal", halo 3, flux Swept,
    profile(w) = profile_upwind(w),
    face(flux, courant, first, w) = flux_universal(flux, courant, first, w),
);
scheme!(
    /// Sixth-order swept means under monotonicity-preserving bounds, non-negative.
    SweptMpPd: "ppm mp_pd", halo 3, flux Swept,
    profile(w) = profile_upwind(w),
    face(flux, courant, first, w) = flux_monotonicity_preserving(flux, courant, first, w),
);
