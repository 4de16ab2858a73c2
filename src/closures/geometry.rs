//! Thickness of layers, and exchange of air from diffusivity.

use super::constants::{GAS_DRY, GRAVITY, THICKNESS_TEMPERATURE, VIRTUAL_FACTOR};

/// Temperature by which pressure differences become thickness.
#[derive(Clone, Copy, Debug)]
pub enum LayerTemperature<'a> {
    /// 260 K in every layer.
    Constant,
    /// Virtual temperature T (1 + 0.61 max(q, 0)).
    Virtual {
        /// Temperature of the layers, K.
        temperature: &'a [f64],
        /// Specific humidity of the layers, kg kg⁻¹.
        humidity: &'a [f64],
    },
}

impl LayerTemperature<'_> {
    fn at(&self, k: usize) -> f64 {
        match self {
            Self::Constant => THICKNESS_TEMPERATURE,
            Self::Virtual { temperature, humidity } => temperature[k] * (1.0 + VIRTUAL_FACTOR * humidity[k].max(0.0)),
        }
    }
}

/// Pressure at the edges (Pa) from hybrid coefficients (`a` in Pa) and the surface pressure (Pa).
///
/// # Panics
/// If lengths differ.
pub fn hybrid_edges(a: &[f64], b: &[f64], surface_pressure: f64, edges: &mut [f64]) {
    assert!(a.len() == b.len() && b.len() == edges.len());
    for (edge, (a, b)) in edges.iter_mut().zip(a.iter().zip(b)) {
        *edge = a + b * surface_pressure;
    }
}

/// Pressure at the edges (Pa) below `top_pressure` (Pa) of layers that hold `dry_mass` of dry air (kg m⁻²). With
/// specific humidity the weight of the vapour is added; without, pressure is that of dry air.
///
/// # Panics
/// If lengths do not fit.
pub fn edges_from_mass(top_pressure: f64, dry_mass: &[f64], humidity: Option<&[f64]>, edges: &mut [f64]) {
    assert_eq!(edges.len(), dry_mass.len() + 1);
    edges[0] = top_pressure;
    for k in 0..dry_mass.len() {
        let dry = humidity.map_or(1.0, |q| 1.0 - q[k]);
        edges[k + 1] = edges[k] + GRAVITY * dry_mass[k] / dry;
    }
}

/// Thickness of layers in m, `(R T / g) Δp / p` with p at mid-pressure.
///
/// # Panics
/// If lengths do not fit.
pub fn layer_thickness(edges: &[f64], temperature: LayerTemperature<'_>, thickness: &mut [f64]) {
    assert_eq!(edges.len(), thickness.len() + 1);
    for (k, dz) in thickness.iter_mut().enumerate() {
        let (above, below) = (edges[k], edges[k + 1]);
        *dz = GAS_DRY * temperature.at(k) / GRAVITY * (below - above) / (0.5 * (above + below));
    }
}

/// The first layer whose thickness is not a positive number: thickness starts as NaN, so a column that was never
/// filled is found before it is used.
pub fn unusable_layer(thickness: &[f64]) -> Option<usize> {
    thickness.iter().position(|dz| !(dz.is_finite() && *dz > 0.0))
}

/// Rates (s⁻¹) at which diffusivity at layer centres (m² s⁻¹) exchanges the air of neighbouring layers:
/// `(K + K') / (dz + dz')²` across each edge. Times `m + m'` this is an exchange that conserves tracer mass, where one in
/// 1/(dz dz) conserves the sum of mixing ratio times thickness.
///
/// # Panics
/// If lengths differ or there is no layer.
pub fn exchange_rates(diffusivity: &[f64], thickness: &[f64], rates: &mut [f64]) {
    let levels = rates.len();
    assert!(diffusivity.len() == levels && thickness.len() == levels && levels > 0);
    for k in 0..levels - 1 {
        let depth = thickness[k] + thickness[k + 1];
        rates[k] = (diffusivity[k] + diffusivity[k + 1]) / (depth * depth);
    }
    rates[levels - 1] = 0.0;
}

/// Exchange from diffusivity at edges (m² s⁻¹): `2 (m + m') max(K, 0) / (dz + dz')²`.
///
/// # Panics
/// If lengths do not fit.
pub fn exchange_from_edge_diffusivity(mass: &[f64], diffusivity: &[f64], thickness: &[f64], exchange: &mut [f64]) {
    let levels = mass.len();
    assert!(thickness.len() == levels && exchange.len() == levels && levels > 0);
    assert_eq!(diffusivity.len(), levels + 1);
    for k in 0..levels - 1 {
        let depth = thickness[k] + thickness[k + 1];
        exchange[k] = (mass[k] + mass[k + 1]) * 2.0 * diffusivity[k + 1].max(0.0) / (depth * depth);
    }
    exchange[levels - 1] = 0.0;
}
