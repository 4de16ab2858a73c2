//! Mass-space solve of vertical exchange: two passes of directed transfers.

use super::block::ColumnBlock;
use super::ledger::{Account, Ledger, LedgerStats};
use crate::cpu::AlignedBuffer;
use crate::lanes::Lanes;
use crate::numerics::{
    background_ratio, content_above_background, content_on_background, exchange_ratio, mixing_ratio, partition,
    partition_share, transfer_ratios,
};
use crate::real::{Real, Scalar};

/// What all tracers of a block share in the mass-space solve of one step: the transfer shares between its layers.
///
/// The solve is backward Euler of `m_k dq_k/dt = D_{k−½} (q_{k−1} − q_k) − D_{k+½} (q_k − q_{k+1})`, factored into transfers
/// down and up. A uniform background is taken off first, exchange of any relative strength keeps its accuracy, layers
/// without exchange keep their bits, and what is not negative stays so.
///
/// A layer without air swallows what reaches it; such a column has no ledger, and its carry waits.
#[derive(Debug)]
pub struct MassSpaceFactors<R> {
    pub(super) block: ColumnBlock,
    /// Shares of the transfers out of each layer downward and upward, `nk × width`.
    pub(super) down: AlignedBuffer<R>,
    pub(super) up: AlignedBuffer<R>,
    /// Cells with exchange per column; 0 where no ledger is kept.
    pub(super) cells: AlignedBuffer<R>,
    /// Columns whose layers all hold air: 1, else 0.
    pub(super) full: AlignedBuffer<R>,
}

impl<R: Scalar> MassSpaceFactors<R> {
    /// Storage for blocks of up to `width` values per layer and `nk` layers.
    pub fn new(width: usize, nk: usize) -> Self {
        let cells = AlignedBuffer::zeros(nk * width);
        let columns = AlignedBuffer::zeros(width);
        Self { block: ColumnBlock::new(0, 0), down: cells.clone(), up: cells, cells: columns.clone(), full: columns }
    }

    /// Factors of a step of `dt` seconds.
    ///
    /// `air_mass` (kg) and `exchange` (kg/s of air through the lower interface of each layer, not negative) hold
    /// `nk × width` values; the exchange of the last layer does not act. Panics if a slice or this storage is too short.
    pub fn prepare(&mut self, block: ColumnBlock, air_mass: &[R], exchange: &[R], dt: R) {
        R::prepare_mass_space(block, air_mass, exchange, dt, self);
    }

    /// Shares of the transfers out of each layer downward, `nk × width` values.
    pub fn down(&self) -> &[R] {
        &self.down[..self.block.values()]
    }

    /// Shares of the transfers out of each layer upward, alike.
    pub fn up(&self) -> &[R] {
        &self.up[..self.block.values()]
    }

    /// Cells with exchange of each column; 0 where no ledger is kept.
    pub fn cells(&self) -> &[R] {
        &self.cells[..self.block.width()]
    }

    /// Solves for one tracer of the prepared block, in place: `nk × width` contents in kg of air equivalent. `air_mass` is that
    /// of [`prepare`](Self::prepare). Panics if a slice is too short.
    pub fn solve(&self, air_mass: &[R], tracer: &mut [R], ledger: Ledger<R>) -> LedgerStats {
        R::solve_mass_space(self, air_mass, tracer, ledger)
    }
}

#[inline(always)]
pub(super) fn prepare<R: Scalar, const W: usize>(
    block: ColumnBlock,
    air_mass: &[R],
    exchange: &[R],
    dt: R,
    out: &mut MassSpaceFactors<R>,
) {
    out.block = block;
    let (lines, nk, zero, one) = (block.lines::<W>(), block.nk(), Lanes::lit(0.0), Lanes::lit(1.0));
    let (mass, exchange) = (block.cut::<R, W>(air_mass), block.cut::<R, W>(exchange));
    let (down, up) = (block.cut_mut::<R, W>(&mut out.down), block.cut_mut::<R, W>(&mut out.up));
    for line in 0..lines {
        let (mut above, mut cells, mut full) = (zero, zero, one);
        for k in 0..nk {
            let at = k * lines + line;
            let m = Lanes(mass[at]);
            let (r, v) = if k + 1 < nk {
                let step = Lanes::splat(dt) * Lanes(exchange[at]);
                let below = Lanes(mass[at + lines]);
                transfer_ratios(exchange_ratio(step, m), exchange_ratio(step, below), above)
            } else {
                (zero, zero)
            };
            down[at] = partition_share(r).0;
            up[at] = partition_share(above).0;
            cells += Real::select(Lanes::<R, W>::or(r.gt(zero), above.gt(zero)), one, zero);
            full = Real::select(m.gt(zero), full, zero);
            above = v;
        }
        (cells * full).store(&mut out.cells, line * W);
        full.store(&mut out.full, line * W);
    }
}

#[inline(always)]
pub(super) fn solve<R: Scalar, const W: usize>(
    factors: &MassSpaceFactors<R>,
    air_mass: &[R],
    tracer: &mut [R],
    mut ledger: Ledger<R>,
) -> LedgerStats {
    let block = factors.block;
    let mut stats = LedgerStats::default();
    if block.nk() == 0 {
        return stats;
    }
    let (mass, tracer) = (block.cut::<R, W>(air_mass), block.cut_mut::<R, W>(tracer));
    for line in 0..block.lines::<W>() {
        let columns = Line { factors, mass, line };
        if let Ledger::Off = ledger {
            columns.solve::<false>(tracer);
        } else {
            let account = columns.solve::<true>(tracer);
            let cells = Lanes::load(&factors.cells, line * W);
            stats = stats.merge(account.settle(&block, line, cells, tracer, &mut ledger));
        }
    }
    stats
}

/// One line of columns.
struct Line<'a, R, const W: usize> {
    factors: &'a MassSpaceFactors<R>,
    mass: &'a [[R; W]],
    line: usize,
}

impl<R: Scalar, const W: usize> Line<'_, R, W> {
    #[inline(always)]
    fn solve<const LEDGER: bool>(&self, tracer: &mut [[R; W]]) -> Account<R, W> {
        let block = &self.factors.block;
        let (lines, nk, zero) = (block.lines::<W>(), block.nk(), Lanes::<R, W>::lit(0.0));
        let (down, up) = (block.cut::<R, W>(&self.factors.down), block.cut::<R, W>(&self.factors.up));
        let mut account = Account::new();

        // In the order of the upward pass: two sums of nearly equal terms in one order have nearly equal errors.
        let (mut lowest, mut highest) = (Lanes::lit(f64::MAX), Lanes::lit(-f64::MAX));
        for k in (0..nk).rev() {
            let at = k * lines + self.line;
            let content = Lanes(tracer[at]);
            if LEDGER {
                account.open(content);
            }
            let ratio = mixing_ratio(content, Lanes(self.mass[at]));
            (lowest, highest) = (Real::min(lowest, ratio), Real::max(ratio, highest));
        }
        let full = Lanes::load(&self.factors.full, self.line * W);
        let background = Real::select(full.gt(zero), background_ratio(lowest, highest), zero);

        let (mut incoming, mut correction) = (zero, zero);
        for k in 0..nk {
            let at = k * lines + self.line;
            let (content, m, share) = (Lanes(tracer[at]), Lanes(self.mass[at]), Lanes(down[at]));
            let departure = content_above_background(content, m, background);
            let (kept, sent, error) = partition(departure, incoming, correction, share);
            let exchanges = exchanges(share, Lanes(up[at]), m);
            tracer[at] = Lanes::select(exchanges, kept, content).0;
            (incoming, correction) = (sent, error);
        }

        (incoming, correction) = (zero, zero);
        for k in (0..nk).rev() {
            let at = k * lines + self.line;
            let (content, m, share) = (Lanes(tracer[at]), Lanes(self.mass[at]), Lanes(up[at]));
            let (kept, sent, error) = partition(content, incoming, correction, share);
            let exchanges = exchanges(Lanes(down[at]), share, m);
            let after = Real::select(exchanges, content_on_background(kept, m, background), content);
            tracer[at] = after.0;
            if LEDGER {
                account.close(k, after, exchanges);
            }
            (incoming, correction) = (sent, error);
        }
        account
    }
}

/// Layers that send something to a neighbour, and layers without air, which lose what they hold.
///
/// A layer with air whose interfaces are closed sends nothing and is sent nothing: it is left as it is.
#[inline(always)]
fn exchanges<R: Scalar, const W: usize>(down: Lanes<R, W>, up: Lanes<R, W>, mass: Lanes<R, W>) -> [bool; W] {
    let zero = Lanes::lit(0.0);
    let sends = Lanes::<R, W>::or(down.abs().gt(zero), up.abs().gt(zero));
    Lanes::<R, W>::or(sends, mass.le(zero))
}
