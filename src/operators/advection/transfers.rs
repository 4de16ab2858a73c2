//! Books of what the horizontal sweeps move, for column-integrated tracer fluxes.
//!
//! Every level has books of its own, so that their sums do not depend on the order in which threads and messages take the
//! levels; columns are added up afterwards, from the top down.

use std::ops::Range;

use decomposition::Axis;
use kernels::Scalar;
use kernels::cpu::{LinRoodBooks, TransferPlanes};
use rayon::prelude::*;

use crate::state::Slabs;

/// Sums over horizontal sweeps, kg of mixing ratio times air mass, in the layout of the packed state; planes of the air and
/// halos hold nothing of use.
#[derive(Clone, Debug)]
pub struct Transfers<R> {
    /// What each cell has gained from its horizontal neighbours.
    pub gain: Slabs<R>,
    /// Fluxes through the west and the east side of each cell together, positive toward larger i.
    pub along_i: Slabs<R>,
    /// Fluxes through the south and the north side of each cell together, positive toward larger j.
    pub along_j: Slabs<R>,
}

impl<R: Scalar> Transfers<R> {
    /// Empty books for a packed state.
    pub fn new(state: &Slabs<R>) -> Self {
        let empty = Slabs::zeros(state.tile_set().clone(), state.levels(), state.planes());
        Self { gain: empty.clone(), along_i: empty.clone(), along_j: empty }
    }

    /// All three books.
    pub fn all(&self) -> [&Slabs<R>; 3] {
        [&self.gain, &self.along_i, &self.along_j]
    }

    /// Empties the books.
    pub fn clear(&mut self) {
        for book in [&mut self.gain, &mut self.along_i, &mut self.along_j] {
            book.data_mut().par_chunks_mut(1 << 16).for_each(|part| part.fill(R::default()));
        }
    }

    /// The books of a range of values, `stride` for each level.
    pub(super) fn levels(
        &mut self,
        range: Range<usize>,
        stride: usize,
    ) -> impl IndexedParallelIterator<Item = LevelTransfers<'_, R>> {
        let [gain, along_i, along_j] = [&mut self.gain, &mut self.along_i, &mut self.along_j]
            .map(|book| book.data_mut()[range.clone()].par_chunks_mut(stride));
        gain.zip(along_i).zip(along_j).map(|((gain, along_i), along_j)| LevelTransfers { gain, along_i, along_j })
    }
}

/// The books of one level.
pub(super) struct LevelTransfers<'a, R> {
    gain: &'a mut [R],
    along_i: &'a mut [R],
    along_j: &'a mut [R],
}

impl<R> LevelTransfers<'_, R> {
    /// Those of the plane of one tile in `range`.
    pub(super) fn plane(&mut self, range: Range<usize>) -> LinRoodBooks<'_, R> {
        LinRoodBooks {
            gain: &mut self.gain[range.clone()],
            along_i: &mut self.along_i[range.clone()],
            along_j: &mut self.along_j[range],
        }
    }

    /// Those of the tile in `range`.
    pub(super) fn tile(&mut self, range: Range<usize>) -> TileTransfers<'_, R> {
        TileTransfers(LevelTransfers {
            gain: &mut self.gain[range.clone()],
            along_i: &mut self.along_i[range.clone()],
            along_j: &mut self.along_j[range],
        })
    }
}

/// The books of one tile at one level.
pub(super) struct TileTransfers<'a, R>(LevelTransfers<'a, R>);

impl<R> TileTransfers<'_, R> {
    /// Books of the plane in `range` for fluxes along an axis.
    pub(super) fn planes(&mut self, axis: Axis, range: Range<usize>) -> TransferPlanes<'_, R> {
        let through = match axis {
            Axis::X => &mut *self.0.along_i,
            Axis::Y => &mut *self.0.along_j,
        };
        TransferPlanes { gain: &mut self.0.gain[range.clone()], through: &mut through[range] }
    }
}
