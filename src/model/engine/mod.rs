//! The state of a rank where it lives, and what acts on it in a run.

mod books;
mod device;
mod host;
mod open;

use std::time::Duration;

use kernels::Scalar;

use super::error::RunError;
use crate::comm::Communicator;
use crate::config::AirMassReset;
use crate::diagnostics::{ColumnTransfers, SumError};
use crate::met::{Section, WindowBuffer, WindowStream};
use crate::operators::advection::CellBudget;
use crate::operators::columns::CentreStep;
use crate::operators::{Decaying, TracersAtReset, WindowEnd};
use crate::output::{FrameContent, FrameNeeds};
use crate::state::{CellPlace, PackedState, Slabs};

pub(super) use self::books::{Books, OperatorBook};
use self::device::DeviceEngine;
use self::host::HostEngine;
pub(super) use self::open::{OpenDevice, engine, open_device};

/// What vertical physics keeps for each column from one window to the next, kg of carrier air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// Rounding that the diffusion of a tracer still owes.
    Diffusion(usize),
    /// Rounding that the convection of a tracer still owes.
    Convection(usize),
    /// What the lowest layer holds too much of a source.
    Source(usize),
}

/// State and operators of one rank. Calls that name `comm` are collective; `window` is always the current one.
pub(super) trait Engine<R: Scalar> {
    /// Prepares for the substeps of a window.
    fn begin_window(&mut self, window: &WindowBuffer<R>) -> Result<(), RunError>;

    /// Called once all substeps of a window are under way: the next window may be sent ahead.
    fn look_ahead(&mut self, stream: &mut WindowStream<R>) -> Result<(), RunError>;

    /// Whether anything is advected.
    fn advects(&self) -> bool;

    /// Largest outflow budget of a substep on the globe.
    fn largest_budget(&mut self, window: &WindowBuffer<R>, comm: &dyn Communicator) -> Result<CellBudget, RunError>;

    /// One substep, each leg in `passes` parts (none where nothing is advected), with the diffusion and the emissions of
    /// the run. May return before it is done.
    fn substep(&mut self, window: &WindowBuffer<R>, passes: usize, step: CentreStep) -> Result<(), RunError>;

    /// Largest Courant number of explicit convection on the globe for a step of `dt` s; 0 without. Infinite or no number
    /// where the flux is.
    fn cloud_courant(&mut self, window: &WindowBuffer<R>, dt: f64, comm: &dyn Communicator) -> Result<f64, RunError>;

    /// Convects for `dt` s, explicit schemes in `substeps` parts. May return before it is done.
    fn convect(&mut self, window: &WindowBuffer<R>, dt: f64, substeps: usize) -> Result<(), RunError>;

    /// What the ledgers of this rank did since the last call. Waits for everything under way.
    fn take_books(&mut self, into: &mut Books) -> Result<(), RunError>;

    /// Adds what horizontal transport has moved since the last call; the engine was made with books. Waits for everything
    /// under way.
    fn take_transfers(&mut self, into: &mut ColumnTransfers<R>) -> Result<(), RunError>;

    /// Lets tracers decay for `dt` seconds.
    fn decay(&mut self, decaying: &[Decaying], dt: f64) -> Result<(), RunError>;

    /// Replaces the air mass by that of the window.
    fn reset_air(&mut self, window: &WindowBuffer<R>, end: WindowEnd, tracers: TracersAtReset) -> Result<(), RunError>;

    /// Waits for everything under way; faces of this rank clamped since the last call.
    fn take_clamped(&mut self) -> Result<u64, RunError>;

    /// First unusable value of this rank, and where.
    fn first_unusable(&mut self) -> Result<Option<(CellPlace, f64)>, RunError>;

    /// Largest difference between the carried air mass and that at the start of the window, relative to the largest cell.
    fn air_jump(&mut self, window: &WindowBuffer<R>, comm: &dyn Communicator) -> Result<f64, RunError>;

    /// Exact totals over the globe: air, then tracers (kg), into a vector whose former content is dropped; the first plane
    /// without a finite total.
    fn totals(&mut self, comm: &dyn Communicator, into: &mut Vec<f64>) -> Result<Totalled, RunError>;

    /// What a snapshot is made of, on the host, as it is now. Waits for everything under way.
    fn content(&mut self, needs: FrameNeeds) -> Result<FrameContent<'_, R>, RunError>;

    /// The state on the host, as it is now. Waits for everything under way.
    fn state(&mut self) -> Result<&PackedState<R>, RunError>;

    /// Reads what physics keeps into the only plane of a storage of one level. The operator is part of the run.
    fn read_kept(&mut self, kept: Kept, into: &mut Slabs<R>) -> Result<(), RunError>;

    /// Replaces what physics keeps.
    fn write_kept(&mut self, kept: Kept, from: &Slabs<R>) -> Result<(), RunError>;

    /// The state on the host as it was last there: names, shapes and sizes.
    fn shape(&self) -> &PackedState<R>;

    /// Time that this rank spent waiting for halos of other ranks since the last call; zero where waiting cannot be told from
    /// work, as on devices.
    fn take_waited(&mut self) -> Duration {
        Duration::ZERO
    }

    /// What a user should know about how the run is done here.
    fn notice(&self) -> Option<String> {
        None
    }

    /// The device that holds the state, in words; `None` for the processor.
    fn place(&self) -> Option<String> {
        None
    }
}

/// Whether all totals could be formed; else the first plane whose total could not.
pub(super) type Totalled = Result<(), (usize, SumError)>;

/// Reset of the tracers for a mode; `None` if nothing is reset.
pub(super) fn tracers_at_reset(mode: AirMassReset) -> Option<TracersAtReset> {
    match mode {
        AirMassReset::None => None,
        AirMassReset::PreserveTracerMass => Some(TracersAtReset::KeepMass),
        AirMassReset::PreserveVmr => Some(TracersAtReset::KeepRatio),
    }
}

/// A section of a window.
fn field<R: Scalar>(window: &WindowBuffer<R>, section: Section) -> &Slabs<R> {
    window.get(section).expect("the buffer was made with every section the run uses")
}

/// Factor on the face amounts of a window.
fn flux_scale<R: Scalar>(window: &WindowBuffer<R>) -> f64 {
    window.loaded().map_or(1.0, |loaded| loaded.flux_scale)
}

/// The largest Courant number of all ranks; infinite where one of them is no number. Collective.
fn largest_courant(of_rank: f64, comm: &dyn Communicator) -> f64 {
    let mut largest = [if of_rank.is_nan() { f64::INFINITY } else { of_rank }];
    comm.max_f64(&mut largest);
    largest[0]
}
