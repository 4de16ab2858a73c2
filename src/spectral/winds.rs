//! Winds from vorticity and divergence.

use super::legendre::Weight;
use super::synthesis::Series;
use super::{SpectralError, Synthesis, coefficients};

/// Pairs of wind components transformed at a time.
const BATCH: usize = 16;

/// Spectra of u cosφ and v cosφ: fields 2 l and 2 l + 1 of level l.
struct WindSeries<'a> {
    radius: f64,
    truncation: usize,
    vorticity: &'a [&'a [f64]],
    divergence: &'a [&'a [f64]],
}

impl WindSeries<'_> {
    /// Coefficient of a stored spectrum; zero beyond its waves. Vorticity and divergence have no mean.
    fn stored(&self, spectrum: &[f64], m: usize, n: usize) -> [f64; 2] {
        if n < m.max(1) || n > self.truncation {
            return [0.0; 2];
        }
        let place = coefficients::coefficient_index(self.truncation, m, n);
        [spectrum[place], spectrum[place + 1]]
    }
}

/// −√((n² − m²)/(4n² − 1))/n.
fn ratio(m: usize, n: usize) -> f64 {
    if n == 0 {
        return 0.0;
    }
    let (m, n) = (m as f64, n as f64);
    -((n - m) * (n + m) / ((2.0 * n - 1.0) * (2.0 * n + 1.0))).sqrt() / n
}

impl Series for WindSeries<'_> {
    fn truncation(&self) -> usize {
        self.truncation + 1
    }

    fn fields(&self) -> usize {
        2 * self.vorticity.len()
    }

    fn at(&self, field: usize, m: usize, n: usize) -> [f64; 2] {
        let (vorticity, divergence) = (self.vorticity[field / 2], self.divergence[field / 2]);
        // u takes gradients of vorticity northward, v those of divergence with the other sign.
        let (gradient, zonal, sign) =
            if field.is_multiple_of(2) { (vorticity, divergence, 1.0) } else { (divergence, vorticity, -1.0) };
        let below = if n > m { self.stored(gradient, m, n - 1) } else { [0.0; 2] };
        let above = self.stored(gradient, m, n + 1);
        let here = self.stored(zonal, m, n);
        let turn = if n == 0 { 0.0 } else { -(m as f64) / (n as f64 * (n + 1) as f64) };
        let (lower, upper) = (sign * ratio(m, n), sign * ratio(m, n + 1));
        // i (a + ib) = −b + ia.
        let turned = [-turn * here[1], turn * here[0]];
        [0, 1].map(|part| self.radius * (lower * below[part] + turned[part] - upper * above[part]))
    }
}

impl Synthesis {
    /// Winds (eastward `u`, northward `v`, m s⁻¹) from spectra of `vorticity` and `divergence` (s⁻¹) on a sphere of
    /// `radius` m, one entry per level. At a pole components refer to the meridian of each point. Means of vorticity and
    /// divergence, which no wind has, are left out.
    ///
    /// # Errors
    /// As [`scalars`](Self::scalars).
    pub fn winds(
        &self,
        radius: f64,
        vorticity: &[&[f64]],
        divergence: &[&[f64]],
        u: &mut [&mut [f64]],
        v: &mut [&mut [f64]],
    ) -> Result<(), SpectralError> {
        self.check_spectra(vorticity)?;
        self.check_spectra(divergence)?;
        if vorticity.len() != divergence.len() {
            return Err(SpectralError::Fields { spectra: divergence.len(), fields: vorticity.len() });
        }
        self.check_fields(vorticity.len(), u)?;
        self.check_fields(vorticity.len(), v)?;
        let spectra = vorticity.chunks(BATCH).zip(divergence.chunks(BATCH));
        for ((vorticity, divergence), (u, v)) in spectra.zip(u.chunks_mut(BATCH).zip(v.chunks_mut(BATCH))) {
            let mut fields: Vec<&mut [f64]> = Vec::with_capacity(2 * u.len());
            for (u, v) in u.iter_mut().zip(v) {
                fields.extend([&mut **u, &mut **v]);
            }
            let series = WindSeries { radius, truncation: self.truncation(), vorticity, divergence };
            self.transform(&series, Weight::Secant, &mut fields);
        }
        Ok(())
    }
}
