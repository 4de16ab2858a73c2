//! What can be wrong with archived meteorology.

use std::path::{Path, PathBuf};

use jiff::civil::Date;
use thiserror::Error;

use super::BalanceError;
use super::CoarseningError;
use super::levels::LevelError;
use crate::grid::GridError;
use crate::gridded::GriddedError;
use crate::met::MetError;
use crate::regrid::RegridError;

/// Why a day could not be prepared.
#[derive(Debug, Error)]
pub enum PreprocessError {
    /// A file of the archive cannot be used.
    #[error("{}: {problem}; {help}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong, naming variable and index.
        problem: String,
        /// What to do about it.
        help: &'static str,
    },
    /// The archive does not hold what a day needs.
    #[error("{day}: {problem}; {help}")]
    Day {
        /// Day asked for.
        day: Date,
        /// What is missing.
        problem: String,
        /// What to do about it.
        help: &'static str,
    },
    /// A field on the model's grid that no atmosphere has.
    #[error("{day}, {when}: {field} is {value} at layer {level} of cell {cell}; {help}")]
    Field {
        /// Day in work.
        day: Date,
        /// Window or instant.
        when: String,
        /// Name of the field.
        field: &'static str,
        /// The value.
        value: f64,
        /// Layer, counted from 1 at the model top.
        level: usize,
        /// Cell in words.
        cell: String,
        /// What to do about it.
        help: &'static str,
    },
    /// A window whose fluxes need more substeps than allowed.
    #[error(
        "{day}, window {number}: {needed} substeps are needed to move at most {target} of a cell's air at a time, \
         `max_steps_per_window` is {most}; allow more, or use shorter windows or fewer levels near the ground"
    )]
    Steps {
        /// Day in work.
        day: Date,
        /// Window, from 1.
        number: usize,
        /// Substeps needed; infinite for a cell without air.
        needed: f64,
        /// Largest outflow asked for.
        target: f64,
        /// Largest number allowed.
        most: u32,
    },
    /// Fluxes or masses that are no numbers.
    #[error("{day}, window {number}: {source}; {}", source.help())]
    Balance {
        /// Day in work.
        day: Date,
        /// Window, from 1.
        number: usize,
        /// What is wrong.
        source: BalanceError,
    },
    /// The recorded mean surface pressure cannot be used.
    #[error("{}: {problem}; remove the file to measure it again", path.display())]
    Campaign {
        /// The file of the campaign.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Another process has recorded another global mass while a day was in work.
    #[error("{}: another process has meanwhile recorded {recorded_pa} Pa; start again, the recorded mass is used then", path.display())]
    Superseded {
        /// The file of the campaign.
        path: PathBuf,
        /// Mean surface pressure of dry air that is recorded.
        recorded_pa: f64,
    },
    /// Another process has written the day meanwhile.
    #[error("{}: another process has written this file meanwhile; start again to see whether it is the one wanted", path.display())]
    Overtaken {
        /// The transport file.
        path: PathBuf,
    },
    /// The transport file cannot be written, or a window fails its checks.
    #[error(transparent)]
    Transport(#[from] MetError),
    /// A gridded file cannot be used.
    #[error("{0}; {help}", help = .0.help())]
    Gridded(#[from] GriddedError),
    /// A GRIB file cannot be used.
    #[cfg(feature = "grib")]
    #[error("{0}; {help}", help = .0.help())]
    Grib(#[from] super::grib::GribError),
    /// Weights cannot be made.
    #[error("{0}; {help}", help = .0.help())]
    Regrid(#[from] RegridError),
    /// Layers do not fit.
    #[error(transparent)]
    Levels(#[from] LevelError),
    /// The cube of an archive and that of the files do not go together.
    #[error("{0}; {help}", help = .0.help())]
    Coarsening(#[from] CoarseningError),
    /// The grid is impossible.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// A file or folder cannot be read or written.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// Reason given by the system.
        source: std::io::Error,
    },
}

impl PreprocessError {
    /// A file that cannot be used.
    pub(crate) fn file(path: &Path, problem: impl Into<String>, help: &'static str) -> Self {
        Self::File { path: path.to_path_buf(), problem: problem.into(), help }
    }

    /// An operation that the system refused.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { path, action, source }
    }

    /// Whether the input is at fault rather than the machine.
    pub fn is_input(&self) -> bool {
        !matches!(self, Self::Io { .. } | Self::Transport(MetError::Io { .. }))
    }
}
