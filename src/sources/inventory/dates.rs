//! Years in file names, and the calendar of records.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// A calendar month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Month {
    pub(super) year: i16,
    /// From 1.
    pub(super) month: i8,
}

impl Month {
    /// The month in which a date lies.
    pub(super) fn of(date: Date) -> Self {
        Self { year: date.year(), month: date.month() }
    }

    /// Its first day.
    pub(super) fn first(self) -> Date {
        jiff::civil::date(self.year, self.month, 1)
    }

    /// The month after it; `None` at the end of the calendar.
    pub(super) fn next(self) -> Option<Self> {
        Some(Self::of(self.first().checked_add(1.month()).ok()?))
    }

    /// Its real length, s.
    pub(super) fn seconds(self) -> f64 {
        f64::from(self.first().days_in_month()) * 86_400.0
    }
}

/// Length of a calendar year, s.
pub(super) fn year_seconds(year: i16) -> f64 {
    f64::from(jiff::civil::date(year, 1, 1).days_in_year()) * 86_400.0
}

/// s from `start` to the beginning of a day in UTC.
pub(super) fn seconds_to(date: Date, start: Timestamp) -> f64 {
    let midnight = TimeZone::UTC.to_timestamp(date.at(0, 0, 0, 0));
    midnight.map_or(f64::NAN, |midnight| midnight.duration_since(start).as_secs_f64())
}

/// The day in which a time, in s since `start`, lies.
pub(super) fn day_of(seconds: f64, start: Timestamp) -> Option<Date> {
    let time = start.checked_add(jiff::SignedDuration::try_from_secs_f64(seconds).ok()?).ok()?;
    Some(TimeZone::UTC.to_datetime(time).date())
}

/// The year that a file name tells: four digits 19xx or 20xx that stand alone between signs; else such four digits among
/// letters, but not after a `v`, which makes them a version. `None` without one.
///
/// # Errors
/// Several different years.
pub fn year_in_name(name: &str) -> Result<Option<i16>, String> {
    let bytes = name.as_bytes();
    let digit = |n: usize| bytes.get(n).is_some_and(u8::is_ascii_digit);
    let letter = |n: usize| bytes.get(n).is_some_and(u8::is_ascii_alphabetic);
    let (mut alone, mut among) = (Vec::new(), Vec::new());
    for n in 0..bytes.len().saturating_sub(3) {
        let whole = (n..n + 4).all(digit) && !digit(n + 4) && (n == 0 || !digit(n - 1));
        let Some(year) =
            whole.then(|| name[n..n + 4].parse::<i16>().ok()).flatten().filter(|y| (1900..2100).contains(y))
        else {
            continue;
        };
        let before = n.checked_sub(1);
        let version = before.is_some_and(|b| bytes[b].eq_ignore_ascii_case(&b'v'));
        match before.is_some_and(letter) || letter(n + 4) {
            false => alone.push(year),
            true if !version => among.push(year),
            true => {}
        }
    }
    let mut found = if alone.is_empty() { among } else { alone };
    found.sort_unstable();
    found.dedup();
    match found[..] {
        [] => Ok(None),
        [year] => Ok(Some(year)),
        _ => {
            let years: Vec<String> = found.iter().map(i16::to_string).collect();
            Err(format!("its name holds several years: {}", years.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_year_of_a_file_is_not_its_version() {
        for (name, year) in [
            ("GCP-GridFEDv2024.0_2021.short.nc", Some(2021)),
            ("GCP-GridFEDv2024.1_2024.nc", Some(2024)),
            ("v8.0_FT2022_GHG_SF6_2022_TOTALS_emi.nc", Some(2022)),
            ("v8.0_FT2022_GHG_SF6_2021_TOTALS_emi.nc", Some(2021)),
            ("gridcar.2013", Some(2013)),
            ("ct2014flux.nc", Some(2014)),
            ("fluxV2020.nc", None),
            ("z_cams_l_cams55_202112_FT24r2_ra_sfc_3h_co2_flux.nc", None),
            ("CT2022.flux1x1.20210101.nc", Some(2022)),
            ("Rn222_Emis_Zhang_Liu_et_al_05x05_mass.nc", None),
            ("flux_1850.nc", None),
            ("2021", Some(2021)),
            ("", None),
            ("flüx_2021.nc", Some(2021)),
        ] {
            assert_eq!(year_in_name(name), Ok(year), "{name}");
        }
        let several = year_in_name("flux_2020_2021.nc").unwrap_err();
        assert!(several.contains("2020, 2021"), "{several}");
        assert_eq!(year_in_name("flux_2021_2021.nc"), Ok(Some(2021)));
    }

    #[test]
    fn months_and_years_have_their_real_lengths() {
        let february = |year| Month { year, month: 2 }.seconds() / 86_400.0;
        assert_eq!([2021, 2024, 2000, 1900].map(february), [28.0, 29.0, 29.0, 28.0]);
        assert_eq!(year_seconds(2024) / 86_400.0, 366.0);
        assert_eq!(Month { year: 2021, month: 12 }.next(), Some(Month { year: 2022, month: 1 }));
    }
}
