//! Archives that are known by name.

use crate::gridded::GriddedFile;

/// An archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InventoryKind {
    /// Any file that says what it holds.
    File,
    /// CO2 fluxes of LMDZ (CAMS/LSCE inversions).
    LmdzCo2,
    /// Fossil CO2 of GCP-GridFED.
    GridfedFossilCo2,
    /// SF6 of EDGAR.
    EdgarSf6,
    /// Radon-222 of Zhang et al.
    ZhangRn222,
    /// CO2 fluxes of NOAA CarbonTracker.
    CarbonTracker,
}

impl InventoryKind {
    /// Name in messages and configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::LmdzCo2 => "lmdz_co2",
            Self::GridfedFossilCo2 => "gridfed_fossil_co2",
            Self::EdgarSf6 => "edgar_sf6",
            Self::ZhangRn222 => "zhang_rn222",
            Self::CarbonTracker => "carbontracker",
        }
    }

    /// Variables of the archive: the first of these sets that a file has in full.
    fn layouts(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::File => &[],
            Self::LmdzCo2 => &[&["flux_apos"]],
            Self::GridfedFossilCo2 => &[&["TOTAL"], &["CO2/TOTAL"]],
            Self::EdgarSf6 => &[&["emissions"]],
            Self::ZhangRn222 => &[&["rnemis"]],
            Self::CarbonTracker => &[&["bio_flux_opt", "ocn_flux_opt", "fire_flux_imp", "fossil_flux_imp"]],
        }
    }

    /// Variables to add up in a file of the archive, where none are named; the first layout if the file has none in
    /// full.
    pub(super) fn variables(self, file: &GriddedFile) -> Vec<String> {
        let layouts = self.layouts();
        let found = layouts.iter().find(|names| names.iter().all(|name| file.has(name))).or(layouts.first());
        found.iter().flat_map(|names| names.iter()).map(|name| (*name).to_owned()).collect()
    }

    /// Units of the archive, where a file does not state them.
    pub(super) fn units(self) -> Option<&'static str> {
        match self {
            Self::File => None,
            Self::LmdzCo2 => Some("kgC m-2 s-1"),
            Self::GridfedFossilCo2 => Some("kgCO2 month-1 m-2"),
            Self::EdgarSf6 => Some("t cell-1 yr-1"),
            Self::ZhangRn222 => Some("kg m-2 s-1"),
            Self::CarbonTracker => Some("mol m-2 s-1"),
        }
    }

    /// Whether the archive writes its own units in this short form: EDGAR states `Tonnes` for those by cell and year.
    pub(super) fn abridges(self, units: &str) -> bool {
        self == Self::EdgarSf6 && ["tonnes", "tonne", "t"].contains(&units.trim().to_ascii_lowercase().as_str())
    }

    /// Whether a year of the archive is 365.25 days, whatever year it is.
    pub(super) fn has_mean_years(self) -> bool {
        self == Self::EdgarSf6
    }
}
