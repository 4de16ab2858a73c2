//! A file written by a thread of its own, so that the run goes on meanwhile. What waits for it is bounded.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use kernels::Scalar;
use netcdf::{AttributeValue, FileMut};

use super::channel::{Region, Values, put, storage};
use super::schema::Storage;
use crate::files::cause;
use crate::timers;

/// Bytes of a write whose memory is kept.
const LARGE_BYTES: usize = 64 << 10;

/// Values of one write, kept until it is their turn.
#[derive(Debug)]
enum Kept {
    Int(Vec<i32>),
    Float(Vec<f32>),
    Double(Vec<f64>),
}

impl Kept {
    fn of(values: Values<'_>) -> Self {
        match values {
            Values::Int(values) => Self::Int(values.to_vec()),
            Values::Float(values) => Self::Float(values.to_vec()),
            Values::Double(values) => Self::Double(values.to_vec()),
        }
    }

    fn owned<R: Scalar>(values: Vec<R>) -> Self {
        match storage::<R>() {
            Storage::Float => Self::Float(bytemuck::cast_vec(values)),
            _ => Self::Double(bytemuck::cast_vec(values)),
        }
    }

    /// The memory of what is not needed any more; none if it is of another type.
    fn room<R: Scalar>(self) -> Vec<R> {
        match (storage::<R>(), self) {
            (Storage::Float, Self::Float(values)) => bytemuck::cast_vec(values),
            (Storage::Double, Self::Double(values)) => bytemuck::cast_vec(values),
            _ => Vec::new(),
        }
    }

    fn borrow(&self) -> Values<'_> {
        match self {
            Self::Int(values) => Values::Int(values),
            Self::Float(values) => Values::Float(values),
            Self::Double(values) => Values::Double(values),
        }
    }
}

/// Something to be done with the file.
enum Job {
    Put { name: String, region: Region, values: Kept, bytes: usize },
    Attributes(Vec<(String, AttributeValue)>),
    Sync,
}

impl Job {
    fn bytes(&self) -> usize {
        match self {
            Job::Put { bytes, .. } => *bytes,
            Job::Attributes(_) | Job::Sync => 0,
        }
    }

    /// What is left when it is done: the values written.
    fn run(self, file: &mut FileMut) -> Result<Option<Kept>, netcdf::Error> {
        match self {
            Job::Put { name, region, values, .. } => put(file, &name, region, values.borrow())
                .map_err(|e| netcdf::Error::Str(format!("write `{name}`: {e}")))
                .map(|()| Some(values)),
            Job::Attributes(list) => {
                list.into_iter().try_for_each(|(key, value)| file.add_attribute(&key, value).map(drop)).map(|()| None)
            }
            Job::Sync => file.sync().map(|()| None),
        }
    }
}

/// What lies between the run and the thread.
#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// Bytes of the values that wait or are being written.
    bytes: usize,
    /// Whether the thread has something in hand.
    busy: bool,
    /// Memory of large writes, to be used again: new memory takes longer to get than a copy into it.
    spare: Vec<Kept>,
    /// What went wrong first, until it is told.
    error: Option<netcdf::Error>,
    /// Whether something went wrong: all later jobs are dropped.
    failed: bool,
    /// Whether no more jobs will come.
    closed: bool,
}

#[derive(Default)]
struct Desk {
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file in the hands of its thread. Errors of earlier calls are told by later ones.
pub(super) struct Background {
    desk: Arc<Desk>,
    thread: Option<JoinHandle<FileMut>>,
    limit: usize,
}

impl Background {
    /// Hands the file at `path` over. At most `limit` bytes of values wait, or those of a single write.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub(super) fn start(file: FileMut, path: &Path, limit: usize) -> std::io::Result<Self> {
        let desk = Arc::new(Desk::default());
        let (of_thread, path) = (desk.clone(), path.to_path_buf());
        let thread = std::thread::Builder::new().name("output".into()).spawn(move || work(file, &path, &of_thread))?;
        Ok(Self { desk, thread: Some(thread), limit })
    }

    /// Queues a write, waiting for room.
    pub(super) fn put(&self, name: &str, region: Region, values: Values<'_>) -> Result<(), netcdf::Error> {
        self.put_kept(name, region, Kept::of(values))
    }

    /// The same for values that are not needed any more.
    pub(super) fn put_owned<R: Scalar>(&self, name: &str, region: Region, values: Vec<R>) -> Result<(), netcdf::Error> {
        self.put_kept(name, region, Kept::owned(values))
    }

    /// Memory for a large write, of any length.
    pub(super) fn room<R: Scalar>(&self) -> Vec<R> {
        self.desk.lock().spare.pop().map_or_else(Vec::new, Kept::room)
    }

    fn put_kept(&self, name: &str, region: Region, values: Kept) -> Result<(), netcdf::Error> {
        let bytes = size_of_values(&values);
        self.queue(Job::Put { name: name.into(), region, values, bytes })
    }

    pub(super) fn put_attributes(&self, attributes: &[(&str, AttributeValue)]) -> Result<(), netcdf::Error> {
        self.queue(Job::Attributes(attributes.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()))
    }

    pub(super) fn sync(&self) -> Result<(), netcdf::Error> {
        self.queue(Job::Sync)
    }

    fn queue(&self, job: Job) -> Result<(), netcdf::Error> {
        let mut queue = self.desk.lock();
        while queue.bytes > 0 && queue.bytes + job.bytes() > self.limit && !queue.failed {
            queue = self.desk.wait(queue);
        }
        if let Some(error) = queue.error.take() {
            return Err(error);
        }
        if !queue.failed {
            queue.bytes += job.bytes();
            queue.jobs.push_back(job);
            self.desk.changed.notify_all();
        }
        Ok(())
    }

    /// Waits until all is written.
    pub(super) fn drain(&self) -> Result<(), netcdf::Error> {
        let mut queue = self.desk.lock();
        while !queue.failed && (queue.busy || !queue.jobs.is_empty()) {
            queue = self.desk.wait(queue);
        }
        queue.error.take().map_or(Ok(()), Err)
    }

    /// Whether a write has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.desk.lock().failed
    }

    /// Waits until all is written, and gives the file back; `None` if its thread has panicked.
    pub(super) fn finish(mut self) -> (Option<FileMut>, Result<(), netcdf::Error>) {
        let drained = self.drain();
        (self.join(), drained)
    }

    fn join(&mut self) -> Option<FileMut> {
        self.desk.lock().closed = true;
        self.desk.changed.notify_all();
        self.thread.take().and_then(|thread| thread.join().ok())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.join());
    }
}

fn size_of_values(values: &Kept) -> usize {
    match values {
        Kept::Int(values) => size_of_val(&values[..]),
        Kept::Float(values) => size_of_val(&values[..]),
        Kept::Double(values) => size_of_val(&values[..]),
    }
}

fn work(mut file: FileMut, path: &Path, desk: &Desk) -> FileMut {
    // HDF5 prints on each new thread what it does not find, also where that is no error; netCDF silences only the first.
    cause::listen();
    let mut queue = desk.lock();
    loop {
        if let Some(job) = queue.jobs.pop_front() {
            queue.busy = true;
            drop(queue);
            let bytes = job.bytes();
            let result = cause::told(path, || job.run(&mut file));
            timers::beat();
            queue = desk.lock();
            queue.busy = false;
            queue.bytes -= bytes;
            match result {
                Ok(Some(values)) if bytes >= LARGE_BYTES => queue.spare.push(values),
                Ok(_) => {}
                Err(error) => {
                    (queue.error, queue.failed) = (Some(error), true);
                    queue.jobs.clear();
                    queue.bytes = 0;
                }
            }
            desk.changed.notify_all();
        } else if queue.closed {
            return file;
        } else {
            queue = desk.wait(queue);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &std::path::Path) -> FileMut {
        let mut file = netcdf::create(path).unwrap();
        file.add_unlimited_dimension("time").unwrap();
        file.add_dimension("x", 1000).unwrap();
        file.add_variable::<f64>("a", &["time", "x"]).unwrap();
        file.enddef().unwrap();
        file
    }

    fn record(n: usize) -> (Region, Vec<f64>) {
        ((vec![n, 0], vec![1, 1000]), (0..1000).map(|x| (n * 1000 + x) as f64).collect())
    }

    #[test]
    fn what_is_queued_is_written_in_order_within_the_bound() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.nc");
        let background = Background::start(file(&path), &path, 20_000).unwrap();
        for n in 0..50 {
            let (region, values) = record(n);
            background.put("a", region, Values::Double(&values)).unwrap();
            assert!(background.desk.lock().bytes <= 20_000);
            background.sync().unwrap();
        }
        background.put_attributes(&[("records", 50.into())]).unwrap();
        let (file, result) = background.finish();
        result.unwrap();
        file.unwrap().close().unwrap();
        let file = crate::files::open_netcdf(&path).unwrap();
        let values = file.variable("a").unwrap().get_values::<f64, _>(..).unwrap();
        assert_eq!(values, (0..50_000).map(f64::from).collect::<Vec<_>>());
        assert_eq!(file.attribute("records").unwrap().value().unwrap(), 50.into());
    }

    #[test]
    fn a_failure_is_told_once_and_nothing_hangs() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.nc");
        let background = Background::start(file(&path), &path, 1).unwrap();
        let (region, values) = record(0);
        background.put("absent", region.clone(), Values::Double(&values)).unwrap();
        let error = background.drain().unwrap_err().to_string();
        assert!(error.contains("write `absent`"), "{error}");
        for _ in 0..3 {
            background.put("a", region.clone(), Values::Double(&values)).unwrap();
        }
        background.drain().unwrap();
        let (file, result) = background.finish();
        result.unwrap();
        file.unwrap().close().unwrap();
    }
}
