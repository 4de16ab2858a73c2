//! Copies of the transport files that come next.

use kernels::Scalar;

use super::Run;
use crate::met::{Stager, StreamPosition};
use crate::model::error::{RunError, agree_on};

impl<R: Scalar> Run<'_, R> {
    /// Starts to copy on the first rank of each machine, if copies are asked for. Collective.
    pub(super) fn stage(&self, from: StreamPosition) -> Result<Option<Stager>, RunError> {
        let settings = self.config.input.staging.clone().filter(|_| self.comm.rank_here() == 0);
        let started = settings.map(|settings| Stager::start(settings, self.setup.plan.files.clone(), from.file));
        agree_on(self.comm, started.transpose().map_err(RunError::from))
    }

    /// Tells the thread that copies where the run is, and the user what could not be copied.
    pub(super) fn staged(&mut self, stager: Option<&Stager>, now: StreamPosition) {
        for problem in stager.map(|stager| stager.at(now.file)).unwrap_or_default() {
            self.progress.warn(&problem);
        }
    }
}
