//! `atmostr run`.

use std::path::PathBuf;

use clap::Args;

use super::{CliError, Context, Exit, progress};
use crate::comm::Communicator;
use crate::config::RunConfig;
use crate::model;
use crate::model::RunError;

/// Run a configuration
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr run run.toml                  one process
  atmostr run.toml                      the same
  mpirun -n 24 atmostr run run.toml     24 ranks (program built with feature mpi); the same bits

All errors of the configuration and of the headers of its input files are reported together, before any work.
Relative paths are taken from the folder of the configuration.")]
pub(super) struct RunArgs {
    /// Configuration file (TOML)
    config: PathBuf,
}

impl RunArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        let comm = communicator()?;
        let mut progress = progress::reporter(ctx, comm.rank());
        let config = model::agree_on(&*comm, RunConfig::load(&self.config).map_err(RunError::from));
        let outcome = config.and_then(|config| model::run(&config, &*comm, &mut *progress));
        match outcome {
            Ok(_) => Ok(Exit::Finished),
            Err(error) => {
                let alone = error.is_alone() && comm.size() > 1;
                let exit = CliError::from(error).report(ctx);
                if alone {
                    comm.abort(exit.code().into());
                }
                // The first rank to end takes the others with it: none leaves before the message is out.
                comm.barrier();
                Ok(exit)
            }
        }
    }
}

/// The ranks of this run. Without feature `mpi`, or if MPI cannot start, there is one.
pub(super) fn communicator() -> Result<Box<dyn Communicator>, CliError> {
    #[cfg(feature = "mpi")]
    {
        let mpi = crate::comm::Mpi::initialize().ok_or_else(|| CliError::failed("MPI offers no thread support"))?;
        if mpi.size() > 1 {
            // One rank's panic must not leave the others waiting.
            super::exit::on_panic(|| crate::comm::abort_all(Exit::Failed.code().into()));
        }
        Ok(Box::new(mpi))
    }
    #[cfg(not(feature = "mpi"))]
    match launched_ranks() {
        1 => Ok(Box::new(crate::comm::Solo)),
        ranks => Err(CliError::input(format!(
            "started as one of {ranks} ranks, but this program was built without MPI: every rank would do the whole run \
             and write the same files; build it with --features mpi, or start it without mpirun"
        ))),
    }
}

/// Ranks of the MPI job that this process was started in, as its launcher says; 1 outside of one.
#[cfg(not(feature = "mpi"))]
fn launched_ranks() -> usize {
    let size = |name| std::env::var(name).ok().and_then(|v| v.parse().ok());
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"].into_iter().filter_map(size).max().unwrap_or(1)
}
