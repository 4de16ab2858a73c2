//! Synthesis from spherical harmonics against another library.

#[path = "support/synthesis.rs"]
mod synthesis;

use atmostr::spectral::{coefficient_count, coefficient_index};

/// Coefficients that fall off as the energy of the atmosphere does.
fn spectrum(truncation: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let mut values = vec![0.0; coefficient_count(truncation)];
    for m in 0..=truncation {
        for n in m.max(1)..=truncation {
            let place = coefficient_index(truncation, m, n);
            let size = (n as f64).powf(-1.5);
            values[place] = size * next();
            values[place + 1] = if m == 0 { 0.0 } else { size * next() };
        }
    }
    values
}

#[test]
fn truncation_63_equals_an_independent_transform() {
    let [scalar, vorticity, divergence] = [1, 2, 3].map(|seed| spectrum(63, seed));
    synthesis::compare_with_pyshtools(63, &scalar, &vorticity, &divergence);
}
