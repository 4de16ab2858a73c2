//! Whether arguments fit a kernel, and groups a launch.

use super::{Argument, Launch};

/// Kind of an argument as a kernel declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Memory,
    Int,
    Single,
    Double,
}

impl Kind {
    /// Kind of an argument as the host gives it.
    fn of(argument: &Argument) -> Self {
        match argument {
            Argument::Memory(_) => Self::Memory,
            Argument::Int(_) => Self::Int,
            Argument::Single(_) => Self::Single,
            Argument::Double(_) => Self::Double,
        }
    }
}

/// Says what is wrong with the arguments of a launch: drivers read past them, or take a number for an address.
pub(super) fn check_arguments(declared: &[Kind], given: &[Argument]) -> Result<(), String> {
    if declared.iter().copied().eq(given.iter().map(Kind::of)) {
        return Ok(());
    }
    Err(format!("declared with {declared:?}, launched with {given:?}"))
}

/// Lanes along each axis, all groups together.
pub(super) fn lanes_of_all_groups(launch: Launch) -> Result<[usize; 3], String> {
    let mut lanes = [0; 3];
    for axis in 0..3 {
        lanes[axis] = launch.groups[axis].checked_mul(launch.lanes[axis]).unwrap_or(0);
    }
    if lanes.contains(&0) {
        return Err(format!("groups and lanes are at least 1 and countable, not {launch:?}"));
    }
    Ok(lanes)
}
