//! What a run tells about itself while it runs.

use std::path::PathBuf;

use serde::Serialize;

use crate::timers::TimerReport;

/// The run as planned, once the files are open and the state is built.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanReport {
    /// Grid, levels, precision, scheme, ranks, threads … one line each, as (label, value).
    pub lines: Vec<(&'static str, String)>,
    /// Windows that will be run.
    pub windows: u64,
    /// Model time at which it starts, s.
    pub start_seconds: f64,
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
    /// Substeps of the window.
    pub substeps: u32,
    /// Model time at the end of the window, s since the start of the run.
    pub model_seconds: f64,
    /// Snapshots written so far.
    pub snapshots: usize,
    /// Largest fraction of a cell's air that leaves it in one substep, if known.
    pub max_cfl: Option<f64>,
    /// Largest difference of any tracer since the start of the run between its total and what sources and decay
    /// account for, relative to the total or, if larger, to what was emitted.
    pub largest_residual: Option<f64>,
    /// Wall-clock seconds of this window by section.
    pub seconds: &'a [(&'a str, f64)],
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
}

/// Receives the progress of a run. Called on every rank; all ranks but the first should stay silent.
pub trait Progress: Send {
    /// The run starts.
    fn start(&mut self, plan: &PlanReport);
    /// A window is finished.
    fn window(&mut self, report: &WindowReport<'_>);
    /// Something odd but harmless.
    fn warn(&mut self, message: &str);
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
