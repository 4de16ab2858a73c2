//! Tridiagonal solve of vertical exchange whose fluxes update the contents.

use super::block::ColumnBlock;
use super::ledger::{Account, Ledger, LedgerStats};
use crate::cpu::AlignedBuffer;
use crate::lanes::Lanes;
use crate::numerics::{
    diffusive_flux, flux_update, mixing_ratio, open_exchange, tridiagonal_backward, tridiagonal_factors,
    tridiagonal_forward,
};
use crate::real::{Real, Scalar};

/// What all tracers of a block share in the flux-form solve of one step: the eliminated tridiagonal matrix of mixing ratios.
///
/// The fluxes of the solution are computed once per interface and moved from layer to layer, so mass changes by
/// rounding only; the error of a cell grows with the exchange of a step relative to its mass. Interfaces next to a
/// layer without air are closed. Layers without exchange keep their bits.
#[derive(Debug)]
pub struct FluxFormFactors<R> {
    block: ColumnBlock,
    /// Exchange of the step through the lower interface of each layer, `nk × width`.
    step: AlignedBuffer<R>,
    lower: AlignedBuffer<R>,
    pivot: AlignedBuffer<R>,
    upper: AlignedBuffer<R>,
    /// Cells with exchange per column.
    cells: AlignedBuffer<R>,
    /// Mixing ratios of one line of columns.
    ratios: AlignedBuffer<R>,
}

impl<R: Scalar> FluxFormFactors<R> {
    /// Storage for blocks of up to `width` values per layer and `nk` layers.
    pub fn new(width: usize, nk: usize) -> Self {
        let cells = AlignedBuffer::zeros(nk * width);
        Self {
            block: ColumnBlock::new(0, 0),
            step: cells.clone(),
            lower: cells.clone(),
            pivot: cells.clone(),
            upper: cells,
            cells: AlignedBuffer::zeros(width),
            ratios: AlignedBuffer::zeros(nk * ColumnBlock::UNIT),
        }
    }

    /// Factors of a step of `dt` seconds.
    ///
    /// `air_mass` (kg) and `exchange` (kg/s of air through the lower interface of each layer, not negative) hold
    /// `nk × width` values; the exchange of the last layer does not act. Panics if a slice or this storage is too short.
    pub fn prepare(&mut self, block: ColumnBlock, air_mass: &[R], exchange: &[R], dt: R) {
        R::prepare_flux_form(block, air_mass, exchange, dt, self);
    }

    /// Exchange of the step through the lower interface of each layer, and the eliminated rows: lower, pivot, upper; `nk × width`
    /// values each.
    pub fn rows(&self) -> [&[R]; 4] {
        [&self.step, &self.lower, &self.pivot, &self.upper].map(|values| &values[..self.block.values()])
    }

    /// Cells with exchange of each column.
    pub fn cells(&self) -> &[R] {
        &self.cells[..self.block.width()]
    }

    /// Solves for one tracer of the prepared block, in place: `nk × width` contents in kg of air equivalent. `air_mass` is that
    /// of [`prepare`](Self::prepare). Panics if a slice is too short.
    pub fn solve(&mut self, air_mass: &[R], tracer: &mut [R], ledger: Ledger<R>) -> LedgerStats {
        R::solve_flux_form(self, air_mass, tracer, ledger)
    }

    /// The same solve with contents written back as mass times mixing ratio. A diagnostic: mass drifts by the errors of the
    /// solution. Layers without air are left as they are.
    pub fn solve_matrix_form(&mut self, air_mass: &[R], tracer: &mut [R]) {
        R::solve_matrix_form(self, air_mass, tracer);
    }
}

#[inline(always)]
pub(super) fn prepare<R: Scalar, const W: usize>(
    block: ColumnBlock,
    air_mass: &[R],
    exchange: &[R],
    dt: R,
    out: &mut FluxFormFactors<R>,
) {
    out.block = block;
    let (lines, nk, zero) = (block.lines::<W>(), block.nk(), Lanes::lit(0.0));
    let (mass, exchange) = (block.cut::<R, W>(air_mass), block.cut::<R, W>(exchange));
    let (steps, lowers) = (block.cut_mut::<R, W>(&mut out.step), block.cut_mut::<R, W>(&mut out.lower));
    let (pivots, uppers) = (block.cut_mut::<R, W>(&mut out.pivot), block.cut_mut::<R, W>(&mut out.upper));
    for line in 0..lines {
        let (mut above, mut upper_above, mut cells) = (zero, zero, zero);
        for k in 0..nk {
            let at = k * lines + line;
            let m = Lanes(mass[at]);
            let below = if k + 1 < nk {
                open_exchange(Lanes::splat(dt) * Lanes(exchange[at]), m, Lanes(mass[at + lines]))
            } else {
                zero
            };
            let (lower, pivot, upper) = tridiagonal_factors(above, below, m, upper_above);
            steps[at] = below.0;
            (lowers[at], pivots[at], uppers[at]) = (lower.0, pivot.0, upper.0);
            cells += Real::select(Lanes::<R, W>::or(above.gt(zero), below.gt(zero)), Lanes::lit(1.0), zero);
            (above, upper_above) = (below, upper);
        }
        cells.store(&mut out.cells, line * W);
    }
}

/// What passes an interface downward: the exchange of the step, and the tracer amount.
#[derive(Clone, Copy)]
struct Flow<R, const W: usize> {
    step: Lanes<R, W>,
    amount: Lanes<R, W>,
}

/// One line of columns.
struct Line<'a, R, const W: usize> {
    lines: usize,
    line: usize,
    nk: usize,
    mass: &'a [[R; W]],
    step: &'a [[R; W]],
    lower: &'a [[R; W]],
    pivot: &'a [[R; W]],
    upper: &'a [[R; W]],
    cells: &'a [[R; W]],
}

impl<R: Scalar, const W: usize> Line<'_, R, W> {
    #[inline(always)]
    fn at(&self, k: usize) -> usize {
        k * self.lines + self.line
    }

    /// Elimination from the top: fills `reduced` and returns the smallest mixing ratio, above which the solution counts, and
    /// the account with what the column holds.
    ///
    /// Contents are counted where the divisions of the mixing ratios leave time for it, and in the order of the
    /// substitution: two sums of nearly equal terms in one order have nearly equal errors.
    #[inline(always)]
    fn eliminate<const LEDGER: bool>(&self, tracer: &[[R; W]], reduced: &mut [[R; W]]) -> (Lanes<R, W>, Account<R, W>) {
        let zero = Lanes::<R, W>::lit(0.0);
        let mut lowest = Lanes::<R, W>::lit(f64::MAX);
        let mut account = Account::new();
        for k in (0..self.nk).rev() {
            let (content, m) = (Lanes(tracer[self.at(k)]), Lanes(self.mass[self.at(k)]));
            if LEDGER {
                account.open(content);
            }
            let ratio = mixing_ratio(content, m);
            // Of zeros with different signs the uppermost.
            let lower = Lanes::<R, W>::and(m.gt(zero), ratio.le(lowest));
            lowest = Real::select(lower, ratio, lowest);
            reduced[k] = ratio.0;
        }
        let mut above = zero;
        for k in 0..self.nk {
            let at = self.at(k);
            let departure = Real::select(Lanes(self.mass[at]).gt(zero), Lanes(reduced[k]) - lowest, zero);
            above = tridiagonal_forward(departure, Lanes(self.lower[at]), Lanes(self.pivot[at]), above);
            reduced[k] = above.0;
        }
        (lowest, account)
    }

    /// Substitution from the bottom; every flux moves as soon as it is known.
    #[inline(always)]
    fn substitute<const LEDGER: bool>(&self, tracer: &mut [[R; W]], reduced: &[[R; W]], account: &mut Account<R, W>) {
        let zero = Lanes::<R, W>::lit(0.0);
        let closed = Flow { step: zero, amount: zero };
        let (mut solution, mut outflow) = (Lanes(reduced[self.nk - 1]), closed);
        for k in (0..self.nk - 1).rev() {
            let (at, below) = (self.at(k), solution);
            solution = tridiagonal_backward(Lanes(reduced[k]), Lanes(self.upper[at]), below);
            let step = Lanes(self.step[at]);
            let inflow = Flow { step, amount: diffusive_flux(step, solution, below) };
            self.update::<LEDGER>(tracer, k + 1, inflow, outflow, account);
            outflow = inflow;
        }
        self.update::<LEDGER>(tracer, 0, closed, outflow, account);
    }

    /// Moves what passes the interfaces of layer `k`; without exchange it keeps its bits.
    #[inline(always)]
    fn update<const LEDGER: bool>(
        &self,
        tracer: &mut [[R; W]],
        k: usize,
        inflow: Flow<R, W>,
        outflow: Flow<R, W>,
        account: &mut Account<R, W>,
    ) {
        let (content, zero) = (Lanes(tracer[self.at(k)]), Lanes::lit(0.0));
        let exchanges = Lanes::<R, W>::or(inflow.step.gt(zero), outflow.step.gt(zero));
        let after = Real::select(exchanges, flux_update(content, inflow.amount, outflow.amount), content);
        tracer[self.at(k)] = after.0;
        if LEDGER {
            account.close(k, after, exchanges);
        }
    }
}

impl<R: Scalar> FluxFormFactors<R> {
    /// The first line of the block, and room for the mixing ratios of one line.
    #[inline(always)]
    fn first_line<'a, const W: usize>(&'a mut self, air_mass: &'a [R]) -> (Line<'a, R, W>, &'a mut [[R; W]]) {
        let block = self.block;
        let first = Line {
            lines: block.lines::<W>(),
            line: 0,
            nk: block.nk(),
            mass: block.cut(air_mass),
            step: block.cut(&self.step),
            lower: block.cut(&self.lower),
            pivot: block.cut(&self.pivot),
            upper: block.cut(&self.upper),
            cells: self.cells[..block.width()].as_chunks::<W>().0,
        };
        (first, self.ratios[..block.nk() * W].as_chunks_mut::<W>().0)
    }
}

#[inline(always)]
pub(super) fn solve<R: Scalar, const W: usize>(
    factors: &mut FluxFormFactors<R>,
    air_mass: &[R],
    tracer: &mut [R],
    mut ledger: Ledger<R>,
) -> LedgerStats {
    let block = factors.block;
    let mut stats = LedgerStats::default();
    if block.nk() == 0 {
        return stats;
    }
    let tracer = block.cut_mut::<R, W>(tracer);
    let (mut line, ratios) = factors.first_line::<W>(air_mass);
    while line.line < line.lines {
        if let Ledger::Off = ledger {
            let (_, mut account) = line.eliminate::<false>(tracer, ratios);
            line.substitute::<false>(tracer, ratios, &mut account);
        } else {
            let (_, mut account) = line.eliminate::<true>(tracer, ratios);
            line.substitute::<true>(tracer, ratios, &mut account);
            let cells = Lanes(line.cells[line.line]);
            stats = stats.merge(account.settle(&block, line.line, cells, tracer, &mut ledger));
        }
        line.line += 1;
    }
    stats
}

#[inline(always)]
pub(super) fn solve_matrix_form<R: Scalar, const W: usize>(
    factors: &mut FluxFormFactors<R>,
    air_mass: &[R],
    tracer: &mut [R],
) {
    let tracer = factors.block.cut_mut::<R, W>(tracer);
    let (mut line, ratios) = factors.first_line::<W>(air_mass);
    while line.line < line.lines {
        let (lowest, _) = line.eliminate::<false>(tracer, ratios);
        let mut solution = Lanes::<R, W>::lit(0.0);
        for k in (0..line.nk).rev() {
            let (at, m) = (line.at(k), Lanes(line.mass[line.at(k)]));
            solution = tridiagonal_backward(Lanes(ratios[k]), Lanes(line.upper[at]), solution);
            let content = Real::select(m.gt(Lanes::lit(0.0)), m * (solution + lowest), Lanes(tracer[at]));
            tracer[at] = content.0;
        }
        line.line += 1;
    }
}
