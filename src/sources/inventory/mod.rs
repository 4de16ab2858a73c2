//! Inventories: fluxes on longitude-latitude grids, put on the model's cells so that no mass is lost.

mod dates;
mod intervals;
mod kinds;
mod open;
mod plan;
mod read;
mod units;

use std::path::PathBuf;

use jiff::civil::Date;

pub use dates::year_in_name;
pub use kinds::InventoryKind;
pub use units::{FluxUnits, Period, Spread};

use super::{Conversion, TimeScheme};

/// NetCDF files with fluxes on one longitude-latitude grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Inventory {
    /// The archive, which decides what is not said otherwise.
    pub kind: InventoryKind,
    /// The files in the order of their times, at least one.
    pub files: Vec<InventoryFile>,
    /// Variables that are added up; empty: those of the kind.
    pub variables: Vec<String>,
    /// Units instead of the attribute of the variables.
    pub units: Option<String>,
    /// Which records act when.
    pub time: TimeUse,
    /// What the stated times stand for.
    pub stamp: Stamp,
    /// Year of records without times; with [`Record::Month`] of several years, the year meant.
    pub year: Option<i16>,
    /// What a missing value means.
    pub gaps: Gaps,
    /// Variable with the areas of the cells (m²) by which fluxes by area are multiplied, instead of those on the sphere
    /// of the run.
    pub cell_area: Option<String>,
    /// How values between slices are made.
    pub scheme: TimeScheme,
    /// Scale and molar mass.
    pub conversion: Conversion,
}

/// A file of an inventory.
#[derive(Clone, Debug, PartialEq)]
pub struct InventoryFile {
    /// The file.
    pub path: PathBuf,
    /// The period that its place in a series of files tells.
    pub period: Option<FilePeriod>,
}

/// The period of a file in a series with dates in their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePeriod {
    /// A calendar year.
    Year(i16),
    /// A calendar month: year, and month from 1.
    Month(i16, i8),
    /// A day.
    Day(Date),
}

impl FilePeriod {
    /// The year.
    pub fn year(self) -> i16 {
        match self {
            Self::Year(year) | Self::Month(year, _) => year,
            Self::Day(day) => day.year(),
        }
    }
}

/// Which records act when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUse {
    /// Each at its time.
    Varying,
    /// Twelve months of every year.
    Cyclic,
    /// The same always.
    Constant(Record),
}

/// The records of a constant flux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// The mean of all, each weighted by the time for which it stands.
    Mean,
    /// The one of this number, from 1.
    Index(usize),
    /// The one of this calendar month, from 1.
    Month(i8),
}

/// What the stated time of a record stands for. It matters where a record holds for an interval; the straight lines
/// between records run through the times as they are stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// The interval is that of the file's time bounds. Without bounds, records about a month or a year apart hold for the
    /// calendar month or year in which their time lies; other times are centres if they lie half an interval past a
    /// multiple of the interval since midnight, else starts.
    Auto,
    /// The start of the interval.
    Start,
    /// Its centre.
    Centre,
    /// Its end.
    End,
}

/// What a missing value means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// An error.
    Refuse,
    /// No flux.
    Zero,
}
