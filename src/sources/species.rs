//! Molar masses of the tracers known by name.

use super::SourceError;

const CO2: f64 = 44.0095e-3;
/// Molar mass of SF6, kg mol⁻¹.
pub(super) const SF6: f64 = 146.055e-3;

/// Molar mass in kg mol⁻¹ of a tracer known by name (lower or upper case).
pub fn known_molar_mass(tracer: &str) -> Option<f64> {
    match tracer.to_ascii_lowercase().as_str() {
        "co2" | "co2_natural" | "co2_fossil" | "fossil_co2" => Some(CO2),
        "sf6" => Some(SF6),
        "rn222" => Some(222.0e-3),
        _ => None,
    }
}

/// Molar mass in kg mol⁻¹: the stated one, else the known one.
///
/// # Errors
/// [`SourceError::MolarMass`] where neither exists, [`SourceError::NotPositive`] for a stated one that cannot be.
pub fn molar_mass(tracer: &str, stated: Option<f64>) -> Result<f64, SourceError> {
    match stated {
        Some(value) if value.is_finite() && value > 0.0 => Ok(value),
        Some(value) => Err(SourceError::NotPositive { what: "molar_mass_kg_mol", value }),
        None => known_molar_mass(tracer).ok_or_else(|| SourceError::MolarMass { tracer: tracer.to_owned() }),
    }
}

/// Whether a molar mass is that of a species known by name, to the digits in use.
pub(super) fn is_molar_mass_of(species: &str, molar_mass: f64) -> bool {
    known_molar_mass(species).is_some_and(|known| (molar_mass / known - 1.0).abs() < 1e-3)
}

/// Whether a molar mass is that of carbon dioxide, to the digits in use.
pub(super) fn is_carbon_dioxide(molar_mass: f64) -> bool {
    is_molar_mass_of("co2", molar_mass)
}
