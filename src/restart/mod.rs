//! Restart files: the complete state of a run between two windows, from which it goes on with the same bits on any
//! number of ranks, tiles, threads and devices.
//!
//! A file is NetCDF-4 in the layout of snapshots, `[time, lev, nf, Ydim, Xdim]`, and tells the layout of the run that
//! wrote it nowhere. Every variable carries a checksum, and so does the whole file; what is not a field is the JSON text of
//! one attribute. A file takes its name when it is complete and on disk.

mod checksum;
mod error;
mod folder;
mod read;
mod whole;
mod write;

pub use checksum::Checksum;
pub use error::RestartError;
pub use folder::RestartFolder;
pub use read::RestartFile;
pub(crate) use write::block_levels;
pub use write::{RestartField, write};

use crate::state::Slabs;

/// Attribute with the version of the layout.
const VERSION: &str = "restart_version";
/// This version.
const LAYOUT: i32 = 1;
/// Attribute with the state that is no field, as JSON; what exceeds [`STATE_BYTES`] goes on in `run_state_1`, `run_state_2` ….
const STATE: &str = "run_state";
/// Longest text of an attribute: the format of HDF5 ends at 64 KiB.
const STATE_BYTES: usize = 30_000;
/// Attribute of a variable with its checksum.
const CHECKSUM: &str = "checksum";

/// Levels of a field in a restart file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldLevels {
    /// A value for every layer.
    All,
    /// A value for every column.
    One,
}

impl FieldLevels {
    fn count<R: kernels::Scalar>(self, slabs: &Slabs<R>) -> usize {
        match self {
            FieldLevels::All => slabs.levels(),
            FieldLevels::One => 1,
        }
    }

    fn dims(self) -> Vec<&'static str> {
        match self {
            FieldLevels::All => vec!["time", "lev", "nf", "Ydim", "Xdim"],
            FieldLevels::One => vec!["time", "nf", "Ydim", "Xdim"],
        }
    }
}

/// Name of the `n`-th attribute with the state.
fn state_attribute(n: usize) -> String {
    if n == 0 { STATE.into() } else { format!("{STATE}_{n}") }
}

#[cfg(test)]
mod tests;
