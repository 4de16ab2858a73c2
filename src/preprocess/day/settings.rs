//! What is asked of a day, how far it has come, and what was written.

use jiff::civil::Date;
use serde_json::{Map, Value};

use crate::met::gates::{PositivityReport, ReplayReport};
use crate::met::{FloatType, GateAction, Section};
use crate::preprocess::substeps::StepRule;
use crate::preprocess::{ColumnWeights, Pin, Stages};

/// How horizontal fluxes are made to fit the mass changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BalanceMode {
    /// One correction per face, shared out over its layers.
    Column(ColumnWeights),
    /// One correction per face and layer.
    PerLayer,
    /// None; the residual is taken out of the vertical fluxes.
    None,
}

impl BalanceMode {
    /// Value of `horizontal_balance` in headers.
    pub fn name(self) -> &'static str {
        match self {
            BalanceMode::Column(_) => "column",
            BalanceMode::PerLayer => "per_layer",
            BalanceMode::None => "none",
        }
    }

    /// Share of the layers in what is left of a column.
    pub fn weights(self) -> ColumnWeights {
        match self {
            BalanceMode::Column(weights) => weights,
            BalanceMode::PerLayer | BalanceMode::None => ColumnWeights::Mass,
        }
    }
}

/// What is written, besides what the archive decides.
#[derive(Clone, Debug, PartialEq)]
pub struct DaySettings {
    /// Storage precision.
    pub float: FloatType,
    /// Windows of a day.
    pub windows: usize,
    /// How horizontal fluxes are made to fit the mass changes.
    pub balance: BalanceMode,
    /// Substeps.
    pub steps: StepRule,
    /// Largest share of a cell's air that a substep may move out.
    pub positivity_limit: f64,
    /// What happens when that is exceeded.
    pub on_positivity: GateAction,
    /// The global mass of dry air.
    pub pin: Pin,
    /// Sections of physics that are written; the archive must have them.
    pub physics: Vec<Section>,
    /// Header keys that describe the program and the configuration.
    pub provenance: Map<String, Value>,
}

impl DaySettings {
    /// Length of a window in s.
    pub fn window_seconds(&self) -> f64 {
        86_400.0 / self.windows as f64
    }
}

/// How far a day has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DayProgress {
    /// Day in work.
    pub day: Date,
    /// Windows written.
    pub written: usize,
    /// Windows of the day.
    pub windows: usize,
    /// Substeps of the window just written.
    pub steps: u32,
}

/// What was written, and how well it fits.
#[derive(Clone, Debug)]
pub struct DayReport {
    /// Substeps of each window.
    pub steps: Vec<u32>,
    /// Worst replay of all windows.
    pub replay: Option<ReplayReport>,
    /// Largest outflow of all windows.
    pub positivity: Option<PositivityReport>,
    /// Largest change of a column's (with `PerLayer`, a layer's) face flux by the balance, kg over a window.
    pub correction: f64,
    /// Mean dry surface pressure of the archive at the start of the day, before it was set, Pa.
    pub archive_pressure_pa: f64,
    /// Where the time went.
    pub stages: Stages,
    /// Length of the file in bytes.
    pub bytes: u64,
}
