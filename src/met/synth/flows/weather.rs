//! An idealised atmosphere: jets, travelling waves, overturning cells and moving surface pressure.

use std::f64::consts::PI;

use super::super::basis::{ScalarField, VectorField};
use super::super::recipe::{Balance, PressureWave, Rates, Recipe};
use super::{DAY_S, by_level, northward};
use crate::grid::constants::{FALLBACK_RADIUS_M, GRAVITY};
use crate::grid::{GridError, HybridCoordinate};

/// Mean dry surface pressure in Pa.
const MEAN_PRESSURE_PA: f64 = 98_500.0;
/// Pressure of the model top in Pa.
const TOP_PA: f64 = 1.0;

/// A travelling wave of the stream function sinᵃθ·cosᵐθ·cos(mλ − ωt).
struct Wave {
    zonal_number: u32,
    meridional_power: u32,
    /// Largest meridional wind in m/s at the level of the jets.
    speed: f64,
    /// Eastward phase speed in m/s at the latitude of the largest amplitude.
    phase_speed: f64,
}

const WAVES: [Wave; 3] = [
    Wave { zonal_number: 3, meridional_power: 2, speed: 7.0, phase_speed: 3.0 },
    Wave { zonal_number: 5, meridional_power: 3, speed: 8.0, phase_speed: 8.0 },
    Wave { zonal_number: 7, meridional_power: 4, speed: 6.0, phase_speed: 13.0 },
];

impl Wave {
    /// Sine and cosine of the latitude of the largest amplitude.
    fn latitude(&self) -> (f64, f64) {
        let (m, a) = (f64::from(self.zonal_number), f64::from(self.meridional_power));
        ((a / (m + a)).sqrt(), (m / (m + a)).sqrt())
    }

    /// Amplitude of ψ over the radius, in m/s, that gives the largest wind `speed`.
    fn amplitude(&self) -> f64 {
        let (sin, cos) = self.latitude();
        let peak = power(sin, self.meridional_power) * power(cos, self.zonal_number);
        self.speed * cos / (f64::from(self.zonal_number) * peak)
    }

    /// Angular frequency ω in s⁻¹.
    fn frequency(&self) -> f64 {
        f64::from(self.zonal_number) * self.phase_speed / (FALLBACK_RADIUS_M * self.latitude().1)
    }
}

/// `x` to a small power by repeated multiplication.
fn power(x: f64, n: u32) -> f64 {
    (0..n).fold(1.0, |product, _| product * x)
}

/// Real and imaginary part of (x + iy)ᵐ: cosᵐθ·cos mλ and cosᵐθ·sin mλ.
fn sectoral(p: [f64; 3], m: u32) -> [f64; 2] {
    (0..m).fold([1.0, 0.0], |[re, im], _| [re * p[0] - im * p[1], re * p[1] + im * p[0]])
}

/// Component of [`sectoral`] that a field uses.
#[derive(Clone, Copy)]
enum Phase {
    Cosine,
    Sine,
}

/// Gradient on the unit sphere of the spherical harmonic z·(x + iy)ᵐ of degree m + 1.
fn harmonic_gradient(m: u32, phase: Phase) -> VectorField {
    Box::new(move |p| {
        let [re, im] = sectoral(p, m);
        let [re_less, im_less] = sectoral(p, m - 1).map(|c| c * f64::from(m) * p[2]);
        let (value, slope) = match phase {
            Phase::Cosine => (re, [re_less, -im_less, re]),
            Phase::Sine => (im, [im_less, re_less, im]),
        };
        let radial = f64::from(m + 1) * value * p[2];
        std::array::from_fn(|c| slope[c] - radial * p[c])
    })
}

/// Largest value of the harmonic z·(x + iy)ᵐ.
fn harmonic_peak(m: u32) -> f64 {
    let m = f64::from(m);
    (1.0 / (m + 1.0)).sqrt() * (m / (m + 1.0)).powf(0.5 * m)
}

/// Surface pressure waves of `amplitude_pa`, moving east once through their wavelength in `period_s`.
fn pressure_waves(m: u32, amplitude_pa: f64, period_s: f64) -> [PressureWave; 2] {
    // Shifting c kg along the gradient changes the mass per area by n(n+1)·c·H/R².
    let degree = f64::from(m + 1);
    let shift =
        amplitude_pa / GRAVITY * FALLBACK_RADIUS_M * FALLBACK_RADIUS_M / (degree * (degree + 1.0) * harmonic_peak(m));
    let frequency = 2.0 * PI / period_s;
    [
        PressureWave {
            gradient: harmonic_gradient(m, Phase::Cosine),
            shifted: Box::new(move |t| shift * (frequency * t).cos()),
        },
        PressureWave {
            gradient: harmonic_gradient(m, Phase::Sine),
            shifted: Box::new(move |t| shift * (frequency * t).sin()),
        },
    ]
}

/// Gaussian of `x` about `centre`.
fn bump(x: f64, centre: f64, width: f64) -> f64 {
    let d = (x - centre) / width;
    (-d * d).exp()
}

/// Stream functions over the radius: jets, trade winds, then cosine and sine part of each wave.
fn streams() -> Vec<ScalarField> {
    // u ∝ sin²θ cos³θ, largest (1) at 39 degrees in both hemispheres.
    let jets = |p: [f64; 3]| {
        let z2 = p[2] * p[2];
        -5.379 * p[2] * z2 * (1.0 / 3.0 - z2 / 5.0)
    };
    // u = −cos⁵θ.
    let trades = |p: [f64; 3]| {
        let z2 = p[2] * p[2];
        p[2] * (1.0 - z2 * (2.0 / 3.0 - z2 / 5.0))
    };
    let mut fields: Vec<ScalarField> = vec![Box::new(jets), Box::new(trades)];
    for Wave { zonal_number, meridional_power, .. } in WAVES {
        for part in 0..2 {
            fields.push(Box::new(move |p| power(p[2], meridional_power) * sectoral(p, zonal_number)[part]));
        }
    }
    fields
}

/// Zonal jets of about 35 m/s near 250 hPa, waves 3, 5 and 7, Hadley and Ferrel cells, overturning within wave 5 and
/// surface pressure waves of 4 and 5 hPa.
pub(in super::super) fn weather(levels: usize) -> Result<Recipe, GridError> {
    let coordinate = HybridCoordinate::smooth(levels, TOP_PA)?;
    let sigma: Vec<f64> =
        (0..=levels).map(|k| coordinate.pressure_at(k, MEAN_PRESSURE_PA) / MEAN_PRESSURE_PA).collect();
    let column = MEAN_PRESSURE_PA / GRAVITY;
    let layer = |value: &dyn Fn(f64) -> f64| -> Vec<f64> {
        let weight = |s: &[f64]| value(0.5 * (s[0] + s[1])) * (s[1] - s[0]) * column * FALLBACK_RADIUS_M;
        sigma.windows(2).map(weight).collect()
    };
    // Mass moved one way in a layer comes back in others: differences of a function that vanishes at both ends.
    let cell = |value: &dyn Fn(f64) -> f64| -> Vec<f64> {
        let at = |k: usize| if k == 0 || k == levels { 0.0 } else { value(sigma[k]) };
        (0..levels).map(|k| (at(k + 1) - at(k)) * column * FALLBACK_RADIUS_M).collect()
    };
    let jets = layer(&|s| 5.0 + 30.0 * bump(s, 0.25, 0.22));
    let trades = layer(&|s| 7.0 * s * s);
    let waves = layer(&|s| 0.35 + 0.65 * bump(s, 0.3, 0.3));
    let hadley = cell(&|s| 6.75 * s * s * (1.0 - s));
    let overturning = cell(&|s| 4.0 * s * (1.0 - s));
    let rates = move |t: f64| {
        let mut streams = by_level(&[1.0], &jets);
        streams.extend(by_level(&[1.0], &trades));
        for wave in &WAVES {
            let (sin, cos) = (wave.frequency() * t).sin_cos();
            streams.extend(by_level(&[wave.amplitude() * cos, wave.amplitude() * sin], &waves));
        }
        let (sin, cos) = (WAVES[1].frequency() * t).sin_cos();
        let mut vectors = by_level(&[0.6], &hadley);
        // A quarter of a wavelength behind the stream function.
        vectors.extend(by_level(&[-0.25 * sin, 0.25 * cos], &overturning));
        Rates { streams, vectors }
    };
    let mut waves: Vec<PressureWave> = pressure_waves(4, 500.0, 4.5 * DAY_S).into();
    waves.extend(pressure_waves(2, 400.0, 9.0 * DAY_S));
    Ok(Recipe {
        radius_m: FALLBACK_RADIUS_M,
        coordinate,
        time_scale_s: DAY_S,
        streams: streams(),
        vectors: vec![
            // Poleward aloft within 30 degrees of the equator, equatorward beyond; largest 1 in the tropics.
            Box::new(|p| {
                let z2 = p[2] * p[2];
                northward(p).map(|c| c * (5.9 * p[2] * (1.0 - 4.0 * z2) * (1.0 - z2)))
            }),
            harmonic_gradient(WAVES[1].zonal_number, Phase::Cosine),
            harmonic_gradient(WAVES[1].zonal_number, Phase::Sine),
        ],
        rates: Box::new(rates),
        surface_pressure: Box::new(|p| MEAN_PRESSURE_PA + 350.0 * (1.0 - 5.0 * power(p[2], 4))),
        waves,
        balance: Balance::Continuity,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::vector::{add, dot, from_lonlat, normalise, scale};

    #[test]
    fn gradients_are_tangential_and_match_differences() {
        for (m, phase, part) in [(4, Phase::Cosine, 0), (2, Phase::Sine, 1)] {
            let gradient = harmonic_gradient(m, phase);
            let p = from_lonlat(37.0, 22.0);
            let g = gradient(p);
            assert!(dot(g, p).abs() < 1e-14);
            for axis in [normalise([-p[1], p[0], 0.0]), northward(p)] {
                let value = |h: f64| {
                    let q = normalise(add(p, scale(axis, h)));
                    q[2] * sectoral(q, m)[part]
                };
                let slope = (value(1e-5) - value(-1e-5)) / 2e-5;
                assert!((dot(g, axis) - slope).abs() < 1e-8);
            }
        }
    }

    #[test]
    fn peaks_are_peaks() {
        for wave in &WAVES {
            let amplitude = wave.amplitude();
            let wind = |lat: f64| {
                let p = from_lonlat(0.0, lat);
                let psi = power(p[2], wave.meridional_power) * sectoral(p, wave.zonal_number)[0] * amplitude;
                psi * f64::from(wave.zonal_number) / lat.to_radians().cos()
            };
            let at_peak = wind(wave.latitude().0.asin().to_degrees());
            assert!((at_peak - wave.speed).abs() < 1e-12);
        }
        let top = (1..90).map(|lat| from_lonlat(0.0, f64::from(lat))).map(|p| p[2] * sectoral(p, 4)[0]);
        assert!((top.fold(0.0, f64::max) / harmonic_peak(4) - 1.0).abs() < 1e-3);
    }
}
