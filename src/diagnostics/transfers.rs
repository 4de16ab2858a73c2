//! Column-integrated tracer fluxes over an interval.

use std::sync::Arc;

use kernels::Scalar;
use kernels::numerics::neumaier_add;

use super::ColumnSums;
use crate::state::{Slabs, TileSet};

/// What is summed, in the order of [`ColumnTransfers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// What a column has gained from its horizontal neighbours, kg.
    Gain,
    /// Fluxes through the west and east sides of a column together, kg, positive toward larger i.
    AlongI,
    /// Fluxes through the south and north sides of a column together, kg, positive toward larger j.
    AlongJ,
}

impl Transfer {
    /// All of them.
    pub const ALL: [Transfer; 3] = [Transfer::Gain, Transfer::AlongI, Transfer::AlongJ];
}

/// Sums over the columns of a rank and over the sweeps of an interval, in pairs like [`ColumnSums`]; the same bits on any
/// layout and device. Plane 0, of the air, holds nothing of use.
#[derive(Clone, Debug)]
pub struct ColumnTransfers<R>([ColumnSums<R>; 3]);

impl<R: Scalar> ColumnTransfers<R> {
    /// Sums of zero for a state with `planes` planes.
    pub fn zeros(set: &Arc<TileSet>, planes: usize) -> Self {
        Self(Transfer::ALL.map(|_| ColumnSums::zeros(set.clone(), planes)))
    }

    /// Adds the column sums of a part of the interval, as pairs in the layout of [`ColumnSums::parts`].
    pub fn add(&mut self, what: Transfer, parts: &Slabs<R>) {
        let own = self.0[what as usize].parts_mut();
        let stride = own.level_stride();
        let (sums, dropped) = own.data_mut().split_at_mut(stride);
        let (more, rest) = parts.data().split_at(stride);
        for ((sum, dropped), (more, rest)) in sums.iter_mut().zip(dropped).zip(more.iter().zip(rest)) {
            (*sum, *dropped) = neumaier_add(*sum, *dropped, *more);
            (*sum, *dropped) = neumaier_add(*sum, *dropped, *rest);
        }
    }

    /// Begins a new interval.
    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(|sums| sums.parts_mut().data_mut().fill(R::default()));
    }

    /// The sums of one kind.
    pub fn sums(&self, what: Transfer) -> &ColumnSums<R> {
        &self.0[what as usize]
    }

    /// As [`ColumnTransfers::sums`], mutable.
    pub fn sums_mut(&mut self, what: Transfer) -> &mut ColumnSums<R> {
        &mut self.0[what as usize]
    }
}

#[cfg(test)]
mod tests {
    use decomposition::{Panel, Tile};

    use super::*;

    #[test]
    fn parts_of_an_interval_add_up_beyond_single_precision() {
        let tile = Tile { id: 0, panel: Panel::ALL[0], i0: 0, j0: 0, ni: 2, nj: 1, rank: 0 };
        let set = Arc::new(TileSet::new(vec![tile], 2));
        let at = set.shapes()[0].index(0, 0);
        let mut total = ColumnTransfers::<f32>::zeros(&set, 2);
        let mut part = ColumnSums::<f32>::zeros(set, 2);
        // 1 + 2⁻³⁰ a hundred times: exact in a pair.
        part.parts_mut().plane_mut(0, 0, 1)[at] = 1.0;
        part.parts_mut().plane_mut(1, 0, 1)[at] = 2.0_f32.powi(-30);
        (0..100).for_each(|_| total.add(Transfer::AlongJ, part.parts()));
        let value = |total: &ColumnTransfers<f32>, what| total.sums(what).values(0, 1).next().unwrap();
        assert_eq!(value(&total, Transfer::AlongJ), 100.0 + 100.0 * 2.0_f64.powi(-30));
        assert_eq!(value(&total, Transfer::Gain), 0.0);
        total.clear();
        assert_eq!(value(&total, Transfer::AlongJ), 0.0);
    }
}
