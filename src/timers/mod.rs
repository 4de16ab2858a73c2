//! Wall-clock time by section, for those who ask for it.
//!
//! A rank's thread that has [`attach`]ed timers, and the threads it starts, add to them wherever the program calls
//! [`section`]. Without timers a section is one look at a thread's own memory: no clock is read and no memory taken.
//! Results never depend on them.

mod allocations;
mod memory;
mod pulse;
mod report;
mod section;
mod settings;
mod shares;

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use allocations::CountingAllocator;
pub use memory::{ProcessMemory, give_back, keep_no_large_blocks};
pub use pulse::{at_window, beat, beats, place};
pub use report::{SectionRow, TimerReport};
pub use section::Timed;
pub use settings::{KernelTimes, SettingsError, TimerSettings};
pub use shares::{Clock, Shares};

/// Samples of one section.
#[derive(Clone, Debug, Default)]
struct Samples {
    /// Durations in order (ns).
    nanoseconds: Vec<u64>,
    allocated: u64,
}

/// Timers of one rank.
#[derive(Debug)]
pub struct Timers {
    settings: TimerSettings,
    start: Instant,
    samples: [Mutex<Samples>; Timed::COUNT],
    /// Time covered by the outermost sections of the rank's own thread.
    covered: Mutex<Duration>,
}

/// What a thread adds to.
#[derive(Clone)]
struct Attached {
    timers: Arc<Timers>,
    role: Role,
}

/// Which thread of a rank.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The one that runs the steps.
    Own,
    /// One that helps it or works beside it.
    Helper,
}

thread_local! {
    static ATTACHED: RefCell<Option<Attached>> = const { RefCell::new(None) };
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Timers of this thread until it is dropped.
#[derive(Debug)]
pub struct Attachment(());

impl Drop for Attachment {
    fn drop(&mut self) {
        ATTACHED.set(None);
    }
}

/// Makes sections of this thread, and of threads that it starts from now on, count.
pub fn attach(timers: &Arc<Timers>) -> Attachment {
    ATTACHED.set(Some(Attached { timers: timers.clone(), role: Role::Own }));
    Attachment(())
}

/// What a new thread calls first to add to the timers of the thread that starts it.
pub fn inheritance() -> impl Fn() + Clone + Send + Sync + 'static {
    let timers = current();
    move || ATTACHED.set(timers.clone().map(|timers| Attached { timers, role: Role::Helper }))
}

fn current() -> Option<Arc<Timers>> {
    ATTACHED.with_borrow(|attached| attached.as_ref().map(|a| a.timers.clone()))
}

/// Whether single kernels of a device are to be timed.
pub fn kernel_times() -> KernelTimes {
    current().map_or(KernelTimes::Off, |timers| timers.settings.kernel_times)
}

/// A section that lasts until this is dropped.
#[must_use = "a section ends when this is dropped"]
pub struct Running {
    section: Timed,
    /// What [`pulse`] gets back.
    outer: usize,
    measured: Option<Measured>,
}

struct Measured {
    attached: Attached,
    section: Timed,
    start: Instant,
    allocated: u64,
}

/// Starts a section on this thread.
pub fn section(section: Timed) -> Running {
    let attached = ATTACHED.with_borrow(Clone::clone);
    let measured = attached.map(|attached| {
        DEPTH.set(DEPTH.get() + 1);
        Measured { attached, section, start: Instant::now(), allocated: allocations::of_this_thread() }
    });
    Running { section, outer: pulse::enter(section), measured }
}

impl Drop for Running {
    fn drop(&mut self) {
        pulse::leave(self.section, self.outer);
        let measured = self.measured.take();
        let Some(Measured { attached: Attached { timers, role }, section, start, allocated }) = measured else {
            return;
        };
        let (time, bytes) = (start.elapsed(), allocations::of_this_thread() - allocated);
        DEPTH.set(DEPTH.get() - 1);
        if timers.add(section, start, time, bytes) && role == Role::Own && DEPTH.get() == 0 {
            *timers.covered.lock().unwrap_or_else(PoisonError::into_inner) += time;
        }
    }
}

impl Timers {
    /// Timers with these settings; the clock starts.
    pub fn new(settings: TimerSettings) -> Arc<Self> {
        if settings.count_allocations {
            allocations::count();
        }
        Arc::new(Self {
            settings,
            start: Instant::now(),
            samples: std::array::from_fn(|_| Mutex::default()),
            covered: Mutex::default(),
        })
    }

    /// Adds a sample, if it lies within the time that counts; whether it does.
    fn add(&self, section: Timed, start: Instant, time: Duration, allocated: u64) -> bool {
        let from = start.saturating_duration_since(self.start);
        if self.settings.interval.is_some_and(|(first, last)| from < first || from + time > last) {
            return false;
        }
        // Without its panic a thread never leaves half a sample.
        let mut samples = self.samples[section as usize].lock().unwrap_or_else(PoisonError::into_inner);
        samples.nanoseconds.push(time.as_nanos() as u64);
        samples.allocated += allocated;
        true
    }
}
