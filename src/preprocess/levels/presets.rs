//! Subsets of the interfaces of the IFS that TM5 uses (its "echlevs"; spec 40 §1.5).

use super::LevelError;

/// A named subset of the 138 interfaces of the IFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// 34 layers, mostly of the troposphere.
    Tropo34,
    /// 66 layers.
    L66,
    /// 85 layers.
    Cfl85,
    /// 94 layers.
    Cfl94,
    /// All 137.
    Full,
}

const TROPO_34: [usize; 35] = [
    137, 134, 129, 124, 119, 114, 110, 105, 101, 97, 93, 88, 84, 81, 78, 76, 73, 70, 67, 65, 62, 59, 57, 54, 51, 46,
    42, 37, 32, 27, 22, 17, 12, 7, 0,
];
const L66_UPPER: [usize; 22] =
    [137, 135, 130, 125, 120, 115, 110, 105, 100, 96, 93, 90, 87, 84, 81, 78, 75, 72, 69, 66, 63, 60];
const CFL_UPPER: [usize; 10] = [137, 125, 113, 109, 105, 101, 97, 93, 89, 85];
const IFS_LEVELS: usize = 137;

impl Preset {
    /// All presets with their names in configuration files.
    pub const ALL: [(&'static str, Preset); 5] = [
        ("ml137_tropo34", Preset::Tropo34),
        ("ml137_66L", Preset::L66),
        ("ml137_cfl85", Preset::Cfl85),
        ("ml137_cfl94", Preset::Cfl94),
        ("ml137_full", Preset::Full),
    ];

    /// Name in configuration files.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, preset)| *preset == self).map_or("", |(name, _)| name)
    }

    /// Interfaces kept, counted upwards from 0 at the ground, from the model top down.
    fn upward_numbers(self) -> Vec<usize> {
        match self {
            Preset::Tropo34 => TROPO_34.to_vec(),
            Preset::L66 => L66_UPPER.into_iter().chain((30..=58).rev().step_by(2)).chain((0..30).rev()).collect(),
            Preset::Cfl85 => CFL_UPPER.into_iter().chain((66..=84).rev().step_by(2)).chain((0..=65).rev()).collect(),
            Preset::Cfl94 => CFL_UPPER.into_iter().chain((0..=84).rev()).collect(),
            Preset::Full => (0..=IFS_LEVELS).rev().collect(),
        }
    }

    /// Interfaces kept, counted from 0 at the model top.
    pub(super) fn interfaces(self, levels: usize) -> Result<Vec<usize>, LevelError> {
        if levels != IFS_LEVELS {
            return Err(LevelError::Preset { preset: self.name(), levels });
        }
        Ok(self.upward_numbers().into_iter().map(|up| IFS_LEVELS - up).collect())
    }
}
