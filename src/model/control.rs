//! From where a run starts, and what may stop it early.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::stall::Stall;

/// From where a run starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StartFrom {
    /// From the beginning; refused where restart files of the run lie, which would be lost.
    #[default]
    Beginning,
    /// From the beginning, whatever lies there.
    Anew,
    /// From the latest restart file that is whole.
    Latest,
    /// From there, or from the beginning where there is none.
    LatestIfAny,
    /// From this restart file.
    File(PathBuf),
}

/// A difference between restart file and configuration that the user accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// Scheme and options of advection.
    Advection,
    /// Diffusion, convection, and when they act.
    Physics,
    /// Decay.
    Chemistry,
    /// Sources of the tracers.
    Sources,
    /// Transport files up to the restart file.
    Meteorology,
}

impl Accepted {
    /// All of them, by name.
    pub const ALL: [(&'static str, Self); 5] = [
        ("advection", Self::Advection),
        ("physics", Self::Physics),
        ("chemistry", Self::Chemistry),
        ("sources", Self::Sources),
        ("meteorology", Self::Meteorology),
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, one)| *one == self).map_or("", |(name, _)| name)
    }
}

/// From where a run starts, and what may stop it early.
#[derive(Clone, Debug)]
pub struct RunControl {
    /// From where it starts.
    pub from: StartFrom,
    /// Differences that are accepted.
    pub accepted: Vec<Accepted>,
    /// Wall time within which the run has to end.
    pub wall_limit: Option<Duration>,
    /// When a run that stands still ends.
    pub stall: Option<Stall>,
    /// Start of the wall time.
    pub started: Instant,
    /// Tells who asked the run to stop, if somebody did.
    pub stop_request: fn() -> Option<&'static str>,
}

impl Default for RunControl {
    /// From the beginning to the end.
    fn default() -> Self {
        Self {
            from: StartFrom::default(),
            accepted: Vec::new(),
            wall_limit: None,
            stall: None,
            started: Instant::now(),
            stop_request: || None,
        }
    }
}

/// Estimates whether a run must stop now in order to end within its wall time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    last: Instant,
    longest: Duration,
    saving: Duration,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { last: Instant::now(), longest: Duration::ZERO, saving: Duration::ZERO }
    }

    /// A window, with reading and writing, has ended.
    pub(super) fn window(&mut self) {
        self.longest = self.longest.max(self.last.elapsed());
        self.last = Instant::now();
    }

    /// A restart file took so long.
    pub(super) fn saved(&mut self, took: Duration) {
        self.saving = self.saving.max(took);
        self.last = Instant::now();
    }

    /// Whether another window as long as the longest so far, and a restart file after it, would end too late. As long as no
    /// restart file was written it is expected to take as long as a window.
    pub(super) fn must_stop(&self, control: &RunControl) -> bool {
        let saving = if self.saving.is_zero() { self.longest } else { self.saving };
        // A machine is never quite even: half as long again.
        let needed = (self.longest + saving).mul_f64(1.5);
        control.wall_limit.is_some_and(|limit| control.started.elapsed() + needed >= limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_stops_before_its_limit() {
        let control = |limit| RunControl { wall_limit: Some(Duration::from_secs(limit)), ..RunControl::default() };
        let mut pace = Pace::new();
        assert!(!pace.must_stop(&control(3600)) && pace.must_stop(&control(0)));
        pace.longest = Duration::from_secs(100);
        assert!(!pace.must_stop(&control(301)) && pace.must_stop(&control(299)));
        pace.saved(Duration::from_secs(10));
        assert!(!pace.must_stop(&control(170)) && pace.must_stop(&control(160)));
        assert!(!pace.must_stop(&RunControl::default()));
    }
}
