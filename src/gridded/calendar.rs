//! Units of time axes.

use jiff::civil::{DateTime, date};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

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
    let calendar = calendar.trim().to_ascii_lowercase();
    if !known.contains(&calendar.as_str()) {
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
    let origin = if calendar == "proleptic_gregorian" { Some(origin) } else { gregorian(origin) };
    let origin = origin.ok_or_else(|| {
        format!(
            "has units '{units}', a day that the calendar '{calendar}' does not have; count from a later one, or mend \
             the attribute `calendar` (proleptic_gregorian)"
        )
    })?;
    let origin = TimeZone::UTC.to_timestamp(origin).map_err(|_| refuse())?;
    Ok(TimeUnit { origin_seconds: origin.duration_since(run_start).as_secs_f64(), unit_seconds })
}

/// The day of the Gregorian calendar, extended backwards, that the mixed calendar of CF conventions 1.8, section 4.4.1,
/// calls `stated`: before 1582-10-15 it is the Julian one, without a year 0. `None` for days that it does not have.
fn gregorian(stated: DateTime) -> Option<DateTime> {
    if stated.date() >= date(1582, 10, 15) {
        return Some(stated);
    }
    if stated.date() > date(1582, 10, 4) || stated.year() < 1 {
        return None;
    }
    // One day more for each century but those divisible by four; years begin in March.
    let century = i64::from(stated.year() - i16::from(stated.month() < 3)).div_euclid(100);
    stated.checked_add((century - century.div_euclid(4) - 2).days()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(units: &str, calendar: &str, stated: f64) -> Result<f64, String> {
        time_unit(units, calendar, Timestamp::UNIX_EPOCH).map(|unit| unit.seconds(stated))
    }

    #[test]
    fn early_days_of_the_mixed_calendar_are_julian() {
        for calendar in ["standard", "gregorian", "Standard"] {
            // 1948-01-01 as the NCEP/NCAR reanalysis counts it.
            let ncep = seconds("hours since 0001-01-01 00:00:00", calendar, 17_067_072.0).unwrap();
            assert_eq!(ncep, -8036.0 * 86_400.0);
            // Julian day numbers (Meeus, Astronomical Algorithms, chapter 7); that of 1970-01-01 12:00 is 2440588.
            for (day, number) in [
                ("1582-10-15", 2_299_161.0),
                ("1582-10-04", 2_299_160.0),
                ("1500-03-01", 2_268_993.0),
                ("1500-02-28", 2_268_991.0),
                ("0837-04-10", 2_026_872.0),
                ("0333-01-27", 1_842_713.0),
            ] {
                let found = seconds(&format!("days since {day} 12:00:00"), calendar, 0.0).unwrap();
                assert_eq!(found / 86_400.0, number - 2_440_587.5, "{day}");
            }
            for day in ["1582-10-05", "1582-10-14", "0000-01-01"] {
                let problem = seconds(&format!("days since {day}"), calendar, 0.0).err().unwrap();
                assert!(problem.contains("does not have") && problem.contains("proleptic_gregorian"), "{problem}");
            }
        }
    }

    #[test]
    fn the_gregorian_calendar_may_run_backwards() {
        // Two days apart at the beginning of our era, none from 1582-10-15 on.
        let both = |day: &str| {
            let of = |calendar| seconds(&format!("days since {day}"), calendar, 0.0).unwrap() / 86_400.0;
            of("standard") - of("proleptic_gregorian")
        };
        assert_eq!(
            ["0001-01-01", "0150-01-01", "1582-10-04", "1582-10-15", "1800-01-01"].map(both),
            [-2.0, -1.0, 10.0, 0.0, 0.0]
        );
        assert_eq!(seconds("days since 0000-01-01", "proleptic_gregorian", 719_528.0), Ok(0.0));
    }
}
