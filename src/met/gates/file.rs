//! The checks applied to a file on disk.

use std::ops::Range;

use super::{Field, Levels, ReplayReport, mirror, mirror_tolerance, replay};
use crate::met::error::MetError;
use crate::met::reader::TransportFile;
use crate::met::section::Section;

/// What the replayed air mass of a window is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum ReplayTarget {
    /// The start mass of the next window of the file.
    NextWindow,
    /// The start mass plus `dm`.
    Tendency,
    /// The start mass of the next file's first window.
    NextFile,
    /// Nothing: a last window without `dm` and without a next file cannot be checked.
    NotCheckable,
}

impl ReplayTarget {
    fn text(self) -> &'static str {
        match self {
            ReplayTarget::NextWindow => "the next window's m",
            ReplayTarget::Tendency => "m + dm",
            ReplayTarget::NextFile => "the next file's first m",
            ReplayTarget::NotCheckable => "nothing",
        }
    }
}

/// Result of one window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowReplay {
    /// Window, from 0.
    pub window: usize,
    /// What was compared.
    pub target: ReplayTarget,
    /// Result; absent where not checkable.
    pub report: Option<ReplayReport>,
}

/// Replays windows of a file: their fluxes must carry the air mass into the next endpoint, both panels of every seam
/// must store the same face fluxes, and the last `m + dm` must be the next file's first `m`.
///
/// `windows` selects windows (from 0), so that ranks can share the work; `tolerance` limits the relative replay error
/// (see [`super::replay_tolerance`], chosen by the precision of the run). Work is shared over panels and levels.
///
/// # Errors
/// The first window that fails, with its worst cell; a window beyond the last one; a next file of another shape.
pub fn validate_replay(
    file: &TransportFile,
    windows: Range<usize>,
    tolerance: f64,
    next_file: Option<&TransportFile>,
) -> Result<Vec<WindowReplay>, MetError> {
    let header = file.header();
    if let Some(next) = next_file {
        super::chain::check_pair(file, next)?;
    }
    let mut results = Vec::with_capacity(windows.len());
    for window in windows {
        file.window_range(window)?;
        let (target, next) = if window + 1 < header.nwindow() {
            (ReplayTarget::NextWindow, Next::Mass(file, window + 1))
        } else if header.has(Section::AirMassTendency) {
            (ReplayTarget::Tendency, Next::Tendency)
        } else if let Some(next) = next_file {
            (ReplayTarget::NextFile, Next::Mass(next, 0))
        } else {
            (ReplayTarget::NotCheckable, Next::Mass(file, window))
        };
        let levels = WindowLevels { file, window, next };
        let found = mirror(&levels, header.panel_convention());
        if found.relative > mirror_tolerance(header.float_type()) {
            let (path, section, cell) = (file.path().to_path_buf(), found.section, found.cell);
            return Err(MetError::Mirror { path, window, section, cell, stored: found.stored, mirror: found.mirror });
        }
        let report = (target != ReplayTarget::NotCheckable).then(|| replay(&levels, header.window_scale(window)));
        if let Some(ReplayReport { relative, absolute, cell }) = report
            && relative > tolerance
        {
            let (path, target) = (file.path().to_path_buf(), target.text());
            return Err(MetError::Replay { path, window, cell, relative, absolute, tolerance, target });
        }
        if let (ReplayTarget::Tendency, Some(next)) = (target, next_file) {
            check_continuity(file, window, next, tolerance)?;
        }
        results.push(WindowReplay { window, target, report });
        file.release_window(window);
    }
    Ok(results)
}

/// Compares `m + dm` of a file's last window with the first `m` of the next.
fn check_continuity(file: &TransportFile, window: usize, next: &TransportFile, limit: f64) -> Result<(), MetError> {
    let ReplayReport { relative, absolute, cell } = replay(&Ends { file, window, next }, 0.0);
    if relative <= limit {
        return Ok(());
    }
    let (path, next) = (next.path().to_path_buf(), file.path().to_path_buf());
    Err(MetError::Endpoint { path, previous: next, cell, relative, absolute, tolerance: limit })
}

/// Where the end mass of a window comes from.
enum Next<'a> {
    /// Start mass of a window.
    Mass(&'a TransportFile, usize),
    /// Start mass plus tendency of the same window.
    Tendency,
}

/// Level access to a stored window.
struct WindowLevels<'a> {
    file: &'a TransportFile,
    window: usize,
    next: Next<'a>,
}

/// Appends a level of a section that is known to exist.
fn append(file: &TransportFile, window: usize, section: Section, panel: usize, k: usize, out: &mut Vec<f64>) {
    file.extend_level(window, section, panel, k, out).expect("the window and its section were found before");
}

fn append_end_mass(file: &TransportFile, window: usize, panel: usize, k: usize, out: &mut Vec<f64>) {
    append(file, window, Section::AirMass, panel, k, out);
    let start = out.len();
    append(file, window, Section::AirMassTendency, panel, k, out);
    let (mass, tendency) = out.split_at_mut(start);
    mass.iter_mut().zip(tendency).for_each(|(m, dm)| *m += *dm);
    out.truncate(start);
}

impl Levels for WindowLevels<'_> {
    fn nc(&self) -> usize {
        self.file.header().nc()
    }

    fn nlevel(&self) -> usize {
        self.file.header().nlevel()
    }

    fn level<'a>(&'a self, field: Field, panel: usize, k: usize, scratch: &'a mut Vec<f64>) -> &'a [f64] {
        scratch.clear();
        match (field, &self.next) {
            (Field::NextMass, Next::Mass(file, window)) => append(file, *window, Section::AirMass, panel, k, scratch),
            (Field::NextMass, Next::Tendency) => append_end_mass(self.file, self.window, panel, k, scratch),
            _ => append(self.file, self.window, field.section(), panel, k, scratch),
        }
        scratch
    }
}

/// End mass of a window against the start mass of the next file, without fluxes.
struct Ends<'a> {
    file: &'a TransportFile,
    window: usize,
    next: &'a TransportFile,
}

impl Levels for Ends<'_> {
    fn nc(&self) -> usize {
        self.file.header().nc()
    }

    fn nlevel(&self) -> usize {
        self.file.header().nlevel()
    }

    fn level<'a>(&'a self, field: Field, panel: usize, k: usize, scratch: &'a mut Vec<f64>) -> &'a [f64] {
        scratch.clear();
        match field {
            Field::Mass => append_end_mass(self.file, self.window, panel, k, scratch),
            Field::NextMass => append(self.next, 0, Section::AirMass, panel, k, scratch),
            _ => scratch.resize(field.section().shape(self.nc(), self.nlevel()).level_len(), 0.0),
        }
        scratch
    }
}
