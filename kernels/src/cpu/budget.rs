//! Outflow budget of a step: how much of a cell leaves it if every flux is applied twice.

use crate::lanes::Lanes;
use crate::numerics::outflow_ratio;
use crate::real::{Real, Scalar};
use crate::shape::TileShape;

/// Fluxes of one level that decide the outflow budget, each a padded plane of the tile.
#[derive(Clone, Copy, Debug)]
pub struct LevelFluxes<'a, R> {
    /// Through the low-i sides, positive toward larger i.
    pub west: &'a [R],
    /// Through the low-j sides, positive toward larger j.
    pub south: &'a [R],
    /// Through the tops, positive downward.
    pub top: &'a [R],
    /// Through the bottoms, positive downward.
    pub bottom: &'a [R],
}

/// The cell of a plane with the largest outflow budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutflowBudget {
    /// `2 (out_x + out_y + out_z) / m`; infinite where the mass is not positive or anything is not finite.
    pub ratio: f64,
    /// Position `(i, j)` of the cell, from the first interior cell.
    pub cell: (usize, usize),
}

#[inline(always)]
pub(crate) fn outflow_budget<R: Scalar, const W: usize>(
    shape: &TileShape,
    air_mass: &[R],
    fluxes: LevelFluxes<R>,
    scale: R,
) -> OutflowBudget {
    let mut worst = OutflowBudget { ratio: 0.0, cell: (0, 0) };
    for j in 0..shape.nj {
        let start = shape.row_start(j);
        let mut i = 0;
        while i < shape.ni {
            // The last group of a row is short: its lanes beyond the row are not looked at.
            let n = W.min(shape.ni - i);
            let at = start + i;
            let mass = part::<R, W>(air_mass, at, n);
            let ratio = outflow_ratio(
                mass,
                Lanes::splat(scale),
                part::<R, W>(fluxes.west, at, n),
                part::<R, W>(fluxes.west, at + 1, n),
                part::<R, W>(fluxes.south, at, n),
                part::<R, W>(fluxes.south, at + shape.pitch, n),
                part::<R, W>(fluxes.top, at, n),
                part::<R, W>(fluxes.bottom, at, n),
            );
            for l in 0..n {
                let sound = ratio.0[l].is_finite() && mass.0[l] > R::lit(0.0) && mass.0[l].is_finite();
                let ratio = if sound { ratio.0[l].to_f64() } else { f64::INFINITY };
                if ratio > worst.ratio {
                    worst = OutflowBudget { ratio, cell: (i + l, j) };
                }
            }
            i += n;
        }
    }
    worst
}

/// Up to `W` values; the missing ones are 1.
#[inline(always)]
fn part<R: Scalar, const W: usize>(plane: &[R], at: usize, n: usize) -> Lanes<R, W> {
    if n == W {
        return Lanes::load(plane, at);
    }
    let mut out = Lanes::lit(1.0);
    out.0[..n].copy_from_slice(&plane[at..at + n]);
    out
}
