//! From a configuration to open files, a grid and an initial state.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use kernels::Scalar;

use super::error::{RunError, agree_on};
use super::outlook::no_tiles;
use super::physics::window_physics;
use super::report::Progress;
use crate::comm::Communicator;
use crate::config::{AirMassReset, Preflight, RunConfig, Source};
use crate::diagnostics::plane_total;
use crate::files::{UnusableTarget, folder, writable_folder};
use crate::grid::{CubedSphere, HybridCoordinate};
use crate::gridded::Weights;
use crate::initial::{InitialContext, InitialState, initialise};
use crate::met::gates::{replay_tolerance, validate_replay};
use crate::met::synth::SynthOptions;
use crate::met::{FloatType, FluxForm, Header, Section, TransportFile, WindowBuffer, synth};
use crate::output::OutputError;
use crate::state::{AIR, PackedState, Slabs, TileSet};

/// Everything that is known before the first window is read. Collective.
pub(super) struct Setup {
    pub(super) plan: Preflight,
    pub(super) grid: CubedSphere,
    pub(super) vertical: HybridCoordinate,
    pub(super) tiles: Arc<TileSet>,
    /// Name of each transport file, without its folder.
    pub(super) file_names: Vec<String>,
    /// UTC time of hour 0, if the files or the configuration state it.
    pub(super) origin: Option<DateTime>,
}

impl Setup {
    /// Checks the configuration against its files (making synthetic winds first) and builds grid and tiles.
    pub(super) fn new(
        config: &RunConfig,
        comm: &dyn Communicator,
        progress: &mut dyn Progress,
    ) -> Result<Self, RunError> {
        let mut plan = agree_on(comm, config.preflight(comm.size()).map_err(RunError::from))?;
        if let Source::Synthetic(options) = &config.input.source {
            let path = synthetic_path(config);
            make_folder_of(&path, comm)?;
            let made = if comm.rank() == 0 { synth::write(&path, options, |_| {}).map(drop) } else { Ok(()) };
            agree_on(comm, made.map_err(RunError::from))?;
            let file = agree_on(comm, TransportFile::open(&path).map_err(RunError::from))?;
            plan.files = vec![Arc::new(file)];
        }
        agree_on(comm, if comm.rank() == 0 { check_places(config, &plan.labels) } else { Ok(()) })?;
        plan.warnings.iter().for_each(|warning| progress.warn(warning));
        agree_on(comm, check_tendencies(config, &plan))?;
        if config.input.validate_replay {
            agree_on(comm, replay_share(config, &plan, comm))?;
        }
        let header = plan.files[0].header();
        let (grid, vertical) = agree_on(comm, geometry(header).map_err(RunError::from))?;
        let tiles = Arc::new(TileSet::new(plan.layout.tiles_of(comm.rank()).to_vec(), config.settings.halo));
        let origin = origin(config, header);
        let file_names = plan.files.iter().map(|file| file_name(file.path())).collect();
        Ok(Self { plan, grid, vertical, tiles, file_names, origin })
    }

    /// A set-up for `ranks` ranks without cells of its own, to see what a run would take. Of winds that the run would make one
    /// window is made on few cells, and thrown away.
    pub(super) fn planned(config: &RunConfig, ranks: usize) -> Result<Self, RunError> {
        let mut plan = config.preflight(ranks)?;
        if let Source::Synthetic(options) = &config.input.source {
            let few = SynthOptions { nc: options.nc.min(SAMPLE_NC), windows: 1, ..options.clone() };
            let io = |source| OutputError::Io { path: std::env::temp_dir(), source };
            let folder = tempfile::tempdir().map_err(io)?;
            let path = folder.path().join("winds.bin");
            synth::write(&path, &few, |_| {})?;
            plan.files = vec![Arc::new(TransportFile::open(&path)?)];
        }
        let header = plan.files[0].header();
        let (grid, vertical) = geometry(header)?;
        let origin = origin(config, header);
        let file_names = plan.files.iter().map(|file| file_name(file.path())).collect();
        Ok(Self { plan, grid, vertical, tiles: no_tiles(config.settings.halo), file_names, origin })
    }

    /// Header of the first file.
    pub(super) fn header(&self) -> &Header {
        self.plan.files[0].header()
    }

    /// Sections a run reads.
    pub(super) fn buffer<R: Scalar>(&self, config: &RunConfig) -> WindowBuffer<R> {
        let mut sections = vec![Section::AirMass, Section::FluxX, Section::FluxY, Section::FluxZ];
        if config.settings.air_mass_reset != AirMassReset::None {
            sections.push(Section::AirMassTendency);
        }
        if needs_surface_pressure(config) {
            sections.push(Section::SurfacePressure);
        }
        let (derived, needed) = window_physics(config, self);
        sections.extend(needed);
        let written = config.output.iter().flat_map(|output| &output.fields.meteorology);
        sections.extend(written.flat_map(|field| field.needs()).map(|(section, _)| *section));
        let buffer = WindowBuffer::new(self.tiles.clone(), self.header(), &sections);
        buffer.with_flux_form(FluxForm::HalfSweep).with_derived(derived)
    }

    /// State at the start of the first window, and what there is to say about it. Collective.
    pub(super) fn initial_state<R: Scalar>(
        &self,
        config: &RunConfig,
        window: &WindowBuffer<R>,
        comm: &dyn Communicator,
    ) -> Result<(PackedState<R>, Vec<String>), RunError> {
        let names = config.tracers.iter().map(|t| t.name.clone()).collect();
        let mut state = PackedState::zeros(self.tiles.clone(), self.plan.levels, names);
        let air = window.get(Section::AirMass).expect("every run reads the air mass");
        for level in 0..state.levels() {
            for tile in 0..self.tiles.len() {
                state.slabs_mut().plane_mut(level, tile, AIR).copy_from_slice(air.plane(level, tile, 0));
            }
        }
        let none = Slabs::zeros(self.tiles.clone(), 1, 1);
        let surface_pressure = window.get(Section::SurfacePressure).unwrap_or(&none);
        let weights = Weights::new(config.settings.regridder_cache_dir.as_deref());
        let (grid, vertical, weights) = (&self.grid, &self.vertical, &weights);
        let context = InitialContext { grid, vertical, surface_pressure, weights, comm };
        let mut notes = Vec::new();
        for (index, tracer) in config.tracers.iter().enumerate() {
            let in_file =
                agree_on(comm, initialise(&mut state, index, &tracer.initial, &context).map_err(RunError::from))?;
            let Some(in_file) = in_file else { continue };
            let what = || format!("the initial state of {}", tracer.name);
            let total = plane_total(comm, state.slabs(), index + 1);
            let total = agree_on(comm, total.map_err(|source| RunError::Total { what: what(), source }))?;
            notes.push(format!("{}: {total:.6e} kg of carrier air, {in_file:.6e} in the file", tracer.name));
        }
        Ok((state, notes))
    }
}

/// Cells per panel edge of winds that show what a file would hold.
const SAMPLE_NC: usize = 12;

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn needs_surface_pressure(config: &RunConfig) -> bool {
    config.tracers.iter().any(|t| matches!(t.initial, InitialState::PressureLayer { .. } | InitialState::Field(_)))
}

/// Makes the folder that a file is to lie in. Collective.
pub(super) fn make_folder_of(path: &Path, comm: &dyn Communicator) -> Result<(), RunError> {
    let folder = path.parent().filter(|folder| comm.rank() == 0 && !folder.as_os_str().is_empty());
    let made = folder.map_or(Ok(()), |folder| {
        std::fs::create_dir_all(folder).map_err(|source| OutputError::Io { path: folder.into(), source })
    });
    agree_on(comm, made.map_err(RunError::from))
}

/// Refuses folders in which no file can be made, before any work is done for them.
fn check_places(config: &RunConfig, labels: &[String]) -> Result<(), RunError> {
    let usable = |path: &Path| {
        let problem = |error: UnusableTarget| OutputError::Content { path: path.into(), problem: error.to_string() };
        writable_folder(path).map_err(problem)
    };
    if let Some(output) = &config.output {
        let spec = output.spec(None);
        let files = labels.iter().map(|label| spec.path_for(label)).chain(output.budget.clone());
        let folders: BTreeSet<PathBuf> = files.map(|file| folder(&file).to_path_buf()).collect();
        folders.iter().try_for_each(|folder| usable(folder))?;
    }
    Ok(config.restart.as_ref().map_or(Ok(()), |restart| usable(restart.folder.path()))?)
}

/// Synthetic winds lie beside the output, or beside the configuration if nothing is written.
fn synthetic_path(config: &RunConfig) -> PathBuf {
    let beside = config.output.as_ref().map_or(&config.path, |output| &output.path);
    let stem = config.path.file_stem().unwrap_or_default().to_string_lossy();
    beside.with_file_name(format!("{stem}.winds.bin"))
}

/// A reset of the air mass at window ends needs their end points.
fn check_tendencies(config: &RunConfig, plan: &Preflight) -> Result<(), RunError> {
    if config.settings.air_mass_reset == AirMassReset::None {
        return Ok(());
    }
    match plan.files.iter().find(|f| !f.header().has(Section::AirMassTendency)) {
        Some(file) => Err(RunError::NoTendency { file: file.path().display().to_string() }),
        None => Ok(()),
    }
}

/// Replays this rank's share of the windows.
fn replay_share(config: &RunConfig, plan: &Preflight, comm: &dyn Communicator) -> Result<(), RunError> {
    for (n, file) in plan.files.iter().enumerate() {
        // Values stored in Float32 cannot meet the limit of Float64, whatever the precision of the run.
        let [run, stored] = [config.settings.float_type, file.header().float_type()].map(replay_tolerance);
        let tolerance = run.max(stored);
        let (windows, ranks) = (plan.windows[n], comm.size());
        let share = |rank: usize| rank * windows / ranks;
        let next = plan.files.get(n + 1).map(Arc::as_ref);
        validate_replay(file, share(comm.rank())..share(comm.rank() + 1), tolerance, next)?;
    }
    Ok(())
}

fn geometry(header: &Header) -> Result<(CubedSphere, HybridCoordinate), crate::grid::GridError> {
    Ok((header.cube()?, HybridCoordinate::new(header.a_ifc().to_vec(), header.b_ifc().to_vec())?))
}

fn origin(config: &RunConfig, header: &Header) -> Option<DateTime> {
    let configured = match &config.input.source {
        Source::Files { start_date: Some(date), .. } => Some(date.to_datetime(Time::midnight())),
        _ => None,
    };
    configured.or_else(|| header.start_time_utc().map(|t| TimeZone::UTC.to_datetime(t)))
}

/// Name of a precision as in configuration files.
pub(super) fn float_name(float_type: FloatType) -> &'static str {
    match float_type {
        FloatType::Float32 => f32::NAME,
        FloatType::Float64 => f64::NAME,
    }
}
