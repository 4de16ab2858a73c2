//! Units of meteorological variables.

/// What a variable measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Pressure, to Pa.
    Pressure,
    /// Wind, to m s⁻¹.
    Wind,
    /// Specific humidity, to kg kg⁻¹.
    SpecificHumidity,
    /// Relative humidity, to parts of saturation.
    RelativeHumidity,
    /// Temperature, to K.
    Temperature,
    /// Energy flux, to W m⁻².
    EnergyFlux,
    /// Energy that has passed an area, to J m⁻².
    #[cfg_attr(not(feature = "grib"), allow(dead_code))]
    EnergyPerArea,
    /// Length, to m.
    Length,
    /// Mass flux of convection, to kg m⁻² s⁻¹.
    MassFlux,
    /// Transport as a pressure times an area, to Pa m².
    PressureArea,
    /// Tendency of specific humidity, to kg kg⁻¹ s⁻¹.
    SpecificHumidityRate,
}

impl Quantity {
    /// Spellings without blanks and signs, each with its factor.
    fn spellings(self) -> &'static [(&'static str, f64)] {
        match self {
            Quantity::Pressure => &[
                ("pa", 1.0),
                ("pascal", 1.0),
                ("pascals", 1.0),
                ("hpa", 100.0),
                ("mb", 100.0),
                ("mbar", 100.0),
                ("millibar", 100.0),
                ("millibars", 100.0),
            ],
            Quantity::Wind => &[("ms-1", 1.0), ("m/s", 1.0), ("meters/second", 1.0), ("metersecond-1", 1.0)],
            Quantity::SpecificHumidity => &[
                ("kgkg-1", 1.0),
                ("kg/kg", 1.0),
                ("1", 1.0),
                ("kgh2okg-1air", 1.0),
                ("kgwaterkg-1air", 1.0),
                ("gkg-1", 1e-3),
                ("g/kg", 1e-3),
            ],
            Quantity::RelativeHumidity => &[("%", 0.01), ("percent", 0.01)],
            Quantity::Temperature => &[("k", 1.0), ("kelvin", 1.0), ("degk", 1.0)],
            Quantity::EnergyFlux => &[("wm-2", 1.0), ("w/m2", 1.0)],
            Quantity::EnergyPerArea => &[("jm-2", 1.0), ("j/m2", 1.0)],
            Quantity::Length => &[("m", 1.0), ("meter", 1.0), ("meters", 1.0), ("metre", 1.0), ("metres", 1.0)],
            Quantity::MassFlux => &[("kgm-2s-1", 1.0), ("kg/m2/s", 1.0), ("kg/(m2s)", 1.0), ("kg/m^2/s", 1.0)],
            // Some files of GEOS label the transport of one step as a rate.
            Quantity::PressureArea => &[("pam+2", 1.0), ("pam2", 1.0), ("pam+2s-1", 1.0), ("pam2s-1", 1.0)],
            Quantity::SpecificHumidityRate => &[("kgkg-1s-1", 1.0), ("kg/kg/s", 1.0)],
        }
    }

    /// The units that are known, for messages.
    fn known(self) -> &'static str {
        match self {
            Quantity::Pressure => "Pa or hPa",
            Quantity::Wind => "m s-1",
            Quantity::SpecificHumidity => "kg kg-1 or g kg-1",
            Quantity::RelativeHumidity => "%",
            Quantity::Temperature => "K",
            Quantity::EnergyFlux => "W m-2",
            Quantity::EnergyPerArea => "J m-2",
            Quantity::Length => "m",
            Quantity::MassFlux => "kg m-2 s-1",
            Quantity::PressureArea => "Pa m+2",
            Quantity::SpecificHumidityRate => "kg kg-1 s-1",
        }
    }
}

/// Factor from `units` to those of the quantity.
///
/// # Errors
/// What is wrong with the units, and which are known: nothing is assumed of units that are absent or unknown.
pub(crate) fn factor(quantity: Quantity, units: Option<&str>) -> Result<f64, String> {
    let Some(units) = units.filter(|u| !u.trim().is_empty()) else {
        return Err(format!("has no units; {} is expected", quantity.known()));
    };
    let bare: String =
        units.to_lowercase().replace("**", "").chars().filter(|c| !c.is_whitespace() && *c != '.').collect();
    let bare = bare.replace('^', "");
    let found = quantity.spellings().iter().find(|(name, _)| name.replace('^', "") == bare);
    found.map(|(_, f)| *f).ok_or_else(|| format!("has units '{units}'; {} is expected", quantity.known()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec 40 §1.3 rule 1 and pitfall T40-5.
    #[test]
    fn pressures_in_other_units_are_scaled_or_refused() {
        for (units, expected) in [("Pa", 1.0), ("hPa", 100.0), ("mbar", 100.0), ("millibars", 100.0), ("mb", 100.0)] {
            assert_eq!(factor(Quantity::Pressure, Some(units)), Ok(expected), "{units}");
        }
        for units in [None, Some(""), Some("atm"), Some("kPa"), Some("m")] {
            assert!(factor(Quantity::Pressure, units).is_err(), "{units:?}");
        }
    }

    #[test]
    fn spellings_of_the_archives() {
        assert_eq!(factor(Quantity::Wind, Some("m s**-1")), Ok(1.0));
        assert_eq!(factor(Quantity::Wind, Some("m s^-1")), Ok(1.0));
        assert_eq!(factor(Quantity::SpecificHumidity, Some("kg kg-1")), Ok(1.0));
        assert_eq!(factor(Quantity::SpecificHumidity, Some("g/kg")), Ok(1e-3));
        assert_eq!(factor(Quantity::RelativeHumidity, Some("%")), Ok(0.01));
        assert!(factor(Quantity::Temperature, Some("degC")).is_err());
    }
}
