//! Snapshot files of a run.

use std::path::PathBuf;
use std::time::Instant;

use kernels::Scalar;

use super::budget::Budgets;
use super::engine::Engine;
use super::error::{RunError, agree_on};
use super::interval::{Interval, IntervalField};
use super::meteorology::Meteorology;
use super::restart::{OutputPlace, Resumed};
use super::setup::{Setup, make_folder_of};
use crate::comm::Communicator;
use crate::config::RunConfig;
use crate::files::size_words;
use crate::met::WindowBuffer;
use crate::output::{Continuation, FrameContent, OutputSpec, Series, SnapshotFrame, SnapshotWriter, Split, Writing};
use crate::timers::{self, Timed};

/// Two hours this close are the same time.
pub(super) const SAME_HOUR: f64 = 1e-6;

/// Texts in one; `none` without any.
fn joined(texts: Vec<String>) -> String {
    if texts.is_empty() { "none".into() } else { texts.join("; ") }
}

/// Files of all sources.
fn source_files(config: &RunConfig) -> String {
    joined(config.source_records().into_iter().filter(|files| !files.is_empty()).collect())
}

/// Bytes of the fields of a snapshot; 0 if none are written.
fn snapshot_bytes(config: &RunConfig, setup: &Setup) -> u64 {
    let names: Vec<String> = config.tracers.iter().map(|t| t.name.clone()).collect();
    let plan = config.output.as_ref().and_then(|output| output.fields.plan(&names, setup.plan.levels).ok());
    plan.map_or(0, |plan| plan.snapshot_bytes(setup.grid.nc(), config.settings.float_type.bytes()))
}

/// Snapshot files of a run; none if the configuration asks for none. All calls are collective.
pub(super) struct Snapshots<R> {
    spec: Option<OutputSpec>,
    writer: Option<SnapshotWriter<R>>,
    /// Bytes of the fields of a snapshot.
    snapshot_bytes: u64,
    /// Snapshot hours still to come, the next one last.
    due: Vec<f64>,
    written: usize,
    files: Vec<PathBuf>,
    /// Transport file of the open file.
    file: usize,
    /// Sums since the last snapshot.
    interval: Option<Interval<R>>,
    meteorology: Option<Meteorology<R>>,
}

impl<R: Scalar> Snapshots<R> {
    /// `about` are attributes on which no result depends.
    pub(super) fn new(
        config: &RunConfig,
        setup: &Setup,
        series: Vec<Series>,
        about: Vec<(&'static str, String)>,
    ) -> Self {
        let mut run = vec![
            ("advection", config.advection.summary(&config.tracers)),
            ("diffusion", config.physics.diffusion_summary()),
            ("convection", config.physics.convection_summary()),
            ("initial_files", joined(config.initial_records())),
            ("sources", joined(config.source_summaries())),
            ("source_files", source_files(config)),
            ("decay", config.chemistry.summary(&config.tracers)),
        ];
        run.extend(about);
        Self {
            spec: config.output.as_ref().map(|output| OutputSpec {
                vertical: Some(setup.vertical.clone()),
                series,
                run,
                continuation: match config.restart {
                    Some(_) => Continuation::InParts,
                    None => Continuation::None,
                },
                ..output.spec(setup.origin)
            }),
            writer: None,
            snapshot_bytes: snapshot_bytes(config, setup),
            due: setup.plan.snapshot_hours.iter().rev().copied().collect(),
            written: 0,
            files: Vec::new(),
            file: 0,
            interval: Interval::new(config, &setup.tiles, setup.plan.levels),
            meteorology: Meteorology::new(config, setup),
        }
    }

    /// Goes on after hour `hours` of a run from its restart file; what there is to say about it. Collective.
    pub(super) fn resume(
        &mut self,
        hours: f64,
        resumed: &Resumed,
        nc: usize,
        comm: &dyn Communicator,
    ) -> Result<Option<String>, RunError> {
        self.written = resumed.state.snapshots;
        while self.due.pop_if(|due| *due < hours + SAME_HOUR).is_some() {}
        self.interval.as_mut().map_or(Ok(None), |interval| interval.resume(resumed, hours, nc, comm))
    }

    /// Adds what a window has moved to the sums for the next snapshot.
    pub(super) fn add_window(&mut self, engine: &mut dyn Engine<R>) -> Result<(), RunError> {
        self.interval.as_mut().map_or(Ok(()), |interval| interval.add_window(engine))
    }

    /// Hour at which the sums for the next snapshot began, and windows since.
    pub(super) fn interval_place(&self) -> (f64, u64) {
        self.interval.as_ref().map_or((0.0, 0), Interval::place)
    }

    /// The sums for the next snapshot.
    pub(super) fn interval_fields(&self) -> Vec<IntervalField<'_, R>> {
        self.interval.as_ref().map_or_else(Vec::new, Interval::fields)
    }

    /// How far the open file is written.
    pub(super) fn place(&self) -> Option<OutputPlace> {
        self.writer.as_ref().map(|writer| OutputPlace { file: self.file, frames: writer.frames() })
    }

    /// Closes what is written, so that nothing can harm it any more.
    pub(super) fn set_aside(&mut self, comm: &dyn Communicator) -> Result<(), RunError> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        agree_on(comm, writer.set_aside(comm).map_err(RunError::from))
    }

    /// Who writes, and the memory that may take, in words; `None` if nothing is written.
    pub(super) fn memory_words(&self) -> Option<String> {
        let spec = self.spec.as_ref()?;
        Some(match spec.writer {
            Writing::Collective => "written by all ranks together".into(),
            Writing::Grouped { ranks: None } => "written by one rank of each machine".into(),
            Writing::Grouped { ranks: Some(ranks) } => format!("written by one of {ranks} ranks each"),
            Writing::Background { queue } => {
                let size = size_words(self.snapshot_bytes.saturating_mul(queue as u64));
                format!("written in the background, at most {size} wait in memory")
            }
        })
    }

    /// Snapshots written so far.
    pub(super) fn written(&self) -> usize {
        self.written
    }

    /// Files that are complete.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Whether each transport file has an output file of its own.
    pub(super) fn daily(&self) -> bool {
        self.spec.as_ref().is_some_and(|spec| spec.split == Split::Daily)
    }

    /// Opens the output file of a transport file, after its first `frames` snapshots.
    pub(super) fn open(
        &mut self,
        file: usize,
        frames: usize,
        tracers: &[String],
        setup: &Setup,
        comm: &dyn Communicator,
    ) -> Result<(), RunError> {
        let Some(spec) = &self.spec else { return Ok(()) };
        let label = &setup.plan.labels[file];
        let writer = SnapshotWriter::create(spec, label, &setup.grid, tracers, setup.plan.levels, &setup.tiles, comm);
        let mut writer = agree_on(comm, writer.map_err(RunError::from))?;
        make_folder_of(writer.path(), comm)?;
        if spec.continuation == Continuation::InParts {
            agree_on(comm, writer.resume(frames, comm).map_err(RunError::from))?;
        }
        (self.file, self.writer) = (file, Some(writer));
        Ok(())
    }

    /// Completes the open file, if it holds anything.
    pub(super) fn close(&mut self, comm: &dyn Communicator) -> Result<(), RunError> {
        if let Some(writer) = self.writer.take()
            && writer.frames() > 0
        {
            self.files.push(writer.path().to_path_buf());
            agree_on(comm, writer.finish(comm).map_err(RunError::from))?;
        }
        Ok(())
    }

    /// Writes a snapshot if one is due at this hour, the end of `window` or the start of the first one; the seconds it took.
    /// `totals` are those of air and tracers then.
    pub(super) fn write(
        &mut self,
        hours: f64,
        window: &WindowBuffer<R>,
        engine: &mut dyn Engine<R>,
        totals: &[f64],
        budgets: &Budgets,
        comm: &dyn Communicator,
    ) -> Result<f64, RunError> {
        let Some(writer) = &mut self.writer else { return Ok(0.0) };
        let Some(_) = self.due.pop_if(|due| (*due - hours).abs() < SAME_HOUR) else { return Ok(0.0) };
        let _timed = timers::section(Timed::IoWrite);
        let start = Instant::now();
        let tracers = engine.shape().tracers().to_vec();
        let content = agree_on(comm, engine.content(writer.needs()))?;
        let columns = match content {
            FrameContent::Columns(columns) | FrameContent::Layers { columns, .. } => columns,
        };
        let frame = SnapshotFrame {
            hours,
            content,
            interval: self.interval.as_ref().map(Interval::sums),
            meteorology: self.meteorology.as_mut().map(|meteorology| meteorology.update(window, columns)),
            tracers: &tracers,
            totals,
            series: &budgets.series_values(),
        };
        agree_on(comm, writer.append(&frame, comm).map_err(RunError::from))?;
        if let Some(interval) = &mut self.interval {
            interval.begin(hours);
        }
        self.written += 1;
        Ok(start.elapsed().as_secs_f64())
    }
}
