//! The checks applied to a file on disk.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

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
        let levels = WindowLevels { file, window, next, unread: Unread::default() };
        let found = mirror(&levels, header.panel_convention());
        levels.unread.told()?;
        if found.relative > mirror_tolerance(header.float_type()) {
            let (path, section, cell) = (file.path().to_path_buf(), found.section, found.cell);
            return Err(MetError::Mirror { path, window, section, cell, stored: found.stored, mirror: found.mirror });
        }
        let report = (target != ReplayTarget::NotCheckable).then(|| replay(&levels, header.window_scale(window)));
        levels.unread.told()?;
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
    }
    Ok(results)
}

/// Compares `m + dm` of a file's last window with the first `m` of the next.
fn check_continuity(file: &TransportFile, window: usize, next: &TransportFile, limit: f64) -> Result<(), MetError> {
    let ends = Ends { file, window, next, unread: Unread::default() };
    let ReplayReport { relative, absolute, cell } = replay(&ends, 0.0);
    ends.unread.told()?;
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
    unread: Unread,
}

/// Why a level could not be read; the first one counts.
#[derive(Default)]
struct Unread(Mutex<Option<MetError>>);

impl Unread {
    fn told(&self) -> Result<(), MetError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// Appends a level of a section, of NaN if it cannot be read.
    fn append(
        &self,
        file: &TransportFile,
        window: usize,
        section: Section,
        (panel, k): (usize, usize),
        out: &mut Vec<f64>,
    ) {
        let start = out.len();
        if let Err(error) = file.extend_level(window, section, panel, k, out) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            out.resize(start + section.shape(file.header().nc(), file.header().nlevel()).level_len(), f64::NAN);
        }
    }

    fn append_end_mass(&self, file: &TransportFile, window: usize, place: (usize, usize), out: &mut Vec<f64>) {
        self.append(file, window, Section::AirMass, place, out);
        let start = out.len();
        self.append(file, window, Section::AirMassTendency, place, out);
        let (mass, tendency) = out.split_at_mut(start);
        mass.iter_mut().zip(tendency).for_each(|(m, dm)| *m += *dm);
        out.truncate(start);
    }
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
            (Field::NextMass, Next::Mass(file, window)) => {
                self.unread.append(file, *window, Section::AirMass, (panel, k), scratch)
            }
            (Field::NextMass, Next::Tendency) => {
                self.unread.append_end_mass(self.file, self.window, (panel, k), scratch)
            }
            _ => self.unread.append(self.file, self.window, field.section(), (panel, k), scratch),
        }
        scratch
    }
}

/// End mass of a window against the start mass of the next file, without fluxes.
struct Ends<'a> {
    file: &'a TransportFile,
    window: usize,
    next: &'a TransportFile,
    unread: Unread,
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
            Field::Mass => self.unread.append_end_mass(self.file, self.window, (panel, k), scratch),
            Field::NextMass => self.unread.append(self.next, 0, Section::AirMass, (panel, k), scratch),
            _ => scratch.resize(field.section().shape(self.nc(), self.nlevel()).level_len(), 0.0),
        }
        scratch
    }
}
