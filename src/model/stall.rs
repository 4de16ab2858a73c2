//! A watch that ends a run which stands still: a rank that waits for one that is stopped or lost would wait for ever.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::error::RunError;
use crate::interrupt;
use crate::timers;

/// When a run stands still, and who tells it.
#[derive(Clone, Copy, Debug)]
pub struct Stall {
    /// Time without progress.
    pub limit: Duration,
    /// Tells it before the process ends.
    pub tell: fn(&str),
}

/// Other ranks notice at about the same time; they have this long to tell where they are.
const LAST_WORDS: Duration = Duration::from_millis(1500);
/// Exit code of a failure.
const FAILED: i32 = 1;

/// Watches the run until it is dropped.
pub(super) struct StallWatch {
    over: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl StallWatch {
    /// Starts to watch `rank` of `ranks`.
    pub(super) fn start(stall: Stall, rank: usize, ranks: usize) -> Result<Self, RunError> {
        let (over, ended) = channel();
        // Looks are frequent enough for the limit, and rare enough to cost nothing.
        let look = (stall.limit / 10).clamp(Duration::from_millis(10), Duration::from_secs(1));
        let watch = move || {
            let (mut beats, mut still) = (timers::beats(), Duration::ZERO);
            loop {
                let before = Instant::now();
                match ended.recv_timeout(look) {
                    Err(RecvTimeoutError::Timeout) => {}
                    _ => return,
                }
                if timers::beats() != beats {
                    (beats, still) = (timers::beats(), Duration::ZERO);
                    continue;
                }
                // A process that was stopped itself has not waited meanwhile.
                still += before.elapsed().min(2 * look);
                if still >= stall.limit {
                    (stall.tell)(&words(stall.limit, rank, ranks));
                    std::thread::sleep(LAST_WORDS);
                    interrupt::end_at_once(FAILED);
                }
            }
        };
        let thread = std::thread::Builder::new().name("watch".into()).spawn(watch);
        let thread = thread.map_err(|source| RunError::Watch { source })?;
        Ok(Self { over: Some(over), thread: Some(thread) })
    }
}

fn words(limit: Duration, rank: usize, ranks: usize) -> String {
    let (seconds, place) = (limit.as_secs_f64(), timers::place());
    let others = match ranks {
        1 => "",
        _ => "; the ranks that do not say so are those that stand still or were lost",
    };
    format!(
        "rank {rank} of {ranks}: no progress for {seconds} s: {place}{others}. The job ends (--stall-timeout); go on with \
         --restart latest"
    )
}

impl Drop for StallWatch {
    fn drop(&mut self) {
        drop(self.over.take());
        if let Some(thread) = self.thread.take() {
            // It has nothing to tell.
            let _ = thread.join();
        }
    }
}
