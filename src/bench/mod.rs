//! Measuring the operators: cell·tracer·steps per second and single kernels, beside the memory bandwidth of the same
//! process.

mod advection;
mod bandwidth;
mod case;
mod kernels;

use decomposition::LayoutError;

use crate::device::DeviceError;

pub use self::kernels::{KernelBench, KernelReport, KernelTiming};
pub use advection::{AdvectionBench, AdvectionReport};
pub use bandwidth::{copy_bytes_per_second, triad_bytes_per_second};
pub use case::BenchSize;

/// Why a measurement is not possible.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// This number of ranks.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The device.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
