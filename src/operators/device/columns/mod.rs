//! Vertical physics of a state that lives on a device: diffusion, emissions, convection.
//!
//! [`DeviceColumns`] owns the memory that the operators keep between calls; a [`DeviceState`] lends it the state. Fields have one
//! plane per level, as those of a window. The results have the bits of [`kernels::columns`].

mod choice;
mod convection;
mod deposit;
mod diffusion;

use std::marker::PhantomData;

use kernels::Scalar;
use kernels::device::KernelName;

use self::convection::ConvectionRoom;
use self::deposit::SourceRoom;
use self::diffusion::DiffusionRoom;
use super::launcher::Launcher;
use super::tables::int;
use super::{Shape, Tables};
use crate::device::{Argument, DeviceResult, Memory};
use crate::sources::Source;
use crate::state::Slabs;

pub use self::choice::{ColumnNeeds, Tm5Form};
pub use self::convection::CloudForcing;
pub use self::diffusion::DeviceExchange;

/// The state of a rank on a device, and what kernels of columns look up.
pub struct DeviceState<'a> {
    pub(super) launcher: &'a mut Launcher,
    pub(super) shape: &'a Shape,
    pub(super) tables: &'a Tables,
    pub(super) state: Memory,
}

impl DeviceState<'_> {
    /// New memory with the values of a field.
    ///
    /// # Errors
    /// The device has no room.
    pub fn field<R: Scalar>(&mut self, field: &Slabs<R>) -> DeviceResult<Memory> {
        let memory = self.launcher.memory::<R>(field.data().len())?;
        self.write(memory, field.data())?;
        Ok(memory)
    }

    /// Replaces the values of a memory from its start. Waits.
    ///
    /// # Errors
    /// The device refuses it.
    pub fn write<R: Scalar>(&mut self, memory: Memory, values: &[R]) -> DeviceResult<()> {
        self.launcher.device.write((memory, 0), bytemuck::cast_slice(values))
    }

    /// Values of a memory from its start. Waits.
    ///
    /// # Errors
    /// The device refuses it, or has failed since.
    pub fn read<R: Scalar>(&mut self, memory: Memory, values: &mut [R]) -> DeviceResult<()> {
        self.launcher.device.read((memory, 0), bytemuck::cast_slice_mut(values))
    }

    /// Reads a counter and sets it to 0. Waits.
    fn take(&mut self, counter: Memory) -> DeviceResult<u64> {
        let mut count = [0_i32];
        self.launcher.device.read((counter, 0), bytemuck::cast_slice_mut(&mut count))?;
        self.launcher.device.write((counter, 0), bytemuck::cast_slice(&[0_i32]))?;
        // The counter goes on above 2³¹, where an `int` is negative.
        Ok(u64::from(count[0].cast_unsigned()))
    }

    /// Values of a field of `levels` levels.
    fn memory<R>(&mut self, levels: usize) -> DeviceResult<Memory> {
        self.launcher.memory::<R>(levels * self.shape.field_stride)
    }

    /// Launches a kernel on every column.
    fn each_column(&mut self, kernel: KernelName, arguments: &[Argument]) -> DeviceResult<()> {
        self.launcher.cover(kernel, self.shape.widest, [self.shape.rows, 1], arguments)
    }

    /// Launches a kernel on every column of `tracers` tracers.
    fn each_tracer(&mut self, kernel: KernelName, tracers: usize, arguments: &[Argument]) -> DeviceResult<()> {
        self.launcher.cover(kernel, self.shape.widest, [tracers, self.shape.rows], arguments)
    }

    fn tiles(&self) -> Argument {
        Argument::Memory(self.tables.tiles)
    }

    fn rows(&self) -> Argument {
        Argument::Memory(self.tables.rows)
    }

    fn levels(&self) -> Argument {
        Argument::Int(int(self.shape.levels))
    }

    fn stride(&self) -> Argument {
        Argument::Int(int(self.shape.stride))
    }

    fn field_stride(&self) -> Argument {
        Argument::Int(int(self.shape.field_stride))
    }

    fn tracers(&self) -> usize {
        self.shape.planes - 1
    }
}

/// Ledger of an operator: one value per column and tracer, as one level of the state.
struct Books {
    carry: Memory,
    returned: Memory,
    refused: Memory,
}

impl Books {
    fn new<R>(on: &mut DeviceState) -> DeviceResult<Self> {
        let values = on.shape.stride;
        Ok(Self {
            carry: on.launcher.memory::<R>(values)?,
            returned: on.launcher.memory::<R>(values)?,
            refused: on.launcher.memory::<i32>(1)?,
        })
    }
}

/// Operators with a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerOf {
    /// Vertical diffusion.
    Diffusion,
    /// Convection.
    Convection,
}

/// What the operators keep per column, for restarts and budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Residual carried to the next solve, kg, as one level of the state.
    Carry(LedgerOf),
    /// Residuals returned to the columns so far, kg, alike.
    Returned(LedgerOf),
    /// What the surface layer holds too much of a source, kg, as one level of a field.
    Compensation(usize),
}

/// Memory of vertical physics on a device, zero at first.
pub struct DeviceColumns<R: Scalar> {
    areas: Memory,
    diffusion: Option<(DiffusionRoom, Books)>,
    convection: Option<(ConvectionRoom<R>, Books)>,
    sources: Vec<SourceRoom>,
    unlofted: Memory,
    precision: PhantomData<R>,
}

impl<R: Scalar> DeviceColumns<R> {
    /// Makes room for what a run needs and uploads the areas of the cells (m², one level of a field) and the rates of its
    /// sources. The kernels are those of [`ColumnNeeds::kernels`].
    ///
    /// # Errors
    /// The device has no room, or does not suit.
    pub fn new<'a>(
        on: &mut DeviceState,
        needs: &ColumnNeeds,
        areas: &Slabs<R>,
        sources: impl IntoIterator<Item = &'a Source<R>>,
    ) -> DeviceResult<Self> {
        let diffusion = match needs.diffusion {
            Some(update) => Some((DiffusionRoom::new::<R>(update, on)?, Books::new::<R>(on)?)),
            None => None,
        };
        let convection = match &needs.convection {
            Some(choice) => Some((ConvectionRoom::new(choice, on)?, Books::new::<R>(on)?)),
            None => None,
        };
        Ok(Self {
            areas: on.field(areas)?,
            diffusion,
            convection,
            sources: sources.into_iter().map(|source| SourceRoom::new(source, on)).collect::<DeviceResult<_>>()?,
            unlofted: on.launcher.memory::<i32>(1)?,
            precision: PhantomData,
        })
    }

    /// Brings something kept to the host. Waits.
    ///
    /// # Errors
    /// The device refuses it, or has failed since.
    ///
    /// # Panics
    /// Without that operator or source.
    pub fn read(&self, on: &mut DeviceState, kept: Kept, values: &mut [R]) -> DeviceResult<()> {
        on.read(self.kept(kept), values)
    }

    /// Replaces something kept, after a restart. Waits.
    ///
    /// # Errors
    /// The device refuses it.
    ///
    /// # Panics
    /// Without that operator or source.
    pub fn write(&self, on: &mut DeviceState, kept: Kept, values: &[R]) -> DeviceResult<()> {
        on.write(self.kept(kept), values)
    }

    /// Columns whose residual was refused since the last call. Waits.
    ///
    /// # Errors
    /// The device refuses it, or has failed since.
    ///
    /// # Panics
    /// Without that operator.
    pub fn take_refused(&self, on: &mut DeviceState, ledger: LedgerOf) -> DeviceResult<u64> {
        on.take(self.books(ledger).refused)
    }

    /// Columns whose emissions were not lofted since the last call, because a layer would have become negative. Waits.
    ///
    /// # Errors
    /// The device refuses it, or has failed since.
    pub fn take_unlofted(&self, on: &mut DeviceState) -> DeviceResult<u64> {
        on.take(self.unlofted)
    }

    fn books(&self, ledger: LedgerOf) -> &Books {
        let books = match ledger {
            LedgerOf::Diffusion => self.diffusion.as_ref().map(|(_, books)| books),
            LedgerOf::Convection => self.convection.as_ref().map(|(_, books)| books),
        };
        books.unwrap_or_else(|| panic!("there is no {ledger:?} here"))
    }

    fn kept(&self, kept: Kept) -> Memory {
        match kept {
            Kept::Carry(ledger) => self.books(ledger).carry,
            Kept::Returned(ledger) => self.books(ledger).returned,
            Kept::Compensation(source) => self.sources[source].compensation,
        }
    }
}
