//! Runs the advection operator on ranks that are threads, from and to global arrays.

use std::sync::Arc;

use atmostr::comm::{Communicator, threads};
use atmostr::diagnostics::tracer_totals;
use atmostr::grid::{CubedSphere, GeometryBundle};
use atmostr::met::WindowBuffer;
use atmostr::operators::Threads;
use atmostr::operators::advection::{Advection, Midpoint, Winds};
use atmostr::operators::columns::{CentrePhysics, CentreStep, Emitter};
use atmostr::sources::{Conversion, Source};
use atmostr::state::{AIR, PackedState, Slabs, TileSet};
use decomposition::{Layout, TileGrid};
use kernels::cpu::SweepStats;
use kernels::scheme::{Choice, Fusion, PpmLimiter, Sign, Vertical};
use kernels::{Scalar, Scheme};

use crate::sphere::{Global, GlobalWinds};

/// What to run and on which layout.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub scheme: Scheme,
    pub vertical: Vertical,
    pub fusion: Fusion,
    pub ranks: usize,
    pub threads: usize,
    pub grid: Option<TileGrid>,
    /// Halo cells beyond what the scheme needs.
    pub extra_halo: usize,
    pub passes: usize,
    pub steps: usize,
    /// Whether an operator that does nothing acts at the midpoint.
    pub idle_midpoint: bool,
    /// Whether the operator learns first how much of the passes each level needs.
    pub levels_differ: bool,
    /// Factor on the winds of a step.
    pub scale: fn(usize) -> f64,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            scheme: Scheme::Ppm(PpmLimiter::HuynhPd),
            vertical: Vertical::Same,
            fusion: Fusion::Never,
            ranks: 1,
            threads: 1,
            grid: None,
            extra_halo: 0,
            passes: 1,
            steps: 1,
            idle_midpoint: false,
            levels_differ: false,
            scale: |_| 1.0,
        }
    }
}

/// Result of a run.
pub struct Outcome<R> {
    pub end: Global<R>,
    /// Exact totals before and after, air first.
    pub totals: [Vec<f64>; 2],
    pub stats: SweepStats,
}

impl<R> Outcome<R> {
    /// Relative change of each total, air first.
    pub fn drifts(&self) -> Vec<f64> {
        self.totals[0].iter().zip(&self.totals[1]).map(|(a, b)| ((b - a) / a).abs()).collect()
    }

    pub fn worst_drift(&self) -> f64 {
        self.drifts().into_iter().fold(0.0, f64::max)
    }
}

/// A source of the first tracer that emits nothing.
fn idle<R: Scalar>(state: &PackedState<R>, nc: usize, threads: usize) -> CentrePhysics<R> {
    let (set, grid) = (state.tile_set(), CubedSphere::new(nc, GeometryBundle::Gnomonic, 0.0, 6.371e6).unwrap());
    let source = Source::uniform(set.clone(), &grid, 0.0, &Conversion::new(1.0, 0.044).unwrap());
    let emitters = vec![Emitter { tracer: 0, source, profile: None }];
    CentrePhysics::new(None, emitters, set, state.levels(), state.tracers().len(), threads).expect("there is a source")
}

/// Value of cells that no tile owns before the first exchange: plain nonsense, but finite.
const NONSENSE: f64 = 7.0e3;

/// Pieces of the global arrays as one rank stores them.
pub struct Pieces<R> {
    pub state: PackedState<R>,
    pub x: Slabs<R>,
    pub y: Slabs<R>,
    pub z: Slabs<R>,
}

pub fn scatter<R: Scalar>(layout: &Layout, rank: usize, start: &Global<R>, winds: &GlobalWinds<R>) -> Pieces<R> {
    let set = Arc::new(TileSet::new(layout.tiles_of(rank).to_vec(), layout.halo()));
    let dims = start.dims;
    let names = (0..start.tracers.len()).map(|n| format!("t{n}")).collect();
    let mut state = PackedState::<R>::zeros(set.clone(), dims.nk, names);
    state.slabs_mut().data_mut().fill(R::from_f64(NONSENSE));
    let faces = |levels| {
        let mut slabs = Slabs::<R>::zeros(set.clone(), levels, 1);
        slabs.data_mut().fill(R::from_f64(1.0e3 * NONSENSE));
        slabs
    };
    let (mut x, mut y, mut z) = (faces(dims.nk), faces(dims.nk), faces(dims.nk + 1));
    for (local, (tile, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
        let place = |j: usize, i: usize| shape.index(i as isize, j as isize);
        for k in 0..=dims.nk {
            for j in 0..=tile.nj {
                for i in 0..=tile.ni {
                    let (p, gj, gi) = (tile.panel, tile.j0 + j, tile.i0 + i);
                    let inside = (i < tile.ni, j < tile.nj);
                    if k < dims.nk && inside.1 {
                        x.plane_mut(k, local, 0)[place(j, i)] = winds.am[dims.face_x(p, k, gj, gi)];
                    }
                    if k < dims.nk && inside.0 {
                        y.plane_mut(k, local, 0)[place(j, i)] = winds.bm[dims.face_y(p, k, gj, gi)];
                    }
                    if inside == (true, true) {
                        z.plane_mut(k, local, 0)[place(j, i)] = winds.cm[dims.face_z(p, k, gj, gi)];
                    }
                    if k < dims.nk && inside == (true, true) {
                        for (plane, values) in start.planes().enumerate() {
                            state.slabs_mut().plane_mut(k, local, plane)[place(j, i)] = values[dims.cell(p, k, gj, gi)];
                        }
                    }
                }
            }
        }
    }
    Pieces { state, x, y, z }
}

/// Interior cells of one rank's state into the global arrays.
fn gather<R: Scalar>(state: &PackedState<R>, into: &mut Global<R>) {
    let dims = into.dims;
    let set = state.tile_set();
    for (local, (tile, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
        for k in 0..dims.nk {
            for plane in 0..state.slabs().planes() {
                let values = state.slabs().plane(k, local, plane);
                let target = if plane == AIR { &mut into.air } else { &mut into.tracers[plane - 1] };
                for j in 0..tile.nj {
                    let from = shape.row_start(j);
                    let to = dims.cell(tile.panel, k, tile.j0 + j, tile.i0);
                    target[to..to + tile.ni].copy_from_slice(&values[from..from + tile.ni]);
                }
            }
        }
    }
}

pub fn run<R: Scalar>(start: &Global<R>, winds: &GlobalWinds<R>, how: Run) -> Outcome<R> {
    let halo = how.scheme.halo() + how.extra_halo;
    let layout = Layout::new(start.dims.nc, start.convention, how.ranks, halo, how.grid).expect("a usable layout");
    let ranks = threads::run(how.ranks, |comm| {
        let threads = Threads::new(how.threads).expect("each rank has its own thread");
        let Pieces { mut state, x, y, z } = scatter(&layout, comm.rank(), start, winds);
        let choice = Choice::from(how.scheme).with_vertical(how.vertical).with_fusion(how.fusion);
        // Every other tracer may have any sign, the waves among them.
        let signs: Vec<_> = (0..start.tracers.len()).map(|n| [Sign::NonNegative, Sign::Any][n % 2]).collect();
        let mut advection = Advection::new(choice, &layout, &state, &threads, &comm);
        if how.vertical != Vertical::Same {
            advection = advection.with_signs(&signs);
        }
        let before = tracer_totals(&comm, &state).expect("finite start");
        let mut stats = SweepStats::default();
        let mut idle = how.idle_midpoint.then(|| idle(&state, start.dims.nc, threads.count()));
        let window = WindowBuffer::empty(state.tile_set().clone(), start.dims.nc, start.dims.nk, start.convention, &[]);
        for step in 0..how.steps {
            let winds = Winds { x: &x, y: &y, z: &z, scale: (how.scale)(step) };
            if how.levels_differ {
                advection.largest_budget(state.slabs(), winds, &comm);
            }
            let timing = CentreStep { start: 0.0, seconds: 900.0 };
            let midpoint = idle.as_mut().map(|physics| Midpoint { physics, window: &window, step: timing });
            stats = stats.merge(advection.substep(&mut state, winds, how.passes, midpoint, None, &threads).sweeps);
        }
        let after = tracer_totals(&comm, &state).expect("finite end");
        (state, [before, after], stats)
    });
    let mut end = start.clone();
    let mut stats = SweepStats::default();
    for (state, totals, of_rank) in &ranks {
        gather(state, &mut end);
        stats = stats.merge(*of_rank);
        assert_eq!(totals, &ranks[0].1, "totals are the same on every rank");
    }
    Outcome { end, totals: ranks[0].1.clone(), stats }
}
