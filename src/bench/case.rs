//! What is measured: a smooth state on six panels in a rotating flow.

use std::sync::Arc;

use decomposition::{Layout, LayoutError, Panel};
use kernels::Scalar;
use kernels::scheme::{Choice, Scheme, Vertical};

use crate::comm::Communicator;
use crate::grid::{CubedSphere, GeometryBundle};
use crate::met::{Section, WindowBuffer};
use crate::state::{AIR, PackedState, Slabs, TileSet};

/// Size of a measurement.
#[derive(Clone, Debug)]
pub struct BenchSize {
    /// Cells per panel edge.
    pub nc: usize,
    /// Layers.
    pub levels: usize,
    /// Tracers.
    pub tracers: usize,
    /// Scheme.
    pub scheme: Scheme,
    /// Vertical scheme.
    pub vertical: Vertical,
}

impl BenchSize {
    /// What the sweeps do.
    pub fn choice(&self) -> Choice {
        Choice::from(self.scheme).with_vertical(self.vertical)
    }
}

/// State and winds of a rank.
pub(super) struct Case<R> {
    pub(super) layout: Layout,
    pub(super) state: PackedState<R>,
    /// Winds, air mass and tendency (zero).
    pub(super) window: WindowBuffer<R>,
}

impl<R: Scalar> Case<R> {
    pub(super) fn new(size: &BenchSize, comm: &dyn Communicator) -> Result<Self, LayoutError> {
        let bundle = GeometryBundle::GeosNative;
        let layout = Layout::new(size.nc, bundle.convention(), comm.size(), size.scheme.halo(), None)?;
        let grid = CubedSphere::new(size.nc, bundle, bundle.default_offset_deg(), 1.0)
            .expect("any positive number of cells makes a grid");
        let set = Arc::new(TileSet::new(layout.tiles_of(comm.rank()).to_vec(), size.scheme.halo()));
        let names = (0..size.tracers).map(|t| format!("tracer_{t}")).collect();
        let mut state = PackedState::<R>::zeros(set.clone(), size.levels, names);
        fill_state(&mut state, &grid);
        let sections = [Section::AirMass, Section::FluxX, Section::FluxY, Section::FluxZ, Section::AirMassTendency];
        let mut window = WindowBuffer::empty(set, size.nc, size.levels, bundle.convention(), &sections);
        fill_winds(&mut window, &grid);
        let air = window.get_mut(Section::AirMass).expect("asked for");
        for level in 0..size.levels {
            for tile in 0..state.tile_set().len() {
                air.plane_mut(level, tile, 0).copy_from_slice(state.slabs().plane(level, tile, AIR));
            }
        }
        Ok(Self { layout, state, window })
    }

    /// A field of the window.
    pub(super) fn field(&self, section: Section) -> &Slabs<R> {
        self.window.get(section).expect("the case has every section of advection")
    }
}

/// Air mass proportional to area, tracers smooth and positive.
fn fill_state<R: Scalar>(state: &mut PackedState<R>, grid: &CubedSphere) {
    let set = state.tile_set().clone();
    let tracers = state.tracers().len();
    let slabs = state.slabs_mut();
    for level in 0..slabs.levels() {
        for (tile, (place, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
            for j in 0..shape.nj {
                for i in 0..shape.ni {
                    let cell = shape.row_start(j) + i;
                    let mass = grid.area(place.i0 + i, place.j0 + j);
                    let [x, y, z] = grid.center(place.panel, place.i0 + i, place.j0 + j);
                    slabs.plane_mut(level, tile, AIR)[cell] = R::from_f64(mass);
                    for t in 0..tracers {
                        let q = 2.0 + (3.0 * x + t as f64).sin() * (4.0 * y + 2.0 * z + 0.3 * level as f64).cos();
                        slabs.plane_mut(level, tile, t + 1)[cell] = R::from_f64(q * mass);
                    }
                }
            }
        }
    }
}

/// Solid-body rotation about a slanted axis from corner stream functions, swept fractions up to a third, and a weak
/// vertical exchange.
fn fill_winds<R: Scalar>(window: &mut WindowBuffer<R>, grid: &CubedSphere) {
    let set = window.tile_set().clone();
    let amplitude = 0.2 * std::f64::consts::FRAC_PI_2 / grid.nc() as f64;
    let psi = |panel: Panel, i: usize, j: usize| {
        let [a, b, c] = grid.corner(panel, i, j);
        amplitude * (0.36 * a + 0.48 * b + 0.8 * c)
    };
    for section in [Section::FluxX, Section::FluxY, Section::FluxZ] {
        let field = window.get_mut(section).expect("the case has every section of advection");
        for level in 0..field.levels() {
            for (tile, (place, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
                let (p, i0, j0) = (place.panel, place.i0, place.j0);
                let (last_i, last_j) = match section {
                    Section::FluxX => (shape.ni, shape.nj - 1),
                    Section::FluxY => (shape.ni - 1, shape.nj),
                    _ => (shape.ni - 1, shape.nj - 1),
                };
                let closed = section == Section::FluxZ && (level == 0 || level + 1 == field.levels());
                for j in 0..=last_j {
                    for i in 0..=last_i {
                        let flux = match section {
                            Section::FluxX => psi(p, i0 + i, j0 + j) - psi(p, i0 + i, j0 + j + 1),
                            Section::FluxY => psi(p, i0 + i + 1, j0 + j) - psi(p, i0 + i, j0 + j),
                            _ if closed => 0.0,
                            _ => 1e-4 * grid.area(i0 + i, j0 + j) * (level as f64).sin(),
                        };
                        let cell = shape.index(i as isize, j as isize);
                        field.plane_mut(level, tile, 0)[cell] = R::from_f64(flux);
                    }
                }
            }
        }
    }
}
