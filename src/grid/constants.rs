//! Physical constants of the grid and the state.

/// Planet radius in m of files that do not name one (the sphere of equal volume, rounded to the kilometre).
pub const FALLBACK_RADIUS_M: f64 = 6_371_000.0;

/// Standard gravity in m s⁻² (CGPM 1901).
pub const GRAVITY: f64 = 9.806_65;

/// Reference surface pressure in Pa: one standard atmosphere (CGPM 1954).
pub const REFERENCE_SURFACE_PRESSURE_PA: f64 = 101_325.0;

/// Molar mass of dry air in kg mol⁻¹ (U.S. Standard Atmosphere 1976: 28.9644 g mol⁻¹).
pub const MOLAR_MASS_AIR: f64 = 28.9644e-3;

/// Specific gas constant of dry air in J kg⁻¹ K⁻¹, as TM5 has it.
pub const GAS_CONSTANT_DRY_AIR: f64 = 287.04;
