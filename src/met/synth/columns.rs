//! Vertical fluxes from continuity, and the substeps a window needs.

use rayon::prelude::*;

use super::recipe::Balance;

/// Substeps are chosen so that no cell gives away more than this share of its air in one substep; a little below the
/// limit of 0.95 of transport files, which must also hold after rounding to single precision.
pub(super) const OUTFLOW_LIMIT: f64 = 0.949;

/// Extent of the arrays of one window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Cells per panel edge.
    pub nc: usize,
    /// Layers.
    pub levels: usize,
}

impl Extent {
    /// Values of a cell section on one panel.
    pub fn cells(self) -> usize {
        self.nc * self.nc * self.levels
    }

    /// Values of a face section on one panel.
    pub fn faces(self) -> usize {
        self.nc * (self.nc + 1) * self.levels
    }

    /// Values of an interface section on one panel.
    pub fn interfaces(self) -> usize {
        self.nc * self.nc * (self.levels + 1)
    }
}

/// Air amounts of a window on one panel, in kg, each `[k][j][i]`.
#[derive(Clone, Copy)]
struct PanelAir<'a> {
    m: &'a [f64],
    m_next: &'a [f64],
    am: &'a [f64],
    bm: &'a [f64],
}

/// Fills `cm` so that every layer's budget closes, for fluxes of the whole window, and returns the largest
/// ratio of a cell's outflow to the smaller of its masses before and after.
pub(super) fn close_columns(extent: Extent, balance: Balance, [m, m_next, am, bm]: [&[f64]; 4], cm: &mut [f64]) -> f64 {
    let panels = cm.par_chunks_mut(extent.interfaces()).enumerate();
    let ratios = panels.map(|(panel, cm)| {
        let cells = panel * extent.cells()..(panel + 1) * extent.cells();
        let faces = panel * extent.faces()..(panel + 1) * extent.faces();
        let air = PanelAir { m: &m[cells.clone()], m_next: &m_next[cells], am: &am[faces.clone()], bm: &bm[faces] };
        if balance == Balance::Continuity {
            integrate_continuity(extent, air, cm);
        }
        largest_outflow(extent, air, cm)
    });
    ratios.reduce(|| 0.0, f64::max)
}

/// cm at the bottom of a layer = cm at its top + horizontal convergence − gain of mass. The residual at the surface is
/// taken back in proportion to the mass above.
fn integrate_continuity(extent: Extent, air: PanelAir, cm: &mut [f64]) {
    let (nc, plane) = (extent.nc, extent.nc * extent.nc);
    cm[..plane].fill(0.0);
    let mut mass_above = vec![0.0; cm.len()];
    for k in 0..extent.levels {
        let (am, bm) = level_fluxes(extent, air, k);
        for (c, (j, i)) in (0..plane).map(|c| (c, (c / nc, c % nc))) {
            let at = k * plane + c;
            let west = j * (nc + 1) + i;
            let convergence = (am[west] - am[west + 1]) + (bm[c] - bm[c + nc]);
            cm[at + plane] = cm[at] + (convergence - (air.m_next[at] - air.m[at]));
            mass_above[at + plane] = mass_above[at] + air.m[at];
        }
    }
    let surface = extent.levels * plane;
    let share: Vec<f64> = (0..plane).map(|c| cm[surface + c] / mass_above[surface + c]).collect();
    for k in 1..extent.levels {
        for c in 0..plane {
            cm[k * plane + c] -= share[c] * mass_above[k * plane + c];
        }
    }
    cm[surface..].fill(0.0);
}

/// West- and south-side fluxes of one level.
fn level_fluxes<'a>(extent: Extent, air: PanelAir<'a>, k: usize) -> (&'a [f64], &'a [f64]) {
    let faces = extent.nc * (extent.nc + 1);
    (&air.am[k * faces..(k + 1) * faces], &air.bm[k * faces..(k + 1) * faces])
}

fn largest_outflow(extent: Extent, air: PanelAir, cm: &[f64]) -> f64 {
    let (nc, plane) = (extent.nc, extent.nc * extent.nc);
    let mut worst = 0.0f64;
    for k in 0..extent.levels {
        let (am, bm) = level_fluxes(extent, air, k);
        for (c, (j, i)) in (0..plane).map(|c| (c, (c / nc, c % nc))) {
            let at = k * plane + c;
            let west = j * (nc + 1) + i;
            let out = |low: f64, high: f64| f64::max(0.0, -low) + f64::max(0.0, high);
            let sum = out(am[west], am[west + 1]) + out(bm[c], bm[c + nc]) + out(cm[at], cm[at + plane]);
            let ratio = sum / f64::min(air.m[at], air.m_next[at]);
            // An empty or undefined cell cannot be helped by substeps.
            worst = if ratio >= 0.0 && ratio.is_finite() { worst.max(ratio) } else { f64::INFINITY };
        }
    }
    worst
}
