//! The run: windows, substeps, resets, snapshots.

mod plan;
mod window;

use std::collections::HashSet;
use std::time::Instant;

use kernels::{Scalar, arithmetic_fault};

use super::budget::Budgets;
use super::clock::Clock;
use super::engine::{Books, Engine, OpenDevice, engine, open_device};
use super::error::{RunError, agree_on};
use super::physics::{emission_totals, emitters, expectations};
use super::report::{Budget, Progress, RunReport};
use super::setup::{Setup, make_folder_of};
use super::snapshots::Snapshots;
use super::timing::RunTimers;
use crate::comm::Communicator;
use crate::config::RunConfig;
use crate::met::{FileWindows, FloatType, PrefetchMode, StreamPosition, WindowStream};
use crate::operators::Threads;
use crate::state::AIR;
use crate::timers::{self, Timed};

/// Runs a configuration from start to end. Collective over `comm`.
///
/// # Errors
/// Anything wrong with the configuration or its files (found before any work), and what happens on the way. The lowest
/// failing rank returns its own error, the others [`RunError::Elsewhere`].
pub fn run(config: &RunConfig, comm: &dyn Communicator, progress: &mut dyn Progress) -> Result<RunReport, RunError> {
    let fault = arithmetic_fault::<f32>().or_else(arithmetic_fault::<f64>);
    agree_on(comm, fault.map_or(Ok(()), |fault| Err(RunError::Arithmetic { fault })))?;
    let timers = RunTimers::start(comm)?;
    let device = open_device(config, comm)?;
    let setup = Setup::new(config, comm, progress)?;
    let threads = agree_on(comm, Threads::new(thread_count(config, comm)).map_err(RunError::from))?;
    let report = match config.settings.float_type {
        FloatType::Float32 => {
            threads.install(|| Run::<f32>::new(config, &setup, device, &threads, comm, progress)?.finish())
        }
        FloatType::Float64 => {
            threads.install(|| Run::<f64>::new(config, &setup, device, &threads, comm, progress)?.finish())
        }
    }?;
    timers.finish(config, &setup, comm, progress);
    Ok(report)
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
    /// Totals found last.
    found: Vec<f64>,
    total: Seconds,
    warned: HashSet<&'static str>,
}

impl<'a, R: Scalar> Run<'a, R> {
    fn new(
        config: &'a RunConfig,
        setup: &'a Setup,
        device: Option<OpenDevice>,
        threads: &'a Threads,
        comm: &'a dyn Communicator,
        progress: &'a mut dyn Progress,
    ) -> Result<Self, RunError> {
        let files = setup.plan.files.iter().zip(&setup.plan.windows);
        let files = files.map(|(file, n)| FileWindows { file: file.clone(), windows: 0..*n }).collect();
        let start = Instant::now();
        let stream = WindowStream::new(files, setup.buffer(config), PrefetchMode::from_environment());
        let mut stream = agree_on(comm, stream.map_err(RunError::from))?;
        let first = agree_on(comm, stream.advance().map_err(RunError::from))?.expect("a run has a first window");
        agree_on(comm, verify_share(setup, first, 0, comm))?;
        let read = start.elapsed().as_secs_f64();
        let (_, window) = stream.current().expect("a run has a first window");
        let (state, notes) = setup.initial_state(config, window, comm)?;
        let emitters = emitters(config, setup, comm)?;
        let rules = expectations(config, &emitters, comm)?;
        let emitted = emission_totals(config, &rules, 3600.0 * setup.plan.hours);
        let mut engine = engine(config, setup, device, state, window, emitters, threads, comm)?;
        let mut initial = Vec::new();
        totals(&mut *engine, comm, &mut initial)?;
        let path = config.output.as_ref().and_then(|output| output.budget.as_deref());
        if let Some(path) = path {
            make_folder_of(path, comm)?;
        }
        let budgets = agree_on(comm, Budgets::new(rules, &initial[AIR + 1..], path, comm))?;
        let run = Self {
            clock: Clock::new(setup.header().dt_met_seconds()),
            total: Seconds { read, ..Seconds::default() },
            warned: HashSet::new(),
            config,
            setup,
            threads,
            comm,
            progress,
            stream,
            engine,
            snapshots: Snapshots::new(config, setup, budgets.series()),
            initial,
            budgets,
            books: Books::default(),
            found: Vec::new(),
        };
        let mut plan = run.plan(&emitted);
        plan.lines.extend(notes.into_iter().map(|note| ("initial", note)));
        run.progress.start(&plan);
        if let Some(notice) = run.engine.notice() {
            run.progress.warn(&notice);
        }
        Ok(run)
    }

    /// All windows, then the report.
    fn finish(mut self) -> Result<RunReport, RunError> {
        let Some((first, _)) = self.stream.current() else { unreachable!("a run has a first window") };
        self.open_snapshots(first)?;
        self.snapshot()?;
        let mut place = Some(first);
        while let Some(now) = place {
            self.window(now)?;
            let timed = timers::section(Timed::WindowAdvance);
            let start = Instant::now();
            place = agree_on(self.comm, self.stream.advance().map_err(RunError::from))?;
            if let Some(next) = place {
                agree_on(self.comm, verify_share(self.setup, next, self.clock.windows(), self.comm))?;
            }
            self.total.read += start.elapsed().as_secs_f64();
            drop(timed);
            if place.is_none_or(|next| next.file != now.file) && self.snapshots.daily() {
                self.snapshots.close(self.comm)?;
                if let Some(next) = place {
                    self.open_snapshots(next)?;
                }
            }
        }
        self.snapshots.close(self.comm)?;
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
        let report = RunReport { model_seconds, snapshots, files, budgets, ledger_refused, seconds };
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

    fn open_snapshots(&mut self, place: StreamPosition) -> Result<(), RunError> {
        self.snapshots.open(place.file, self.engine.shape().tracers(), self.setup, self.comm)
    }

    /// Writes a snapshot if one is due at the clock's time. Collective.
    fn snapshot(&mut self) -> Result<(), RunError> {
        self.total.write += self.snapshots.write(self.clock.hours(), &mut *self.engine, &self.budgets, self.comm)?;
        Ok(())
    }
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
