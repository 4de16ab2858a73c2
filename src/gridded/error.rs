//! What can be wrong with a gridded file.

use std::path::{Path, PathBuf};

use super::stored::{ATTRIBUTES, Unusable};
use crate::files::OpenError;

/// Why a file, or a variable of it, was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GriddedError {
    /// The file cannot be opened.
    #[error("{}: {problem}", file.display())]
    Open {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        problem: OpenError,
    },
    /// Values cannot be read.
    #[error("{}: {problem}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// There is no variable of this name.
    #[error("{}: has no variable '{variable}'; it holds {held}", file.display())]
    NoVariable {
        /// The file.
        file: PathBuf,
        /// The name.
        variable: String,
        /// Names of the variables that there are.
        held: String,
    },
    /// Dimensions that are not those of a field on a longitude-latitude grid.
    #[error("{}: '{variable}' {problem}", file.display())]
    Dimensions {
        /// The file.
        file: PathBuf,
        /// The variable.
        variable: String,
        /// What is wrong.
        problem: String,
    },
    /// Coordinates that are no axis of a grid.
    #[error("{}: '{axis}' {problem}", file.display())]
    Axis {
        /// The file.
        file: PathBuf,
        /// The coordinate variable.
        axis: String,
        /// What is wrong.
        problem: String,
    },
    /// Times that cannot be understood.
    #[error("{}: '{variable}' {problem}", file.display())]
    Times {
        /// The file.
        file: PathBuf,
        /// The coordinate variable.
        variable: String,
        /// What is wrong.
        problem: String,
    },
    /// A record or level beyond the last.
    #[error("{}: '{variable}' has no {axis} {index}; it has {count}", file.display())]
    Index {
        /// The file.
        file: PathBuf,
        /// The variable.
        variable: String,
        /// Time or level.
        axis: &'static str,
        /// Position asked for, from 1.
        index: usize,
        /// Positions that there are.
        count: usize,
    },
    /// Attributes that contradict themselves.
    #[error("{}: {problem}", file.display())]
    Attribute {
        /// The file.
        file: PathBuf,
        /// What is wrong, naming attribute and variable.
        problem: String,
    },
    /// A value that is missing or infinite.
    #[error("{}: {problem}", file.display())]
    Value {
        /// The file.
        file: PathBuf,
        /// What is wrong, naming variable, indices from 1 as in the file, and the stored number.
        problem: String,
        /// What to do about it.
        help: &'static str,
    },
}

impl GriddedError {
    /// A number of `variable` that is no value, at a place of the file.
    pub(super) fn value(file: &Path, variable: &str, place: &str, found: Unusable) -> Self {
        Self::Value { file: file.into(), problem: found.problem(variable, place), help: found.help() }
    }

    /// The file.
    pub fn file(&self) -> &Path {
        match self {
            Self::Open { file, .. }
            | Self::File { file, .. }
            | Self::NoVariable { file, .. }
            | Self::Dimensions { file, .. }
            | Self::Axis { file, .. }
            | Self::Times { file, .. }
            | Self::Index { file, .. }
            | Self::Attribute { file, .. }
            | Self::Value { file, .. } => file,
        }
    }

    /// The error without the name of its file.
    pub fn problem(&self) -> String {
        let whole = self.to_string();
        whole.strip_prefix(&format!("{}: ", self.file().display())).map_or(whole.clone(), str::to_owned)
    }

    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Open { problem, .. } => problem.help(),
            Self::File { .. } => "the file is damaged or of a type that is not known; get it again",
            Self::NoVariable { .. } => "name a variable of the file, one in a group as `group/name`",
            Self::Dimensions { .. } => {
                "fields have a latitude and a longitude of their own dimension and, if need be, a time and a level"
            }
            Self::Axis { .. } => "give the centres of the cells in degrees, each once and in order",
            Self::Times { .. } => "times increase and have units such as hours since 2021-12-01 00:00:00, UTC",
            Self::Index { .. } => "choose a time and levels that the file has",
            Self::Attribute { .. } => ATTRIBUTES,
            Self::Value { help, .. } => help,
        }
    }
}
