//! Courant numbers of the cloud mass flux.

use crate::columns::convection::ColumnAir;
use crate::lanes::Lanes;
use crate::numerics as nm;
use crate::real::{Real, Scalar};

#[inline(always)]
pub(crate) fn courant<R: Scalar, const W: usize>(air: &ColumnAir<R>, cloud_flux: &[R], dt: R) -> R {
    let (nk, width) = (air.block.nk(), air.block.width());
    let mut largest = Lanes::<R, W>::lit(0.0);
    for at in (0..width).step_by(W) {
        let area = Lanes::load(air.area, at);
        for e in 0..=nk {
            // At the ends the only neighbour stands for both.
            let above = Lanes::load(air.mass, e.max(1) * width - width + at);
            let below = Lanes::load(air.mass, e.min(nk - 1) * width + at);
            let flux = Lanes::load(cloud_flux, e * width + at);
            largest = nm::finite_max(largest, nm::cloud_courant(flux, Lanes::splat(dt), above, below, area));
        }
    }
    largest.0.into_iter().fold(R::lit(0.0), nm::finite_max)
}
