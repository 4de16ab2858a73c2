//! Units of time axes.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// A time axis: seconds from the start of the run to its origin, and seconds per unit.
pub(crate) struct TimeUnit {
    origin_seconds: f64,
    unit_seconds: f64,
}

impl TimeUnit {
    /// s from the start of the run to a stated time.
    pub(crate) fn seconds(&self, stated: f64) -> f64 {
        self.origin_seconds + stated * self.unit_seconds
    }
}

/// Reads units such as "hours since 2021-12-01 00:00:00" of a `calendar`; the error text, to follow the name of the
/// variable, says what is wrong.
pub(crate) fn time_unit(units: &str, calendar: &str, run_start: Timestamp) -> Result<TimeUnit, String> {
    let known = ["standard", "gregorian", "proleptic_gregorian"];
    if !known.contains(&calendar.to_ascii_lowercase().as_str()) {
        return Err(format!("has calendar '{calendar}', expected {}", known.join(", ")));
    }
    let refuse =
        || format!("has units '{units}', expected seconds, minutes, hours or days since a date and time in UTC");
    let words: Vec<&str> = units.split_whitespace().collect();
    let [unit, since, origin @ ..] = &words[..] else { return Err(refuse()) };
    if !since.eq_ignore_ascii_case("since") {
        return Err(refuse());
    }
    let unit_seconds = match unit.to_ascii_lowercase().as_str() {
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return Err(refuse()),
    };
    let origin = origin.join(" ").to_ascii_uppercase();
    let stated = origin.trim_end_matches("UTC").trim_end_matches('Z').trim();
    let (date, time) = stated.split_once([' ', 'T']).unwrap_or((stated, ""));
    let (time, offset) = time.find(['+', '-']).map_or((time, ""), |at| time.split_at(at));
    if offset.contains(|c: char| ('1'..='9').contains(&c)) {
        return Err(format!("has units '{units}' with an offset of {offset}; times must be UTC"));
    }
    // Numbers of some files have no leading zeros.
    let padded = |text: &str, separator: char| {
        let two_digits = |part: &str| {
            let zero = if part.find('.').unwrap_or(part.len()) < 2 { "0" } else { "" };
            format!("{zero}{part}")
        };
        text.trim().split(separator).map(two_digits).collect::<Vec<_>>()
    };
    let (date, mut time) = (padded(date, '-').join("-"), padded(time, ':'));
    if let [hour] = &mut time[..] {
        *hour = format!("{hour:0>2}:00:00");
    }
    let origin: DateTime = format!("{date}T{}", time.join(":")).parse().map_err(|_| refuse())?;
    let origin = TimeZone::UTC.to_timestamp(origin).map_err(|_| refuse())?;
    Ok(TimeUnit { origin_seconds: origin.duration_since(run_start).as_secs_f64(), unit_seconds })
}
