//! Orders of convergence.

use kernels::Scalar;

use super::super::flows::{Sense, solid_body};
use super::super::plane::{AtHalf, PlaneCase, PlaneTracer};
use super::super::report::CaseReport;
use super::super::shapes::gaussian;
use super::super::{Job, VerifyError};
use super::{layered, plane};
use crate::grid::vector::{cross, dot};

/// Axes of the rotations that carry the Gaussian: over the middle of a seam, and past a vertex onto a seam.
const PATHS: [(&str, f64); 2] = [("seam", 0.0), ("vertex", 45.0)];

/// Largest Courant numbers along an axis, roughly, of the joint refinements.
const COURANTS: [f64; 2] = [0.1, 0.4];

/// Hills in the deformational flow, a Gaussian that crosses seams at fixed Courant numbers, hills in a divergent flow; each at all
/// resolutions, steps refined with the grid.
pub(super) fn convergence<R: Scalar>(job: &mut Job<'_>) -> Result<Vec<CaseReport>, VerifyError> {
    let resolutions = job.settings.nc.clone();
    if resolutions.len() < 2 {
        return Err(VerifyError::OneResolution);
    }
    let mut reports = Vec::new();
    let runs = resolutions.iter().map(|&nc| plane::lauritzen::<R>(job, nc)).collect::<Result<Vec<_>, _>>()?;
    reports.push(orders(job, "deformational orders", "gaussian_hills", &runs));
    for ((path, angle), courant) in PATHS.into_iter().flat_map(|path| COURANTS.map(|courant| (path, courant))) {
        let runs =
            resolutions.iter().map(|&nc| quarter::<R>(job, nc, angle, courant)).collect::<Result<Vec<_>, _>>()?;
        reports.push(orders(job, &format!("{path} at Courant number {courant}"), "gaussian", &runs));
    }
    let runs = resolutions.iter().map(|&nc| layered::divergent::<R>(job, nc)).collect::<Result<Vec<_>, _>>()?;
    reports.push(orders(job, "divergent orders", "gaussian_hills", &runs));
    Ok(reports)
}

/// A quarter of a rotation of a Gaussian.
fn quarter<R: Scalar>(job: &mut Job<'_>, nc: usize, angle_deg: f64, courant: f64) -> Result<CaseReport, VerifyError> {
    let angle = angle_deg.to_radians();
    // A cell of the equator is π/(2·nc) wide and the speed is 2π.
    let steps = 2 * (0.5 * nc as f64 / courant).round().max(1.0) as usize;
    let axis = [-angle.sin(), 0.0, angle.cos()];
    let end = move |p: [f64; 3]| gaussian(turned_back(p, axis, std::f64::consts::FRAC_PI_2));
    PlaneCase::<R> {
        suite: "convergence",
        case: "quarter".into(),
        nc,
        stream: solid_body(angle, Sense::Forward),
        tracers: vec![PlaneTracer { name: "gaussian", start: Box::new(gaussian), end: Some(Box::new(end)) }],
        steps,
        periods: 0.25,
        half: AtHalf::Nothing,
        chemistry: None,
    }
    .run(job)
}

/// A point turned about an axis by the negative of an angle (formula of Rodrigues).
fn turned_back(p: [f64; 3], axis: [f64; 3], angle: f64) -> [f64; 3] {
    let (sin, cos) = (-angle).sin_cos();
    let (across, along) = (cross(axis, p), dot(axis, p) * (1.0 - cos));
    std::array::from_fn(|n| p[n] * cos + across[n] * sin + axis[n] * along)
}

/// l2 of a tracer at each resolution and the order between neighbouring ones.
fn orders(job: &Job<'_>, case: &str, tracer: &str, runs: &[CaseReport]) -> CaseReport {
    let mut report = job.report("convergence", case, 0, 1, 0);
    let norms = |run: &CaseReport| run.norms_of(tracer).map_or(f64::NAN, |norms| norms.l2);
    for run in runs {
        report.figures.push((format!("{tracer} l2 C{}", run.nc), norms(run)));
    }
    for pair in runs.windows(2) {
        let [a, b] = [&pair[0], &pair[1]];
        let order = (norms(a) / norms(b)).ln() / (b.nc as f64 / a.nc as f64).ln();
        report.figures.push((format!("order of l2 C{} to C{}", a.nc, b.nc), order));
    }
    report
}
