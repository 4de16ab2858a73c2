//! Radioactive decay.

use kernels::Scalar;
use kernels::columns::decay_decrement;

use super::SourceError;

/// Half-life in s of a nuclide known by tracer name.
pub fn known_half_life(tracer: &str) -> Option<f64> {
    match tracer.to_ascii_lowercase().as_str() {
        // 3.8235 days.
        "rn222" => Some(330_350.4),
        "kr85" => Some(3.394e8),
        _ => None,
    }
}

/// Decay of one tracer. The rate stays f64: rounding it first would shift every step alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decay {
    rate: f64,
}

impl Decay {
    /// Decay with a half-life in s.
    ///
    /// # Errors
    /// [`SourceError::NotPositive`].
    pub fn from_half_life(seconds: f64) -> Result<Self, SourceError> {
        if !(seconds.is_finite() && seconds > 0.0) {
            return Err(SourceError::NotPositive { what: "half_lives_seconds", value: seconds });
        }
        Ok(Self { rate: std::f64::consts::LN_2 / seconds })
    }

    /// Decay by `rate` per second.
    ///
    /// # Errors
    /// [`SourceError::NotPositive`].
    pub fn from_rate(rate: f64) -> Result<Self, SourceError> {
        if rate.is_finite() && rate > 0.0 {
            Ok(Self { rate })
        } else {
            Err(SourceError::NotPositive { what: "decay rate", value: rate })
        }
    }

    /// Half-life, s.
    pub fn half_life(self) -> f64 {
        std::f64::consts::LN_2 / self.rate
    }

    /// Rate, s⁻¹.
    pub fn rate(self) -> f64 {
        self.rate
    }

    /// What a step of `seconds` takes from 1, as a negative number: `exp(−λ dt) − 1` in f64, rounded once. A cell
    /// becomes `fma(c, decrement, c)`.
    pub fn decrement<R: Scalar>(self, seconds: f64) -> R {
        decay_decrement(self.rate, seconds)
    }

    /// What a step of `seconds` leaves of 1.
    pub fn survival(self, seconds: f64) -> f64 {
        (-self.rate * seconds).exp()
    }
}
