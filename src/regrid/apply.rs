//! Fields from one mesh to another.

use rayon::prelude::*;

use super::Overlap;
use super::overlap::sum;

/// Part of a cell that must be covered for it to have a mean.
const HALF: f64 = 0.5;

/// Destination cells by how much of them source cells cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Cells covered by more than half, which have a value.
    pub covered: usize,
    /// Cells covered by half or less, which have none.
    pub uncovered: usize,
}

impl Overlap {
    /// Means of the destination cells from means of the source cells (mixing ratios, temperatures): the mean over the
    /// covered part where that is more than half of the cell, else NaN. A source value that is not a number makes those
    /// of all cells that it touches so.
    ///
    /// # Panics
    /// Unless `src` and `dst` have one value per cell.
    pub fn intensive(&self, src: &[f64], dst: &mut [f64]) -> Coverage {
        self.means(src, dst, |_| true)
    }

    /// As [`intensive`](Self::intensive), but source cells whose value is not a number count as not there.
    ///
    /// # Panics
    /// Unless `src` and `dst` have one value per cell.
    pub fn intensive_of_known(&self, src: &[f64], dst: &mut [f64]) -> Coverage {
        self.means(src, dst, |value| !value.is_nan())
    }

    fn means(&self, src: &[f64], dst: &mut [f64], counts: impl Fn(f64) -> bool + Sync) -> Coverage {
        self.check(src, dst);
        let mean = |cell: usize| {
            let known = || self.row(cell).filter(|(at, _)| counts(src[*at]));
            let covered = sum(known().map(|(_, area)| area));
            (covered > HALF * self.dst_area[cell]).then(|| sum(known().map(|(at, area)| area * src[at])) / covered)
        };
        let one = |(cell, value): (usize, &mut f64)| {
            let mean = mean(cell);
            *value = mean.unwrap_or(f64::NAN);
            usize::from(mean.is_none())
        };
        let uncovered = dst.par_iter_mut().enumerate().map(one).sum();
        Coverage { covered: dst.len() - uncovered, uncovered }
    }

    /// Amounts per destination cell (kg s⁻¹) of a density per area (kg m⁻² s⁻¹) on a sphere of `radius_m`. Their sum is
    /// the integral of the source over the part that destination cells cover.
    ///
    /// # Panics
    /// Unless `density` and `dst` have one value per cell.
    pub fn totals(&self, density: &[f64], radius_m: f64, dst: &mut [f64]) {
        self.check(density, dst);
        let square = radius_m * radius_m;
        dst.par_iter_mut().enumerate().for_each(|(cell, value)| {
            *value = sum(self.row(cell).map(|(at, area)| area * density[at])) * square;
        });
    }

    /// Amounts per destination cell from amounts per source cell, each spread evenly over its cell.
    ///
    /// # Panics
    /// Unless `src` and `dst` have one value per cell.
    pub fn extensive(&self, src: &[f64], dst: &mut [f64]) {
        self.check(src, dst);
        dst.par_iter_mut().enumerate().for_each(|(cell, value)| {
            *value = sum(self.row(cell).map(|(at, area)| area / self.src_area[at] * src[at]));
        });
    }

    fn check(&self, src: &[f64], dst: &[f64]) {
        let cells = (self.src_area.len(), self.dst_area.len());
        assert!((src.len(), dst.len()) == cells, "({}, {}) values for {cells:?} cells", src.len(), dst.len());
    }
}
