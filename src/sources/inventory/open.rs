//! What files of an inventory say about themselves.

use jiff::Timestamp;
use jiff::civil::Date;

use super::dates::{Month, year_in_name};
use super::{FilePeriod, FluxUnits, Inventory, InventoryFile, Record, Spread, TimeUse};
use crate::gridded::{AxisNames, GriddedFile, GriddedVariable};
use crate::regrid::LatLonAxes;
use crate::sources::error::{Refusal, help};

/// A file whose variables, units and times are known. It is not kept open: archives of daily files have more of them
/// than a process may open.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) variables: Vec<String>,
    pub(super) units: FluxUnits,
    pub(super) axes: LatLonAxes,
    pub(super) records: Vec<Dated>,
}

/// When a record stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Dated {
    /// A time, s since the start of the run, and the interval of its bounds if the file has them.
    Stamp { seconds: f64, bounds: Option<[f64; 2]> },
    /// A month, the year of which may not be known.
    Month { year: Option<i16>, month: i8 },
    /// A year.
    Year(i16),
    /// A day.
    Day(Date),
    /// Nothing is known.
    Undated,
}

impl Opened {
    /// Opens `file` of `inventory`; times are counted from `start`.
    pub(super) fn new(inventory: &Inventory, file: &InventoryFile, start: Timestamp) -> Result<Self, Refusal> {
        let found = GriddedFile::open(&file.path)?;
        let names = match &inventory.variables[..] {
            [] => inventory.kind.variables(&found),
            given => given.to_vec(),
        };
        let mut opened: Option<Self> = None;
        for name in &names {
            let variable = found.variable(name, &AxisNames::default())?;
            if variable.levels() > 1 {
                let problem = format!("'{name}' has {} levels; a flux has none", variable.levels());
                return Err(Refusal::with(help::LATLON)(problem));
            }
            let one = Self {
                variables: names.clone(),
                units: units(inventory, &variable)?,
                axes: variable.axes().clone(),
                records: records(inventory, file, &found, &variable, start)?,
            };
            if one.units.spread() == Spread::Cell && inventory.cell_area.is_some() {
                let problem = format!("'{name}' has units by cell, so that `cell_area` has no meaning");
                return Err(Refusal::with(help::NO_AREA)(problem));
            }
            match &opened {
                None => opened = Some(one),
                Some(first) => {
                    let same = first.units == one.units && first.axes == one.axes && first.records == one.records;
                    if !same {
                        let what = "differ in grid, times or units and cannot be added up";
                        return Err(Refusal::with(help::LATLON)(format!("'{}' and '{name}' {what}", names[0])));
                    }
                }
            }
        }
        opened.ok_or_else(|| Refusal::with(help::VARIABLE)("no variable is named".into()))
    }
}

fn units(inventory: &Inventory, variable: &GriddedVariable<'_>) -> Result<FluxUnits, Refusal> {
    let refuse = Refusal::with(help::INVENTORY_UNITS);
    let name = variable.name();
    let of_file = || variable.units().filter(|units| !units.trim().is_empty() && !inventory.kind.abridges(units));
    let units = inventory.units.clone().or_else(of_file).or_else(|| inventory.kind.units().map(str::to_owned));
    let units = units.ok_or_else(|| refuse(format!("'{name}' has no units")))?;
    FluxUnits::parse(&units, inventory.conversion.molar_mass()).map_err(|problem| refuse(format!("'{name}' {problem}")))
}

/// The times of the records of a variable.
fn records(
    inventory: &Inventory,
    file: &InventoryFile,
    found: &GriddedFile,
    variable: &GriddedVariable<'_>,
    start: Timestamp,
) -> Result<Vec<Dated>, Refusal> {
    let count = variable.times();
    if count == 0 {
        return Err(Refusal::with(help::TIMES)(format!("'{}' has no record", variable.name())));
    }
    let axis = variable.time_axis();
    if let Some(axis) = axis.filter(|axis| found.text(axis, "units").is_some_and(|units| units.contains(" since "))) {
        if inventory.year.is_some() && !matches!(inventory.time, TimeUse::Constant(Record::Month(_))) {
            let problem = format!("'{}' states its times, so that `year` has no meaning", variable.name());
            return Err(Refusal::with(help::NO_YEAR)(problem));
        }
        let seconds = found.times(axis, start)?;
        let bounds = found.time_bounds(axis, start)?;
        let stamp = |n: usize| Dated::Stamp { seconds: seconds[n], bounds: bounds.as_ref().map(|b| b[n]) };
        return Ok((0..count).map(stamp).collect());
    }
    let numbers = axis.map(|axis| found.values(axis)).transpose()?.unwrap_or_default();
    if !numbers.is_empty() && numbers.iter().all(|n| n.fract() == 0.0 && (1700.0..=2200.0).contains(n)) {
        return Ok(numbers.iter().map(|n| Dated::Year(*n as i16)).collect());
    }
    let year = year_of(inventory, file);
    if count == 12 {
        // Only months that act at their time need their year.
        let year = match inventory.time {
            TimeUse::Varying => year.map_err(Refusal::with(help::YEAR))?,
            TimeUse::Cyclic | TimeUse::Constant(_) => year.unwrap_or(None),
        };
        return Ok((1..=12).map(|month| Dated::Month { year, month }).collect());
    }
    if count == 1 {
        // In a series of files each one stands for a period.
        let dated = match (file.period, inventory.files.len()) {
            (Some(FilePeriod::Year(year)), _) => Dated::Year(year),
            (Some(FilePeriod::Month(year, month)), _) => Dated::Month { year: Some(year), month },
            (Some(FilePeriod::Day(day)), _) => Dated::Day(day),
            (None, 1) if inventory.year.is_none() => Dated::Undated,
            (None, _) => year.map_err(Refusal::with(help::YEAR))?.map_or(Dated::Undated, Dated::Year),
        };
        return Ok(vec![dated]);
    }
    Ok(vec![Dated::Undated; count])
}

/// The year of a file without times: of its place in a series, as given, or told by its name.
fn year_of(inventory: &Inventory, file: &InventoryFile) -> Result<Option<i16>, String> {
    if let Some(year) = file.period.map(FilePeriod::year).or(inventory.year) {
        return Ok(Some(year));
    }
    year_in_name(&file.path.file_name().unwrap_or_default().to_string_lossy())
}

impl Dated {
    /// The calendar month and year of a record whose interval starts `seconds` after `start`.
    pub(super) fn calendar(self, seconds: f64, start: Timestamp) -> (Option<Month>, Option<i16>) {
        match self {
            Self::Stamp { .. } => {
                let day = super::dates::day_of(seconds, start);
                (day.map(Month::of), day.map(Date::year))
            }
            Self::Month { year, month } => (year.map(|year| Month { year, month }), year),
            Self::Year(year) => (None, Some(year)),
            Self::Day(day) => (Some(Month::of(day)), Some(day.year())),
            Self::Undated => (None, None),
        }
    }
}
