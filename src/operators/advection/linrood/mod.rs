//! The horizontal operator of Lin & Rood (1996) on the cubed sphere, for all packed tracers.
//!
//! Inner fluxes along either axis give two predictors, outer fluxes are formed from the predictor advected along the other
//! axis, and the mean of both moves the tracers. Beyond the edge of a tile a cell sees the neighbour's predictor that was
//! advected along the common edge, so both sides of a panel seam form their fluxes from the same values and get the same bits.
//! With remapped ghosts they do not, and take the mean of both.

mod budget;
mod level;
mod messages;
mod seams;
mod strips;

use std::sync::Mutex;
use std::time::Duration;

use decomposition::Layout;
use kernels::Scalar;
use kernels::cpu::{AlignedBuffer, SweepStats};
use kernels::scheme::{LinRood, Sign};
use rayon::prelude::*;

use self::budget::Needs;
use self::level::{LevelSteps, LevelWork};
use self::messages::Messages;
use super::transfers::Transfers;
use super::wave::level_blocks;
use super::{CellBudget, MESSAGE_BYTES, Winds};
use crate::comm::Communicator;
use crate::operators::Threads;
use crate::state::{AIR, PackedState, Slabs, TileSet};
use crate::timers::Shares;

/// In how many passes a level is taken through a leg, and the factor on its stored fluxes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share<R> {
    pub(super) passes: usize,
    pub(super) scale: R,
}

/// One leg of the palindrome.
pub(super) struct Leg<'a, R: Scalar> {
    winds: &'a Winds<'a, R>,
    shares: &'a [Share<R>],
    signs: &'a [Sign],
    transfers: Option<&'a mut Transfers<R>>,
    threads: &'a Threads,
}

/// The operator with all its work space.
pub(in crate::operators) struct LinRoodOperator<R: Scalar> {
    steps: LevelSteps<R>,
    route: Route<R>,
    needs: Needs,
    shares: Vec<Share<R>>,
    /// A plane without fluxes.
    still: AlignedBuffer<R>,
}

/// How levels go through a leg.
enum Route<R: Scalar> {
    /// No neighbour on another rank: each level runs through all passes, one tracer after the other, while it is in cache.
    /// Work space for each thread.
    Local(Vec<Mutex<LevelWork<R>>>),
    /// With messages between the steps.
    Messages(Messages<R>),
}

impl<R: Scalar> LinRoodOperator<R> {
    /// Collective over `comm`.
    pub(super) fn new(
        operator: LinRood,
        layout: &Layout,
        slabs: &Slabs<R>,
        threads: &Threads,
        comm: &dyn Communicator,
    ) -> Self {
        let steps = LevelSteps::new(operator, layout, slabs, threads.count(), comm.rank());
        let blocks = level_blocks(layout, slabs, MESSAGE_BYTES, threads.count(), comm);
        let route = if steps.strips.any_messages() {
            Route::Messages(Messages::new(&steps, slabs, blocks, comm))
        } else {
            let work = |_| Mutex::new(LevelWork::new(slabs.tile_set(), 1));
            Route::Local((0..threads.count()).map(work).collect())
        };
        let shares = vec![Share { passes: 1, scale: R::lit(1.0) }; slabs.levels()];
        let plane = slabs.tile_set().shapes().iter().map(|shape| shape.plane_len()).max().unwrap_or(0);
        Self { steps, route, needs: Needs::new(slabs.levels()), shares, still: AlignedBuffer::zeros(plane) }
    }

    /// Largest outflow budget of a substep in one pass, `2·(out_x + out_y)/m` or `2·out_z/m` of a cell. Levels that need less
    /// of it are taken through fewer passes from now on. Collective.
    pub(super) fn largest_budget(
        &mut self,
        air: &Slabs<R>,
        winds: Winds<'_, R>,
        comm: &dyn Communicator,
    ) -> CellBudget {
        self.needs.find(air, winds, &self.still, comm)
    }

    /// Parts of the vertical legs, if the neediest leg has this many.
    pub(super) fn vertical_passes(&self, passes: usize) -> usize {
        self.needs.vertical(passes)
    }

    /// Bytes of the work space of a rank with tiles `set`.
    pub(in crate::operators) fn work_bytes(
        set: &TileSet,
        tracers: usize,
        threads: usize,
        levels_at_once: Option<usize>,
    ) -> u64 {
        match levels_at_once {
            None => threads as u64 * LevelWork::<R>::bytes(set, 1),
            Some(levels) => (messages::LANES * levels) as u64 * LevelWork::<R>::bytes(set, tracers),
        }
    }

    /// Time spent waiting for messages since the last call.
    pub(super) fn take_waited(&mut self) -> Duration {
        match &mut self.route {
            Route::Local(_) => Duration::ZERO,
            Route::Messages(messages) => messages.take_waited(),
        }
    }

    /// One leg: each level in at most `passes` equal parts.
    pub(super) fn leg(
        &mut self,
        state: &mut PackedState<R>,
        winds: &Winds<'_, R>,
        passes: usize,
        signs: &[Sign],
        transfers: Option<&mut Transfers<R>>,
        threads: &Threads,
    ) -> SweepStats {
        let Self { steps, route, needs, shares, .. } = self;
        for (level, share) in shares.iter_mut().enumerate() {
            let passes = needs.horizontal(level, passes);
            *share = Share { passes, scale: R::from_f64(winds.scale / passes as f64) };
        }
        let mut leg = Leg { winds, shares, signs, transfers, threads };
        match route {
            Route::Local(work) => local(steps, work, state.slabs_mut(), &mut leg),
            Route::Messages(messages) => messages.run(steps, state.slabs_mut(), &mut leg),
        }
    }
}

/// All passes of all levels without messages.
fn local<R: Scalar>(
    steps: &LevelSteps<R>,
    work: &[Mutex<LevelWork<R>>],
    slabs: &mut Slabs<R>,
    leg: &mut Leg<'_, R>,
) -> SweepStats {
    let (stride, planes, levels) = (slabs.level_stride(), slabs.planes(), slabs.levels());
    let (winds, level_shares, signs, threads) = (leg.winds, leg.shares, leg.signs, leg.threads);
    let shares = Shares::new(threads.count());
    let level = |level: usize, slab: &mut [R], mut books| {
        let (thread, mut clock) = (threads.index(), shares.clock());
        let work = &mut *work[thread].lock().expect("a pass does not panic");
        let Share { passes, scale } = level_shares[level];
        let mut stats = SweepStats::default();
        for _ in 0..passes {
            stats = stats.merge(steps.air(slab, (winds, level, scale), work, &mut clock));
            for (plane, &sign) in (AIR + 1..planes).zip(signs) {
                steps.inner(slab, plane, work, 0, thread, &mut clock);
                steps.outer(work, 0, thread, &mut clock);
                steps.agree(work, 0, &mut clock);
                if steps.keeps_positive(sign) {
                    steps.parts(slab, plane, work, 0, &mut clock);
                }
                steps.update(slab, (plane, sign), work, 0, &mut books, &mut clock);
            }
        }
        stats
    };
    let range = 0..levels * stride;
    let slabs = slabs.data_mut()[range.clone()].par_chunks_mut(stride);
    match &mut leg.transfers {
        None => slabs.enumerate().map(|(n, slab)| level(n, slab, None)).reduce(Default::default, SweepStats::merge),
        Some(transfers) => slabs
            .zip(transfers.levels(range, stride))
            .enumerate()
            .map(|(n, (slab, books))| level(n, slab, Some(books)))
            .reduce(Default::default, SweepStats::merge),
    }
}
