//! What a source emits in all, for a reader to judge its units by.

use std::fmt;

use super::species::is_carbon_dioxide;
use super::units::CARBON_DIOXIDE_PER_CARBON;
use super::{SourceTimes, TimeScheme, emitted};

/// Seconds of a year of 365.25 days, in which totals are told.
const YEAR: f64 = 365.25 * 86_400.0;

/// Totals of the slices of a source over the sphere.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceTotals {
    /// Times of the slices, s since the start of the run.
    pub times: SourceTimes,
    /// What they emit, kg of the species s⁻¹.
    pub totals: Vec<f64>,
}

impl SourceTotals {
    /// A total that holds always, kg of the species s⁻¹.
    pub fn constant(total: f64) -> Self {
        Self { times: SourceTimes::constant(), totals: vec![total] }
    }

    /// What is emitted in the first `seconds` (above 0) of a species of `molar_mass` kg mol⁻¹. Straight lines between slices
    /// are taken by their exact means.
    ///
    /// # Panics
    /// If there are fewer totals than slices.
    pub fn over(&self, seconds: f64, molar_mass: f64) -> EmissionTotal {
        let kg = match self.times.scheme() {
            TimeScheme::Stepwise | TimeScheme::Conservative => emitted(&self.times, &self.totals, 0.0, seconds),
            TimeScheme::Linear => {
                let exact = SourceTimes::new(self.times.times().to_vec(), TimeScheme::Conservative);
                emitted(&exact.expect("the times have been accepted"), &self.totals, 0.0, seconds)
            }
        };
        EmissionTotal { kg, seconds, molar_mass }
    }
}

/// What a source emits in a period. In words: as a rate per year and, for carbon dioxide, as that of its carbon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EmissionTotal {
    /// kg of the species.
    pub kg: f64,
    /// The period, s, above 0.
    pub seconds: f64,
    /// Molar mass of the species, kg mol⁻¹.
    pub molar_mass: f64,
}

impl EmissionTotal {
    /// Mean rate, kg of the species in 365.25 days.
    pub fn kg_per_year(&self) -> f64 {
        self.kg / self.seconds * YEAR
    }

    /// Mean rate, Pg of carbon in 365.25 days, of carbon dioxide.
    pub fn carbon_per_year(&self) -> Option<f64> {
        is_carbon_dioxide(self.molar_mass).then(|| self.kg_per_year() / CARBON_DIOXIDE_PER_CARBON * 1e-12)
    }
}

impl fmt::Display for EmissionTotal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.4e} kg a-1", self.kg_per_year())?;
        let Some(carbon) = self.carbon_per_year() else { return Ok(()) };
        if carbon == 0.0 || (1e-3..1e4).contains(&carbon.abs()) {
            write!(f, " = {carbon:.4} Pg C a-1")
        } else {
            write!(f, " = {carbon:.3e} Pg C a-1")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fossil emissions of 2013 (CDIAC): 9.2336 Pg of carbon.
    #[test]
    fn carbon_is_told_beside_its_dioxide() {
        let year = |kg: f64, molar_mass| EmissionTotal { kg: kg / 2.0, seconds: YEAR / 2.0, molar_mass };
        assert_eq!(year(9.233_63e12 * 44.0 / 12.0, 44.0095e-3).to_string(), "3.3857e13 kg a-1 = 9.2336 Pg C a-1");
        assert_eq!(year(9.233_63e9 * 44.0 / 12.0, 44.0095e-3).to_string(), "3.3857e10 kg a-1 = 0.0092 Pg C a-1");
        assert_eq!(year(1.0, 44.0095e-3).to_string(), "1.0000e0 kg a-1 = 2.727e-13 Pg C a-1");
        assert_eq!(year(-3e13, 44.0095e-3).to_string(), "-3.0000e13 kg a-1 = -8.1818 Pg C a-1");
        assert_eq!(year(0.0, 44.0095e-3).to_string(), "0.0000e0 kg a-1 = 0.0000 Pg C a-1");
        assert_eq!(year(9e6, 146.055e-3).to_string(), "9.0000e6 kg a-1");
    }

    #[test]
    fn every_scheme_is_taken_by_its_mean() {
        let of = |scheme, totals: [f64; 3]| SourceTotals {
            times: SourceTimes::new(vec![0.0, 10.0, 20.0], scheme).unwrap(),
            totals: totals.to_vec(),
        };
        // Steps of 1 and 3; lines from 1 over 3 to 7.
        for (scheme, kg) in [(TimeScheme::Stepwise, 40.0), (TimeScheme::Conservative, 70.0), (TimeScheme::Linear, 70.0)]
        {
            assert_eq!(of(scheme, [1.0, 3.0, 7.0]).over(20.0, 0.1).kg, kg, "{scheme:?}");
        }
        assert_eq!(SourceTotals::constant(2.0).over(5.0, 0.1).kg, 10.0);
    }
}
