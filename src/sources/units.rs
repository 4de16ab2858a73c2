//! Units of flux densities.

use super::species::is_carbon_dioxide;

/// kg of carbon dioxide per kg of its carbon.
pub(super) const CARBON_DIOXIDE_PER_CARBON: f64 = 44.0 / 12.0;

/// Factor to kg of species m⁻² s⁻¹; the error text says what is wrong.
pub(super) fn flux_factor(units: &str, molar_mass: f64) -> Result<f64, String> {
    let bare: String = units.chars().filter(|c| !c.is_whitespace() && !"^*[]()_.".contains(*c)).collect();
    let refuse = || format!("has units '{units}', expected kg m-2 s-1 or kgC m-2 s-1");
    let mass = ["m-2s-1", "/m2/s", "/m2s", "s-1m-2", "/s/m2"].iter().find_map(|area| bare.strip_suffix(area));
    match mass.and_then(|mass| mass.strip_prefix("kg")).ok_or_else(refuse)? {
        "" | "species" | "CO2" | "SF6" | "Rn" | "Rn222" => Ok(1.0),
        "C" if is_carbon_dioxide(molar_mass) => Ok(CARBON_DIOXIDE_PER_CARBON),
        "C" => Err(format!("has units '{units}', which only carbon dioxide can have")),
        _ => Err(refuse()),
    }
}
