//! The analytic flows.

mod dcmip;
mod plane;
mod weather;

pub(super) use dcmip::{deformation_3d, hadley};
pub(super) use plane::{deformation, divergent, solid_body};
pub(super) use weather::weather;

/// Radius in m of the published test cases.
const TEST_RADIUS_M: f64 = 6.371_22e6;

/// A day in s.
const DAY_S: f64 = 86_400.0;

/// Period in s of the twelve-day test cases.
const TWELVE_DAYS_S: f64 = 12.0 * DAY_S;

/// Surface pressure in Pa of the test cases.
const TEST_PRESSURE_PA: f64 = 1.0e5;

/// (cosλ', sinλ') of the turned longitude λ' = λ − Ωt enter as x' = x·cos + y·sin and y' = y·cos − x·sin.
fn turn(time_s: f64, period_s: f64) -> (f64, f64) {
    let (sin, cos) = (2.0 * std::f64::consts::PI * time_s / period_s).sin_cos();
    (cos, sin)
}

/// Eastward unit vector times cosθ.
fn eastward(p: [f64; 3]) -> [f64; 3] {
    [-p[1], p[0], 0.0]
}

/// Northward unit vector times cosθ.
fn northward(p: [f64; 3]) -> [f64; 3] {
    [-p[2] * p[0], -p[2] * p[1], p[0] * p[0] + p[1] * p[1]]
}

/// Cosine of latitude.
fn cos_latitude(p: [f64; 3]) -> f64 {
    (p[0] * p[0] + p[1] * p[1]).sqrt()
}

/// `amplitudes` of the basis fields times the weight of each level, as one list field by field.
fn by_level(amplitudes: &[f64], weights: &[f64]) -> Vec<f64> {
    amplitudes.iter().flat_map(|a| weights.iter().map(move |w| a * w)).collect()
}
