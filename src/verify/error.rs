//! Why a verification could not be done.

use decomposition::LayoutError;

use crate::diagnostics::SumError;
use crate::grid::GridError;
use crate::met::synth::SynthError;
use crate::output::OutputError;

/// Why a verification could not be done.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// A scheme that moves nothing.
    #[error("scheme \"none\" moves nothing: choose a scheme of [advection] that does")]
    NoAdvection,
    /// No cells, or too many.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// This number of ranks.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// An analytic flow that cannot be made.
    #[error(transparent)]
    Synth(#[from] SynthError),
    /// The number of steps is not usable.
    #[error("{steps} steps for a period: give --steps-per-nc a value that makes at least two")]
    Steps {
        /// Steps found.
        steps: f64,
    },
    /// A suite of convergence on one resolution.
    #[error("the order of convergence needs at least two resolutions: give --nc a list, e.g. --nc 24,48")]
    OneResolution,
    /// A tracer that has become unusable.
    #[error("{tracer}: {source}; fewer cells leave their air in longer steps: raise --steps-per-nc")]
    NotFinite {
        /// Name of the tracer, or `air`.
        tracer: String,
        /// What the sum found.
        source: SumError,
    },
    /// Stored norms that cannot be read.
    #[error("{path}: {problem}")]
    Reference {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A picture that cannot be written.
    #[error(transparent)]
    Picture(#[from] OutputError),
}
