//! Deposit of emissions in the layers of a column.

use crate::Real;

use super::sums::{kahan_add, neumaier_add, two_sum};

/// Amount emitted at `rate` during `seconds + seconds_low`: the low word holds what rounding took from the high one, so
/// that no error common to all cells remains.
#[inline(always)]
pub fn emitted_amount<R: Real>(rate: R, seconds: R, seconds_low: R) -> R {
    rate.mul_add(seconds, rate * seconds_low)
}

/// Content left in a layer that loses by its part `fraction` of `amount`; 0 for one that gains. For the surface layer the
/// fraction less 1 tells what lofting alone makes of it.
///
/// Layers that gain do not count: rounding by transport leaves contents a little below 0 where there is no tracer.
#[inline(always)]
pub fn content_after_loss<R: Real>(content: R, amount: R, fraction: R) -> R {
    let (part, zero) = (amount * fraction, R::lit(0.0));
    R::select(part.lt(zero), content + part, zero)
}

/// Deposit of the part `fraction` of `amount` in a layer above the surface: `(content, landed, errors)`, where
/// `landed + errors` sums what the layers have really taken.
#[inline(always)]
pub fn deposit_part<R: Real>(content: R, amount: R, fraction: R, landed: R, errors: R) -> (R, R, R) {
    let part = amount * fraction;
    let (after, lost) = two_sum(content, part);
    let (landed, errors) = neumaier_add(landed, errors, part);
    let (landed, errors) = neumaier_add(landed, errors, -lost);
    (after, landed, errors)
}

/// Deposit in the surface layer of what has not landed above: `(content, compensation)`. The column gains the whole
/// amount, whatever the fractions sum to.
#[inline(always)]
pub fn deposit_rest<R: Real>(content: R, compensation: R, amount: R, landed: R, errors: R) -> (R, R) {
    kahan_add(content, compensation, (amount - landed) - errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_words_of_a_step_act_as_one() {
        let dt = 3600.0 / 13.0_f64;
        let high = dt as f32;
        let low = (dt - f64::from(high)) as f32;
        assert_eq!(emitted_amount(3.0_f32, high, low), (3.0 * dt) as f32);
        assert_ne!(3.0_f32 * high, (3.0 * dt) as f32);
    }

    #[test]
    fn only_losses_can_leave_too_little() {
        assert_eq!(content_after_loss(3.0, 8.0, -0.5), -1.0);
        assert_eq!(content_after_loss(-1e-30, 8.0, 0.0), 0.0);
        assert_eq!(content_after_loss(-1.0, 8.0, 0.01), 0.0);
    }

    #[test]
    fn what_a_layer_cannot_take_stays_with_the_rest() {
        // Half of 1 + 2⁻²³ is lost beside 2²⁴: the layer takes nothing of it.
        let (content, landed, errors) = deposit_part(16_777_216.0_f32, 1.0, 0.5, 0.0, 0.0);
        assert_eq!((content, landed + errors), (16_777_216.0, 0.0));
        assert_eq!(deposit_rest(2.0_f32, 0.0, 1.0, landed, errors), (3.0, 0.0));
    }
}
