//! Why an analytic flow cannot be produced.

use std::path::PathBuf;

use thiserror::Error;

use crate::grid::GridError;
use crate::met::MetError;

/// Why an analytic flow cannot be produced.
#[derive(Debug, Error)]
pub enum SynthError {
    /// The grid or the layers are not possible.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// No flow has this name.
    #[error("no flow \"{name}\"; known are {}", super::SynthFlow::NAMES.join(", "))]
    UnknownFlow {
        /// Given name.
        name: String,
    },
    /// The number of layers is zero or excessive.
    #[error("{levels} levels are outside 1..=1000")]
    Levels {
        /// Given number.
        levels: usize,
    },
    /// The file would have no window.
    #[error("a file needs at least one window")]
    NoWindows,
    /// The window length is not a positive finite number.
    #[error("window length {seconds} s is not a positive finite number")]
    WindowLength {
        /// Given value in s.
        seconds: f64,
    },
    /// Physics sections were asked for where there are none.
    #[error("flow \"{flow}\" has no physics sections; take \"weather\"")]
    NoPhysics {
        /// Name of the flow.
        flow: &'static str,
    },
    /// The angle of rotation is not finite.
    #[error("angle {angle_deg} deg is not finite")]
    Angle {
        /// Given value in degrees.
        angle_deg: f64,
    },
    /// The file cannot be begun: its folder is missing or not writable, or the path leads to something else.
    #[error(transparent)]
    Target(Box<MetError>),
    /// The file is larger than what is free on its disk.
    #[error("{path}: the file does not fit on its disk: {sizes}")]
    NoRoom {
        /// The file.
        path: PathBuf,
        /// Bytes needed and free, in words.
        sizes: String,
    },
    /// The file could not be written.
    #[error(transparent)]
    File(#[from] Box<MetError>),
    /// Air leaves a cell faster than substeps can handle.
    #[error(
        "window {window}: a cell gives away {outflow} times its air, too much for 4096 substeps; take shorter windows"
    )]
    TooManySteps {
        /// Window counted from 1.
        window: usize,
        /// Outflow over mass, the largest of all cells.
        outflow: f64,
    },
}

impl From<MetError> for SynthError {
    fn from(error: MetError) -> Self {
        SynthError::File(Box::new(error))
    }
}
