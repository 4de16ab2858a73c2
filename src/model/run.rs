//! The run: windows, substeps, resets, snapshots.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Instant;

use kernels::Scalar;
use kernels::cpu::SweepStats;

use super::air_mass::{reset_to_end, reset_to_start};
use super::checks::{JOINED, first_bad_cell, largest_jump};
use super::clock::Clock;
use super::error::{RunError, agree_on};
use super::report::{Budget, PlanReport, Progress, RunReport, WindowReport};
use super::setup::{Setup, float_name, make_folder_of};
use crate::comm::Communicator;
use crate::config::{AirMassReset, CflExcess, RunConfig};
use crate::diagnostics::tracer_totals;
use crate::met::{FileWindows, FloatType, PrefetchMode, Section, StreamPosition, WindowBuffer, WindowStream};
use crate::operators::Threads;
use crate::operators::advection::{Advection, CellBudget, MAX_PASSES, Winds, largest_budget};
use crate::output::{OutputSpec, SnapshotFrame, SnapshotWriter, Split};
use crate::state::{AIR, PackedState, Slabs};

/// Runs a configuration from start to end. Collective over `comm`.
///
/// # Errors
/// Anything wrong with the configuration or its files (found before any work), and what happens on the way. The lowest
/// failing rank returns its own error, the others [`RunError::Elsewhere`].
pub fn run(config: &RunConfig, comm: &dyn Communicator, progress: &mut dyn Progress) -> Result<RunReport, RunError> {
    let setup = Setup::new(config, comm, progress)?;
    let threads = agree_on(comm, Threads::new(thread_count(config, comm)).map_err(RunError::from))?;
    match config.settings.float_type {
        FloatType::Float32 => threads.install(|| Run::<f32>::new(config, &setup, &threads, comm, progress)?.finish()),
        FloatType::Float64 => threads.install(|| Run::<f64>::new(config, &setup, &threads, comm, progress)?.finish()),
    }
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
    state: PackedState<R>,
    advection: Option<Advection<R>>,
    clock: Clock,
    output: Option<Output<R>>,
    initial: Vec<f64>,
    total: Seconds,
    warned: HashSet<&'static str>,
}

/// Snapshot files of a run.
struct Output<R> {
    spec: OutputSpec,
    writer: Option<SnapshotWriter<R>>,
    /// Snapshot hours still to come, the next one last.
    due: Vec<f64>,
    snapshots: usize,
    files: Vec<PathBuf>,
}

impl<'a, R: Scalar> Run<'a, R> {
    fn new(
        config: &'a RunConfig,
        setup: &'a Setup,
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
        let advection =
            config.advection.scheme.map(|scheme| Advection::new(scheme, &setup.plan.layout, &state, threads, comm));
        let output = config.output.as_ref().map(|output| Output {
            spec: output.spec(setup.origin),
            writer: None,
            due: setup.plan.snapshot_hours.iter().rev().copied().collect(),
            snapshots: 0,
            files: Vec::new(),
        });
        let initial = totals(&state, comm)?;
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
            state,
            advection,
            output,
            initial,
        };
        let plan = run.plan();
        run.progress.start(&plan);
        Ok(run)
    }

    /// All windows, then the report.
    fn finish(mut self) -> Result<RunReport, RunError> {
        let Some((first, _)) = self.stream.current() else { unreachable!("a run has a first window") };
        self.open_output(first)?;
        self.snapshot()?;
        let mut place = Some(first);
        while let Some(now) = place {
            self.window(now)?;
            let start = Instant::now();
            place = agree_on(self.comm, self.stream.advance().map_err(RunError::from))?;
            if let Some(next) = place {
                agree_on(self.comm, verify_share(self.setup, next, self.clock.windows(), self.comm))?;
            }
            self.total.read += start.elapsed().as_secs_f64();
            if place.is_none_or(|next| next.file != now.file) && self.daily() {
                self.close_output()?;
                if let Some(next) = place {
                    self.open_output(next)?;
                }
            }
        }
        self.close_output()?;
        let last = totals(&self.state, self.comm)?;
        let names = std::iter::once("air").chain(self.state.tracers().iter().map(String::as_str));
        let budgets = names
            .zip(self.initial.iter().zip(&last))
            .map(|(name, (initial, last))| Budget { name: name.into(), initial: *initial, last: *last })
            .collect();
        let (snapshots, files) = self.output.map_or((0, Vec::new()), |o| (o.snapshots, o.files));
        let seconds = self.total.list().to_vec();
        let report = RunReport { model_seconds: self.clock.seconds(), snapshots, files, budgets, seconds };
        self.progress.finish(&report);
        Ok(report)
    }

    /// One window: reset, substeps, end point, checks, snapshot.
    fn window(&mut self, place: StreamPosition) -> Result<(), RunError> {
        let before = self.total;
        let mode = self.config.settings.air_mass_reset;
        let (_, window) = self.stream.current().expect("the loop holds a window");
        let loaded = window.loaded().expect("the stream yields loaded windows");
        let substeps = loaded.steps;
        if self.clock.windows() > 0 {
            let start = field(window, Section::AirMass);
            let jump = if place.window == 0 { largest_jump(&self.state, start, self.comm) } else { 0.0 };
            if jump > JOINED {
                let message = format!(
                    "{}: its air mass at the start differs by {jump:.1e} of the largest cell from where the file before \
                     ends; uniform mixing ratios will not stay uniform (input.validate_replay = true refuses such files)",
                    self.file_name(place)
                );
                self.progress.warn(&message);
            }
            reset_to_start(&mut self.state, mode, field(window, Section::AirMass));
        }
        self.clock.begin_window(substeps);
        let start = Instant::now();
        let mut stats = SweepStats::default();
        let mut budget = None;
        if let Some(mut advection) = self.advection.take() {
            let largest = largest_budget(self.state.slabs(), winds(window), self.comm);
            let passes = agree_on(self.comm, self.passes(place, substeps, largest))?;
            let (_, window) = self.stream.current().expect("the loop holds a window");
            for _ in 0..substeps {
                stats = stats.merge(advection.substep(&mut self.state, winds(window), passes, None, self.threads));
                self.clock.advance();
            }
            self.advection = Some(advection);
            budget = Some(largest.ratio);
        } else {
            (0..substeps).for_each(|_| self.clock.advance());
        }
        let (_, window) = self.stream.current().expect("the loop holds a window");
        if mode != AirMassReset::None {
            let tendency = field(window, Section::AirMassTendency);
            reset_to_end(&mut self.state, mode, field(window, Section::AirMass), tendency);
        }
        self.total.advection += start.elapsed().as_secs_f64();
        self.check(place, substeps, stats)?;
        self.snapshot()?;
        let seconds = difference(self.total, before).list();
        let name = self.file_name(place);
        self.progress.window(&WindowReport {
            file: &name,
            window: place.window + 1,
            windows: self.setup.plan.windows[place.file],
            substeps,
            model_seconds: self.clock.seconds(),
            snapshots: self.output.as_ref().map_or(0, |o| o.snapshots),
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
            (None, ..) => Err(RunError::TooManyPasses { file, window, budget, limit, most: MAX_PASSES }),
            (Some(passes), false, _) => Ok(passes),
            (Some(_), true, CflExcess::Stop) => {
                let steps = (budget.ratio / limit * f64::from(stored)).ceil();
                Err(RunError::Courant { file, window, budget, limit, steps, stored })
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
    fn check(&mut self, place: StreamPosition, stored: u32, stats: SweepStats) -> Result<(), RunError> {
        let mut clamped = [stats.clamped as i64];
        self.comm.sum_i64(&mut clamped);
        let (file, window, faces) = (self.file_name(place), place.window + 1, clamped[0] as u64);
        if faces > 0 {
            if self.config.advection.cfl_excess == CflExcess::Stop {
                return agree_on(self.comm, Err(RunError::Clamped { file, window, faces, stored }));
            }
            let message = format!(
                "{file}, window {window}: at {faces} faces more air passes in one sweep than the donor cell holds; \
                 tracers move the donor's content there and uniform fields are not kept"
            );
            self.warn_once("clamped", &message);
        }
        let found = first_bad_cell(&self.state).map(|(level, tile, plane, i, j)| {
            let t = &self.setup.tiles.tiles()[tile];
            let cell = self.setup.tiles.shapes()[tile].row_start(j) + i;
            RunError::State {
                file,
                window,
                what: if plane == AIR { "air mass".into() } else { self.state.tracers()[plane - 1].clone() },
                value: self.state.slabs().plane(level, tile, plane)[cell].to_f64(),
                k: level + 1,
                panel: t.panel.number(),
                i: t.i0 + i + 1,
                j: t.j0 + j + 1,
            }
        });
        agree_on(self.comm, found.map_or(Ok(()), Err))
    }

    fn warn_once(&mut self, kind: &'static str, message: &str) {
        if self.warned.insert(kind) {
            self.progress.warn(message);
        }
    }

    fn file_name(&self, place: StreamPosition) -> String {
        let path = self.setup.plan.files[place.file].path();
        path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
    }

    fn daily(&self) -> bool {
        self.output.as_ref().is_some_and(|o| o.spec.split == Split::Daily)
    }

    fn open_output(&mut self, place: StreamPosition) -> Result<(), RunError> {
        let Some(output) = &mut self.output else { return Ok(()) };
        let (setup, tracers) = (self.setup, self.state.tracers());
        let label = &setup.plan.labels[place.file];
        let writer = SnapshotWriter::create(
            &output.spec,
            label,
            &setup.grid,
            tracers,
            setup.plan.levels,
            &setup.tiles,
            self.comm,
        );
        let writer = agree_on(self.comm, writer.map_err(RunError::from))?;
        make_folder_of(writer.path(), self.comm)?;
        output.writer = Some(writer);
        Ok(())
    }

    fn close_output(&mut self) -> Result<(), RunError> {
        let Some(output) = &mut self.output else { return Ok(()) };
        if let Some(writer) = output.writer.take()
            && writer.frames() > 0
        {
            output.files.push(writer.path().to_path_buf());
            agree_on(self.comm, writer.finish(self.comm).map_err(RunError::from))?;
        }
        Ok(())
    }

    /// Writes a snapshot if one is due at the clock's time. Collective.
    fn snapshot(&mut self) -> Result<(), RunError> {
        let hours = self.clock.hours();
        let Some(output) = &mut self.output else { return Ok(()) };
        let Some(_) = output.due.pop_if(|due| (*due - hours).abs() < SAME_HOUR) else { return Ok(()) };
        let start = Instant::now();
        let totals = totals(&self.state, self.comm)?;
        let frame =
            SnapshotFrame { hours, state: self.state.slabs(), tracers: self.state.tracers(), total_mass: &totals[1..] };
        let writer = output.writer.as_mut().expect("a file is open while the run goes on");
        agree_on(self.comm, writer.append(&frame, self.comm).map_err(RunError::from))?;
        output.snapshots += 1;
        self.total.write += start.elapsed().as_secs_f64();
        Ok(())
    }

    fn plan(&self) -> PlanReport {
        let (plan, header) = (&self.setup.plan, self.setup.header());
        let grid = plan.layout.tile_grid();
        let state = self.state.slabs();
        let memory = size_of_val(state.data());
        let scheme = self.config.advection.scheme.map_or("none", |s| s.name());
        let lines = vec![
            ("grid", format!("C{} {}, {} levels", plan.layout.nc(), header.panel_convention().tag(), plan.levels)),
            ("precision", float_name(self.config.settings.float_type).to_owned()),
            ("advection", scheme.to_owned()),
            ("tracers", self.state.tracers().join(", ")),
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
        PlanReport { lines, windows: plan.windows.iter().map(|n| *n as u64).sum() }
    }
}

/// Two hours this close are the same time.
const SAME_HOUR: f64 = 1e-6;

/// Verifies the stored checksum of a window on one rank, each rank in its turn. A single rank has done so on loading.
fn verify_share(setup: &Setup, place: StreamPosition, windows: u64, comm: &dyn Communicator) -> Result<(), RunError> {
    let ranks = comm.size() as u64;
    if ranks == 1 || windows % ranks != comm.rank() as u64 {
        return Ok(());
    }
    Ok(setup.plan.files[place.file].verify(place.window)?)
}

fn field<R: Scalar>(window: &WindowBuffer<R>, section: Section) -> &Slabs<R> {
    window.get(section).expect("the buffer was made with every section the run uses")
}

fn winds<R: Scalar>(window: &WindowBuffer<R>) -> Winds<'_, R> {
    Winds {
        x: field(window, Section::FluxX),
        y: field(window, Section::FluxY),
        z: field(window, Section::FluxZ),
        scale: window.loaded().map_or(1.0, |loaded| loaded.flux_scale),
    }
}

fn difference(now: Seconds, before: Seconds) -> Seconds {
    Seconds {
        advection: now.advection - before.advection,
        read: now.read - before.read,
        write: now.write - before.write,
    }
}

/// Exact totals: air, then tracers. Collective.
fn totals<R: Scalar>(state: &PackedState<R>, comm: &dyn Communicator) -> Result<Vec<f64>, RunError> {
    let found = tracer_totals(comm, state).map_err(|(plane, source)| RunError::Total {
        what: if plane == AIR { "air mass".into() } else { state.tracers()[plane - 1].clone() },
        source,
    });
    agree_on(comm, found)
}
