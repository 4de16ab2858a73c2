//! Ledgers of several columns or tracers side by side.

use crate::columns::ledger::negligible;
use crate::columns::{Ledger, LedgerStats};
use crate::lanes::Lanes;
use crate::numerics as nm;
use crate::real::{Real, Scalar};

/// Sum of a solve's results and their largest cell.
#[derive(Clone, Copy)]
pub(crate) struct Audit<R, const W: usize> {
    sum: (Lanes<R, W>, Lanes<R, W>),
    largest: Lanes<R, W>,
    magnitude: Lanes<R, W>,
    row: Lanes<R, W>,
}

impl<R: Scalar, const W: usize> Audit<R, W> {
    #[inline(always)]
    pub fn new() -> Self {
        let zero = Lanes::lit(0.0);
        // Below any magnitude: the first cell wins even if it is 0.
        Self { sum: (zero, zero), largest: zero, magnitude: Lanes::lit(-1.0), row: zero }
    }

    /// Adds the cells of a row; of equally large ones the first counts.
    #[inline(always)]
    pub fn add(&mut self, row: usize, value: Lanes<R, W>) {
        self.sum = nm::neumaier_add(self.sum.0, self.sum.1, value);
        let magnitude = value.abs();
        let larger = magnitude.gt(self.magnitude);
        self.largest = Lanes::select(larger, value, self.largest);
        self.magnitude = Lanes::select(larger, magnitude, self.magnitude);
        self.row = Lanes::select(larger, Lanes::lit(row as f64), self.row);
    }

    /// Sum of the cells.
    #[inline(always)]
    pub fn total(&self) -> Lanes<R, W> {
        self.sum.0 + self.sum.1
    }

    /// Ledger step of `cells` cells in each lane of `used`: hands new values to `put(lane, row, value)`; `slot` is the
    /// place of a lane's carry.
    #[inline(always)]
    pub fn settle(
        &self,
        before: (Lanes<R, W>, Lanes<R, W>),
        cells: usize,
        used: [bool; W],
        ledger: &mut Ledger<R>,
        slot: impl Fn(usize) -> usize,
        mut put: impl FnMut(usize, usize, R),
    ) -> LedgerStats {
        let gap = nm::sum_gap(before, self.sum);
        let bound = nm::ledger_bound(Lanes::lit(cells as f64), self.magnitude, Lanes::splat(R::EPSILON));
        let refusal = nm::ledger_refusal(gap, bound, self.magnitude, Lanes::splat(negligible()));
        let mut stats = LedgerStats::default();
        for l in 0..W {
            stats.refused += u64::from(used[l] && refusal.0[l] > R::lit(0.0));
        }
        // Without a largest cell no content is a number, and there is none to repair.
        let due = Lanes::<R, W>::and(used, self.magnitude.ge(Lanes::lit(0.0)));
        let settled = match ledger {
            Ledger::Carry(carry) | Ledger::Booked { carry, .. } => {
                let mut old = Lanes::lit(0.0);
                for l in 0..W {
                    if due[l] {
                        old.0[l] = carry[slot(l)];
                    }
                }
                let (settled, new) = nm::ledger_step(self.largest, gap, old, bound);
                for l in 0..W {
                    if due[l] {
                        carry[slot(l)] = new.0[l];
                    }
                }
                settled
            }
            Ledger::WithoutCarry => nm::ledger_step_without_carry(self.largest, gap, bound),
            Ledger::Off => return LedgerStats::default(),
        };
        if let Ledger::Booked { returned, .. } = ledger {
            let amounts = nm::ledger_accepted(gap, bound);
            for l in 0..W {
                if due[l] {
                    returned[slot(l)] += amounts.0[l];
                }
            }
        }
        let rows = row_numbers(self.row);
        for l in 0..W {
            if due[l] {
                put(l, rows[l], settled.0[l]);
            }
        }
        stats
    }
}

/// Numbers of rows as indices. A call: were it part of the caller, its lanes would be taken apart in the loop over the
/// cells already.
#[inline(never)]
fn row_numbers<R: Scalar, const W: usize>(rows: Lanes<R, W>) -> [usize; W] {
    rows.0.map(|row| row.to_f64() as usize)
}
