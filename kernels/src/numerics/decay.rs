//! Exponential decay.

use crate::Real;

/// Content after a decay by the fraction −`decrement`, `decrement` = exp(−λ dt) − 1 rounded once: one rounding.
#[inline(always)]
pub fn decayed<R: Real>(content: R, decrement: R) -> R {
    decrement.mul_add(content, content)
}
