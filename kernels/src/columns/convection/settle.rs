//! Ledgers of several columns or tracers side by side.

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
        let accepted = gap.abs().le(bound);
        let mut stats = LedgerStats::default();
        for l in 0..W {
            stats.refused += u64::from(used[l] && !accepted[l]);
        }
        // Without a largest cell no content is a number, and there is none to repair.
        let due: [bool; W] = core::array::from_fn(|l| used[l] && self.magnitude.0[l] >= R::lit(0.0));
        let settled = match ledger {
            Ledger::Carry(carry) | Ledger::Booked { carry, .. } => {
                let old = Lanes(core::array::from_fn(|l| if due[l] { carry[slot(l)] } else { R::lit(0.0) }));
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
        for l in 0..W {
            if due[l] {
                put(l, self.row.0[l].to_f64() as usize, settled.0[l]);
            }
        }
        stats
    }
}
