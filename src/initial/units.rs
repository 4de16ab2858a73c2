//! Units of mole fractions.

/// Units without spaces and signs of powers, in lower case.
fn bare(units: &str) -> String {
    let bare: String = units.chars().filter(|c| !c.is_whitespace() && !"^*()._".contains(*c)).collect();
    let bare = bare.to_ascii_lowercase();
    bare.strip_suffix("dry").map_or(bare.clone(), str::to_owned)
}

/// What to do about the units of a field.
pub(super) const UNITS: &str = "write in `units` what the numbers are in: \"mol mol-1\", \"ppm\", \"ppb\" or \"ppt\"";
/// What to do about values that are no mole fractions.
pub(super) const VALUES: &str = "write in `units` what the numbers are in, such as \"ppm\"; if they mark what is missing, declare \
                                 them as `_FillValue` of the variable";

/// Factor to mol mol⁻¹ of the variable `name`: by the units that are `given`, else by its `attribute`; the error text says
/// what is wrong.
pub(super) fn factor(name: &str, given: Option<&str>, attribute: Option<String>) -> Result<f64, String> {
    let stated = given.map(str::to_owned).or(attribute).filter(|units| !units.trim().is_empty());
    let stated = stated.ok_or_else(|| format!("'{name}' has no units"))?;
    mole_fraction_factor(&stated).map_err(|problem| format!("'{name}' {problem}"))
}

/// Factor from units of a dry mole fraction, ppm, ppb and ppt among them, to mol mol⁻¹; the error text says how to
/// convert others.
fn mole_fraction_factor(units: &str) -> Result<f64, String> {
    let remedy = match bare(units).as_str() {
        "1" | "molmol-1" | "mol/mol" | "v/v" => return Ok(1.0),
        "ppm" | "ppmv" | "1e-6" | "umolmol-1" | "µmolmol-1" | "micromolmol-1" => return Ok(1e-6),
        "ppb" | "ppbv" | "1e-9" | "nmolmol-1" => return Ok(1e-9),
        "ppt" | "pptv" | "1e-12" | "pmolmol-1" => return Ok(1e-12),
        "%" | "percent" => "multiply the values by 0.01",
        "kgkg-1" | "kg/kg" => "multiply the values by 28.9644 over the molar mass of the tracer in g/mol",
        _ => "convert the values",
    };
    Err(format!("has units '{units}', expected a dry mole fraction: {remedy} and write 'mol mol-1'"))
}

/// The first value that no mole fraction can be, mol mol⁻¹.
pub(super) fn impossible(values: &[f64]) -> Option<usize> {
    values.iter().position(|value| value.is_nan() || value.abs() > 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mole_fractions_are_known_and_nothing_else() {
        for (units, factor) in [
            ("mol mol-1 dry", 1.0),
            ("mol/mol", 1.0),
            ("1", 1.0),
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
        for (units, remedy) in
            [("kg kg-1", "28.9644"), ("%", "by 0.01"), ("K", "convert"), ("kg m-3", "convert"), ("", "")]
        {
            let problem = mole_fraction_factor(units).unwrap_err();
            assert!(problem.contains(units) && problem.contains(remedy), "{problem}");
        }
    }

    #[test]
    fn units_are_stated_somewhere_and_the_configuration_counts_first() {
        let attribute = |units: &str| Some(units.to_owned());
        assert_eq!(factor("q", Some("ppm"), attribute("mol mol-1")), Ok(1e-6));
        assert_eq!(factor("q", None, attribute("ppb")), Ok(1e-9));
        for none in [None, attribute(""), attribute("  ")] {
            assert_eq!(factor("q", Some("1"), none.clone()), Ok(1.0));
            assert_eq!(factor("q", None, none), Err("'q' has no units".into()));
        }
        let problem = factor("q", Some("K"), attribute("ppm")).unwrap_err();
        assert!(problem.contains("'q' has units 'K'"), "{problem}");
    }

    #[test]
    fn no_mole_fraction_is_beyond_one() {
        assert_eq!(impossible(&[0.0, 1.0, -1.0, 4e-4]), None);
        for value in [400.0, 1.01, -1.01, -9999.0, 1e20, f64::INFINITY, f64::NAN] {
            assert_eq!(impossible(&[0.0, value]), Some(1), "{value}");
        }
    }
}
