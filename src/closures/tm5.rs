//! TM5's boundary-layer diffusion (Holtslag and Boville 1993, Vogelezang and Holtslag 1996 for the height).

use super::constants::TM5;

const CRITICAL_RICHARDSON: f64 = 0.3;
const SURFACE_LAYER: f64 = 0.1;
const BETA: f64 = 15.0;
const EXCESS: f64 = 8.5;
const CONVECTIVE: f64 = 7.2;
const SHEAR_BY_FRICTION: f64 = 100.0;
const SMALLEST_INSIDE: f64 = 0.1;
const SMALLEST_ALOFT: f64 = 1e-15;
const LOWEST_HEIGHT: f64 = 100.0;

/// Fields of one column, top first.
#[derive(Clone, Copy, Debug)]
pub struct Tm5Column<'a> {
    /// Pressure at the edges, Pa.
    pub pressure_edges: &'a [f64],
    /// Height of the edges above the surface, m; the last is 0.
    pub height_edges: &'a [f64],
    /// Temperature, K.
    pub temperature: &'a [f64],
    /// Specific humidity, kg kg⁻¹.
    pub humidity: &'a [f64],
    /// Wind components, m s⁻¹.
    pub wind: [&'a [f64]; 2],
    /// Friction velocity, m s⁻¹; at least 0.01 is used.
    pub friction_velocity: f64,
    /// Sensible heat flux, W m⁻², positive upward.
    pub sensible_heat: f64,
    /// Latent heat flux, W m⁻², positive upward.
    pub latent_heat: f64,
}

/// Treatment of the edge cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tm5Rules {
    /// As the Fortran of TM5: a heat flux of exactly zero counts as unstable, and the diffusivity at the boundary-layer
    /// top is whatever entrainment gives, negative and unbounded values included.
    Original,
    /// A positive heat flux is unstable. Entrainment counts where the inversion exceeds 1e-4 K m⁻¹ and the result is
    /// at most 1000 m² s⁻¹, and is at least 0.1 m² s⁻¹; elsewhere the edge keeps the diffusivity of the layer below the
    /// top, which [`Tm5Result::entrainment_fallbacks`] counts.
    Guarded,
}

/// What [`tm5_boundary_layer`] found besides the diffusivity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tm5Result {
    /// Boundary-layer height above the surface, m.
    pub pbl_height: f64,
    /// Obukhov length, m.
    pub obukhov_length: f64,
    /// Edges at which entrainment was refused.
    pub entrainment_fallbacks: usize,
    /// Edges in the boundary layer raised to 0.1 m² s⁻¹, and edges anywhere whose diffusivity was no number.
    pub floored: usize,
    /// Largest diffusivity, m² s⁻¹.
    pub largest: f64,
}

/// Scratch of [`tm5_boundary_layer`].
#[derive(Clone, Debug)]
pub struct Tm5Scratch {
    theta_v: Vec<f64>,
    pressure: Vec<f64>,
    height: Vec<f64>,
}

impl Tm5Scratch {
    /// Scratch for columns of `levels` layers.
    pub fn new(levels: usize) -> Self {
        let zeros = || vec![0.0; levels];
        Self { theta_v: zeros(), pressure: zeros(), height: zeros() }
    }

    fn fill(&mut self, column: &Tm5Column<'_>) {
        let (p, z) = (column.pressure_edges, column.height_edges);
        for k in 0..self.height.len() {
            let mid = 0.5 * (p[k] + p[k + 1]);
            self.pressure[k] = mid;
            let theta = TM5.potential_temperature(column.temperature[k], mid);
            self.theta_v[k] = theta * (1.0 + TM5.virtual_factor() * column.humidity[k]);
            self.height[k] = z[k + 1] + (p[k + 1] - mid) / (p[k + 1] - p[k]) * (z[k] - z[k + 1]);
        }
    }

    /// Height at which the bulk Richardson number of a parcel from the surface first exceeds 0.3.
    fn pbl_height(&self, wind: [&[f64]; 2], friction: f64, parcel: f64) -> f64 {
        let last = self.height.len() - 1;
        let mut below = 0.0;
        for k in (0..last).rev() {
            let squares = wind.iter().map(|w| (w[k] - w[last]).powi(2)).sum::<f64>();
            let shear = (squares + SHEAR_BY_FRICTION * friction * friction).max(1e-9);
            let rise = self.height[k] - self.height[last];
            let bare = TM5.gravity * (self.theta_v[k] - parcel) * rise / (shear * self.theta_v[last]);
            let richardson = bare + 1e-10f64.copysign(bare);
            if richardson > CRITICAL_RICHARDSON {
                let part = (CRITICAL_RICHARDSON - below) / (richardson - below);
                return self.height[k + 1] + part * (self.height[k] - self.height[k + 1]);
            }
            below = richardson;
        }
        self.height[0]
    }
}

/// Cube root, zero for what is not positive.
fn cube_root(x: f64) -> f64 {
    if x > 0.0 { x.cbrt() } else { 0.0 }
}

/// Gradients at the edge between two layers.
struct EdgeState {
    height: f64,
    shear: f64,
    richardson: f64,
    theta_gradient: f64,
}

impl EdgeState {
    /// The edge at the top of layer `k`.
    fn new(column: &Tm5Column<'_>, scratch: &Tm5Scratch, k: usize) -> Self {
        let dz = scratch.height[k - 1] - scratch.height[k];
        let squares = column.wind.iter().map(|w| (w[k - 1] - w[k]).powi(2)).sum::<f64>();
        let shear2 = squares.max(1e-10) / (dz * dz);
        let (lower, upper) = (scratch.pressure[k].ln(), scratch.pressure[k - 1].ln());
        let part = (column.pressure_edges[k].ln() - lower) / (upper - lower);
        let step = scratch.theta_v[k - 1] - scratch.theta_v[k];
        let theta = scratch.theta_v[k] + part * step;
        let richardson = TM5.gravity / theta * step / dz / shear2;
        Self { height: column.height_edges[k], shear: shear2.sqrt(), richardson, theta_gradient: step / dz }
    }

    /// Diffusivity above the boundary layer.
    fn aloft(&self) -> f64 {
        let (z, ri) = (self.height, self.richardson);
        let asymptotic = if z <= 1000.0 { 300.0 } else { 30.0 + 270.0 * (1.0 - z / 1000.0).exp() };
        let mixing = 1.0 / (1.0 / asymptotic + 1.0 / (TM5.karman * z));
        let f = if ri < 0.0 { (1.0 - 18.0 * ri).max(0.0).sqrt() } else { 1.0 / (1.0 + 10.0 * ri * (1.0 + 8.0 * ri)) };
        (mixing * mixing * self.shear * f).max(SMALLEST_ALOFT)
    }

    /// Diffusivity in a stable boundary layer, before the floor.
    fn stable(&self) -> f64 {
        let ri = self.richardson;
        let mixing = 1.0 / (1.0 / (TM5.karman * self.height) + 1.0 / 450.0);
        let f = if ri < 0.0 { 1.0 } else { 1.0 / (1.0 + 10.0 * ri * (1.0 + ri).sqrt()) };
        mixing * mixing * self.shear * f
    }
}

/// Diffusivity in an unstable boundary layer.
struct Unstable {
    friction: f64,
    height: f64,
    obukhov: f64,
    /// (1 − 1.5 h/L)^⅓.
    steepening: f64,
    prandtl: f64,
}

impl Unstable {
    fn new(friction: f64, height: f64, obukhov: f64, flux: f64, theta: f64) -> Self {
        let d = 1.0 - SURFACE_LAYER * BETA * height / obukhov;
        let convective = cube_root(flux * TM5.gravity * height / theta);
        let steepening = cube_root(d);
        let excess = SURFACE_LAYER * TM5.karman * CONVECTIVE * convective / (friction * steepening);
        Self { friction, height, obukhov, steepening, prandtl: steepening / d.sqrt() + excess }
    }

    fn at(&self, z: f64) -> f64 {
        let shape = TM5.karman * z * (1.0 - z / self.height).powi(2);
        let near_surface = z / self.height <= SURFACE_LAYER;
        let steepening = if near_surface { cube_root(1.0 - BETA * z / self.obukhov) } else { self.steepening };
        self.friction * steepening * shape / self.prandtl
    }
}

/// Diffusivity at the edges (m² s⁻¹, zero at the top and at the surface) and the boundary-layer height of a column of
/// at least two layers. [`exchange_from_edge_diffusivity`](super::exchange_from_edge_diffusivity) makes exchange of it.
///
/// # Panics
/// If lengths do not fit.
pub fn tm5_boundary_layer(
    column: &Tm5Column<'_>,
    rules: Tm5Rules,
    scratch: &mut Tm5Scratch,
    diffusivity: &mut [f64],
) -> Tm5Result {
    let levels = scratch.height.len();
    let edges = [column.pressure_edges, column.height_edges, diffusivity];
    assert!(levels >= 2 && edges.iter().all(|e| e.len() == levels + 1));
    let layers = [column.temperature, column.humidity, column.wind[0], column.wind[1]];
    assert!(layers.iter().all(|f| f.len() == levels));
    scratch.fill(column);
    let last = levels - 1;
    let (theta_v, factor) = (scratch.theta_v[last], TM5.virtual_factor());
    let depth = column.height_edges[last] - column.height_edges[levels];
    let density = (column.pressure_edges[levels] - column.pressure_edges[last]) / (TM5.gravity * depth);
    let moisture = column.latent_heat / (density * TM5.vaporisation);
    let theta = theta_v / (1.0 + factor * column.humidity[last]);
    let flux = column.sensible_heat / (density * TM5.heat_capacity) + factor * theta * moisture;
    let friction = column.friction_velocity.max(0.01);
    let obukhov = -theta_v * friction.powi(3) / (TM5.gravity * TM5.karman * (flux + 1e-10f64.copysign(flux)));

    let first = scratch.pbl_height(column.wind, friction, theta_v);
    let warmer = if flux >= 0.0 {
        EXCESS * flux / (friction * cube_root(1.0 - SURFACE_LAYER * BETA * first / obukhov))
    } else {
        0.0
    };
    let height = scratch.pbl_height(column.wind, friction, theta_v + warmer).max(LOWEST_HEIGHT);
    let is_unstable = match rules {
        Tm5Rules::Original => flux >= 0.0,
        Tm5Rules::Guarded => flux > 0.0,
    };
    let unstable = is_unstable.then(|| Unstable::new(friction, height, obukhov, flux, theta_v));
    let mut result = Tm5Result { pbl_height: height, obukhov_length: obukhov, ..Tm5Result::default() };
    diffusivity.fill(0.0);
    for k in 1..levels {
        let edge = EdgeState::new(column, scratch, k);
        let mut value = if edge.height <= height {
            let inside = unstable.as_ref().map_or_else(|| edge.stable(), |u| u.at(edge.height));
            result.floored += usize::from(inside < SMALLEST_INSIDE);
            inside.max(SMALLEST_INSIDE)
        } else {
            edge.aloft()
        };
        if is_unstable && scratch.height[k] <= height && height <= scratch.height[k - 1] {
            let entrained = 0.2 * flux / edge.theta_gradient;
            if rules == Tm5Rules::Original {
                value = entrained;
            } else if edge.theta_gradient > 1e-4 && entrained.is_finite() && entrained <= 1e3 {
                value = entrained.max(SMALLEST_INSIDE);
            } else {
                result.entrainment_fallbacks += 1;
            }
        }
        if rules == Tm5Rules::Guarded && !value.is_finite() {
            value = SMALLEST_INSIDE;
            result.floored += 1;
        }
        diffusivity[k] = value;
        result.largest = result.largest.max(value);
    }
    result
}
