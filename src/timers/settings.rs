//! What is timed, as the environment asks for it.

use std::ffi::OsString;
use std::time::Duration;

/// Whether each sweep kernel of a device is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelTimes {
    /// No.
    Off,
    /// Launch and wait are timed separately.
    Synchronised,
}

/// What is timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerSettings {
    /// Whether bytes of memory taken within sections are counted.
    pub count_allocations: bool,
    /// Single kernels.
    pub kernel_times: KernelTimes,
    /// The part of the run that counts, since the timers started; `None`: all of it.
    pub interval: Option<(Duration, Duration)>,
}

/// A variable of the environment with a value that it does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {name} is {value:?}; it takes {takes}")]
pub struct SettingsError {
    /// Variable.
    pub name: &'static str,
    /// Its value.
    pub value: OsString,
    /// What it may be.
    pub takes: &'static str,
}

/// Seconds that are left out at the start in mode `window`, unless told otherwise.
const WARM_UP: f64 = 120.0;
/// Seconds that count in mode `window`, unless told otherwise.
const DURATION: f64 = 60.0;

impl TimerSettings {
    /// `ATMOSTR_TIMERS` and the variables that go with it; `None` if no timers are wanted.
    ///
    /// # Errors
    /// A value that a variable does not take. Without timers the other variables are not looked at.
    pub fn from_environment() -> Result<Option<Self>, SettingsError> {
        Self::from_variables(|name| std::env::var_os(name))
    }

    fn from_variables(get: impl Fn(&str) -> Option<OsString>) -> Result<Option<Self>, SettingsError> {
        let is_on = |name| switch(name, get(name));
        if !is_on("ATMOSTR_TIMERS")? {
            return Ok(None);
        }
        let kernel_times = if is_on("ATMOSTR_PROFILE_GPU")? { KernelTimes::Synchronised } else { KernelTimes::Off };
        let mode = get("ATMOSTR_PROFILE_MODE").unwrap_or_default();
        let interval = match mode.to_str() {
            Some("" | "full") => None,
            Some("window") => {
                let time = |name, usual| seconds(name, get(name), usual);
                let first = time("ATMOSTR_PROFILE_WARMUP_SEC", WARM_UP)?;
                Some((first, first + time("ATMOSTR_PROFILE_DUR_SEC", DURATION)?))
            }
            _ => return Err(SettingsError { name: "ATMOSTR_PROFILE_MODE", value: mode, takes: "full or window" }),
        };
        Ok(Some(Self { count_allocations: is_on("ATMOSTR_ALLOC_TIMERS")?, kernel_times, interval }))
    }
}

fn switch(name: &'static str, value: Option<OsString>) -> Result<bool, SettingsError> {
    let value = value.unwrap_or_default();
    match value.to_str().map(str::to_ascii_lowercase).as_deref() {
        Some("1" | "true" | "on" | "yes") => Ok(true),
        Some("" | "0" | "false" | "off" | "no") => Ok(false),
        _ => Err(SettingsError { name, value, takes: "1, true, on, yes or 0, false, off, no" }),
    }
}

fn seconds(name: &'static str, value: Option<OsString>, usual: f64) -> Result<Duration, SettingsError> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(Duration::from_secs_f64(usual)) };
    let number = value.to_str().and_then(|text| text.parse().ok()).filter(|s: &f64| (0.0..=1e9).contains(s));
    number.map(Duration::from_secs_f64).ok_or(SettingsError { name, value, takes: "a number of seconds" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(set: &[(&str, &str)]) -> Result<Option<TimerSettings>, SettingsError> {
        TimerSettings::from_variables(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn nothing_is_timed_unless_asked_for() {
        assert_eq!(with(&[]), Ok(None));
        for off in ["", "0", "false", "OFF"] {
            assert_eq!(with(&[("ATMOSTR_TIMERS", off), ("ATMOSTR_PROFILE_MODE", "?")]), Ok(None));
        }
        let plain = TimerSettings { count_allocations: false, kernel_times: KernelTimes::Off, interval: None };
        for on in ["1", "true", "On", "yes"] {
            assert_eq!(with(&[("ATMOSTR_TIMERS", on)]), Ok(Some(plain.clone())));
        }
    }

    #[test]
    fn a_part_of_the_run_is_timed() {
        let window = [("ATMOSTR_TIMERS", "1"), ("ATMOSTR_PROFILE_MODE", "window")];
        let interval = |set: &[_]| with(&[&window, set].concat()).unwrap().unwrap().interval.unwrap();
        let seconds = |n| Duration::from_secs_f64(n);
        assert_eq!(interval(&[]), (seconds(120.0), seconds(180.0)));
        let set = [("ATMOSTR_PROFILE_WARMUP_SEC", "1.5"), ("ATMOSTR_PROFILE_DUR_SEC", "2")];
        assert_eq!(interval(&set), (seconds(1.5), seconds(3.5)));
    }

    #[test]
    fn values_that_mean_nothing_are_refused() {
        for (name, value) in [
            ("ATMOSTR_TIMERS", "maybe"),
            ("ATMOSTR_ALLOC_TIMERS", "2"),
            ("ATMOSTR_PROFILE_MODE", "half"),
            ("ATMOSTR_PROFILE_WARMUP_SEC", "-1"),
            ("ATMOSTR_PROFILE_DUR_SEC", "soon"),
        ] {
            let base = [("ATMOSTR_TIMERS", "1"), ("ATMOSTR_PROFILE_MODE", "window")];
            let set: Vec<_> = std::iter::once((name, value)).chain(base).collect();
            let words = with(&set).unwrap_err().to_string();
            assert!(words.contains(name) && words.contains(value), "{words}");
        }
    }
}
