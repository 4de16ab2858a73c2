//! Vertical diffusion.

use kernels::Scalar;
use kernels::device::KernelName;

use super::{Books, DeviceColumns, DeviceState};
use crate::device::{Argument, DeviceResult, Memory};
use crate::operators::columns::KzUpdate;
use crate::operators::device::launcher::real;
use crate::operators::device::tables::int;

/// Tracers that the tridiagonal solve takes at once: each has a field of intermediate values.
const AT_ONCE: usize = 8;

/// Exchange through the lower interface of each layer, a field in memory.
#[derive(Clone, Copy, Debug)]
pub enum DeviceExchange {
    /// Rate at which the air of both layers is exchanged, 1/s.
    Rate(Memory),
    /// Air, kg/s.
    Air(Memory),
}

/// What the solves need beside the ledger.
pub(super) enum DiffusionRoom {
    MassSpace { down: Memory, up: Memory, cells: Memory },
    Tridiagonal { update: KzUpdate, rows: [Memory; 4], cells: Memory, scratch: Memory, at_once: usize },
}

impl DiffusionRoom {
    pub(super) fn new<R: Scalar>(update: KzUpdate, on: &mut DeviceState) -> DeviceResult<Self> {
        let levels = on.shape.levels;
        let cells = on.memory::<R>(1)?;
        if update == KzUpdate::MassSpace {
            return Ok(Self::MassSpace { down: on.memory::<R>(levels)?, up: on.memory::<R>(levels)?, cells });
        }
        let at_once = on.tracers().clamp(1, AT_ONCE);
        let mut field = || on.memory::<R>(levels);
        let rows = [field()?, field()?, field()?, field()?];
        Ok(Self::Tridiagonal { update, rows, cells, scratch: on.memory::<R>(levels * at_once)?, at_once })
    }
}

impl<R: Scalar> DeviceColumns<R> {
    /// Diffuses all tracers for `dt` seconds.
    ///
    /// # Errors
    /// The device refuses it.
    ///
    /// # Panics
    /// Without diffusion.
    pub fn diffuse(&self, on: &mut DeviceState, dt: f64, exchange: DeviceExchange) -> DeviceResult<()> {
        let (room, books) = self.diffusion.as_ref().expect("made for diffusion");
        let (field, per_rate) = match exchange {
            DeviceExchange::Rate(field) => (field, 1),
            DeviceExchange::Air(field) => (field, 0),
        };
        let given =
            Given { field: Argument::Memory(field), per_rate: Argument::Int(per_rate), dt: real(R::from_f64(dt)) };
        match room {
            DiffusionRoom::MassSpace { down, up, cells } => mass_space(on, given, [*down, *up, *cells], books),
            DiffusionRoom::Tridiagonal { update, rows, cells, scratch, at_once } => {
                let rows = rows.map(Argument::Memory);
                let last = [*cells, *scratch].map(Argument::Memory);
                tridiagonal(on, given, rows, last, (*update, *at_once), books)
            }
        }
    }
}

/// Exchange of a step, as arguments.
struct Given {
    field: Argument,
    per_rate: Argument,
    dt: Argument,
}

fn mass_space(on: &mut DeviceState, given: Given, room: [Memory; 3], books: &Books) -> DeviceResult<()> {
    let state = Argument::Memory(on.state);
    let [down, up, cells] = room.map(Argument::Memory);
    let [carry, returned, refused] = [books.carry, books.returned, books.refused].map(Argument::Memory);
    let (tiles, rows, levels) = (on.tiles(), on.rows(), on.levels());
    let (stride, field_stride) = (on.stride(), on.field_stride());
    let Given { field, per_rate, dt } = given;
    if on.tracers() == 1 {
        let arguments =
            [state, field, down, up, carry, returned, refused, tiles, rows, per_rate, dt, levels, stride, field_stride];
        return on.each_column(KernelName::DiffuseSingle, &arguments);
    }
    let arguments = [state, field, down, up, cells, tiles, rows, per_rate, dt, levels, stride, field_stride];
    on.each_column(KernelName::DiffusionFactors, &arguments)?;
    let arguments = [state, down, up, cells, carry, returned, refused, tiles, rows, levels, stride, field_stride];
    on.each_tracer(KernelName::Diffuse, on.tracers(), &arguments)
}

fn tridiagonal(
    on: &mut DeviceState,
    given: Given,
    [steps, lowers, pivots, uppers]: [Argument; 4],
    [cells, scratch]: [Argument; 2],
    (update, at_once): (KzUpdate, usize),
    books: &Books,
) -> DeviceResult<()> {
    let state = Argument::Memory(on.state);
    let [carry, returned, refused] = [books.carry, books.returned, books.refused].map(Argument::Memory);
    let (tiles, rows, levels) = (on.tiles(), on.rows(), on.levels());
    let (stride, field_stride) = (on.stride(), on.field_stride());
    let Given { field, per_rate, dt } = given;
    let arguments =
        [state, field, steps, lowers, pivots, uppers, cells, tiles, rows, per_rate, dt, levels, stride, field_stride];
    on.each_column(KernelName::FluxFormFactors, &arguments)?;
    for first in (0..on.tracers()).step_by(at_once) {
        let (count, first) = (at_once.min(on.tracers() - first), Argument::Int(int(first)));
        if update == KzUpdate::Matrix {
            let arguments = [state, lowers, pivots, uppers, scratch, tiles, rows, first, levels, stride, field_stride];
            on.each_tracer(KernelName::DiffuseMatrixForm, count, &arguments)?;
        } else {
            let arguments = [
                state,
                steps,
                lowers,
                pivots,
                uppers,
                cells,
                scratch,
                carry,
                returned,
                refused,
                tiles,
                rows,
                first,
                levels,
                stride,
                field_stride,
            ];
            on.each_tracer(KernelName::DiffuseFluxForm, count, &arguments)?;
        }
    }
    Ok(())
}
