//! Units of mole fractions.

/// Units without spaces and signs of powers, in lower case.
fn bare(units: &str) -> String {
    let bare: String = units.chars().filter(|c| !c.is_whitespace() && !"^*()._".contains(*c)).collect();
    let bare = bare.to_ascii_lowercase();
    bare.strip_suffix("dry").map_or(bare.clone(), str::to_owned)
}

/// Refuses units that are not those of a mole fraction; the error text says how to convert.
pub(super) fn check_units(units: &str) -> Result<(), String> {
    let bare = bare(units);
    if ["", "1", "molmol-1", "mol/mol", "v/v"].contains(&bare.as_str()) {
        return Ok(());
    }
    let remedy = match bare.as_str() {
        "%" | "percent" => "multiply the values by 0.01",
        "ppm" | "ppmv" => "multiply the values by 1e-6",
        "ppb" | "ppbv" => "multiply the values by 1e-9",
        "ppt" | "pptv" => "multiply the values by 1e-12",
        "kgkg-1" | "kg/kg" => "multiply the values by 28.9644 over the molar mass of the tracer in g/mol",
        _ => "convert the values",
    };
    Err(format!("has units '{units}', expected a dry mole fraction: {remedy} and write 'mol mol-1'"))
}

/// Factor from units of a dry mole fraction, ppm, ppb and ppt among them, to mol mol⁻¹; the error text says how to
/// convert others. Without units, values are in mol mol⁻¹.
pub(super) fn mole_fraction_factor(units: &str) -> Result<f64, String> {
    match bare(units).as_str() {
        "ppm" | "ppmv" | "1e-6" | "umolmol-1" | "µmolmol-1" | "micromolmol-1" => Ok(1e-6),
        "ppb" | "ppbv" | "1e-9" | "nmolmol-1" => Ok(1e-9),
        "ppt" | "pptv" | "1e-12" | "pmolmol-1" => Ok(1e-12),
        _ => check_units(units).map(|()| 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mole_fractions_are_known_and_nothing_else() {
        for (units, factor) in [
            ("mol mol-1 dry", 1.0),
            ("mol/mol", 1.0),
            ("", 1.0),
            ("v/v", 1.0),
            ("ppm", 1e-6),
            ("ppmv", 1e-6),
            ("1e-6", 1e-6),
            ("ppb", 1e-9),
            ("ppt", 1e-12),
            ("umol mol^-1", 1e-6),
        ] {
            assert_eq!(mole_fraction_factor(units), Ok(factor), "{units}");
        }
        for units in ["kg kg-1", "kg m-3", "K", "%"] {
            assert!(mole_fraction_factor(units).unwrap_err().contains(units), "{units}");
        }
    }
}
