//! The production transport of one rank on a test grid: tiles, packed tracers, windows of face amounts, the operator.

use std::sync::Arc;

use decomposition::{Layout, Panel};
use kernels::Scalar;
use kernels::scheme::Vertical;

use super::VerifyError;
use crate::comm::Communicator;
use crate::config;
use crate::diagnostics::tracer_totals;
use crate::grid::CubedSphere;
use crate::met::{Section, WindowBuffer};
use crate::operators::Threads;
use crate::operators::advection::{Advection, Winds, largest_budget};
use crate::state::{AIR, PackedState, Slabs, TileSet};

/// A cell of this rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// Place of its tile in the tile set.
    pub tile: usize,
    /// Place within the padded plane of its tile.
    pub at: usize,
    pub panel: Panel,
    pub i: usize,
    pub j: usize,
}

/// Courant numbers of a run, largest over cells and steps looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Courants {
    /// Part of its air that a cell gives away along one axis in a whole step.
    pub directional: f64,
    /// Outflow budget of a whole step.
    pub budget: f64,
}

/// State, windows and operator of one rank.
pub(super) struct Bed<'a, R: Scalar> {
    pub comm: &'a dyn Communicator,
    pub threads: &'a Threads,
    pub grid: CubedSphere,
    /// Cells of this rank in the order of all vectors of values.
    pub cells: Vec<Cell>,
    /// Solid angles of the cells.
    pub weights: Vec<f64>,
    state: PackedState<R>,
    window: WindowBuffer<R>,
    operator: Advection<R>,
    corners: Vec<Vec<[f64; 3]>>,
    psi: Vec<f64>,
}

impl<'a, R: Scalar> Bed<'a, R> {
    /// A state of zeros. Collective.
    ///
    /// # Errors
    /// The grid cannot be shared out over the ranks, or nothing is advected.
    pub(super) fn new(
        grid: CubedSphere,
        levels: usize,
        tracers: Vec<String>,
        advection: &config::Advection,
        comm: &'a dyn Communicator,
        threads: &'a Threads,
    ) -> Result<Self, VerifyError> {
        let Some(choice) = advection.choice() else { return Err(VerifyError::NoAdvection) };
        let choice = choice.with_vertical(vertical(advection, levels));
        let (nc, convention, halo) = (grid.nc(), grid.convention(), advection.halo());
        let layout = Layout::new(nc, convention, comm.size(), halo, None)?;
        let set = Arc::new(TileSet::new(layout.tiles_of(comm.rank()).to_vec(), halo));
        let state = PackedState::<R>::zeros(set.clone(), levels, tracers);
        let sections = [Section::FluxX, Section::FluxY, Section::FluxZ];
        let window = WindowBuffer::empty(set.clone(), nc, levels, convention, &sections);
        let operator = Advection::new(choice, &layout, &state, threads, comm);
        let (mut cells, mut corners) = (Vec::new(), Vec::new());
        for (tile, (place, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
            for (j, i) in (0..place.nj).flat_map(|j| (0..place.ni).map(move |i| (j, i))) {
                let at = shape.row_start(j) + i;
                cells.push(Cell { tile, at, panel: place.panel, i: place.i0 + i, j: place.j0 + j });
            }
            let points = (0..=place.nj).flat_map(|j| (0..=place.ni).map(move |i| (j, i)));
            let corner = |(j, i)| grid.corner(place.panel, place.i0 + i, place.j0 + j).map(|c| c + 0.0);
            corners.push(points.map(corner).collect());
        }
        let weights = cells.iter().map(|c| grid.solid_angle(c.i, c.j)).collect();
        Ok(Self { comm, threads, grid, cells, weights, state, window, operator, corners, psi: Vec::new() })
    }

    /// Sets the air mass of every cell of a level.
    pub(super) fn set_air(&mut self, level: usize, masses: impl Fn(&Cell, f64) -> f64) {
        for (cell, weight) in self.cells.iter().zip(&self.weights) {
            self.state.slabs_mut().plane_mut(level, cell.tile, AIR)[cell.at] = R::from_f64(masses(cell, *weight));
        }
    }

    /// Sets a tracer by its mixing ratios on one level; air is there already.
    pub(super) fn set_ratios(&mut self, tracer: usize, level: usize, ratios: &[f64]) {
        for (cell, ratio) in self.cells.iter().zip(ratios) {
            let air = self.state.slabs().plane(level, cell.tile, AIR)[cell.at].to_f64();
            self.state.slabs_mut().plane_mut(level, cell.tile, AIR + 1 + tracer)[cell.at] = R::from_f64(ratio * air);
        }
    }

    /// Mixing ratios of a tracer on one level.
    pub(super) fn ratios(&self, tracer: usize, level: usize) -> Vec<f64> {
        let slabs = self.state.slabs();
        let value = |cell: &Cell| {
            let [rm, air] = [AIR + 1 + tracer, AIR].map(|plane| slabs.plane(level, cell.tile, plane)[cell.at].to_f64());
            rm / air
        };
        self.cells.iter().map(value).collect()
    }

    /// Exact totals, air first. Collective.
    ///
    /// # Errors
    /// Values that are no finite numbers.
    pub(super) fn totals(&self) -> Result<Vec<f64>, VerifyError> {
        tracer_totals(self.comm, &self.state).map_err(|(plane, source)| {
            let tracer = plane.checked_sub(AIR + 1).map_or("air", |n| &self.state.tracers()[n]).to_owned();
            VerifyError::NotFinite { tracer, source }
        })
    }

    /// Face amounts of a half-sweep of the whole step: half the differences of a stream function at the corners of
    /// cells (air mass of a step), the same on all levels. Nothing moves vertically.
    pub(super) fn set_stream(&mut self, psi: impl Fn([f64; 3]) -> f64) {
        let Self { window, corners, psi: values, state, .. } = self;
        let set = state.tile_set().clone();
        for (tile, (place, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
            values.clear();
            values.extend(corners[tile].iter().map(|&p| psi(p)));
            let row = place.ni + 1;
            for level in 0..state.levels() {
                let x = plane_of(window, Section::FluxX, level, tile);
                for (j, i) in (0..place.nj).flat_map(|j| (0..=place.ni).map(move |i| (j, i))) {
                    let flux = values[j * row + i] - values[(j + 1) * row + i];
                    x[shape.index(i as isize, j as isize)] = R::from_f64(0.5 * flux);
                }
                let y = plane_of(window, Section::FluxY, level, tile);
                for (j, i) in (0..=place.nj).flat_map(|j| (0..place.ni).map(move |i| (j, i))) {
                    let flux = values[j * row + i + 1] - values[j * row + i];
                    y[shape.index(i as isize, j as isize)] = R::from_f64(0.5 * flux);
                }
            }
        }
    }

    /// Face amounts of a half-sweep from arrays of all panels, each `[panel][k][j][i]` as in transport files.
    pub(super) fn set_amounts(&mut self, am: &[f64], bm: &[f64], cm: &[f64]) {
        let (nc, levels, set) = (self.grid.nc(), self.state.levels(), self.state.tile_set().clone());
        let sections =
            [(Section::FluxX, am, [1, 0, 0]), (Section::FluxY, bm, [0, 1, 0]), (Section::FluxZ, cm, [0, 0, 1])];
        for (section, values, [di, dj, dk]) in sections {
            for (tile, (place, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
                for k in 0..levels + dk {
                    let plane = plane_of(&mut self.window, section, k, tile);
                    for (j, i) in (0..place.nj + dj).flat_map(|j| (0..place.ni + di).map(move |i| (j, i))) {
                        let level = place.panel.index() * (levels + dk) + k;
                        let from = (level * (nc + dj) + place.j0 + j) * (nc + di) + place.i0 + i;
                        plane[shape.index(i as isize, j as isize)] = R::from_f64(values[from]);
                    }
                }
            }
        }
    }

    /// One substep of the operator with the amounts of the window.
    pub(super) fn substep(&mut self) {
        let field = |section| self.window.get(section).expect("the window has all winds");
        let winds = Winds { x: field(Section::FluxX), y: field(Section::FluxY), z: field(Section::FluxZ), scale: 1.0 };
        self.operator.substep(&mut self.state, winds, 1, None, None, self.threads);
    }

    /// Courant numbers of the window. Collective.
    pub(super) fn courants(&self) -> Courants {
        let field = |section| self.window.get(section).expect("the window has all winds");
        let (x, y) = (field(Section::FluxX), field(Section::FluxY));
        let winds = Winds { x, y, z: field(Section::FluxZ), scale: 1.0 };
        let budget = largest_budget(self.state.slabs(), winds, self.comm).ratio;
        let mut most = [0.0f64];
        for level in 0..self.state.levels() {
            for cell in &self.cells {
                let pitch = self.state.tile_set().shapes()[cell.tile].pitch;
                let out = |faces: &Slabs<R>, step: usize| {
                    let plane = faces.plane(level, cell.tile, 0);
                    f64::max(-plane[cell.at].to_f64(), plane[cell.at + step].to_f64())
                };
                let air = self.state.slabs().plane(level, cell.tile, AIR)[cell.at].to_f64();
                most[0] = most[0].max(2.0 * out(x, 1).max(out(y, pitch)) / air);
            }
        }
        self.comm.max_f64(&mut most);
        Courants { directional: most[0], budget }
    }

    /// Values of all cells in the order `[panel][j][i]` on rank 0. Collective.
    pub(super) fn gather(&self, values: &[f64]) -> Option<Vec<f64>> {
        let nc = self.grid.nc();
        let placed = self.cells.iter().zip(values).flat_map(|(cell, value)| {
            let at = (cell.panel.index() * nc + cell.j) * nc + cell.i;
            [(at as u64).to_le_bytes(), value.to_le_bytes()].concat()
        });
        let parts = self.comm.gather(&placed.collect::<Vec<u8>>())?;
        let mut all = vec![f64::NAN; 6 * nc * nc];
        for pair in parts.iter().flat_map(|part| part.chunks_exact(16)) {
            let word = |from: usize| <[u8; 8]>::try_from(&pair[from..from + 8]).expect("eight bytes");
            all[u64::from_le_bytes(word(0)) as usize] = f64::from_le_bytes(word(8));
        }
        Some(all)
    }
}

fn plane_of<R: Scalar>(window: &mut WindowBuffer<R>, section: Section, level: usize, tile: usize) -> &mut [R] {
    window.get_mut(section).expect("the window has all winds").plane_mut(level, tile, 0)
}

/// Vertical sweeps of a case: those of the choice, if there are layers enough.
pub(super) fn vertical(advection: &config::Advection, levels: usize) -> Vertical {
    if levels < advection.vertical.least_layers() { Vertical::Same } else { advection.vertical }
}
