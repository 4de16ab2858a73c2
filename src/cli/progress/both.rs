//! Two listeners instead of one.

use std::path::Path;

use crate::model::report::{CheckpointReport, PlanReport, Progress, RunReport, SnapshotReport, WindowReport};
use crate::timers::TimerReport;

/// Tells both.
pub(super) struct Both(pub(super) Box<dyn Progress>, pub(super) Box<dyn Progress>);

impl Both {
    fn each(&mut self, tell: impl Fn(&mut dyn Progress)) {
        tell(&mut *self.0);
        tell(&mut *self.1);
    }
}

impl Progress for Both {
    fn start(&mut self, plan: &PlanReport) {
        self.each(|one| one.start(plan));
    }

    fn window(&mut self, report: &WindowReport<'_>) {
        self.each(|one| one.window(report));
    }

    fn warn(&mut self, message: &str) {
        self.each(|one| one.warn(message));
    }

    fn checkpoint(&mut self, report: &CheckpointReport<'_>) {
        self.each(|one| one.checkpoint(report));
    }

    fn snapshot(&mut self, report: &SnapshotReport) {
        self.each(|one| one.snapshot(report));
    }

    fn file(&mut self, path: &Path) {
        self.each(|one| one.file(path));
    }

    fn fail(&mut self, message: &str) {
        self.each(|one| one.fail(message));
    }

    fn timers(&mut self, report: &TimerReport) {
        self.each(|one| one.timers(report));
    }

    fn finish(&mut self, report: &RunReport) {
        self.each(|one| one.finish(report));
    }
}
