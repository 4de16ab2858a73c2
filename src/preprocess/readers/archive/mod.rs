//! What archives kept in folders by date share: where a day's file is, times of its records, order of its layers, what is
//! known of its variables.

mod order;
mod physics;
mod variables;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::super::PreprocessError;
use crate::gridded::GriddedFile;

pub(super) use order::{LayerOrder, check_convection, flipped, from_convection, from_ends};
pub use physics::PhysicsGroup;
pub(super) use physics::{cloud_base, dry_detrainment, dry_updraft};
pub(super) use variables::{Variable, check_units, check_values};

/// Last hours of a day whose next day is not in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextDay {
    /// The first record of the next day is needed.
    Required,
    /// Without it the mass of the last windows stands still.
    ZeroTendency,
}

/// What the times of a file's records say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sampling {
    /// States at the start of each interval.
    Instants,
    /// Means over each interval; the time is any in it.
    Means,
}

/// The only one of the `candidates` (paths below `root`) that is there.
///
/// # Errors
/// [`PreprocessError::File`] if there are two.
pub(super) fn find(root: &Path, candidates: &[String]) -> Result<Option<PathBuf>, PreprocessError> {
    let mut there = candidates.iter().map(|name| root.join(name)).filter(|path| path.is_file());
    let Some(first) = there.next() else { return Ok(None) };
    match there.next() {
        None => Ok(Some(first)),
        Some(second) => {
            let problem = format!("the same day and collection is also in {}", second.display());
            Err(PreprocessError::file(&first, problem, "keep one of the two files"))
        }
    }
}

/// The error of a file that is nowhere.
pub(super) fn absent(day: Date, collection: &str, root: &Path, candidates: &[String]) -> PreprocessError {
    let problem = format!("no file of {collection} in {}; looked for {}", root.display(), candidates.join(", "));
    PreprocessError::Day { day, problem, help: "fetch it, name another folder, or choose other days" }
}

/// Refuses a file whose records are not those of the day: `records` at even intervals from 00:00 UTC on, each once.
///
/// # Errors
/// [`PreprocessError::File`] naming the record; what [`GriddedFile::times`] refuses.
pub(super) fn check_times(
    file: &GriddedFile,
    day: Date,
    records: usize,
    sampling: Sampling,
) -> Result<(), PreprocessError> {
    check_interval(file, start_of(day), records, 86_400.0 / records as f64, sampling)
}

/// As [`check_times`] for `records` records `interval` s apart from `start` on.
pub(super) fn check_interval(
    file: &GriddedFile,
    start: Timestamp,
    records: usize,
    interval: f64,
    sampling: Sampling,
) -> Result<(), PreprocessError> {
    const HELP: &str = "fetch the file again; its name, its times and its records must be those of one day";
    const TOLERANCE: f64 = 1.0;
    let seconds = file.times("time", start)?;
    if seconds.len() != records {
        let problem = format!("'time' has {} records, {records} are expected", seconds.len());
        return Err(PreprocessError::file(file.path(), problem, HELP));
    }
    for (n, stated) in seconds.iter().enumerate() {
        let since = stated - interval * n as f64;
        let (least, most, what) = match sampling {
            Sampling::Instants => (-TOLERANCE, TOLERANCE, "at"),
            Sampling::Means => (-TOLERANCE, interval - TOLERANCE, "from"),
        };
        if !(since >= least && since <= most) {
            let at = |s: f64| {
                let milliseconds = (s * 1e3) as i64;
                Timestamp::from_millisecond(start.as_millisecond().saturating_add(milliseconds))
                    .map_or_else(|_| format!("{s} s"), |t| t.to_string())
            };
            let problem =
                format!("'time' of record {} is {}, expected {what} {}", n + 1, at(*stated), at(interval * n as f64));
            return Err(PreprocessError::file(file.path(), problem, HELP));
        }
    }
    Ok(())
}

/// 00:00 UTC of a day.
pub(super) fn start_of(day: Date) -> Timestamp {
    TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).unwrap_or(Timestamp::MAX)
}

/// The day after a day.
///
/// # Errors
/// [`PreprocessError::Day`] for the last day of the calendar.
pub(super) fn day_after(day: Date) -> Result<Date, PreprocessError> {
    day.tomorrow().map_err(|_| PreprocessError::Day {
        day,
        problem: "it has no next day".to_owned(),
        help: "choose an earlier day",
    })
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn a_file_is_found_once() {
        let root = tempfile::tempdir().unwrap();
        let names = ["a.nc".to_owned(), "2021/12/a.nc".to_owned()];
        assert_eq!(find(root.path(), &names).unwrap(), None);
        std::fs::create_dir_all(root.path().join("2021/12")).unwrap();
        std::fs::write(root.path().join(&names[1]), "").unwrap();
        assert_eq!(find(root.path(), &names).unwrap(), Some(root.path().join("2021/12/a.nc")));
        std::fs::write(root.path().join("a.nc"), "").unwrap();
        let twice = find(root.path(), &names).unwrap_err().to_string();
        assert!(twice.contains("also in") && twice.contains("2021/12/a.nc"), "{twice}");
        let absent = absent(date(2021, 12, 1), "I3", root.path(), &names).to_string();
        assert!(absent.contains("2021-12-01") && absent.contains("a.nc, 2021/12/a.nc"), "{absent}");
    }

    fn with_times(folder: &Path, units: &str, times: &[f64]) -> GriddedFile {
        let path = folder.join("t.nc");
        let mut file = netcdf::create(&path).unwrap();
        file.add_dimension("time", times.len()).unwrap();
        let mut time = file.add_variable::<f64>("time", &["time"]).unwrap();
        time.put_attribute("units", units).unwrap();
        time.put_values(times, ..).unwrap();
        drop(file);
        GriddedFile::open(&path).unwrap()
    }

    #[test]
    fn records_are_those_of_the_day() {
        let folder = tempfile::tempdir().unwrap();
        let (day, units) = (date(2021, 12, 1), "minutes since 2021-12-01 00:00:00");
        let check = |units: &str, times: &[f64], sampling| {
            check_times(&with_times(folder.path(), units, times), day, 4, sampling).map_err(|e| e.to_string())
        };
        check(units, &[0.0, 360.0, 720.0, 1080.0], Sampling::Instants).unwrap();
        check(units, &[0.0, 360.0, 720.0, 1080.0], Sampling::Means).unwrap();
        check(units, &[180.0, 540.0, 900.0, 1260.0], Sampling::Means).unwrap();
        for (units, times, sampling, part) in [
            (units, &[180.0, 540.0, 900.0, 1260.0][..], Sampling::Instants, "record 1 is 2021-12-01T03:00:00Z"),
            (units, &[0.0, 360.0, 1080.0, 1440.0], Sampling::Means, "record 3 is 2021-12-01T18:00:00Z, expected from"),
            (units, &[0.0, 360.0, 720.0], Sampling::Instants, "has 3 records, 4 are expected"),
            (units, &[0.0, 360.0, 360.0, 720.0], Sampling::Instants, "value 3"),
            (
                "minutes since 2021-12-02",
                &[0.0, 360.0, 720.0, 1080.0],
                Sampling::Means,
                "expected from 2021-12-01T00:00",
            ),
        ] {
            let error = check(units, times, sampling).unwrap_err();
            assert!(error.contains(part) && error.contains("t.nc"), "{error}");
        }
    }
}
