use super::*;

const CO2: f64 = 44.0095e-3;
const SF6: f64 = 146.055e-3;
const RADON: f64 = 222.0e-3;

#[test]
fn every_known_form_has_its_factor() {
    use Period::{Day, Month, Second, Year};
    use Spread::{Area, Cell};
    let carbon = 44.0 / 12.0;
    for (units, mass, kg, spread, period) in [
        ("kg m-2 s-1", SF6, 1.0, Area, Second),
        ("kg/m2/s", RADON, 1.0, Area, Second),
        ("kg(species) m-2 s-1", SF6, 1.0, Area, Second),
        ("kg CO2 m^-2 s^-1", CO2, 1.0, Area, Second),
        ("kgSF6 m**-2 s**-1", SF6, 1.0, Area, Second),
        ("kg[CO2]/m2s", CO2, 1.0, Area, Second),
        ("kgC m-2 s-1", CO2, carbon, Area, Second),
        ("kg C/m²/s", CO2, carbon, Area, Second),
        ("kgC/m2/day", CO2, carbon, Area, Day),
        ("kgCO2 month-1 m-2", CO2, 1.0, Area, Month),
        ("kgCO2/month/m2", CO2, 1.0, Area, Month),
        ("t cell-1 yr-1", SF6, 1e3, Cell, Year),
        ("tonnes/year/gridcell", SF6, 1e3, Cell, Year),
        ("kilotonnes C per cell and year", CO2, 1e6 * carbon, Cell, Year),
        ("tonnes of carbon per grid cell per year", CO2, 1e3 * carbon, Cell, Year),
        ("1e9 g C per grid cell and year (thousand tonnes of carbon)", CO2, 1e6 * carbon, Cell, Year),
        ("thousand tonnes of carbon per cell and year", CO2, 1e6 * carbon, Cell, Year),
        ("1000 t cell-1 yr-1", SF6, 1e6, Cell, Year),
        ("10^9 g C per grid cell per year", CO2, 1e6 * carbon, Cell, Year),
        ("Gg CO2 cell-1 month-1", CO2, 1e6, Cell, Month),
        ("mol m-2 s-1", CO2, CO2, Area, Second),
        ("mol CO2 m-2 s-1", CO2, CO2, Area, Second),
        ("atoms cm-2 s-1", RADON, 1e4 * (RADON / 6.022_140_76e23), Area, Second),
        ("atom/cm2/s", RADON, 1e4 * (RADON / 6.022_140_76e23), Area, Second),
        ("molec/cm2/s", SF6, 1e4 * (SF6 / 6.022_140_76e23), Area, Second),
        ("molecules m-2 s-1", SF6, SF6 / 6.022_140_76e23, Area, Second),
    ] {
        let found = FluxUnits::parse(units, mass).unwrap_or_else(|e| panic!("{units}: {e}"));
        assert_eq!((found.spread(), found.period()), (spread, period), "{units}");
        assert!((found.kg() / kg - 1.0).abs() < 4.0 * f64::EPSILON, "{units}: {}", found.kg());
    }
}

/// Grams, bare amounts and slips are refused; nothing is guessed.
#[test]
fn everything_else_is_refused_and_the_known_is_listed() {
    for units in [
        "g m-2 s-1",
        "gC m-2 d-1",
        "umol m-2 s-1",
        "kg",
        "kg m-2",
        "kg s-1",
        "kg m2 s-1",
        "kg m-2 s",
        "kg m-2 m-2 s-1",
        "kg m-2 s-1 s-1",
        "mg m-2 s-1",
        "m-2 s-1",
        "",
        "K",
        "ppm",
        "kg m-3 s-1",
        "kg kg-1 s-1",
        "tons",
        "kgX m-2 s-1",
        "t",
        "Tonnes",
        "thousand tonnes of carbon",
        "1e9 g",
        "tonnes of carbon per year",
        "thousand tonnes per cell",
        "1e6 g m-2 s-1",
        "kg / / m2 s",
        "W m-2",
    ] {
        let problem = FluxUnits::parse(units, CO2).unwrap_err();
        assert!(problem.contains(&format!("'{units}'")) && problem.contains("known are kg, kgC"), "{problem}");
    }
}

/// A rate is by time, and by area or cell: what lacks is named.
#[test]
fn amounts_that_are_no_rate_are_told_what_lacks() {
    let amounts = ["kg", "t", "Tonnes", "kgC", "thousand tonnes of carbon", "Gg CO2", "mol", "1e9 g C", "atoms"];
    let (spreads, periods) = (["m-2", "cm-2", "per cell"], ["s-1", "per day", "month-1", "per year"]);
    let refused = |units: String, part: &str| {
        let problem = FluxUnits::parse(&units, CO2).unwrap_err();
        assert!(problem.contains(part) && problem.contains("'t cell-1 yr-1'"), "{problem}");
    };
    for amount in amounts {
        refused(amount.into(), "neither by area or cell nor by time");
        spreads.iter().for_each(|spread| refused(format!("{amount} {spread}"), "not by time"));
        periods.iter().for_each(|period| refused(format!("{amount} {period}"), "not by area or cell"));
        for units in spreads.iter().flat_map(|s| periods.iter().map(move |p| format!("{amount} {s} {p}"))) {
            assert!(FluxUnits::parse(&units, CO2).is_ok(), "{units}");
        }
    }
}

#[test]
fn units_of_another_gas_are_refused() {
    for (units, mass, part) in [
        ("kgC m-2 s-1", SF6, "only carbon dioxide"),
        ("kgCO2 month-1 m-2", SF6, "not that of co2"),
        ("kgSF6 m-2 s-1", CO2, "not that of sf6"),
        ("kg Rn m-2 s-1", CO2, "not that of rn222"),
    ] {
        let problem = FluxUnits::parse(units, mass).unwrap_err();
        assert!(problem.contains(part), "{units}: {problem}");
    }
}
