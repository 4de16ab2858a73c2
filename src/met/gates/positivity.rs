//! Positivity: no substep may take more air from a cell than it holds.

use super::{Levels, Worst, for_levels};
use crate::met::error::CellIndex;

/// Largest share of a cell's air that a substep may move out.
pub const POSITIVITY_LIMIT: f64 = 0.95;

/// Largest outflow of a substep relative to the air in the cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PositivityReport {
    /// Worst `2·(out_x + out_y + out_z)/min(m, m_next)`; infinite where a mass is not positive or a value not finite.
    pub ratio: f64,
    /// Worst ratio of the horizontal outflow alone.
    pub horizontal: f64,
    /// Worst ratio of the vertical outflow alone.
    pub vertical: f64,
    /// The cell of the worst total ratio.
    pub cell: CellIndex,
}

/// Substeps that bring `ratio`, found with `steps` substeps, down to `limit`: `ceil(steps·ratio/limit)`.
/// `None` if no number does, because the ratio is not finite.
pub fn recommended_steps(steps: u32, ratio: f64, limit: f64) -> Option<u64> {
    let wanted = (f64::from(steps) * ratio / limit).ceil();
    (wanted.is_finite() && wanted < 1e18).then_some(wanted.max(1.0) as u64)
}

/// Largest outflow over all cells; `flux_scale` turns the given fluxes into amounts of one of the two applications of a
/// substep (1, or `1/(2·steps)` for whole-window amounts).
pub fn positivity(levels: &dyn Levels, flux_scale: f64) -> PositivityReport {
    let results = for_levels(levels, |panel, k, v| {
        let (mut total, mut horizontal, mut vertical) = (Worst::new(k), Worst::new(k), Worst::new(k));
        let outflow = |low: f64, high: f64| (-low).max(0.0) + high.max(0.0) + 0.0 * (low + high);
        for j in 0..v.nc {
            let am = &v.am[j * (v.nc + 1)..(j + 1) * (v.nc + 1)];
            for i in 0..v.nc {
                let c = j * v.nc + i;
                let (m, next) = (v.m[c], v.m_next[c]);
                let legal = m > 0.0 && next > 0.0 && m.is_finite() && next.is_finite();
                let r = if legal { 2.0 * flux_scale / m.min(next) } else { f64::INFINITY };
                let h = outflow(am[i], am[i + 1]) + outflow(v.bm[c], v.bm[c + v.nc]);
                let z = outflow(v.top[c], v.bottom[c]);
                total.see(r * (h + z), i, j);
                horizontal.see(r * h, i, j);
                vertical.see(r * z, i, j);
            }
        }
        (panel, total, horizontal, vertical)
    });
    let mut report =
        PositivityReport { ratio: 0.0, horizontal: 0.0, vertical: 0.0, cell: CellIndex { panel: 0, i: 0, j: 0, k: 0 } };
    for (panel, total, horizontal, vertical) in results {
        report.horizontal = report.horizontal.max(horizontal.value);
        report.vertical = report.vertical.max(vertical.value);
        if total.value > report.ratio {
            report.ratio = total.value;
            report.cell = CellIndex { panel, i: total.i, j: total.j, k: total.k };
        }
    }
    report
}
