//! Column ledger: the rounding residual of a conservative solve, returned to the largest cell of its column.

use crate::Real;

use super::sums::two_sum;

/// Largest residual that can be rounding: `16 · cells · epsilon · largest`.
///
/// `cells` counts the cells that take part, `largest` is their largest magnitude after the solve, `epsilon` the distance
/// from 1 to the next number of the precision.
#[inline(always)]
pub fn ledger_bound<R: Real>(cells: R, largest: R, epsilon: R) -> R {
    R::lit(16.0) * epsilon * cells * largest
}

/// An amount that is at most `bound` in magnitude, else 0; also 0 if it is not a number.
#[inline(always)]
pub fn ledger_accepted<R: Real>(amount: R, bound: R) -> R {
    R::select(amount.abs().le(bound), amount, R::lit(0.0))
}

/// 1 for a residual that is larger than rounding explains, or no number; else 0.
///
/// Columns whose largest cell is below `negligible` are not judged: their mixing ratios leave the range of the precision. A
/// column without a largest cell (`largest` below 0) holds no number and is.
#[inline(always)]
pub fn ledger_refusal<R: Real>(gap: R, bound: R, largest: R, negligible: R) -> R {
    let (zero, one) = (R::lit(0.0), R::lit(1.0));
    let judged = R::or(largest.lt(zero), largest.ge(negligible));
    R::select(gap.abs().le(bound), zero, R::select(judged, one, zero))
}

/// Value of the largest cell and the carry of the column after the residual `gap` (before − after) and the carry of
/// earlier solves are added to it.
///
/// `value + carry` after equals `value + gap + carry` before up to one rounding of the new carry. A residual above `bound`
/// is refused: it stays in the field, where a leak remains visible, and never enters the carry. A carry above `bound` is
/// dropped (the column was emptied).
#[inline(always)]
pub fn ledger_step<R: Real>(value: R, gap: R, carry: R, bound: R) -> (R, R) {
    let (due, due_error) = two_sum(ledger_accepted(gap, bound), ledger_accepted(carry, bound));
    let (settled, error) = two_sum(value, due);
    (settled, error + due_error)
}

/// Value of the largest cell after the residual `gap` is added to it, if accepted; what rounding drops is lost.
#[inline(always)]
pub fn ledger_step_without_carry<R: Real>(value: R, gap: R, bound: R) -> R {
    value + ledger_accepted(gap, bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_sixteen_roundings_per_cell() {
        assert_eq!(ledger_bound(40.0_f32, 3.0, f32::EPSILON), 16.0 * 40.0 * 3.0 * f32::EPSILON);
        assert_eq!(ledger_bound(40.0_f64, 3.0, f64::EPSILON), 16.0 * 40.0 * 3.0 * f64::EPSILON);
    }

    #[test]
    fn a_refused_residual_stays_and_a_large_carry_is_dropped() {
        assert_eq!(ledger_step(5.0, 2.0, 0.25, 1.0), (5.25, 0.0));
        assert_eq!(ledger_step(5.0, f64::NAN, 0.25, 1.0), (5.25, 0.0));
        assert_eq!(ledger_step(5.0, 0.5, 2.0, 1.0), (5.5, 0.0));
        assert_eq!(ledger_step_without_carry(5.0, -0.5, 1.0), 4.5);
        assert_eq!(ledger_step_without_carry(5.0, f64::NEG_INFINITY, 1.0), 5.0);
    }

    #[test]
    fn nearly_empty_columns_are_not_judged() {
        assert_eq!(ledger_refusal(1.0, 1.0, 3.0, 1e-18), 0.0);
        assert_eq!(ledger_refusal(2.0, 1.0, 3.0, 1e-18), 1.0);
        assert_eq!(ledger_refusal(f64::NAN, 1.0, 3.0, 1e-18), 1.0);
        assert_eq!(ledger_refusal(f64::NAN, f64::NAN, -1.0, 1e-18), 1.0);
        assert_eq!(ledger_refusal(1e-30, 0.0, 1e-20, 1e-18), 0.0);
    }

    #[test]
    fn what_the_cell_cannot_take_is_carried() {
        assert_eq!(ledger_step(1.0_f32, 1e-9, 2e-9, 1e-6), (1.0, 1e-9 + 2e-9));
    }
}
