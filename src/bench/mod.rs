//! Measuring the operators: cell·tracer·steps per second beside the memory bandwidth of the same process.

mod triad;

use std::sync::Arc;
use std::time::Instant;

use decomposition::{Layout, LayoutError, Panel};
use kernels::Scalar;
use kernels::scheme::Scheme;
use serde::Serialize;

use crate::comm::Communicator;
use crate::grid::{CubedSphere, GeometryBundle};
use crate::operators::Threads;
use crate::operators::advection::{Advection, Winds};
use crate::state::{AIR, PackedState, Slabs, TileSet};

pub use triad::triad_bytes_per_second;

/// What to measure: six-sweep palindromes on six panels with real seams.
#[derive(Clone, Debug)]
pub struct AdvectionBench {
    /// Cells per panel edge.
    pub nc: usize,
    /// Layers.
    pub levels: usize,
    /// Tracers.
    pub tracers: usize,
    /// Scheme.
    pub scheme: Scheme,
    /// Palindromes per repetition.
    pub steps: usize,
    /// Repetitions; the best and the median are reported.
    pub repetitions: usize,
}

/// Result of one measurement. One step is the palindrome X Y Z Z Y X.
#[derive(Clone, Debug, Serialize)]
pub struct AdvectionReport {
    /// Scheme and limiter.
    pub scheme: &'static str,
    /// `Float32` or `Float64`.
    pub float_type: &'static str,
    /// Cells per panel edge.
    pub nc: usize,
    /// Layers.
    pub levels: usize,
    /// Tracers.
    pub tracers: usize,
    /// Ranks.
    pub ranks: usize,
    /// CPU threads of each rank.
    pub threads: usize,
    /// Best wall time of a step (s), slowest rank.
    pub seconds_per_step: f64,
    /// Median wall time of a step (s), slowest rank.
    pub median_seconds_per_step: f64,
    /// Million cell·tracer·steps per second, best repetition.
    pub mega_updates_per_second: f64,
    /// Least memory traffic of a step (bytes): three read-and-write passes over the padded state, winds read twice.
    pub least_bytes_per_step: f64,
    /// That traffic over the best time (GB/s).
    pub gigabytes_per_second: f64,
    /// Triad bandwidth of all ranks and threads in the same process (GB/s).
    pub triad_gigabytes_per_second: f64,
    /// Share of the triad.
    pub share_of_triad: f64,
}

impl AdvectionBench {
    /// Runs the measurement. Collective over `comm`.
    ///
    /// # Errors
    /// The layout is impossible for this number of ranks.
    pub fn run<R: Scalar>(&self, comm: &dyn Communicator, threads: &Threads) -> Result<AdvectionReport, LayoutError> {
        let bundle = GeometryBundle::GeosNative;
        let layout = Layout::new(self.nc, bundle.convention(), comm.size(), self.scheme.halo(), None)?;
        let grid = CubedSphere::new(self.nc, bundle, bundle.default_offset_deg(), 1.0)
            .expect("any positive number of cells makes a grid");
        let set = Arc::new(TileSet::new(layout.tiles_of(comm.rank()).to_vec(), self.scheme.halo()));
        let names = (0..self.tracers).map(|t| format!("tracer_{t}")).collect();
        let mut state = PackedState::<R>::zeros(set.clone(), self.levels, names);
        fill_state(&mut state, &grid);
        let [x, y, z] = winds(&state, &grid);
        let winds = Winds { x: &x, y: &y, z: &z, scale: 1.0 };
        let mut advection = Advection::new(self.scheme, &layout, &state, threads, comm);
        let triad = self.total(comm, triad_bytes_per_second(threads));
        advection.substep(&mut state, winds, 1, None, threads);
        let mut times: Vec<f64> = (0..self.repetitions.max(1))
            .map(|_| {
                comm.barrier();
                let start = Instant::now();
                for _ in 0..self.steps.max(1) {
                    advection.substep(&mut state, winds, 1, None, threads);
                }
                let mut seconds = [start.elapsed().as_secs_f64() / self.steps.max(1) as f64];
                comm.max_f64(&mut seconds);
                seconds[0]
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let (best, median) = (times[0], times[times.len() / 2]);
        let bytes = self.total(comm, (3 * 2 * state.slabs().data().len() + 2 * x.data().len() * 3) as f64)
            * size_of::<R>() as f64;
        let updates = (6 * self.nc * self.nc * self.levels * self.tracers) as f64;
        Ok(AdvectionReport {
            scheme: self.scheme.name(),
            float_type: R::NAME,
            nc: self.nc,
            levels: self.levels,
            tracers: self.tracers,
            ranks: comm.size(),
            threads: threads.count(),
            seconds_per_step: best,
            median_seconds_per_step: median,
            mega_updates_per_second: updates / best * 1e-6,
            least_bytes_per_step: bytes,
            gigabytes_per_second: bytes / best * 1e-9,
            triad_gigabytes_per_second: triad * 1e-9,
            share_of_triad: bytes / best / triad,
        })
    }

    /// Sum over ranks of a figure that need not be exact.
    fn total(&self, comm: &dyn Communicator, value: f64) -> f64 {
        let mut sum = [value as i64];
        comm.sum_i64(&mut sum);
        sum[0] as f64
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
fn winds<R: Scalar>(state: &PackedState<R>, grid: &CubedSphere) -> [Slabs<R>; 3] {
    let set = state.tile_set().clone();
    let levels = state.levels();
    let mut x = Slabs::zeros(set.clone(), levels, 1);
    let mut y = Slabs::zeros(set.clone(), levels, 1);
    let mut z = Slabs::zeros(set.clone(), levels + 1, 1);
    let amplitude = 0.2 * std::f64::consts::FRAC_PI_2 / grid.nc() as f64;
    let psi = |panel: Panel, i: usize, j: usize| {
        let [a, b, c] = grid.corner(panel, i, j);
        amplitude * (0.36 * a + 0.48 * b + 0.8 * c)
    };
    for level in 0..levels {
        for (tile, (place, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
            let (p, i0, j0) = (place.panel, place.i0, place.j0);
            for j in 0..=shape.nj {
                for i in 0..=shape.ni {
                    let cell = shape.index(i as isize, j as isize);
                    if j < shape.nj {
                        let flux = psi(p, i0 + i, j0 + j) - psi(p, i0 + i, j0 + j + 1);
                        x.plane_mut(level, tile, 0)[cell] = R::from_f64(flux);
                    }
                    if i < shape.ni {
                        let flux = psi(p, i0 + i + 1, j0 + j) - psi(p, i0 + i, j0 + j);
                        y.plane_mut(level, tile, 0)[cell] = R::from_f64(flux);
                    }
                    if level > 0 && i < shape.ni && j < shape.nj {
                        let flux = 1e-4 * grid.area(i0 + i, j0 + j) * (level as f64).sin();
                        z.plane_mut(level, tile, 0)[cell] = R::from_f64(flux);
                    }
                }
            }
        }
    }
    [x, y, z]
}
