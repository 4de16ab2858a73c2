//! A factor kept in two words, so that it is as good as f64 in either precision.

use kernels::{Real, Scalar};

/// A number as `high + low`. In f32 a step of 3600/13 s alone is off by 4e-8, in every cell alike; two words hold it to
/// 1e-15.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TwoWord<R> {
    /// The value rounded once.
    pub high: R,
    /// What that left, rounded once.
    pub low: R,
}

impl<R: Scalar> TwoWord<R> {
    /// Splits a value.
    pub fn new(value: f64) -> Self {
        let high = R::from_f64(value);
        Self { high, low: R::from_f64(value - high.to_f64()) }
    }

    /// `rate` times the value, `fma(rate, high, rate·low)`: within one unit in the last place, without bias.
    pub fn times(self, rate: R) -> R {
        Real::mul_add(rate, self.high, rate * self.low)
    }
}
