//! Program, machine and settings of a run, as files and logs record them.

use serde::Serialize;

use super::setup::{Setup, float_name};
use crate::comm::Communicator;
use crate::config::RunConfig;
use crate::output::Provenance;

/// Program, machine and settings of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunFacts {
    /// Program and version.
    pub program: String,
    /// Source revision.
    pub commit: String,
    /// Whether the sources differed from it.
    pub dirty: String,
    /// Features the program was built with.
    pub features: String,
    /// Machine of the first rank.
    pub host: String,
    /// Configuration file.
    pub config: String,
    /// Checksum of its text.
    pub config_checksum: String,
    /// Cells per panel edge.
    pub nc: usize,
    /// Panel numbering and orientation.
    pub panel_convention: String,
    /// Layers.
    pub levels: usize,
    /// Tracers.
    pub tracers: Vec<String>,
    /// Ranks.
    pub ranks: usize,
    /// Threads of the first rank.
    pub threads: usize,
    /// Message library, if any.
    pub mpi_library: Option<String>,
    /// Where the state lives: `cpu`, or the driver of a device.
    pub backend: String,
    /// Precision of the state.
    pub float_type: String,
    /// Advection scheme.
    pub advection: String,
    /// Diffusion.
    pub diffusion: String,
    /// Convection.
    pub convection: String,
    /// Decay.
    pub decay: String,
    /// UTC time of hour 0, if known.
    pub start: Option<String>,
}

impl RunFacts {
    /// Of a run with `threads` threads on this rank; what files record is that of the first.
    pub(super) fn new(config: &RunConfig, setup: &Setup, threads: usize, comm: &dyn Communicator) -> Self {
        let program = Provenance::detect().agreed(comm);
        let header = setup.header();
        // Machines with other numbers of ranks have other numbers of threads, but attributes must be the same on all ranks.
        let of_first = comm.broadcast((threads as u64).to_le_bytes().to_vec());
        let threads = of_first.try_into().map_or(threads, |bytes| u64::from_le_bytes(bytes) as usize);
        Self {
            program: program.framework,
            commit: program.commit,
            dirty: program.dirty,
            features: program.features,
            host: program.hostname,
            config: config.path.display().to_string(),
            config_checksum: config.checksum(),
            nc: setup.grid.nc(),
            panel_convention: header.panel_convention().tag().to_owned(),
            levels: setup.plan.levels,
            tracers: config.tracers.iter().map(|t| t.name.clone()).collect(),
            ranks: comm.size(),
            threads,
            mpi_library: comm.library(),
            backend: config.settings.accelerator.map_or("cpu".into(), |device| device.to_string()),
            float_type: float_name(config.settings.float_type).to_owned(),
            advection: config.advection.summary(&config.tracers),
            diffusion: config.physics.diffusion_summary(),
            convection: config.physics.convection_summary(),
            decay: config.chemistry.summary(&config.tracers),
            start: setup.origin.map(|origin| format!("{origin}Z")),
        }
    }

    /// What files record of how the run is done, beside the program: attributes on which no result depends.
    pub(super) fn attributes(&self) -> Vec<(&'static str, String)> {
        let layout = format!("{} ranks, {} threads each", self.ranks, self.threads);
        vec![
            ("config_checksum", self.config_checksum.clone()),
            ("features", self.features.clone()),
            ("parallel", layout),
            ("backend", self.backend.clone()),
            ("mpi_library", self.mpi_library.clone().unwrap_or_else(|| "none".into())),
        ]
    }
}
