//! Mass-space solve: directed transfers between layers, in which the smaller share is always computed directly.
//!
//! Backward Euler of the exchange between layers factors into two bidiagonal matrices. The inverse of the first hands
//! tracer down: layer k keeps 1/(1 + r_k) of what it holds and what reaches it, the rest goes to layer k + 1. The inverse
//! of the second hands it up with ratios v_{k−1}. The ratio of transfer to retention stays accurate for very weak and
//! for very strong exchange, where either share alone would not.

use crate::Real;

use super::sums::two_sum;

/// Ratios `(r_k, v_k)` of the transfers out of layer k downward and out of layer k + 1 upward.
///
/// `u` and `d` are the exchange of a step through the interface below layer k over the mass of the layer above and below
/// it, `above` is `v_{k−1}` (0 at the top).
#[inline(always)]
pub fn transfer_ratios<R: Real>(u: R, d: R, above: R) -> (R, R) {
    let one = R::lit(1.0);
    let r = u / (one + above);
    (r, d / (one + r))
}

/// The smaller share of a transfer with this ratio of sent to kept: the sent share `ratio/(1 + ratio)` up to ratio 1; above it
/// the kept share `1/(1 + ratio)` with a minus sign. 0 for ratio 0.
#[inline(always)]
pub fn partition_share<R: Real>(ratio: R) -> R {
    let one = R::lit(1.0);
    R::select(ratio.gt(one), R::lit(-1.0), ratio) / (one + ratio)
}

/// Splits `value + incoming + correction` into `(retained, incoming, correction)`: what the layer keeps, and what it sends on
/// as a rounded amount and its correction. `share` comes from [`partition_share`].
///
/// The smaller part is a product with the share, the larger one what is left of the exact sum, so that little of either
/// is lost. The fused product recovers the rounding of a sent part.
#[inline(always)]
pub fn partition<R: Real>(value: R, incoming: R, correction: R, share: R) -> (R, R, R) {
    let zero = R::lit(0.0);
    let keeps_less = share.lt(zero);
    let sends = R::or(keeps_less, share.gt(zero));
    let (all, error) = two_sum(value, incoming);
    let low = error + correction;

    let part = share.abs();
    let product = part * all;
    let product_low = part * low;
    let direct = R::select(keeps_less, product + product_low, product);
    let (rest, rest_error) = two_sum(all, -direct);
    let rest_low = rest_error + low;

    // Either the layer keeps the direct part and sends the rest, or the other way round.
    let (sent_rest, sent_rest_low) = two_sum(rest, rest_low);
    let sent_low = part.mul_add(all, -product) + product_low;
    let kept_rest = rest + (rest_low - sent_low);

    let retained = R::select(keeps_less, direct, kept_rest);
    let sent = R::select(keeps_less, sent_rest, product);
    let sent_error = R::select(keeps_less, sent_rest_low, sent_low);
    (R::select(sends, retained, all + low), R::select(sends, sent, zero), R::select(sends, sent_error, zero))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_name_the_smaller_part() {
        assert_eq!(partition_share(0.0), 0.0);
        assert_eq!(partition_share(1.0), 0.5);
        assert_eq!(partition_share(0.25), 0.2);
        assert_eq!(partition_share(3.0), -0.25);
        assert_eq!(partition_share(1e-14_f32), 1e-14);
    }

    #[test]
    fn parts_have_their_sizes_and_add_up() {
        for ratio in [1e-14, 1e-3, 0.5, 1.0, 3.0, 1e4] {
            let (kept, sent, error) = partition(3.0_f32, 4.0, 1e-7, partition_share(ratio as f32));
            let (kept, sent) = (f64::from(kept), f64::from(sent) + f64::from(error));
            let (total, ratio) = (7.0 + f64::from(1e-7_f32), f64::from(ratio as f32));
            assert!((kept - total / (1.0 + ratio)).abs() <= 2e-7 * kept, "{ratio}");
            assert!((sent - total * ratio / (1.0 + ratio)).abs() <= 2e-7 * sent, "{ratio}");
            assert!((kept + sent - total).abs() <= 5e-7, "{ratio}");
        }
    }

    #[test]
    fn nothing_passes_a_closed_interface() {
        assert_eq!(partition(3.0, 4.0, 0.5, 0.0), (7.5, 0.0, 0.0));
        let (kept, sent, error) = partition(f64::INFINITY, 1.0, 0.0, 0.0);
        assert!(kept.is_nan() && sent == 0.0 && error == 0.0);
    }

    #[test]
    fn ratios_are_those_of_the_factors() {
        // Two layers: (1 + u) (1 + v) = 1 + u + d.
        let (r, v) = transfer_ratios(0.5, 0.25, 0.0);
        assert!(((1.0 + r) * (1.0 + v) - 1.75_f64).abs() < 1e-15);
    }
}
