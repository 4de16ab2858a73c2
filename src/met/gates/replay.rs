//! Replay: the air mass moved by a window's fluxes must equal the air mass of the next endpoint.

use super::{Levels, Worst, for_levels};
use crate::met::error::CellIndex;
use crate::met::schema::FloatType;

/// Result of a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayReport {
    /// Largest error relative to the largest target mass of its panel; infinite if any value is not finite.
    pub relative: f64,
    /// Error of the worst cell, kg.
    pub absolute: f64,
    /// The worst cell.
    pub cell: CellIndex,
}

/// Largest relative replay error accepted for a precision: 1e-10 (Float64), 1e-4 (Float32).
pub fn replay_tolerance(float_type: FloatType) -> f64 {
    match float_type {
        FloatType::Float64 => 1e-10,
        FloatType::Float32 => 1e-4,
    }
}

/// Moves the start mass by the whole window's fluxes, `m − s·(∂am + ∂bm + ∂cm)`, and compares it with the end mass.
///
/// `window_scale` (s) turns the given fluxes into whole-window amounts: `2·steps` for amounts of one of the two
/// applications of a substep, 1 for whole-window amounts. Per panel, the largest absolute error is divided by the
/// largest end mass; the worst panel is reported.
pub fn replay(levels: &dyn Levels, window_scale: f64) -> ReplayReport {
    let nz = levels.nlevel();
    let results = for_levels(levels, |_, k, v| {
        let mut worst = Worst::new(k);
        let mut largest = 0.0f64;
        for j in 0..v.nc {
            let cells = j * v.nc..(j + 1) * v.nc;
            let am = &v.am[j * (v.nc + 1)..(j + 1) * (v.nc + 1)];
            for (i, c) in cells.enumerate() {
                let out = (am[i + 1] - am[i]) + (v.bm[c + v.nc] - v.bm[c]) + (v.bottom[c] - v.top[c]);
                let evolved = v.m[c] - window_scale * out;
                worst.see((evolved - v.m_next[c]).abs(), i, j);
                largest = largest.max(v.m_next[c].abs());
            }
        }
        (worst, largest)
    });
    let mut report = ReplayReport { relative: 0.0, absolute: 0.0, cell: CellIndex { panel: 0, i: 0, j: 0, k: 0 } };
    for (panel, levels) in results.chunks(nz.max(1)).enumerate() {
        let largest = levels.iter().fold(0.0f64, |a, (_, l)| a.max(*l));
        for (worst, _) in levels {
            let relative = if worst.value == 0.0 { 0.0 } else { worst.value / largest };
            let relative = if relative.is_nan() { f64::INFINITY } else { relative };
            if relative > report.relative {
                let cell = CellIndex { panel, i: worst.i, j: worst.j, k: worst.k };
                report = ReplayReport { relative, absolute: worst.value, cell };
            }
        }
    }
    report
}
