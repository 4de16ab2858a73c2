//! What can be wrong with a source.

use std::path::{Path, PathBuf};

use crate::gridded::GriddedError;
use crate::regrid::RegridError;

/// Why a source was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SourceError {
    /// No times, times that are not numbers or do not increase.
    #[error("time {slice} of a source is {time} s after {before} s; times must be numbers and increase")]
    Times {
        /// Slice, from 1.
        slice: usize,
        /// Its time.
        time: f64,
        /// The time before it.
        before: f64,
    },
    /// A source without a slice.
    #[error("a source has no time slice")]
    NoSlice,
    /// A tracer whose molar mass is not known.
    #[error("the molar mass of '{tracer}' is not known; set molar_mass_kg_mol")]
    MolarMass {
        /// Tracer name.
        tracer: String,
    },
    /// A number that must be positive.
    #[error("{what} = {value} must be a positive number")]
    NotPositive {
        /// What it is.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// The file cannot be read or does not fit.
    #[error("{}: {problem}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong and what would be right.
        problem: String,
        /// What to do about it.
        help: &'static str,
    },
    /// Weights of regridding that cannot be kept or computed.
    #[error("weights of regridding: {problem}")]
    Weights {
        /// What is wrong.
        problem: String,
        /// What to do about it.
        help: &'static str,
    },
    /// Heights or weights of an injection that make no profile.
    #[error("injection: {problem}")]
    Injection {
        /// What is wrong.
        problem: String,
    },
}

impl SourceError {
    /// What to do about the error of a file.
    pub fn help(&self) -> &'static str {
        match self {
            Self::File { help, .. } | Self::Weights { help, .. } => help,
            Self::Times { .. } | Self::NoSlice => help::TIMES,
            Self::MolarMass { .. } => "set molar_mass_kg_mol",
            Self::NotPositive { .. } => "give a positive number",
            Self::Injection { .. } => "give heights 0 <= z_bottom < z_top, or one weight per level",
        }
    }
}

/// What to do about files that were refused.
pub(super) mod help {
    pub(crate) const FORMAT: &str = "the file is damaged or of a type that is not known; get it again";
    pub(crate) const VARIABLE: &str = "name a variable of the file in `variable`";
    pub(crate) const GRID: &str = "sources lie on the grid of the run, as (time, nf, Ydim, Xdim)";
    pub(crate) const UNITS: &str =
        "units are kg m-2 s-1 or, for CO2, kgC m-2 s-1; convert the values, or mend the attribute and use `scale`";
    pub(crate) const INVENTORY_UNITS: &str =
        "write in `units` what the numbers are in, and in `scale` what they are to be multiplied by";
    pub(crate) const LATLON: &str = "an inventory has one flux per time, latitude and longitude, on one grid";
    pub(crate) const YEAR: &str = "give `year`";
    pub(crate) const NO_YEAR: &str = "remove `year`";
    pub(crate) const NO_AREA: &str = "remove `cell_area`";
    pub(crate) const RECORD: &str = "choose one with `time_index` or `month`, or give files that state their times";
    pub(crate) const WRITE: &str = "name a folder in which files can be written";
    pub(crate) const TIMES: &str = "`time` increases and has units such as hours since 2021-12-01 00:00:00, UTC";
    pub(crate) const ORDER: &str = "give the files in the order of their times, none of which may be in two files";
    pub(crate) const FILL: &str = "declare it as `_FillValue` of the variable; on a longitude-latitude grid `missing = \"zero\"` then takes it as no flux";
    pub(crate) const SIZE: &str = "mend the units of the variable, `units` or `scale`; if it marks what is missing, declare \
                                   it as `_FillValue` of the variable";
    pub(crate) const AREAS: &str = "give areas in m2, or leave out `cell_area`";
}

/// Why a file was refused, and what to do about it.
#[derive(Debug)]
pub(super) struct Refusal {
    problem: String,
    help: &'static str,
}

impl From<GriddedError> for Refusal {
    fn from(error: GriddedError) -> Self {
        Self { problem: error.problem(), help: error.help() }
    }
}

impl From<RegridError> for SourceError {
    fn from(error: RegridError) -> Self {
        Self::Weights { problem: error.to_string(), help: error.help() }
    }
}

impl Refusal {
    /// Refusals with this help.
    pub(super) fn with(help: &'static str) -> impl Fn(String) -> Self {
        move |problem| Self { problem, help }
    }

    /// The refusal of `file`.
    pub(super) fn of(self, file: &Path) -> SourceError {
        SourceError::File { file: file.to_path_buf(), problem: self.problem, help: self.help }
    }
}
