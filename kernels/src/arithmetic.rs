//! Whether the processor computes as the numerics assume.

use core::hint::black_box;

use crate::numerics::two_sum;
use crate::real::{Real, Scalar};

/// What is wrong with the arithmetic of this thread, if anything: sums that are not rounded as they should be, products fused
/// with sums where nobody asked for it, multiply-adds of two roundings, or small numbers flushed to zero.
///
/// A library loaded into the process can switch such modes on; conservation and equal bits everywhere would be gone.
pub fn arithmetic_fault<R: Scalar>() -> Option<&'static str> {
    let (one, epsilon) = (black_box(R::lit(1.0)), black_box(R::EPSILON));
    let quarter = black_box(R::lit(0.25));
    let small = epsilon * quarter;
    let (sum, error) = two_sum(one, small);
    if sum != one || error != small {
        return Some("the rounding error of a sum is not found exactly");
    }
    // (1 + ε)² = 1 + 2ε + ε², whose last term one rounding takes away.
    let above = one + epsilon;
    let square = above * above;
    if square - (one + epsilon + epsilon) != R::lit(0.0) {
        return Some("products are fused with sums");
    }
    if Real::mul_add(above, above, -square) != epsilon * epsilon {
        return Some("a multiply-add is rounded twice");
    }
    // The smallest normal number is at least 2⁻¹⁰²², half of it is subnormal.
    let normal =
        black_box(if size_of::<R>() == 4 { R::from_f64(2f64.powi(-126)) } else { R::from_f64(2f64.powi(-1022)) });
    let half = normal * black_box(R::lit(0.5));
    if half + half != normal || half == R::lit(0.0) {
        return Some("small numbers are flushed to zero");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_processor_computes_as_assumed() {
        assert_eq!((arithmetic_fault::<f32>(), arithmetic_fault::<f64>()), (None, None));
    }
}
