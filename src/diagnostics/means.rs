//! Means of the state over an interval.

use std::sync::Arc;

use kernels::Scalar;
use kernels::numerics::neumaier_add;
use rayon::prelude::*;

use crate::state::{Slabs, TileSet};

/// Sums of a packed state over the ends of windows, in pairs by [`neumaier_add`]; the same bits on any layout and device.
#[derive(Clone, Debug)]
pub struct StateSums<R> {
    /// The sums, and what their rounding dropped, in the layout of the state.
    parts: [Slabs<R>; 2],
    windows: u64,
}

impl<R: Scalar> StateSums<R> {
    /// Sums over no windows, for a state of `levels` levels and `planes` planes.
    pub fn zeros(set: &Arc<TileSet>, levels: usize, planes: usize) -> Self {
        Self { parts: [0, 1].map(|_| Slabs::zeros(set.clone(), levels, planes)), windows: 0 }
    }

    /// Windows that are summed.
    pub fn windows(&self) -> u64 {
        self.windows
    }

    /// Adds a state.
    pub fn add(&mut self, state: &Slabs<R>) {
        let [sums, dropped] = &mut self.parts;
        let parts = sums.data_mut().par_chunks_mut(1 << 14).zip(dropped.data_mut().par_chunks_mut(1 << 14));
        parts.zip(state.data().par_chunks(1 << 14)).for_each(|((sums, dropped), values)| {
            for ((sum, dropped), value) in sums.iter_mut().zip(dropped).zip(values) {
                (*sum, *dropped) = neumaier_add(*sum, *dropped, *value);
            }
        });
        self.windows += 1;
    }

    /// Begins again.
    pub fn clear(&mut self) {
        self.parts.iter_mut().for_each(|part| part.data_mut().par_iter_mut().for_each(|x| *x = R::default()));
        self.windows = 0;
    }

    /// Both parts of the sums.
    pub fn parts(&self) -> &[Slabs<R>; 2] {
        &self.parts
    }

    /// Goes on with sums over `windows` windows.
    pub fn resume(&mut self, windows: u64) -> &mut [Slabs<R>; 2] {
        self.windows = windows;
        &mut self.parts
    }

    /// The sum of a plane in a cell at `at`.
    pub fn sum(&self, level: usize, tile: usize, plane: usize, at: usize) -> f64 {
        self.parts.iter().map(|part| part.plane(level, tile, plane)[at].to_f64()).sum()
    }
}

#[cfg(test)]
mod tests {
    use decomposition::{Panel, Tile};

    use super::*;

    #[test]
    fn a_month_of_hours_adds_up_in_single_precision() {
        let tile = Tile { id: 0, panel: Panel::ALL[0], i0: 0, j0: 0, ni: 2, nj: 1, rank: 0 };
        let set = Arc::new(TileSet::new(vec![tile], 2));
        let at = set.shapes()[0].index(1, 0);
        let (mut sums, mut state) = (StateSums::<f32>::zeros(&set, 1, 2), Slabs::<f32>::zeros(set, 1, 2));
        let (mut exact, mut plain) = (0.0_f64, 0.0_f32);
        for hour in 0..720 {
            let value = 1.0e9 + 7.3e5 * (hour as f32).sin();
            state.plane_mut(0, 0, 1)[at] = value;
            sums.add(&state);
            (exact, plain) = (exact + f64::from(value), plain + value);
        }
        assert_eq!(sums.windows(), 720);
        assert!((sums.sum(0, 0, 1, at) / exact - 1.0).abs() < 1e-14);
        assert!((f64::from(plain) / exact - 1.0).abs() > 1e-7);
        sums.clear();
        assert_eq!((sums.windows(), sums.sum(0, 0, 1, at)), (0, 0.0));
    }
}
