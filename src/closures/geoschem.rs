//! GEOS-Chem's non-local boundary-layer mixing (Holtslag and Boville 1993; Lin and McElroy 2010): diffusivity, and the
//! fraction of a surface emission that the counter-gradient flux lofts into each layer at once.
//!
//! What differs from GEOS-Chem on purpose: exchange moves dry air and so conserves tracer mass without a correction of
//! the column afterwards; the layers that may mix follow from a fixed surface pressure, not from the global mean; the
//! friction velocity is at least 1e-6 m s⁻¹.

use super::constants::GEOS_CHEM;

const BETA: f64 = 15.0;
const STABLE_BETA: f64 = 5.0;
const SURFACE_LAYER: f64 = 0.1;
const CONVECTIVE: f64 = 7.2;
const EXCESS: f64 = 8.5;
const CRITICAL_RICHARDSON: f64 = 0.3;
const MIXING_LENGTH: f64 = 30.0;
const SMALLEST: f64 = 0.01;
const SMALLEST_FRICTION: f64 = 1e-6;
/// Weight of water vapour in the surface heat flux.
const SURFACE_VIRTUAL: f64 = 0.61;
const PBL_TOP_PRESSURE: f64 = 4e4;
const PBL_SURFACE_PRESSURE: f64 = 98_500.0;

/// Fields of one column, top first.
#[derive(Clone, Copy, Debug)]
pub struct NonlocalColumn<'a> {
    /// Pressure of moist air at the edges, Pa; a layer's pressure is the mean of its edges.
    pub pressure_edges: &'a [f64],
    /// Temperature, K.
    pub temperature: &'a [f64],
    /// Virtual temperature that heights are computed with, K; `None`: from temperature and humidity.
    pub virtual_temperature: Option<&'a [f64]>,
    /// Specific humidity, kg kg⁻¹.
    pub humidity: &'a [f64],
    /// Wind components, m s⁻¹.
    pub wind: [&'a [f64]; 2],
}

/// Surface fields of one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NonlocalSurface {
    /// Friction velocity, m s⁻¹.
    pub friction_velocity: f64,
    /// Sensible heat flux, W m⁻², positive upward.
    pub sensible_heat: f64,
    /// Latent heat flux, W m⁻², positive upward.
    pub latent_heat: f64,
}

/// Where the boundary-layer height comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PblHeight {
    /// Stored with the meteorology, m.
    Archived(f64),
    /// Bulk Richardson number 0.3 with thermal excess, at least 700 times the friction velocity.
    Diagnosed,
}

/// Scalars of one column; with a stable surface the velocity scales are the friction velocity and zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NonlocalState {
    /// Boundary-layer height, m.
    pub pbl_height: f64,
    /// Obukhov length, m.
    pub obukhov_length: f64,
    /// Density of the air of the lowest layer, kg m⁻³.
    pub surface_density: f64,
    /// Kinematic flux of potential temperature, K m s⁻¹.
    pub heat_flux: f64,
    /// Kinematic flux of virtual potential temperature, K m s⁻¹.
    pub virtual_heat_flux: f64,
    /// Turbulent velocity scale, m s⁻¹.
    pub turbulent_velocity: f64,
    /// Convective velocity scale, m s⁻¹.
    pub convective_velocity: f64,
}

/// Profiles that [`geoschem_diffusivity`] fills, kept between columns.
#[derive(Clone, Debug)]
pub struct NonlocalProfiles {
    /// Height of layer centres above the surface, m.
    pub height: Vec<f64>,
    /// Diffusivity of heat and tracers at the edges, m² s⁻¹.
    pub diffusivity: Vec<f64>,
    /// Diffusivity that shear and stability alone give at the edges, m² s⁻¹.
    pub free_diffusivity: Vec<f64>,
    /// Counter-gradient term at the edges, m⁻¹; times the kinematic surface flux it is a gradient.
    pub counter_gradient: Vec<f64>,
    theta: Vec<f64>,
}

impl NonlocalProfiles {
    /// Profiles of `levels` layers.
    pub fn new(levels: usize) -> Self {
        let zeros = |n: usize| vec![0.0; n];
        Self {
            height: zeros(levels),
            diffusivity: zeros(levels + 1),
            free_diffusivity: zeros(levels + 1),
            counter_gradient: zeros(levels + 1),
            theta: zeros(levels),
        }
    }

    fn fill_heights(&mut self, column: &NonlocalColumn<'_>) {
        let (p, scale) = (column.pressure_edges, GEOS_CHEM.gas_dry / GEOS_CHEM.gravity);
        let mut below = 0.0;
        for k in (0..self.height.len()).rev() {
            let mid = 0.5 * (p[k] + p[k + 1]);
            let moist = || column.temperature[k] * (1.0 + GEOS_CHEM.virtual_factor() * column.humidity[k]);
            let depth = scale * column.virtual_temperature.map_or_else(moist, |t| t[k]);
            self.height[k] = below + depth * (p[k + 1] / mid).ln();
            // The topmost edge may be at zero pressure; nothing lies above it.
            if k > 0 {
                below += depth * (p[k + 1] / p[k]).ln();
            }
            self.theta[k] = GEOS_CHEM.potential_temperature(column.temperature[k], mid);
        }
    }

    /// Height, among the lowest `layers` layers, at which the bulk Richardson number of a surface parcel reaches 0.3.
    fn scan(&self, column: &NonlocalColumn<'_>, friction: f64, parcel: f64, layers: usize) -> f64 {
        let (last, top) = (self.height.len() - 1, self.height.len() - layers);
        let surface = self.virtual_theta(column, last);
        let mut below = 0.0;
        for k in (top..last).rev() {
            let squares = column.wind.iter().map(|w| (w[k] - w[last]).powi(2)).sum::<f64>();
            let shear = (squares + 100.0 * friction * friction).max(1e-36);
            let rise = self.height[k] - self.height[last];
            let buoyancy = self.virtual_theta(column, k) - parcel;
            let richardson = GEOS_CHEM.gravity * buoyancy * rise / (surface * shear);
            if richardson >= CRITICAL_RICHARDSON {
                let part = (CRITICAL_RICHARDSON - below) / (richardson - below);
                return self.height[k + 1] + part * (self.height[k] - self.height[k + 1]);
            }
            below = richardson;
        }
        self.height[top]
    }

    fn virtual_theta(&self, column: &NonlocalColumn<'_>, k: usize) -> f64 {
        self.theta[k] * (1.0 + SURFACE_VIRTUAL * column.humidity[k])
    }

    /// Diffusivity from shear and stability at the top edge of layer `k`.
    fn free(&self, column: &NonlocalColumn<'_>, k: usize) -> f64 {
        let mixing = if k == 1 { 0.0 } else { MIXING_LENGTH };
        let dz = self.height[k - 1] - self.height[k];
        let squares = column.wind.iter().map(|w| (w[k - 1] - w[k]).powi(2)).sum::<f64>();
        let shear2 = (squares / (dz * dz)).max(1e-30);
        let [above, below] =
            [k - 1, k].map(|l| self.theta[l] * (1.0 + GEOS_CHEM.virtual_factor() * column.humidity[l]));
        let stability = 2.0 * GEOS_CHEM.gravity * (above - below) / ((above + below) * dz);
        let ri = stability / shear2;
        let f = if ri < 0.0 { (1.0 - 18.0 * ri).max(0.0).sqrt() } else { 1.0 / (1.0 + 10.0 * ri * (1.0 + 8.0 * ri)) };
        (mixing * mixing * shear2.sqrt() * f).max(SMALLEST)
    }
}

/// Number of lowest layers the scheme acts in: those below 400 hPa at a surface pressure of 985 hPa, at least one. `a`
/// in Pa.
///
/// # Panics
/// If lengths differ or there is no layer.
pub fn geoschem_pbl_layers(a: &[f64], b: &[f64]) -> usize {
    assert!(a.len() == b.len() && a.len() > 1);
    let mid = |k: usize| 0.5 * (a[k] + a[k + 1] + (b[k] + b[k + 1]) * PBL_SURFACE_PRESSURE);
    let levels = a.len() - 1;
    let above = (0..levels).rev().find(|&k| mid(k) < PBL_TOP_PRESSURE).map_or(0, |k| k + 1);
    (levels - above).max(1)
}

/// The profile before a window is known, and wherever nothing is lofted: all of an emission enters the lowest layer.
pub fn emission_profile_at_surface(profile: &mut [f64]) {
    profile.fill(0.0);
    if let Some(surface) = profile.last_mut() {
        *surface = 1.0;
    }
}

/// Diffusivity and counter-gradient term of one column of at least two layers, of which the lowest `pbl_layers` may
/// belong to the boundary layer.
///
/// # Panics
/// If lengths do not fit.
pub fn geoschem_diffusivity(
    column: &NonlocalColumn<'_>,
    surface: &NonlocalSurface,
    pbl: PblHeight,
    pbl_layers: usize,
    profiles: &mut NonlocalProfiles,
) -> NonlocalState {
    let levels = profiles.height.len();
    assert!(levels >= 2 && column.pressure_edges.len() == levels + 1 && (1..=levels).contains(&pbl_layers));
    let fields = [column.temperature, column.humidity, column.wind[0], column.wind[1]];
    assert!(fields.into_iter().chain(column.virtual_temperature).all(|f| f.len() == levels));
    profiles.fill_heights(column);
    let (c, last) = (&GEOS_CHEM, levels - 1);
    let pressure = 0.5 * (column.pressure_edges[last] + column.pressure_edges[levels]);
    let density = pressure / (c.gas_dry * column.temperature[last]);
    let heat_flux = surface.sensible_heat / (density * c.heat_capacity);
    let moisture = surface.latent_heat / (c.vaporisation * density);
    let flux = heat_flux + SURFACE_VIRTUAL * profiles.theta[last] * moisture;
    let friction = surface.friction_velocity.max(SMALLEST_FRICTION);
    let theta_v = profiles.virtual_theta(column, last);
    let obukhov = -theta_v * friction.powi(3) / (c.gravity * c.karman * (flux + 1e-10f64.copysign(flux)));
    let is_unstable = flux > 0.0;
    let steepening = |h: f64| (1.0 - BETA * SURFACE_LAYER * h / obukhov).cbrt();
    let height = match pbl {
        PblHeight::Archived(height) => height,
        PblHeight::Diagnosed => {
            let mut height = profiles.scan(column, friction, theta_v, pbl_layers);
            if is_unstable {
                let warmer = theta_v + EXCESS * flux / (friction * steepening(height));
                height = profiles.scan(column, friction, warmer, pbl_layers);
            }
            height.max(700.0 * friction)
        }
    };
    let (turbulent, convective) = if is_unstable {
        (friction * steepening(height), (flux * c.gravity * height / theta_v).cbrt())
    } else {
        (friction, 0.0)
    };
    let state = NonlocalState {
        pbl_height: height,
        obukhov_length: obukhov,
        surface_density: density,
        heat_flux,
        virtual_heat_flux: flux,
        turbulent_velocity: turbulent,
        convective_velocity: convective,
    };
    profiles.diffusivity.fill(0.0);
    profiles.free_diffusivity.fill(0.0);
    profiles.counter_gradient.fill(0.0);
    for k in 1..levels {
        let free = profiles.free(column, k);
        let (mut value, mut counter) = (free, 0.0);
        if profiles.height[k] < height && k + pbl_layers > levels {
            let z = 0.5 * (profiles.height[k] + profiles.height[k - 1]);
            (value, counter) = state.inside(friction, z);
            value = value.max(free);
        }
        profiles.free_diffusivity[k] = free;
        profiles.diffusivity[k] = value;
        profiles.counter_gradient[k] = counter;
    }
    state
}

impl NonlocalState {
    /// Diffusivity and counter-gradient term in the boundary layer at height `z`.
    fn inside(&self, friction: f64, z: f64) -> (f64, f64) {
        let (h, obukhov) = (self.pbl_height, self.obukhov_length);
        let part = z / h;
        let shape = if part > 1.0 { 0.0 } else { part * (1.0 - part).powi(2) };
        let neutral = h * GEOS_CHEM.karman * shape;
        if self.virtual_heat_flux <= 0.0 {
            let x = z / obukhov;
            let damping = if x <= 1.0 { 1.0 + STABLE_BETA * x } else { STABLE_BETA + x };
            return (friction * neutral / damping, 0.0);
        }
        if part < SURFACE_LAYER {
            let heat = (1.0 - BETA * z / obukhov).sqrt();
            // Momentum's factor cancels against that in the Prandtl number.
            return (friction * neutral * heat, 0.0);
        }
        let lofting = CONVECTIVE * self.convective_velocity / self.turbulent_velocity;
        let heat = (1.0 - BETA * SURFACE_LAYER * h / obukhov).sqrt();
        let prandtl = self.turbulent_velocity / friction / heat + SURFACE_LAYER * GEOS_CHEM.karman * lofting;
        (self.turbulent_velocity * neutral / prandtl, lofting / (h * self.turbulent_velocity))
    }
}

/// Exchange of dry air (kg s⁻¹) and emission profile (sum 1; entries may be negative) from what
/// [`geoschem_diffusivity`] found for the same column of `area` m² (1 for exchange per area).
///
/// # Panics
/// If lengths do not fit.
pub fn geoschem_exchange(
    column: &NonlocalColumn<'_>,
    area: f64,
    profiles: &NonlocalProfiles,
    state: &NonlocalState,
    exchange: &mut [f64],
    profile: &mut [f64],
) {
    let levels = profiles.height.len();
    assert!(exchange.len() == levels && profile.len() == levels);
    let mut lofted_above = 0.0;
    for k in 1..=levels {
        let lofted_below = if k == levels {
            exchange[k - 1] = 0.0;
            1.0
        } else {
            let temperature = 0.5 * (column.temperature[k - 1] + column.temperature[k]);
            let density = column.pressure_edges[k] / (GEOS_CHEM.gas_dry * temperature);
            let dry = density * (1.0 - 0.5 * (column.humidity[k - 1] + column.humidity[k]));
            let dz = profiles.height[k - 1] - profiles.height[k];
            exchange[k - 1] = area * dry * profiles.diffusivity[k] / dz;
            density * profiles.diffusivity[k] * profiles.counter_gradient[k] / state.surface_density
        };
        profile[k - 1] = lofted_below - lofted_above;
        lofted_above = lofted_below;
    }
}

/// [`geoschem_diffusivity`] and [`geoschem_exchange`] in one call.
///
/// # Panics
/// If lengths do not fit.
pub fn geoschem_nonlocal(
    column: &NonlocalColumn<'_>,
    surface: &NonlocalSurface,
    pbl: PblHeight,
    pbl_layers: usize,
    area: f64,
    profiles: &mut NonlocalProfiles,
    exchange: &mut [f64],
    profile: &mut [f64],
) -> NonlocalState {
    let state = geoschem_diffusivity(column, surface, pbl, pbl_layers, profiles);
    geoschem_exchange(column, area, profiles, &state, exchange, profile);
    state
}
