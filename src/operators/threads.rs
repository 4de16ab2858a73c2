//! CPU threads of one rank.

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::timers;

/// The thread pool of a rank. The calling thread is one of its members, so messages stay on the main thread and a
/// pool of one runs everything in place.
#[derive(Debug)]
pub struct Threads {
    pool: ThreadPool,
}

impl Threads {
    /// A pool of `count` ≥ 1 threads, the calling one included.
    ///
    /// # Errors
    /// The operating system refuses a thread, or the calling thread already belongs to a pool.
    pub fn new(count: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        let inherit = timers::inheritance();
        let builder = ThreadPoolBuilder::new().num_threads(count.max(1)).use_current_thread();
        let pool = builder.start_handler(move |_| inherit()).build()?;
        // A thread's first theft of work allocates its place in the reclamation of the queues; here, not in a substep.
        pool.broadcast(|_| drop(crossbeam_epoch::pin()));
        Ok(Self { pool })
    }

    /// Number of threads.
    pub fn count(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Index of the calling thread within the pool.
    pub fn index(&self) -> usize {
        self.pool.current_thread_index().unwrap_or(0)
    }

    /// Runs `body` with the pool as the one that parallel iterators use.
    pub fn install<T: Send>(&self, body: impl FnOnce() -> T + Send) -> T {
        self.pool.install(body)
    }
}
