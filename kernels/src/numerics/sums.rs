//! Error-free addition.

use crate::Real;

/// Rounded sum and its exact rounding error: `s + e = a + b` without error (Knuth 1969; Møller 1965).
///
/// Valid for any operands as long as nothing overflows.
#[inline(always)]
pub fn two_sum<R: Real>(a: R, b: R) -> (R, R) {
    let s = a + b;
    let z = s - a;
    (s, (a - (s - z)) + (b - z))
}

/// Adds `value` to a compensated sum: `(sum, compensation)` whose value is `sum + compensation` (Kahan 1965).
///
/// The compensation is fed back into the next addition, so it never exceeds half a unit in the last place of the sum.
#[inline(always)]
pub fn compensated_add<R: Real>(sum: R, compensation: R, value: R) -> (R, R) {
    two_sum(sum, compensation + value)
}

/// Adds `value` to a running sum that keeps its errors apart: `(sum, errors)` whose value is `sum + errors` (Neumaier 1974,
/// without branches).
///
/// Unlike [`compensated_add`], the errors stay beside the sum until the end, so the difference of two such sums is known
/// far below a unit in the last place of either.
#[inline(always)]
pub fn neumaier_add<R: Real>(sum: R, errors: R, value: R) -> (R, R) {
    let (total, error) = two_sum(sum, value);
    (total, errors + error)
}

/// Difference `before − after` of two sums by [`neumaier_add`]. The difference of the leading parts is exact where they
/// are within a factor 2 of each other (Sterbenz 1974).
#[inline(always)]
pub fn sum_gap<R: Real>(before: (R, R), after: (R, R)) -> R {
    (before.0 - after.0) + (before.1 - after.1)
}

/// Adds `increment` to a stored value with a persistent compensation: `(stored, compensation)` afterwards (Kahan 1965).
///
/// After any number of increments the stored value has gained their sum plus the compensation: a positive compensation
/// is an amount deposited ahead of time.
#[inline(always)]
pub fn kahan_add<R: Real>(stored: R, compensation: R, increment: R) -> (R, R) {
    let due = increment - compensation;
    let next = stored + due;
    (next, (next - stored) - due)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sum_keeps_what_rounding_drops() {
        let (s, e) = two_sum(1.0_f32, 1.0e-8);
        assert_eq!((s, e), (1.0, 1.0e-8));
        let (s, e) = two_sum(1.0e-8_f32, 1.0);
        assert_eq!((s, e), (1.0, 1.0e-8));
    }

    #[test]
    fn compensated_sum_of_tenths_is_exact_to_one_rounding() {
        let (mut s, mut c, mut plain) = (0.0_f32, 0.0, 0.0_f32);
        for _ in 0..1_000_000 {
            (s, c) = compensated_add(s, c, 0.1);
            plain += 0.1;
        }
        let exact = 1.0e6 * 0.1_f32 as f64;
        assert!((f64::from(s + c) - exact).abs() < 0.01, "{}", s + c);
        assert!((f64::from(plain) - exact).abs() > 100.0);
    }
}
