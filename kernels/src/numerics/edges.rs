//! Edge values between cells `a | b` with outer neighbours `aa` and `bb` (order `aa, a, b, bb`).

use crate::Real;

const SEVEN_TWELFTHS: f64 = 7.0 / 12.0;
const ONE_TWELFTH: f64 = 1.0 / 12.0;
const ONE_THIRD: f64 = 1.0 / 3.0;

/// Fourth-order edge value `7/12 (a + b) − 1/12 (aa + bb)` (Colella & Woodward 1984 eq. 1.9).
#[inline(always)]
pub fn edge_fourth_order<R: Real>(aa: R, a: R, b: R, bb: R) -> R {
    R::lit(SEVEN_TWELFTHS) * (a + b) - R::lit(ONE_TWELFTH) * (aa + bb)
}

/// Monotone edge value `(a + b)/2 − (h_b − h_a)/3` from half slopes (Colella & Woodward 1984 eq. 1.6); lies between `a`
/// and `b` for monotone half slopes.
#[inline(always)]
pub fn edge_colella_woodward<R: Real>(a: R, b: R, half_slope_a: R, half_slope_b: R) -> R {
    R::lit(0.5) * (a + b) - R::lit(ONE_THIRD) * (half_slope_b - half_slope_a)
}

/// Fourth-order edge value under the large-scale constraint: between `a` and `b` where the outer differences have one
/// sign, otherwise only kept from undershooting a maximum or overshooting a minimum (Lin 2004, appendix B).
///
/// Two equal differences and a pair of zeros count as a minimum; a single zero counts by the other difference, so that
/// both orientations agree.
#[inline(always)]
pub fn edge_large_scale<R: Real>(aa: R, a: R, b: R, bb: R) -> R {
    let zero = R::lit(0.0);
    let edge = edge_fourth_order(aa, a, b, bb);
    let outer_a = a - aa;
    let outer_b = bb - b;
    let maximum = outer_a.gt(outer_b);
    let from_below = edge.max(a.min(b));
    let from_above = edge.min(a.max(b));
    let between = from_below.min(a.max(b));
    let turning = R::select(maximum, from_below, from_above);
    let not_rising = R::select(outer_a.max(outer_b).lt(zero), between, turning);
    R::select(outer_a.min(outer_b).gt(zero), between, not_rising)
}

/// Edge value at a kink of the grid between `a` and `b`: the mean of the linear extrapolations from either side,
/// `½ [(3/2 a − ½ aa) + (3/2 b − ½ bb)]` (Putman & Lin 2007, equal spacing).
#[inline(always)]
pub fn edge_two_sided<R: Real>(aa: R, a: R, b: R, bb: R) -> R {
    let half = R::lit(0.5);
    half * ((R::lit(1.5) * a - half * aa) + (R::lit(1.5) * b - half * bb))
}

/// Edge value from one side only: the edge between the first cell behind a kink of the grid, `near`, and the next one,
/// `mid`, with `far` behind it: `(5 near + 11 mid − 2 far)/14` (FV3 `tp_core`, `hord < 7`).
#[inline(always)]
pub fn edge_one_sided<R: Real>(near: R, mid: R, far: R) -> R {
    (R::lit(5.0 / 14.0) * near + R::lit(11.0 / 14.0) * mid) - R::lit(1.0 / 7.0) * far
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fourth_order_edge_is_exact_for_cubics() {
        // Cell means of x³ on unit cells [n, n+1]: ((n+1)⁴ − n⁴)/4; the edge between n = 0 and n = 1 is x = 1.
        let mean = |n: f64| ((n + 1.0).powi(4) - n.powi(4)) / 4.0;
        assert!((edge_fourth_order(mean(-1.0), mean(0.0), mean(1.0), mean(2.0)) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn large_scale_constraint_has_three_cases() {
        // Fourth-order edges: 7/12·1 − 1/12·(aa + bb).
        let steep = edge_large_scale(-20.0, 0.0, 1.0, 21.0);
        assert_eq!(steep, edge_fourth_order(-20.0_f64, 0.0, 1.0, 21.0).clamp(0.0, 1.0));
        // Both outer differences positive, edge beyond the hull: clamped.
        assert_eq!(edge_large_scale(-20.0, 0.0, 1.0, 1.5), 1.0);
        // Maximum between a and b: the edge may exceed both.
        assert!(edge_large_scale(-20.0, 0.0, 1.0, -1.0) > 1.0);
        // Minimum: it may lie below both, but not above.
        assert!(edge_large_scale(20.0, 0.0, 1.0, 21.0) < 0.0);
        assert_eq!(edge_large_scale(1.0, 0.0, 0.0, 0.0), edge_fourth_order(1.0, 0.0, 0.0, 0.0).min(0.0));
    }
}
