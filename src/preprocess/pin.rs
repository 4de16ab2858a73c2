//! The global mass of dry air, kept at one value through all days of a campaign (spec 40 §1.9).
//!
//! The mean surface pressure of archives drifts by some 1e-4 a day. Every endpoint is brought to the same global mass: a
//! uniform surface pressure is added to all columns, each column keeps its shape, and fluxes are scaled with the air that
//! they move.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::PreprocessError;
use super::columns::sum_levels;
use crate::files::staged;
use crate::grid::constants::GRAVITY;

/// Which global mass the endpoints get.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pin {
    /// That of the archive.
    Off,
    /// Mean surface pressure of dry air, Pa.
    Pressure(f64),
    /// Mass of dry air, kg.
    Mass(f64),
}

impl Pin {
    /// The mass in kg on a sphere of this area in m²; `None` if it is not kept.
    pub fn target_kg(self, area_m2: f64) -> Option<f64> {
        match self {
            Pin::Off => None,
            Pin::Pressure(pa) => Some(pa * area_m2 / GRAVITY),
            Pin::Mass(kg) => Some(kg),
        }
    }
}

/// Mean surface pressure of dry air in Pa of the masses `mass` in kg.
pub fn mean_pressure(mass: &[f64], area_m2: f64) -> f64 {
    mass.iter().sum::<f64>() * GRAVITY / area_m2
}

/// Brings the global mass to `target_kg`; returns the factor by which each column grew. Masses are `[layer][cell]`, areas
/// in m².
pub fn pin(mass: &mut [f64], areas: &[f64], target_kg: f64) -> Vec<f64> {
    let cells = areas.len();
    let columns = sum_levels(mass, cells);
    let area: f64 = areas.iter().sum();
    let per_area = (target_kg - columns.iter().sum::<f64>()) / area;
    let factors: Vec<f64> = columns.iter().zip(areas).map(|(m, a)| 1.0 + per_area * a / m).collect();
    for layer in mass.chunks_mut(cells) {
        layer.iter_mut().zip(&factors).for_each(|(m, f)| *m *= f);
    }
    factors
}

/// Mean surface pressure that a campaign measured once and keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Campaign {
    /// Mean surface pressure of dry air, Pa, a multiple of 0.1.
    pub mean_dry_surface_pressure_pa: f64,
    /// First instant of the archive that was measured.
    pub measured_at: String,
    /// Archive.
    pub source: String,
}

impl Campaign {
    /// A measurement, rounded to 0.1 Pa.
    pub fn measured(pressure_pa: f64, measured_at: String, source: String) -> Self {
        Self { mean_dry_surface_pressure_pa: (pressure_pa * 10.0).round() / 10.0, measured_at, source }
    }

    /// The campaign recorded in `path`, if there is one.
    ///
    /// # Errors
    /// [`PreprocessError::Campaign`] for a file that cannot be read or holds no pressure.
    pub fn read(path: &Path) -> Result<Option<Self>, PreprocessError> {
        let refuse = |problem: String| PreprocessError::Campaign { path: path.to_path_buf(), problem };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refuse(format!("cannot be read ({error})"))),
        };
        Self::from_text(&text, path).map(Some)
    }

    /// The campaign of a text in the form of its record; `path` names it in messages.
    ///
    /// # Errors
    /// [`PreprocessError::Campaign`] for a text that holds no pressure of an atmosphere.
    pub fn from_text(text: &str, path: &Path) -> Result<Self, PreprocessError> {
        let refuse = |problem: String| PreprocessError::Campaign { path: path.to_path_buf(), problem };
        let found: Self =
            toml::from_str(text).map_err(|e| refuse(format!("is no record of a campaign ({})", e.message())))?;
        let pressure = found.mean_dry_surface_pressure_pa;
        match (1e3..=1.5e5).contains(&pressure) {
            true => Ok(found),
            false => Err(refuse(format!("the mean surface pressure {pressure} Pa is not that of an atmosphere"))),
        }
    }

    /// The campaign as it is recorded.
    pub fn to_text(&self) -> String {
        toml::to_string(self).expect("numbers and texts are TOML")
    }

    /// Records the campaign in `path`, whole or not at all, unless one is recorded there; the one that is recorded then. Of
    /// several processes one wins, and all get what it has recorded.
    ///
    /// # Errors
    /// [`PreprocessError::Io`] if it cannot be written, what [`Campaign::read`] refuses.
    pub fn claim(&self, path: &Path) -> Result<Self, PreprocessError> {
        let text = self.to_text();
        let stage = || -> std::io::Result<bool> {
            let mut staged = staged(path)?;
            staged.write_all(text.as_bytes())?;
            staged.publish_if_absent(path)
        };
        let own = stage().map_err(PreprocessError::io(path, "record the mean surface pressure"))?;
        let recorded = if own { None } else { Self::read(path)? };
        Ok(recorded.unwrap_or_else(|| self.clone()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Spec 40 §8: the global mass hits the target, every column keeps its shape (1e-14).
        #[test]
        fn the_target_is_hit_and_columns_keep_their_shape(
            masses in prop::collection::vec(1e9f64..1e12, 60),
            change in -0.02f64..0.02,
        ) {
            let areas: Vec<f64> = (0..20).map(|n| 1e10 * (1.0 + 0.3 * (n as f64).sin())).collect();
            let target = masses.iter().sum::<f64>() * (1.0 + change);
            let mut pinned = masses.clone();
            let factors = pin(&mut pinned, &areas, target);
            prop_assert!((pinned.iter().sum::<f64>() / target - 1.0).abs() < 1e-14);
            for (n, (new, old)) in pinned.iter().zip(&masses).enumerate() {
                prop_assert!((new / old / factors[n % 20] - 1.0).abs() < 1e-14);
            }
            // The pressure added is the same in all columns.
            let column = |m: &[f64], c: usize| (m[c] + m[c + 20] + m[c + 40]) * GRAVITY / areas[c];
            let added: Vec<f64> = (0..20).map(|c| column(&pinned, c) - column(&masses, c)).collect();
            prop_assert!(added.iter().all(|a| (a - added[0]).abs() < 1e-11 * column(&masses, 0).abs()));
        }
    }

    #[test]
    fn campaigns_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("campaign.toml");
        assert_eq!(Campaign::read(&path).unwrap(), None);
        let campaign = Campaign::measured(98_324.849, "2021-12-01T00:00:00Z".into(), "test".into());
        assert_eq!(campaign.mean_dry_surface_pressure_pa, 98_324.8);
        assert_eq!(campaign.claim(&path).unwrap(), campaign);
        let later = Campaign { mean_dry_surface_pressure_pa: 97_000.0, ..campaign.clone() };
        assert_eq!(later.claim(&path).unwrap(), campaign);
        assert_eq!(Campaign::read(&path).unwrap(), Some(campaign));
        std::fs::write(&path, "mean_dry_surface_pressure_pa = 1.0\nmeasured_at = \"\"\nsource = \"\"\n").unwrap();
        assert!(Campaign::read(&path).unwrap_err().to_string().contains("1 Pa"));
        std::fs::write(&path, "x = 1").unwrap();
        assert!(Campaign::read(&path).is_err());
    }

    /// Spec 40 §0: 98 726 Pa is 5.1353e18 kg on the sphere of 6 371 229 m.
    #[test]
    fn pressure_and_mass_agree() {
        let area = 4.0 * std::f64::consts::PI * 6_371_229.0f64.powi(2);
        let kg = Pin::Pressure(98_726.0).target_kg(area).unwrap();
        assert!((kg / 5.1353e18 - 1.0).abs() < 1e-4, "{kg}");
        assert_eq!(Pin::Mass(5e18).target_kg(area), Some(5e18));
        assert_eq!(Pin::Off.target_kg(area), None);
        assert!((mean_pressure(&[kg], area) - 98_726.0).abs() < 1e-9);
    }
}
