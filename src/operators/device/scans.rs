//! What the host learns of a state that lives on a device: budgets, clamped faces, unusable cells, exact sums, columns.

use kernels::Scalar;
use kernels::device::KernelName;

use super::DeviceTransport;
use super::launcher::real;
use super::tables::int;
use crate::comm::Communicator;
use crate::device::{Argument, DeviceResult, Memory};
use crate::met::Section;
use crate::operators::advection::CellBudget;
use crate::operators::advection::budget::{larger, largest_of_ranks};
use crate::state::{CellPlace, Slabs};

/// As in the kernel: no unusable value in the row.
const NO_CELL: i32 = i32::MAX;
/// As in the kernel: planes count in units of this.
const CELLS_OF_A_ROW: i32 = 65_536;

/// Limbs of an exact sum as the kernel writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceLimbs<'a> {
    /// Weight of the first limb: 2^(32·this − 1074).
    pub first: usize,
    /// Limbs of 32 bits with a sign, lowest first.
    pub limbs: &'a [i64],
    /// How many values were NaN, +∞ and −∞.
    pub special: [i64; 3],
    /// How many values were added.
    pub values: usize,
}

/// What happens to values whose columns have been summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Afterwards {
    Kept,
    Emptied,
}

impl<R: Scalar> DeviceTransport<R> {
    /// Largest outflow budget over all cells of all ranks in the current window, as
    /// [`largest_budget`](crate::operators::advection::largest_budget) finds it. Collective.
    ///
    /// # Errors
    /// The device refuses something; the other ranks must learn of it elsewhere.
    pub fn largest_budget(&mut self, scale: f64, comm: &dyn Communicator) -> DeviceResult<CellBudget> {
        let window = self.windows.current();
        let memory = Argument::Memory;
        let arguments = [
            memory(self.state),
            memory(window.get(Section::FluxX)),
            memory(window.get(Section::FluxY)),
            memory(window.get(Section::FluxZ)),
            memory(self.tables.tiles),
            memory(self.tables.rows),
            memory(self.scans.ratios),
            memory(self.scans.cells),
            Argument::Int(int(self.shape.rows)),
            real(R::from_f64(scale)),
            Argument::Int(int(self.shape.stride)),
            Argument::Int(int(self.shape.field_stride)),
        ];
        let (rows, levels) = (self.shape.rows, self.shape.levels);
        self.launcher.launch(KernelName::LargestOutflow, [rows, levels, 1], &arguments)?;
        self.launcher.device.read((self.scans.ratios, 0), bytemuck::cast_slice_mut(&mut self.scans.host_ratios))?;
        self.launcher.device.read((self.scans.cells, 0), bytemuck::cast_slice_mut(&mut self.scans.host_cells))?;
        let largest_finite = if size_of::<R>() == 4 { f64::from(f32::MAX) } else { f64::MAX };
        let mut worst = CellBudget::NONE;
        for level in 0..levels {
            for (row, &(tile, j)) in self.rows.iter().enumerate() {
                let n = level * rows + row;
                let ratio = self.scans.host_ratios[n].to_f64();
                let ratio = if ratio == largest_finite { f64::INFINITY } else { ratio };
                let t = &self.set.tiles()[tile];
                let (i, j) = (t.i0 + self.scans.host_cells[n] as usize + 1, t.j0 + j + 1);
                worst = larger(worst, CellBudget { ratio, cell: [level + 1, t.panel.number(), i, j] });
            }
        }
        Ok(largest_of_ranks(worst, comm))
    }

    /// Faces clamped since the last call: the tracer-carrying flux was limited to what the donor holds.
    ///
    /// # Errors
    /// The device refuses something, or has failed since.
    pub fn take_clamped(&mut self) -> DeviceResult<u64> {
        let mut count = [0_i32];
        self.launcher.device.read((self.clamped, 0), bytemuck::cast_slice_mut(&mut count))?;
        self.launcher.device.write((self.clamped, 0), bytemuck::cast_slice(&[0_i32]))?;
        // The counter goes on above 2³¹, where an `int` is negative.
        Ok(u64::from(count[0].cast_unsigned()))
    }

    /// The first cell of this rank, in the order level, tile, plane, j, i, whose air mass is not positive or that holds a
    /// value that is not finite, and that value.
    ///
    /// # Errors
    /// The device refuses something, or has failed since.
    pub fn first_unusable(&mut self) -> DeviceResult<Option<(CellPlace, f64)>> {
        let (rows, levels) = (self.shape.rows, self.shape.levels);
        let arguments = [
            Argument::Memory(self.state),
            Argument::Memory(self.tables.tiles),
            Argument::Memory(self.tables.rows),
            Argument::Memory(self.scans.cells),
            Argument::Int(int(rows)),
            Argument::Int(int(self.shape.planes)),
            Argument::Int(int(self.shape.stride)),
        ];
        self.launcher.launch(KernelName::FirstUnusable, [rows, levels, 1], &arguments)?;
        self.launcher.device.read((self.scans.cells, 0), bytemuck::cast_slice_mut(&mut self.scans.host_cells))?;
        let found = self.scans.host_cells.iter().enumerate().filter(|(_, key)| **key != NO_CELL);
        let place = found.map(|(n, key)| {
            let (tile, j) = self.rows[n % rows];
            let (plane, i) = ((key / CELLS_OF_A_ROW) as usize, (key % CELLS_OF_A_ROW) as usize);
            CellPlace { level: n / rows, tile, plane, j, i }
        });
        let Some(place) = place.min() else { return Ok(None) };
        let shape = &self.set.shapes()[place.tile];
        let at = place.level * self.shape.stride
            + self.tile_offsets[place.tile]
            + place.plane * shape.plane_len()
            + shape.row_start(place.j)
            + place.i;
        let mut value = [R::default()];
        self.launcher.device.read((self.state, at * size_of::<R>()), bytemuck::cast_slice_mut(&mut value))?;
        Ok(Some((place, value[0].to_f64())))
    }

    /// Exact sums over the rank's cells: calls `add` with limbs of every plane, several times each.
    ///
    /// # Errors
    /// The device refuses something, or has failed since.
    pub fn sums(&mut self, mut add: impl FnMut(usize, DeviceLimbs<'_>)) -> DeviceResult<()> {
        let (rows, planes) = (self.shape.rows, self.shape.planes);
        let arguments = [
            Argument::Memory(self.state),
            Argument::Memory(self.tables.tiles),
            Argument::Memory(self.tables.rows),
            Argument::Memory(self.scans.sums),
            Argument::Int(int(rows)),
            Argument::Int(int(self.shape.levels)),
            Argument::Int(int(self.shape.stride)),
        ];
        self.launcher.launch(KernelName::ExactSums, [rows, planes, 1], &arguments)?;
        self.launcher.device.read((self.scans.sums, 0), bytemuck::cast_slice_mut(&mut self.scans.host_sums))?;
        let limbs = sum_limbs::<R>();
        for (n, part) in self.scans.host_sums.chunks_exact(limbs).enumerate() {
            let (plane, row) = (n / rows, n % rows);
            let (value, special) = part.split_at(limbs - 3);
            let values = self.set.shapes()[self.rows[row].0].ni * self.shape.levels;
            let special = special.try_into().expect("three counts");
            add(plane, DeviceLimbs { first: first_limb::<R>(), limbs: value, special, values });
        }
        Ok(())
    }

    /// Sums of the columns of every plane as pairs, from the top down, in the layout of the state: the sums at level 0 of
    /// `columns`, what rounding dropped at level 1; halos are zero.
    ///
    /// # Errors
    /// The device refuses something, or has failed since.
    pub fn columns(&mut self, columns: &mut Slabs<R>) -> DeviceResult<()> {
        self.columns_of(self.state, Afterwards::Kept, columns)
    }

    /// Sums of the columns of anything that lies like the state.
    pub(super) fn columns_of(
        &mut self,
        memory: Memory,
        afterwards: Afterwards,
        columns: &mut Slabs<R>,
    ) -> DeviceResult<()> {
        let arguments = [
            Argument::Memory(memory),
            Argument::Memory(self.scans.columns),
            Argument::Memory(self.tables.tiles),
            Argument::Memory(self.tables.rows),
            Argument::Int(int(self.shape.levels)),
            Argument::Int(int(self.shape.stride)),
            Argument::Int(i32::from(afterwards == Afterwards::Emptied)),
        ];
        let groups = [self.shape.rows, self.shape.planes];
        self.launcher.cover(KernelName::ColumnSums, self.shape.widest, groups, &arguments)?;
        self.launcher.device.read((self.scans.columns, 0), bytemuck::cast_slice_mut(columns.data_mut()))
    }

    /// One plane of the state as a field on the host; its halos are not set.
    ///
    /// # Errors
    /// The device refuses something, or has failed since.
    pub fn plane(&mut self, plane: usize, field: &mut Slabs<R>) -> DeviceResult<()> {
        let arguments = [
            Argument::Memory(self.state),
            Argument::Memory(self.scans.field),
            Argument::Memory(self.tables.tiles),
            Argument::Memory(self.tables.rows),
            Argument::Int(int(plane)),
            Argument::Int(int(self.shape.stride)),
            Argument::Int(int(self.shape.field_stride)),
        ];
        let groups = [self.shape.rows, self.shape.levels];
        self.launcher.cover(KernelName::ExtractPlane, self.shape.widest, groups, &arguments)?;
        self.launcher.device.read((self.scans.field, 0), bytemuck::cast_slice_mut(field.data_mut()))
    }
}

/// Limbs of a sum as the kernel writes them, counts included.
pub(super) const fn sum_limbs<R>() -> usize {
    if size_of::<R>() == 4 { 14 } else { 71 }
}

/// Where the kernel's limbs begin among those of double precision.
const fn first_limb<R>() -> usize {
    if size_of::<R>() == 4 { 28 } else { 0 }
}
