//! What a run measures of itself, window by window.

use std::path::Path;
use std::time::{Duration, Instant};

use kernels::Scalar;

use super::Run;
use crate::comm::Communicator;
use crate::model::error::RunError;
use crate::model::report::{CheckpointReport, SnapshotReport};
use crate::timers::give_back;

/// Times of a rank in a window, and what it takes to compare them.
pub(super) struct Watch {
    /// End of the window before.
    last: Instant,
    /// Since when this rank computes.
    started: Option<Instant>,
    /// Time that this rank computed in the window.
    computed: Duration,
    /// The same of all ranks together, ns.
    of_all: i64,
    /// Time that this rank waited for the window to be read.
    read: Duration,
    /// Drift of every tracer.
    pub(super) drift: Vec<f64>,
}

/// Times of all ranks in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Compared {
    /// Largest time of computing over the mean.
    pub(super) imbalance: f64,
    /// Longest wait for the window, s.
    pub(super) read: f64,
}

impl Watch {
    /// For a run with some tracers whose first window took `read` to come.
    pub(super) fn new(tracers: usize, read: Duration) -> Self {
        let drift = Vec::with_capacity(tracers);
        Self { last: Instant::now(), started: None, computed: Duration::ZERO, of_all: 0, read, drift }
    }

    /// The rank begins to compute.
    pub(super) fn begin(&mut self) {
        self.started = Some(Instant::now());
    }

    /// It has computed, and `waited` of the time for other ranks.
    pub(super) fn end(&mut self, waited: Duration) {
        let elapsed = self.started.take().map_or(Duration::ZERO, |started| started.elapsed());
        self.computed = elapsed.saturating_sub(waited);
    }

    /// It waited for the next window to be read.
    pub(super) fn waited_for_window(&mut self, time: Duration) {
        self.read = time;
    }

    /// Time computed, ns, to be summed over the ranks for [`Watch::take_sum`].
    pub(super) fn nanoseconds(&self) -> i64 {
        i64::try_from(self.computed.as_nanos()).unwrap_or(i64::MAX)
    }

    /// The sum of [`Watch::nanoseconds`] over the ranks.
    pub(super) fn take_sum(&mut self, sum: i64) {
        self.of_all = sum;
    }

    /// Compares the ranks. Collective.
    pub(super) fn compare(&self, comm: &dyn Communicator) -> Compared {
        let mut most = [self.nanoseconds() as f64, self.read.as_secs_f64()];
        comm.max_f64(&mut most);
        let mean = self.of_all as f64 / comm.size() as f64;
        Compared { imbalance: if mean > 0.0 { most[0] / mean } else { 1.0 }, read: most[1] }
    }

    /// Wall-clock seconds since the last call.
    pub(super) fn lap(&mut self) -> f64 {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut self.last, now)).as_secs_f64()
    }
}

impl<R: Scalar> Run<'_, R> {
    /// Writes a snapshot if one is due, and tells of it. Collective.
    pub(super) fn snapshot_and_tell(&mut self) -> Result<(), RunError> {
        let (before, written) = (self.snapshots.written(), self.total.write);
        self.snapshot()?;
        let (snapshots, model_seconds) = (self.snapshots.written(), self.clock.seconds());
        if snapshots > before {
            let took_seconds = self.total.write - written;
            self.progress.snapshot(&SnapshotReport { model_seconds, snapshots, took_seconds });
        }
        Ok(())
    }

    /// Completes the open output file, if it holds anything. Collective.
    pub(super) fn close_snapshots(&mut self) -> Result<(), RunError> {
        let before = self.snapshots.files().len();
        self.snapshots.close(self.comm)?;
        let complete = &self.snapshots.files()[before..];
        complete.iter().for_each(|path| self.progress.file(path));
        if !complete.is_empty() {
            // The library keeps the places of all chunks of an open file in memory.
            give_back();
        }
        Ok(())
    }

    /// Tells of a restart file.
    pub(super) fn tell_of_checkpoint(&mut self, file: &Path, took: Duration) {
        let bytes = std::fs::metadata(file).map_or(0, |found| found.len());
        let (model_seconds, took_seconds) = (self.clock.seconds(), took.as_secs_f64());
        let report = CheckpointReport { file, model_seconds, bytes, took_seconds };
        self.progress.checkpoint(&report);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::threads;

    #[test]
    fn the_busiest_rank_is_set_beside_the_mean() {
        let found = threads::run(3, |comm| {
            let mut watch = Watch::new(0, Duration::from_millis(10 * comm.rank() as u64));
            watch.computed = Duration::from_secs(1 + comm.rank() as u64);
            let mut sum = [watch.nanoseconds()];
            comm.sum_i64(&mut sum);
            watch.take_sum(sum[0]);
            watch.compare(&comm)
        });
        assert!(found.iter().all(|c| *c == Compared { imbalance: 1.5, read: 0.02 }), "{found:?}");
    }

    #[test]
    fn waiting_is_no_computing() {
        let mut watch = Watch::new(0, Duration::ZERO);
        watch.begin();
        watch.end(Duration::from_secs(3600));
        assert_eq!(watch.nanoseconds(), 0);
        // Without any computing no rank is busier than another.
        assert_eq!(watch.compare(&crate::comm::Solo).imbalance, 1.0);
    }
}
