//! Messages of a file and how they are found.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use memmap2::Mmap;

use super::codes::{CodesError, Message};
use super::field::{self, Fault};
use super::scan;
use super::{GribError, GribField};
use crate::grid::HybridCoordinate;

/// What one message holds.
#[derive(Clone, Debug, PartialEq)]
pub struct GribEntry {
    /// Number of the message, from 1.
    pub message: usize,
    /// Parameter in ECMWF's numbering over all tables (`paramId`).
    pub parameter: u32,
    /// Its short name.
    pub name: String,
    /// Level; 0 for the surface.
    pub level: u32,
    /// Start of the forecast, or time of the analysis.
    pub base: Timestamp,
    /// Start and end of the time covered, hours after `base`; equal for instants.
    pub steps: [u32; 2],
    bytes: Range<usize>,
}

impl GribEntry {
    /// Time at which the field holds; the end for means and accumulations.
    pub fn valid(&self) -> Timestamp {
        self.base + SignedDuration::from_hours(self.steps[1].into())
    }
}

/// A field to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GribWanted {
    /// `paramId`.
    pub parameter: u32,
    /// Name for messages.
    pub name: &'static str,
    /// Level; `None` for fields that have one level only.
    pub level: Option<u32>,
    /// Time.
    pub time: GribTime,
}

/// The time of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GribTime {
    /// It holds at this time, or its mean or sum ends then, whatever forecast it is of.
    Valid(Timestamp),
    /// The forecast started at `base` and reached `step` hours.
    Forecast {
        /// Start.
        base: Timestamp,
        /// Hours after it.
        step: u32,
    },
}

impl std::fmt::Display for GribWanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.name)?;
        if let Some(level) = self.level {
            write!(f, " on level {level}")?;
        }
        match self.time {
            GribTime::Valid(time) => write!(f, " at {}", time.strftime("%Y-%m-%d %H UTC")),
            GribTime::Forecast { base, step } => {
                write!(f, " of the forecast from {} after {step} h", base.strftime("%Y-%m-%d %H UTC"))
            }
        }
    }
}

/// A GRIB file, mapped, with an index of its messages.
#[derive(Debug)]
pub struct GribFile {
    path: PathBuf,
    map: Mmap,
    entries: Vec<GribEntry>,
    /// Entries of each parameter and time of validity.
    by_time: HashMap<(u32, Timestamp), Vec<usize>>,
}

impl GribFile {
    /// Opens a file and reads the head of each of its messages.
    ///
    /// # Errors
    /// [`GribError`] for a file that cannot be read, holds no message, or is cut short; the error names message and byte.
    pub fn open(path: &Path) -> Result<Self, GribError> {
        let open = |source| GribError::Open { file: path.to_path_buf(), source };
        crate::files::regular_or_absent(path).map_err(open)?;
        let file = File::open(path).map_err(open)?;
        // SAFETY: nobody writes into archived files while they are read, as for transport files.
        let map = unsafe { Mmap::map(&file) }.map_err(open)?;
        // Only heads are read now: nothing ahead is needed.
        #[cfg(unix)]
        map.advise(memmap2::Advice::Random).map_err(open)?;
        let places = scan::messages(&map).map_err(|damage| GribError::Damaged {
            file: path.to_path_buf(),
            message: damage.message,
            offset: damage.offset,
            problem: damage.problem,
        })?;
        if places.is_empty() {
            return Err(GribError::Empty { file: path.to_path_buf(), bytes: map.len() });
        }
        let mut names = HashMap::new();
        let entries: Vec<GribEntry> = places
            .into_iter()
            .enumerate()
            .map(|(n, place)| entry(n + 1, &map, place, &mut names).map_err(|error| key_error(path, n + 1, "", error)))
            .collect::<Result<_, _>>()?;
        #[cfg(unix)]
        map.advise(memmap2::Advice::Normal).map_err(open)?;
        let mut by_time: HashMap<_, Vec<usize>> = HashMap::new();
        for (n, entry) in entries.iter().enumerate() {
            by_time.entry((entry.parameter, entry.valid())).or_default().push(n);
        }
        Ok(Self { path: path.to_path_buf(), map, entries, by_time })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All messages in their order.
    pub fn entries(&self) -> &[GribEntry] {
        &self.entries
    }

    /// The message with a field.
    ///
    /// # Errors
    /// [`GribError::Absent`], [`GribError::Twice`].
    pub fn find(&self, wanted: &GribWanted) -> Result<&GribEntry, GribError> {
        let valid = match wanted.time {
            GribTime::Valid(time) => time,
            GribTime::Forecast { base, step } => base + SignedDuration::from_hours(step.into()),
        };
        let fits = |entry: &&GribEntry| {
            wanted.level.is_none_or(|level| entry.level == level)
                && match wanted.time {
                    GribTime::Valid(_) => true,
                    GribTime::Forecast { base, .. } => entry.base == base,
                }
        };
        let candidates = self.by_time.get(&(wanted.parameter, valid)).into_iter().flatten().map(|n| &self.entries[*n]);
        let mut found = candidates.filter(fits);
        let Some(first) = found.next() else {
            let (file, wanted_words) = (self.path.clone(), wanted.to_string());
            return Err(GribError::Absent { file, wanted: wanted_words, offers: self.offers(wanted) });
        };
        match found.next() {
            None => Ok(first),
            Some(second) => Err(GribError::Twice {
                file: self.path.clone(),
                wanted: wanted.to_string(),
                first: first.message,
                second: second.message,
            }),
        }
    }

    /// What the file has of a parameter, in words.
    fn offers(&self, wanted: &GribWanted) -> String {
        let of: Vec<&GribEntry> = self.entries.iter().filter(|e| e.parameter == wanted.parameter).collect();
        let span = |values: Vec<String>| {
            let mut values = values;
            values.sort();
            values.dedup();
            match values.as_slice() {
                [] => String::new(),
                [one] => one.clone(),
                [first, .., last] => format!("{} of them, {first} to {last}", values.len()),
            }
        };
        if of.is_empty() {
            let names = span(self.entries.iter().map(|e| e.name.clone()).collect());
            return format!("none at any time; its parameters: {names}");
        }
        let times = span(of.iter().map(|e| e.valid().strftime("%Y-%m-%d %H UTC").to_string()).collect());
        let levels = span(of.iter().map(|e| format!("{:03}", e.level)).collect());
        format!("{} messages of it; times: {times}; levels: {levels}", of.len())
    }

    fn message<T>(
        &self,
        entry: &GribEntry,
        read: impl FnOnce(&Message<'_>) -> Result<T, Fault>,
    ) -> Result<T, GribError> {
        let (file, message, name) = (self.path.clone(), entry.message, entry.name.clone());
        let opened = Message::new(&self.map[entry.bytes.clone()]).map_err(Fault::Key);
        opened.and_then(|opened| read(&opened)).map_err(|fault| match fault {
            Fault::Key(error) => key_error(&file, message, &name, error),
            Fault::Grid(problem) => GribError::Grid { file, message, name, problem },
            Fault::Value { point, points, value } => GribError::Value { file, message, name, point, points, value },
        })
    }

    /// Decodes the field of a message.
    ///
    /// # Errors
    /// [`GribError`] for a grid that cannot be used and for values that are missing or no numbers.
    pub fn field(&self, entry: &GribEntry) -> Result<GribField, GribError> {
        self.message(entry, field::field)
    }

    /// Hybrid levels stored with a message, if there are any.
    ///
    /// # Errors
    /// [`GribError`] for coefficients that make no levels.
    pub fn hybrid(&self, entry: &GribEntry) -> Result<Option<HybridCoordinate>, GribError> {
        self.message(entry, field::hybrid)
    }
}

fn key_error(path: &Path, message: usize, name: &str, CodesError { key, reason }: CodesError) -> GribError {
    let name = if name.is_empty() { "?" } else { name };
    GribError::Key { file: path.to_path_buf(), message, name: name.into(), key, reason }
}

/// `paramId` and short name of messages with the same identity: ecCodes takes long to find them.
type Names = HashMap<Vec<u8>, (u32, String)>;

fn entry(message: usize, file: &[u8], bytes: Range<usize>, names: &mut Names) -> Result<GribEntry, CodesError> {
    let head = Message::new(&file[bytes.clone()])?;
    let refuse = |key: &str, value: i64| CodesError { key: key.into(), reason: format!("{value} cannot be") };
    let number = |key: &std::ffi::CStr| -> Result<u32, CodesError> {
        let value = head.long(key)?;
        u32::try_from(value).map_err(|_| refuse(&key.to_string_lossy(), value))
    };
    let (date, time) = (head.long(c"dataDate")?, head.long(c"dataTime")?);
    let base = (date_of(date).zip(i8::try_from(time / 100).ok().zip(i8::try_from(time % 100).ok())))
        .and_then(|(date, (hour, minute))| {
            jiff::civil::Time::new(hour, minute, 0, 0).ok().map(|time| date.to_datetime(time))
        })
        .and_then(|civil| TimeZone::UTC.to_timestamp(civil).ok())
        .ok_or_else(|| refuse("dataDate, dataTime", date * 10_000 + time))?;
    let identity = scan::identity(&file[bytes.clone()]);
    let known = identity.as_ref().and_then(|identity| names.get(identity)).cloned();
    let (parameter, name) = match known {
        Some(known) => known,
        None => (number(c"paramId")?, head.text(c"shortName")?),
    };
    if let Some(identity) = identity {
        names.entry(identity).or_insert_with(|| (parameter, name.clone()));
    }
    Ok(GribEntry {
        message,
        parameter,
        name,
        level: number(c"level")?,
        base,
        steps: [number(c"startStep")?, number(c"endStep")?],
        bytes,
    })
}

/// Of a date as yyyymmdd.
fn date_of(number: i64) -> Option<Date> {
    let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100);
    Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()
}
