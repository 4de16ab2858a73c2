//! Physical constants of the closures. Each scheme keeps the values it was written with; they differ in the fourth digit.

pub use crate::grid::constants::GRAVITY;

/// Constants of one boundary-layer scheme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SchemeConstants {
    /// Gravity, m s⁻².
    pub gravity: f64,
    /// Gas constant of dry air, J kg⁻¹ K⁻¹.
    pub gas_dry: f64,
    /// Gas constant of water vapour, J kg⁻¹ K⁻¹.
    pub gas_vapour: f64,
    /// Heat capacity of dry air at constant pressure, J kg⁻¹ K⁻¹.
    pub heat_capacity: f64,
    /// Heat of vaporisation, J kg⁻¹.
    pub vaporisation: f64,
    /// Von Kármán constant.
    pub karman: f64,
    /// Reference pressure of potential temperature, Pa.
    pub reference_pressure: f64,
}

impl SchemeConstants {
    /// Excess weight of water vapour in virtual temperature, R_vapour / R_dry − 1.
    pub fn virtual_factor(&self) -> f64 {
        self.gas_vapour / self.gas_dry - 1.0
    }

    /// Potential temperature (K) of air of `temperature` (K) at `pressure` (Pa).
    pub fn potential_temperature(&self, temperature: f64, pressure: f64) -> f64 {
        temperature * (self.reference_pressure / pressure).powf(self.gas_dry / self.heat_capacity)
    }
}

/// TM5's set: universal gas constant 8.3144 J mol⁻¹ K⁻¹ over 28.94 g mol⁻¹.
pub const TM5: SchemeConstants = SchemeConstants {
    gravity: GRAVITY,
    gas_dry: 8.3144 / 28.94e-3,
    gas_vapour: 461.51,
    heat_capacity: 1004.0,
    vaporisation: 2.5e6,
    karman: 0.4,
    reference_pressure: 1e5,
};

/// The set of GEOS-Chem's non-local scheme.
pub const GEOS_CHEM: SchemeConstants = SchemeConstants {
    gravity: GRAVITY,
    gas_dry: 287.0,
    gas_vapour: 461.0,
    heat_capacity: 1004.64,
    vaporisation: 2.5104e6,
    karman: 0.4,
    reference_pressure: 1e5,
};

/// Heat capacity of dry air at constant pressure in J kg⁻¹ K⁻¹, as in the IFS and GEOS.
pub const HEAT_CAPACITY_DRY: f64 = 1004.64;

/// Gas constant of dry air in J kg⁻¹ K⁻¹, two sevenths of the heat capacity (a gas of two-atomic molecules).
pub const GAS_DRY: f64 = HEAT_CAPACITY_DRY / 3.5;

/// Weight of water vapour in virtual temperature, T (1 + 0.61 q).
pub const VIRTUAL_FACTOR: f64 = 0.61;

/// Temperature in K of layer thickness where no temperature is stored.
pub const THICKNESS_TEMPERATURE: f64 = 260.0;
