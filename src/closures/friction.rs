//! Friction velocity from wind at 10 m.

use super::constants::{GRAVITY, TM5};

/// Density of air at the surface in TM5's friction velocity, kg m⁻³.
const DENSITY: f64 = 1.2;
/// Charnock's constant.
const CHARNOCK: f64 = 0.018;
/// Kinematic viscosity of air, m² s⁻¹.
const VISCOSITY: f64 = 1.5e-5;
/// Height, m, at which wind over rough land no longer feels the roughness the 10 m wind was computed with.
const BLENDING_HEIGHT: f64 = 75.0;

/// Surface fields of [`tm5_friction`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TenMetreWind {
    /// Wind components at 10 m, m s⁻¹.
    pub wind: [f64; 2],
    /// Part of the cell that is land, 0 to 1.
    pub land_fraction: f64,
    /// Roughness length of the land, m.
    pub land_roughness: f64,
    /// Roughness length with which the 10 m wind was computed, m (> 0 over land).
    pub model_roughness: f64,
    /// Surface stress, N m⁻².
    pub stress: f64,
}

/// Friction velocity and roughness of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friction {
    /// Friction velocity, m s⁻¹.
    pub velocity: f64,
    /// Roughness length, m, of land and sea in proportion.
    pub roughness: f64,
}

/// TM5's friction velocity. Over land the 10 m wind is taken up to 75 m with the roughness it was computed with (at
/// most 3 cm) and down again with that of the land (at least 1 mm); over sea it follows from the stress, with Charnock's
/// roughness and that of smooth flow. Calm sea counts as 0.01 m s⁻¹ in the roughness.
pub fn tm5_friction(at: &TenMetreWind) -> Friction {
    let (mut velocity, mut roughness) = (0.0, 0.0);
    if at.land_fraction > 0.0 {
        let (rough, smooth) = (at.land_roughness.max(0.001), at.model_roughness.min(0.03));
        let aloft = at.wind[0].hypot(at.wind[1]) * (BLENDING_HEIGHT / smooth).ln() / (10.0 / smooth).ln();
        velocity += at.land_fraction * TM5.karman * aloft / (BLENDING_HEIGHT / rough).ln();
        roughness += at.land_fraction * rough;
    }
    if at.land_fraction < 1.0 {
        let sea = (at.stress.max(0.0) / DENSITY).sqrt();
        velocity += (1.0 - at.land_fraction) * sea;
        let waves = CHARNOCK * sea * sea / GRAVITY + 0.11 * VISCOSITY / sea.max(0.01);
        roughness += (1.0 - at.land_fraction) * waves;
    }
    Friction { velocity, roughness }
}
