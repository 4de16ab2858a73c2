//! What can be wrong with a GRIB file.

use std::path::PathBuf;

/// Why a GRIB file was refused. Messages and points count from 1.
#[derive(Debug, thiserror::Error)]
pub enum GribError {
    /// The file cannot be opened or mapped.
    #[error("{}: {source}", file.display())]
    Open {
        /// The file.
        file: PathBuf,
        /// Reason given by the system.
        source: std::io::Error,
    },
    /// The file holds no message.
    #[error("{}: no GRIB message in {bytes} bytes", file.display())]
    Empty {
        /// The file.
        file: PathBuf,
        /// Its length.
        bytes: usize,
    },
    /// A message that does not end where it says.
    #[error("{}: message {message} at byte {offset} {problem}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Number of the message.
        message: usize,
        /// Where it starts.
        offset: usize,
        /// What is wrong.
        problem: String,
    },
    /// ecCodes cannot read a key.
    #[error("{}: message {message} ({name}): {key}: {reason}", file.display())]
    Key {
        /// The file.
        file: PathBuf,
        /// Number of the message.
        message: usize,
        /// Short name of its field.
        name: String,
        /// The key.
        key: String,
        /// Reason given by ecCodes.
        reason: String,
    },
    /// A grid that cannot be used.
    #[error("{}: message {message} ({name}): {problem}", file.display())]
    Grid {
        /// The file.
        file: PathBuf,
        /// Number of the message.
        message: usize,
        /// Short name of its field.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// A value that is missing or no number.
    #[error("{}: message {message} ({name}): value {point} of {points} is {value}", file.display())]
    Value {
        /// The file.
        file: PathBuf,
        /// Number of the message.
        message: usize,
        /// Short name of its field.
        name: String,
        /// Number of the value.
        point: usize,
        /// How many values there are.
        points: usize,
        /// "missing", or what it is.
        value: String,
    },
    /// No message with the field.
    #[error("{}: no {wanted}; the file has {offers}", file.display())]
    Absent {
        /// The file.
        file: PathBuf,
        /// What was looked for.
        wanted: String,
        /// What there is of it.
        offers: String,
    },
    /// Several messages with the field.
    #[error("{}: {wanted} is in message {first} and again in message {second}", file.display())]
    Twice {
        /// The file.
        file: PathBuf,
        /// What was looked for.
        wanted: String,
        /// One message.
        first: usize,
        /// Another.
        second: usize,
    },
}

impl GribError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Open { .. } => "give a file that can be read",
            Self::Empty { .. } => "give a GRIB file of edition 1 or 2; is this another format, or an empty download?",
            Self::Damaged { .. } => "the file was cut short or damaged on its way; fetch it again",
            Self::Key { .. } => "the message is damaged, or needs tables that this ecCodes does not have",
            Self::Grid { .. } => {
                "give triangular spectra, global Gaussian grids from north to south starting at 0 degrees east, \
                 or regular longitudes and latitudes"
            }
            Self::Value { .. } => "fields without gaps are needed; fetch the message again",
            Self::Absent { .. } => "fetch the missing fields; every level and hour is needed",
            Self::Twice { .. } => "keep one of them: was the same request appended twice?",
        }
    }
}
