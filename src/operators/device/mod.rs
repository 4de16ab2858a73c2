//! Transport of a state that lives on a device.
//!
//! The state is uploaded once, every operator of a substep runs on the device, and windows are sent ahead while kernels
//! run. The memory layout is that of [`Slabs`], so the host sees the same state by one copy. All sizes are fixed when
//! the transport is built: a substep allocates nothing and, without messages, waits for nothing.

mod columns;
mod direct;
mod halos;
mod launcher;
mod measuring;
mod physics;
mod scans;
mod sweeps;
mod tables;
mod transfers;
mod vertical;
mod windows;

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use decomposition::{Axis, Layout};
use kernels::Scalar;
use kernels::device::{Dialect, KernelName};

use self::halos::DeviceHalos;
use self::launcher::real;
use self::physics::DevicePhysics;
use self::sweeps::DeviceSeams;
use self::transfers::DeviceTransfers;
use self::vertical::DeviceVertical;
use self::windows::DeviceWindows;
use super::advection::PerAxis;
use super::advection::seams::TileSeams;
use super::advection::wave::level_blocks;
use super::{Decaying, TracersAtReset, WindowEnd};
use crate::comm::Communicator;
use crate::device::{Argument, DeviceInfo, DeviceResult, Memory};
use crate::met::{Section, WindowBuffer};
use crate::state::{AIR, PackedState, TileSet};

pub use self::columns::{
    CloudForcing, ColumnNeeds, DeviceColumns, DeviceExchange, DeviceState, Kept, LedgerOf, Tm5Form,
};
pub use self::direct::{HaloChoice, HaloPath};
pub use self::launcher::{Launcher, NotedLaunch};
pub use self::physics::PhysicsPlan;
pub use self::scans::DeviceLimbs;

/// Sizes that kernels are launched with.
struct Shape {
    levels: usize,
    planes: usize,
    stride: usize,
    field_stride: usize,
    rows: usize,
    blocks: usize,
    widest: usize,
    /// Levels that go through the horizontal sweeps together.
    levels_at_once: usize,
    /// Groups that share the planes of the same seam faces.
    seam_groups: usize,
}

/// Tables that all sweeps share.
struct Tables {
    tiles: Memory,
    rows: Memory,
    blocks: Memory,
}

/// Results of scans, on the device and on the host.
struct Scans<R> {
    ratios: Memory,
    cells: Memory,
    sums: Memory,
    field: Memory,
    columns: Memory,
    host_ratios: Vec<R>,
    host_cells: Vec<i32>,
    host_sums: Vec<i64>,
}

/// State and operators of one rank on a device.
pub struct DeviceTransport<R: Scalar> {
    launcher: Launcher,
    shape: Shape,
    tables: Tables,
    state: Memory,
    clamped: Memory,
    halos: PerAxis<DeviceHalos>,
    seams: PerAxis<DeviceSeams>,
    windows: DeviceWindows,
    scans: Scans<R>,
    sequence: Vec<Axis>,
    blocks: Vec<Range<usize>>,
    set: Arc<TileSet>,
    path: HaloPath,
    physics: Option<DevicePhysics<R>>,
    vertical: DeviceVertical,
    transfers: Option<DeviceTransfers>,
    tile_offsets: Vec<usize>,
    /// Tile and j of every row.
    rows: Vec<(usize, usize)>,
    precision: PhantomData<R>,
}

/// Bytes of a message worth its latency: launches and transfers cost some tens of microseconds.
const MESSAGE_BYTES: usize = 512 << 10;

/// Bytes of the state that processors take through all sweeps while they are in cache. Other devices have to be filled.
const CACHE_BYTES: usize = 4 << 20;

/// Cells along i of the widest tile.
pub fn widest_row(tiles: &TileSet) -> usize {
    tiles.shapes().iter().map(|s| s.ni).max().unwrap_or(0)
}

impl<R: Scalar> DeviceTransport<R> {
    /// Uploads `state` and makes room for windows like `window`. All ranks have a launcher when they call this.
    /// Collective over `comm`.
    ///
    /// # Errors
    /// The device does not suit or refuses something; the other ranks must learn of it elsewhere.
    pub fn new(
        mut launcher: Launcher,
        layout: &Layout,
        state: &PackedState<R>,
        window: &WindowBuffer<R>,
        halo: HaloChoice,
        comm: &dyn Communicator,
    ) -> DeviceResult<Self> {
        let slabs = state.slabs();
        let set = slabs.tile_set().clone();
        let field = window.get(Section::FluxX).expect("every run reads the winds");
        let widest = widest_row(&set);
        let blocks = level_blocks(layout, slabs, MESSAGE_BYTES, 1, comm);
        let launcher_mut = &mut launcher;
        let seams = |axis| TileSeams::<R>::of_rank(layout, axis, &set, comm.rank());
        let (seams_x, seams_y) = (seams(Axis::X), seams(Axis::Y));
        let rows = tables::rows(&set);
        let column_blocks = tables::column_blocks(&set, launcher_mut.shapes().items(KernelName::SweepY));
        let level_bytes = slabs.level_stride() * size_of::<R>();
        let (levels_at_once, seam_groups) = match launcher_mut.device.info().dialect {
            Dialect::OpenClProcessor => ((CACHE_BYTES / level_bytes.max(1)).max(1), 1),
            Dialect::Cuda | Dialect::OpenCl | Dialect::Metal => (slabs.levels().max(1), slabs.planes()),
        };
        let shape = Shape {
            levels: slabs.levels(),
            planes: slabs.planes(),
            stride: slabs.level_stride(),
            field_stride: field.level_stride(),
            rows: rows.len() / 2,
            blocks: column_blocks.len() / 2,
            widest,
            levels_at_once,
            seam_groups,
        };
        let tables = Tables {
            tiles: launcher_mut.table(&tables::tiles(slabs, field, &seams_x, &seams_y))?,
            rows: launcher_mut.table(&rows)?,
            blocks: launcher_mut.table(&column_blocks)?,
        };
        let mut device_seams = |seams: &[TileSeams<R>]| {
            let tables::SeamTables { faces, edges, books } =
                tables::seams(seams, launcher_mut.choice().scheme.halo(), slabs, field);
            let count = faces.len() / 5;
            DeviceResult::Ok(DeviceSeams {
                faces: (launcher_mut.table(&faces)?, count),
                edges: (launcher_mut.table(&edges)?, edges.len() / 10),
                books: launcher_mut.table(&books)?,
                amounts: launcher_mut.memory::<R>(shape.levels * shape.planes * count)?,
            })
        };
        let seams = PerAxis { x: device_seams(&seams_x)?, y: device_seams(&seams_y)? };
        let path = direct::settle(halo, &mut *launcher_mut.device, comm)?;
        let mut halos = |axis| DeviceHalos::new(layout, axis, slabs, &blocks, path, comm, launcher_mut);
        let halos = PerAxis { x: halos(Axis::X)?, y: halos(Axis::Y)? };
        let (scanned, summed) = (shape.rows * shape.levels, shape.rows * shape.planes * scans::sum_limbs::<R>());
        let scans = Scans {
            ratios: launcher_mut.memory::<R>(scanned)?,
            cells: launcher_mut.memory::<i32>(scanned)?,
            sums: launcher_mut.memory::<i64>(summed)?,
            field: launcher_mut.memory::<R>(shape.field_stride * shape.levels)?,
            columns: launcher_mut.memory::<R>(2 * shape.stride)?,
            host_ratios: vec![R::default(); scanned],
            host_cells: vec![0; scanned],
            host_sums: vec![0; summed],
        };
        let memory = launcher_mut.memory::<R>(slabs.data().len())?;
        launcher_mut.device.write((memory, 0), bytemuck::cast_slice(slabs.data()))?;
        Ok(Self {
            windows: DeviceWindows::new(window, launcher_mut)?,
            vertical: DeviceVertical::new::<R>(&shape, launcher_mut)?,
            clamped: launcher_mut.memory::<i32>(1)?,
            state: memory,
            sequence: Vec::with_capacity(2 * super::advection::MAX_PASSES),
            tile_offsets: (0..set.len()).map(|t| slabs.tile_offset(t)).collect(),
            rows: rows.chunks_exact(2).map(|row| (row[0] as usize, row[1] as usize)).collect(),
            launcher,
            shape,
            tables,
            halos,
            seams,
            scans,
            blocks,
            set,
            path,
            physics: None,
            transfers: None,
            precision: PhantomData,
        })
    }

    /// Facts about the device.
    pub fn info(&self) -> &DeviceInfo {
        self.launcher.device.info()
    }

    /// The state, for [`DeviceColumns`].
    pub fn device_state(&mut self) -> DeviceState<'_> {
        DeviceState { launcher: &mut self.launcher, shape: &self.shape, tables: &self.tables, state: self.state }
    }

    /// How halos travel between ranks.
    pub fn halo_path(&self) -> HaloPath {
        self.path
    }

    /// Starts to send the window after the current one. Call it once per window, after the checks of the window before.
    ///
    /// # Errors
    /// The device refuses it.
    pub fn send_ahead(&mut self, window: &WindowBuffer<R>) -> DeviceResult<()> {
        self.windows.send_ahead(window, &mut self.launcher)
    }

    /// Makes `window` the current one.
    ///
    /// # Errors
    /// The device refuses it.
    pub fn begin_window(&mut self, window: &WindowBuffer<R>) -> DeviceResult<()> {
        self.windows.begin(window, &mut self.launcher)
    }

    /// Replaces the air mass by that of the current window.
    ///
    /// # Errors
    /// The device refuses it.
    pub fn reset_air(&mut self, end: WindowEnd, tracers: TracersAtReset) -> DeviceResult<()> {
        let window = self.windows.current();
        let start = window.get(Section::AirMass);
        let tendency = match end {
            WindowEnd::Start => start,
            WindowEnd::End => window.get(Section::AirMassTendency),
        };
        let arguments = [
            Argument::Memory(self.state),
            Argument::Memory(start),
            Argument::Memory(tendency),
            Argument::Memory(self.tables.tiles),
            Argument::Memory(self.tables.rows),
            Argument::Int(i32::from(end == WindowEnd::End)),
            Argument::Int(i32::from(tracers == TracersAtReset::KeepRatio)),
            Argument::Int(tables::int(self.shape.planes)),
            Argument::Int(tables::int(self.shape.stride)),
            Argument::Int(tables::int(self.shape.field_stride)),
        ];
        let groups = [self.shape.rows, self.shape.levels];
        self.launcher.cover(KernelName::ResetAir, self.shape.widest, groups, &arguments)
    }

    /// Lets tracers decay for `dt` seconds.
    ///
    /// # Errors
    /// The device refuses it.
    pub fn decay(&mut self, decaying: &[Decaying], dt: f64) -> DeviceResult<()> {
        for one in decaying {
            let arguments = [
                Argument::Memory(self.state),
                Argument::Memory(self.tables.tiles),
                Argument::Memory(self.tables.rows),
                Argument::Int(tables::int(AIR + 1 + one.tracer)),
                real(one.decay.decrement::<R>(dt)),
                Argument::Int(tables::int(self.shape.stride)),
            ];
            let groups = [self.shape.rows, self.shape.levels];
            self.launcher.cover(KernelName::Decay, self.shape.widest, groups, &arguments)?;
        }
        Ok(())
    }

    /// Brings the state to the host. Waits.
    ///
    /// # Errors
    /// The device refuses something, or has failed since.
    pub fn download(&mut self, state: &mut PackedState<R>) -> DeviceResult<()> {
        self.launcher.device.read((self.state, 0), bytemuck::cast_slice_mut(state.slabs_mut().data_mut()))
    }
}
