//! Made-up windows for tests.

use decomposition::PanelConvention;

use super::FaceTable;

/// Repeatable values in −1..1.
pub(super) fn uneven(count: usize, seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed;
    (0..count).map(move |_| {
        // SplitMix64, Steele et al. 2014.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    })
}

/// Air masses that differ by up to half, with the same total at both ends, and fluxes that have nothing to do with them.
pub(super) struct Window {
    pub faces: FaceTable,
    pub flux: Vec<f64>,
    pub m: Vec<f64>,
    pub m_next: Vec<f64>,
    /// Coefficients B of the interfaces: pure pressure in the upper half.
    pub b: Vec<f64>,
}

impl Window {
    pub fn new(nc: usize, layers: usize, seed: u64) -> Self {
        let convention = if seed.is_multiple_of(2) { PanelConvention::Gnomonic } else { PanelConvention::GeosNative };
        let faces = FaceTable::new(nc, convention);
        let cells = layers * faces.cells();
        let m: Vec<f64> = uneven(cells, seed).map(|v| 1e9 * (1.0 + 0.25 * v)).collect();
        let mut m_next: Vec<f64> = uneven(cells, seed ^ 0xA5).map(|v| 1e9 * (1.0 + 0.25 * v)).collect();
        let excess = (m_next.iter().sum::<f64>() - m.iter().sum::<f64>()) / cells as f64;
        m_next.iter_mut().for_each(|m| *m -= excess);
        let flux = uneven(layers * faces.faces(), seed ^ 0x5A).map(|v| 3e8 * v).collect();
        let slope = |k: usize| ((2 * k) as f64 / layers as f64 - 1.0).max(0.0);
        Self { faces, flux, m, m_next, b: (0..=layers).map(slope).collect() }
    }
}
