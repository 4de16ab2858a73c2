//! Winds of any model on longitudes and latitudes.
//!
//! States are interpolated in the vertical on the archive's columns (linear in ln p, nothing from below the ground), regridded
//! as vectors in space, and interpolated linearly in time.

mod columns;
mod files;
mod levels;
mod state;

use std::path::PathBuf;

use jiff::civil::Date;

use crate::gridded::AxisNames;

pub use files::GriddedArchive;
pub use levels::SourceLevels;
pub use state::GriddedReader;

/// What the files hold and what it is called.
#[derive(Clone, Debug, PartialEq)]
pub struct GriddedSource {
    /// The files, at least one; a variable may be in any of them.
    pub files: Vec<PathBuf>,
    /// How states stand for windows.
    pub time: StateTimes,
    /// Names of variables.
    pub variables: VariableNames,
    /// Names of dimensions.
    pub axes: AxisNames,
    /// Levels.
    pub levels: LevelSource,
    /// Order of the levels in the files.
    pub order: LevelOrder,
    /// Winds above the highest level.
    pub above: Extension,
    /// Winds below the lowest level.
    pub below: Extension,
}

/// How the states of the files stand for the windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateTimes {
    /// States follow one another.
    Series {
        /// Date given to the first state, 00:00 UTC, instead of its own.
        first_day: Option<Date>,
    },
    /// One state holds for ever.
    Steady {
        /// Record of the files, from 0.
        record: usize,
    },
}

/// Names of variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableNames {
    /// Wind towards east.
    pub u: String,
    /// Wind towards north.
    pub v: String,
    /// Surface pressure.
    pub surface_pressure: PressureName,
    /// Specific or relative humidity; without it air is dry.
    pub humidity: Option<String>,
    /// Temperature, for relative humidity.
    pub temperature: Option<String>,
    /// Times, instead of the variable of their dimension.
    pub time: Option<String>,
}

/// Name and form of the surface pressure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PressureName {
    /// Pressure.
    Plain(String),
    /// Natural logarithm of the pressure in Pa.
    Logarithm(String),
}

/// Levels of the files.
#[derive(Clone, Debug, PartialEq)]
pub enum LevelSource {
    /// Pressures.
    Pressure {
        /// Their variable, if it is not that of the dimension.
        variable: Option<String>,
        /// Units instead of the variable's attribute.
        units: Option<String>,
    },
    /// Parts of the surface pressure.
    Sigma {
        /// Their variable, if it is not that of the dimension.
        variable: Option<String>,
        /// Variable of the interfaces.
        interfaces: Option<String>,
    },
    /// A + B times the surface pressure.
    Hybrid {
        /// Variables of A and B at the levels; means of the interfaces if absent.
        mid: Option<[String; 2]>,
        /// Variables of A and B at the interfaces.
        interfaces: Option<[String; 2]>,
        /// Units of A instead of the variable's attribute.
        units: Option<String>,
        /// Factor of A in Pa, for A without units.
        reference_pa: f64,
    },
}

/// Order of levels in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelOrder {
    /// As the files themselves tell.
    Auto,
    /// The lowest first.
    SurfaceFirst,
    /// The highest first.
    TopFirst,
}

/// What lies beyond the levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// The nearest level's values.
    Constant,
    /// No wind.
    Zero,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels at these pressures, from the top down.
    pub(super) fn pressure_levels(pa: &[f64]) -> SourceLevels {
        levels::tests::pressures(pa, LevelOrder::Auto).unwrap()
    }
}
