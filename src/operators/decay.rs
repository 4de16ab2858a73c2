//! Radioactive decay of tracers.

use kernels::Scalar;
use rayon::prelude::*;

use crate::sources::Decay;
use crate::state::{AIR, PackedState};

/// A tracer that decays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decaying {
    /// Tracer in storage order.
    pub tracer: usize,
    /// Its decay.
    pub decay: Decay,
}

/// Lets tracers decay for `dt` seconds in all cells, halos left alone.
pub fn decay<R: Scalar>(state: &mut PackedState<R>, decaying: &[Decaying], dt: f64) {
    let set = state.tile_set().clone();
    let slabs = state.slabs_mut();
    let (stride, tiles) = (slabs.level_stride(), slabs.tile_ranges());
    slabs.data_mut().par_chunks_mut(stride).for_each(|slab| {
        for (shape, range) in set.shapes().iter().zip(tiles.iter()) {
            for one in decaying {
                let first = range.start + (AIR + 1 + one.tracer) * shape.plane_len();
                let decrement = one.decay.decrement(dt);
                for j in 0..shape.nj {
                    let row = first + shape.row_start(j);
                    kernels::columns::decay(&mut slab[row..row + shape.ni], decrement);
                }
            }
        }
    });
}
