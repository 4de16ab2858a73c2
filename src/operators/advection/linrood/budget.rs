//! Outflow budgets of the operator: along both horizontal axes at once in each level, and of the columns.

use kernels::Scalar;
use kernels::cpu::{LevelFluxes, outflow_budget};
use rayon::prelude::*;

use crate::comm::Communicator;
use crate::operators::advection::budget::{CellBudget, larger, largest_of_ranks};
use crate::operators::advection::{MAX_PASSES, Winds};
use crate::state::Slabs;

/// How much of the largest budget each level needs horizontally, and all columns vertically: parts of 1.
#[derive(Debug)]
pub(super) struct Needs {
    /// One for each level, then one for the columns.
    parts: Vec<f64>,
}

impl Needs {
    pub(super) fn new(levels: usize) -> Self {
        Self { parts: vec![1.0; levels + 1] }
    }

    /// Parts into which a level's horizontal legs are divided, if the neediest are divided into `passes`.
    pub(super) fn horizontal(&self, level: usize, passes: usize) -> usize {
        divided(passes, self.parts[level])
    }

    /// Parts into which the vertical legs are divided.
    pub(super) fn vertical(&self, passes: usize) -> usize {
        divided(passes, self.parts[self.parts.len() - 1])
    }

    /// Largest budget of the globe, `2·(out_x + out_y)/m` and `2·out_z/m`, and the parts of it. Collective.
    pub(super) fn find<R: Scalar>(
        &mut self,
        air: &Slabs<R>,
        winds: Winds<'_, R>,
        still: &[R],
        comm: &dyn Communicator,
    ) -> CellBudget {
        let levels = air.levels();
        let found = |level: usize| level_budgets(air, &winds, still, level);
        let (parts, columns) = self.parts.split_at_mut(levels);
        let (worst, vertical) = parts
            .par_iter_mut()
            .enumerate()
            .map(|(level, part)| {
                let [horizontal, vertical] = found(level);
                *part = horizontal.ratio;
                (larger(horizontal, vertical), vertical.ratio)
            })
            .reduce(|| (CellBudget::NONE, 0.0), |a, b| (larger(a.0, b.0), a.1.max(b.1)));
        columns[0] = vertical;
        comm.max_f64(&mut self.parts);
        let worst = largest_of_ranks(worst, comm);
        for part in &mut self.parts {
            *part /= worst.ratio;
        }
        worst
    }
}

/// Equal parts that something with a `part` of the largest need is divided into.
fn divided(passes: usize, part: f64) -> usize {
    // Without any wind, or with unusable winds, the part is not a number.
    if part.is_nan() { passes } else { ((passes as f64 * part).ceil() as usize).clamp(1, passes.min(MAX_PASSES)) }
}

/// The largest horizontal and the largest vertical budget of a level.
fn level_budgets<R: Scalar>(air: &Slabs<R>, winds: &Winds<'_, R>, still: &[R], level: usize) -> [CellBudget; 2] {
    let set = air.tile_set();
    let scale = R::from_f64(winds.scale);
    let mut worst = [CellBudget::NONE; 2];
    for (tile, shape) in set.shapes().iter().enumerate() {
        let [x, y, top, bottom] = [
            winds.x.plane(level, tile, 0),
            winds.y.plane(level, tile, 0),
            winds.z.plane(level, tile, 0),
            winds.z.plane(level + 1, tile, 0),
        ];
        let fluxes = [
            LevelFluxes { west: x, south: y, top: still, bottom: still },
            LevelFluxes { west: still, south: still, top, bottom },
        ];
        let place = &set.tiles()[tile];
        for (worst, fluxes) in worst.iter_mut().zip(fluxes) {
            let found = outflow_budget(shape, air.plane(level, tile, 0), fluxes, scale);
            let (i, j) = (place.i0 + found.cell.0 + 1, place.j0 + found.cell.1 + 1);
            let cell = [level + 1, place.panel.number(), i, j];
            *worst = larger(*worst, CellBudget { ratio: found.ratio, cell });
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_get_their_share_of_the_passes() {
        let needs = Needs { parts: vec![1.0, 0.5, 0.51, 0.0, f64::NAN, 0.25] };
        let passes = |n| (0..5).map(|level| needs.horizontal(level, n)).collect::<Vec<_>>();
        assert_eq!(passes(1), [1; 5]);
        assert_eq!(passes(4), [4, 2, 3, 1, 4]);
        assert_eq!(needs.vertical(4), 1);
    }
}
