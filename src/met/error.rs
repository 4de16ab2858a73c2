//! What can be wrong with a transport file.

use std::path::{Path, PathBuf};

use super::section::Section;

/// A cell (or face) of a section; displayed counting from 1 as `(panel, i, j, k)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct CellIndex {
    /// Panel, from 0.
    pub panel: usize,
    /// Position along i, from 0.
    pub i: usize,
    /// Position along j, from 0.
    pub j: usize,
    /// Level, from 0 at the model top.
    pub k: usize,
}

impl std::fmt::Display for CellIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "(panel, i, j, k) = ({}, {}, {}, {})", self.panel + 1, self.i + 1, self.j + 1, self.k + 1)
    }
}

/// One broken rule of the header contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The key at fault.
    pub key: String,
    /// What is wrong and what the key must hold.
    pub message: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`: {}", self.key, self.message)
    }
}

fn list(violations: &[Violation]) -> String {
    violations.iter().map(|v| format!("\n  {v}")).collect()
}

/// How often a read was tried that ended with this.
fn tries(error: &std::io::Error) -> String {
    match super::patience::may_pass(error) {
        true => format!(", {} times", super::patience::TRIES),
        false => String::new(),
    }
}

fn advice(recommended: Option<u64>, steps: u32) -> String {
    match recommended {
        Some(n) => format!("use at least {n} substeps for this window instead of {steps}"),
        None => "its air mass is not positive or a value is not finite; correct the fields".to_string(),
    }
}

/// A header that cannot be read or breaks the format contract.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// Nothing before the first zero byte.
    #[error("the header is empty; a transport file starts with a JSON object: check that this is one")]
    Empty,
    /// No zero byte within the first bytes of the file.
    #[error(
        "no zero byte ends the JSON header within {searched} bytes; the file is cut short or is not a transport file"
    )]
    Unterminated {
        /// Bytes searched.
        searched: usize,
    },
    /// The JSON text is too long.
    #[error(
        "the JSON header has no end within {limit} bytes; shorten it: headers must be smaller, or check that this is \
         a transport file"
    )]
    TooLong {
        /// Largest length accepted.
        limit: usize,
    },
    /// The text before the first zero byte is not one JSON object without repeated keys.
    #[error("the header is not a JSON object: {0}; check that this is a transport file and not damaged")]
    Json(String),
    /// The text is not the one that was written.
    #[error(
        "the header is not the one that was written: its checksum is {found}, `header_crc32c` states {stated}; copy or write \
         the file again, or remove that key if the header was changed on purpose"
    )]
    Altered {
        /// Checksum in the header.
        stated: String,
        /// Checksum of the header.
        found: String,
    },
    /// Keys missing, of the wrong type, or contradicting one another.
    #[error("the header breaks the transport file contract:{list}\n  rewrite the file with a corrected header",
        list = list(.0))]
    Contract(Vec<Violation>),
}

impl HeaderError {
    /// The broken rules, if the header could be parsed at all.
    pub fn violations(&self) -> &[Violation] {
        match self {
            HeaderError::Contract(v) => v,
            _ => &[],
        }
    }
}

/// Errors of reading, writing and checking transport files. Windows are displayed from 1.
#[derive(Debug, thiserror::Error)]
pub enum MetError {
    /// A file of another kind, often taken for a transport file.
    #[error(
        "{path}: this is a NetCDF file, not a transport file; `ncdump -h`, `atmostr plot` and `atmostr diff` read it",
        path = path.display()
    )]
    NetCdf {
        /// File concerned.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("{path}: cannot {action}: {source}", path = path.display())]
    Io {
        /// File concerned.
        path: PathBuf,
        /// What was attempted.
        action: &'static str,
        /// Reason given by the system.
        source: std::io::Error,
    },
    /// A window cannot be read, after several tries where the reason may have passed.
    #[error(
        "{path}: window {number} cannot be read: {source}{tries}; check the disk or its server, and run again",
        path = path.display(), number = window + 1, tries = tries(source))]
    Read {
        /// File concerned.
        path: PathBuf,
        /// Window, from 0.
        window: usize,
        /// Reason given by the system.
        source: std::io::Error,
    },
    /// The header is unreadable or breaks the contract.
    #[error("{path}: {source}", path = path.display())]
    Header {
        /// File concerned.
        path: PathBuf,
        /// What is wrong with the header.
        source: HeaderError,
    },
    /// The file has not the size its header implies.
    #[error(
        "{path}: file size is {found} bytes, but its header (`header_bytes`, `nwindow`, `elems_per_window`, \
         `float_bytes`) implies {expected}; the file is {state}: copy or write it again",
        path = path.display(), state = if found < expected { "truncated" } else { "too long" })]
    FileSize {
        /// File concerned.
        path: PathBuf,
        /// Size implied by the header.
        expected: u64,
        /// Size found.
        found: u64,
    },
    /// A file that is not what it was when the run looked at it first.
    #[error("{path}: the file has changed since the run began; begin again, or put back the file as it was", path = path.display())]
    Changed {
        /// File concerned.
        path: PathBuf,
    },
    /// A folder for copies that is taken.
    #[error(
        "{folder}: another run keeps its copies of transport files in this folder; give each run one of its own with \
         `input.staging.dir`", folder = folder.display())]
    StagingInUse {
        /// The folder.
        folder: PathBuf,
    },
    /// A readable file that the model cannot be driven with.
    #[error("{path}: this file can be inspected but not run:{list}", path = path.display(), list = list(reasons))]
    NotRunnable {
        /// File concerned.
        path: PathBuf,
        /// One entry per reason.
        reasons: Vec<Violation>,
    },
    /// A section that the run needs is not in the file.
    #[error(
        "{path}: section `{section}` is needed but `payload_sections` does not list it; use a file that carries it or \
         switch off what needs it", path = path.display())]
    MissingSection {
        /// File concerned.
        path: PathBuf,
        /// Section asked for.
        section: Section,
    },
    /// A buffer made for another grid.
    #[error("{path}: the window buffer was made for {buffer}, the file holds {file}; make the buffer from a header of the \
             same chain", path = path.display())]
    BufferShape {
        /// File concerned.
        path: PathBuf,
        /// Grid of the buffer.
        buffer: String,
        /// Grid of the file.
        file: String,
    },
    /// A window beyond the end of the file.
    #[error("{path}: window {number} does not exist; `nwindow` is {nwindow}", path = path.display(), number = window + 1)]
    NoSuchWindow {
        /// File concerned.
        path: PathBuf,
        /// Window asked for, from 0.
        window: usize,
        /// Windows in the file.
        nwindow: usize,
    },
    /// A stored value that no run can use.
    #[error(
        "{path}: window {number}, section `{section}`, {cell}: value {value} is not {rule}; write the window again",
        path = path.display(), number = window + 1)]
    BadValue {
        /// File concerned.
        path: PathBuf,
        /// Window, from 0.
        window: usize,
        /// Section.
        section: Section,
        /// Place of the value.
        cell: CellIndex,
        /// The value.
        value: f64,
        /// What it should be.
        rule: String,
    },
    /// A column whose sections make no sense together.
    #[error("{path}: window {number}, {cell}: {problem}; write the file again with corrected fields",
        path = path.display(), number = window + 1)]
    Underivable {
        /// File concerned.
        path: PathBuf,
        /// Window, from 0.
        window: usize,
        /// Place of the column.
        cell: CellIndex,
        /// What is wrong.
        problem: String,
    },
    /// The stored checksum does not match the payload.
    #[error(
        "{path}: window {number}: checksum {found:#010x} differs from `payload_crc32c_by_window` {expected:#010x}; \
         the payload is damaged: copy or write the file again", path = path.display(), number = window + 1)]
    Checksum {
        /// File concerned.
        path: PathBuf,
        /// Window, from 0.
        window: usize,
        /// Checksum in the header.
        expected: u32,
        /// Checksum of the payload.
        found: u32,
    },
    /// The fluxes of a window do not carry its mass into the next endpoint.
    #[error(
        "{path}: window {number}, {cell}: replayed air mass differs from {target} by {absolute:e} kg, {relative:e} of \
         the panel's largest mass (limit {tolerance:e}); balance am, bm, cm against m before writing, and check \
         `flux_kind` and the substep count", path = path.display(), number = window + 1)]
    Replay {
        /// File concerned.
        path: PathBuf,
        /// Window, from 0.
        window: usize,
        /// Worst cell.
        cell: CellIndex,
        /// Difference relative to the largest target mass of the panel.
        relative: f64,
        /// Difference, kg.
        absolute: f64,
        /// Limit of the relative difference.
        tolerance: f64,
        /// What the mass was compared with.
        target: &'static str,
    },
    /// The two stored copies of a face on a panel edge differ.
    #[error(
        "{path}: window {number}, section `{section}`, {cell}: stored face flux {stored:e} kg, but the neighbour panel \
         stores {mirror:e} for the same face; synchronise the faces on panel edges before writing",
        path = path.display(), number = window + 1)]
    Mirror {
        /// File concerned.
        path: PathBuf,
        /// Window, from 0.
        window: usize,
        /// Section of the face.
        section: Section,
        /// Place of the face.
        cell: CellIndex,
        /// Value stored there.
        stored: f64,
        /// Value expected from the owning panel.
        mirror: f64,
    },
    /// More air leaves a cell in one substep than it holds.
    #[error(
        "{path}: window {number}, {cell}: a substep moves {ratio:.4} of the cell's air (limit {limit}); {advice}",
        path = path.display(), number = window + 1, advice = advice(*recommended, *steps))]
    Positivity {
        /// File concerned.
        path: PathBuf,
        /// Window, from 0.
        window: usize,
        /// Worst cell.
        cell: CellIndex,
        /// Outflow of a substep over the smaller endpoint mass.
        ratio: f64,
        /// Largest ratio accepted.
        limit: f64,
        /// Substeps of the window.
        steps: u32,
        /// Substeps that would bring the ratio to the limit, if any number does.
        recommended: Option<u64>,
    },
    /// Two files that cannot follow one another in a run.
    #[error(
        "{path}: cannot follow {previous} in one run; run them separately or write them alike:{list}",
        path = path.display(), previous = previous.display(), list = list(problems))]
    Chain {
        /// Later file.
        path: PathBuf,
        /// File before it.
        previous: PathBuf,
        /// One entry per key that does not fit.
        problems: Vec<Violation>,
    },
    /// A file does not start with the air mass the file before ends with.
    #[error(
        "{path}: window 1, section `m`, {cell}: air mass differs by {absolute:e} kg, {relative:e} of the panel's largest \
         mass (limit {tolerance:e}), from the last m + dm of {previous}; write the files from one uninterrupted series",
        path = path.display(), previous = previous.display())]
    Endpoint {
        /// Later file.
        path: PathBuf,
        /// File before it.
        previous: PathBuf,
        /// Worst cell.
        cell: CellIndex,
        /// Difference relative to the largest mass of the panel.
        relative: f64,
        /// Difference, kg.
        absolute: f64,
        /// Limit of the relative difference.
        tolerance: f64,
    },
    /// A window was handed to the writer out of turn or with the wrong content.
    #[error("{path}: window {number} cannot be written: {problem}", path = path.display(), number = window + 1)]
    Payload {
        /// Target file.
        path: PathBuf,
        /// Window, from 0.
        window: usize,
        /// What is wrong.
        problem: String,
    },
    /// The stream of windows ended early; no file was made.
    #[error(
        "{path}: only {written} of {nwindow} windows were written; the incomplete file was removed: write all windows \
         before finishing", path = path.display())]
    Incomplete {
        /// Target file.
        path: PathBuf,
        /// Windows written.
        written: usize,
        /// Windows announced.
        nwindow: usize,
    },
    /// The reading thread ended without an answer.
    #[error("the background reader of the transport files stopped unexpectedly; see the messages above")]
    ReaderGone,
    /// No file or no window to run.
    #[error("no window selected; name at least one transport file and one of its windows")]
    NothingToRead,
}

impl MetError {
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| MetError::Io { path, action, source }
    }
}
