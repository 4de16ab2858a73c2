//! What all tracers of a block share.

use crate::columns::convection::cmfmc::{CloudBase, Cmfmc, CmfmcForcing, Negative};
use crate::columns::convection::{ColumnAir, smallest};
use crate::lanes::Lanes;
use crate::numerics as nm;
use crate::real::{Real, Scalar};

#[inline(always)]
pub(crate) fn prepare<R: Scalar, const W: usize>(
    work: &mut Cmfmc<R>,
    air: &ColumnAir<R>,
    forcing: &CmfmcForcing<R>,
    dt: R,
) {
    let (nk, width) = (air.block.nk(), air.block.width());
    let tiny = Lanes::<R, W>::splat(smallest());
    let (zero, one) = (Lanes::<R, W>::lit(0.0), Lanes::lit(1.0));
    let options = work.options;
    work.dt = dt;
    for at in (0..width).step_by(W) {
        let area = Lanes::load(air.area, at);
        let edge = |e: usize| Lanes::load(forcing.cloud_flux, e * width + at);
        let number = |k: usize| Lanes::<R, W>::lit(k as f64);

        let mut base = number(nk - 1);
        let mut active = zero;
        for k in 0..nk {
            let carries = edge(k + 1).abs().gt(tiny);
            base = Lanes::select(carries, number(k), base);
            active = Lanes::select(carries, one, active);
        }
        match (options.cloud_base, forcing.cloud_base) {
            (CloudBase::Archived, Some(archived)) => {
                base = (Lanes::load(archived, at) - one).max(zero).min(number(nk - 1));
            }
            (CloudBase::None, _) => base = number(nk - 1),
            _ => {}
        }
        let convects = active.gt(zero);

        let mut base_flux = zero;
        let (mut closed, mut mixed) = (Lanes::select(edge(0).abs().gt(zero), zero, one), (zero, zero));
        for k in (0..nk).rev() {
            let row = k * width + at;
            let mass = Lanes::load(air.mass, row);
            let per_area = mass / area;
            let (above_base, below_base) = (number(k).le(base), number(k).gt(base));
            let (above, below) = (edge(k), if k + 1 == nk { zero } else { edge(k + 1) });
            let detrained = match forcing.detrainment {
                Some(detrainment) => Lanes::load(detrainment, row),
                None => (edge(k + 1) - above).max(zero),
            };
            let used = Lanes::<R, W>::and(above_base, convects);
            Lanes::select(used, above, zero).store(&mut work.flux, row);
            Lanes::select(used, above + detrained, zero).store(&mut work.leaving, row);
            let has_air = Lanes::<R, W>::and(mass.gt(tiny), per_area.gt(tiny));
            let rate = Lanes::select(per_area.gt(tiny), Lanes::splat(dt) / per_area, zero);
            rate.store(&mut work.rate, row);
            closed = Lanes::select(has_air, closed, zero);
            base_flux = Lanes::select(Lanes::<R, W>::and(number(k).ge(base), above_base), below, base_flux);
            mixed = {
                let added = nm::compensated_add(mixed.0, mixed.1, per_area);
                (Lanes::select(below_base, added.0, mixed.0), Lanes::select(below_base, added.1, mixed.1))
            };
        }
        let exchanges = Lanes::<R, W>::and(convects, Lanes::<R, W>::and(base_flux.gt(tiny), base.lt(number(nk - 1))));
        base.store(&mut work.base, at);
        Lanes::select(convects, base_flux, zero).store(&mut work.base_flux, at);
        Lanes::select(exchanges, mixed.0 + mixed.1, zero).store(&mut work.mixed_air, at);
        (Lanes::splat(dt) * area).store(&mut work.step_area, at);
        active.store(&mut work.active, at);
        let keeps = match options.negative {
            Negative::Kept => Lanes::select(convects, closed, zero),
            Negative::Clamped => zero,
        };
        keeps.store(&mut work.ledger, at);
    }
}
