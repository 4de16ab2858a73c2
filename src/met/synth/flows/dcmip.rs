//! Three-dimensional test flows of the Dynamical Core Model Intercomparison Project (Kent, Ullrich & Jablonowski 2014).

use std::f64::consts::PI;

use super::super::recipe::{Balance, Rates, Recipe};
use super::plane::{deformation_amplitudes, deformation_streams};
use super::{DAY_S, TEST_PRESSURE_PA, TEST_RADIUS_M, TWELVE_DAYS_S, by_level, eastward, northward, turn};
use crate::grid::constants::GRAVITY;
use crate::grid::{GridError, HybridCoordinate};

/// Gravity in m s⁻² of the test cases; it fixes heights only.
const TEST_GRAVITY: f64 = 9.806_16;
/// Gas constant of dry air in J kg⁻¹ K⁻¹ of the test cases.
const TEST_GAS_CONSTANT: f64 = 287.0;
/// Temperature in K.
const TEMPERATURE_K: f64 = 300.0;
/// Height of the model top in m.
const TOP_M: f64 = 12_000.0;

/// Layers of equal thickness in height: interface heights in m and pressures in Pa, from the top.
fn height_layers(levels: usize) -> (Vec<f64>, Vec<f64>) {
    let scale_height = TEST_GAS_CONSTANT * TEMPERATURE_K / TEST_GRAVITY;
    let heights: Vec<f64> = (0..=levels).map(|k| TOP_M * (levels - k) as f64 / levels as f64).collect();
    let pressures = heights.iter().map(|z| TEST_PRESSURE_PA * (-z / scale_height).exp()).collect();
    (heights, pressures)
}

/// Differences bottom minus top of each layer of a function that vanishes at both ends of the column.
fn layer_differences(levels: usize, at_interface: impl Fn(usize) -> f64) -> Vec<f64> {
    let value = |k: usize| if k == 0 || k == levels { 0.0 } else { at_interface(k) };
    (0..levels).map(|k| value(k + 1) - value(k)).collect()
}

/// Three-dimensional deformation over 12 days (case 1-1, in the form that satisfies continuity).
pub(in super::super) fn deformation_3d(levels: usize) -> Result<Recipe, GridError> {
    let (_, pressures) = height_layers(levels);
    let coordinate = HybridCoordinate::from_pressures(&pressures)?;
    let mass: Vec<f64> = pressures.windows(2).map(|p| (p[1] - p[0]) / GRAVITY).collect();
    let (top, surface) = (pressures[0], TEST_PRESSURE_PA);
    let decay = |x: f64| (x / (0.2 * top)).exp();
    let shape = |p: f64| 1.0 + decay(top - surface) - decay(p - surface) - decay(top - p);
    let overturning = layer_differences(levels, |k| shape(pressures[k]));
    let rates = move |t: f64| {
        let (cos, sin) = turn(t, TWELVE_DAYS_S);
        let omega = 23_000.0 * PI / TWELVE_DAYS_S * (2.0 * PI * t / TWELVE_DAYS_S).cos();
        // The wind u_d integrated over a layer is (ω0·a/g) cosλ' cos²θ times the difference of the shape function.
        let unit = omega * TEST_RADIUS_M * TEST_RADIUS_M / GRAVITY;
        Rates {
            streams: by_level(&deformation_amplitudes(t, TWELVE_DAYS_S), &mass),
            vectors: by_level(&[unit * cos, unit * sin], &overturning),
        }
    };
    Ok(Recipe {
        radius_m: TEST_RADIUS_M,
        coordinate,
        time_scale_s: 0.5 * TWELVE_DAYS_S,
        streams: deformation_streams(),
        vectors: vec![Box::new(|p| eastward(p).map(|c| c * p[0])), Box::new(|p| eastward(p).map(|c| c * p[1]))],
        rates: Box::new(rates),
        surface_pressure: Box::new(|_| TEST_PRESSURE_PA),
        waves: Vec::new(),
        balance: Balance::Continuity,
    })
}

/// Overturning cells in a zonal flow that come back after a day (case 1-2).
pub(in super::super) fn hadley(levels: usize) -> Result<Recipe, GridError> {
    const CELLS: f64 = 5.0;
    let (heights, pressures) = height_layers(levels);
    let coordinate = HybridCoordinate::from_pressures(&pressures)?;
    let mass: Vec<f64> = pressures.windows(2).map(|p| (p[1] - p[0]) / GRAVITY).collect();
    let overturning = layer_differences(levels, |k| (PI * heights[k] / TOP_M).sin());
    let density = TEST_PRESSURE_PA / (TEST_GAS_CONSTANT * TEMPERATURE_K);
    // Air mass is pressure over standard gravity, heights follow the test's own.
    let unit = density * 0.15 / CELLS * TEST_RADIUS_M * TEST_RADIUS_M * (TEST_GRAVITY / GRAVITY);
    let rates = move |t: f64| Rates {
        streams: by_level(&[-40.0 * TEST_RADIUS_M], &mass),
        vectors: by_level(&[unit * (PI * t / DAY_S).cos()], &overturning),
    };
    Ok(Recipe {
        radius_m: TEST_RADIUS_M,
        coordinate,
        time_scale_s: DAY_S,
        streams: vec![Box::new(|p| p[2])],
        // sin5θ as a polynomial of sinθ.
        vectors: vec![Box::new(|p| {
            let z = p[2];
            northward(p).map(|c| c * (z * (5.0 + z * z * (16.0 * z * z - 20.0))))
        })],
        rates: Box::new(rates),
        surface_pressure: Box::new(|_| TEST_PRESSURE_PA),
        waves: Vec::new(),
        balance: Balance::Continuity,
    })
}
