//! Settings of the snapshot output.

use std::path::{Path, PathBuf};

use jiff::civil::DateTime;

use super::provenance::Provenance;
use super::selection::FieldSelection;
use crate::grid::HybridCoordinate;

/// How snapshots are spread over files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// One file for the whole run. It takes its final name once the first snapshot is safely on disk, and then grows.
    Single,
    /// One file per input file, which takes its final name when it is complete.
    Daily,
}

/// Who writes snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// All ranks together while the run waits; where that is not possible, rank 0 what it gathers.
    Collective,
    /// One rank of each group, what that gathers, together while the run waits.
    Grouped {
        /// Consecutive ranks of a group; `None`: the ranks of a machine.
        ranks: Option<usize>,
    },
    /// A thread of rank 0, what that gathers, while the run goes on.
    Background {
        /// Snapshots of which the values may wait in its memory.
        queue: usize,
    },
}

/// Whether a run can go on after it was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// No: the file grows under its name, see [`Split`].
    None,
    /// Yes: the file is written in parts that are closed at restart files, and takes its name when it is complete.
    InParts,
}

/// Lossless compression of the spatial variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    /// Deflate level, 0 (none) to 9.
    pub level: u8,
    /// Whether bytes are shuffled before deflation; without effect at level 0.
    pub shuffle: bool,
}

impl Default for Compression {
    fn default() -> Self {
        Self { level: 0, shuffle: true }
    }
}

/// Table `[output]`, parsed.
#[derive(Clone, Debug)]
pub struct OutputSpec {
    /// Path, for daily files with the tokens `{date}`, `{YYYYMMDD}` or `{day}`.
    pub path: PathBuf,
    /// How snapshots are spread over files.
    pub split: Split,
    /// Who writes.
    pub writer: Writing,
    /// Whether the run can go on later.
    pub continuation: Continuation,
    /// Compression of the spatial variables.
    pub compression: Compression,
    /// Fields that are written.
    pub fields: FieldSelection,
    /// UTC time of hour 0. Without it the time axis counts plain hours.
    pub time_origin: Option<DateTime>,
    /// Hybrid coordinate of the layers, written as `hyai` and `hybi` if it is given.
    pub vertical: Option<HybridCoordinate>,
    /// Attribute `title`.
    pub title: String,
    /// What the run does, as further attributes: name and value.
    pub run: Vec<(&'static str, String)>,
    /// Further numbers of each snapshot.
    pub series: Vec<Series>,
    /// Where the file comes from.
    pub provenance: Provenance,
}

/// A number of each snapshot, written along time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Name of the variable.
    pub name: String,
    /// Attribute `long_name`.
    pub long_name: String,
    /// Attribute `units`.
    pub units: &'static str,
}

impl OutputSpec {
    /// Single uncompressed file of all fields at `path`, without time origin and vertical coordinate.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            split: Split::Single,
            writer: Writing::Collective,
            continuation: Continuation::None,
            compression: Compression::default(),
            fields: FieldSelection::default(),
            time_origin: None,
            vertical: None,
            title: "atmostr snapshots on the cubed sphere".into(),
            run: Vec::new(),
            series: Vec::new(),
            provenance: Provenance::detect(),
        }
    }

    /// Path of the file labelled `label` (the date of an input file, or its three-digit number).
    ///
    /// Daily: the label replaces the tokens, or is added before the extension. Single: the path itself.
    pub fn path_for(&self, label: &str) -> PathBuf {
        if self.split == Split::Single {
            return self.path.clone();
        }
        let text = self.path.to_string_lossy();
        let mut filled = text.to_string();
        for token in ["{date}", "{YYYYMMDD}", "{day}"] {
            filled = filled.replace(token, label);
        }
        if filled != text {
            return filled.into();
        }
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let name = match self.path.extension() {
            Some(extension) => format!("{stem}_{label}.{}", extension.to_string_lossy()),
            None => format!("{stem}_{label}"),
        };
        self.path.with_file_name(name)
    }
}

/// Name of a file that is still incomplete: `<name>.partial` in the same directory.
pub(super) fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".partial");
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_fill_tokens_or_precede_the_extension() {
        let mut spec = OutputSpec::new("out/run_{date}.nc");
        assert_eq!(spec.path_for("20211201"), Path::new("out/run_{date}.nc"));
        spec.split = Split::Daily;
        assert_eq!(spec.path_for("20211201"), Path::new("out/run_20211201.nc"));
        for (pattern, expected) in [
            ("{YYYYMMDD}/a.nc", "003/a.nc"),
            ("a_{day}.nc4", "a_003.nc4"),
            ("d/a.nc", "d/a_003.nc"),
            ("d.x/a", "d.x/a_003"),
        ] {
            spec.path = pattern.into();
            assert_eq!(spec.path_for("003"), Path::new(expected));
        }
    }
}
