//! Halo exchange over the slabs of a rank: local copies and one packed message per neighbour rank and level block.

use std::ops::Range;
use std::time::{Duration, Instant};

use decomposition::{CellStep, ExchangeKind, HaloPlan, Layout, Message, Strip, StripSide};
use kernels::Scalar;

use crate::comm::{Communicator, Exchange, MessageSpec};
use crate::state::Slabs;
use crate::timers::{self, Timed};

/// One side of a strip, as positions within a level's slab.
#[derive(Clone, Copy, Debug)]
struct Side {
    /// First cell of the strip in plane 0 of its tile.
    base: usize,
    /// Distance between the planes of the tile.
    plane: usize,
    /// Step along the edge.
    along: isize,
    /// Step away from the edge.
    across: isize,
}

/// A strip whose sides are resolved to positions. A side held by another rank is not resolved.
#[derive(Clone, Copy, Debug)]
struct Path<S, T> {
    source: S,
    target: T,
    len: usize,
    depth: usize,
}

impl<S, T> Path<S, T> {
    fn new(strip: &Strip, source: S, target: T) -> Self {
        Self { source, target, len: strip.len, depth: strip.depth }
    }
}

impl Side {
    fn resolve<R: Scalar>(side: &StripSide, slabs: &Slabs<R>) -> Self {
        let set = slabs.tile_set();
        let local = set.local(side.tile).expect("plans name the rank's own tiles");
        let shape = &set.shapes()[local];
        let step = |s: CellStep| s.dj * shape.pitch as isize + s.di;
        Self {
            base: slabs.tile_offset(local) + shape.index(side.i, side.j),
            plane: shape.plane_len(),
            along: step(side.along),
            across: step(side.across),
        }
    }

    /// Calls `f` with the position of the first cell of every line of the strip: planes, then depth.
    fn lines(&self, planes: usize, depth: usize, mut f: impl FnMut(usize)) {
        for plane in 0..planes {
            for d in 0..depth {
                f(self.line(plane, d) as usize);
            }
        }
    }

    fn line(&self, plane: usize, d: usize) -> isize {
        (self.base + plane * self.plane) as isize + d as isize * self.across
    }
}

/// Copies between tiles of one rank.
pub struct HaloCopies {
    planes: usize,
    paths: Vec<Path<Side, Side>>,
}

/// Packed messages between this rank and its neighbours, one per neighbour and level block.
pub struct HaloMessages {
    planes: usize,
    sends: Vec<Vec<Path<Side, ()>>>,
    receives: Vec<Vec<Path<(), Side>>>,
    blocks: Vec<(Range<usize>, Box<dyn Exchange>)>,
    /// Time spent waiting for messages.
    waited: Duration,
}

/// Plans the exchange of all planes of `slabs`, messages in the given blocks of levels. Collective over `comm`.
pub fn plan_halos<R: Scalar>(
    layout: &Layout,
    kind: ExchangeKind,
    slabs: &Slabs<R>,
    blocks: &[Range<usize>],
    comm: &dyn Communicator,
) -> (HaloCopies, HaloMessages) {
    assert!(blocks.len() <= MAX_BLOCKS, "level blocks are few");
    let plan = HaloPlan::new(layout, kind, comm.rank());
    let planes = slabs.planes();
    let kind_tag = match kind {
        ExchangeKind::Sweep(decomposition::Axis::X) => 0,
        ExchangeKind::Sweep(decomposition::Axis::Y) => 1,
        ExchangeKind::Edges | ExchangeKind::Full => 2,
    };
    let source = |s: &Strip| Side::resolve(&s.source, slabs);
    let target = |s: &Strip| Side::resolve(&s.target, slabs);
    let copies = plan.local.iter().map(|s| Path::new(s, source(s), target(s))).collect();
    let sends = plan.sends.iter().map(|m| m.strips.iter().map(|s| Path::new(s, source(s), ())).collect()).collect();
    let receives =
        plan.receives.iter().map(|m| m.strips.iter().map(|s| Path::new(s, (), target(s))).collect()).collect();
    let specs = |messages: &[Message], block: usize, levels: usize| -> Vec<MessageSpec> {
        messages
            .iter()
            .map(|m| MessageSpec {
                peer: m.peer,
                tag: (kind_tag * MAX_BLOCKS + block) as i32,
                bytes: m.cells() * planes * levels * size_of::<R>(),
            })
            .collect()
    };
    let blocks = blocks
        .iter()
        .enumerate()
        .map(|(n, levels)| {
            let (sends, receives) = (specs(&plan.sends, n, levels.len()), specs(&plan.receives, n, levels.len()));
            (levels.clone(), comm.exchange(&sends, &receives))
        })
        .collect();
    (HaloCopies { planes, paths: copies }, HaloMessages { planes, sends, receives, blocks, waited: Duration::ZERO })
}

impl HaloCopies {
    /// Makes the copies in one level's slab.
    pub fn apply<R: Scalar>(&self, slab: &mut [R]) {
        for path in &self.paths {
            for plane in 0..self.planes {
                for d in 0..path.depth {
                    let (from, to) = (path.source.line(plane, d), path.target.line(plane, d));
                    copy_line(slab, from, path.source.along, to, path.target.along, path.len);
                }
            }
        }
    }
}

impl HaloMessages {
    /// Whether this rank writes to or hears from another one.
    pub fn any(&self) -> bool {
        !self.sends.is_empty() || !self.receives.is_empty()
    }

    /// Packs and sends the halos of a level block and starts its receives.
    pub fn post<R: Scalar>(&mut self, block: usize, slabs: &Slabs<R>) {
        let _timed = timers::section(Timed::HaloPack);
        let (levels, exchange) = &mut self.blocks[block];
        for (n, strips) in self.sends.iter().enumerate() {
            let mut rest = bytemuck::cast_slice_mut::<u8, R>(exchange.send_buffer(n));
            for level in levels.clone() {
                let slab = slabs.level(level);
                for path in strips {
                    path.source.lines(self.planes, path.depth, |start| {
                        let (line, after) = std::mem::take(&mut rest).split_at_mut(path.len);
                        read_line(slab, start, path.source.along, line);
                        rest = after;
                    });
                }
            }
        }
        exchange.post();
    }

    /// Time spent waiting for messages since the last call.
    pub fn take_waited(&mut self) -> Duration {
        std::mem::take(&mut self.waited)
    }

    /// Waits for the messages of a level block and unpacks them.
    pub fn finish<R: Scalar>(&mut self, block: usize, slabs: &mut Slabs<R>) {
        let (levels, exchange) = &mut self.blocks[block];
        let waiting = timers::section(Timed::MpiWait);
        let start = Instant::now();
        exchange.wait();
        self.waited += start.elapsed();
        drop(waiting);
        let _timed = timers::section(Timed::HaloUnpack);
        let stride = slabs.level_stride();
        for (n, strips) in self.receives.iter().enumerate() {
            let mut rest = bytemuck::cast_slice::<u8, R>(exchange.receive_buffer(n));
            for level in levels.clone() {
                let slab = &mut slabs.data_mut()[level * stride..(level + 1) * stride];
                for path in strips {
                    path.target.lines(self.planes, path.depth, |start| {
                        let (line, after) = rest.split_at(path.len);
                        write_line(slab, start, path.target.along, line);
                        rest = after;
                    });
                }
            }
        }
    }
}

/// Upper bound of level blocks per exchange, keeps message tags apart.
pub(super) const MAX_BLOCKS: usize = 256;

/// First tag after those of the exchanges planned here.
pub(super) const FREE_TAG: usize = 3 * MAX_BLOCKS;

#[inline]
pub(super) fn copy_line<R: Copy>(
    slab: &mut [R],
    mut from: isize,
    from_step: isize,
    mut to: isize,
    to_step: isize,
    len: usize,
) {
    if from_step == 1 && to_step == 1 {
        slab.copy_within(from as usize..from as usize + len, to as usize);
        return;
    }
    for _ in 0..len {
        slab[to as usize] = slab[from as usize];
        from += from_step;
        to += to_step;
    }
}

/// Copies the cells from `start` on, `step` apart, into a message.
#[inline]
pub(super) fn read_line<R: Copy>(slab: &[R], start: usize, step: isize, line: &mut [R]) {
    if step == 1 {
        line.copy_from_slice(&slab[start..start + line.len()]);
        return;
    }
    let mut p = start;
    for value in line {
        *value = slab[p];
        p = p.wrapping_add_signed(step);
    }
}

/// Copies a part of a message to the cells from `start` on, `step` apart.
#[inline]
pub(super) fn write_line<R: Copy>(slab: &mut [R], start: usize, step: isize, line: &[R]) {
    if step == 1 {
        slab[start..start + line.len()].copy_from_slice(line);
        return;
    }
    let mut p = start;
    for &value in line {
        slab[p] = value;
        p = p.wrapping_add_signed(step);
    }
}
