//! Radioactive decay of tracers.

use kernels::Scalar;
use rayon::prelude::*;

use crate::state::{AIR, PackedState};

/// A tracer that decays, and its decay constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decaying {
    /// Tracer in storage order.
    pub tracer: usize,
    /// λ = ln 2 / half-life (s⁻¹), positive.
    pub rate: f64,
}

impl Decaying {
    /// From a half-life (s, positive).
    pub fn from_half_life(tracer: usize, seconds: f64) -> Self {
        Self { tracer, rate: std::f64::consts::LN_2 / seconds }
    }

    /// Fraction added in `dt` seconds, exp(−λ dt) − 1, formed in f64 and rounded once.
    pub fn decrement<R: Scalar>(&self, dt: f64) -> R {
        R::from_f64((-self.rate * dt).exp_m1())
    }
}

/// Lets tracers decay for `dt` seconds in all cells, halos left alone.
pub fn decay<R: Scalar>(state: &mut PackedState<R>, decaying: &[Decaying], dt: f64) {
    let set = state.tile_set().clone();
    let slabs = state.slabs_mut();
    let (stride, tiles) = (slabs.level_stride(), slabs.tile_ranges());
    slabs.data_mut().par_chunks_mut(stride).for_each(|slab| {
        for (shape, range) in set.shapes().iter().zip(tiles.iter()) {
            for one in decaying {
                let first = range.start + (AIR + 1 + one.tracer) * shape.plane_len();
                let decrement = one.decrement(dt);
                for j in 0..shape.nj {
                    let row = first + shape.row_start(j);
                    kernels::cpu::decay(&mut slab[row..row + shape.ni], decrement);
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const RADON: f64 = 3.8235 * 86_400.0;

    /// Half a unit in the last place of exp(−λ dt) − 1. In single precision exp loses up to 3e-5 of the difference.
    #[test]
    fn the_decrement_is_rounded_once() {
        let radon = Decaying::from_half_life(0, RADON);
        for dt in [300.0, 400.0, 450.0, 600.0, 900.0] {
            let exact = (-std::f64::consts::LN_2 / RADON * dt).exp_m1();
            let single = f64::from(radon.decrement::<f32>(dt));
            assert!(((single - exact) / exact).abs() <= f64::from(f32::EPSILON) / 2.0, "{dt} s");
        }
    }
}
