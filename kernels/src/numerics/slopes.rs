//! Half slopes of a cell from the mixing ratios of the cell `b` and its neighbours `a` and `c`.

use crate::Real;

/// Unlimited centred half slope `(c − a)/4` (Fromm 1968).
#[inline(always)]
pub fn half_slope_centred<R: Real>(a: R, _b: R, c: R) -> R {
    R::lit(0.25) * (c - a)
}

/// Monotone half slope: minmod of the centred slope and twice the one-sided differences, halved (van Leer 1977;
/// Colella & Woodward 1984 eq. 1.8). Zero at extrema.
#[inline(always)]
pub fn half_slope_monotone<R: Real>(a: R, b: R, c: R) -> R {
    let zero = R::lit(0.0);
    let left = b - a;
    let right = c - b;
    let lo = left.min(right);
    let hi = left.max(right);
    (R::lit(0.25) * (left + right)).max(hi.min(zero)).min(lo.max(zero))
}

/// Centred half slope limited to half the cell mean, so that the linear profile of a non-negative cell is non-negative
/// (Russell & Lerner 1981). Zero where the mean is not positive.
#[inline(always)]
pub fn half_slope_positive<R: Real>(a: R, b: R, c: R) -> R {
    let bound = R::lit(0.5) * b.max(R::lit(0.0));
    (R::lit(0.25) * (c - a)).max(-bound).min(bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monotone_slope_is_the_smallest_of_three_or_zero() {
        assert_eq!(half_slope_monotone(1.0, 2.0, 3.0), 0.5);
        assert_eq!(half_slope_monotone(0.0, 1.0, 10.0), 1.0); // 2(b − a), halved
        assert_eq!(half_slope_monotone(10.0, 1.0, 0.0), -1.0);
        assert_eq!(half_slope_monotone(0.0, 3.0, 1.0), 0.0);
        assert_eq!(half_slope_monotone(3.0, 0.0, 1.0), 0.0);
    }

    #[test]
    fn positive_slope_never_exceeds_half_the_mean() {
        assert_eq!(half_slope_positive(0.0, 1.0, 10.0), 0.5);
        assert_eq!(half_slope_positive(10.0, 1.0, 0.0), -0.5);
        assert_eq!(half_slope_positive(0.0, -1.0, 10.0), 0.0);
        assert_eq!(half_slope_positive(1.0, 2.0, 3.0), 0.5);
    }
}
