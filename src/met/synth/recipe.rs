//! What defines an analytic flow.

use super::basis::{ScalarField, VectorField};
use crate::grid::HybridCoordinate;

/// How air mass and vertical motion follow from the horizontal fluxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Balance {
    /// Horizontal fluxes of every layer are free of divergence: air mass is constant and nothing moves vertically.
    Layered,
    /// Air mass follows the prescribed surface pressure; vertical fluxes close the budget of each layer.
    Continuity,
    /// Layers are copies of one another; air mass is carried by the flow and starts from uniform density.
    Carried,
}

/// Amplitudes of the basis fields at one time, `[field * levels + level]`.
///
/// Units are kg s⁻¹ (a mass flux per layer times the radius); with [`Balance::Carried`] m² s⁻¹, the same for all levels.
#[derive(Clone, Debug, Default)]
pub(super) struct Rates {
    /// Of the stream functions.
    pub streams: Vec<f64>,
    /// Of the vector fields.
    pub vectors: Vec<f64>,
}

/// Function of time in s from the start of the file.
pub(super) type TimeFunction = Box<dyn Fn(f64) -> f64 + Send + Sync>;

/// A pattern of surface pressure that the flow builds up and moves.
pub(super) struct PressureWave {
    /// Horizontal gradient of a potential on the unit sphere, along which air is shifted.
    pub gradient: VectorField,
    /// Air shifted since the start in kg, as a function of time; only differences move air.
    pub shifted: TimeFunction,
}

/// An analytic flow: fixed basis fields and the functions that drive them.
pub(super) struct Recipe {
    /// Radius of the sphere in m.
    pub radius_m: f64,
    /// Layers.
    pub coordinate: HybridCoordinate,
    /// Shortest time in s over which amplitudes change appreciably.
    pub time_scale_s: f64,
    /// Stream functions on the unit sphere; a flow of amplitude c has ψ = c·B.
    pub streams: Vec<ScalarField>,
    /// Vector fields on the unit sphere.
    pub vectors: Vec<VectorField>,
    /// Amplitudes of both at a time in s.
    pub rates: Box<dyn Fn(f64) -> Rates + Send + Sync>,
    /// Surface pressure in Pa without waves.
    pub surface_pressure: ScalarField,
    /// Waves of surface pressure.
    pub waves: Vec<PressureWave>,
    /// Air mass and vertical motion.
    pub balance: Balance,
}
