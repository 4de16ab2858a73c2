//! Vertical sweeps: blocks of rows of columns, shared out over the threads, with diffusion and emissions between them.

use std::sync::Mutex;

use kernels::Scalar;
use kernels::columns::ColumnBlock;
use kernels::cpu::{
    ColumnCoefficients, FusedColumns, SplineCoefficients, SplineWorkspace, SweepKernel, SweepStats, fuse_columns,
    prepare_spline, prepare_z, sweep_spline,
};
use kernels::scheme::{Choice, Fusion, Sign, Vertical};
use ndarray::{ArrayView3, ArrayView4, ArrayViewMut4, Axis};
use rayon::prelude::*;

use super::Winds;
use crate::met::WindowBuffer;
use crate::operators::Threads;
use crate::operators::columns::{
    BlockCentre, CentrePhysics, CentreStep, ColumnStats, RowBlocks, gather, pad, scatter, tile_view, tile_view_mut,
    widest,
};
use crate::state::{AIR, PackedState, Slabs};
use crate::timers::{self, Timed};

/// What acts between the two halves of the palindrome, and when.
pub struct Midpoint<'a, R: Scalar> {
    /// Diffusion and emissions.
    pub physics: &'a mut CentrePhysics<R>,
    /// The current window.
    pub window: &'a WindowBuffer<R>,
    /// The substep.
    pub step: CentreStep,
}

/// What vertical sweeps and what acts between them noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowStats {
    /// Of the sweeps.
    pub sweeps: SweepStats,
    /// Of diffusion and emissions.
    pub columns: ColumnStats,
}

impl RowStats {
    /// Both together.
    pub fn merge(self, other: Self) -> Self {
        Self { sweeps: self.sweeps.merge(other.sweeps), columns: self.columns.merge(other.columns) }
    }
}

impl From<SweepStats> for RowStats {
    fn from(sweeps: SweepStats) -> Self {
        Self { sweeps, columns: ColumnStats::default() }
    }
}

/// Work space of one thread for one block of rows.
struct RowScratch<R> {
    air: Vec<R>,
    /// Air mass between the halves of the palindrome.
    middle: Vec<R>,
    flux: Vec<R>,
    tracer: Vec<R>,
    passes: Vec<Pass<R>>,
    spline: Option<SplineWorkspace<R>>,
    /// Fluxes of two sweeps of which one may do nothing.
    fused: Option<[Vec<R>; 2]>,
}

/// What all tracers share in one sweep.
struct Pass<R> {
    faces: ColumnCoefficients<R>,
    spline: Option<SplineCoefficients<R>>,
}

impl<R: Scalar> RowScratch<R> {
    fn new(width: usize, levels: usize, vertical: Vertical, fusion: Fusion) -> Self {
        let has_spline = vertical != Vertical::Same;
        let pass = |_| Pass {
            faces: ColumnCoefficients::new(width, levels),
            spline: has_spline.then(|| SplineCoefficients::new(width, levels)),
        };
        let faces = || vec![R::default(); (levels + 1) * width];
        Self {
            air: vec![R::lit(1.0); levels * width],
            middle: vec![R::lit(1.0); levels * width],
            flux: faces(),
            tracer: vec![R::default(); levels * width],
            passes: (0..2).map(pass).collect(),
            spline: has_spline.then(|| SplineWorkspace::new(levels)),
            fused: (fusion == Fusion::WherePossible).then(|| [faces(), faces()]),
        }
    }
}

/// The columns of one rank, taken through vertical sweeps and what acts between them.
pub struct ColumnRows<R: Scalar> {
    scratch: Vec<Mutex<RowScratch<R>>>,
}

/// Vertical sweeps of a palindrome.
pub(super) struct Legs<'a, R: Scalar> {
    pub(super) kernel: &'static dyn SweepKernel<R>,
    pub(super) vertical: Vertical,
    /// Of each tracer.
    pub(super) signs: &'a [Sign],
    pub(super) winds: &'a Winds<'a, R>,
    pub(super) scale: R,
    /// Parts of each half.
    pub(super) passes: usize,
}

impl<R: Scalar> ColumnRows<R> {
    /// Work space for states like `slabs` and a number of threads.
    pub fn new(slabs: &Slabs<R>, threads: usize) -> Self {
        Self::with_sweeps(slabs, threads, Vertical::Same, Fusion::Never)
    }

    /// The same with what the sweeps need.
    pub(super) fn of_choice(slabs: &Slabs<R>, threads: usize, choice: Choice) -> Self {
        Self::with_sweeps(slabs, threads, choice.vertical, choice.fusion)
    }

    fn with_sweeps(slabs: &Slabs<R>, threads: usize, vertical: Vertical, fusion: Fusion) -> Self {
        let width = widest(slabs.tile_set());
        let scratch = || Mutex::new(RowScratch::new(width, slabs.levels(), vertical, fusion));
        Self { scratch: (0..threads).map(|_| scratch()).collect() }
    }

    /// Diffusion and emissions alone, without winds.
    pub fn act(&self, state: &mut PackedState<R>, midpoint: Midpoint<'_, R>, threads: &Threads) -> ColumnStats {
        self.run(state, None, Some(midpoint), threads).columns
    }

    /// Both vertical legs of a palindrome with what lies between them, each column while it is in cache.
    pub(super) fn run(
        &self,
        state: &mut PackedState<R>,
        legs: Option<Legs<'_, R>>,
        mut midpoint: Option<Midpoint<'_, R>>,
        threads: &Threads,
    ) -> RowStats {
        let _timed = timers::section(Timed::SweepZ);
        let slabs = state.slabs_mut();
        let set = slabs.tile_set().clone();
        let mut stats = RowStats::default();
        for (tile, shape) in set.shapes().iter().enumerate() {
            let blocks = RowBlocks::new(shape);
            let flux = legs.as_ref().map(|legs| tile_view(legs.winds.z, tile));
            let tile_rows = TileRows { rows: self, legs: legs.as_ref(), flux, blocks, threads };
            let mut columns = tile_view_mut(slabs, tile);
            let groups = columns.axis_chunks_iter_mut(Axis(2), blocks.rows()).into_par_iter();
            let of_tile = match &mut midpoint {
                None => groups
                    .enumerate()
                    .map(|(n, mut rows)| tile_rows.block(n, &mut rows, None))
                    .reduce(RowStats::default, RowStats::merge),
                Some(Midpoint { physics, window, step }) => {
                    let (centre, kept, length) = physics.tile(window, *step, tile);
                    groups
                        .zip(kept.par_chunks_mut(length))
                        .enumerate()
                        .map(|(n, (mut rows, kept))| tile_rows.block(n, &mut rows, Some((&centre, kept))))
                        .reduce(RowStats::default, RowStats::merge)
                }
            };
            stats = stats.merge(of_tile);
        }
        stats
    }
}

/// What acts between the halves on a block, with the values it keeps.
type BlockMidpoint<'a, R> = (&'a BlockCentre<'a, R>, &'a mut [R]);

/// The blocks of one tile.
struct TileRows<'a, R: Scalar> {
    rows: &'a ColumnRows<R>,
    legs: Option<&'a Legs<'a, R>>,
    flux: Option<ArrayView4<'a, R>>,
    blocks: RowBlocks,
    threads: &'a Threads,
}

impl<R: Scalar> TileRows<'_, R> {
    /// All of the palindrome's vertical part on block `n`; two sweeps share one stay of its columns in cache.
    fn block(&self, n: usize, rows: &mut ArrayViewMut4<'_, R>, midpoint: Option<BlockMidpoint<'_, R>>) -> RowStats {
        let (levels, _, count, _) = rows.dim();
        let block = self.blocks.block(count, levels);
        let thread = self.threads.index();
        let scratch = &mut *self.rows.scratch[thread].lock().expect("a sweep does not panic");
        let passes = self.legs.map_or(0, |legs| legs.passes);
        if let Some(flux) = &self.flux {
            let range = self.blocks.range(n);
            let flux = flux.slice(ndarray::s![.., 0, range, ..]);
            gather(flux.outer_iter(), block.width(), &mut scratch.flux);
            pad(&mut scratch.flux, block, levels + 1, R::default());
        }
        let mut stats = RowStats::default();
        // Where something acts in the middle, sweeps are not fused beside it either.
        let fusion = if midpoint.is_none() { Fusion::WherePossible } else { Fusion::Never };
        let stay_of = |before, after| Stay { number: n, block, before, after, thread, fusion };
        let mut plain = |sweeps: usize, scratch: &mut RowScratch<R>| {
            for done in (0..sweeps).step_by(2) {
                let stay = stay_of((sweeps - done).min(2), 0);
                stats = stats.merge(self.stay(stay, rows, scratch, None));
            }
        };
        let Some(midpoint) = midpoint else {
            plain(2 * passes, scratch);
            return stats;
        };
        let inner = passes.min(1);
        plain(passes - inner, scratch);
        let stay = stay_of(inner, inner);
        let seen = self.stay(stay, rows, scratch, Some(midpoint));
        let mut last = RowStats::default();
        for done in (0..passes - inner).step_by(2) {
            let stay = stay_of((passes - inner - done).min(2), 0);
            last = last.merge(self.stay(stay, rows, scratch, None));
        }
        stats.merge(seen).merge(last)
    }

    /// At most two sweeps, and what acts between them: air mass first, then every tracer.
    fn stay(
        &self,
        stay: Stay,
        rows: &mut ArrayViewMut4<'_, R>,
        scratch: &mut RowScratch<R>,
        mut midpoint: Option<BlockMidpoint<'_, R>>,
    ) -> RowStats {
        let Stay { number, block, before, after, thread, fusion } = stay;
        let RowScratch { air, middle, flux, tracer, passes, spline, fused } = scratch;
        let (width, levels, values) = (block.width(), block.nk(), block.values());
        let (planes, mut stats) = (rows.len_of(Axis(1)), RowStats::default());
        let of_plane = |rows: &mut ArrayViewMut4<'_, R>, plane: usize, into: &mut [R]| {
            let layers: ArrayView3<'_, R> = rows.view().index_axis_move(Axis(1), plane);
            gather(layers.outer_iter(), width, into);
        };
        of_plane(rows, AIR, air);
        pad(air, block, levels, R::lit(1.0));
        let (mut fluxes, mut before) = ([&flux[..]; 2], before);
        if let (2, Fusion::WherePossible, Some([one, other])) = (before, fusion, fused) {
            let scale = self.legs.expect("sweeps have winds").scale;
            match fuse_columns(width, levels, &air[..values], flux, scale, [one, other]) {
                FusedColumns::None => {}
                FusedColumns::Some => fluxes = [one, other],
                FusedColumns::All => (fluxes[0], before) = (one, 1),
            }
        }
        let (first, second) = passes[..before + after].split_at_mut(before);
        let mut sweeps = SweepStats::default();
        let mut prepare = |passes: &mut [Pass<R>], air: &mut [R]| {
            for (Pass { faces, spline }, flux) in passes.iter_mut().zip(fluxes) {
                let scale = self.legs.expect("sweeps have winds").scale;
                if let Some(spline) = spline {
                    prepare_spline(width, levels, &air[..values], spline);
                }
                sweeps = sweeps.merge(prepare_z(width, levels, &mut air[..values], flux, scale, faces));
            }
        };
        prepare(first, air);
        if let Some((centre, _)) = &midpoint {
            middle[..values].copy_from_slice(&air[..values]);
            centre.prepare(number, block, &middle[..values], thread);
        }
        prepare(second, air);
        stats.sweeps = sweeps;
        if before + after > 0 {
            scatter(air, width, rows.index_axis_mut(Axis(1), AIR).outer_iter_mut());
        }
        for plane in AIR + 1..planes {
            of_plane(rows, plane, tracer);
            let contents = &mut tracer[..values];
            let tracer = plane - AIR - 1;
            self.sweep(first, block, tracer, contents, spline.as_mut());
            if let Some((centre, kept)) = &mut midpoint {
                let seen = centre.act(number, block, tracer, &middle[..values], contents, kept, thread);
                stats.columns = stats.columns.merge(seen);
            }
            self.sweep(second, block, tracer, contents, spline.as_mut());
            scatter(contents, width, rows.index_axis_mut(Axis(1), plane).outer_iter_mut());
        }
        stats
    }

    fn sweep(
        &self,
        passes: &[Pass<R>],
        block: ColumnBlock,
        tracer: usize,
        contents: &mut [R],
        mut workspace: Option<&mut SplineWorkspace<R>>,
    ) {
        let (width, nk) = (block.width(), block.nk());
        for Pass { faces, spline } in passes {
            let legs = self.legs.expect("sweeps have winds");
            match (spline, &mut workspace) {
                (Some(spline), Some(workspace)) => {
                    let sign = legs.vertical.sign(legs.signs[tracer]);
                    sweep_spline(sign, width, nk, contents, faces, spline, workspace);
                }
                _ => legs.kernel.sweep_z(width, nk, contents, faces),
            }
        }
    }
}

/// One stay of a block in cache: sweeps before and after what acts in the middle.
#[derive(Clone, Copy)]
struct Stay {
    number: usize,
    block: ColumnBlock,
    before: usize,
    after: usize,
    thread: usize,
    /// Whether two sweeps may be one.
    fusion: Fusion,
}
