//! Suites in the analytic flows of transport files.

use std::f64::consts::PI;

use kernels::Scalar;

use super::super::flows::centres;
use super::super::layered::LayeredCase;
use super::super::plane::CONSTANT;
use super::super::report::CaseReport;
use super::super::shapes::{correlated_bells, cosine_bells, gaussian_hills, slotted_cylinders};
use super::super::{Job, VerifyError};
use crate::grid::vector::angle;
use crate::met::synth::SynthFlow;

const DAY_S: f64 = 86_400.0;

/// Divergent deformational flow (Lauritzen et al. 2012): density is carried along.
pub(super) fn divergent<R: Scalar>(job: &mut Job<'_>, nc: usize) -> Result<CaseReport, VerifyError> {
    LayeredCase {
        suite: "divergent",
        case: "divergent",
        flow: SynthFlow::Divergent,
        nc,
        levels: 1,
        tracers: vec![
            ("gaussian_hills", |p, _| gaussian_hills(p)),
            ("cosine_bells", |p, _| cosine_bells(p)),
            ("slotted_cylinders", |p, _| slotted_cylinders(p)),
            ("correlated_bells", |p, _| correlated_bells(p)),
            (CONSTANT, |_, _| 1.0),
        ],
        windows: job.steps(nc, 20.0)?,
        period_s: 12.0 * DAY_S,
        mixed: Some(["cosine_bells", "correlated_bells"]),
    }
    .run::<R>(job)
}

/// Layers of a three-dimensional case: two for three cells of a panel edge, as 60 at one degree.
fn levels(job: &Job<'_>, nc: usize) -> usize {
    job.settings.levels.unwrap_or((2 * nc).div_ceil(3).max(4))
}

/// Distance of DCMIP 1-1 from the centre of one of its tracers, at most 1.
fn distance(centre: [f64; 3], p: [f64; 3], z: f64) -> f64 {
    ((angle(p, centre) / 0.5).powi(2) + ((z - 5000.0) / 1000.0).powi(2)).min(1.0)
}

fn q1(p: [f64; 3], z: f64) -> f64 {
    centres().map(|centre| 0.5 * (1.0 + (PI * distance(centre, p, z)).cos())).iter().sum()
}

fn q2(p: [f64; 3], z: f64) -> f64 {
    0.9 - 0.8 * q1(p, z).powi(2)
}

fn q3(p: [f64; 3], z: f64) -> f64 {
    let inside = centres().iter().any(|centre| distance(*centre, p, z) <= 0.5);
    let slot = z > 5000.0 && p[2].clamp(-1.0, 1.0).asin().abs() < 0.125;
    if inside && !slot { 1.0 } else { 0.1 }
}

fn q4(p: [f64; 3], z: f64) -> f64 {
    1.0 - 0.3 * (q1(p, z) + q2(p, z) + q3(p, z))
}

/// Three-dimensional deformation over 12 days (DCMIP 1-1).
pub(super) fn dcmip11<R: Scalar>(job: &mut Job<'_>, nc: usize) -> Result<CaseReport, VerifyError> {
    LayeredCase {
        suite: "dcmip11",
        case: "deformation_3d",
        flow: SynthFlow::Deformation3d,
        nc,
        levels: levels(job, nc),
        tracers: vec![("q1", q1), ("q2", q2), ("q3", q3), ("q4", q4), (CONSTANT, |_, _| 1.0)],
        windows: job.steps(nc, 20.0)?,
        period_s: 12.0 * DAY_S,
        mixed: None,
    }
    .run::<R>(job)
}

/// Overturning cells in a zonal flow over a day (DCMIP 1-2).
pub(super) fn dcmip12<R: Scalar>(job: &mut Job<'_>, nc: usize) -> Result<CaseReport, VerifyError> {
    LayeredCase {
        suite: "dcmip12",
        case: "hadley",
        flow: SynthFlow::Hadley,
        nc,
        levels: levels(job, nc),
        tracers: vec![
            ("q", |_, z| {
                let inside = (2000.0..5000.0).contains(&z);
                if inside { 0.5 * (1.0 + (2.0 * PI * (z - 3500.0) / 3000.0).cos()) } else { 0.0 }
            }),
            (CONSTANT, |_, _| 1.0),
        ],
        // 300 s at one degree.
        windows: job.steps(nc, 3.2)?,
        period_s: DAY_S,
        mixed: None,
    }
    .run::<R>(job)
}
