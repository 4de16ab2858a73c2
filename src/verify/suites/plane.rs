//! Two-dimensional suites without divergence.

use kernels::Scalar;

use super::super::flows::{Sense, Vortices, deformation, solid_body as rotation};
use super::super::plane::{AtHalf, PlaneCase, PlaneTracer, constant};
use super::super::report::CaseReport;
use super::super::shapes::{
    correlated_bells, cosine_bells, cylinder, gaussian, gaussian_hills, slotted_cylinders, williamson_bell,
};
use super::super::{Job, VerifyError};
use crate::grid::GeometryBundle;

/// Steps of a period per cell of a panel edge on a grid, as in the stored figures for it.
fn usual_steps(job: &Job<'_>, equiangular: f64, geos: f64) -> f64 {
    match job.settings.bundle {
        GeometryBundle::Gnomonic => equiangular,
        GeometryBundle::GeosNative => geos,
    }
}

/// Deformational flow with filament and mixing after half a period.
pub(super) fn lauritzen<R: Scalar>(job: &mut Job<'_>, nc: usize) -> Result<CaseReport, VerifyError> {
    PlaneCase::<R> {
        suite: "lauritzen",
        case: "deformational".into(),
        nc,
        stream: deformation(),
        tracers: vec![
            PlaneTracer::returning("gaussian_hills", gaussian_hills),
            PlaneTracer::returning("cosine_bells", cosine_bells),
            PlaneTracer::returning("slotted_cylinders", slotted_cylinders),
            PlaneTracer::returning("correlated_bells", correlated_bells),
            constant(),
        ],
        steps: job.steps(nc, usual_steps(job, 20.0, 15.0))?,
        periods: 1.0,
        half: AtHalf::Bells,
        chemistry: None,
    }
    .run(job)
}

/// Rotations about three axes, and one backwards, whose norms equal those of its mirror image on a grid that has one.
pub(super) fn solid_body<R: Scalar>(job: &mut Job<'_>, nc: usize) -> Result<Vec<CaseReport>, VerifyError> {
    let steps = job.steps(nc, usual_steps(job, 10.0, 20.0 / 3.0))?;
    let case = |angle: f64, sense: Sense| PlaneCase::<R> {
        suite: "solid-body",
        case: match sense {
            Sense::Forward => format!("solid_body_{angle}"),
            Sense::Backward => format!("solid_body_{angle}_backward"),
        },
        nc,
        stream: rotation(angle.to_radians(), sense),
        tracers: vec![
            PlaneTracer::returning("williamson_bell", williamson_bell),
            PlaneTracer::returning("gaussian", gaussian),
            PlaneTracer::returning("cylinder", cylinder),
            PlaneTracer::returning("gaussian_hills", gaussian_hills),
            PlaneTracer::returning("slotted_cylinders", slotted_cylinders),
            constant(),
        ],
        steps,
        periods: 1.0,
        half: AtHalf::Nothing,
        chemistry: None,
    };
    let cases =
        [(0.0, Sense::Forward), (45.0, Sense::Forward), (90.0, Sense::Forward), (0.0, Sense::Backward)].into_iter();
    let mut reports = cases.map(|(angle, sense)| case(angle, sense).run(job)).collect::<Result<Vec<_>, _>>()?;
    if job.settings.bundle == GeometryBundle::Gnomonic {
        let differences = mirror_differences(&reports[0], &reports[3]);
        reports[3].figures.extend(differences);
    }
    Ok(reports)
}

/// Largest relative difference of the norms of each tracer whose start is its own mirror image.
fn mirror_differences(forward: &CaseReport, backward: &CaseReport) -> Vec<(String, f64)> {
    let relative = |a: f64, b: f64| ((a - b) / a).abs();
    let of_tracer = |tracer| {
        let (a, b) = (forward.norms_of(tracer)?, backward.norms_of(tracer)?);
        let difference = relative(a.l1, b.l1).max(relative(a.l2, b.l2)).max(relative(a.linf, b.linf));
        Some((format!("backward difference, {tracer}"), difference))
    };
    ["williamson_bell", "gaussian", "cylinder"].into_iter().filter_map(of_tracer).collect()
}

/// Two vortices that wind up a smooth field while a rotation carries them around.
pub(super) fn vortices<R: Scalar>(job: &mut Job<'_>, nc: usize) -> Result<CaseReport, VerifyError> {
    let vortex = PlaneTracer {
        name: "vortices",
        start: Box::new(|p| Vortices::exact(p, 0.0)),
        end: Some(Box::new(|p| Vortices::exact(p, 1.0))),
    };
    PlaneCase::<R> {
        suite: "vortices",
        case: "moving_vortices".into(),
        nc,
        stream: Vortices::new().stream(),
        tracers: vec![vortex, constant()],
        steps: job.steps(nc, 10.0)?,
        periods: 1.0,
        half: AtHalf::Nothing,
        chemistry: None,
    }
    .run(job)
}
