//! Choice of an engine: the processor, or the device that the configuration names.

use kernels::Scalar;
use kernels::scheme::{Fusion, Scheme, Sign};

use super::device::Advects;
use super::host::Transport;
use super::{DeviceEngine, Engine, HostEngine};
use crate::comm::Communicator;
use crate::config::RunConfig;
use crate::device::{Accelerator, Device, DeviceResult, count, open, self_test};
use crate::met::{FloatType, WindowBuffer};
use crate::model::error::{RunError, agree_on};
use crate::model::setup::Setup;
use crate::operators::Threads;
use crate::operators::advection::{Advection, ColumnRows};
use crate::operators::columns::{CentrePhysics, ConvectionOperator, Emitter, cell_areas};
use crate::operators::device::{DeviceTransport, PhysicsPlan};
use crate::state::PackedState;

/// A device that has passed its self-test.
pub(in crate::model) type OpenDevice = Box<dyn Device>;

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

/// Ranks of a machine share its devices in turn.
fn open_tested<R: Scalar>(accelerator: Accelerator, comm: &dyn Communicator) -> DeviceResult<OpenDevice> {
    let index = comm.rank_here() % count(accelerator)?;
    let mut device = open::<R>(accelerator, index)?;
    self_test::<R>(&mut *device)?;
    // The self-test's memory and program go with this handle.
    drop(device);
    open::<R>(accelerator, index)
}

/// State and operators of this rank, on the device if there is one. Collective.
pub(in crate::model) fn engine<'a, R: Scalar>(
    config: &RunConfig,
    setup: &Setup,
    device: Option<OpenDevice>,
    state: PackedState<R>,
    window: &WindowBuffer<R>,
    emitters: Vec<Emitter<R>>,
    threads: &'a Threads,
    comm: &dyn Communicator,
) -> Result<Box<dyn Engine<R> + 'a>, RunError> {
    let (layout, choice) = (&setup.plan.layout, config.advection.choice());
    let signs: Vec<Sign> = config.tracers.iter().map(|tracer| tracer.sign).collect();
    let choice = choice.map(|choice| if acts_at_midpoint(config) { choice.with_fusion(Fusion::Never) } else { choice });
    let Some(device) = device else {
        let physics = &config.physics;
        let (set, tracers) = (state.tile_set(), state.tracers().len());
        let count = threads.count();
        let centre = CentrePhysics::new(physics.diffusion.as_ref(), emitters, set, state.levels(), tracers, count);
        let convection = physics.convection.map(|c| ConvectionOperator::new(c, &state, &setup.grid, count));
        let convection = convection.transpose().expect("checked against the levels of the files");
        let transport = match choice {
            Some(choice) => {
                let advection = Advection::new(choice, layout, &state, threads, comm);
                Transport::Advection(Box::new(advection.with_signs(&signs)))
            }
            None => Transport::Columns(ColumnRows::new(state.slabs(), count)),
        };
        let mut engine = HostEngine::new(state, transport, centre, convection, threads);
        if books_transfers(config) {
            engine.book_transfers();
        }
        return Ok(Box::new(engine));
    };
    let (choice, advects) = choice.map_or((Scheme::Upwind.into(), Advects::No), |choice| (choice, Advects::Yes));
    let widest = setup.tiles.shapes().iter().map(|shape| shape.ni).max().unwrap_or(0);
    let areas = cell_areas(&setup.tiles, &setup.grid);
    let (diffusion, convection) = (config.physics.diffusion.as_ref(), config.physics.convection.as_ref());
    let plan = PhysicsPlan { diffusion, emitters: &emitters, convection, areas: &areas };
    let launcher = plan.launcher(device, choice, widest, state.levels());
    let launcher = agree_on(comm, launcher.map_err(RunError::Device))?;
    let transport = DeviceTransport::new(launcher, layout, &state, window, config.settings.device_halo, comm);
    let transport = transport.and_then(|transport| {
        let mut transport = transport.with_signs(&signs)?.with_physics(&plan)?;
        if books_transfers(config) {
            transport.book_transfers()?;
        }
        Ok(transport)
    });
    let transport = agree_on(comm, transport.map_err(RunError::Device))?;
    let engine = DeviceEngine::new(transport, state, advects);
    Ok(Box::new(agree_on(comm, engine.map_err(RunError::Device))?))
}

/// Whether diffusion or emissions act between the vertical sweeps of a substep.
fn acts_at_midpoint(config: &RunConfig) -> bool {
    config.physics.diffusion.is_some() || config.tracers.iter().any(|tracer| !tracer.emissions.is_empty())
}

/// Whether column-integrated fluxes are written.
fn books_transfers(config: &RunConfig) -> bool {
    config.output.as_ref().is_some_and(|output| output.fields.has_column_fluxes())
}
