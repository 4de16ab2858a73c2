//! Files of a source: one, a list, or those of a pattern.

use jiff::ToSpan;
use jiff::civil::{Date, date};

use super::emissions::Surroundings;
use super::error::Problems;
use super::read::{At, View};
use crate::sources::{FilePeriod, InventoryFile};

/// Keys that name the files of a source.
pub(super) const KEYS: [&str; 3] = ["file", "files", "file_pattern"];

/// What a pattern leaves open.
#[derive(Clone, Copy)]
enum Step {
    Year,
    Month,
    Day,
}

const PLACES: [(&str, Step); 3] = [("{YYYY}", Step::Year), ("{YYYYMM}", Step::Month), ("{YYYYMMDD}", Step::Day)];

/// The files of the source whose table `view` is; none after an error.
pub(super) fn read(
    view: &View<'_>,
    tracer: &View<'_>,
    around: &Surroundings<'_>,
    problems: &mut Problems,
) -> Vec<InventoryFile> {
    let given: Vec<_> = view.given().filter(|(key, _)| KEYS.contains(&key.name)).collect();
    let help = "give exactly one of `file`, `files` and `file_pattern`";
    match given[..] {
        [] => {
            let key = view.full("file");
            problems.add(&key, view.span().or_else(|| tracer.span()), format!("`{key}` is missing"), help);
        }
        [_] => {}
        [(first, _), .., (last, at)] => {
            let message = format!("`{}` and `{}` are both given", view.full(first.name), view.full(last.name));
            problems.add(view.full(last.name), Some(at.span()), message, help);
            return Vec::new();
        }
    }
    if let Some(pattern) = view.text("file_pattern") {
        return of_pattern(&pattern, view, around, problems);
    }
    for name in ["first_date", "last_date"] {
        if let Some(date) = view.date(name) {
            let message = format!("`{}` has no meaning without `file_pattern`", date.key);
            problems.add(date.key, Some(date.span), message, "remove it, or give `file_pattern`");
        }
    }
    let mut files: Vec<InventoryFile> = Vec::new();
    for text in view.text("file").into_iter().chain(view.texts("files").into_iter().flatten()) {
        let Some(path) = around.base.existing_file(&text, problems) else { continue };
        if files.iter().any(|file| file.path == path) {
            let message = format!("`{}` names {} twice", text.key, path.display());
            problems.add(text.key, Some(text.span), message, "list every file once");
        }
        files.push(InventoryFile { path, period: None });
    }
    files
}

/// Reports a `year` without a pattern, for files that state their times in any case.
pub(super) fn refuse_year(view: &View<'_>, problems: &mut Problems) {
    if let Some(year) = view.int("year").filter(|_| !view.has("file_pattern")) {
        let message = format!("`{}` has no meaning without `file_pattern`", year.key);
        problems.add(&year.key, Some(year.span), message, "remove it: files state their times");
    }
}

/// The files of a pattern.
fn of_pattern(
    pattern: &At<&str>,
    view: &View<'_>,
    around: &Surroundings<'_>,
    problems: &mut Problems,
) -> Vec<InventoryFile> {
    let mut refuse = |message, help| {
        problems.add(&pattern.key, Some(pattern.span.clone()), message, help);
        Vec::new()
    };
    let found: Vec<_> = PLACES.iter().filter(|(place, _)| pattern.value.contains(place)).collect();
    let (place, step) = match found[..] {
        [(place, step)] if pattern.value.matches(place).count() == 1 => (*place, *step),
        _ => {
            let message =
                format!("`{}` must contain `{{YYYY}}`, `{{YYYYMM}}` or `{{YYYYMMDD}}` exactly once", pattern.key);
            return refuse(message, "e.g. \"flux_{YYYYMM}.nc\"");
        }
    };
    // Values that were refused have been reported.
    let read = |name: &str| view.has(name).then(|| view.date(name));
    let (first, last) = match (read("first_date"), read("last_date")) {
        (Some(None), _) | (_, Some(None)) => return Vec::new(),
        (Some(Some(first)), Some(Some(last))) => {
            if let Some(year) = view.int("year") {
                let message = format!("`{}` and `{}` both tell the time of the files", year.key, first.key);
                problems.add(year.key, Some(year.span), message, "remove one of them");
                return Vec::new();
            }
            if last.value < first.value {
                let message = format!("`{}` lies before `{}`", last.key, first.key);
                problems.add(last.key, Some(last.span), message, "give the earlier day first");
                return Vec::new();
            }
            (first.value, last.value)
        }
        (Some(Some(one)), None) | (None, Some(Some(one))) => {
            let message = format!("`{}` is given alone", one.key);
            problems.add(one.key, Some(one.span), message, "give `first_date` and `last_date`");
            return Vec::new();
        }
        (None, None) => {
            if view.has("year") && view.int("year").is_none() {
                return Vec::new();
            }
            let year = view.int("year").and_then(|year| i16::try_from(year.value).ok()).or(around.year);
            let Some(year) = year else {
                let message = format!("`{}`: the year in which the run starts is not known", pattern.key);
                return refuse(message, "give `year`, or `first_date` and `last_date`");
            };
            (date(year, 1, 1), date(year, 12, 31))
        }
    };
    let mut files = Vec::new();
    for (period, digits) in periods(step, first, last) {
        let value = pattern.value.replace(place, &digits);
        let text = At { value: value.as_str(), key: pattern.key.clone(), span: pattern.span.clone() };
        match around.base.existing_file(&text, problems) {
            Some(path) => files.push(InventoryFile { path, period: Some(period) }),
            // One message for the first file that is absent.
            None => break,
        }
    }
    files
}

/// Periods that overlap the days from `first` to `last`, with their digits.
fn periods(step: Step, first: Date, last: Date) -> Vec<(FilePeriod, String)> {
    let (mut day, mut found) = (first, Vec::new());
    while day <= last {
        let (year, month) = (day.year(), day.month());
        let (period, digits, next) = match step {
            Step::Year => (FilePeriod::Year(year), format!("{year:04}"), date(year, 1, 1).checked_add(1.year())),
            Step::Month => {
                let next = date(year, month, 1).checked_add(1.month());
                (FilePeriod::Month(year, month), format!("{year:04}{month:02}"), next)
            }
            Step::Day => {
                (FilePeriod::Day(day), format!("{year:04}{month:02}{:02}", day.day()), day.checked_add(1.day()))
            }
        };
        found.push((period, digits));
        match next {
            Ok(next) => day = next,
            Err(_) => break,
        }
    }
    found
}
