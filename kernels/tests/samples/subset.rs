//! The part of the subset the numerics themselves do not use, for the test of the device form.

use kernels::Real;

const DEGREE: usize = 4;

/// Polynomial of degree 4 at `x`, by fused Horner steps.
#[inline(always)]
pub fn horner<R: Real>(coefficients: [R; DEGREE + 1], x: R) -> R {
    let mut sum = coefficients[DEGREE];
    for i in (0..DEGREE).rev() {
        sum = sum.mul_add(x, coefficients[i]);
    }
    sum
}

/// Running maxima from the left, and the number of rises below 3.
#[inline(always)]
pub fn running<R: Real>(values: [R; 5], start: R) -> ([R; 5], (R, R::Mask)) {
    let mut out = [start; 5];
    let mut rises = R::lit(0.0);
    out[0] = out[0].max(values[0]);
    for i in 1..=4 {
        let before = out[i - 1];
        out[i] = before.max(values[i]);
        rises += R::select(values[i].gt(before), R::lit(1.0), R::lit(0.0));
    }
    let few = rises.lt(R::lit(3.0));
    (out, (rises, few))
}

/// Compensated sum of `values`, where the mask asks for it, and the root of its size.
#[inline(always)]
pub fn total<R: Real>(compensated: R::Mask, values: [R; 5]) -> (R, R) {
    let mut parts = (values[0], R::lit(0.0));
    for i in 1..5 {
        let s = parts.0 + values[i];
        let z = s - parts.0;
        parts.1 += (parts.0 - (s - z)) + (values[i] - z);
        parts.0 = s;
    }
    let (sum, mut rest) = parts;
    rest *= R::lit(1.0 / 3.0);
    rest /= R::lit(1.0 / 3.0);
    let sum = R::select(R::and(compensated, sum.ge(-sum)), sum + rest, sum);
    (sum, sum.abs().sqrt())
}
