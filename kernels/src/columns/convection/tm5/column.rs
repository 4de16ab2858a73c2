//! The loop over the columns of a block.

use crate::columns::convection::ColumnAir;
use crate::columns::convection::settle::Audit;
use crate::columns::convection::tm5::{CloudIndices, Solve, Tm5, Tm5Column, Tm5Forcing, cloud_indices};
use crate::columns::{Ledger, LedgerStats};
use crate::lanes::Lanes;
use crate::numerics as nm;
use crate::real::{Real, Scalar};

#[inline(always)]
pub(crate) fn convect<R: Scalar, const W: usize>(
    work: &mut Tm5<R>,
    air: &ColumnAir<R>,
    forcing: &Tm5Forcing<R>,
    dt: R,
    tracers: &mut [R],
    ledger: &mut Ledger<R>,
) -> LedgerStats {
    let (plane, width) = (air.block.values(), air.block.width());
    let count = tracers.len() / plane;
    assert_eq!(tracers.len(), count * plane, "whole tracers");
    let fits = |values: &[R]| assert_eq!(values.len(), count * width, "a value for each tracer and column");
    match ledger {
        Ledger::Carry(carry) => fits(carry),
        Ledger::Booked { carry, returned } => {
            fits(carry);
            fits(returned);
        }
        Ledger::WithoutCarry | Ledger::Off => {}
    }
    let mut stats = LedgerStats::default();
    for c in 0..air.block.columns() {
        work.gather_column(air, forcing, c);
        let Some(indices) = work.factor(dt) else { continue };
        for first in (0..count).step_by(W) {
            let lanes = W.min(count - first);
            stats = stats.merge(work.convect_tracers::<W>(&indices, dt, air, c, first, lanes, tracers, ledger));
        }
    }
    stats
}

impl<R: Scalar> Tm5<R> {
    /// Air and rates of column `c`, summed over merged layers.
    #[inline(always)]
    fn gather_column(&mut self, air: &ColumnAir<R>, forcing: &Tm5Forcing<R>, c: usize) {
        let (layers, merge, shift, width) = (self.layers, self.options.n_merge, self.shift, air.block.width());
        let mut parts = self.column.chunks_exact_mut(layers);
        let mut fill = |from: Option<&[R]>, divisor: Option<R>| {
            let part = parts.next().expect("five rows");
            let Some(from) = from else { return part.fill(R::lit(0.0)) };
            for (s, out) in part.iter_mut().enumerate() {
                let first = shift + s * merge;
                let value = |k: usize| {
                    let value = from[k * width + c];
                    divisor.map_or(value, |divisor| value / divisor)
                };
                *out = (first + 1..first + merge).fold(value(first), |sum, k| sum + value(k));
            }
        };
        fill(Some(air.mass), Some(air.area[c]));
        fill(Some(forcing.entu), None);
        fill(Some(forcing.detu), None);
        fill(forcing.downdraft.map(|d| d.entd), None);
        fill(forcing.downdraft.map(|d| d.detd), None);
    }

    /// Builds and factors the matrix of the gathered column, if it convects.
    #[inline(always)]
    fn factor(&mut self, dt: R) -> Option<CloudIndices> {
        let column = view(&self.column, self.layers);
        let indices = cloud_indices(column.detu, column.entd)?;
        self.plumes.follow(&column, &indices);
        let lower = self.plumes.assemble(&column, &indices, dt, &mut self.factors);
        self.factors.factor(lower);
        Some(indices)
    }

    /// Solves for the tracers `first .. first + lanes` of column `c`.
    #[inline(always)]
    fn convect_tracers<const W: usize>(
        &mut self,
        indices: &CloudIndices,
        dt: R,
        air: &ColumnAir<R>,
        c: usize,
        first: usize,
        lanes: usize,
        tracers: &mut [R],
        ledger: &mut Ledger<R>,
    ) -> LedgerStats {
        let (merge, width, plane) = (self.options.n_merge, air.block.width(), air.block.values());
        let (lo, order) = (indices.first, self.layers - indices.first);
        let top = self.shift + lo * merge;
        let cells = air.block.nk() - top;
        let at = |l: usize, k: usize| (first + l) * plane + (top + k) * width + c;
        let column = view(&self.column, self.layers);
        let fine = &mut self.tracers.as_chunks_mut::<W>().0[..cells];
        let solved = &mut self.solved.as_chunks_mut::<W>().0[..order];
        let copy = &mut self.copy.as_chunks_mut::<W>().0[..order];
        for (k, row) in fine.iter_mut().enumerate() {
            // Lanes without a tracer keep zeros.
            for l in 0..lanes {
                row[l] = tracers[at(l, k)];
            }
            row[lanes..].fill(R::lit(0.0));
        }
        let settles = !matches!(ledger, Ledger::Off);
        let zero = Lanes::<R, W>::lit(0.0);
        let mut before = (zero, zero);
        if settles {
            for row in fine.iter() {
                before = nm::neumaier_add(before.0, before.1, Lanes(*row));
            }
        }
        for (s, out) in copy.iter_mut().enumerate() {
            let group = &fine[s * merge..(s + 1) * merge];
            let mut sum = Lanes(group[0]);
            for row in &group[1..] {
                sum += Lanes(*row);
            }
            *out = sum.0;
        }
        match self.options.solve {
            Solve::Plain => {
                solved.copy_from_slice(copy);
                self.factors.solve(solved);
            }
            Solve::Delta => {
                self.plumes.tendency(&column, indices, dt, copy, solved);
                self.factors.solve(solved);
                let (mut lowest_before, mut lowest_after) = (zero, zero);
                for (change, old) in solved.iter_mut().zip(copy.iter()) {
                    let new = Lanes(*old) + Lanes(*change);
                    lowest_before = Lanes(*old).min(lowest_before);
                    lowest_after = new.min(lowest_after);
                    *change = new.0;
                }
                let negative = Lanes::<R, W>::and(lowest_before.ge(zero), lowest_after.lt(zero));
                if negative.contains(&true) {
                    self.solve_plainly(negative, indices, merge, cells);
                }
            }
        }
        let fine = &mut self.tracers.as_chunks_mut::<W>().0[..cells];
        let solved = &self.solved.as_chunks::<W>().0[..order];
        if merge == 1 {
            fine.copy_from_slice(solved);
        } else {
            split(fine, solved, &self.copy.as_chunks::<W>().0[..order], merge);
        }
        for (k, row) in fine.iter().enumerate() {
            for l in 0..lanes {
                tracers[at(l, k)] = row[l];
            }
        }
        if !settles {
            return LedgerStats::default();
        }
        let mut audit = Audit::new();
        // A loop: what a closure holds is compiled without the instructions of this processor.
        for (k, row) in fine.iter().enumerate() {
            audit.add(k, Lanes(*row));
        }
        let mut used = [false; W];
        used[..lanes].fill(true);
        audit.settle(before, cells, used, ledger, |l| (first + l) * width + c, |l, k, value| tracers[at(l, k)] = value)
    }

    /// Replaces the solution of the lanes in `which` by the plain one.
    #[inline(always)]
    fn solve_plainly<const W: usize>(&mut self, which: [bool; W], indices: &CloudIndices, merge: usize, cells: usize) {
        let order = self.layers - indices.first;
        let solved = &mut self.solved.as_chunks_mut::<W>().0[..order];
        let copy = &mut self.copy.as_chunks_mut::<W>().0[..order];
        self.factors.solve(copy);
        for (new, plain) in solved.iter_mut().zip(copy.iter()) {
            *new = Lanes::select(which, Lanes(*plain), Lanes(*new)).0;
        }
        // The sums over merged layers are needed once more.
        let fine = &self.tracers.as_chunks::<W>().0[..cells];
        for (s, out) in copy.iter_mut().enumerate() {
            let group = &fine[s * merge..(s + 1) * merge];
            let mut sum = Lanes(group[0]);
            for row in &group[1..] {
                sum += Lanes(*row);
            }
            *out = sum.0;
        }
    }
}

/// Distributes merged layers as their fine layers were before; evenly if there was nothing.
#[inline(always)]
fn split<R: Scalar, const W: usize>(fine: &mut [[R; W]], new: &[[R; W]], old: &[[R; W]], merge: usize) {
    let zero = Lanes::<R, W>::lit(0.0);
    let share = Lanes::lit(1.0) / Lanes::splat(R::lit(merge as f64));
    for (s, group) in fine.chunks_exact_mut(merge).enumerate() {
        let old = Lanes(old[s]);
        let filled = Lanes::<R, W>::or(old.gt(zero), old.lt(zero));
        for row in group {
            let part = Lanes::select(filled, Lanes(*row) / old, share);
            *row = (Lanes(new[s]) * part).0;
        }
    }
}

/// The rows of a gathered column.
#[inline(always)]
fn view<R>(rows: &[R], layers: usize) -> Tm5Column<'_, R> {
    let row = |n: usize| &rows[n * layers..(n + 1) * layers];
    Tm5Column { air: row(0), entu: row(1), detu: row(2), entd: row(3), detd: row(4) }
}
