//! Which records of an inventory act when, and with which factor.

use super::dates::{Month, day_of, seconds_to, year_seconds};
use super::intervals::{Entry, set_intervals};
use super::open::{Dated, Opened};
use super::{Inventory, Period, Record, TimeUse};
use crate::sources::error::{Refusal, help};
use crate::sources::{CoveredTimes, RunSpan, SourceError, SourceTimes, TimeScheme};

/// Seconds of a day.
pub(super) const DAY: f64 = 86_400.0;

/// A record that takes part in a slice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) file: usize,
    /// From 0.
    pub(super) record: usize,
    /// kg of the species s⁻¹ per stored number, by m² or cell.
    pub(super) factor: f64,
}

/// Slices and what they are made of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) times: CoveredTimes,
    pub(super) slices: Vec<Vec<Part>>,
}

impl Plan {
    /// The plan of an inventory whose files are `opened`.
    pub(super) fn new(inventory: &Inventory, opened: &[Opened], run: &RunSpan) -> Result<Self, SourceError> {
        let mut entries = Vec::new();
        for (file, one) in opened.iter().enumerate() {
            for (record, &dated) in one.records.iter().enumerate() {
                entries.push(Entry { file, record, dated, stated: 0.0, from: 0.0, to: f64::INFINITY });
            }
        }
        let first = &inventory.files[0].path;
        set_intervals(&mut entries, inventory, run);
        match inventory.time {
            TimeUse::Constant(record) => {
                let chosen = chosen(inventory, &entries, record, run).map_err(|r| r.of(first))?;
                let whole: f64 = chosen.iter().map(|(_, weight)| weight).sum();
                let part = |(entry, weight): &(Entry, f64)| {
                    let factor = factor(inventory, opened, entry, run)?;
                    Ok(Part { factor: factor * (weight / whole), ..part_of(entry) })
                };
                let parts: Result<Vec<Part>, SourceError> = chosen.iter().map(part).collect();
                let times = CoveredTimes::endless(SourceTimes::constant());
                Ok(Self { times, slices: vec![parts?] })
            }
            TimeUse::Cyclic => Self::cyclic(inventory, opened, &entries, run),
            TimeUse::Varying => Self::varying(inventory, opened, &entries, run),
        }
    }

    fn varying(
        inventory: &Inventory,
        opened: &[Opened],
        entries: &[Entry],
        run: &RunSpan,
    ) -> Result<Self, SourceError> {
        let path = |entry: &Entry| &inventory.files[entry.file].path;
        let of_year = in_year(inventory, entries, run).map_err(|r| r.of(&inventory.files[0].path))?;
        let entries = &of_year[..];
        if let [only] = entries
            && (only.dated == Dated::Undated || only.to == f64::INFINITY)
        {
            let part = Part { factor: factor(inventory, opened, only, run)?, ..part_of(only) };
            let times = match only.dated {
                Dated::Stamp { seconds, .. } => CoveredTimes::alone(SourceTimes::constant(), seconds),
                _ => CoveredTimes::endless(SourceTimes::constant()),
            };
            return Ok(Self { times, slices: vec![vec![part]] });
        }
        let undated = |entry: &&Entry| entry.from.is_nan() || entry.dated == Dated::Undated;
        if let Some(entry) = entries.iter().find(undated) {
            let (count, one) = (opened[entry.file].records.len(), opened[entry.file].variables[0].clone());
            let (problem, help) = match entry.dated {
                Dated::Month { .. } => {
                    (format!("'{one}' states no times and the name of the file no year"), help::YEAR)
                }
                _ if count == 1 => (format!("'{one}' states no time and the name of the file no year"), help::RECORD),
                _ => (format!("'{one}' has {count} records without times; 12 would be months"), help::RECORD),
            };
            return Err(Refusal::with(help)(problem).of(path(entry)));
        }
        let time = |entry: &Entry| match inventory.scheme {
            TimeScheme::Stepwise => entry.from,
            TimeScheme::Linear | TimeScheme::Conservative => entry.stated,
        };
        for pair in entries.windows(2) {
            let (last, first) = (time(&pair[0]), time(&pair[1]));
            if first <= last {
                let problem = format!(
                    "record {} starts at {first} s after the start of the run, the one before it at {last} s",
                    pair[1].record + 1
                );
                let help = if pair[0].file == pair[1].file { help::TIMES } else { help::ORDER };
                return Err(Refusal::with(help)(problem).of(path(&pair[1])));
            }
        }
        let times = SourceTimes::new(entries.iter().map(time).collect(), inventory.scheme)?;
        let part = |entry: &Entry| Ok(vec![Part { factor: factor(inventory, opened, entry, run)?, ..part_of(entry) }]);
        let slices: Result<_, SourceError> = entries.iter().map(part).collect();
        let intervals: Vec<[f64; 2]> = entries.iter().map(|entry| [entry.from, entry.to]).collect();
        let from = times.times()[0];
        Ok(Self { times: CoveredTimes::bounded(times, &intervals).starting(from), slices: slices? })
    }

    /// Twelve records, one for each calendar month, over and over for as long as the run lasts.
    fn cyclic(inventory: &Inventory, opened: &[Opened], entries: &[Entry], run: &RunSpan) -> Result<Self, SourceError> {
        let first = &inventory.files[0].path;
        let refuse = |problem| Refusal::with(help::TIMES)(problem).of(first);
        if entries.len() != 12 {
            return Err(refuse(format!("a climatology has 12 months, not {} records", entries.len())));
        }
        for (n, entry) in entries.iter().enumerate() {
            let (month, _) = entry.dated.calendar(entry.from, run.start);
            if let Some(month) = month.filter(|month| usize::from(month.month.unsigned_abs()) != n + 1) {
                return Err(refuse(format!("record {} of a climatology lies in month {}", n + 1, month.month)));
            }
        }
        let day = day_of(0.0, run.start);
        let mut month = day.map(Month::of).ok_or_else(|| refuse("the start of the run has no date".into()))?;
        let (mut seconds, mut slices) = (Vec::new(), Vec::new());
        loop {
            let from = seconds_to(month.first(), run.start);
            let entry = &entries[usize::from(month.month.unsigned_abs()) - 1];
            let per = period(inventory, opened[entry.file].units.period(), Some(month), Some(month.year));
            let per = per.map_err(|r| r.of(first))?;
            seconds.push(from);
            slices.push(vec![Part { factor: opened[entry.file].units.kg() / per, ..part_of(entry) }]);
            match month.next() {
                Some(next) if from < run.seconds => month = next,
                _ => break,
            }
        }
        let times = CoveredTimes::endless(SourceTimes::new(seconds, inventory.scheme)?);
        Ok(Self { times, slices })
    }
}

fn part_of(entry: &Entry) -> Part {
    Part { file: entry.file, record: entry.record, factor: 1.0 }
}

/// kg of the species s⁻¹ per number stored in a record.
fn factor(inventory: &Inventory, opened: &[Opened], entry: &Entry, run: &RunSpan) -> Result<f64, SourceError> {
    let units = opened[entry.file].units;
    let (month, year) = entry.dated.calendar(entry.from, run.start);
    let seconds = period(inventory, units.period(), month, year);
    Ok(units.kg() / seconds.map_err(|r| r.of(&inventory.files[entry.file].path))?)
}

/// Length in s of the period that a flux of this month and year is by.
fn period(inventory: &Inventory, of: Period, month: Option<Month>, year: Option<i16>) -> Result<f64, Refusal> {
    match of {
        Period::Second => Ok(1.0),
        Period::Day => Ok(DAY),
        Period::Year if inventory.kind.has_mean_years() => Ok(365.25 * DAY),
        Period::Year => Ok(year.map_or(365.25 * DAY, year_seconds)),
        Period::Month => month.map(Month::seconds).ok_or_else(|| {
            Refusal::with(help::YEAR)("fluxes by month need the month and year for which they stand".into())
        }),
    }
}

/// The records of the year that is asked for; all where none is, or where records tell no year.
fn in_year(inventory: &Inventory, entries: &[Entry], run: &RunSpan) -> Result<Vec<Entry>, Refusal> {
    let year_of = |entry: &Entry| entry.dated.calendar(entry.from, run.start).1;
    let Some(wanted) = inventory.year.filter(|_| entries.iter().all(|entry| year_of(entry).is_some())) else {
        return Ok(entries.to_vec());
    };
    let found: Vec<Entry> = entries.iter().filter(|entry| year_of(entry) == Some(wanted)).copied().collect();
    match (found.is_empty(), entries) {
        (true, [first, .., last]) => {
            let (first, last) = (year_of(first).unwrap_or_default(), year_of(last).unwrap_or_default());
            let problem = format!("no record lies in the year {wanted}; they lie in {first} to {last}");
            Err(Refusal::with(help::YEAR)(problem))
        }
        (true, _) => Err(Refusal::with(help::YEAR)(format!("no record lies in the year {wanted}"))),
        (false, _) => Ok(found),
    }
}

/// Records of a constant flux with their weights.
fn chosen(
    inventory: &Inventory,
    entries: &[Entry],
    record: Record,
    run: &RunSpan,
) -> Result<Vec<(Entry, f64)>, Refusal> {
    let refuse = |problem| Err(Refusal::with(help::RECORD)(problem));
    match record {
        Record::Mean => {
            let weight = |entry: &Entry| if entry.to.is_finite() { entry.to - entry.from } else { 1.0 };
            let weights = entries.iter().map(|entry| (*entry, weight(entry)));
            Ok(weights.collect())
        }
        Record::Index(index) => match index.checked_sub(1).and_then(|n| entries.get(n)) {
            Some(entry) => Ok(vec![(*entry, 1.0)]),
            None => refuse(format!("there is no record {index}; there are {}", entries.len())),
        },
        Record::Month(wanted) => {
            let fits = |entry: &&Entry| {
                let (month, year) = entry.dated.calendar(entry.from, run.start);
                let number = month.map(|month| month.month).or(match entry.dated {
                    Dated::Month { month, .. } => Some(month),
                    _ => None,
                });
                number == Some(wanted) && inventory.year.is_none_or(|wanted| year.is_none_or(|year| year == wanted))
            };
            let found: Vec<Entry> = entries.iter().filter(fits).copied().collect();
            match found[..] {
                [one] => Ok(vec![(one, 1.0)]),
                [] => refuse(format!("no record lies in month {wanted}")),
                _ => refuse(format!("{} records lie in month {wanted}; give `year`, or a monthly file", found.len())),
            }
        }
    }
}
