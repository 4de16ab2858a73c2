//! What is looked at between windows: unusable cells, files that do not join.

use kernels::Scalar;
use rayon::prelude::*;

use crate::comm::Communicator;
use crate::state::{AIR, CellPlace, PackedState, Slabs};

/// Files whose air masses differ by no more than this, relative to the largest cell, join: the rounding of Float32 winds.
pub(super) const JOINED: f64 = 1e-4;

/// Largest difference between the carried air mass (plane 0 of `carried`) and `start`, relative to the largest cell.
/// Collective.
pub(super) fn largest_jump<R: Scalar>(carried: &Slabs<R>, start: &Slabs<R>, comm: &dyn Communicator) -> f64 {
    let mut most = [0.0_f64, f64::MIN_POSITIVE];
    for level in 0..start.levels() {
        for (tile, shape) in start.tile_set().shapes().iter().enumerate() {
            let (carried, start) = (carried.plane(level, tile, AIR), start.plane(level, tile, 0));
            for j in 0..shape.nj {
                let row = shape.row_start(j)..shape.row_start(j) + shape.ni;
                for (a, b) in carried[row.clone()].iter().zip(&start[row]) {
                    most[0] = most[0].max((a.to_f64() - b.to_f64()).abs());
                    most[1] = most[1].max(b.to_f64());
                }
            }
        }
    }
    comm.max_f64(&mut most);
    most[0] / most[1]
}

/// The first cell, in the order level, tile, plane, j, i, whose air mass is not positive or that holds a value that is
/// not finite.
pub(super) fn first_unusable<R: Scalar>(state: &PackedState<R>) -> Option<CellPlace> {
    let slabs = state.slabs();
    (0..slabs.levels()).into_par_iter().find_map_first(|level| {
        for (tile, shape) in slabs.tile_set().shapes().iter().enumerate() {
            for plane in 0..slabs.planes() {
                let values = slabs.plane(level, tile, plane);
                for j in 0..shape.nj {
                    let row = &values[shape.row_start(j)..shape.row_start(j) + shape.ni];
                    let sound = |v: R| v.is_finite() && (plane != AIR || v > R::default());
                    if let Some(i) = row.iter().position(|v| !sound(*v)) {
                        return Some(CellPlace { level, tile, plane, j, i });
                    }
                }
            }
        }
        None
    })
}
