//! Sections within work that the threads of a rank share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Timed, Timers, current};

/// Times that the threads of a rank add up during one piece of work; it makes one sample of every section that they
/// name: the sum over the number of threads.
pub struct Shares {
    timers: Option<(Arc<Timers>, Instant)>,
    nanoseconds: [AtomicU64; Timed::COUNT],
    threads: usize,
}

/// The clock of one thread.
pub struct Clock<'a> {
    shares: &'a Shares,
    last: Option<Instant>,
}

impl Shares {
    /// For work of `threads` threads, if this thread has timers.
    pub fn new(threads: usize) -> Self {
        let timers = current().map(|timers| (timers, Instant::now()));
        Self { timers, nanoseconds: std::array::from_fn(|_| AtomicU64::new(0)), threads: threads.max(1) }
    }

    /// Starts the clock of a thread.
    pub fn clock(&self) -> Clock<'_> {
        Clock { shares: self, last: self.timers.as_ref().map(|_| Instant::now()) }
    }
}

impl Clock<'_> {
    /// The time since the last call, or the start, was spent in `section`.
    pub fn lap(&mut self, section: Timed) {
        if let Some(last) = &mut self.last {
            let now = Instant::now();
            let time = now.duration_since(*last).as_nanos() as u64;
            self.shares.nanoseconds[section as usize].fetch_add(time, Ordering::Relaxed);
            *last = now;
        }
    }
}

impl Drop for Shares {
    fn drop(&mut self) {
        let Some((timers, start)) = &self.timers else { return };
        for section in Timed::ALL {
            let sum = self.nanoseconds[*section as usize].load(Ordering::Relaxed);
            if sum > 0 {
                timers.add(*section, *start, Duration::from_nanos(sum / self.threads as u64), 0);
            }
        }
    }
}
