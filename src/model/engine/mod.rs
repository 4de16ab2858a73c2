//! The state of a rank where it lives, and what acts on it in a run.

mod device;
mod host;
mod open;

use kernels::Scalar;

use super::error::RunError;
use crate::comm::Communicator;
use crate::config::AirMassReset;
use crate::diagnostics::SumError;
use crate::met::{Section, WindowBuffer, WindowStream};
use crate::operators::advection::CellBudget;
use crate::operators::{Decaying, TracersAtReset, WindowEnd};
use crate::output::{FrameContent, FrameNeeds};
use crate::state::{CellPlace, PackedState, Slabs};

use self::device::DeviceEngine;
use self::host::HostEngine;
pub(super) use self::open::{OpenDevice, engine, open_device};

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

    /// One substep, each leg in `passes` parts. May return before it is done.
    fn substep(&mut self, window: &WindowBuffer<R>, passes: usize) -> Result<(), RunError>;

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

    /// Exact totals over the globe: air, then tracers (kg); the first plane without a finite total.
    fn totals(&mut self, comm: &dyn Communicator) -> Result<Result<Vec<f64>, (usize, SumError)>, RunError>;

    /// What a snapshot is made of, on the host, as it is now. Waits for everything under way.
    fn content(&mut self, needs: FrameNeeds) -> Result<FrameContent<'_, R>, RunError>;

    /// The state on the host as it was last there: names, shapes and sizes.
    fn shape(&self) -> &PackedState<R>;

    /// The device that holds the state, in words; `None` for the processor.
    fn place(&self) -> Option<String> {
        None
    }
}

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
