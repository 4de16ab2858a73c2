//! The Courant budget of a window: how much air leaves each cell in one substep.

use kernels::Scalar;
use kernels::cpu::{LevelFluxes, outflow_budget};
use rayon::prelude::*;

use super::Winds;
use crate::comm::Communicator;
use crate::state::Slabs;

/// The cell with the largest budget on the globe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellBudget {
    /// `2·(out_x + out_y + out_z)/m` of a substep in one pass per leg; infinite where air mass or fluxes are unusable.
    pub ratio: f64,
    /// Layer, panel, i, j, all counted from 1.
    pub cell: [usize; 4],
}

impl CellBudget {
    /// Before any cell has been looked at.
    pub(in crate::operators) const NONE: CellBudget = CellBudget { ratio: 0.0, cell: [usize::MAX; 4] };

    /// Passes per leg that keep the budget within `limit` (> 0), `None` if no number does.
    pub fn passes(&self, limit: f64) -> Option<usize> {
        let passes = (self.ratio / limit).ceil().max(1.0);
        (passes <= super::MAX_PASSES as f64).then_some(passes as usize)
    }
}

impl std::fmt::Display for CellBudget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [k, panel, i, j] = self.cell;
        write!(f, "{:.4} in layer {k}, panel {panel}, cell ({i}, {j})", self.ratio)
    }
}

/// Largest budget over all cells of all ranks, from the air mass at the start of a window. Collective.
///
/// `air` holds the air mass in plane 0. Ties go to the first cell in the order layer, panel, j, i.
pub fn largest_budget<R: Scalar>(air: &Slabs<R>, winds: Winds<'_, R>, comm: &dyn Communicator) -> CellBudget {
    let set = air.tile_set();
    let scale = R::from_f64(winds.scale);
    let local = (0..air.levels())
        .into_par_iter()
        .map(|level| {
            let mut worst = CellBudget::NONE;
            for (tile, shape) in set.shapes().iter().enumerate() {
                let fluxes = LevelFluxes {
                    west: winds.x.plane(level, tile, 0),
                    south: winds.y.plane(level, tile, 0),
                    top: winds.z.plane(level, tile, 0),
                    bottom: winds.z.plane(level + 1, tile, 0),
                };
                let found = outflow_budget(shape, air.plane(level, tile, 0), fluxes, scale);
                let place = &set.tiles()[tile];
                let (i, j) = (place.i0 + found.cell.0 + 1, place.j0 + found.cell.1 + 1);
                worst = larger(worst, CellBudget { ratio: found.ratio, cell: [level + 1, place.panel.number(), i, j] });
            }
            worst
        })
        .reduce(|| CellBudget::NONE, larger);
    largest_of_ranks(local, comm)
}

/// The largest of the budgets that the ranks have found. Collective.
pub(in crate::operators) fn largest_of_ranks(local: CellBudget, comm: &dyn Communicator) -> CellBudget {
    let mut ratio = [local.ratio];
    comm.max_f64(&mut ratio);
    // The first cell among those that reach the maximum, whatever the layout: one key, smallest wins.
    let key = |cell: [usize; 4]| {
        let [k, panel, i, j] = cell.map(|n| n as f64);
        ((k * 8.0 + panel) * 65_536.0 + j) * 65_536.0 + i
    };
    let mut first = [if local.ratio == ratio[0] { -key(local.cell) } else { f64::NEG_INFINITY }];
    comm.max_f64(&mut first);
    let mut owner = [f64::NEG_INFINITY; 4];
    if local.ratio == ratio[0] && -key(local.cell) == first[0] {
        owner = local.cell.map(|n| n as f64);
    }
    comm.max_f64(&mut owner);
    CellBudget { ratio: ratio[0], cell: owner.map(|n| n as usize) }
}

pub(in crate::operators) fn larger(a: CellBudget, b: CellBudget) -> CellBudget {
    let order = |c: [usize; 4]| [c[0], c[1], c[3], c[2]];
    if b.ratio > a.ratio || (b.ratio == a.ratio && order(b.cell) < order(a.cell)) { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_keep_the_budget_within_the_limit() {
        let budget = |ratio| CellBudget { ratio, cell: [1; 4] };
        assert_eq!(budget(0.2).passes(0.95), Some(1));
        assert_eq!(budget(0.95).passes(0.95), Some(1));
        assert_eq!(budget(1.0).passes(1.0), Some(1));
        assert_eq!(budget(0.951).passes(0.95), Some(2));
        assert_eq!(budget(4096.0).passes(1.0), Some(4096));
        assert_eq!(budget(4096.5).passes(1.0), None);
        assert_eq!(budget(f64::INFINITY).passes(1.0), None);
    }
}
