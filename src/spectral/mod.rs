//! Spherical-harmonic synthesis: fields and winds on rings of points from spectral coefficients, in f64.
//!
//! A real field is f(λ, φ) = Σ over n ≥ m ≥ 0 of w Re(c(m,n) e^{imλ}) P(m,n)(sinφ), w = 1 for m = 0 and 2 otherwise; half
//! the integral of P² over sinφ is one, so c(0,0) is the mean. This is the convention of ECMWF's spectral files.
//! Coefficients are ordered m outermost, see [`coefficient_index`].
//!
//! - A ring of N points takes zonal waves below N/2 as they are; of wave N/2 (N even) half, since the ring cannot tell it
//!   from wave −N/2; none above. Waves are dropped, never folded onto longer ones.
//! - Sums run in one order whatever the machine and the number of threads.

mod coefficients;
mod error;
mod fourier;
mod legendre;
mod rings;
mod sums;
mod synthesis;
mod winds;

pub use coefficients::{coefficient_count, coefficient_index, truncated};
pub use error::SpectralError;
pub use rings::Ring;
pub use synthesis::Synthesis;

#[cfg(test)]
#[path = "synthesis_tests.rs"]
mod synthesis_tests;
