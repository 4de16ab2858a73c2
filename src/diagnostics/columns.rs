//! Sums over columns.

use std::sync::Arc;

use kernels::numerics::neumaier_add;
use kernels::{Scalar, TileShape};
use rayon::prelude::*;

use crate::state::{Slabs, TileSet};

/// Sum of every column of every plane of a packed state: a pair in the precision of the state, from the top layer down by
/// [`neumaier_add`]. Devices form the same pairs, to the bit.
///
/// Sums beyond the range of the precision are NaN.
#[derive(Clone, Debug)]
pub struct ColumnSums<R> {
    /// Level 0 holds the sums, level 1 what their rounding dropped.
    parts: Slabs<R>,
}

impl<R: Scalar> ColumnSums<R> {
    /// Sums of zero for a state with `planes` planes.
    pub fn zeros(set: Arc<TileSet>, planes: usize) -> Self {
        Self { parts: Slabs::zeros(set, 2, planes) }
    }

    /// Storage of the pairs in the layout of the state: the sums at level 0, what rounding dropped at level 1.
    pub fn parts(&self) -> &Slabs<R> {
        &self.parts
    }

    /// As [`ColumnSums::parts`], mutable.
    pub fn parts_mut(&mut self) -> &mut Slabs<R> {
        &mut self.parts
    }

    /// Replaces the sums by those of `state`; halos are left alone.
    ///
    /// # Panics
    /// `state` lives on other tiles or has another number of planes.
    pub fn add_up(&mut self, state: &Slabs<R>) {
        assert!(state.planes() == self.parts.planes() && state.tile_set() == self.parts.tile_set());
        let (stride, ranges) = (self.parts.level_stride(), self.parts.tile_ranges());
        let (sums, dropped) = self.parts.data_mut().split_at_mut(stride);
        for (tile, range) in ranges.iter().enumerate() {
            let shape = &state.tile_set().shapes()[tile];
            let sums = sums[range.clone()].par_chunks_exact_mut(shape.plane_len());
            let dropped = dropped[range.clone()].par_chunks_exact_mut(shape.plane_len());
            sums.zip(dropped).enumerate().for_each(|(plane, (sums, dropped))| {
                let levels = (0..state.levels()).map(|level| state.plane(level, tile, plane));
                add_planes(shape, levels, sums, dropped);
            });
        }
    }

    /// Sums of the columns of one plane of a tile in f64, i fastest.
    pub fn values(&self, tile: usize, plane: usize) -> impl Iterator<Item = f64> + '_ {
        let shape = self.parts.tile_set().shapes()[tile];
        let [sums, dropped] = [0, 1].map(|part| self.parts.plane(part, tile, plane));
        (0..shape.nj).flat_map(move |j| {
            let row = shape.row_start(j)..shape.row_start(j) + shape.ni;
            row.map(|at| sums[at].to_f64() + dropped[at].to_f64())
        })
    }
}

fn add_planes<'a, R: Scalar>(
    shape: &TileShape,
    levels: impl Iterator<Item = &'a [R]>,
    sums: &mut [R],
    dropped: &mut [R],
) {
    let rows = || (0..shape.nj).map(|j| shape.row_start(j)..shape.row_start(j) + shape.ni);
    for row in rows() {
        sums[row.clone()].fill(R::default());
        dropped[row].fill(R::default());
    }
    for values in levels {
        for row in rows() {
            let pairs = sums[row.clone()].iter_mut().zip(&mut dropped[row.clone()]);
            for ((sum, dropped), value) in pairs.zip(&values[row]) {
                (*sum, *dropped) = neumaier_add(*sum, *dropped, *value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use decomposition::{Panel, Tile};

    use super::*;

    /// Two tiles of several rows with halos.
    fn set() -> Arc<TileSet> {
        let tile = |id, ni, nj| Tile { id, panel: Panel::ALL[id], i0: 0, j0: 0, ni, nj, rank: 0 };
        Arc::new(TileSet::new(vec![tile(0, 3, 2), tile(1, 2, 4)], 2))
    }

    #[test]
    fn pairs_hold_what_single_precision_drops() {
        // Whole numbers below 2^40: sums in f64 are exact in any order, sums in f32 are not.
        let (levels, planes) = (30, 3);
        let value = |level: usize, tile: usize, plane: usize, cell: usize| {
            (((level * 7 + tile) * 11 + plane) * 13 + cell) * 7919 % 10007
                * if level.is_multiple_of(3) { 1 } else { 1 << 16 }
        };
        let mut state = Slabs::<f32>::zeros(set(), levels, planes);
        state.data_mut().fill(f32::NAN);
        let mut expected = Vec::new();
        let mut plain_differs = false;
        for tile in 0..2 {
            let shape = state.tile_set().shapes()[tile];
            for plane in 0..planes {
                for cell in 0..shape.ni * shape.nj {
                    let at = shape.row_start(cell / shape.ni) + cell % shape.ni;
                    let mut plain = 0.0_f32;
                    for level in 0..levels {
                        let value = value(level, tile, plane, cell) as f32;
                        state.plane_mut(level, tile, plane)[at] = value;
                        plain += value;
                    }
                    let exact: usize = (0..levels).map(|level| value(level, tile, plane, cell)).sum();
                    expected.push(exact as f64);
                    plain_differs |= f64::from(plain) != exact as f64;
                }
            }
        }
        assert!(plain_differs);
        let mut sums = ColumnSums::zeros(set(), planes);
        sums.parts_mut().data_mut().fill(-7.0);
        // Twice: nothing of the sums before is left.
        for _ in 0..2 {
            sums.add_up(&state);
            let tiles = (0..2).flat_map(|tile| (0..planes).map(move |plane| (tile, plane)));
            let found: Vec<f64> = tiles.flat_map(|(tile, plane)| sums.values(tile, plane)).collect();
            assert_eq!(found, expected);
        }
        assert_eq!(sums.parts().plane(0, 0, 0)[0], -7.0, "halos are left alone");
    }

    #[test]
    fn columns_are_summed_from_the_top() {
        let [small, tiny] = [-60, -120].map(|n| 2.0_f64.powi(n));
        let sum = |column: [f64; 5]| {
            let mut state = Slabs::<f64>::zeros(set(), 5, 1);
            let at = state.tile_set().shapes()[0].row_start(0);
            for (level, value) in column.into_iter().enumerate() {
                state.plane_mut(level, 0, 0)[at] = value;
            }
            let mut sums = ColumnSums::zeros(set(), 1);
            sums.add_up(&state);
            sums.values(0, 0).next().unwrap()
        };
        assert_eq!(sum([1.0, small, -small, tiny, -1.0]), tiny);
        // From the other end, the rest has no room for the tiny value beside the small one.
        assert_eq!(sum([-1.0, tiny, -small, small, 1.0]), 0.0);
    }
}
