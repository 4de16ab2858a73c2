//! Measuring the operators: cell·tracer·steps per second, single kernels and vertical physics, beside the memory
//! bandwidth of the same process.

mod advection;
mod bandwidth;
mod case;
mod kernels;
mod physics;

use ::kernels::columns::convection::ConvectionError;
use decomposition::LayoutError;

use crate::device::DeviceError;
use crate::met::MetError;
use crate::met::synth::SynthError;

pub use self::kernels::{KernelBench, KernelReport, KernelTiming};
pub use advection::{AdvectionBench, AdvectionReport};
pub use bandwidth::{copy_bytes_per_second, triad_bytes_per_second};
pub use case::BenchSize;
pub use physics::{DerivationTiming, InSubstep, LedgerTiming, OperatorTiming, PhysicsBench, PhysicsReport};

/// Why a measurement is not possible.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// This number of ranks.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// No folder for the file of winds.
    #[error("no temporary folder for the winds: {0}")]
    Folder(#[from] std::io::Error),
    /// Winds that cannot be made.
    #[error(transparent)]
    Synth(#[from] SynthError),
    /// Winds that cannot be read.
    #[error(transparent)]
    Met(#[from] MetError),
    /// A column of the winds that a closure refuses.
    #[error("{cell}: {problem}")]
    Underivable {
        /// Panel, i and j, from 1.
        cell: String,
        /// What is wrong with the column.
        problem: String,
    },
    /// Convection that does not suit the winds or their layers.
    #[error(transparent)]
    Convection(#[from] ConvectionError),
}
