//! What the CATRINE protocol asks of fluxes: SF6 that grows as NOAA observes it.

use super::species::SF6;
use crate::grid::constants::MOLAR_MASS_AIR;

/// Dry air of the atmosphere in the CATRINE scaling of SF6, kg.
const ATMOSPHERE: f64 = 5.135e18;

/// kg of SF6 in the atmosphere for a mole fraction of 1e-12.
pub fn kg_sf6_per_ppt() -> f64 {
    ATMOSPHERE / MOLAR_MASS_AIR * 1e-12 * SF6
}

/// Growth of the mole fraction of SF6 by year, 1e-12 a⁻¹.
#[derive(Clone, Debug, PartialEq)]
pub struct GrowthTable(Vec<(i16, f64)>);

impl GrowthTable {
    /// Reads a table of NOAA: lines of year, growth and its uncertainty; those that begin with `#` are remarks.
    ///
    /// # Errors
    /// A line that is none, with its number, a year that is there twice, or no line at all.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rows: Vec<(i16, f64)> = Vec::new();
        for (n, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let words: Vec<&str> = line.split([' ', '\t', ',']).filter(|word| !word.is_empty()).collect();
            let row = match words[..] {
                [year, growth, ..] => {
                    year.parse::<i16>().ok().zip(growth.parse::<f64>().ok().filter(|g| g.is_finite()))
                }
                _ => None,
            };
            let Some(row) = row else {
                return Err(format!("line {} is '{line}', expected a year and its growth in ppt", n + 1));
            };
            if rows.iter().any(|(year, _)| *year == row.0) {
                return Err(format!("line {} gives {} again", n + 1, row.0));
            }
            rows.push(row);
        }
        if rows.is_empty() { Err("holds no year".into()) } else { Ok(Self(rows)) }
    }

    /// Growth in a year, 1e-12 a⁻¹.
    pub fn growth(&self, year: i16) -> Option<f64> {
        self.0.iter().find(|row| row.0 == year).map(|row| row.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sf6_of_a_ppt_is_that_of_the_protocol() {
        // 25.894 kt per ppt (spec of the CATRINE preparation).
        assert!((kg_sf6_per_ppt() / 2.5894e7 - 1.0).abs() < 1e-4, "{}", kg_sf6_per_ppt());
    }

    #[test]
    fn tables_of_growth_are_read_or_refused() {
        let table = GrowthTable::parse("# NOAA\n# year ppt/yr unc\n 2021  0.35  0.02\n2022\t0.37\t0.02\n\n").unwrap();
        assert_eq!((table.growth(2021), table.growth(2022), table.growth(2023)), (Some(0.35), Some(0.37), None));
        for (text, part) in [
            ("# nothing\n", "no year"),
            ("2021 0.3\n2021 0.4\n", "line 2 gives 2021 again"),
            ("2021\n", "line 1"),
            ("2021 much\n", "line 1"),
            ("2021 nan\n", "line 1"),
        ] {
            let problem = GrowthTable::parse(text).unwrap_err();
            assert!(problem.contains(part), "{text:?}: {problem}");
        }
    }
}
