//! What a restart file holds, and whether it fits a configuration.

use kernels::Scalar;
use serde::{Deserialize, Serialize};

use super::budget::BudgetState;
use super::control::{Accepted, StartFrom};
use super::engine::Kept;
use super::error::{RunError, agree_on};
use super::setup::{Setup, float_name};
use crate::comm::Communicator;
use crate::config::{Carries, Restart, RunConfig};
use crate::met::StreamPosition;
use crate::operators::columns::Emitter;
use crate::restart::{FieldLevels, RestartError, RestartFile};
use crate::state::{AIR, PackedState, Slabs};

/// The state between two windows that is no field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RunState {
    /// What the run is, aspect by aspect.
    pub(super) identity: Vec<Aspect>,
    /// Windows that are finished.
    pub(super) windows: u64,
    /// Totals at the start of the run: air, then tracers, kg.
    pub(super) initial: Vec<f64>,
    /// Budgets of the tracers.
    pub(super) budgets: BudgetState,
    /// Snapshots written.
    pub(super) snapshots: usize,
    /// The output file that is being written.
    pub(super) output: Option<OutputPlace>,
    /// Hour at which the sums for the next snapshot began.
    #[serde(default)]
    pub(super) interval_start: f64,
    /// Windows since.
    #[serde(default)]
    pub(super) interval_windows: u64,
}

/// How far an output file is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OutputPlace {
    /// Transport file to which it belongs, from 0.
    pub(super) file: usize,
    /// Snapshots in it.
    pub(super) frames: usize,
}

/// Something on which the results of a run depend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Aspect {
    name: String,
    /// In words.
    value: String,
    /// Checksum of all that the words may leave out.
    crc32c: u32,
}

impl Aspect {
    fn new(name: &str, value: impl Into<String>, all: &str) -> Self {
        Self { name: name.into(), value: value.into(), crc32c: crc32c::crc32c(all.as_bytes()) }
    }

    fn accepted(&self) -> Option<Accepted> {
        Accepted::ALL.iter().find(|(name, _)| *name == self.name).map(|(_, accepted)| *accepted)
    }
}

/// What a run is, up to `windows` windows from its start.
fn identity(config: &RunConfig, setup: &Setup, windows: u64) -> Vec<Aspect> {
    let (header, grid) = (setup.header(), &setup.grid);
    let plain = |name: &str, value: String| Aspect::new(name, value.clone(), &value);
    let names: Vec<&str> = config.tracers.iter().map(|t| t.name.as_str()).collect();
    let interfaces = format!("{:?} {:?}", setup.vertical.a(), setup.vertical.b());
    let physics = &config.physics;
    let vertical = format!("diffusion {}, convection {}", physics.diffusion_summary(), physics.convection_summary());
    let settings = &config.settings;
    let acting = format!("{physics:?} {:?} {:?}", settings.physics_cadence, settings.air_mass_reset);
    let advection = config.advection.summary(&config.tracers);
    let signs: Vec<_> = config.tracers.iter().map(|t| t.sign).collect();
    let sources = config.source_summaries().join("; ");
    let sources = if sources.is_empty() { "none".to_owned() } else { sources };
    let (files, crc32c) = meteorology(setup, windows);
    vec![
        plain("precision", float_name(settings.float_type).into()),
        plain("grid", format!("C{} {}", grid.nc(), header.panel_convention().tag())),
        Aspect::new("levels", setup.vertical.levels().to_string(), &interfaces),
        plain("window", format!("{} s", header.dt_met_seconds())),
        plain("start", setup.origin.map_or("unknown".into(), |origin| origin.to_string())),
        plain("tracers", names.join(", ")),
        Aspect::new("advection", advection, &format!("{:?} {signs:?}", config.advection)),
        Aspect::new("physics", vertical, &acting),
        Aspect::new("chemistry", config.chemistry.summary(&config.tracers), &format!("{:?}", config.chemistry)),
        Aspect::new("sources", sources.clone(), &sources),
        Aspect { name: "meteorology".into(), value: files, crc32c },
    ]
}

/// The transport files of the first `windows` windows: in words, and a checksum of all that their headers say, checksums of
/// the payload among it.
fn meteorology(setup: &Setup, windows: u64) -> (String, u32) {
    let (mut left, mut sum, mut last) = (windows, 0, 0);
    for (n, (file, count)) in setup.plan.files.iter().zip(&setup.plan.windows).enumerate() {
        let text = serde_json::to_string(file.header().json()).unwrap_or_default();
        sum = crc32c::crc32c_append(sum, text.as_bytes());
        last = n;
        if left <= *count as u64 {
            break;
        }
        left -= *count as u64;
    }
    (format!("{} windows, the last ones of {}", windows, setup.file_names[last]), sum)
}

/// The window after the first `windows` ones; `None` if there are no more.
pub(super) fn next_window(setup: &Setup, windows: u64) -> Option<StreamPosition> {
    let mut left = usize::try_from(windows).ok()?;
    for (file, count) in setup.plan.windows.iter().enumerate() {
        if left < *count {
            return Some(StreamPosition { file, window: left });
        }
        left -= count;
    }
    None
}

impl RunState {
    /// What is written after `windows` windows.
    pub(super) fn new(
        config: &RunConfig,
        setup: &Setup,
        windows: u64,
        (initial, budgets): (&[f64], BudgetState),
        (snapshots, output): (usize, Option<OutputPlace>),
    ) -> Self {
        let identity = identity(config, setup, windows);
        Self {
            identity,
            windows,
            initial: initial.to_vec(),
            budgets,
            snapshots,
            output,
            interval_start: 0.0,
            interval_windows: 0,
        }
    }

    /// As JSON in ASCII.
    pub(super) fn to_text(&self) -> String {
        let text = serde_json::to_string(self).expect("numbers and texts are JSON");
        let mut ascii = String::with_capacity(text.len());
        for c in text.chars() {
            match c.is_ascii() {
                true => ascii.push(c),
                false => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| ascii += &format!("\\u{unit:04x}")),
            }
        }
        ascii
    }

    /// The state in a file, which must fit the configuration, and what differs but is accepted.
    fn of_file(
        file: &RestartFile,
        config: &RunConfig,
        setup: &Setup,
        accepted: &[Accepted],
    ) -> Result<(Self, Vec<String>), RestartError> {
        let state: Self = serde_json::from_str(file.state())
            .map_err(|e| file.damaged(format!("the state of the run in it cannot be understood ({e})")))?;
        let whole: u64 = setup.plan.windows.iter().map(|n| *n as u64).sum();
        let (mut refused, mut notes) = (Vec::new(), Vec::new());
        if state.windows > whole {
            refused.push(format!(
                "it was written after {} windows, the configured run has {whole}: add transport files, or choose an earlier file",
                state.windows
            ));
        }
        for (own, stored) in identity(config, setup, state.windows.min(whole)).iter().zip(&state.identity) {
            if own == stored {
                continue;
            }
            let (name, here, there) = (&own.name, &own.value, &stored.value);
            let differs = match here == there {
                true => format!("{name}: options or contents differ ({here})"),
                false => format!("{name}: \"{there}\" in the file, \"{here}\" here"),
            };
            match own.accepted() {
                Some(one) if accepted.contains(&one) => notes.push(differs),
                Some(_) => refused.push(format!("{differs}; --allow {name} goes on nevertheless")),
                None => refused.push(differs),
            }
        }
        let (tracers, planes) = (config.tracers.len(), config.tracers.len() + 1);
        let complete = state.initial.len() == planes && state.budgets.tracers() == tracers && state.windows > 0;
        match (refused.is_empty(), complete) {
            (true, true) => Ok((state, notes)),
            (true, false) => Err(file.damaged("the state of the run in it is not complete")),
            (false, _) => Err(RestartError::Differs { path: file.path().into(), differences: refused }),
        }
    }
}

/// A restart file that fits.
pub(super) struct Resumed {
    pub(super) file: RestartFile,
    pub(super) state: RunState,
    /// What to tell the user.
    pub(super) notes: Vec<String>,
    /// Whether the configuration is in all the one that wrote the file.
    pub(super) same: bool,
}

/// The restart file from which the run starts, if any. Collective.
pub(super) fn resumed(
    config: &RunConfig,
    setup: &Setup,
    from: &StartFrom,
    accepted: &[Accepted],
    comm: &dyn Communicator,
) -> Result<Option<Resumed>, RunError> {
    let (path, mut notes) = agree_on(comm, chosen(config, from, comm).map_err(RunError::from))?;
    let path = comm.broadcast(path.into_bytes());
    if path.is_empty() {
        return Ok(None);
    }
    let path = std::path::PathBuf::from(String::from_utf8_lossy(&path).into_owned());
    let whole = if comm.rank() == 0 { RestartFile::check(&path) } else { Ok(()) };
    agree_on(comm, whole.map_err(RunError::from))?;
    let opened = RestartFile::open(&path).and_then(|file| {
        let (state, differences) = RunState::of_file(&file, config, setup, accepted)?;
        let same = differences.is_empty();
        notes.extend(differences.into_iter().map(|d| format!("going on although the restart file differs: {d}")));
        Ok(Resumed { file, state, notes, same })
    });
    agree_on(comm, opened.map(Some).map_err(RunError::from))
}

/// Path of the restart file, found by rank 0; empty: the beginning. And what is odd about it.
fn chosen(
    config: &RunConfig,
    from: &StartFrom,
    comm: &dyn Communicator,
) -> Result<(String, Vec<String>), RestartError> {
    let Some(Restart { folder, .. }) = config.restart.as_ref().filter(|_| comm.rank() == 0) else {
        // A file may be named without a table [restart].
        return Ok(match from {
            StartFrom::File(path) if comm.rank() == 0 => (path.to_string_lossy().into_owned(), Vec::new()),
            _ => Default::default(),
        });
    };
    let latest = || -> Result<(String, Vec<String>), RestartError> {
        let (file, damaged) = folder.latest()?;
        let path = file.map(|file| file.path().to_string_lossy().into_owned());
        Ok((path.unwrap_or_default(), damaged.iter().map(ToString::to_string).collect()))
    };
    match from {
        StartFrom::Anew => Ok(Default::default()),
        StartFrom::Beginning => match folder.files()?.into_iter().next() {
            None => Ok(Default::default()),
            Some(path) => Err(RestartError::Present { path }),
        },
        StartFrom::LatestIfAny => latest(),
        StartFrom::Latest => match latest()? {
            (path, _) if path.is_empty() => Err(RestartError::None { folder: folder.path().into() }),
            found => Ok(found),
        },
        StartFrom::File(path) => Ok((path.to_string_lossy().into_owned(), Vec::new())),
    }
}

/// A field that vertical physics keeps: where, the name of its variable, and what it is.
pub(super) struct KeptField {
    pub(super) kept: Kept,
    pub(super) name: String,
    pub(super) long_name: String,
}

/// All fields that the physics of a run keeps.
pub(super) fn kept_fields<R: Scalar>(config: &RunConfig, emitters: &[Emitter<R>]) -> Vec<KeptField> {
    let mut fields = Vec::new();
    for (n, tracer) in config.tracers.iter().enumerate() {
        let mut carry = |kept, operator: &str| {
            fields.push(KeptField {
                kept,
                name: format!("{}.{operator}_carry", tracer.name),
                long_name: format!("rounding that the {operator} of {} still owes", tracer.name),
            });
        };
        if config.physics.diffusion.is_some() {
            carry(Kept::Diffusion(n), "diffusion");
        }
        if config.physics.convection.is_some() {
            carry(Kept::Convection(n), "convection");
        }
    }
    fields.extend(emitters.iter().enumerate().map(|(n, emitter)| {
        let tracer = &config.tracers[emitter.tracer].name;
        KeptField {
            kept: Kept::Source(n),
            name: format!("{tracer}.source_{}_compensation", n + 1),
            long_name: format!("what the lowest layer holds too much of source {} of {tracer}", n + 1),
        }
    }));
    fields
}

impl Resumed {
    /// Air and tracers. Collective.
    pub(super) fn fields<R: Scalar>(
        &self,
        config: &RunConfig,
        setup: &Setup,
        comm: &dyn Communicator,
    ) -> Result<PackedState<R>, RunError> {
        let names: Vec<String> = config.tracers.iter().map(|t| t.name.clone()).collect();
        let mut state = PackedState::zeros(setup.tiles.clone(), setup.plan.levels, names.clone());
        for (plane, name) in std::iter::once(AIR_MASS.to_owned()).chain(names).enumerate() {
            let place = (state.slabs_mut(), AIR + plane, FieldLevels::All);
            let read = self.file.read_plane(&name, place, setup.grid.nc(), comm);
            agree_on(comm, read.map_err(RunError::from))?;
        }
        Ok(state)
    }

    /// What physics keeps; `None` where it starts again from nothing. Collective.
    pub(super) fn kept<R: Scalar>(
        &self,
        config: &RunConfig,
        setup: &Setup,
        field: &KeptField,
        comm: &dyn Communicator,
    ) -> Result<Option<Slabs<R>>, RunError> {
        if config.restart.as_ref().is_some_and(|restart| restart.carries == Carries::Reset) {
            return Ok(None);
        }
        let mut slabs = Slabs::zeros(setup.tiles.clone(), 1, 1);
        // Operators and sources that are new by agreement have kept nothing yet.
        if self.same || self.file.has(&field.name) {
            let read = self.file.read_plane(&field.name, (&mut slabs, 0, FieldLevels::One), setup.grid.nc(), comm);
            agree_on(comm, read.map_err(RunError::from))?;
        }
        Ok(Some(slabs))
    }
}

/// Name of the variable with the air mass.
pub(super) const AIR_MASS: &str = "air_mass";
