//! What can be wrong with a source.

use std::path::PathBuf;

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
    },
    /// Longitudes or latitudes that are not those of a regular grid.
    #[error("{axis} of a source grid: {problem}")]
    Axis {
        /// Longitude or latitude.
        axis: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// Heights or weights of an injection that make no profile.
    #[error("injection: {problem}")]
    Injection {
        /// What is wrong.
        problem: String,
    },
}
