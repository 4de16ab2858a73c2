//! The run: windows, substeps, resets, snapshots.

mod observe;
mod plan;
mod save;
mod staging;
mod window;

use std::collections::HashSet;
use std::time::Instant;

use kernels::{Scalar, arithmetic_fault};

use self::observe::Watch;
use super::budget::Budgets;
use super::clock::Clock;
use super::control::{Pace, RunControl, StartFrom};
use super::engine::{Books, Engine, OpenDevice, engine, open_device};
use super::error::{RunError, agree_on};
use super::facts::RunFacts;
use super::memory::{MemoryPlan, memory_plan};
use super::physics::{emission_totals, emitters, expectations};
use super::report::{Budget, Ended, MemoryEstimate, MemoryUse, Progress, RunReport, Spread};
use super::restart::{KeptField, OutputPlace, kept_fields, next_window, resumed};
use super::setup::{Setup, make_folder_of};
use super::snapshots::Snapshots;
use super::stall::StallWatch;
use super::timing::RunTimers;
use crate::comm::Communicator;
use crate::config::RunConfig;
use crate::met::{FileWindows, FloatType, PrefetchMode, StreamPosition, WindowStream};
use crate::operators::Threads;
use crate::state::AIR;
use crate::timers::{self, ProcessMemory, Timed, keep_no_large_blocks};

/// Runs a configuration from start to end. Collective over `comm`.
///
/// # Errors
/// Anything wrong with the configuration or its files (found before any work), and what happens on the way. The lowest
/// failing rank returns its own error, the others [`RunError::Elsewhere`].
pub fn run(config: &RunConfig, comm: &dyn Communicator, progress: &mut dyn Progress) -> Result<RunReport, RunError> {
    run_under(&RunControl::default(), config, comm, progress)
}

/// Runs a configuration from where `control` says, until the end or until it is asked to stop. Collective over `comm`.
///
/// # Errors
/// As [`run`], and a restart file that cannot be used.
pub fn run_under(
    control: &RunControl,
    config: &RunConfig,
    comm: &dyn Communicator,
    progress: &mut dyn Progress,
) -> Result<RunReport, RunError> {
    agree_on(comm, check_control(control, config))?;
    let fault = arithmetic_fault::<f32>().or_else(arithmetic_fault::<f64>);
    agree_on(comm, fault.map_or(Ok(()), |fault| Err(RunError::Arithmetic { fault })))?;
    let timers = RunTimers::start(comm)?;
    keep_no_large_blocks();
    let program = ProcessMemory::now().map_or(0, |memory| memory.resident);
    let device = open_device(config, comm)?;
    let setup = Setup::new(config, comm, progress)?;
    let threads = agree_on(comm, Threads::new(thread_count(config, comm)).map_err(RunError::from))?;
    let report = match config.settings.float_type {
        FloatType::Float32 => threads
            .install(|| Run::<f32>::new(control, config, &setup, device, &threads, program, comm, progress)?.finish()),
        FloatType::Float64 => threads
            .install(|| Run::<f64>::new(control, config, &setup, device, &threads, program, comm, progress)?.finish()),
    }?;
    timers.finish(config, &setup, comm, progress);
    Ok(report)
}

/// What is asked of restart files needs to know of them.
fn check_control(control: &RunControl, config: &RunConfig) -> Result<(), RunError> {
    let what = match (&control.from, control.wall_limit) {
        _ if config.restart.is_some() => return Ok(()),
        (StartFrom::Latest, _) => "--restart latest",
        (StartFrom::LatestIfAny, _) => "--restart auto",
        (_, Some(_)) => "--wall-limit",
        _ => return Ok(()),
    };
    Err(RunError::NoRestartTable { what })
}

fn thread_count(config: &RunConfig, comm: &dyn Communicator) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    config.settings.threads.map_or_else(|| (cores() / comm.ranks_here()).max(1), usize::from)
}

/// Wall-clock seconds by section.
#[derive(Clone, Copy, Default)]
struct Seconds {
    advection: f64,
    read: f64,
    write: f64,
}

impl Seconds {
    fn list(self) -> [(&'static str, f64); 3] {
        [("advection", self.advection), ("io_read", self.read), ("io_write", self.write)]
    }
}

struct Run<'a, R: Scalar> {
    control: &'a RunControl,
    pace: Pace,
    /// What vertical physics keeps between windows.
    kept: Vec<KeptField>,
    /// Output of a run that goes on; `None`: a run from the beginning.
    resumed: Option<Option<OutputPlace>>,
    /// Whether there is nothing left to run.
    over: bool,
    config: &'a RunConfig,
    setup: &'a Setup,
    threads: &'a Threads,
    comm: &'a dyn Communicator,
    progress: &'a mut dyn Progress,
    stream: WindowStream<R>,
    engine: Box<dyn Engine<R> + 'a>,
    clock: Clock,
    snapshots: Snapshots<R>,
    initial: Vec<f64>,
    budgets: Budgets,
    books: Books,
    /// Totals found last: at the start, then at the end of each window.
    found: Vec<f64>,
    total: Seconds,
    watch: Watch,
    facts: RunFacts,
    /// Memory of this rank.
    memory: MemoryEstimate,
    warned: HashSet<&'static str>,
}

impl<'a, R: Scalar> Run<'a, R> {
    fn new(
        control: &'a RunControl,
        config: &'a RunConfig,
        setup: &'a Setup,
        device: Option<OpenDevice>,
        threads: &'a Threads,
        program: u64,
        comm: &'a dyn Communicator,
        progress: &'a mut dyn Progress,
    ) -> Result<Self, RunError> {
        let resumed = resumed(config, setup, &control.from, &control.accepted, comm)?;
        let windows = resumed.as_ref().map_or(0, |resumed| resumed.state.windows);
        let next = next_window(setup, windows);
        let start = Instant::now();
        let stream = WindowStream::new(remaining(setup, next), setup.buffer(config), PrefetchMode::from_environment());
        let mut stream = agree_on(comm, stream.map_err(RunError::from))?;
        let first = agree_on(comm, stream.advance().map_err(RunError::from))?.expect("a run has a window");
        agree_on(comm, verify_share(setup, first, 0, comm))?;
        let read = start.elapsed();
        let (_, window) = stream.current().expect("a run has a window");
        let (state, notes) = match &resumed {
            Some(resumed) => {
                let path = resumed.file.path().display();
                (resumed.fields(config, setup, comm)?, vec![format!("window {} of {path}", windows + 1)])
            }
            None => setup.initial_state(config, window, comm)?,
        };
        let emitters = emitters(config, setup, comm)?;
        let rules = expectations(config, &emitters, comm)?;
        let kept = kept_fields(config, &emitters);
        let emitted = emission_totals(config, &rules, 3600.0 * setup.plan.hours);
        let mut memory = memory_plan(config, setup, program, threads.count(), comm);
        (memory.sections, memory.derived) = MemoryPlan::fields_of(window);
        memory.slices = emitters.iter().map(|emitter| emitter.source.rates().levels()).collect();
        let memory = memory.of_rank::<R>(comm.rank(), &setup.tiles);
        let mut engine = engine(config, setup, device, state, window, emitters, threads, comm)?;
        for field in &kept {
            let slabs = resumed.as_ref().map(|resumed| resumed.kept(config, setup, field, comm)).transpose()?.flatten();
            if let Some(slabs) = slabs {
                agree_on(comm, engine.write_kept(field.kept, &slabs))?;
            }
        }
        let path = config.output.as_ref().and_then(|output| output.budget.as_deref());
        if let Some(path) = path {
            make_folder_of(path, comm)?;
        }
        let mut initial = Vec::new();
        let budgets = match &resumed {
            Some(resumed) => {
                initial.clone_from(&resumed.state.initial);
                Budgets::resumed(rules, &resumed.state.budgets, path, comm)
            }
            None => {
                totals(&mut *engine, comm, &mut initial)?;
                Budgets::new(rules, &initial[AIR + 1..], path, comm)
            }
        };
        let mut budgets = agree_on(comm, budgets)?;
        if config.restart.is_none() {
            budgets.keep_earlier_table();
        }
        let clock = Clock::at(setup.header().dt_met_seconds(), windows);
        let facts = RunFacts::new(config, setup, threads.count(), comm);
        let mut snapshots = Snapshots::new(config, setup, budgets.series(), facts.attributes());
        let mut warnings = Vec::new();
        if let Some(resumed) = &resumed {
            let note = snapshots.resume(clock.hours(), resumed, setup.grid.nc(), comm)?;
            warnings.extend(resumed.notes.iter().cloned().chain(note));
        }
        let resumed = resumed.map(|resumed| resumed.state.output);
        let run = Self {
            clock,
            total: Seconds { read: read.as_secs_f64(), ..Seconds::default() },
            watch: Watch::new(config.tracers.len(), read),
            facts,
            memory,
            warned: HashSet::new(),
            pace: Pace::new(),
            over: next.is_none(),
            control,
            kept,
            resumed,
            config,
            setup,
            threads,
            comm,
            progress,
            stream,
            engine,
            snapshots,
            found: initial.clone(),
            initial,
            budgets,
            books: Books::default(),
        };
        let of_ranks = Spread::over(comm, run.memory.total());
        let mut plan = run.plan(&emitted, of_ranks);
        plan.lines.extend(notes.into_iter().map(|note| ("initial", note)));
        run.progress.start(&plan);
        warnings.iter().for_each(|warning| run.progress.warn(warning));
        if let Some(notice) = run.engine.notice() {
            run.progress.warn(&notice);
        }
        Ok(run)
    }

    /// All windows, then the report.
    fn finish(mut self) -> Result<RunReport, RunError> {
        let Some((first, _)) = self.stream.current() else { unreachable!("a run has a window") };
        let (rank, ranks) = (self.comm.rank(), self.comm.size());
        let watch = self.control.stall.map(|stall| StallWatch::start(stall, rank, ranks)).transpose();
        let _watch = agree_on(self.comm, watch)?;
        let stager = self.stage(first)?;
        self.open_output(first)?;
        self.watch.lap();
        let mut place = (!self.over).then_some(first);
        let mut stopped = None;
        while let Some(now) = place {
            self.staged(stager.as_ref(), now);
            self.window(now)?;
            let timed = timers::section(Timed::WindowAdvance);
            let start = Instant::now();
            place = agree_on(self.comm, self.stream.advance().map_err(RunError::from))?;
            if let Some(next) = place {
                agree_on(self.comm, verify_share(self.setup, next, self.clock.windows(), self.comm))?;
            }
            let read = start.elapsed();
            self.total.read += read.as_secs_f64();
            self.watch.waited_for_window(read);
            drop(timed);
            if let Some(next) = place.filter(|next| next.file != now.file && self.snapshots.daily()) {
                self.close_snapshots()?;
                self.open_snapshots(next.file, 0)?;
            }
            self.pace.window();
            stopped = self.save(place)?;
            if stopped.is_some() {
                break;
            }
        }
        if stopped.is_none() {
            self.close_snapshots()?;
        }
        let mut last = std::mem::take(&mut self.found);
        totals(&mut *self.engine, self.comm, &mut last)?;
        let table = agree_on(self.comm, self.budgets.finish())?;
        let tracers = self.budgets.tracers();
        let decaying = &self.config.chemistry.decaying;
        let names = std::iter::once("air").chain(self.engine.shape().tracers().iter().map(String::as_str));
        let budgets = names
            .zip(self.initial.iter().zip(&last))
            .enumerate()
            .map(|(plane, (name, (initial, last)))| {
                let half_life = decaying.iter().find(|d| d.tracer + AIR + 1 == plane).map(|d| d.decay.half_life());
                let tracer = plane.checked_sub(AIR + 1).map(|t| tracers[t]);
                Budget { name: name.into(), initial: *initial, last: *last, half_life_seconds: half_life, tracer }
            })
            .collect();
        let (snapshots, mut files) = (self.snapshots.written(), self.snapshots.files().to_vec());
        files.extend(table);
        let seconds = self.total.list().to_vec();
        let ledger_refused = self.budgets.refused();
        let model_seconds = self.clock.seconds();
        let ended = stopped.unwrap_or(Ended::Complete);
        let memory = MemoryUse::found(self.comm, self.memory.total());
        let report = RunReport { ended, model_seconds, snapshots, files, budgets, ledger_refused, seconds, memory };
        self.progress.finish(&report);
        Ok(report)
    }

    /// Closes the budgets of a window, and warns of what its ledgers refused. Collective.
    fn balance(&mut self, place: StreamPosition) -> Result<(), RunError> {
        let taken = self.engine.take_books(&mut self.books);
        agree_on(self.comm, taken)?;
        totals(&mut *self.engine, self.comm, &mut self.found)?;
        let hours = self.clock.hours();
        let noticed = self.budgets.balance(hours, &self.found[AIR + 1..], &self.books, self.comm);
        let noticed = agree_on(self.comm, noticed)?;
        let (file, window) = (self.file_name(place), place.window + 1);
        for (kind, operator, refused) in [
            ("refused diffusion", "diffusion", noticed.refused[0]),
            ("refused convection", "convection", noticed.refused[1]),
        ] {
            if refused > 0 {
                let message = format!(
                    "{file}, window {window}: {refused} times a column lost or gained more tracer in {operator} than \
                     rounding explains; it stays in the field and in `residual_kg` of the budget. Look for forcing that \
                     makes no sense there (`atmostr inspect --stats`)"
                );
                self.warn_once(kind, &message);
            }
        }
        if noticed.unlofted > 0 {
            let message = format!(
                "{file}, window {window}: {} times the emission of a column was left in the lowest layer, since lofting it \
                 would have made a layer negative, as with tracers that start from nothing",
                noticed.unlofted
            );
            self.warn_once("unlofted", &message);
        }
        if let Some(found) = noticed.unexplained {
            let message = format!(
                "{file}, window {window}: the total of {} changed by {:.1e} of itself, without a source or decay: by \
                 forcing that makes no sense, by files that do not join, or by run.air_mass_reset_mode = \"preserve_vmr\"",
                self.config.tracers[found.tracer].name,
                found.residual / found.total
            );
            self.warn_once("unexplained", &message);
        }
        Ok(())
    }

    fn warn_once(&mut self, kind: &'static str, message: &str) {
        if self.warned.insert(kind) {
            self.progress.warn(message);
        }
    }

    fn file_name(&self, place: StreamPosition) -> &'a str {
        &self.setup.file_names[place.file]
    }

    fn open_snapshots(&mut self, file: usize, frames: usize) -> Result<(), RunError> {
        self.snapshots.open(file, frames, self.engine.shape().tracers(), self.setup, self.comm)
    }

    /// The output file of the first window, with the snapshot of the initial state or where the run goes on.
    fn open_output(&mut self, first: StreamPosition) -> Result<(), RunError> {
        match self.resumed.take() {
            None => {
                self.open_snapshots(first.file, 0)?;
                self.snapshot_and_tell()
            }
            Some(None) => self.open_snapshots(first.file, 0),
            Some(Some(OutputPlace { file, frames })) => {
                self.open_snapshots(file, frames)?;
                if file != first.file && self.snapshots.daily() {
                    self.close_snapshots()?;
                    self.open_snapshots(first.file, 0)?;
                }
                Ok(())
            }
        }
    }

    /// Writes a snapshot if one is due at the clock's time. Collective.
    fn snapshot(&mut self) -> Result<(), RunError> {
        let (_, window) = self.stream.current().expect("a run has a window");
        let (hours, engine) = (self.clock.hours(), &mut *self.engine);
        self.total.write += self.snapshots.write(hours, window, engine, &self.found, &self.budgets, self.comm)?;
        Ok(())
    }
}

/// The windows still to be run; the last one of all if there are none.
fn remaining(setup: &Setup, next: Option<StreamPosition>) -> Vec<FileWindows> {
    let last = setup.plan.files.len() - 1;
    let next = next.unwrap_or(StreamPosition { file: last, window: setup.plan.windows[last] - 1 });
    let windows = |file: usize, count: usize| match file.cmp(&next.file) {
        std::cmp::Ordering::Less => 0..0,
        std::cmp::Ordering::Equal => next.window..count,
        std::cmp::Ordering::Greater => 0..count,
    };
    let files = setup.plan.files.iter().zip(&setup.plan.windows).enumerate();
    files.map(|(n, (file, count))| FileWindows { file: file.clone(), windows: windows(n, *count) }).collect()
}

/// Verifies the stored checksum of a window on one rank, each rank in its turn. A single rank has done so on loading.
fn verify_share(setup: &Setup, place: StreamPosition, windows: u64, comm: &dyn Communicator) -> Result<(), RunError> {
    let ranks = comm.size() as u64;
    if ranks == 1 || windows % ranks != comm.rank() as u64 {
        return Ok(());
    }
    Ok(setup.plan.files[place.file].verify(place.window)?)
}

fn difference(now: Seconds, before: Seconds) -> Seconds {
    Seconds {
        advection: now.advection - before.advection,
        read: now.read - before.read,
        write: now.write - before.write,
    }
}

/// Exact totals: air, then tracers. Collective.
pub(super) fn totals<R: Scalar>(
    engine: &mut dyn Engine<R>,
    comm: &dyn Communicator,
    into: &mut Vec<f64>,
) -> Result<(), RunError> {
    let found = engine.totals(comm, into)?.map_err(|(plane, source)| RunError::Total {
        what: plane.checked_sub(AIR + 1).map_or("air mass".into(), |t| engine.shape().tracers()[t].clone()),
        source,
    });
    agree_on(comm, found)
}
