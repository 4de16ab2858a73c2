//! Tracers in the analytic flows of transport files: divergent ones, and those with layers.

use kernels::Scalar;

use super::bed::{Bed, Courants};
use super::norms::{Mixing, Norms, largest};
use super::plane::{CONSTANT, float_name, not_finite};
use super::report::CaseReport;
use super::shapes::Sampler;
use super::{Job, VerifyError};
use crate::met::synth::{AnalyticWinds, SynthFlow, WindowAir};

/// A mixing ratio as a function of a point on the unit sphere and of height in m.
pub(super) type Layered = fn([f64; 3], f64) -> f64;

/// Height of the top of the three-dimensional cases in m; layers have equal thickness.
const TOP_M: f64 = 12_000.0;

/// Parts of a layer for its mean.
const PARTS: usize = 4;

/// A run of tracers that come back to where they began.
pub(super) struct LayeredCase {
    pub suite: &'static str,
    pub case: &'static str,
    pub flow: SynthFlow,
    pub nc: usize,
    pub levels: usize,
    pub tracers: Vec<(&'static str, Layered)>,
    /// Windows of the period, each at least one step.
    pub windows: usize,
    pub period_s: f64,
    /// Bells and correlated tracer whose mixing is looked at after half a period.
    pub mixed: Option<[&'static str; 2]>,
}

/// Windows after which Courant numbers are looked at, as a part of all.
const LOOKS: usize = 16;

impl LayeredCase {
    /// Runs the case. Collective.
    pub(super) fn run<R: Scalar>(self, job: &mut Job<'_>) -> Result<CaseReport, VerifyError> {
        let settings = job.settings;
        let length = self.period_s / self.windows as f64;
        let mut winds = AnalyticWinds::new(self.flow, self.nc, settings.bundle, self.levels, length)?;
        let names = self.tracers.iter().map(|(name, _)| (*name).to_owned()).collect();
        let grid = winds.grid().clone();
        let sampler = Sampler::new(&grid, settings.sampling())?;
        let mut bed = Bed::<R>::new(grid, self.levels, names, &settings.advection, job.comm, job.threads)?;
        let mut report = job.report(self.suite, self.case, self.nc, self.levels, 0);
        report.float_type = float_name::<R>();
        job.watcher.begin(&report, self.windows);
        let (mut before, mut starts) = (Vec::new(), Vec::new());
        let mut courants = Courants::default();
        for n in 0..self.windows {
            let window = winds.next_window()?;
            if n == 0 {
                starts = self.start(&mut bed, &sampler, &window);
                before = bed.totals()?;
            }
            bed.set_amounts(&window.am, &window.bm, &window.cm);
            if n % self.windows.div_ceil(LOOKS) == 0 {
                let now = bed.courants();
                courants.directional = courants.directional.max(now.directional);
                courants.budget = courants.budget.max(now.budget);
            }
            for _ in 0..window.steps {
                bed.substep();
            }
            report.steps += window.steps as usize;
            if 2 * (n + 1) == self.windows
                && let Some(pair) = self.mixed
            {
                report.mixing_half_period = Some(self.mixing(&bed, pair)?);
            }
            job.watcher.step(n + 1);
        }
        report.steps_per_nc = report.steps as f64 / self.nc as f64;
        (report.max_directional_courant, report.max_budget) = (courants.directional, courants.budget);
        let after = bed.totals()?;
        let weights = bed.weights.repeat(self.levels);
        for (n, (name, _)) in self.tracers.iter().enumerate() {
            let found = self.values(&bed, n);
            if *name == CONSTANT {
                report.constant_max_abs_error = Some(largest(bed.comm, found.iter().map(|q| q - 1.0)));
                continue;
            }
            let drift = (after[n + 1] - before[n + 1]) / before[n + 1];
            let norms = Norms::of(bed.comm, &weights, &found, &starts[n], drift);
            report.norms.push(((*name).to_owned(), norms.map_err(|source| not_finite(name, source))?));
        }
        Ok(report)
    }

    /// Values of a tracer, level after level.
    fn values<R: Scalar>(&self, bed: &Bed<'_, R>, tracer: usize) -> Vec<f64> {
        (0..self.levels).flat_map(|level| bed.ratios(tracer, level)).collect()
    }

    /// Sets air and tracers; the initial mixing ratios, level after level.
    fn start<R: Scalar>(&self, bed: &mut Bed<'_, R>, sampler: &Sampler, window: &WindowAir) -> Vec<Vec<f64>> {
        let (nc, levels) = (self.nc, self.levels);
        let mut starts = vec![Vec::new(); self.tracers.len()];
        for level in 0..levels {
            bed.set_air(level, |cell, _| window.m[((cell.panel.index() * levels + level) * nc + cell.j) * nc + cell.i]);
            let depth = TOP_M / levels as f64;
            let bottom = depth * (levels - 1 - level) as f64;
            let heights: [f64; PARTS] = std::array::from_fn(|n| bottom + (n as f64 + 0.5) * depth / PARTS as f64);
            for (n, (_, shape)) in self.tracers.iter().enumerate() {
                let mean = |p| heights.iter().map(|z| shape(p, *z)).sum::<f64>() / PARTS as f64;
                let values = sampler.sample(&bed.cells, mean);
                bed.set_ratios(n, level, &values);
                starts[n].extend(values);
            }
        }
        starts
    }

    fn mixing<R: Scalar>(&self, bed: &Bed<'_, R>, pair: [&str; 2]) -> Result<Mixing, VerifyError> {
        let place = |name| self.tracers.iter().position(|(known, _)| *known == name).expect("it is among the tracers");
        let [bells, correlated] = pair.map(|name| self.values(bed, place(name)));
        let weights = bed.weights.repeat(self.levels);
        Mixing::of(bed.comm, &weights, &bells, &correlated).map_err(|source| not_finite(pair[0], source))
    }
}
