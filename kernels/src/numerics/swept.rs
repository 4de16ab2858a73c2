//! Fluxes from a high-order mean over the swept volume, bounded by what the donor can give.
//!
//! The cells around a face are passed as `first` and the window `w` of the cell to its right: six cells in index order,
//! the face between the third and the fourth.

use crate::Real;

/// Share of a cell that stays in it where it loses air through both faces, for the bounds of this module to be strict.
/// Through one face all of it may leave.
const LEAST_REST: f64 = 0.75;
/// The part of it that one face may draw on where both may draw.
const HALF_OF_REST: f64 = 0.375;

/// The six cells around a face as its donor sees them: two upwind ones, the donor, three downwind ones.
#[inline(always)]
fn from_donor<R: Real>(flux: R, first: R, w: [R; 5]) -> [R; 6] {
    let leftward = flux.lt(R::lit(0.0));
    [
        R::select(leftward, w[4], first),
        R::select(leftward, w[3], w[0]),
        R::select(leftward, w[2], w[1]),
        R::select(leftward, w[1], w[2]),
        R::select(leftward, w[0], w[3]),
        R::select(leftward, first, w[4]),
    ]
}

/// Sixth-order mean over the swept fraction of the donor minus the donor's mean.
///
/// The content between the face and the points around it is interpolated from its values at seven faces, in Gauss's form
/// (the ladder of Leonard 1991, appendix, carried on to sixth order). Zero at c = 1.
#[inline(always)]
fn swept_deviation<R: Real>(courant: R, q: [R; 6]) -> R {
    let ahead = q[3] - q[2];
    let behind = q[2] - q[1];
    let beyond = q[4] - q[3];
    let bend_behind = behind - (q[1] - q[0]);
    let bend = ahead - behind;
    let bend_ahead = beyond - ahead;
    let third_behind = bend - bend_behind;
    let third = bend_ahead - bend;
    let third_ahead = ((q[5] - q[4]) - beyond) - bend_ahead;
    let fourth = third - third_behind;
    let fifth = (third_ahead - third) - fourth;
    let upper = fourth + R::lit(1.0 / 6.0) * (R::lit(3.0) - courant) * fifth;
    let middle = third - R::lit(0.2) * (R::lit(2.0) + courant) * upper;
    let lower = bend + R::lit(0.25) * (R::lit(2.0) - courant) * middle;
    let slope = R::lit(0.5) * ahead - R::lit(1.0 / 6.0) * (R::lit(1.0) + courant) * lower;
    (R::lit(1.0) - courant) * slope
}

/// How far the swept mean may lie from the donor's mean, per distance of the donor's mean from the bound of its rest, where
/// the rest counts for `share` of the donor at most: `min(1 − c, share) / c`.
#[inline(always)]
fn rest_reach<R: Real>(courant: R, share: R) -> R {
    // Below a millionth of the cell no bound is active.
    (R::lit(1.0) - courant).min(share) / courant.max(R::lit(1.0e-6))
}

/// Tracer flux of a sixth-order swept mean under the universal limiter (Leonard 1991): the mean lies between the donor and
/// the receiver, and what stays in the donor between the donor and its upwind neighbour. A sweep then makes no new extrema,
/// whatever the divergence of the air, as long as a cell that loses air through both faces loses at most a quarter of it.
#[inline(always)]
pub fn flux_universal<R: Real>(flux: R, courant: R, first: R, w: [R; 5]) -> R {
    let zero = R::lit(0.0);
    let q = from_donor(flux, first, w);
    let swept = q[3] - q[2];
    let rest = rest_reach(courant, R::lit(LEAST_REST)) * (q[2] - q[1]);
    let lo = swept.min(zero).max(rest.min(zero));
    let hi = swept.max(zero).min(rest.max(zero));
    flux * (q[2] + swept_deviation(courant, q).max(lo).min(hi))
}

/// Tracer flux of a sixth-order swept mean under monotonicity-preserving bounds, which keep smooth extrema (Suresh & Huynh
/// 1997, eq. 2.19 to 2.30, in terms of swept means), non-negative for non-negative cells: neither the swept part nor what
/// stays in the donor is negative, under the condition of [`flux_universal`].
#[inline(always)]
pub fn flux_monotonicity_preserving<R: Real>(flux: R, courant: R, first: R, w: [R; 5]) -> R {
    let zero = R::lit(0.0);
    let half = R::lit(0.5);
    let q = from_donor(flux, first, w);
    let ahead = q[3] - q[2];
    let behind = q[2] - q[1];
    let bend_behind = behind - (q[1] - q[0]);
    let bend = ahead - behind;
    let bend_ahead = (q[4] - q[3]) - ahead;
    let left = R::lit(1.0) - courant;
    let median = left * (half * ahead - half * smallest_bend(bend, bend_ahead));
    let curved = left * (half * behind + R::lit(4.0 / 3.0) * smallest_bend(bend, bend_behind));
    let rest = rest_reach(courant, R::lit(LEAST_REST)) * behind;
    let lo = ahead.min(median).min(zero).max(rest.min(curved).min(zero));
    let hi = ahead.max(median).max(zero).min(rest.max(curved).max(zero));
    let bounded = swept_deviation(courant, q).max(lo).min(hi);
    let content = q[2].max(zero);
    let given = rest_reach(courant, R::lit(HALF_OF_REST)) * content;
    flux * (q[2] + bounded.max(-content).min(given))
}

/// Curvature at an edge between two cells: the smallest of theirs and two extrapolations, 0 unless all have one sign.
#[inline(always)]
fn smallest_bend<R: Real>(a: R, b: R) -> R {
    let zero = R::lit(0.0);
    let four = R::lit(4.0);
    let (from_a, from_b) = (four * a - b, four * b - a);
    let lo = a.min(b).min(from_a.min(from_b));
    let hi = a.max(b).max(from_a.max(from_b));
    lo.max(zero) + hi.min(zero)
}
