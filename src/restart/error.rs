//! What can be wrong with restart files.

use std::path::PathBuf;

use thiserror::Error;

use crate::comm::RankError;
use crate::output::OutputError;

/// Why a restart file could not be written or used.
#[derive(Debug, Error)]
pub enum RestartError {
    /// The folder or a file in it cannot be used.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// File or folder.
        path: PathBuf,
        /// What was attempted.
        action: &'static str,
        /// Reason given by the system.
        source: std::io::Error,
    },
    /// The NetCDF library refuses something.
    #[error("{}: cannot {action}: {source}; check the disk, and go on from the restart file before", path.display())]
    NetCdf {
        /// The file.
        path: PathBuf,
        /// What was attempted.
        action: String,
        /// Reason given by the library.
        source: netcdf::Error,
    },
    /// A file that is no restart file, or a damaged one.
    #[error("{}: {problem}; choose another restart file (--restart latest takes the last one that is whole)", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// No file to start from.
    #[error("{}: there is no restart file of this run; start without --restart, or give --restart auto", folder.display())]
    None {
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// A run from the beginning would lose the files of an earlier one.
    #[error(
        "{}: there are restart files of this run; go on with --restart latest, or begin again with --restart none, which \
         replaces them and the output",
        path.display()
    )]
    Present {
        /// The latest one.
        path: PathBuf,
    },
    /// The file belongs to another run.
    #[error("{}: this file does not fit the configuration:{}", path.display(), differences.iter().map(|d| format!("\n  {d}")).collect::<String>())]
    Differs {
        /// The file.
        path: PathBuf,
        /// What differs, each with its remedy.
        differences: Vec<String>,
    },
    /// Writing through the channel of the output.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A rank failed, told to all.
    #[error(transparent)]
    Rank(#[from] RankError),
}

impl RestartError {
    /// Adds the path and what was attempted to an error of the system.
    pub(super) fn io(path: impl Into<PathBuf>, action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, action, source }
    }
}
