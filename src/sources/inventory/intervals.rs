//! Intervals in which records hold.

use jiff::civil::Date;

use super::dates::{Month, day_of, seconds_to, year_seconds};
use super::open::Dated;
use super::plan::DAY;
use super::{FilePeriod, Inventory, Stamp};
use crate::sources::RunSpan;

/// One record of all files, with its interval in s since the start of the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) file: usize,
    pub(super) record: usize,
    pub(super) dated: Dated,
    /// The stated time.
    pub(super) stated: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

/// Sets the intervals of all records.
pub(super) fn set_intervals(entries: &mut [Entry], inventory: &Inventory, run: &RunSpan) {
    let stamp = inventory.stamp;
    let day = |date: Date| seconds_to(date, run.start);
    for entry in entries.iter_mut() {
        (entry.from, entry.to) = match entry.dated {
            Dated::Month { year: Some(year), month } => {
                let month = Month { year, month };
                (day(month.first()), day(month.first()) + month.seconds())
            }
            Dated::Year(year) => {
                (day(jiff::civil::date(year, 1, 1)), day(jiff::civil::date(year, 1, 1)) + year_seconds(year))
            }
            Dated::Day(date) => (day(date), day(date) + DAY),
            Dated::Stamp { seconds, .. } => (seconds, f64::INFINITY),
            Dated::Month { year: None, .. } | Dated::Undated => (f64::NAN, f64::INFINITY),
        };
        entry.stated = entry.from;
    }
    let stated: Option<Vec<f64>> = entries
        .iter()
        .map(|entry| match entry.dated {
            Dated::Stamp { seconds, .. } => Some(seconds),
            _ => None,
        })
        .collect();
    if let Some(stated) = stated {
        set_stamped(entries, &stated, stamp, run);
    }
    if let [only] = entries
        && only.to == f64::INFINITY
    {
        set_alone(only, inventory.files[only.file].period, run);
    }
}

/// Sets the interval of a record that is alone: that of its bounds, or of the period of its file in a series.
fn set_alone(only: &mut Entry, period: Option<FilePeriod>, run: &RunSpan) {
    let Dated::Stamp { seconds, bounds } = only.dated else { return };
    let day = |date: Date| seconds_to(date, run.start);
    let of_file = period.map(|period| match period {
        FilePeriod::Year(year) => (day(jiff::civil::date(year, 1, 1)), year_seconds(year)),
        FilePeriod::Month(year, month) => {
            let month = Month { year, month };
            (day(month.first()), month.seconds())
        }
        FilePeriod::Day(date) => (day(date), DAY),
    });
    let of_file =
        of_file.map(|(from, length)| [from, from + length]).filter(|[from, to]| (*from..=*to).contains(&seconds));
    if let Some([from, to]) = bounds.or(of_file) {
        (only.from, only.to) = (from, to);
    }
}

/// Sets the intervals of records at stated times.
fn set_stamped(entries: &mut [Entry], stated: &[f64], stamp: Stamp, run: &RunSpan) {
    if stamp == Stamp::Auto && entries.iter().all(|entry| matches!(entry.dated, Dated::Stamp { bounds: Some(_), .. })) {
        for entry in entries.iter_mut() {
            if let Dated::Stamp { bounds: Some([from, to]), .. } = entry.dated {
                (entry.from, entry.to) = (from, to);
            }
        }
        return;
    }
    let steps: Vec<f64> = stated.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let Some(&last) = steps.last() else { return };
    let within = |low: f64, high: f64| steps.iter().all(|step| (low * DAY..=high * DAY).contains(step));
    // A time at the end of an interval lies in it only just.
    let inside = |seconds: f64| day_of(if stamp == Stamp::End { seconds - 1.0 } else { seconds }, run.start);
    let calendar = |first: fn(Date) -> Date, length: fn(Date) -> f64| -> Option<Vec<(f64, f64)>> {
        let firsts: Option<Vec<Date>> = stated.iter().map(|s| inside(*s).map(first)).collect();
        let firsts = firsts.filter(|all| stamp != Stamp::Start && all.windows(2).all(|pair| pair[0] < pair[1]))?;
        let interval = |date: &Date| (seconds_to(*date, run.start), seconds_to(*date, run.start) + length(*date));
        Some(firsts.iter().map(interval).collect())
    };
    let by_calendar = if within(27.5, 32.0) {
        calendar(|date| Month::of(date).first(), |date| Month::of(date).seconds())
    } else if within(364.0, 367.0) {
        calendar(|date| jiff::civil::date(date.year(), 1, 1), |date| year_seconds(date.year()))
    } else {
        None
    };
    if let Some(intervals) = by_calendar {
        for (entry, interval) in entries.iter_mut().zip(intervals) {
            (entry.from, entry.to) = interval;
        }
        return;
    }
    let shift = |n: usize| match stamp {
        Stamp::Start => 0.0,
        Stamp::Centre => 0.5 * steps.get(n).copied().unwrap_or(last),
        Stamp::End => steps[n.saturating_sub(1)],
        Stamp::Auto if centred(stated[0], steps[0], run) => 0.5 * steps.get(n).copied().unwrap_or(last),
        Stamp::Auto => 0.0,
    };
    let from: Vec<f64> = (0..stated.len()).map(|n| stated[n] - shift(n)).collect();
    for (n, entry) in entries.iter_mut().enumerate() {
        (entry.from, entry.to) = (from[n], from.get(n + 1).copied().unwrap_or(from[n] + last));
    }
}

/// Whether a time lies half an interval past a multiple of the interval since midnight.
fn centred(seconds: f64, step: f64, run: &RunSpan) -> bool {
    let Some(day) = day_of(seconds, run.start).filter(|_| step <= DAY) else { return false };
    let past = (seconds - seconds_to(day, run.start)).rem_euclid(step) / step;
    (past - 0.5).abs() < 0.01
}
