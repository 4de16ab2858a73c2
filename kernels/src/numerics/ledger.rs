//! Column ledger: what a conserving solve lost to rounding goes back into its largest cell.

use crate::Real;

use super::sums::two_sum;

/// Adds `value` to the sum `(sum, compensation)` whose value is `sum + compensation`; rounding errors are collected apart
/// (Neumaier 1974, without a branch).
#[inline(always)]
pub fn neumaier_add<R: Real>(sum: (R, R), value: R) -> (R, R) {
    let (s, e) = two_sum(sum.0, value);
    (s, sum.1 + e)
}

/// Difference `before − after` of two compensated sums that nearly agree.
#[inline(always)]
pub fn sum_gap<R: Real>(before: (R, R), after: (R, R)) -> R {
    (before.0 - after.0) + (before.1 - after.1)
}

/// One ledger step: `(value, carry, returned)`, the new value of the largest cell, the new carry, and what of the gap
/// between the sums was accepted.
///
/// `tolerance` is 16 · cells · epsilon: a gap or a carry above `tolerance · |largest|` is no rounding. Such a gap stays
/// in the field, such a carry is dropped; not-a-number counts as too large.
#[inline(always)]
pub fn ledger_step<R: Real>(before: (R, R), after: (R, R), largest: R, tolerance: R, carry: R) -> (R, R, R) {
    let zero = R::lit(0.0);
    let bound = tolerance * largest.abs();
    let gap = sum_gap(before, after);
    let returned = R::select(gap.abs().le(bound), gap, zero);
    let kept = R::select(carry.abs().le(bound), carry, zero);
    let (total, total_low) = two_sum(returned, kept);
    let (value, value_low) = two_sum(largest, total);
    (value, value_low + total_low, returned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_within_the_bound_is_returned_and_what_does_not_fit_is_carried() {
        let tolerance = 16.0 * 40.0 * f64::EPSILON;
        let gap = 2.0_f64.powi(-54);
        let (value, carry, returned) = ledger_step((1.0, gap), (1.0, 0.0), 1.0, tolerance, 0.0);
        assert_eq!((value, carry, returned), (1.0, gap, gap));
        let (value, carry, _) = ledger_step((1.0, gap), (1.0, 0.0), 1.0, tolerance, 3.0 * gap);
        assert_eq!((value, carry), (1.0 + f64::EPSILON, 0.0));
    }

    #[test]
    fn leaks_and_foreign_carries_are_refused() {
        let refused = ledger_step((1.0, 0.0), (0.9, 0.0), 1.0_f64, 1e-13, 0.5);
        assert_eq!(refused, (1.0, 0.0, 0.0));
        assert_eq!(ledger_step((f64::NAN, 0.0), (0.9, 0.0), 1.0, 1e-13, f64::NAN), (1.0, 0.0, 0.0));
    }
}
