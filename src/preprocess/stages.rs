//! Where the time of a day goes.

use std::time::Instant;

/// Stage of the work on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reading and decoding files.
    Read,
    /// Interpolation in the vertical on the archive's grid.
    Interpolate,
    /// Regridding to the cube.
    Regrid,
    /// Winds to face fluxes.
    Fluxes,
    /// Merging layers, setting the global mass.
    Levels,
    /// Balance of fluxes and mass changes.
    Balance,
    /// Vertical fluxes, substeps, rounding.
    Close,
    /// Derived physics.
    Physics,
    /// Checks and writing.
    Write,
}

impl Stage {
    /// All stages with their names in reports.
    pub const ALL: [(Stage, &'static str); 9] = [
        (Stage::Read, "read"),
        (Stage::Interpolate, "interpolate"),
        (Stage::Regrid, "regrid"),
        (Stage::Fluxes, "fluxes"),
        (Stage::Levels, "levels"),
        (Stage::Balance, "balance"),
        (Stage::Close, "close"),
        (Stage::Physics, "physics"),
        (Stage::Write, "check and write"),
    ];
}

/// Seconds spent in each stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stages {
    seconds: [f64; Stage::ALL.len()],
}

impl Stages {
    /// Runs `work` and counts its time.
    pub fn time<T>(&mut self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.seconds[stage as usize] += start.elapsed().as_secs_f64();
        result
    }

    /// Seconds spent in a stage.
    pub fn seconds(&self, stage: Stage) -> f64 {
        self.seconds[stage as usize]
    }

    /// Seconds of all stages.
    pub fn total(&self) -> f64 {
        self.seconds.iter().sum()
    }

    /// The stages that took time: "read 1.2 s, regrid 3.4 s".
    pub fn words(&self) -> String {
        let used = Stage::ALL.into_iter().filter(|(stage, _)| self.seconds(*stage) > 0.0);
        used.map(|(stage, name)| format!("{name} {:.2} s", self.seconds(stage))).collect::<Vec<_>>().join(", ")
    }
}
