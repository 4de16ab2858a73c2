//! X and Y sweeps, level by level, with halo messages under way while other levels are swept.

use std::convert::Infallible;
use std::ops::Range;

use decomposition::Axis;
use kernels::Scalar;
use kernels::cpu::{FaceCoefficients, SeamCoefficients, SweepStats, Workspace, prepare_x, prepare_y};
use rayon::prelude::*;

use super::seams::TileSeams;
use super::transfers::{LevelTransfers, TileTransfers, Transfers};
use super::wave::{Stages, wave_front};
use super::{PerAxis, SplitSweeps, Sweeps, Winds, halo_section, sweep_section};
use crate::operators::{HaloMessages, Threads};
use crate::state::{AIR, PackedState, Slabs};
use crate::timers::{Clock, Shares, Timed};

/// Work space of one thread for one plane.
pub(super) struct LevelScratch<R> {
    coefficients: FaceCoefficients<R>,
    workspace: Workspace<R>,
    seams: Vec<SeamCoefficients<R>>,
    amounts: Vec<Vec<R>>,
}

/// Most seam segments one tile can touch in one group: a whole panel has four edges, each met by one seam.
const MAX_SEAMS: usize = 4;

impl<R: Scalar> LevelScratch<R> {
    pub(super) fn new(slabs: &Slabs<R>, halo: usize) -> Self {
        let shapes = slabs.tile_set().shapes();
        let edge = shapes.iter().map(|s| s.ni.max(s.nj)).max().unwrap_or(0);
        Self {
            coefficients: FaceCoefficients::new(shapes),
            workspace: Workspace::new(shapes),
            seams: (0..MAX_SEAMS).map(|_| SeamCoefficients::new(edge, halo)).collect(),
            amounts: (0..MAX_SEAMS).map(|_| vec![R::default(); edge]).collect(),
        }
    }
}

/// Face planes of one tile at one level.
struct TileFaces<'a, R> {
    x: &'a [R],
    y: &'a [R],
}

impl<'a, R> TileFaces<'a, R> {
    fn along(&self, axis: Axis) -> &'a [R] {
        match axis {
            Axis::X => self.x,
            Axis::Y => self.y,
        }
    }
}

impl<R: Scalar> SplitSweeps<R> {
    /// `passes` sweeps along the first axis, then as many along the second.
    pub(super) fn horizontal(
        &mut self,
        state: &mut PackedState<R>,
        winds: &Winds<'_, R>,
        scale: R,
        axes: [Axis; 2],
        passes: usize,
        transfers: Option<&mut Transfers<R>>,
        threads: &Threads,
    ) -> SweepStats {
        self.sequence.clear();
        for axis in axes {
            self.sequence.extend(std::iter::repeat_n(axis, passes));
        }
        let Self { sweeps, messages, blocks, sequence } = self;
        let mut stages = CpuStages {
            sweeps,
            messages,
            slabs: state.slabs_mut(),
            winds,
            scale,
            transfers,
            threads,
            stats: SweepStats::default(),
        };
        let Ok(()) = wave_front(&mut stages, sequence, blocks);
        stages.stats
    }
}

/// Stages on the threads of the rank.
struct CpuStages<'a, R: Scalar> {
    sweeps: &'a Sweeps<R>,
    messages: &'a mut PerAxis<HaloMessages>,
    slabs: &'a mut Slabs<R>,
    winds: &'a Winds<'a, R>,
    scale: R,
    transfers: Option<&'a mut Transfers<R>>,
    threads: &'a Threads,
    stats: SweepStats,
}

impl<R: Scalar> Stages for CpuStages<'_, R> {
    type Error = Infallible;

    fn has_messages(&self) -> bool {
        self.messages.x.any() || self.messages.y.any()
    }

    fn post(&mut self, axis: Axis, block: usize) -> Result<(), Infallible> {
        self.messages.get_mut(axis).post(block, self.slabs);
        Ok(())
    }

    fn finish(&mut self, axis: Axis, block: usize) -> Result<(), Infallible> {
        self.messages.get_mut(axis).finish(block, self.slabs);
        Ok(())
    }

    fn sweep(&mut self, axes: &[Axis], levels: Range<usize>) -> Result<(), Infallible> {
        let winds = (self.winds, self.scale);
        let found = self.sweeps.levels(self.slabs, winds, axes, levels, self.transfers.as_deref_mut(), self.threads);
        self.stats = self.stats.merge(found);
        Ok(())
    }
}

impl<R: Scalar> Sweeps<R> {
    /// Local copies and sweeps of the given stages for a range of levels, shared out over the threads.
    fn levels(
        &self,
        slabs: &mut Slabs<R>,
        (winds, scale): (&Winds<'_, R>, R),
        stages: &[Axis],
        levels: Range<usize>,
        transfers: Option<&mut Transfers<R>>,
        threads: &Threads,
    ) -> SweepStats {
        let (stride, first) = (slabs.level_stride(), levels.start);
        let tiles = slabs.tile_ranges();
        let shares = Shares::new(threads.count());
        let range = levels.start * stride..levels.end * stride;
        let level = |n: usize, slab: &mut [R], mut transfers: Option<LevelTransfers<'_, R>>| {
            let scratch = &mut *self.level_scratch[threads.index()].lock().expect("a sweep does not panic");
            let mut stats = SweepStats::default();
            let mut clock = shares.clock();
            for &axis in stages {
                self.copies.get(axis).apply(slab);
                clock.lap(halo_section(axis));
                for (tile, seams) in self.seams.get(axis).iter().enumerate() {
                    let planes = &mut slab[tiles[tile].clone()];
                    let faces =
                        TileFaces { x: winds.x.plane(first + n, tile, 0), y: winds.y.plane(first + n, tile, 0) };
                    let transfers = transfers.as_mut().map(|transfers| transfers.tile(tiles[tile].clone()));
                    stats = stats.merge(self.tile(axis, planes, &faces, scale, seams, transfers, scratch, &mut clock));
                }
            }
            stats
        };
        let slabs = slabs.data_mut()[range.clone()].par_chunks_mut(stride);
        match transfers {
            None => slabs.enumerate().map(|(n, slab)| level(n, slab, None)).reduce(Default::default, SweepStats::merge),
            Some(transfers) => {
                let slabs = slabs.zip(transfers.levels(range, stride)).enumerate();
                let swept = slabs.map(|(n, (slab, transfers))| level(n, slab, Some(transfers)));
                swept.reduce(Default::default, SweepStats::merge)
            }
        }
    }

    /// One sweep of all planes of one tile at one level.
    fn tile(
        &self,
        axis: Axis,
        planes: &mut [R],
        faces: &TileFaces<'_, R>,
        scale: R,
        seams: &TileSeams<R>,
        mut transfers: Option<TileTransfers<'_, R>>,
        scratch: &mut LevelScratch<R>,
        clock: &mut Clock<'_>,
    ) -> SweepStats {
        let LevelScratch { coefficients, workspace, seams: prepared, amounts } = scratch;
        let shape = &seams.shape;
        let (air, tracers) = planes.split_at_mut((AIR + 1) * shape.plane_len());
        // Seam amounts come from the state before anything moves; they are applied after the sweep, in table order.
        let mut stats = SweepStats::default();
        for (line, prepared) in seams.lines.iter().zip(prepared.iter_mut()) {
            stats = stats.merge(line.prepare(air, faces.along(line.face_axis), scale, prepared));
        }
        clock.lap(Timed::SeamFlux);
        stats = stats.merge(match axis {
            Axis::X => prepare_x(shape, air, faces.along(axis), scale, seams.ends, coefficients),
            Axis::Y => prepare_y(shape, air, faces.along(axis), scale, seams.ends, coefficients),
        });
        clock.lap(sweep_section(axis));
        for (line, prepared) in seams.lines.iter().zip(prepared.iter()) {
            line.apply(air, prepared.air());
        }
        for (n, tracer) in tracers.chunks_exact_mut(shape.plane_len()).enumerate() {
            let plane = (AIR + 1 + n) * shape.plane_len()..(AIR + 2 + n) * shape.plane_len();
            for ((line, prepared), amounts) in seams.lines.iter().zip(prepared.iter()).zip(amounts.iter_mut()) {
                line.tracer_amounts(self.kernel, tracer, prepared, workspace, amounts);
            }
            clock.lap(Timed::SeamFlux);
            let books = transfers.as_mut().map(|transfers| transfers.planes(axis, plane.clone()));
            match axis {
                Axis::X => self.kernel.sweep_x(shape, tracer, coefficients, books, workspace),
                Axis::Y => self.kernel.sweep_y(shape, tracer, coefficients, books, workspace),
            }
            clock.lap(sweep_section(axis));
            for (line, amounts) in seams.lines.iter().zip(amounts.iter()) {
                line.apply(tracer, amounts);
                if let Some(transfers) = &mut transfers {
                    line.book(transfers.planes(line.face_axis, plane.clone()), amounts);
                }
            }
        }
        clock.lap(Timed::SeamFlux);
        stats
    }
}
