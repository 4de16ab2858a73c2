//! Air mass: how much of a cell leaves it, and what a change of it does to tracers.

use crate::Real;

/// Outflow budget of a cell, `2 · scale · outflow / mass`, from the fluxes through its six sides.
///
/// `west`, `south` and `top` count positive into the cell, the others out of it. Each flux acts twice in a symmetric
/// step, hence the factor 2. What is not a number stays so.
#[inline(always)]
pub fn outflow_ratio<R: Real>(mass: R, scale: R, west: R, east: R, south: R, north: R, top: R, bottom: R) -> R {
    let outflow = leaving(-west) + leaving(east) + leaving(-south) + leaving(north) + leaving(-top) + leaving(bottom);
    R::lit(2.0) * (scale * outflow) / mass
}

/// The positive part of an outward flux. A minimum keeps what is not a number, a maximum would drop it.
#[inline(always)]
fn leaving<R: Real>(outward: R) -> R {
    (-outward).min(R::lit(0.0)).abs()
}

/// Air mass of a cell after a predictor that lets `inflow` in and `outflow` out along one axis, at least a tenth of `mass`.
#[inline(always)]
pub fn predicted_mass<R: Real>(mass: R, inflow: R, outflow: R) -> R {
    (mass + (inflow - outflow)).max(R::lit(0.1) * mass)
}

/// Tracer leaving a cell through its four sides; `west` and `south` count positive into the cell, the others out of it.
#[inline(always)]
pub fn leaving_amount<R: Real>(west: R, east: R, south: R, north: R) -> R {
    let zero = R::lit(0.0);
    let along_i = (-west).max(zero) + east.max(zero);
    let along_j = (-south).max(zero) + north.max(zero);
    along_i + along_j
}

/// Part of the `leaving` amount that a cell with this `content` can give away and stay non-negative in rounded arithmetic: 1
/// where it has enough, and where it is negative already. `kept` is a little less than 1; below `smallest`, where numbers
/// lose digits, nothing leaves.
#[inline(always)]
pub fn affordable_part<R: Real>(content: R, leaving: R, kept: R, smallest: R) -> R {
    let zero = R::lit(0.0);
    let one = R::lit(1.0);
    let available = R::select(content.gt(smallest), kept * content, zero);
    let part = R::select(leaving.gt(available), available / leaving, one);
    R::select(content.lt(zero), one, part)
}

/// An amount through a face, positive from low to high, after its donor could only afford a part of it.
#[inline(always)]
pub fn affordable_amount<R: Real>(amount: R, part_low: R, part_high: R) -> R {
    amount * R::select(amount.lt(R::lit(0.0)), part_high, part_low)
}

/// Mean of an inner and an outer face amount of the Lin–Rood operator.
#[inline(always)]
pub fn mean_amount<R: Real>(inner: R, outer: R) -> R {
    R::lit(0.5) * (inner + outer)
}

/// Whether two sweeps of a column may be one, 1 or 0, with one more cell: `so_far` unless its [`outflow_ratio`] is above 0.95.
#[inline(always)]
pub fn fusion_allowed<R: Real>(so_far: R, ratio: R) -> R {
    R::select(ratio.le(R::lit(0.95)), so_far, R::lit(0.0))
}

/// Factors `(first, second)` on the fluxes of two sweeps: both at once where `allowed` is 1, each by itself where it is 0.
#[inline(always)]
pub fn fused_parts<R: Real>(allowed: R) -> (R, R) {
    (R::lit(1.0) + allowed, R::lit(1.0) - allowed)
}

/// Tracer content of a cell whose air mass changes from `before` to `after` while its mixing ratio stays; 0 where
/// `before` is not above `smallest`.
#[inline(always)]
pub fn content_at_kept_ratio<R: Real>(content: R, before: R, after: R, smallest: R) -> R {
    R::select(before.gt(smallest), content / before * after, R::lit(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_leaves_counts_and_twice() {
        assert_eq!(outflow_ratio(10.0, 0.5, 3.0, 1.0, -2.0, -4.0, 5.0, -1.0), 2.0 * 0.5 * 3.0 / 10.0);
        assert!(outflow_ratio(10.0, 0.5, f64::NAN, 1.0, -2.0, -4.0, 5.0, -1.0).is_nan());
    }

    #[test]
    fn a_cell_gives_away_what_it_has() {
        let (kept, smallest) = (1.0 - 8.0 * f64::EPSILON, f64::MIN_POSITIVE / f64::EPSILON);
        assert_eq!(leaving_amount(-1.0, 2.0, 3.0, -4.0), 3.0);
        assert_eq!(leaving_amount(1.0, -2.0, -3.0, 4.0), 7.0);
        assert_eq!(affordable_part(4.0, 3.0, kept, smallest), 1.0);
        assert_eq!(affordable_part(4.0, 8.0, kept, smallest), 0.5 * kept);
        assert_eq!(affordable_part(-1.0, 8.0, kept, smallest), 1.0);
        assert_eq!([affordable_part(0.0, 0.0, kept, smallest), affordable_part(0.0, 1.0, kept, smallest)], [1.0, 0.0]);
        assert_eq!(affordable_part(smallest, 0.1 * smallest, kept, smallest), 0.0);
        assert_eq!([affordable_amount(-2.0, 0.5, 0.25), affordable_amount(2.0, 0.5, 0.25)], [-0.5, 1.0]);
    }

    #[test]
    fn predicted_masses_stay_positive() {
        assert_eq!(predicted_mass(10.0, 1.0, 3.0), 8.0);
        assert_eq!(predicted_mass(10.0, 0.0, 12.0), 1.0);
    }

    #[test]
    fn columns_are_fused_as_far_as_their_outflow_allows() {
        assert_eq!((fusion_allowed(1.0, 0.95), fusion_allowed(0.0, 0.5)), (1.0, 0.0));
        assert_eq!((fusion_allowed(1.0, 0.96), fusion_allowed(1.0, f64::NAN)), (0.0, 0.0));
        assert_eq!((fused_parts(1.0), fused_parts(0.0)), ((2.0, 0.0), (1.0, 1.0)));
    }

    #[test]
    fn content_follows_the_air() {
        assert_eq!(content_at_kept_ratio(2.0, 4.0, 5.0, 1e-12), 2.5);
        assert_eq!(content_at_kept_ratio(2.0, 0.0, 5.0, 1e-12), 0.0);
    }
}
