//! Elimination in systems of linear equations.

use crate::Real;

/// `value − multiplier · other`: an element or a right-hand side less a multiple of another row's.
#[inline(always)]
pub fn eliminated<R: Real>(value: R, multiplier: R, other: R) -> R {
    value - multiplier * other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiple_of_another_row_is_taken_off() {
        assert_eq!(eliminated(5.0, 0.5, 4.0), 3.0);
    }
}
