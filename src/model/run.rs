//! The run: windows, substeps, resets, snapshots.

use std::collections::HashSet;
use std::time::Instant;

use kernels::Scalar;

use super::checks::JOINED;
use super::clock::Clock;
use super::engine::{Engine, OpenDevice, engine, open_device, tracers_at_reset};
use super::error::{RunError, agree_on};
use super::report::{Budget, PlanReport, Progress, RunReport, WindowReport};
use super::setup::{Setup, float_name};
use super::snapshots::Snapshots;
use super::timing::RunTimers;
use crate::comm::Communicator;
use crate::config::{CflExcess, Chemistry, DecayCadence, RunConfig};
use crate::met::{FileWindows, FloatType, PrefetchMode, StreamPosition, WindowStream};
use crate::operators::advection::{CellBudget, MAX_PASSES};
use crate::operators::{Threads, WindowEnd};
use crate::state::AIR;
use crate::timers::{self, Timed};

/// Runs a configuration from start to end. Collective over `comm`.
///
/// # Errors
/// Anything wrong with the configuration or its files (found before any work), and what happens on the way. The lowest
/// failing rank returns its own error, the others [`RunError::Elsewhere`].
pub fn run(config: &RunConfig, comm: &dyn Communicator, progress: &mut dyn Progress) -> Result<RunReport, RunError> {
    refuse_physics(config)?;
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

fn refuse_physics(config: &RunConfig) -> Result<(), RunError> {
    let emits = config.tracers.iter().any(|tracer| !tracer.emissions.is_empty());
    let wanted = [
        (config.physics.diffusion.is_some(), "[diffusion]"),
        (config.physics.convection.is_some(), "[convection]"),
        (emits, "[tracers.<name>.surface_flux]"),
    ];
    wanted.iter().find(|(is_wanted, _)| *is_wanted).map_or(Ok(()), |(_, what)| Err(RunError::Physics(what)))
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
        let state = setup.initial_state(config, window, comm)?;
        let mut engine = engine(config, setup, device, state, window, threads, comm)?;
        let initial = totals(&mut *engine, comm)?;
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
            snapshots: Snapshots::new(config, setup),
            initial,
        };
        let plan = run.plan();
        run.progress.start(&plan);
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
        let last = totals(&mut *self.engine, self.comm)?;
        let decaying = &self.config.chemistry.decaying;
        let names = std::iter::once("air").chain(self.engine.shape().tracers().iter().map(String::as_str));
        let budgets = names
            .zip(self.initial.iter().zip(&last))
            .enumerate()
            .map(|(plane, (name, (initial, last)))| {
                let half_life = decaying.iter().find(|d| d.tracer + AIR + 1 == plane).map(|d| d.decay.half_life());
                Budget { name: name.into(), initial: *initial, last: *last, half_life_seconds: half_life }
            })
            .collect();
        let (snapshots, files) = (self.snapshots.written(), self.snapshots.files().to_vec());
        let seconds = self.total.list().to_vec();
        let report = RunReport { model_seconds: self.clock.seconds(), snapshots, files, budgets, seconds };
        self.progress.finish(&report);
        Ok(report)
    }

    /// One window: reset, substeps, end point, checks, snapshot.
    fn window(&mut self, place: StreamPosition) -> Result<(), RunError> {
        let before = self.total;
        let tracers = tracers_at_reset(self.config.settings.air_mass_reset);
        let (_, window) = self.stream.current().expect("the loop holds a window");
        let substeps = window.loaded().expect("the stream yields loaded windows").steps;
        let timed = timers::section(Timed::WindowAdvance);
        self.engine.begin_window(window)?;
        if self.clock.windows() > 0 {
            let jump = if place.window == 0 { self.engine.air_jump(window, self.comm)? } else { 0.0 };
            if let Some(tracers) = tracers {
                self.engine.reset_air(window, WindowEnd::Start, tracers)?;
            }
            if jump > JOINED {
                let message = format!(
                    "{}: its air mass at the start differs by {jump:.1e} of the largest cell from where the file before \
                     ends; uniform mixing ratios will not stay uniform (input.validate_replay = true refuses such files)",
                    self.file_name(place)
                );
                self.progress.warn(&message);
            }
        }
        drop(timed);
        self.clock.begin_window(substeps);
        let Chemistry { decaying, cadence } = &self.config.chemistry;
        let seconds = self.clock.window_seconds();
        if *cadence == DecayCadence::Symmetric {
            self.engine.decay(decaying, 0.5 * seconds)?;
        }
        let timed = timers::section(Timed::Advection);
        let start = Instant::now();
        let mut budget = None;
        let mut passes = 0;
        if self.engine.advects() {
            let (_, window) = self.stream.current().expect("the loop holds a window");
            let scan = timers::section(Timed::CflScan);
            let largest = self.engine.largest_budget(window, self.comm)?;
            drop(scan);
            passes = agree_on(self.comm, self.passes(place, substeps, largest))?;
            budget = Some(largest.ratio);
        }
        let (_, window) = self.stream.current().expect("the loop holds a window");
        for _ in 0..substeps {
            if passes > 0 {
                self.engine.substep(window, passes)?;
            }
            if *cadence == DecayCadence::Substep {
                self.engine.decay(decaying, seconds / f64::from(substeps))?;
            }
            self.clock.advance();
        }
        if let Some(tracers) = tracers {
            self.engine.reset_air(window, WindowEnd::End, tracers)?;
        }
        match cadence {
            DecayCadence::Window => self.engine.decay(decaying, seconds)?,
            DecayCadence::Symmetric => self.engine.decay(decaying, 0.5 * seconds)?,
            DecayCadence::Substep => {}
        }
        self.engine.look_ahead(&mut self.stream)?;
        let clamped = self.engine.take_clamped()?;
        self.total.advection += start.elapsed().as_secs_f64();
        drop(timed);
        self.check(place, substeps, clamped)?;
        self.snapshot()?;
        let seconds = difference(self.total, before).list();
        let name = self.file_name(place);
        self.progress.window(&WindowReport {
            file: name,
            window: place.window + 1,
            windows: self.setup.plan.windows[place.file],
            substeps,
            model_seconds: self.clock.seconds(),
            snapshots: self.snapshots.written(),
            max_cfl: budget,
            drift: &[],
            seconds: &seconds,
        });
        Ok(())
    }

    /// Passes per leg: 1 where the file states its own substeps, else as many as the limit asks for.
    fn passes(&mut self, place: StreamPosition, stored: u32, budget: CellBudget) -> Result<usize, RunError> {
        let (file, window, limit) = (self.file_name(place), place.window + 1, self.config.advection.cfl_limit);
        let scheduled = self.setup.plan.files[place.file].header().has_binary_schedule();
        match (budget.passes(limit), scheduled, self.config.advection.cfl_excess) {
            (Some(1), ..) => Ok(1),
            (None, ..) => Err(RunError::TooManyPasses { file: file.into(), window, budget, limit, most: MAX_PASSES }),
            (Some(passes), false, _) => Ok(passes),
            (Some(_), true, CflExcess::Stop) => {
                let steps = (budget.ratio / limit * f64::from(stored)).ceil();
                Err(RunError::Courant { file: file.into(), window, budget, limit, steps, stored })
            }
            (Some(_), true, CflExcess::Report) => {
                let message = format!(
                    "{file}, window {window}: the outflow budget of a substep is {budget}, above \
                     advection.cfl_limit = {limit}; the file's own {stored} substeps are used"
                );
                self.warn_once("courant", &message);
                Ok(1)
            }
        }
    }

    /// Clamped faces, air mass and finiteness at the end of a window. Collective.
    fn check(&mut self, place: StreamPosition, stored: u32, clamped: u64) -> Result<(), RunError> {
        let mut clamped = [clamped as i64];
        self.comm.sum_i64(&mut clamped);
        let (file, window, faces) = (self.file_name(place), place.window + 1, clamped[0] as u64);
        if faces > 0 {
            if self.config.advection.cfl_excess == CflExcess::Stop {
                return agree_on(self.comm, Err(RunError::Clamped { file: file.into(), window, faces, stored }));
            }
            let message = format!(
                "{file}, window {window}: at {faces} faces more air passes in one sweep than the donor cell holds; \
                 tracers move the donor's content there and uniform fields are not kept"
            );
            self.warn_once("clamped", &message);
        }
        let found = self.engine.first_unusable()?.map(|(place, value)| {
            let t = &self.setup.tiles.tiles()[place.tile];
            let tracer = place.plane.checked_sub(AIR + 1);
            RunError::State {
                file: file.into(),
                window,
                what: tracer.map_or("air mass".into(), |t| self.engine.shape().tracers()[t].clone()),
                value,
                k: place.level + 1,
                panel: t.panel.number(),
                i: t.i0 + place.i + 1,
                j: t.j0 + place.j + 1,
            }
        });
        agree_on(self.comm, found.map_or(Ok(()), Err))
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
        self.total.write += self.snapshots.write(self.clock.hours(), &mut *self.engine, self.comm)?;
        Ok(())
    }

    fn plan(&self) -> PlanReport {
        let (plan, header) = (&self.setup.plan, self.setup.header());
        let grid = plan.layout.tile_grid();
        let state = self.engine.shape();
        let memory = size_of_val(state.slabs().data());
        let scheme = self.config.advection.scheme.map_or("none", |s| s.name());
        let mut lines = vec![
            ("grid", format!("C{} {}, {} levels", plan.layout.nc(), header.panel_convention().tag(), plan.levels)),
            ("precision", float_name(self.config.settings.float_type).to_owned()),
            ("advection", scheme.to_owned()),
            ("tracers", state.tracers().join(", ")),
            (
                "ranks",
                format!(
                    "{} × {} threads, {} × {} tiles per panel, halo {}",
                    self.comm.size(),
                    self.threads.count(),
                    grid.px,
                    grid.py,
                    plan.layout.halo()
                ),
            ),
            ("state", format!("{:.1} MiB on this rank", memory as f64 / f64::from(1 << 20))),
            ("input", format!("{} file(s), {:.2} h", plan.files.len(), plan.hours)),
        ];
        let chemistry = &self.config.chemistry;
        if !chemistry.decaying.is_empty() {
            lines.push(("decay", chemistry.summary(&self.config.tracers)));
        }
        lines.extend(self.engine.place().map(|place| ("device", place)));
        PlanReport { lines, windows: plan.windows.iter().map(|n| *n as u64).sum() }
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
pub(super) fn totals<R: Scalar>(engine: &mut dyn Engine<R>, comm: &dyn Communicator) -> Result<Vec<f64>, RunError> {
    let found = engine.totals(comm)?.map_err(|(plane, source)| RunError::Total {
        what: plane.checked_sub(AIR + 1).map_or("air mass".into(), |t| engine.shape().tracers()[t].clone()),
        source,
    });
    agree_on(comm, found)
}
