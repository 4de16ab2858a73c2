//! Two-dimensional flows; every layer moves alike.

use std::f64::consts::PI;

use super::super::basis::{ScalarField, VectorField};
use super::super::recipe::{Balance, Rates, Recipe};
use super::{TEST_PRESSURE_PA, TEST_RADIUS_M, TWELVE_DAYS_S, by_level, cos_latitude, eastward, northward, turn};
use crate::grid::constants::GRAVITY;
use crate::grid::{GridError, HybridCoordinate};

/// Pure sigma layers of equal thickness up to zero pressure.
fn equal_layers(levels: usize) -> Result<HybridCoordinate, GridError> {
    let b = (0..=levels).map(|k| k as f64 / levels as f64).collect();
    HybridCoordinate::new(vec![0.0; levels + 1], b)
}

/// Air mass per area of each layer in kg m⁻².
fn layer_mass(levels: usize) -> Vec<f64> {
    vec![TEST_PRESSURE_PA / GRAVITY / levels as f64; levels]
}

/// Solid-body rotation once in 12 days about an axis tilted by `angle_deg` (Williamson et al. 1992, case 1).
pub(in super::super) fn solid_body(levels: usize, angle_deg: f64) -> Result<Recipe, GridError> {
    let (sin, cos) = angle_deg.to_radians().sin_cos();
    let speed = 2.0 * PI * TEST_RADIUS_M / TWELVE_DAYS_S;
    let rates = by_level(&[-speed * TEST_RADIUS_M], &layer_mass(levels));
    Ok(Recipe {
        radius_m: TEST_RADIUS_M,
        coordinate: equal_layers(levels)?,
        time_scale_s: TWELVE_DAYS_S,
        streams: vec![Box::new(move |p| p[2] * cos - p[0] * sin)],
        vectors: Vec::new(),
        rates: Box::new(move |_| Rates { streams: rates.clone(), vectors: Vec::new() }),
        surface_pressure: Box::new(|_| TEST_PRESSURE_PA),
        waves: Vec::new(),
        balance: Balance::Layered,
    })
}

/// Stream functions x², xy, y² and z of the deformation flow.
pub(super) fn deformation_streams() -> Vec<ScalarField> {
    vec![Box::new(|p| p[0] * p[0]), Box::new(|p| p[0] * p[1]), Box::new(|p| p[1] * p[1]), Box::new(|p| p[2])]
}

/// Their amplitudes in m² s⁻¹: ψ = (10R²/T) sin²λ' cos²θ cos(πt/T) − (2πR²/T) sinθ.
pub(super) fn deformation_amplitudes(time_s: f64, period_s: f64) -> [f64; 4] {
    let (cos, sin) = turn(time_s, period_s);
    let unit = TEST_RADIUS_M * TEST_RADIUS_M / period_s;
    let strength = 10.0 * unit * (PI * time_s / period_s).cos();
    [strength * (sin * sin), strength * (-2.0 * sin * cos), strength * (cos * cos), -2.0 * PI * unit]
}

/// Non-divergent deformation with rotation, back at the start after 12 days (Nair & Lauritzen 2010, case 4).
pub(in super::super) fn deformation(levels: usize) -> Result<Recipe, GridError> {
    let mass = layer_mass(levels);
    Ok(Recipe {
        radius_m: TEST_RADIUS_M,
        coordinate: equal_layers(levels)?,
        time_scale_s: TWELVE_DAYS_S,
        streams: deformation_streams(),
        vectors: Vec::new(),
        rates: Box::new(move |t| Rates {
            streams: by_level(&deformation_amplitudes(t, TWELVE_DAYS_S), &mass),
            vectors: Vec::new(),
        }),
        surface_pressure: Box::new(|_| TEST_PRESSURE_PA),
        waves: Vec::new(),
        balance: Balance::Layered,
    })
}

/// Divergent deformation with rotation (Nair & Lauritzen 2010, case 3, as in Lauritzen et al. 2012).
pub(in super::super) fn divergent(levels: usize) -> Result<Recipe, GridError> {
    let zonal = |amount: fn([f64; 3]) -> f64| -> VectorField {
        Box::new(move |p| eastward(p).map(|c| c * (amount(p) * cos_latitude(p) * p[2])))
    };
    let meridional = |amount: fn([f64; 3]) -> f64| -> VectorField {
        Box::new(move |p| northward(p).map(|c| c * (amount(p) * cos_latitude(p))))
    };
    let vectors =
        vec![zonal(cos_latitude), zonal(|p| p[0]), zonal(|p| p[1]), meridional(|p| p[0]), meridional(|p| p[1])];
    let weights = vec![1.0; levels];
    let rates = move |t: f64| {
        let (cos, sin) = turn(t, TWELVE_DAYS_S);
        let unit = TEST_RADIUS_M * TEST_RADIUS_M / TWELVE_DAYS_S;
        // u = −(5R/T) sin²(λ'/2) sin2θ cos²θ cos(πt/T), v = (5R/2T) sinλ' cos³θ cos(πt/T).
        let strength = 5.0 * unit * (PI * t / TWELVE_DAYS_S).cos();
        let vectors = [-strength, strength * cos, strength * sin, -0.5 * strength * sin, 0.5 * strength * cos];
        Rates { streams: by_level(&[-2.0 * PI * unit], &weights), vectors: by_level(&vectors, &weights) }
    };
    Ok(Recipe {
        radius_m: TEST_RADIUS_M,
        coordinate: equal_layers(levels)?,
        time_scale_s: TWELVE_DAYS_S,
        streams: vec![Box::new(|p| p[2])],
        vectors,
        rates: Box::new(rates),
        surface_pressure: Box::new(|_| TEST_PRESSURE_PA),
        waves: Vec::new(),
        balance: Balance::Carried,
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::basis::{stream_velocity, vector_velocity};
    use super::*;
    use crate::grid::vector::from_lonlat;

    /// Velocity of a recipe in m/s for unit air mass per area.
    fn velocity(recipe: &Recipe, time_s: f64, lon_deg: f64, lat_deg: f64, mass: f64) -> [f64; 2] {
        let p = from_lonlat(lon_deg, lat_deg);
        let rates = (recipe.rates)(time_s);
        let mut total = [0.0; 2];
        for (field, rate) in recipe.streams.iter().zip(&rates.streams) {
            let [u, v] = stream_velocity(field, p);
            total = [total[0] + rate * u, total[1] + rate * v];
        }
        for (field, rate) in recipe.vectors.iter().zip(&rates.vectors) {
            let [u, v] = vector_velocity(field, p);
            total = [total[0] + rate * u, total[1] + rate * v];
        }
        total.map(|c| c / mass / recipe.radius_m)
    }

    fn assert_velocity(found: [f64; 2], expected: [f64; 2]) {
        assert!((found[0] - expected[0]).abs() < 1e-6, "{found:?} instead of {expected:?}");
        assert!((found[1] - expected[1]).abs() < 1e-6, "{found:?} instead of {expected:?}");
    }

    const POINTS: [(f64, f64, f64); 3] = [(0.0, 40.0, 30.0), (2.0e5, 200.0, -62.0), (9.0e5, 310.0, 5.0)];

    #[test]
    fn solid_body_velocity() {
        let alpha = 30f64;
        let recipe = solid_body(1, alpha).unwrap();
        let speed = 2.0 * PI * TEST_RADIUS_M / TWELVE_DAYS_S;
        let (sin, cos) = alpha.to_radians().sin_cos();
        for (t, lon, lat) in POINTS {
            let (l, th) = (lon.to_radians(), lat.to_radians());
            let expected = [speed * (th.cos() * cos + th.sin() * l.cos() * sin), -speed * l.sin() * sin];
            assert_velocity(velocity(&recipe, t, lon, lat, TEST_PRESSURE_PA / GRAVITY), expected);
        }
    }

    #[test]
    fn deformation_velocity() {
        let recipe = deformation(1).unwrap();
        let (r, period) = (TEST_RADIUS_M, TWELVE_DAYS_S);
        for (t, lon, lat) in POINTS {
            let (l, th) = (lon.to_radians() - 2.0 * PI * t / period, lat.to_radians());
            let strength = 10.0 * r / period * (PI * t / period).cos();
            let expected = [
                strength * l.sin().powi(2) * (2.0 * th).sin() + 2.0 * PI * r / period * th.cos(),
                strength * (2.0 * l).sin() * th.cos(),
            ];
            assert_velocity(velocity(&recipe, t, lon, lat, TEST_PRESSURE_PA / GRAVITY), expected);
        }
    }

    #[test]
    fn divergent_velocity() {
        let recipe = divergent(1).unwrap();
        let (r, period) = (TEST_RADIUS_M, TWELVE_DAYS_S);
        for (t, lon, lat) in POINTS {
            let (l, th) = (lon.to_radians() - 2.0 * PI * t / period, lat.to_radians());
            let strength = 5.0 * r / period * (PI * t / period).cos();
            let expected = [
                -strength * (0.5 * l).sin().powi(2) * (2.0 * th).sin() * th.cos().powi(2)
                    + 2.0 * PI * r / period * th.cos(),
                0.5 * strength * l.sin() * th.cos().powi(3),
            ];
            assert_velocity(velocity(&recipe, t, lon, lat, 1.0), expected);
        }
    }
}
