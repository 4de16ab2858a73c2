//! Local part of the diffusivity of Holtslag and Boville (1993): the surface-driven profile, and shear aloft.

use super::beljaars_viterbo::{BACKGROUND, KARMAN, LARGEST, LocalSurface, Profile, climb};
use super::constants::{GRAVITY, VIRTUAL_FACTOR};

const CRITICAL_RICHARDSON: f64 = 0.25;
const LONGEST_MIXING: f64 = 150.0;

/// Upper-air fields of [`holtslag_boville_local`], top first.
#[derive(Clone, Copy, Debug)]
pub struct LocalColumn<'a> {
    /// Pressure at the edges, Pa.
    pub pressure_edges: &'a [f64],
    /// Temperature, K.
    pub temperature: &'a [f64],
    /// Specific humidity, kg kg⁻¹.
    pub humidity: &'a [f64],
    /// Wind components, m s⁻¹.
    pub wind: [&'a [f64]; 2],
}

impl LocalColumn<'_> {
    fn virtual_temperature(&self, k: usize) -> f64 {
        self.temperature[k].max(180.0) * (1.0 + VIRTUAL_FACTOR * self.humidity[k].max(0.0))
    }

    fn potential_temperature(&self, k: usize) -> f64 {
        let mid = (0.5 * (self.pressure_edges[k] + self.pressure_edges[k + 1])).max(1.0);
        self.virtual_temperature(k) * (1e5 / mid).powf(1.0 / 3.5)
    }

    /// Diffusivity by shear between layers `k` and `k - 1` with centres at the given heights; `None` without shear.
    fn shear_part(&self, k: usize, height: f64, height_above: f64) -> Option<f64> {
        let dz = (height_above - height).abs().max(1.0);
        let squares = self.wind.iter().map(|w| (w[k - 1] - w[k]).powi(2)).sum::<f64>();
        let shear2 = squares / (dz * dz);
        let shear = shear2.sqrt();
        if shear <= 1e-6 {
            return None;
        }
        let (theta, above) = (self.potential_temperature(k), self.potential_temperature(k - 1));
        let mean = (0.5 * (theta + above)).max(100.0);
        let stability = GRAVITY * (above - theta) / (mean * dz);
        let richardson = stability / shear2.max(1e-12);
        let f = if richardson <= 0.0 { 1.0 } else { (1.0 - richardson / CRITICAL_RICHARDSON).max(0.0).powi(2) };
        let mixing = (KARMAN * height.min(height_above).max(1.0)).min(LONGEST_MIXING);
        Some(BACKGROUND + mixing * mixing * shear * f)
    }
}

/// Diffusivity at layer centres (m² s⁻¹): that of [`beljaars_viterbo`](super::beljaars_viterbo) with virtual
/// temperature, raised where wind shear against the layer above asks for more (then 0.1 to 500). The surface
/// temperature is the largest of that at 2 m, that of the lowest layer and 200 K. No counter-gradient term: a surface
/// source rises more slowly than with [`geoschem_nonlocal`](super::geoschem_nonlocal).
///
/// # Panics
/// If lengths do not fit.
pub fn holtslag_boville_local(column: &LocalColumn<'_>, surface: &LocalSurface, diffusivity: &mut [f64]) {
    let levels = diffusivity.len();
    assert!(column.pressure_edges.len() == levels + 1 && levels > 0);
    assert!([column.temperature, column.humidity, column.wind[0], column.wind[1]].iter().all(|f| f.len() == levels));
    let warm = surface.temperature_2m.max(column.temperature[levels - 1]).max(200.0);
    let profile = Profile::new(&LocalSurface { temperature_2m: warm, ..*surface });
    // A layer is finished when the height of the one above is known.
    let mut lower: Option<f64> = None;
    climb(
        column.pressure_edges,
        |k| column.virtual_temperature(k),
        |k, z| {
            diffusivity[k] = profile.at(z);
            if let Some(below) = lower.replace(z)
                && let Some(shear) = column.shear_part(k + 1, below, z)
            {
                diffusivity[k + 1] = diffusivity[k + 1].max(shear).clamp(BACKGROUND, LARGEST);
            }
        },
    );
}
