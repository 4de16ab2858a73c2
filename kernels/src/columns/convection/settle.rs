//! Ledgers of several columns or tracers side by side.

use crate::columns::convection::LedgerTally;
use crate::lanes::Lanes;
use crate::numerics as nm;
use crate::real::{Real, Scalar};

/// Sum of a solve's results and their largest cell.
#[derive(Clone, Copy)]
pub(crate) struct Audit<R, const W: usize> {
    sum: (Lanes<R, W>, Lanes<R, W>),
    largest: Lanes<R, W>,
    magnitude: Lanes<R, W>,
    row: [u32; W],
}

impl<R: Scalar, const W: usize> Audit<R, W> {
    #[inline(always)]
    pub fn new() -> Self {
        let zero = Lanes::lit(0.0);
        // Below any magnitude: the first cell wins even if it is 0.
        Self { sum: (zero, zero), largest: zero, magnitude: Lanes::lit(-1.0), row: [0; W] }
    }

    /// Adds the cells of a row; of equally large ones the first counts.
    #[inline(always)]
    pub fn add(&mut self, row: usize, value: Lanes<R, W>) {
        self.sum = nm::neumaier_add(self.sum, value);
        let magnitude = value.abs();
        let larger = magnitude.gt(self.magnitude);
        self.largest = Lanes::select(larger, value, self.largest);
        self.magnitude = Lanes::select(larger, magnitude, self.magnitude);
        for l in 0..W {
            self.row[l] = if larger[l] { row as u32 } else { self.row[l] };
        }
    }

    /// Sum of the cells.
    #[inline(always)]
    pub fn total(&self) -> Lanes<R, W> {
        self.sum.0 + self.sum.1
    }

    /// Ledger step of `count` cells per lane: hands the new value and carry of each lane in `used` to `put(lane, row,
    /// value, carry)`.
    #[inline(always)]
    pub fn settle(
        &self,
        before: (Lanes<R, W>, Lanes<R, W>),
        count: usize,
        carry: Lanes<R, W>,
        used: [bool; W],
        tally: &mut LedgerTally,
        mut put: impl FnMut(usize, usize, R, R),
    ) {
        let tolerance = Lanes::splat(R::lit((16 * count) as f64) * R::EPSILON);
        let (value, carry, returned) = nm::ledger_step(before, self.sum, self.largest, tolerance, carry);
        let gap = nm::sum_gap(before, self.sum);
        for l in 0..W {
            if used[l] {
                put(l, self.row[l] as usize, value.0[l], carry.0[l]);
                tally.returned += returned.0[l].to_f64();
                // A gap of exactly 0 is its own return.
                tally.refused += u64::from(returned.0[l] != gap.0[l]);
            }
        }
    }
}
