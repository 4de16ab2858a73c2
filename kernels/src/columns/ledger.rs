//! Column ledger of a line of columns.

use super::block::ColumnBlock;
use crate::lanes::Lanes;
use crate::numerics::{
    ledger_accepted, ledger_bound, ledger_refusal, ledger_step, ledger_step_without_carry, neumaier_add, sum_gap,
};
use crate::real::{Real, Scalar};

/// What becomes of the rounding residual of a solve.
#[derive(Debug)]
pub enum Ledger<'a, R> {
    /// It goes to the largest cell of its column; what that cell cannot take is carried to the next solve. One value per
    /// column of the block (`width` values), 0 at first, kept by columns without exchange.
    Carry(&'a mut [R]),
    /// As `Carry`, and what is returned is added up, for the budget.
    Booked {
        /// As in `Carry`.
        carry: &'a mut [R],
        /// Residuals returned to each column so far, `width` values, kg.
        returned: &'a mut [R],
    },
    /// It goes to the largest cell of its column, as far as that cell can take it.
    WithoutCarry,
    /// It stays in the field: the plain solve.
    Off,
}

/// Contents in kg so small that mixing ratios (cells hold up to 1e13 kg of air) leave the range of the precision.
pub(crate) fn negligible<R: Scalar>() -> R {
    R::lit(if R::EPSILON.to_f64() > 1e-10 { 1e-18 } else { 1e-270 })
}

/// What the ledgers of a block saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerStats {
    /// Columns whose residual was larger than rounding explains, or not a number: it stays in the field.
    pub refused: u64,
}

impl LedgerStats {
    /// Statistics of both solves together.
    pub fn merge(self, other: Self) -> Self {
        Self { refused: self.refused + other.refused }
    }
}

/// Cells of a column of which a ledger is kept, before and during a solve.
pub(super) struct Account<R, const W: usize> {
    before: (Lanes<R, W>, Lanes<R, W>),
    after: (Lanes<R, W>, Lanes<R, W>),
    largest: Lanes<R, W>,
    layer: [u32; W],
}

impl<R: Scalar, const W: usize> Account<R, W> {
    /// An account without entries. The largest magnitude starts below 0, so that the first cell is taken, unless it is not
    /// a number.
    #[inline(always)]
    pub(super) fn new() -> Self {
        let zero = Lanes::lit(0.0);
        Self { before: (zero, zero), after: (zero, zero), largest: Lanes::lit(-1.0), layer: [0; W] }
    }

    /// Counts a content before the solve.
    #[inline(always)]
    pub(super) fn open(&mut self, content: Lanes<R, W>) {
        self.before = neumaier_add(self.before.0, self.before.1, content);
    }

    /// Counts the content of layer `k` after the solve; the largest is looked for where `takes_part`. Of equal ones, the
    /// first counted is the largest.
    #[inline(always)]
    pub(super) fn close(&mut self, k: usize, content: Lanes<R, W>, takes_part: [bool; W]) {
        self.after = neumaier_add(self.after.0, self.after.1, content);
        let size = content.abs();
        let larger = Lanes::<R, W>::and(takes_part, size.gt(self.largest));
        self.largest = Real::select(larger, size, self.largest);
        for l in 0..W {
            self.layer[l] = if larger[l] { k as u32 } else { self.layer[l] };
        }
    }

    /// Returns the residuals of line `line` to `tracer`. `cells` holds the cells that take part, 0 in columns without
    /// ledger.
    #[inline(always)]
    pub(super) fn settle(
        &self,
        block: &ColumnBlock,
        line: usize,
        cells: Lanes<R, W>,
        tracer: &mut [[R; W]],
        ledger: &mut Ledger<R>,
    ) -> LedgerStats {
        let (zero, at) = (Lanes::<R, W>::lit(0.0), line * W);
        let gap = sum_gap(self.before, self.after);
        let bound = ledger_bound(cells, self.largest, Lanes::splat(R::EPSILON));
        let kept = cells.gt(zero);
        // Without a largest cell no content is a number, and there is none to repair.
        let due = Lanes::<R, W>::and(kept, self.largest.ge(zero));
        let rows = rows_of_layers(self.layer, block.lines::<W>(), line);
        let mut value = zero;
        for l in 0..W {
            value.0[l] = tracer[rows[l]][l];
        }
        let settled = match ledger {
            Ledger::Carry(carry) | Ledger::Booked { carry, .. } => {
                let old = Lanes::load(carry, at);
                let (settled, new) = ledger_step(value, gap, old, bound);
                Lanes::select(due, new, old).store(carry, at);
                settled
            }
            Ledger::WithoutCarry => ledger_step_without_carry(value, gap, bound),
            Ledger::Off => return LedgerStats::default(),
        };
        if let Ledger::Booked { returned, .. } = ledger {
            let old = Lanes::load(returned, at);
            Lanes::select(due, old + ledger_accepted(gap, bound), old).store(returned, at);
        }
        let settled = Lanes::select(due, settled, value);
        for l in 0..W {
            tracer[rows[l]][l] = settled.0[l];
        }
        let refusal = ledger_refusal(gap, bound, self.largest, Lanes::splat(negligible()));
        let (real, mut refused) = (block.columns_of_line::<W>(line), 0);
        for l in 0..real {
            refused += u64::from(kept[l] & (refusal.0[l] > R::lit(0.0)));
        }
        LedgerStats { refused }
    }
}

/// Where layers are among the lines of a block. A call: were it part of the caller, its lanes would be taken apart in the
/// loop over the layers already.
#[inline(never)]
fn rows_of_layers<const W: usize>(layers: [u32; W], lines: usize, line: usize) -> [usize; W] {
    layers.map(|layer| layer as usize * lines + line)
}
