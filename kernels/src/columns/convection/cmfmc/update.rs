//! One tracer through its sub-steps.

use crate::columns::convection::cmfmc::{BaseExchange, Cmfmc, Negative, Update};
use crate::columns::convection::settle::Audit;
use crate::columns::convection::{ColumnAir, smallest};
use crate::columns::{Ledger, LedgerStats};
use crate::lanes::Lanes;
use crate::numerics as nm;
use crate::real::{Real, Scalar};

#[inline(always)]
pub(crate) fn convect<R: Scalar, const W: usize>(
    work: &mut Cmfmc<R>,
    air: &ColumnAir<R>,
    tracer: &mut [R],
    ledger: &mut Ledger<R>,
) -> LedgerStats {
    let width = air.block.width();
    let mut stats = LedgerStats::default();
    for at in (0..width).step_by(W) {
        if active::<R, W>(work, at).contains(&true) {
            for _ in 0..work.substeps {
                stats = stats.merge(substep::<R, W>(work, air, at, tracer, ledger));
            }
        }
    }
    stats
}

/// Columns that convect; the others are left alone.
#[inline(always)]
fn active<R: Scalar, const W: usize>(work: &Cmfmc<R>, at: usize) -> [bool; W] {
    Lanes::<R, W>::load(&work.active, at).gt(Lanes::lit(0.0))
}

/// A cache line of columns. Both loops go up: a layer sees what entered below, and the air above as it was.
#[inline(always)]
fn substep<R: Scalar, const W: usize>(
    work: &mut Cmfmc<R>,
    air: &ColumnAir<R>,
    at: usize,
    tracer: &mut [R],
    ledger: &mut Ledger<R>,
) -> LedgerStats {
    let (nk, width, options) = (air.block.nk(), air.block.width(), work.options);
    let tiny = Lanes::<R, W>::splat(smallest());
    let (zero, dt) = (Lanes::<R, W>::lit(0.0), Lanes::splat(work.dt));
    let base = Lanes::load(&work.base, at);
    let (base_flux, mixed_air) = (Lanes::load(&work.base_flux, at), Lanes::load(&work.mixed_air, at));
    let (step_area, area) = (Lanes::load(&work.step_area, at), Lanes::load(air.area, at));
    let exchanges = mixed_air.gt(zero);
    let base_flux_mixed = Lanes::select(exchanges, base_flux, zero);
    let settles = match ledger {
        Ledger::Off => [false; W],
        _ => Lanes::<R, W>::load(&work.ledger, at).gt(zero),
    };
    let active = active::<R, W>(work, at);
    let clamped = options.negative == Negative::Clamped;
    let sums = clamped || settles.contains(&true);
    let number = |k: usize| Lanes::<R, W>::lit(k as f64);

    let ratio = work.ratio.as_chunks_mut::<W>().0;
    let (mut before, mut smallest_ratio) = ((zero, zero), zero);
    let mut first = true;
    for k in (0..nk).rev() {
        let (content, mass) = (Lanes::load(tracer, k * width + at), Lanes::load(air.mass, k * width + at));
        let q = Lanes::select(mass.gt(tiny), content / mass, zero);
        ratio[k] = q.0;
        if sums {
            before = nm::neumaier_add(before.0, before.1, content);
        }
        smallest_ratio = if first { q } else { smallest_ratio.min(q) };
        first = false;
    }
    let background = if options.update == Update::MassFlux { smallest_ratio } else { zero };

    // Mixed layer below cloud base, in a compensated sum.
    let (mut sum, mut at_base) = ((zero, zero), zero);
    for k in (0..nk).rev() {
        let (below_base, x) = (number(k).gt(base), Lanes::<R, W>(ratio[k]) - background);
        at_base = Lanes::select(Lanes::<R, W>::and(number(k).ge(base), number(k).le(base)), x, at_base);
        let added = nm::compensated_add(sum.0, sum.1, x * (Lanes::load(air.mass, k * width + at) / area));
        sum = (Lanes::select(below_base, added.0, sum.0), Lanes::select(below_base, added.1, sum.1));
        if !below_base.contains(&true) {
            break;
        }
    }
    let mixed = nm::subcloud_ratio(sum.0 + sum.1, mixed_air, base_flux_mixed * dt, at_base);

    let (mut plume, mut from_below) = (mixed, zero);
    let mut x = Lanes(ratio[nk - 1]) - background;
    let mut flux_below = zero;
    let mut audit = Audit::new();
    for k in (0..nk).rev() {
        let row = k * width + at;
        let above = if k == 0 { zero } else { Lanes(ratio[k - 1]) - background };
        let (content, mass) = (Lanes::load(tracer, row), Lanes::load(air.mass, row));
        let (rate, flux) = (Lanes::load(&work.rate, row), Lanes::load(&work.flux, row));
        let (below_base, is_base) = (number(k).gt(base), Lanes::<R, W>::and(number(k).ge(base), number(k).le(base)));
        // The mixed layer delivers its exchange as if it were a flux through cloud base.
        from_below = Lanes::select(is_base, Lanes::select(exchanges, base_flux_mixed * (mixed - x), zero), from_below);
        let environment = match options.exchange {
            BaseExchange::BeforePlume => Lanes::select(is_base, x + rate * from_below, x),
            BaseExchange::WithPlume => x,
        };
        let entering = Lanes::select(is_base, base_flux, flux_below);
        let risen = nm::plume_ratio(entering, Lanes::load(&work.leaving, row), plume, environment, tiny);
        plume = Lanes::select(below_base, plume, risen);
        let to_above = Lanes::select(below_base, zero, flux * (plume - above));
        let is_mixed = Lanes::<R, W>::and(below_base, exchanges);
        let new = match options.update {
            Update::MixingRatio => {
                let moved = Lanes::select(is_mixed, mixed, x + rate * (from_below - to_above));
                Lanes::select((moved - x).abs().gt(zero), moved * mass, content)
            }
            Update::MassFlux => {
                let moved = (content + step_area * from_below) - step_area * to_above;
                Lanes::select(is_mixed, content + mass * (mixed - x), moved)
            }
        };
        let new = if clamped { new.max(zero) } else { new };
        let new = Lanes::select(active, new, content);
        new.store(tracer, row);
        if sums {
            audit.add(k, new);
        }
        (x, from_below, flux_below) = (above, to_above, flux);
    }
    if clamped {
        rescale::<R, W>(air, at, before, audit.total(), tracer);
    } else if sums {
        return audit.settle(before, nk, settles, ledger, |l| at + l, |l, k, value| tracer[k * width + at + l] = value);
    }
    LedgerStats::default()
}

/// Scales columns to the tracer they held before, where anything is left.
#[inline(always)]
fn rescale<R: Scalar, const W: usize>(
    air: &ColumnAir<R>,
    at: usize,
    before: (Lanes<R, W>, Lanes<R, W>),
    after: Lanes<R, W>,
    tracer: &mut [R],
) {
    let before = before.0 + before.1;
    let differs = Lanes::<R, W>::and(after.gt(Lanes::lit(0.0)), (before - after).abs().gt(Lanes::lit(0.0)));
    let factor = Lanes::select(differs, before / after, Lanes::lit(1.0));
    for k in 0..air.block.nk() {
        let row = k * air.block.width() + at;
        (Lanes::load(tracer, row) * factor).store(tracer, row);
    }
}
