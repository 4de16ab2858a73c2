//! Arithmetic of two doubles (about 106 bits) and the backward Euler step of vertical exchange in it.
#![allow(dead_code)]

use core::ops::{Add, Div, Mul, Neg, Sub};

use kernels::Scalar;

/// An unevaluated sum of two doubles, the second below half a unit in the last place of the first (Dekker 1971).
#[derive(Clone, Copy, Debug, Default)]
pub struct Extended(f64, f64);

impl Extended {
    pub const ZERO: Self = Self(0.0, 0.0);

    pub fn new<R: Scalar>(value: R) -> Self {
        Self(value.to_f64(), 0.0)
    }

    pub fn to_f64(self) -> f64 {
        self.0 + self.1
    }

    pub fn abs(self) -> f64 {
        self.to_f64().abs()
    }

    pub fn is_positive(self) -> bool {
        self.0 > 0.0
    }

    /// Sum of numbers.
    pub fn sum<R: Scalar>(values: impl IntoIterator<Item = R>) -> Self {
        values.into_iter().fold(Self::ZERO, |sum, value| sum + Self::new(value))
    }

    fn renormalised(high: f64, low: f64) -> Self {
        let sum = high + low;
        Self(sum, low - (sum - high))
    }
}

fn exact_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

impl Add for Extended {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (s, e) = exact_sum(self.0, other.0);
        let (t, f) = exact_sum(self.1, other.1);
        let first = Self::renormalised(s, e + t);
        Self::renormalised(first.0, first.1 + f)
    }
}

impl Neg for Extended {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }
}

impl Sub for Extended {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Extended {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let product = self.0 * other.0;
        let error = self.0.mul_add(other.0, -product);
        Self::renormalised(product, error + (self.0 * other.1 + self.1 * other.0))
    }
}

impl Div for Extended {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let mut quotient = Self::ZERO;
        let mut rest = self;
        for _ in 0..3 {
            let part = Self(rest.0 / other.0, 0.0);
            quotient = quotient + part;
            rest = rest - part * other;
        }
        quotient
    }
}

/// One backward Euler step of a column, top first: contents after it.
///
/// Solves `m_k q'_k = m_k q_k + F_{k−½} − F_{k+½}`, `F_{k+½} = dt D_{k+½} (q'_k − q'_{k+1})` by elimination from the
/// bottom; `exchange[k]` is D below layer k, the last one does not act. All layers hold air.
pub fn backward_euler<R: Scalar>(mass: &[R], exchange: &[R], dt: f64, contents: &[R]) -> Vec<Extended> {
    let n = mass.len();
    let step = |k: usize| Extended::new(dt) * Extended::new(exchange[k]);
    // After the elimination of the layers below: pivot_k q'_k − A_{k−1} q'_{k−1} = right_k.
    let mut pivot: Vec<Extended> = mass.iter().map(|&m| Extended::new(m)).collect();
    let mut right: Vec<Extended> = contents.iter().map(|&rm| Extended::new(rm)).collect();
    // The pivots without the exchange with the layer above are sums of positive terms: no cancellation.
    for k in (1..n).rev() {
        let a = step(k - 1);
        let share = a / (pivot[k] + a);
        pivot[k - 1] = pivot[k - 1] + pivot[k] * share;
        right[k - 1] = right[k - 1] + right[k] * share;
    }
    let mut out = vec![Extended::ZERO; n];
    let mut ratio = right[0] / pivot[0];
    out[0] = Extended::new(mass[0]) * ratio;
    for k in 1..n {
        let a = step(k - 1);
        ratio = (right[k] + a * ratio) / (pivot[k] + a);
        out[k] = Extended::new(mass[k]) * ratio;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extended_numbers_hold_thirty_digits() {
        let third = Extended::new(1.0) / Extended::new(3.0);
        let rest = third * Extended::new(3.0) - Extended::new(1.0);
        assert!(rest.abs() < 1e-30);
        let sum = Extended::new(1.0) + Extended::new(1e-25) - Extended::new(1.0);
        assert!((sum.to_f64() / 1e-25 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn the_step_satisfies_its_equation() {
        let (mass, exchange, start) = ([2.0, 3.0, 5.0, 7.0], [0.5, 1e-9, 40.0, 9.0], [1.0, 0.0, 4.0, -2.0]);
        let end = backward_euler(&mass, &exchange, 3.0, &start);
        let ratio = |k: usize| end[k] / Extended::new(mass[k]);
        let flux = |k: usize| Extended::new(3.0) * Extended::new(exchange[k]) * (ratio(k) - ratio(k + 1));
        for k in 0..4 {
            let inflow = if k > 0 { flux(k - 1) } else { Extended::ZERO };
            let outflow = if k < 3 { flux(k) } else { Extended::ZERO };
            let expected = Extended::new(start[k]) + inflow - outflow;
            assert!((end[k] - expected).abs() < 1e-28, "layer {k}");
        }
    }
}
