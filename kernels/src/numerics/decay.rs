//! Radioactive and first-order decay.

use crate::Real;

/// Content after decay by the factor `1 + decrement`, rounded once: `content + decrement · content`.
///
/// The decrement `expm1(−λ dt)` is negative and comes from the host in double precision, rounded once.
#[inline(always)]
pub fn decayed<R: Real>(content: R, decrement: R) -> R {
    content.mul_add(decrement, content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decay_is_rounded_once() {
        // 1 + ε loses half of itself: (1 + ε)/2 is exact. A thousandth of a small part is not lost beside 1.
        assert_eq!(decayed(1.0 + f32::EPSILON, -0.5), (1.0 + f32::EPSILON) * 0.5);
        let (content, decrement) = (1.0_f32 + f32::EPSILON, -1.1e-3_f32);
        let exact = f64::from(content) * (1.0 + f64::from(decrement));
        assert_eq!(decayed(content, decrement), exact as f32);
    }
}
