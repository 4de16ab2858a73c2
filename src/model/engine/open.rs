//! Choice of an engine: the processor, or the device that the configuration names.

use kernels::device::Dialect;
use kernels::scheme::Scheme;
use kernels::Scalar;

use super::device::Advects;
use super::{DeviceEngine, Engine, HostEngine};
use crate::comm::Communicator;
use crate::config::RunConfig;
use crate::device::{Device, DeviceResult, open, self_test};
use crate::met::{FloatType, WindowBuffer};
use crate::model::error::{RunError, agree_on};
use crate::model::setup::Setup;
use crate::operators::Threads;
use crate::operators::advection::Advection;
use crate::operators::device::DeviceTransport;
use crate::state::PackedState;

/// A device that has passed its self-test.
pub(in crate::model) struct OpenDevice {
    device: Box<dyn Device>,
    dialect: Dialect,
}

/// Opens the device of this rank and tests its arithmetic; `None` for the processor. Collective.
pub(in crate::model) fn open_device(
    config: &RunConfig,
    comm: &dyn Communicator,
) -> Result<Option<OpenDevice>, RunError> {
    let Some(accelerator) = config.settings.accelerator else { return Ok(None) };
    let opened = match config.settings.float_type {
        FloatType::Float32 => open_tested::<f32>(accelerator, comm),
        FloatType::Float64 => open_tested::<f64>(accelerator, comm),
    };
    agree_on(comm, opened.map(Some).map_err(RunError::Device))
}
