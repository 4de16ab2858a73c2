//! Halo exchange over the slabs of a rank: local copies and one packed message per neighbour rank and level block.

use std::ops::Range;

use decomposition::{ExchangeKind, HaloPlan, Layout, Strip, StripSide};
use kernels::Scalar;

use crate::comm::{Communicator, Exchange, MessageSpec};
use crate::state::Slabs;

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

impl Side {
    fn resolve<R: Scalar>(side: &StripSide, slabs: &Slabs<R>) -> Self {
        let set = slabs.tile_set();
        let local = set.local(side.tile).expect("plans name the rank's own tiles");
        let shape = &set.shapes()[local];
        let step = |s: decomposition::CellStep| s.dj * shape.pitch as isize + s.di;
        Self {
            base: slabs.tile_offset(local) + shape.index(side.i, side.j),
            plane: shape.plane_len(),
            along: step(side.along),
            across: step(side.across),
        }
    }

    fn line(&self, plane: usize, d: usize) -> isize {
        (self.base + plane * self.plane) as isize + d as isize * self.across
    }
}

/// Exchange of one kind for a given state: what to copy within the rank and what to send and receive.
pub struct HaloExchange {
    planes: usize,
    local: Vec<Path<Side, Side>>,
    sends: Vec<Vec<Path<Side, ()>>>,
    receives: Vec<Vec<Path<(), Side>>>,
    blocks: Vec<(Range<usize>, Box<dyn Exchange>)>,
}

impl HaloExchange {
    /// Plans the exchange of all planes of `slabs` in the given blocks of levels. Collective over `comm`.
    pub fn new<R: Scalar>(
        layout: &Layout,
        kind: ExchangeKind,
        slabs: &Slabs<R>,
        blocks: &[Range<usize>],
        comm: &dyn Communicator,
    ) -> Self {
        let plan = HaloPlan::new(layout, kind, comm.rank());
        let size = |s: &Strip| s.len * s.depth;
        let planes = slabs.planes();
        let kind_tag = match kind {
            ExchangeKind::Sweep(decomposition::Axis::X) => 0,
            ExchangeKind::Sweep(decomposition::Axis::Y) => 1,
            ExchangeKind::Full => 2,
        };
        let specs = |messages: &[decomposition::Message], block: usize, levels: usize| -> Vec<MessageSpec> {
            messages
                .iter()
                .map(|m| MessageSpec {
                    peer: m.peer,
                    tag: (kind_tag * MAX_BLOCKS + block) as i32,
                    bytes: m.strips.iter().map(size).sum::<usize>() * planes * levels * size_of::<R>(),
                })
                .collect()
        };
        assert!(blocks.len() <= MAX_BLOCKS, "level blocks are few");
        Self {
            planes,
            local: plan
                .local
                .iter()
                .map(|s| Path {
                    source: Side::resolve(&s.source, slabs),
                    target: Side::resolve(&s.target, slabs),
                    len: s.len,
                    depth: s.depth,
                })
                .collect(),
            sends: plan
                .sends
                .iter()
                .map(|m| {
                    let path = |s: &Strip| Path {
                        source: Side::resolve(&s.source, slabs),
                        target: (),
                        len: s.len,
                        depth: s.depth,
                    };
                    m.strips.iter().map(path).collect()
                })
                .collect(),
            receives: plan
                .receives
                .iter()
                .map(|m| {
                    let path = |s: &Strip| Path {
                        source: (),
                        target: Side::resolve(&s.target, slabs),
                        len: s.len,
                        depth: s.depth,
                    };
                    m.strips.iter().map(path).collect()
                })
                .collect(),
            blocks: blocks
                .iter()
                .enumerate()
                .map(|(n, levels)| {
                    let sends = specs(&plan.sends, n, levels.len());
                    let receives = specs(&plan.receives, n, levels.len());
                    (levels.clone(), comm.exchange(&sends, &receives))
                })
                .collect(),
        }
    }

    /// Whether this rank writes to or hears from another one.
    pub fn has_messages(&self) -> bool {
        !self.sends.is_empty() || !self.receives.is_empty()
    }

    /// Copies between tiles of this rank, for one level's slab.
    pub fn copy_level<R: Scalar>(&self, slab: &mut [R]) {
        for path in &self.local {
            for plane in 0..self.planes {
                for d in 0..path.depth {
                    let (from, to) = (path.source.line(plane, d), path.target.line(plane, d));
                    copy_line(slab, from, path.source.along, to, path.target.along, path.len);
                }
            }
        }
    }

    /// Packs and sends the halos of a level block and starts its receives.
    pub fn post<R: Scalar>(&mut self, block: usize, slabs: &Slabs<R>) {
        let (levels, exchange) = &mut self.blocks[block];
        for (n, strips) in self.sends.iter().enumerate() {
            let mut values = bytemuck::cast_slice_mut::<u8, R>(exchange.send_buffer(n)).iter_mut();
            for level in levels.clone() {
                let slab = slabs.level(level);
                for path in strips {
                    for_each_position(self.planes, path.depth, path.len, &path.source, |p| {
                        *values.next().expect("message length equals its strips") = slab[p];
                    });
                }
            }
        }
        exchange.post();
    }

    /// Waits for the messages of a level block and unpacks them.
    pub fn finish<R: Scalar>(&mut self, block: usize, slabs: &mut Slabs<R>) {
        let (levels, exchange) = &mut self.blocks[block];
        exchange.wait();
        let stride = slabs.level_stride();
        for (n, strips) in self.receives.iter().enumerate() {
            let mut values = bytemuck::cast_slice::<u8, R>(exchange.receive_buffer(n)).iter();
            for level in levels.clone() {
                let slab = &mut slabs.data_mut()[level * stride..(level + 1) * stride];
                for path in strips {
                    for_each_position(self.planes, path.depth, path.len, &path.target, |p| {
                        slab[p] = *values.next().expect("message length equals its strips");
                    });
                }
            }
        }
    }

    /// Full refresh of all halos: post, local copies, finish, block by block.
    pub fn refresh<R: Scalar>(&mut self, slabs: &mut Slabs<R>) {
        for block in 0..self.blocks.len() {
            self.post(block, slabs);
        }
        let stride = slabs.level_stride();
        for slab in slabs.data_mut().chunks_mut(stride) {
            self.copy_level(slab);
        }
        for block in 0..self.blocks.len() {
            self.finish(block, slabs);
        }
    }
}

/// Upper bound of level blocks per exchange, keeps message tags apart.
const MAX_BLOCKS: usize = 256;

fn for_each_position(planes: usize, depth: usize, len: usize, side: &Side, mut visit: impl FnMut(usize)) {
    for plane in 0..planes {
        for d in 0..depth {
            let mut p = side.line(plane, d);
            for _ in 0..len {
                visit(p as usize);
                p += side.along;
            }
        }
    }
}

#[inline]
fn copy_line<R: Copy>(slab: &mut [R], mut from: isize, from_step: isize, mut to: isize, to_step: isize, len: usize) {
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
