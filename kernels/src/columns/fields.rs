//! Cell by cell: exchange of a block from its diffusivities; decay.

use super::block::ColumnBlock;
use crate::lanes::Lanes;
use crate::numerics::{decayed, exchange_from_rate};
use crate::real::Scalar;

/// Exchange through the lower interface of each layer, kg/s, from its rate (1/s), see
/// [`exchange_from_rate`](crate::numerics::exchange_from_rate). All fields hold `nk × width` values; the last layer gets 0.
/// Panics if one is too short.
pub fn exchange_from_rates<R: Scalar>(block: ColumnBlock, air_mass: &[R], rates: &[R], out: &mut [R]) {
    R::exchange_from_rates(block, air_mass, rates, out);
}

/// Decrement of a content that decays at the rate `lambda` (1/s) for `dt` seconds: `expm1(−λ dt)`, rounded once.
pub fn decay_decrement<R: Scalar>(lambda: f64, dt: f64) -> R {
    R::from_f64((-lambda * dt).exp_m1())
}

/// Decay of contents of any shape by a decrement from [`decay_decrement`].
pub fn decay<R: Scalar>(contents: &mut [R], decrement: R) {
    R::decay(contents, decrement);
}

#[inline(always)]
pub(super) fn exchange<R: Scalar, const W: usize>(block: ColumnBlock, air_mass: &[R], rates: &[R], out: &mut [R]) {
    let (lines, out) = (block.lines::<W>(), block.cut_mut::<R, W>(out));
    let [mass, rates] = [air_mass, rates].map(|field| block.cut::<R, W>(field));
    let last = out.len() - lines.min(out.len());
    for at in 0..last {
        out[at] = exchange_from_rate(Lanes(mass[at]), Lanes(mass[at + lines]), Lanes(rates[at])).0;
    }
    out[last..].fill([R::lit(0.0); W]);
}

#[inline(always)]
pub(super) fn decay_all<R: Scalar, const W: usize>(contents: &mut [R], decrement: R) {
    let (lines, rest) = contents.as_chunks_mut::<W>();
    for line in lines {
        *line = decayed(Lanes(*line), Lanes::splat(decrement)).0;
    }
    for content in rest {
        *content = decayed(*content, decrement);
    }
}
