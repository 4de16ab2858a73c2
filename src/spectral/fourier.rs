//! From the zonal waves of one ring to its points.

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::sync::Arc;

use realfft::num_complex::Complex64;
use realfft::{ComplexToReal, RealFftPlanner};

use super::Ring;

/// Transforms of rings with all numbers of points that occur.
#[derive(Clone)]
pub(super) struct Transforms(BTreeMap<usize, Arc<dyn ComplexToReal<f64>>>);

/// What one transform works in.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    waves: Vec<Complex64>,
    inner: Vec<Complex64>,
}

impl std::fmt::Debug for Transforms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Transforms").field(&self.0.keys()).finish()
    }
}

impl Transforms {
    pub(super) fn new(rings: &[Ring]) -> Self {
        let mut planner = RealFftPlanner::new();
        Self(rings.iter().map(|ring| (ring.points, planner.plan_fft_inverse(ring.points))).collect())
    }

    /// Values at the points of a ring from its zonal waves 0, 1 …, turned by [`turns`].
    pub(super) fn apply(&self, waves: &[Complex64], turns: &[Complex64], values: &mut [f64], scratch: &mut Scratch) {
        let points = values.len();
        let transform = &self.0[&points];
        scratch.waves.clear();
        scratch.waves.resize(points / 2 + 1, Complex64::ZERO);
        scratch.inner.resize(transform.get_scratch_len(), Complex64::ZERO);
        for (to, (wave, turn)) in scratch.waves.iter_mut().zip(waves.iter().zip(turns)) {
            *to = wave * turn;
        }
        // Parts that no real ring has.
        scratch.waves[0].im = 0.0;
        if points.is_multiple_of(2) {
            scratch.waves[points / 2].im = 0.0;
        }
        // Fails for buffers of wrong lengths and for the parts set to zero above.
        transform.process_with_scratch(&mut scratch.waves, values, &mut scratch.inner).expect("lengths of the plan");
    }
}

/// exp(i m λ) at the first point of a ring, for zonal waves 0 to the highest it resolves.
pub(super) fn turns(ring: &Ring) -> Vec<Complex64> {
    let turn = |m: usize| {
        // The part of a turn is taken in degrees, where multiples of the usual longitudes are exact.
        let angle = (m as f64 * ring.first_longitude).rem_euclid(360.0) / 360.0 * TAU;
        Complex64::new(angle.cos(), angle.sin())
    };
    (0..=ring.points / 2).map(turn).collect()
}
