//! Why a run did not finish, agreed on by all ranks.

use crate::comm::Communicator;
use crate::config::ConfigErrors;
use crate::device::DeviceError;
use crate::diagnostics::SumError;
use crate::initial::InitialError;
use crate::met::MetError;
use crate::met::synth::SynthError;
use crate::operators::advection::CellBudget;
use crate::output::OutputError;
use crate::restart::RestartError;
use crate::timers::SettingsError;

/// Why a run did not finish.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The configuration, or transport files that do not fit it.
    #[error("{}", .0.plain())]
    Config(Box<ConfigErrors>),
    /// A transport file.
    #[error(transparent)]
    Met(#[from] MetError),
    /// The winds of `[input.synthetic]` cannot be made.
    #[error("input.synthetic: {0}")]
    Synth(#[from] SynthError),
    /// An initial state.
    #[error(transparent)]
    Initial(#[from] InitialError),
    /// What is to be timed.
    #[error(transparent)]
    Timers(#[from] SettingsError),
    /// A snapshot file.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A restart file to start from.
    #[error(transparent)]
    Restart(#[from] RestartError),
    /// A restart file that could not be written.
    #[error("{0}")]
    Unsaved(RestartError),
    /// What a command asks of restart files needs the table that tells of them.
    #[error("{what} needs a table [restart] in the configuration, e.g.\n  [restart]\n  every = 24")]
    NoRestartTable {
        /// What was asked for.
        what: &'static str,
    },
    /// The grid or the vertical coordinate of the files.
    #[error("{0}")]
    Grid(#[from] crate::grid::GridError),
    /// The system refuses CPU threads.
    #[error("architecture.threads: the system refuses the threads ({0})")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// The system refuses the thread that watches the run.
    #[error("--stall-timeout: the system refuses a thread ({source})")]
    Watch {
        /// Reason given by the system.
        source: std::io::Error,
    },
    /// The processor does not compute as the numerics assume.
    #[error(
        "the arithmetic of this process is not what conservation and equal bits need: {fault}; a library loaded into it has \
         changed the mode of the processor (look at LD_PRELOAD and at options such as -ffast-math of MPI or its plugins)"
    )]
    Arithmetic {
        /// What is wrong.
        fault: &'static str,
    },
    /// The device that the configuration asks for cannot be used.
    #[error("architecture.backend: {0}")]
    Device(DeviceError),
    /// The device failed during the run, seen by this rank alone.
    #[error("{0}")]
    DeviceLost(#[from] DeviceError),
    /// A source of a tracer.
    #[error("tracers.{tracer}.surface_flux: {source}")]
    Source {
        /// Tracer.
        tracer: String,
        /// What is wrong with it.
        source: crate::sources::SourceError,
    },
    /// Convection whose forcing makes no sense.
    #[error("{file}, window {window}: {source}")]
    Convection {
        /// File.
        file: String,
        /// Window, from 1.
        window: usize,
        /// What is wrong.
        source: kernels::columns::convection::ConvectionError,
    },
    /// A reset mode that needs the end point of the windows.
    #[error(
        "{file}: the file has no section `dm`, so the air mass at the end of its windows is unknown; set \
         run.air_mass_reset_mode = \"none\" or use files with end points (include_flux_delta)"
    )]
    NoTendency {
        /// File.
        file: String,
    },
    /// More air leaves a cell in one substep than the limit allows.
    #[error(
        "{file}, window {window}: the outflow budget of a substep is {budget}, above advection.cfl_limit = {limit}; \
         the file needs at least {steps} substeps in this window instead of {stored} (or raise the limit, or set \
         advection.strict_cfl = false)"
    )]
    Courant {
        /// File.
        file: String,
        /// Window, from 1.
        window: usize,
        /// Largest budget and its cell.
        budget: CellBudget,
        /// The limit.
        limit: f64,
        /// Substeps that would keep it.
        steps: f64,
        /// Substeps of the file.
        stored: u32,
    },
    /// No division of the sweeps keeps the limit.
    #[error(
        "{file}, window {window}: the outflow budget of a substep is {budget}; no number of passes up to {most} keeps \
         it below advection.cfl_limit = {limit}: check the air mass and the fluxes of the file"
    )]
    TooManyPasses {
        /// File.
        file: String,
        /// Window, from 1.
        window: usize,
        /// Largest budget and its cell.
        budget: CellBudget,
        /// The limit.
        limit: f64,
        /// Largest number of passes.
        most: usize,
    },
    /// Faces where more air passes than the donor holds, under `strict_cfl`.
    #[error(
        "{file}, window {window}: at {faces} faces more air passes in one sweep than the donor cell holds; the file \
         needs more substeps in this window than {stored} (or set advection.strict_cfl = false)"
    )]
    Clamped {
        /// File.
        file: String,
        /// Window, from 1.
        window: usize,
        /// Faces, counted over the window.
        faces: u64,
        /// Substeps of the file.
        stored: u32,
    },
    /// Air mass that is not positive or a value that is not finite at the end of a window.
    #[error(
        "{file}, window {window}: {what} is {value} in layer {k}, panel {panel}, cell ({i}, {j}); check the fluxes"
    )]
    State {
        /// File.
        file: String,
        /// Window, from 1.
        window: usize,
        /// `air mass` or the tracer.
        what: String,
        /// The value.
        value: f64,
        /// Layer, from 1.
        k: usize,
        /// Panel, from 1.
        panel: usize,
        /// Cell along i, from 1.
        i: usize,
        /// Cell along j, from 1.
        j: usize,
    },
    /// A global total that cannot be formed.
    #[error("total of {what}: {source}")]
    Total {
        /// `air mass` or the tracer.
        what: String,
        /// Reason.
        source: SumError,
    },
    /// Another rank failed and says why.
    #[error("rank {rank} failed")]
    Elsewhere {
        /// The rank.
        rank: usize,
        /// Whether the input was at fault.
        blame: Blame,
    },
}

/// Who can mend a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The user: configuration or input files.
    Input,
    /// Anything else.
    Other,
}

impl RunError {
    /// Whether the other ranks do not know of it and may be waiting for this one.
    pub fn is_alone(&self) -> bool {
        matches!(self, RunError::DeviceLost(_))
    }

    /// Who can mend it.
    pub fn blame(&self) -> Blame {
        match self {
            RunError::Output(OutputError::Selection(_) | OutputError::Content { .. }) => Blame::Input,
            RunError::Output(_)
            | RunError::Unsaved(_)
            | RunError::Threads(_)
            | RunError::Watch { .. }
            | RunError::Arithmetic { .. }
            | RunError::State { .. }
            | RunError::Total { .. }
            | RunError::DeviceLost(_) => Blame::Other,
            // A machine without it, or one that cannot hold the run; compilers and arithmetic are not the user's.
            RunError::Device(
                DeviceError::Compile { .. } | DeviceError::Call { .. } | DeviceError::Arithmetic { .. },
            ) => Blame::Other,
            RunError::Elsewhere { blame, .. } => *blame,
            _ => Blame::Input,
        }
    }
}

impl From<ConfigErrors> for RunError {
    fn from(errors: ConfigErrors) -> Self {
        RunError::Config(Box::new(errors))
    }
}

/// Collective: the value if no rank failed; else the lowest failing rank gets its own error back, all others
/// [`RunError::Elsewhere`].
///
/// # Errors
/// As described.
pub fn agree_on<T>(comm: &dyn Communicator, result: Result<T, RunError>) -> Result<T, RunError> {
    let mut lowest = [if result.is_err() { -(comm.rank() as f64) } else { f64::NEG_INFINITY }];
    comm.max_f64(&mut lowest);
    if lowest[0] == f64::NEG_INFINITY {
        return result;
    }
    let rank = -lowest[0] as usize;
    let mine = comm.rank() == rank;
    let mut at_fault = [match &result {
        Err(error) if mine && error.blame() == Blame::Input => 1.0,
        _ => 0.0,
    }];
    comm.max_f64(&mut at_fault);
    let blame = if at_fault[0] > 0.0 { Blame::Input } else { Blame::Other };
    match result {
        Err(error) if mine => Err(error),
        _ => Err(RunError::Elsewhere { rank, blame }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::threads;

    #[test]
    fn one_rank_tells_and_all_know_who_is_to_blame() {
        let outcomes = threads::run(4, |comm| {
            let mine = match comm.rank() {
                2 => Err(RunError::NoTendency { file: "a.bin".into() }),
                3 => Err(RunError::Total { what: "co2".into(), source: SumError::Overflow }),
                _ => Ok(()),
            };
            let error = agree_on(&comm, mine).unwrap_err();
            (error.to_string().contains("a.bin"), error.blame())
        });
        assert_eq!(outcomes.iter().map(|o| o.0).collect::<Vec<_>>(), [false, false, true, false]);
        assert!(outcomes.iter().all(|o| o.1 == Blame::Input));
        assert!(threads::run(3, |comm| agree_on(&comm, Ok(comm.rank())).unwrap()) == [0, 1, 2]);
    }
}
