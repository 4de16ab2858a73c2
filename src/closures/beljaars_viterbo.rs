//! Local diffusivity of Beljaars and Viterbo (1998): one profile under the boundary-layer top, a constant above.

use super::constants::{GAS_DRY, GRAVITY, HEAT_CAPACITY_DRY};

pub(super) const KARMAN: f64 = 0.41;
pub(super) const LARGEST: f64 = 500.0;
pub(super) const BACKGROUND: f64 = 0.1;
const SMALLEST: f64 = 0.01;
const BETA: f64 = 15.0;
const SURFACE_DENSITY: f64 = 1.225;

/// What a local closure is told about the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalSurface {
    /// Boundary-layer height, m.
    pub pbl_height: f64,
    /// Friction velocity, m s⁻¹.
    pub friction_velocity: f64,
    /// Sensible heat flux, W m⁻², positive upward.
    pub heat_flux: f64,
    /// Temperature at 2 m, K.
    pub temperature_2m: f64,
}

/// The profile of one column; evaluated by height.
pub(super) struct Profile {
    height: f64,
    friction: f64,
    obukhov: f64,
    inverse_prandtl: f64,
}

impl Profile {
    pub(super) fn new(surface: &LocalSurface) -> Self {
        let height = surface.pbl_height.max(100.0);
        let friction = surface.friction_velocity.max(0.01);
        let temperature = surface.temperature_2m.max(200.0);
        let flux = surface.heat_flux / (SURFACE_DENSITY * HEAT_CAPACITY_DRY);
        let safe = flux + (flux + 1e-20).signum() * 1e-10;
        let obukhov = -temperature * friction.powi(3) / (KARMAN * GRAVITY * safe);
        let inverse_prandtl = if obukhov < 0.0 && flux > 0.0 && height > 10.0 {
            let f = (1.0 - 0.5 * height / obukhov).max(1.0);
            let x = f.cbrt();
            let convective = (flux * GRAVITY * height / temperature).cbrt();
            (x / f.sqrt() + 7.2 * convective / (friction * x)).max(1.0)
        } else {
            1.0
        };
        Self { height, friction, obukhov, inverse_prandtl }
    }

    /// Diffusivity (m² s⁻¹) at `z` m above the surface.
    pub(super) fn at(&self, z: f64) -> f64 {
        let Self { height: h, friction, obukhov: l, .. } = *self;
        if z >= 1.2 * h {
            return BACKGROUND;
        }
        let inside = z.min(h - 1.0);
        let shape = (1.0 - inside / h).powi(2);
        let neutral = friction * KARMAN * inside * shape;
        let value = if l < 0.0 {
            let steepened =
                if inside < 0.1 * h { 1.0 - BETA * inside / l } else { 1.0 - 0.1 * BETA * h / l }.cbrt() * neutral;
            steepened * self.inverse_prandtl
        } else {
            neutral / (1.0 + 5.0 * inside / l)
        };
        let value = value.clamp(SMALLEST, LARGEST);
        if z >= h { BACKGROUND + (1.2 * h - z) / (0.2 * h) * (value - BACKGROUND) } else { value }
    }
}

/// Walks a column from the surface up; `visit(k, height of the centre in m)`. Thickness as `Δp R T / (g max(p, 1))`.
pub(super) fn climb(edges: &[f64], temperature: impl Fn(usize) -> f64, mut visit: impl FnMut(usize, f64)) {
    let mut below = 0.0;
    for k in (0..edges.len() - 1).rev() {
        let mid = (0.5 * (edges[k] + edges[k + 1])).max(1.0);
        let thickness = (edges[k + 1] - edges[k]) * GAS_DRY * temperature(k) / (GRAVITY * mid);
        visit(k, below + 0.5 * thickness);
        below += thickness;
    }
}

/// Diffusivity at layer centres (m² s⁻¹, 0.01 to 500) from surface fields alone; layers are measured with the
/// temperature at 2 m (at least 200 K). `edges` is pressure in Pa.
///
/// Inputs are floored: height 100 m, friction velocity 0.01 m s⁻¹. Between the boundary-layer top h and 1.2 h the
/// profile goes over into 0.1 m² s⁻¹ linearly.
///
/// # Panics
/// If lengths do not fit.
pub fn beljaars_viterbo(edges: &[f64], surface: &LocalSurface, diffusivity: &mut [f64]) {
    assert_eq!(edges.len(), diffusivity.len() + 1);
    let profile = Profile::new(surface);
    let temperature = surface.temperature_2m.max(200.0);
    climb(edges, |_| temperature, |k, z| diffusivity[k] = profile.at(z));
}
