//! One-dimensional tables from the kernels of the sweeps.

use std::f64::consts::TAU;

use kernels::cpu::{FaceCoefficients, FaceState, Workspace, prepare_x};
use kernels::scheme::{Scheme, kernel};
use kernels::{Scalar, TileShape};

use super::super::report::CaseReport;
use super::super::{Job, VerifyError};

/// Mixing ratios on a ring of cells of unit mass.
struct Ring<R: Scalar> {
    shape: TileShape,
    scheme: Scheme,
    courant: f64,
    tracer: Vec<R>,
    faces: FaceCoefficients<R>,
    workspace: Workspace<R>,
}

impl<R: Scalar> Ring<R> {
    fn new(scheme: Scheme, courant: f64, ratios: &[f64]) -> Self {
        let shape = TileShape::new(ratios.len(), 1, scheme.halo());
        let mut tracer = vec![R::default(); shape.plane_len()];
        for (to, from) in tracer[shape.row_start(0)..].iter_mut().zip(ratios) {
            *to = R::from_f64(*from);
        }
        let (faces, workspace) = (FaceCoefficients::new([&shape]), Workspace::new([&shape]));
        Self { shape, scheme, courant, tracer, faces, workspace }
    }

    fn step(&mut self) {
        let Self { shape, tracer, faces, workspace, .. } = self;
        let (n, halo, start) = (shape.ni, shape.halo, shape.row_start(0));
        for depth in 0..halo {
            tracer[start - 1 - depth] = tracer[start + n - 1 - depth];
            tracer[start + n + depth] = tracer[start + depth];
        }
        let mut air = vec![R::lit(1.0); shape.plane_len()];
        let flux = vec![R::from_f64(self.courant); shape.plane_len()];
        let ends = [FaceState::Open, FaceState::Open];
        prepare_x(shape, &mut air, &flux, R::lit(1.0), ends, faces);
        kernel::<R>(self.scheme).sweep_x(shape, tracer, faces, None, workspace);
    }

    fn ratios(&self) -> impl Iterator<Item = f64> {
        let start = self.shape.row_start(0);
        self.tracer[start..start + self.shape.ni].iter().map(|q| q.to_f64())
    }
}

/// Sine waves after a revolution at Courant number 0.4, and the extremes of a box of five cells of 40 over 100 steps at Courant
/// numbers 0.3, 0.7 and 0.05.
pub(super) fn ring<R: Scalar>(job: &mut Job<'_>) -> Result<CaseReport, VerifyError> {
    let Some(scheme) = job.settings.advection.scheme else { return Err(VerifyError::NoAdvection) };
    let mut report = job.report("ring", "ring", 0, 1, 0);
    for n in [40, 80, 160, 320] {
        // Cell means of 2 + sin 2πx: positive, so that no limiter meets a change of sign.
        let part = |i: usize| -(TAU * i as f64 / n as f64).cos() / TAU * n as f64;
        let start: Vec<f64> = (0..n).map(|i| 2.0 + part(i + 1) - part(i)).collect();
        let mut ring = Ring::<R>::new(scheme, 0.4, &start);
        (0..(n as f64 / 0.4).round() as usize).for_each(|_| ring.step());
        let squares: f64 = ring.ratios().zip(&start).map(|(a, b)| (a - b).powi(2)).sum();
        report.figures.push((format!("sine error N = {n}"), (squares / n as f64).sqrt()));
    }
    let start: Vec<f64> = (0..40).map(|i| if (10..15).contains(&i) { 1.0 } else { 0.0 }).collect();
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for courant in [0.3, 0.7, 0.05] {
        let mut ring = Ring::<R>::new(scheme, courant, &start);
        for _ in 0..100 {
            ring.step();
            low = ring.ratios().fold(low, f64::min);
            high = ring.ratios().fold(high, f64::max);
        }
    }
    report.figures.push(("box minimum".into(), low));
    report.figures.push(("box maximum - 1".into(), high - 1.0));
    Ok(report)
}
