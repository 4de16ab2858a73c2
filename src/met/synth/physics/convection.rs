//! Convective mass fluxes of the weather flow.

use std::f64::consts::PI;

/// Sigma of the cloud base.
const BASE: f64 = 0.94;
/// Share of the smaller of its two interface fluxes that a layer exchanges with its surroundings besides the net flow.
const EXCHANGE: f64 = 0.1;

/// Strength of convection in kg m⁻² s⁻¹: near the equator, in two wet regions that move east in 20 days, stronger over
/// heated land.
pub(super) fn strength([x, y, z]: [f64; 3], time_s: f64, heating: f64) -> f64 {
    let warm = 1.0 - z * z;
    let (sin, cos) = (2.0 * PI * time_s / (20.0 * 86_400.0)).sin_cos();
    let along = x * cos + y * sin;
    let regions = 0.55 + 0.45 * (2.0 * along * along - warm);
    let tropics = warm * warm * warm * warm;
    0.04 * f64::max(0.0, tropics * regions - 0.05) * (1.0 + 0.5 * heating)
}

/// Updraft and downdraft mass fluxes at the interfaces, both positive, in kg m⁻² s⁻¹.
pub(super) struct Drafts<'a> {
    /// Updraft above the cloud base, zero below.
    pub cloud: &'a mut [f64],
    /// Updraft that gathers air below the cloud base as well.
    pub updraft: &'a mut [f64],
    /// Downdraft.
    pub downdraft: &'a mut [f64],
}

impl Drafts<'_> {
    /// Profiles for convection of `strength` in a column with interfaces at `sigma`. Zero at both ends.
    pub fn fill(&mut self, strength: f64, sigma: &[f64]) {
        // Stronger convection reaches higher.
        let top = 0.55 - 0.4 * f64::min(1.0, strength / 0.04);
        let profile = |s: f64| s * (2.6 - 2.0 * s) / 0.845;
        for (k, &sigma) in sigma.iter().enumerate() {
            let end = k == 0 || k + 1 == self.cloud.len();
            let inside = !end && sigma > top;
            let rise = profile((sigma - top) / (BASE - top));
            self.cloud[k] = if inside && sigma <= BASE { strength * rise } else { 0.0 };
            let below = profile(1.0) * (1.0 - sigma) / (1.0 - BASE);
            self.updraft[k] = if !inside {
                0.0
            } else if sigma <= BASE {
                self.cloud[k]
            } else {
                strength * below
            };
            let s = (sigma - 0.5) / 0.5;
            self.downdraft[k] = if !end && s > 0.0 { strength * s * (1.0 - s) } else { 0.0 };
        }
    }
}

/// Entrainment and detrainment of a layer whose flux changes from `inflow` to `outflow`: their difference is the change,
/// neither is negative.
pub(super) fn exchange(inflow: f64, outflow: f64) -> (f64, f64) {
    let change = outflow - inflow;
    let both = EXCHANGE * f64::min(inflow, outflow);
    (f64::max(change, 0.0) + both, f64::max(-change, 0.0) + both)
}

/// Layer, counted from 1 at the top, above the lowest interface with flux; the lowest layer without any.
pub(super) fn cloud_base_layer(cloud: &[f64]) -> f64 {
    let levels = cloud.len() - 1;
    cloud.iter().rposition(|flux| *flux > 0.0).unwrap_or(levels) as f64
}
