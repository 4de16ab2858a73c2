//! Passes with neighbours on other ranks: two blocks of levels take turns, one computes while the messages of the other are
//! under way.

use std::ops::Range;
use std::time::{Duration, Instant};

use kernels::Scalar;
use kernels::cpu::SweepStats;
use kernels::scheme::LinRood;
use rayon::prelude::*;

use super::level::{LevelSteps, LevelWork};
use super::{Leg, Share};
use crate::comm::{Communicator, Exchange, MessageSpec};
use crate::operators::halo::{FREE_TAG, MAX_BLOCKS};
use crate::state::{AIR, Slabs};
use crate::timers::{self, Shares, Timed};

/// A step of a pass and the exchange before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Inner faces; contents are exchanged before.
    Inner,
    /// Outer faces; predictors are exchanged before.
    Outer,
    /// Amounts that both panels agree on; those of either are exchanged before.
    Agree,
    /// New contents; affordable parts are exchanged before.
    Update,
}

impl Stage {
    const ALL: [Stage; 4] = [Stage::Inner, Stage::Outer, Stage::Agree, Stage::Update];

    /// Whether a pass has it.
    fn takes_place<R: Scalar>(self, steps: &LevelSteps<R>) -> bool {
        match self {
            Stage::Inner | Stage::Outer => true,
            Stage::Agree => steps.agrees(),
            Stage::Update => steps.positive,
        }
    }

    fn depth(self) -> usize {
        match self {
            Stage::Inner | Stage::Outer => LinRood::HALO,
            Stage::Agree | Stage::Update => 1,
        }
    }

    /// Planes per strip in the messages before it.
    fn planes(self, tracers: usize) -> usize {
        match self {
            Stage::Inner => AIR + 1 + tracers,
            Stage::Outer | Stage::Agree | Stage::Update => tracers,
        }
    }
}

/// A block under way.
#[derive(Clone, Copy)]
struct Turn {
    block: usize,
    pass: usize,
    passes: usize,
    stage: Stage,
}

/// Blocks at work at the same time.
pub(super) const LANES: usize = 2;

pub(super) struct Messages<R: Scalar> {
    tracers: usize,
    blocks: Vec<Range<usize>>,
    /// The exchanges before each stage that takes place, for every block.
    exchanges: Vec<[Option<Box<dyn Exchange>>; Stage::ALL.len()]>,
    lanes: [Vec<LevelWork<R>>; LANES],
    waited: Duration,
}

impl<R: Scalar> Messages<R> {
    /// Collective over `comm`.
    pub(super) fn new(
        steps: &LevelSteps<R>,
        slabs: &Slabs<R>,
        blocks: Vec<Range<usize>>,
        comm: &dyn Communicator,
    ) -> Self {
        assert!(blocks.len() <= MAX_BLOCKS, "level blocks are few");
        let tracers = slabs.planes() - AIR - 1;
        let exchange = |block: usize, levels: usize, stage: Stage| {
            let spec = |(peer, cells): (usize, usize)| MessageSpec {
                peer,
                tag: (FREE_TAG + stage as usize * MAX_BLOCKS + block) as i32,
                bytes: cells * stage.planes(tracers) * levels * size_of::<R>(),
            };
            let sends: Vec<_> = steps.strips.sent(stage.depth()).map(spec).collect();
            let receives: Vec<_> = steps.strips.received(stage.depth()).map(spec).collect();
            comm.exchange(&sends, &receives)
        };
        let of_block = |(block, levels): (usize, &Range<usize>)| {
            Stage::ALL.map(|stage| stage.takes_place(steps).then(|| exchange(block, levels.len(), stage)))
        };
        let longest = blocks.iter().map(Range::len).max().unwrap_or(0);
        let lane = |_| (0..longest).map(|_| LevelWork::new(slabs.tile_set(), tracers)).collect();
        Self {
            tracers,
            exchanges: blocks.iter().enumerate().map(of_block).collect(),
            blocks,
            lanes: std::array::from_fn(lane),
            waited: Duration::ZERO,
        }
    }

    pub(super) fn take_waited(&mut self) -> Duration {
        std::mem::take(&mut self.waited)
    }

    /// All passes over all levels.
    pub(super) fn run(&mut self, steps: &LevelSteps<R>, slabs: &mut Slabs<R>, leg: &mut Leg<'_, R>) -> SweepStats {
        let mut stats = SweepStats::default();
        let mut next = 0;
        let mut turns: [Option<Turn>; LANES] = [None; LANES];
        for (lane, turn) in turns.iter_mut().enumerate() {
            *turn = self.start(&mut next, leg);
            self.post(*turn, lane, steps, slabs);
        }
        while turns.iter().any(Option::is_some) {
            for (lane, turn) in turns.iter_mut().enumerate() {
                let Some(now) = *turn else { continue };
                self.finish(now, lane, steps, slabs);
                stats = stats.merge(self.compute(now, lane, steps, slabs, leg));
                *turn = now.next(steps).or_else(|| self.start(&mut next, leg));
                self.post(*turn, lane, steps, slabs);
            }
        }
        stats
    }

    /// The next block that has not begun.
    fn start(&self, next: &mut usize, leg: &Leg<'_, R>) -> Option<Turn> {
        let block = *next;
        let levels = self.blocks.get(block)?.clone();
        *next += 1;
        let passes = leg.shares[levels].iter().map(|share| share.passes).max().unwrap_or(1);
        Some(Turn { block, pass: 0, passes, stage: Stage::Inner })
    }

    /// Packs and sends what the stage of a turn needs.
    fn post(&mut self, turn: Option<Turn>, lane: usize, steps: &LevelSteps<R>, slabs: &Slabs<R>) {
        let Some(Turn { block, stage, .. }) = turn else { return };
        let _timed = timers::section(Timed::HaloPack);
        let exchange = self.exchanges[block][stage as usize].as_mut().expect("the stage takes place");
        let depth = stage.depth();
        for (n, _) in steps.strips.sent(depth).enumerate() {
            let mut rest = bytemuck::cast_slice_mut::<u8, R>(exchange.send_buffer(n));
            for (level, work) in self.blocks[block].clone().zip(&self.lanes[lane]) {
                for plane in 0..stage.planes(self.tracers) {
                    rest = match stage {
                        Stage::Inner => steps.strips.pack(n, slabs.level(level), depth, steps.content(plane), rest),
                        Stage::Outer => steps.strips.pack(n, &work.planes, depth, steps.predictor(plane), rest),
                        Stage::Agree => steps.strips.pack(n, &work.planes, depth, steps.edge_amounts(plane), rest),
                        Stage::Update => steps.strips.pack(n, &work.planes, depth, steps.part(plane), rest),
                    };
                }
            }
        }
        exchange.post();
    }

    /// Waits for what the stage of a turn needs and unpacks it.
    fn finish(&mut self, turn: Turn, lane: usize, steps: &LevelSteps<R>, slabs: &mut Slabs<R>) {
        let Turn { block, stage, .. } = turn;
        let exchange = self.exchanges[block][stage as usize].as_mut().expect("the stage takes place");
        let waiting = timers::section(Timed::MpiWait);
        let start = Instant::now();
        exchange.wait();
        self.waited += start.elapsed();
        drop(waiting);
        let _timed = timers::section(Timed::HaloUnpack);
        let (depth, stride) = (stage.depth(), slabs.level_stride());
        for (n, _) in steps.strips.received(depth).enumerate() {
            let mut rest = bytemuck::cast_slice::<u8, R>(exchange.receive_buffer(n));
            for (level, work) in self.blocks[block].clone().zip(&mut self.lanes[lane]) {
                let slab = &mut slabs.data_mut()[level * stride..(level + 1) * stride];
                for plane in 0..stage.planes(self.tracers) {
                    rest = match stage {
                        Stage::Inner => steps.strips.unpack(n, slab, depth, steps.content(plane), rest),
                        Stage::Outer => steps.strips.unpack(n, &mut work.planes, depth, steps.predictor(plane), rest),
                        Stage::Agree | Stage::Update => {
                            steps.strips.unpack(n, &mut work.planes, depth, steps.part(plane), rest)
                        }
                    };
                }
            }
        }
    }

    /// The stage of a turn on all levels of its block that take part in the pass.
    fn compute(
        &mut self,
        turn: Turn,
        lane: usize,
        steps: &LevelSteps<R>,
        slabs: &mut Slabs<R>,
        leg: &mut Leg<'_, R>,
    ) -> SweepStats {
        let levels = self.blocks[turn.block].clone();
        let stride = slabs.level_stride();
        let (winds, level_shares, signs, threads) = (leg.winds, leg.shares, leg.signs, leg.threads);
        let shares = Shares::new(threads.count());
        let range = levels.start * stride..levels.end * stride;
        let level = |n: usize, slab: &mut [R], work: &mut LevelWork<R>, mut books| {
            let level = levels.start + n;
            let Share { passes, scale } = level_shares[level];
            let mut stats = SweepStats::default();
            if turn.pass >= passes {
                return stats;
            }
            let (thread, mut clock) = (threads.index(), shares.clock());
            if turn.stage == Stage::Inner {
                stats = steps.air(slab, (winds, level, scale), work, &mut clock);
            }
            for (slot, &sign) in signs.iter().enumerate() {
                let plane = AIR + 1 + slot;
                match turn.stage {
                    Stage::Inner => steps.inner(slab, plane, work, slot, thread, &mut clock),
                    Stage::Outer => steps.outer(work, slot, thread, &mut clock),
                    Stage::Agree => steps.agree(work, slot, &mut clock),
                    Stage::Update => steps.update(slab, (plane, sign), work, slot, &mut books, &mut clock),
                }
                if turn.amounts_are_final(steps) {
                    if steps.keeps_positive(sign) {
                        steps.parts(slab, plane, work, slot, &mut clock);
                    } else if !steps.positive {
                        steps.update(slab, (plane, sign), work, slot, &mut books, &mut clock);
                    }
                }
            }
            stats
        };
        let slabs = slabs.data_mut()[range.clone()].par_chunks_mut(stride);
        let work = slabs.zip(self.lanes[lane].par_iter_mut());
        match &mut leg.transfers {
            None => work
                .enumerate()
                .map(|(n, (slab, work))| level(n, slab, work, None))
                .reduce(Default::default, SweepStats::merge),
            Some(transfers) => work
                .zip(transfers.levels(range, stride))
                .enumerate()
                .map(|(n, ((slab, work), books))| level(n, slab, work, Some(books)))
                .reduce(Default::default, SweepStats::merge),
        }
    }
}

impl Turn {
    /// What follows; `None` after the last pass.
    fn next<R: Scalar>(self, steps: &LevelSteps<R>) -> Option<Turn> {
        let later = Stage::ALL[self.stage as usize + 1..].iter().find(|stage| stage.takes_place(steps));
        match later {
            Some(&stage) => Some(Turn { stage, ..self }),
            None => (self.pass + 1 < self.passes).then_some(Turn { pass: self.pass + 1, stage: Stage::Inner, ..self }),
        }
    }

    /// Whether no stage changes the amounts any more but for what cells can afford.
    fn amounts_are_final<R: Scalar>(self, steps: &LevelSteps<R>) -> bool {
        match self.stage {
            Stage::Inner | Stage::Update => false,
            Stage::Outer => !steps.agrees(),
            Stage::Agree => true,
        }
    }
}
