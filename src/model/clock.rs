//! Model time from counters: windows and substeps are counted, seconds are derived, nothing is accumulated.

/// Position in time: `windows` whole windows of `window_seconds` and `substep` of `substeps` equal parts of the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    window_seconds: f64,
    windows: u64,
    substep: u32,
    substeps: u32,
}

impl Clock {
    /// Start of a run with windows of `window_seconds` (s, > 0).
    pub fn new(window_seconds: f64) -> Self {
        Self { window_seconds, windows: 0, substep: 0, substeps: 1 }
    }

    /// Position after `windows` whole windows of `window_seconds` s.
    pub fn at(window_seconds: f64, windows: u64) -> Self {
        Self { windows, ..Self::new(window_seconds) }
    }

    /// Begins the next window, to be divided into `substeps` ≥ 1 substeps.
    ///
    /// # Panics
    /// Panics if the current window is not complete.
    pub fn begin_window(&mut self, substeps: u32) {
        assert!(self.substep == 0 && substeps >= 1, "a window begins after the last one has ended");
        self.substeps = substeps;
    }

    /// Advances by one substep.
    pub fn advance(&mut self) {
        self.substep += 1;
        if self.substep == self.substeps {
            self.substep = 0;
            self.substeps = 1;
            self.windows += 1;
        }
    }

    /// Seconds since the start of the run. Whole windows are exact products, so window ends carry no rounding history.
    pub fn seconds(&self) -> f64 {
        self.window_seconds * (self.windows as f64 + f64::from(self.substep) / f64::from(self.substeps))
    }

    /// Hours since the start of the run.
    pub fn hours(&self) -> f64 {
        self.seconds() / 3600.0
    }

    /// Completed windows.
    pub fn windows(&self) -> u64 {
        self.windows
    }

    /// Whether the clock stands at a window end (or at the start of the run).
    pub fn at_window_end(&self) -> bool {
        self.substep == 0
    }

    /// Length of a window (s).
    pub fn window_seconds(&self) -> f64 {
        self.window_seconds
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;

    #[test]
    fn seven_substeps_per_hour_land_on_window_ends_for_a_year() {
        let mut clock = Clock::new(3600.0);
        for window in 1..=8760_u64 {
            clock.begin_window(7);
            for step in 1..=7 {
                clock.advance();
                assert_eq!(clock.at_window_end(), step == 7);
            }
            assert_eq!(clock.seconds(), 3600.0 * window as f64);
        }
        assert_eq!(clock.hours(), 8760.0);
    }

    #[test]
    fn variable_schedules_do_not_shift_window_ends() {
        let mut clock = Clock::new(10_800.0);
        for (n, steps) in [3, 1, 16, 7, 11].into_iter().enumerate() {
            clock.begin_window(steps);
            (0..steps).for_each(|_| clock.advance());
            assert_eq!(clock.seconds(), 10_800.0 * (n + 1) as f64);
        }
    }
}
