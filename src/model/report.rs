//! What a run tells about itself while it runs.

use std::path::{Path, PathBuf};

use serde::Serialize;

pub use super::facts::RunFacts;
pub use super::memory::{MemoryEstimate, MemoryItem, MemoryUse};
use crate::comm::Communicator;
use crate::timers::TimerReport;

/// A figure over the ranks of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Smallest.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
}

impl Spread {
    /// Over the ranks of `comm`, each with its own whole number of at most 2⁵³. Collective.
    pub fn over(comm: &dyn Communicator, own: u64) -> Self {
        let (mut sum, mut ends) = ([own as i64], [own as f64, -(own as f64)]);
        comm.sum_i64(&mut sum);
        comm.max_f64(&mut ends);
        Self { min: -ends[1], mean: sum[0] as f64 / comm.size() as f64, max: ends[0] }
    }

    /// Of figures at hand; zeros without any.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let (mut found, mut sum, mut count) = (Self { min: f64::INFINITY, mean: 0.0, max: f64::NEG_INFINITY }, 0.0, 0);
        for value in values {
            (found.min, found.max) = (found.min.min(value), found.max.max(value));
            (sum, count) = (sum + value, count + 1);
        }
        if count == 0 { Self::default() } else { Self { mean: sum / f64::from(count), ..found } }
    }
}

/// The run as planned, once the files are open and the state is built.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanReport {
    /// Grid, levels, precision, scheme, ranks, threads … one line each, as (label, value).
    pub lines: Vec<(&'static str, String)>,
    /// Windows that will be run.
    pub windows: u64,
    /// Model time at which it starts, s.
    pub start_seconds: f64,
    /// Program, machine and settings, for machines.
    pub facts: RunFacts,
    /// Memory that the first rank will take at most.
    pub memory: MemoryEstimate,
    /// The same of all ranks, bytes.
    pub memory_of_ranks: Spread,
}

/// What happened in one window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WindowReport<'a> {
    /// Name of the transport file.
    pub file: &'a str,
    /// Window in the file, from 1.
    pub window: usize,
    /// Windows of the file that are run.
    pub windows: usize,
    /// Window of the whole run, from 1.
    pub number: u64,
    /// Substeps of the window.
    pub substeps: u32,
    /// Model time at the end of the window, s since the start of the run.
    pub model_seconds: f64,
    /// Snapshots written so far.
    pub snapshots: usize,
    /// Largest fraction of a cell's air that leaves it in one substep, if known.
    pub max_cfl: Option<f64>,
    /// What that fraction may be.
    pub cfl_limit: f64,
    /// Parts into which sweeps are divided to stay below; 0 where nothing is advected.
    pub passes: usize,
    /// Tracers.
    pub tracers: &'a [String],
    /// For every tracer the difference since the start of the run between its total and what sources and decay account
    /// for, relative to the total or, if larger, to what was emitted.
    pub drift: &'a [f64],
    /// Largest absolute drift; `None` without tracers.
    pub largest_residual: Option<f64>,
    /// Wall-clock seconds since the end of the window before, reading, snapshots and restart files in between included.
    pub wall_seconds: f64,
    /// Time that the busiest rank computes over the mean of all ranks, at least 1.
    pub imbalance: f64,
    /// Longest time that a rank waited for the window to be read, s.
    pub read_wait_seconds: f64,
    /// Wall-clock seconds of this window by section.
    pub seconds: &'a [(&'a str, f64)],
}

impl WindowReport<'_> {
    /// The tracer that drifts most, and how much; `None` without tracers.
    pub fn worst(&self) -> Option<(&str, f64)> {
        let all = self.tracers.iter().map(String::as_str).zip(self.drift.iter().copied());
        all.reduce(|a, b| if b.1.abs() > a.1.abs() || b.1.is_nan() { b } else { a })
    }
}

/// A restart file that was written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CheckpointReport<'a> {
    /// The file.
    pub file: &'a Path,
    /// Model time that it holds, s since the start of the run.
    pub model_seconds: f64,
    /// Its bytes; 0 if the system does not tell.
    pub bytes: u64,
    /// Wall-clock seconds that it took.
    pub took_seconds: f64,
}

/// A snapshot that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SnapshotReport {
    /// Model time, s since the start of the run.
    pub model_seconds: f64,
    /// Snapshots of the run so far.
    pub snapshots: usize,
    /// Wall-clock seconds for which the run stood still.
    pub took_seconds: f64,
}

/// What a tracer gained and lost over a run, and what its ledgers did; kg of carrier air.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct TracerBudget {
    /// Gained from its sources.
    pub emitted: f64,
    /// Lost by decay.
    pub decayed: f64,
    /// Change of the total that neither explains.
    pub residual: f64,
    /// Rounding returned by the ledgers of diffusion and convection.
    pub ledger_returned: [f64; 2],
    /// Rounding that the columns still carry, for diffusion and convection.
    pub carry_outstanding: [f64; 2],
}

/// Budget of one tracer (or the air) over a run: exact totals, kg of carrier air.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Budget {
    /// `air` or the tracer.
    pub name: String,
    /// Total at the start.
    pub initial: f64,
    /// Total at the end.
    pub last: f64,
    /// Half-life of a tracer that decays, s: its total has to change.
    pub half_life_seconds: Option<f64>,
    /// What the tracer gained and lost; `None` for the air.
    pub tracer: Option<TracerBudget>,
}

impl Budget {
    /// What sources and decay do not explain of the change, relative to the total or, if larger, to what was emitted; 0
    /// for what did not change.
    pub fn residual(&self) -> f64 {
        let (residual, emitted) = self.tracer.map_or((self.last - self.initial, 0.0), |t| (t.residual, t.emitted));
        if residual == 0.0 { 0.0 } else { residual / self.initial.abs().max(self.last.abs()).max(emitted.abs()) }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Ended {
    /// After its last window.
    Complete,
    /// Earlier, with a restart file.
    Stopped {
        /// Why.
        reason: String,
        /// The file from which it can go on.
        restart: PathBuf,
    },
}

/// What happened in the whole run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// How it ended.
    pub ended: Ended,
    /// Model time, s.
    pub model_seconds: f64,
    /// Snapshots written.
    pub snapshots: usize,
    /// Snapshot files.
    pub files: Vec<PathBuf>,
    /// Totals of the air and of every tracer.
    pub budgets: Vec<Budget>,
    /// Columns whose residual the ledgers of diffusion and convection refused, counted per solve.
    pub ledger_refused: [u64; 2],
    /// Wall-clock seconds of the run by section.
    pub seconds: Vec<(&'static str, f64)>,
    /// Memory that the ranks took.
    pub memory: MemoryUse,
}

/// Receives the progress of a run. Called on every rank; all ranks but the first should stay silent.
pub trait Progress: Send {
    /// The run starts.
    fn start(&mut self, plan: &PlanReport);
    /// A window is finished.
    fn window(&mut self, report: &WindowReport<'_>);
    /// Something odd but harmless.
    fn warn(&mut self, message: &str);
    /// A restart file is complete.
    fn checkpoint(&mut self, _: &CheckpointReport<'_>) {}
    /// A snapshot was taken.
    fn snapshot(&mut self, _: &SnapshotReport) {}
    /// An output file is complete.
    fn file(&mut self, _: &Path) {}
    /// The run fails, in words. What is shown of it elsewhere need not be shown here.
    fn fail(&mut self, _: &str) {}
    /// Times of the sections, where they were asked for.
    fn timers(&mut self, _: &TimerReport) {}
    /// The run is finished.
    fn finish(&mut self, report: &RunReport);
}

/// Says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn start(&mut self, _: &PlanReport) {}
    fn window(&mut self, _: &WindowReport<'_>) {}
    fn warn(&mut self, _: &str) {}
    fn finish(&mut self, _: &RunReport) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::threads;

    #[test]
    fn figures_of_ranks_are_compared() {
        let found = threads::run(4, |comm| Spread::over(&comm, 10 + comm.rank() as u64));
        assert!(found.iter().all(|s| *s == Spread { min: 10.0, mean: 11.5, max: 13.0 }), "{found:?}");
        assert_eq!(Spread::of([3.0, 1.0, 2.0]), Spread { min: 1.0, mean: 2.0, max: 3.0 });
        assert_eq!(Spread::of([]), Spread::default());
    }
}
