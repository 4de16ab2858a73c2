//! Errors of output files.

use std::path::PathBuf;

use crate::comm::RankError;
use crate::regrid::RegridError;

/// Why an output file could not be written, compared or drawn.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The netCDF library refused an operation.
    #[error("{path}: {action}: {source}")]
    NetCdf {
        /// File concerned.
        path: PathBuf,
        /// What was being done.
        action: String,
        /// Message of the library.
        source: netcdf::Error,
    },
    /// The operating system refused an operation.
    #[error("{path}: {source}")]
    Io {
        /// File concerned.
        path: PathBuf,
        /// Message of the system.
        source: std::io::Error,
    },
    /// The selection of fields does not fit the run; all problems found.
    #[error("{}", .0.join("\n"))]
    Selection(Vec<String>),
    /// A frame that does not continue the file.
    #[error("snapshot at {hours} h: {problem}")]
    Frame {
        /// Time of the frame, hours since the start of the run.
        hours: f64,
        /// What is wrong.
        problem: String,
    },
    /// The tiles of the ranks do not cover the grid exactly.
    #[error("the tiles of all ranks cover {covered} cells, but the grid has {cells}")]
    Coverage {
        /// Cells covered.
        covered: usize,
        /// Cells of the grid.
        cells: usize,
    },
    /// An earlier failure left the file in an unknown state.
    #[error("{0}: not written any further after an earlier failure")]
    Poisoned(PathBuf),
    /// A rank failed, told to all.
    #[error(transparent)]
    Rank(#[from] RankError),
    /// The file has no such variable, time or level, or is no cubed-sphere file.
    #[error("{path}: {problem}")]
    Content {
        /// File concerned.
        path: PathBuf,
        /// What is missing or out of range.
        problem: String,
    },
    /// Weights of a regridding could not be kept.
    #[error("{0}; {help}", help = .0.help())]
    Weights(RegridError),
    /// A picture could not be encoded.
    #[error("{path}: {source}")]
    Picture {
        /// File concerned.
        path: PathBuf,
        /// Message of the encoder.
        source: png::EncodingError,
    },
}

/// Adds file and action to a library error.
pub(super) trait Context<T> {
    /// `path` and `action` are only built on failure.
    fn context(self, path: &std::path::Path, action: impl Fn() -> String) -> Result<T, OutputError>;
}

impl<T> Context<T> for Result<T, netcdf::Error> {
    fn context(self, path: &std::path::Path, action: impl Fn() -> String) -> Result<T, OutputError> {
        self.map_err(|source| OutputError::NetCdf { path: path.to_path_buf(), action: action(), source })
    }
}

/// Refuses devices, pipes and folders, which the library would wait for or damage.
pub(super) fn refuse_odd(path: &std::path::Path) -> Result<(), OutputError> {
    crate::files::regular_or_absent(path)
        .map_err(|error| OutputError::Content { path: path.to_path_buf(), problem: error.to_string() })
}

/// Opens a NetCDF file for reading.
pub(super) fn open(path: &std::path::Path) -> Result<netcdf::File, OutputError> {
    crate::files::open_netcdf(path).map_err(|error| OutputError::Content {
        path: path.to_path_buf(),
        problem: format!("{error}; {}", error.help()),
    })
}

/// Refuses a path at which no file can be made or replaced.
pub(super) fn check_target(path: &std::path::Path) -> Result<(), OutputError> {
    crate::files::writable_file(path)
        .map_err(|error| OutputError::Content { path: path.to_path_buf(), problem: error.to_string() })
}
