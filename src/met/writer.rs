//! Writing transport files: windows are streamed into a temporary file beside the target, which replaces the target
//! only when complete.

use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::MetError;
use super::gates::{
    Field, Levels, MirrorReport, POSITIVITY_LIMIT, PositivityReport, ReplayReport, mirror, mirror_tolerance,
    positivity, recommended_steps, replay, replay_tolerance,
};
use super::header::Header;
use super::schema::FloatType;
use super::section::Section;
use super::spec::HeaderSpec;
use crate::files::{Staged, regular_or_absent, staged};

/// Values converted and written at a time.
const CHUNK: usize = 1 << 18;

/// What to do with a window that fails a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateAction {
    /// Refuse the window and remove the unfinished file.
    Refuse,
    /// Log a warning and go on.
    Warn,
    /// Do not check.
    Skip,
}

/// Checks every window passes before it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GatePolicy {
    /// Fluxes must carry the air mass into the next endpoint.
    pub replay: GateAction,
    /// Both panels of a seam must give the same flux for a shared face.
    pub mirror: GateAction,
    /// Substeps must leave air in every cell.
    pub positivity: GateAction,
    /// Largest share of a cell's air a substep may move out.
    pub positivity_limit: f64,
}

impl Default for GatePolicy {
    fn default() -> Self {
        Self::all(GateAction::Refuse)
    }
}

impl GatePolicy {
    /// The same action for all checks, with the usual limit.
    pub fn all(action: GateAction) -> Self {
        Self { replay: action, mirror: action, positivity: action, positivity_limit: POSITIVITY_LIMIT }
    }
}

/// Content of one window. Arrays hold the six panels one after the other, each with i fastest, then j, then k.
#[derive(Clone, Copy, Debug)]
pub struct WindowPayload<'a> {
    /// Substeps of the window, at least 1.
    pub steps: u32,
    /// All sections of the file with their values, in any order; values are rounded once to the storage precision.
    pub sections: &'a [(Section, &'a [f64])],
    /// Air mass at the end of the window; needed by the checks.
    pub m_next: Option<&'a [f64]>,
}

/// Results of the checks of a window; absent where skipped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowReceipt {
    /// Replay of the values as they will be read back.
    pub replay: Option<ReplayReport>,
    /// Outflow per substep.
    pub positivity: Option<PositivityReport>,
    /// CRC-32C of the window's bytes.
    pub crc32c: u32,
}

/// A transport file being written. Dropping it before [`TransportWriter::finish`] removes the unfinished file.
#[derive(Debug)]
pub struct TransportWriter {
    path: PathBuf,
    spec: HeaderSpec,
    header: Header,
    gates: GatePolicy,
    /// Taken away by an error, so that nothing incomplete can be finished.
    staged: Option<Staged>,
    written: Vec<u32>,
    bytes: Vec<u8>,
}

impl TransportWriter {
    /// Starts a file with the default checks. An existing file at `path` stays until the new one is complete.
    ///
    /// # Errors
    /// A description that breaks the contract, or an unwritable directory.
    pub fn create(path: impl AsRef<Path>, spec: HeaderSpec) -> Result<Self, MetError> {
        Self::create_with(path, spec, GatePolicy::default())
    }

    /// As [`TransportWriter::create`] with a choice of checks.
    ///
    /// # Errors
    /// A description that breaks the contract, or an unwritable directory.
    pub fn create_with(path: impl AsRef<Path>, mut spec: HeaderSpec, gates: GatePolicy) -> Result<Self, MetError> {
        let path = path.as_ref().to_path_buf();
        regular_or_absent(&path).map_err(MetError::io(&path, "replace"))?;
        spec.reserve_header_bytes();
        let (header, bytes) = spec.encode(None).map_err(|source| MetError::Header { path: path.clone(), source })?;
        let mut staged = staged(&path).map_err(MetError::io(&path, "create a temporary file beside"))?;
        staged.write_all(&bytes).map_err(MetError::io(&path, "write the header of"))?;
        Ok(Self { path, spec, header, gates, staged: Some(staged), written: Vec::new(), bytes: Vec::new() })
    }

    /// The header as announced so far; steps are final up to the last window written.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Checks and writes window `window` (from 0). Windows come in order.
    ///
    /// # Errors
    /// A window out of turn, sections missing or of the wrong length, a failed check, or a failed write. After an
    /// error the unfinished file is gone and nothing more can be written.
    pub fn write_window(&mut self, window: usize, payload: &WindowPayload) -> Result<WindowReceipt, MetError> {
        let result = self.try_window(window, payload);
        if result.is_err() {
            self.staged = None;
        }
        result
    }

    fn try_window(&mut self, window: usize, payload: &WindowPayload) -> Result<WindowReceipt, MetError> {
        let sections = self.arrange(window, payload)?;
        let (replay, positivity) = self.check(window, payload, &sections)?;
        let mut crc = 0;
        for (_, values) in sections {
            for chunk in values.chunks(CHUNK) {
                encode(chunk, self.header.float_type, &mut self.bytes);
                crc = crc32c::crc32c_append(crc, &self.bytes);
                let staged = self.staged.as_mut().ok_or_else(|| gone(&self.path, window))?;
                staged.write_all(&self.bytes).map_err(MetError::io(&self.path, "write a window of"))?;
            }
        }
        self.spec.steps[window] = payload.steps;
        self.header.steps[window] = payload.steps;
        self.written.push(crc);
        Ok(WindowReceipt { replay, positivity, crc32c: crc })
    }

    /// Values in payload order.
    fn arrange<'a>(&self, window: usize, payload: &WindowPayload<'a>) -> Result<Vec<(Section, &'a [f64])>, MetError> {
        let refuse = |problem: String| MetError::Payload { path: self.path.clone(), window, problem };
        if self.staged.is_none() {
            return Err(gone(&self.path, window));
        }
        if window != self.written.len() || window >= self.header.nwindow {
            return Err(refuse(format!(
                "window {} of {} is next; write windows in order, each once",
                self.written.len() + 1,
                self.header.nwindow
            )));
        }
        if payload.steps == 0 {
            return Err(refuse("a window has at least one substep".to_string()));
        }
        if let Some((s, _)) = payload.sections.iter().find(|(s, _)| !self.header.has(*s)) {
            return Err(refuse(format!("section `{s}` is not among the announced sections; remove it or announce it")));
        }
        if payload.sections.len() > self.header.sections.len() {
            return Err(refuse("a section is given twice; give each once".to_string()));
        }
        let expect = |name: &str, section: Section, values: &'a [f64]| {
            let expected = section.elems(self.header.nc, self.header.nlevel);
            match values.len() == expected {
                true => Ok(values),
                false => Err(refuse(format!("`{name}` has {} values, {expected} are needed", values.len()))),
            }
        };
        if let Some(next) = payload.m_next {
            expect("m_next", Section::AirMass, next)?;
        }
        self.header
            .sections
            .iter()
            .map(|s| match payload.sections.iter().find(|(given, _)| given == s) {
                Some((_, values)) => Ok((*s, expect(s.name(), *s, values)?)),
                None => Err(refuse(format!("announced section `{s}` is missing; give all sections"))),
            })
            .collect()
    }

    fn check(
        &self,
        window: usize,
        payload: &WindowPayload,
        sections: &[(Section, &[f64])],
    ) -> Result<(Option<ReplayReport>, Option<PositivityReport>), MetError> {
        let GatePolicy { replay: on_replay, mirror: on_mirror, positivity: on_positivity, positivity_limit } =
            self.gates;
        let (mut replayed, mut outflow) = (None, None);
        if [on_replay, on_mirror, on_positivity].iter().all(|a| *a == GateAction::Skip) {
            return Ok((replayed, outflow));
        }
        let path = || self.path.clone();
        let Some(m_next) = payload.m_next else {
            let problem = "the checks need the air mass of the next endpoint; give `m_next`".to_string();
            return Err(MetError::Payload { path: path(), window, problem });
        };
        let (kind, float_type, steps) = (self.header.flux_kind, self.header.float_type, payload.steps);
        let stored = Stored { header: &self.header, sections, m_next };
        if on_mirror != GateAction::Skip {
            let r = mirror(&stored, self.header.convention);
            if r.relative > mirror_tolerance(float_type) {
                let MirrorReport { section, cell, stored, mirror, .. } = r;
                enforce(on_mirror, MetError::Mirror { path: path(), window, section, cell, stored, mirror })?;
            }
        }
        if on_replay != GateAction::Skip {
            let r = replay(&stored, kind.window_scale(steps));
            let tolerance = replay_tolerance(float_type);
            if r.relative > tolerance {
                let ReplayReport { relative, absolute, cell } = r;
                let target = "the next endpoint";
                let error = MetError::Replay { path: path(), window, cell, relative, absolute, tolerance, target };
                enforce(on_replay, error)?;
            }
            replayed = Some(r);
        }
        if on_positivity != GateAction::Skip {
            let p = positivity(&stored, kind.half_sweep_scale(steps));
            if p.ratio > positivity_limit {
                let PositivityReport { ratio, cell, .. } = p;
                let (limit, recommended) = (positivity_limit, recommended_steps(steps, ratio, positivity_limit));
                let error = MetError::Positivity { path: path(), window, cell, ratio, limit, steps, recommended };
                enforce(on_positivity, error)?;
            }
            outflow = Some(p);
        }
        Ok((replayed, outflow))
    }

    /// Writes the final header, syncs the file to disk and moves it to its place.
    ///
    /// # Errors
    /// Missing windows, or a failed write; the unfinished file is removed.
    pub fn finish(mut self) -> Result<Header, MetError> {
        let (written, nwindow) = (self.written.len(), self.header.nwindow);
        let Some(mut staged) = self.staged.take().filter(|_| written == nwindow) else {
            return Err(MetError::Incomplete { path: self.path.clone(), written, nwindow });
        };
        let path = &self.path;
        let (header, bytes) =
            self.spec.encode(Some(&self.written)).map_err(|source| MetError::Header { path: path.clone(), source })?;
        let mut rewrite = || {
            staged.seek(SeekFrom::Start(0))?;
            staged.write_all(&bytes)
        };
        rewrite().map_err(MetError::io(path, "write the final header of"))?;
        staged.publish(path).map_err(MetError::io(path, "move the finished file to"))?;
        Ok(header)
    }
}

fn enforce(action: GateAction, error: MetError) -> Result<(), MetError> {
    match action {
        GateAction::Refuse => Err(error),
        GateAction::Warn | GateAction::Skip => {
            tracing::warn!("{error}");
            Ok(())
        }
    }
}

fn gone(path: &Path, window: usize) -> MetError {
    let problem = "an earlier error ended this file; start it again".to_string();
    MetError::Payload { path: path.to_path_buf(), window, problem }
}

/// Little-endian bytes of `values`, rounded once.
fn encode(values: &[f64], float_type: FloatType, bytes: &mut Vec<u8>) {
    bytes.clear();
    match float_type {
        FloatType::Float32 => bytes.extend(values.iter().flat_map(|v| (*v as f32).to_le_bytes())),
        FloatType::Float64 => bytes.extend(values.iter().flat_map(|v| v.to_le_bytes())),
    }
}

/// A payload as it will be read back.
struct Stored<'a> {
    header: &'a Header,
    sections: &'a [(Section, &'a [f64])],
    m_next: &'a [f64],
}

impl Levels for Stored<'_> {
    fn nc(&self) -> usize {
        self.header.nc
    }

    fn nlevel(&self) -> usize {
        self.header.nlevel
    }

    fn level<'a>(&'a self, field: Field, panel: usize, k: usize, scratch: &'a mut Vec<f64>) -> &'a [f64] {
        let section = field.section();
        let values = match field {
            Field::NextMass => self.m_next,
            _ => self.sections.iter().find(|(s, _)| *s == section).map_or(&[][..], |(_, v)| v),
        };
        let shape = section.shape(self.header.nc, self.header.nlevel);
        let start = (panel * shape.nk + k) * shape.level_len();
        let level = &values[start..start + shape.level_len()];
        match self.header.float_type {
            FloatType::Float64 => level,
            float_type => {
                scratch.clear();
                scratch.extend(level.iter().map(|v| float_type.round(*v)));
                scratch
            }
        }
    }
}
