//! Timers of a run, and where their figures go.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{RunError, agree_on};
use super::report::Progress;
use super::setup::Setup;
use crate::comm::Communicator;
use crate::config::RunConfig;
use crate::timers::{Attachment, TimerSettings, Timers, attach};

/// Timers of this rank, if the environment asks for them.
pub(super) struct RunTimers(Option<(Arc<Timers>, Attachment)>);

impl RunTimers {
    /// Collective.
    pub(super) fn start(comm: &dyn Communicator) -> Result<Self, RunError> {
        let settings = agree_on(comm, TimerSettings::from_environment().map_err(RunError::from))?;
        Ok(Self(settings.map(|settings| {
            let timers = Timers::new(settings);
            let attachment = attach(&timers);
            (timers, attachment)
        })))
    }

    /// Reports the figures and writes them beside the output. A file that cannot be written is worth a warning, no
    /// failure. Collective.
    pub(super) fn finish(
        self,
        config: &RunConfig,
        setup: &Setup,
        comm: &dyn Communicator,
        progress: &mut dyn Progress,
    ) {
        let Some((timers, _)) = &self.0 else { return };
        let report = timers.report(comm);
        if comm.rank() > 0 {
            return;
        }
        if report.rows.is_empty() {
            return progress.warn(
                "timers: no section lies within the part of the run that ATMOSTR_PROFILE_WARMUP_SEC and \
                 ATMOSTR_PROFILE_DUR_SEC choose; nothing is written",
            );
        }
        progress.timers(&report);
        let Some(output) = &config.output else { return };
        let path = output.spec(None).path_for(&setup.plan.labels[0]);
        let mut files = vec![("timings.csv", report.csv())];
        if comm.size() > 1 {
            files.push(("timings.ranks.csv", report.ranks_csv()));
        }
        for (ending, text) in files {
            let path = beside(&path, ending);
            if let Err(error) = std::fs::write(&path, text) {
                progress.warn(&format!("{}: {error}", path.display()));
            }
        }
    }
}

/// The output's path with another ending in place of `.nc`.
fn beside(output: &Path, ending: &str) -> PathBuf {
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    output.with_file_name(format!("{}.{ending}", name.strip_suffix(".nc").unwrap_or(&name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_lie_beside_the_output() {
        assert_eq!(beside(Path::new("out/a.b.nc"), "timings.csv"), Path::new("out/a.b.timings.csv"));
        assert_eq!(beside(Path::new("a.nc4"), "timings.csv"), Path::new("a.nc4.timings.csv"));
    }
}
