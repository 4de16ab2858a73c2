//! Units of flux densities and of time axes.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::species::is_carbon_dioxide;

/// kg of carbon dioxide per kg of its carbon.
const CARBON_DIOXIDE_PER_CARBON: f64 = 44.0 / 12.0;

/// Factor to kg of species m⁻² s⁻¹; the error text says what is wrong.
pub(super) fn flux_factor(units: &str, molar_mass: f64) -> Result<f64, String> {
    let bare: String = units.chars().filter(|c| !c.is_whitespace() && !"^*[]()_.".contains(*c)).collect();
    let refuse = || format!("has units '{units}', expected kg m-2 s-1 or kgC m-2 s-1");
    let mass = ["m-2s-1", "/m2/s", "/m2s", "s-1m-2", "/s/m2"].iter().find_map(|area| bare.strip_suffix(area));
    match mass.and_then(|mass| mass.strip_prefix("kg")).ok_or_else(refuse)? {
        "" | "species" | "CO2" | "SF6" | "Rn" | "Rn222" => Ok(1.0),
        "C" if is_carbon_dioxide(molar_mass) => Ok(CARBON_DIOXIDE_PER_CARBON),
        "C" => Err(format!("has units '{units}', which only carbon dioxide can have")),
        _ => Err(refuse()),
    }
}

/// A time axis: seconds from the start of the run to its origin, and seconds per unit.
pub(super) struct TimeUnit {
    pub(super) origin_seconds: f64,
    pub(super) unit_seconds: f64,
}

/// Reads units such as "hours since 2021-12-01 00:00:00".
pub(super) fn time_unit(units: &str, calendar: &str, run_start: Timestamp) -> Result<TimeUnit, String> {
    let known = ["standard", "gregorian", "proleptic_gregorian"];
    if !known.contains(&calendar.to_ascii_lowercase().as_str()) {
        return Err(format!("'time' has calendar '{calendar}', expected {}", known.join(", ")));
    }
    let refuse = || format!("'time' has units '{units}', expected seconds, minutes, hours or days since a date");
    let (unit, origin) = units.trim().split_once(" since ").ok_or_else(refuse)?;
    let unit_seconds = match unit.trim().to_ascii_lowercase().as_str() {
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return Err(refuse()),
    };
    let stated = origin.trim().trim_end_matches("UTC").trim_end_matches('Z').trim();
    let stated = stated.strip_suffix("+00:00").unwrap_or(stated).trim();
    // Years, months and days of some files have no leading zeros.
    let (date, time) = stated.split_once([' ', 'T']).unwrap_or((stated, "00:00:00"));
    let padded: Vec<String> = date.split('-').map(|part| format!("{part:0>2}")).collect();
    let time = if time.contains(':') { time.to_owned() } else { format!("{time}:00:00") };
    let origin: DateTime = format!("{}T{time}", padded.join("-")).parse().map_err(|_| refuse())?;
    let origin = TimeZone::UTC.to_timestamp(origin).map_err(|_| refuse())?;
    Ok(TimeUnit { origin_seconds: origin.duration_since(run_start).as_secs_f64(), unit_seconds })
}
