//! Tracers in a two-dimensional flow over one period: the step loop and what is looked at on the way.

use kernels::Scalar;

use super::bed::{Bed, Courants};
use super::flows::Stream;
use super::norms::{Filament, Mixing, Norms, largest};
use super::report::{CaseReport, Map};
use super::shapes::Sampler;
use super::{Job, VerifyError};
use crate::grid::CubedSphere;

/// A point function, e.g. a mixing ratio.
pub(super) type Point = Box<dyn Fn([f64; 3]) -> f64>;

/// A tracer: its start, and its end if that is another field.
pub(super) struct PlaneTracer {
    pub name: &'static str,
    pub start: Point,
    pub end: Option<Point>,
}

impl PlaneTracer {
    /// One that comes back to where it began.
    pub(super) fn returning(name: &'static str, start: fn([f64; 3]) -> f64) -> Self {
        Self { name, start: Box::new(start), end: None }
    }
}

/// The uniform tracer, whose norms are a single figure.
pub(super) const CONSTANT: &str = "constant";

/// A uniform tracer.
pub(super) fn constant() -> PlaneTracer {
    PlaneTracer::returning(CONSTANT, |_| 1.0)
}

/// What happens to the tracers after a step of a length in periods.
pub(super) type Chemistry<'a, R> = Box<dyn FnMut(&mut Bed<'_, R>, f64) + 'a>;

/// A run of tracers in a flow.
pub(super) struct PlaneCase<'a, R: Scalar> {
    pub suite: &'static str,
    pub case: String,
    pub nc: usize,
    pub stream: Stream,
    pub tracers: Vec<PlaneTracer>,
    /// Steps of the part that is run.
    pub steps: usize,
    /// Part of a period that is run.
    pub periods: f64,
    pub half: AtHalf,
    pub chemistry: Option<Chemistry<'a, R>>,
}

/// What is looked at after half of the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtHalf {
    /// Nothing.
    Nothing,
    /// Filament and mixing of the bells.
    Bells,
}

/// Steps after which Courant numbers are looked at, as a part of all.
const LOOKS: usize = 48;

impl<'a, R: Scalar> PlaneCase<'a, R> {
    /// Runs the case. Collective.
    ///
    /// # Errors
    /// The grid does not suit the ranks; a tracer becomes unusable.
    pub(super) fn run(mut self, job: &mut Job<'_>) -> Result<CaseReport, VerifyError> {
        let settings = job.settings;
        let (bundle, sampling) = (settings.bundle, settings.sampling());
        let grid = CubedSphere::new(self.nc, bundle, bundle.default_offset_deg(), 1.0)?;
        let sampler = Sampler::new(&grid, sampling)?;
        let names = self.tracers.iter().map(|t| t.name.to_owned()).collect();
        let mut bed = Bed::<R>::new(grid, 1, names, &settings.advection, job.comm, job.threads)?;
        bed.set_air(0, |_, weight| weight);
        let mut starts = Vec::new();
        for (n, tracer) in self.tracers.iter().enumerate() {
            let values = sampler.sample(&bed.cells, &tracer.start);
            bed.set_ratios(n, 0, &values);
            starts.push(values);
        }
        let mut report = job.report(self.suite, &self.case, self.nc, 1, self.steps);
        report.initial = sampling.name();
        report.steps_per_nc = self.steps as f64 / self.periods / self.nc as f64;
        report.float_type = float_name::<R>();
        self.keep_maps(job, &bed, "initial", &mut report);
        let before = bed.totals()?;
        let mut courants = Courants::default();
        job.watcher.begin(&report, self.steps);
        let dt = self.periods / self.steps as f64;
        for step in 0..self.steps {
            let middle = (step as f64 + 0.5) * dt;
            bed.set_stream(|p| dt * (self.stream)(p, middle));
            if step % self.steps.div_ceil(LOOKS) == 0 {
                let now = bed.courants();
                courants.directional = courants.directional.max(now.directional);
                courants.budget = courants.budget.max(now.budget);
            }
            bed.substep();
            if let Some(chemistry) = &mut self.chemistry {
                chemistry(&mut bed, dt);
            }
            if 2 * (step + 1) == self.steps && self.half == AtHalf::Bells {
                self.look_at_half(&bed, &starts, &mut report)?;
            }
            if 2 * (step + 1) == self.steps {
                self.keep_maps(job, &bed, "half", &mut report);
            }
            job.watcher.step(step + 1);
        }
        self.keep_maps(job, &bed, "final", &mut report);
        let after = bed.totals()?;
        report.max_directional_courant = courants.directional;
        report.max_budget = courants.budget;
        for (n, tracer) in self.tracers.iter().enumerate() {
            let found = bed.ratios(n, 0);
            if tracer.name == CONSTANT {
                report.constant_max_abs_error = Some(largest(bed.comm, found.iter().map(|q| q - 1.0)));
                continue;
            }
            let end = tracer.end.as_ref().map(|end| sampler.sample(&bed.cells, end));
            let exact = end.as_ref().unwrap_or(&starts[n]);
            let drift = (after[n + 1] - before[n + 1]) / before[n + 1];
            let norms = Norms::of(bed.comm, &bed.weights, &found, exact, drift);
            report.norms.push((tracer.name.to_owned(), norms.map_err(|source| not_finite(tracer.name, source))?));
        }
        if self.half == AtHalf::Bells {
            report.mixing_final = Some(self.mixing(&bed)?);
        }
        Ok(report)
    }

    fn place(&self, tracer: &str) -> usize {
        self.tracers.iter().position(|t| t.name == tracer).expect("the bells are among the tracers")
    }

    fn mixing(&self, bed: &Bed<'_, R>) -> Result<Mixing, VerifyError> {
        let [bells, correlated] = ["cosine_bells", "correlated_bells"].map(|name| bed.ratios(self.place(name), 0));
        let found = Mixing::of(bed.comm, &bed.weights, &bells, &correlated);
        found.map_err(|source| not_finite("cosine_bells", source))
    }

    fn look_at_half(&self, bed: &Bed<'_, R>, starts: &[Vec<f64>], report: &mut CaseReport) -> Result<(), VerifyError> {
        let bells = self.place("cosine_bells");
        let filament = Filament::of(bed.comm, &bed.weights, &bed.ratios(bells, 0), &starts[bells]);
        report.filament_half_period = Some(filament.map_err(|source| not_finite("cosine_bells", source))?);
        report.mixing_half_period = Some(self.mixing(bed)?);
        Ok(())
    }

    fn keep_maps(&self, job: &Job<'_>, bed: &Bed<'_, R>, stage: &'static str, report: &mut CaseReport) {
        if !job.settings.maps.kept() {
            return;
        }
        for (n, tracer) in self.tracers.iter().enumerate().filter(|(_, t)| t.name != CONSTANT) {
            if let Some(values) = bed.gather(&bed.ratios(n, 0)) {
                report.maps.push(Map { tracer: tracer.name.to_owned(), stage, values });
            }
        }
    }
}

pub(super) fn not_finite(tracer: &str, source: crate::diagnostics::SumError) -> VerifyError {
    VerifyError::NotFinite { tracer: tracer.to_owned(), source }
}

/// Name of the precision of a run.
pub(super) fn float_name<R: Scalar>() -> &'static str {
    match size_of::<R>() {
        4 => "Float32",
        _ => "Float64",
    }
}
