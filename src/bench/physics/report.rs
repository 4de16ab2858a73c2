//! What is reported of vertical physics.

use serde::Serialize;

use super::times::{Times, Turns};

/// Result of a measurement on the processor.
#[derive(Clone, Debug, Serialize)]
pub struct PhysicsReport {
    /// `cpu`.
    pub backend: &'static str,
    /// Scheme and limiter of the advection, vertical scheme.
    pub scheme: String,
    /// `Float32` or `Float64`.
    pub float_type: &'static str,
    /// Cells per panel edge.
    pub nc: usize,
    /// Layers.
    pub levels: usize,
    /// Tracers.
    pub tracers: usize,
    /// CPU threads.
    pub threads: usize,
    /// Triad of all threads in the same run (GB/s).
    pub triad_gigabytes_per_second: f64,
    /// Length of the window (s).
    pub window_seconds: f64,
    /// Substeps of the window.
    pub substeps_per_window: u32,
    /// Best wall time of a substep of advection alone (s).
    pub seconds_per_substep: f64,
    /// Median wall time of a substep of advection alone (s).
    pub median_seconds_per_substep: f64,
    /// The operators.
    pub operators: Vec<OperatorTiming>,
    /// What is derived from a window when it is read.
    pub derivations: Vec<DerivationTiming>,
}

/// One operator, once, on all tracers. Diffusion, emissions and decay act for a substep, convection for a window.
#[derive(Clone, Debug, Serialize)]
pub struct OperatorTiming {
    /// Name.
    pub operator: &'static str,
    /// Best wall time (s), the operator alone.
    pub seconds: f64,
    /// Median wall time (s).
    pub median_seconds: f64,
    /// Best wall time per cell and tracer (ns).
    pub nanoseconds_per_cell_tracer: f64,
    /// Median wall time per cell and tracer (ns).
    pub median_nanoseconds_per_cell_tracer: f64,
    /// Bytes it has to move: what it reads of the state and its forcing read once, what it changes written once.
    pub least_bytes: f64,
    /// Those bytes over the best time (GB/s).
    pub gigabytes_per_second: f64,
    /// Share of the triad.
    pub share_of_triad: f64,
    /// Best time over that of a substep of advection.
    pub share_of_substep: f64,
    /// Parts that an explicit scheme divides the window into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<usize>,
    /// What it adds to a substep of advection, for operators that act within.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_substep: Option<InSubstep>,
    /// What its ledger costs, for operators that solve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger: Option<LedgerTiming>,
}

/// What an operator adds to a substep of advection in whose middle it acts: the vertical part of the substep with it less
/// that without, in turns.
#[derive(Clone, Debug, Serialize)]
pub struct InSubstep {
    /// Best wall time with it less best wall time without (s).
    pub seconds: f64,
    /// Median of the differences (s).
    pub median_seconds: f64,
    /// Median of the differences per cell and tracer (ns).
    pub median_nanoseconds_per_cell_tracer: f64,
    /// Difference of the best times over the best time of a substep of advection.
    pub share_of_substep: f64,
    /// Best wall time of the vertical part without it (s).
    pub seconds_of_vertical_part: f64,
}

/// Solves whose residuals are booked beside plain ones, on the same blocks of columns in cache, in turns. Best and median
/// are those of each block, summed over the blocks.
#[derive(Clone, Debug, Serialize)]
pub struct LedgerTiming {
    /// Best time of the booked solves per cell and tracer (ns).
    pub booked_nanoseconds_per_cell_tracer: f64,
    /// Best time of the plain solves per cell and tracer (ns).
    pub plain_nanoseconds_per_cell_tracer: f64,
    /// Best time of the booked solves less that of the plain ones, per cell and tracer (ns).
    pub overhead_nanoseconds_per_cell_tracer: f64,
    /// Median of the differences, per cell and tracer (ns).
    pub median_overhead_nanoseconds_per_cell_tracer: f64,
    /// Median of the differences over the median of the plain solves.
    pub share_of_solve: f64,
    /// Median of the differences over the best time of a substep of advection with this operator.
    pub share_of_substep: f64,
}

/// Fields derived from a window, on the thread that reads.
#[derive(Clone, Debug, Serialize)]
pub struct DerivationTiming {
    /// Kind of diffusion, convection or injection that needs them.
    pub derivation: &'static str,
    /// Best wall time of a window (s).
    pub seconds: f64,
    /// Median wall time of a window (s).
    pub median_seconds: f64,
    /// Best wall time per cell (ns).
    pub nanoseconds_per_cell: f64,
    /// Median wall time per cell (ns).
    pub median_nanoseconds_per_cell: f64,
    /// Bytes it has to move: sections read once, fields written once.
    pub least_bytes: f64,
    /// Those bytes over the best time (GB/s).
    pub gigabytes_per_second: f64,
    /// Share of the triad of all threads.
    pub share_of_triad: f64,
    /// Best time over that of the substeps of the window, advection alone.
    pub share_of_window: f64,
}

/// What measured times are set beside.
pub(super) struct Yardstick {
    /// Bytes per second of the triad.
    pub(super) triad: f64,
    /// A substep of advection.
    pub(super) substep: Times,
    /// Cells times tracers.
    pub(super) updates: f64,
    pub(super) cells: f64,
    /// Bytes of a value.
    pub(super) value_bytes: f64,
}

impl Yardstick {
    /// An operator that has to move a number of values.
    pub(super) fn operator(&self, operator: &'static str, times: Times, values: f64) -> OperatorTiming {
        let bytes = values * self.value_bytes;
        OperatorTiming {
            operator,
            seconds: times.best,
            median_seconds: times.median,
            nanoseconds_per_cell_tracer: 1e9 * times.best / self.updates,
            median_nanoseconds_per_cell_tracer: 1e9 * times.median / self.updates,
            least_bytes: bytes,
            gigabytes_per_second: 1e-9 * bytes / times.best,
            share_of_triad: bytes / times.best / self.triad,
            share_of_substep: times.best / self.substep.best,
            parts: None,
            in_substep: None,
            ledger: None,
        }
    }

    /// The vertical part of a substep without (first) and with an operator.
    pub(super) fn in_substep(&self, turns: &Turns) -> InSubstep {
        InSubstep {
            seconds: turns.difference.best,
            median_seconds: turns.difference.median,
            median_nanoseconds_per_cell_tracer: 1e9 * turns.difference.median / self.updates,
            share_of_substep: turns.difference.best / self.substep.best,
            seconds_of_vertical_part: turns.first.best,
        }
    }

    /// Plain (first) and booked solves; `whole` is the wall time of a substep with the operator.
    pub(super) fn ledger(&self, turns: &Turns, whole: f64) -> LedgerTiming {
        let each = |seconds: f64| 1e9 * seconds / self.updates;
        LedgerTiming {
            booked_nanoseconds_per_cell_tracer: each(turns.second.best),
            plain_nanoseconds_per_cell_tracer: each(turns.first.best),
            overhead_nanoseconds_per_cell_tracer: each(turns.difference.best),
            median_overhead_nanoseconds_per_cell_tracer: each(turns.difference.median),
            share_of_solve: turns.difference.median / turns.first.median,
            share_of_substep: turns.difference.median / whole,
        }
    }

    /// A derivation that has to move a number of values; a window has `substeps`.
    pub(super) fn derivation(
        &self,
        derivation: &'static str,
        times: Times,
        values: f64,
        substeps: u32,
    ) -> DerivationTiming {
        let bytes = values * self.value_bytes;
        DerivationTiming {
            derivation,
            seconds: times.best,
            median_seconds: times.median,
            nanoseconds_per_cell: 1e9 * times.best / self.cells,
            median_nanoseconds_per_cell: 1e9 * times.median / self.cells,
            least_bytes: bytes,
            gigabytes_per_second: 1e-9 * bytes / times.best,
            share_of_triad: bytes / times.best / self.triad,
            share_of_window: times.best / (f64::from(substeps) * self.substep.best),
        }
    }
}
