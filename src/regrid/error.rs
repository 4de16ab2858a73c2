//! What can be wrong with meshes and weights.

use std::path::{Path, PathBuf};

/// Why a mesh was refused or weights could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum RegridError {
    /// Coordinates that are not those of a mesh.
    #[error("{axis}: {problem}")]
    Axis {
        /// Longitude, latitude or rings.
        axis: &'static str,
        /// What is wrong, with the index counted from 1.
        problem: String,
    },
    /// A name that is not that of a mesh.
    #[error("grid '{name}': {problem}")]
    Name {
        /// Given name.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// Too many cells.
    #[error("a mesh of {cells} cells; at most {max} can be regridded")]
    Cells {
        /// Cells asked for.
        cells: usize,
        /// Largest number.
        max: usize,
    },
    /// A file or folder of weights cannot be used.
    #[error("{}: {action}: {source}", path.display())]
    Io {
        /// File or folder.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// Message of the system.
        source: std::io::Error,
    },
    /// The netCDF library refused an operation.
    #[error("{}: {source}", path.display())]
    NetCdf {
        /// File.
        path: PathBuf,
        /// Message of the library.
        source: netcdf::Error,
    },
}

impl RegridError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Axis { .. } => "give the centres of the cells in degrees, in one direction, each once",
            Self::Name { .. } => super::names::HELP,
            Self::Cells { .. } => "use a coarser mesh, or a part of it",
            Self::Io { .. } => "name a folder that can be written, or leave out the cache of weights",
            Self::NetCdf { .. } => "name a file that can be written",
        }
    }

    pub(super) fn axis<T>(axis: &'static str, problem: String) -> Result<T, Self> {
        Err(Self::Axis { axis, problem })
    }

    pub(super) fn io(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { path: path.to_path_buf(), action, source }
    }
}
