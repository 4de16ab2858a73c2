//! A stream of windows over several files, read ahead on a background thread.

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use kernels::Scalar;

use super::buffer::WindowBuffer;
use super::error::MetError;
use super::load::LoadThreads;
use super::reader::TransportFile;
use crate::timers::{self, Timed};

/// When the next window is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefetchMode {
    /// On a background thread, while the current window is in use.
    Thread,
    /// When it is asked for.
    Synchronous,
}

impl PrefetchMode {
    /// [`PrefetchMode::Thread`], unless the environment variable `ATMOSTR_DISABLE_PREFETCH` is `1`. The values read are
    /// the same either way.
    pub fn from_environment() -> Self {
        match std::env::var_os("ATMOSTR_DISABLE_PREFETCH") {
            Some(value) if value == "1" => PrefetchMode::Synchronous,
            _ => PrefetchMode::Thread,
        }
    }
}

/// Windows of one file to be read, in order.
#[derive(Clone, Debug)]
pub struct FileWindows {
    /// The file.
    pub file: Arc<TransportFile>,
    /// Windows, from 0.
    pub windows: Range<usize>,
}

impl FileWindows {
    /// All windows of a file.
    pub fn all(file: Arc<TransportFile>) -> Self {
        let windows = 0..file.header().nwindow();
        Self { file, windows }
    }
}

/// Place of a window in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamPosition {
    /// File, counted from 0 in the order given.
    pub file: usize,
    /// Window within the file, from 0.
    pub window: usize,
}

type Request<R> = (Arc<TransportFile>, usize, WindowBuffer<R>);
type Answer<R> = (WindowBuffer<R>, Result<(), MetError>);

/// The background thread.
#[derive(Debug)]
struct Reader<R> {
    desk: Arc<Desk<R>>,
    thread: Option<JoinHandle<()>>,
}

/// Where the stream and its thread hand over windows, one at a time. Unlike a channel it never takes memory.
#[derive(Debug)]
struct Desk<R> {
    state: Mutex<Hand<R>>,
    changed: Condvar,
}

/// What lies on the desk.
#[derive(Debug)]
struct Hand<R> {
    /// A window to be read.
    request: Option<Request<R>>,
    /// A window that was read.
    answer: Option<Answer<R>>,
    /// Whether one side has gone.
    closed: bool,
}

impl<R> Desk<R> {
    fn new() -> Self {
        let state = Mutex::new(Hand { request: None, answer: None, closed: false });
        Self { state, changed: Condvar::new() }
    }

    /// Lays something on the desk; `false` if the other side has gone.
    fn put(&self, place: impl FnOnce(&mut Hand<R>)) -> bool {
        let mut state = self.lock();
        place(&mut state);
        self.changed.notify_all();
        !state.closed
    }

    /// Waits until there is something to take; `None` once the other side has gone.
    fn take<T>(&self, pick: impl Fn(&mut Hand<R>) -> Option<T>) -> Option<T> {
        let mut state = self.lock();
        while !state.closed {
            if let Some(item) = pick(&mut state) {
                return Some(item);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    fn close(&self) {
        self.put(|hand| hand.closed = true);
    }

    /// A panic never happens while the desk is locked, so what lies on it is whole.
    fn lock(&self) -> MutexGuard<'_, Hand<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes the desk when the thread ends, by a panic too.
struct CloseOnDrop<R>(Arc<Desk<R>>);

impl<R> Drop for CloseOnDrop<R> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<R> Drop for Reader<R> {
    fn drop(&mut self) {
        // The thread ends after the window in hand.
        self.desk.close();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has already been reported as `ReaderGone`.
            let _ = thread.join();
        }
    }
}

/// Windows one after the other, across files.
///
/// At most two buffers exist; they are made on first use and then reused. A window is in use from
/// [`WindowStream::advance`] until the next call of it.
#[derive(Debug)]
pub struct WindowStream<R> {
    files: Vec<FileWindows>,
    order: Vec<StreamPosition>,
    /// Next entry of `order` to be asked for.
    next: usize,
    /// Whether the entry before `next` is still being read.
    pending: bool,
    current: Option<(StreamPosition, WindowBuffer<R>)>,
    ready: Option<(StreamPosition, WindowBuffer<R>)>,
    spare: Vec<WindowBuffer<R>>,
    reader: Option<Reader<R>>,
}

impl<R: Scalar> WindowStream<R> {
    /// A stream over `files` in the order given, filling copies of `template`. With [`PrefetchMode::Thread`] reading of
    /// the first window starts at once.
    ///
    /// # Errors
    /// A window beyond the end of its file, nothing selected, or a thread the system refuses.
    pub fn new(files: Vec<FileWindows>, template: WindowBuffer<R>, mode: PrefetchMode) -> Result<Self, MetError> {
        let mut order = Vec::new();
        for (file, selected) in files.iter().enumerate() {
            if let Some(last) = selected.windows.clone().last() {
                selected.file.window_range(last)?;
            }
            order.extend(selected.windows.clone().map(|window| StreamPosition { file, window }));
        }
        let Some(first) = files.iter().find(|f| !f.windows.is_empty()) else { return Err(MetError::NothingToRead) };
        let reader = match mode {
            PrefetchMode::Synchronous => None,
            PrefetchMode::Thread => {
                Some(start_reader().map_err(MetError::io(first.file.path(), "start a thread to read"))?)
            }
        };
        let mut spare = Vec::with_capacity(2);
        spare.push(template);
        let mut stream = Self { files, order, next: 0, pending: false, current: None, ready: None, spare, reader };
        stream.request()?;
        Ok(stream)
    }

    /// Number of windows of the whole stream.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether the stream has no window; never the case.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The file of a position.
    pub fn file(&self, position: StreamPosition) -> &Arc<TransportFile> {
        &self.files[position.file].file
    }

    /// Makes the next window the current one and starts reading the one after it. Returns its place, or `None` behind
    /// the last window, where no window is current any more.
    ///
    /// # Errors
    /// What went wrong when the window was read. The stream stays before that window; calling again reads it again.
    pub fn advance(&mut self) -> Result<Option<StreamPosition>, MetError> {
        let before = self.current.take().map(|(position, buffer)| {
            self.spare.push(buffer);
            position.file
        });
        let fetched = self.fetch();
        self.current = self.ready.take();
        let place = self.current.as_ref().map(|(p, _)| *p);
        if let Some(file) = before
            && place.is_none_or(|p| p.file != file)
        {
            self.files[file].file.release();
        }
        fetched?;
        self.request()?;
        Ok(place)
    }

    /// The current window and its place.
    pub fn current(&self) -> Option<(StreamPosition, &WindowBuffer<R>)> {
        self.current.as_ref().map(|(p, b)| (*p, b))
    }

    /// The current window, mutable (to fill its halos).
    pub fn current_mut(&mut self) -> Option<(StreamPosition, &mut WindowBuffer<R>)> {
        self.current.as_mut().map(|(p, b)| (*p, b))
    }

    /// The window after the current one, waiting for it if need be; `None` if the current one is the last.
    ///
    /// # Errors
    /// As [`WindowStream::advance`].
    pub fn peek(&mut self) -> Result<Option<(StreamPosition, &WindowBuffer<R>)>, MetError> {
        self.fetch()?;
        Ok(self.ready.as_ref().map(|(p, b)| (*p, b)))
    }

    /// A buffer that is not in use.
    fn buffer(&mut self) -> Option<WindowBuffer<R>> {
        self.spare.pop().or_else(|| self.current.as_ref().or(self.ready.as_ref()).map(|(_, b)| b.clone()))
    }

    /// Asks the thread for the next window, if there is one and a buffer is free.
    fn request(&mut self) -> Result<(), MetError> {
        if self.reader.is_none() || self.pending || self.ready.is_some() || self.next >= self.order.len() {
            return Ok(());
        }
        let Some(buffer) = self.buffer() else { return Err(MetError::ReaderGone) };
        let position = self.order[self.next];
        let file = self.files[position.file].file.clone();
        let request = (file, position.window, buffer);
        if !self.reader.as_ref().is_some_and(|r| r.desk.put(|hand| hand.request = Some(request))) {
            return Err(MetError::ReaderGone);
        }
        self.pending = true;
        self.next += 1;
        Ok(())
    }

    /// Puts the next window into `ready`, unless it is there or the stream is at its end.
    fn fetch(&mut self) -> Result<(), MetError> {
        if self.ready.is_some() {
            return Ok(());
        }
        self.request()?;
        let (buffer, result) = match &self.reader {
            Some(reader) if self.pending => {
                let _timed = timers::section(Timed::PrefetchFetchWait);
                let answer = reader.desk.take(|hand| hand.answer.take());
                self.pending = false;
                answer.ok_or(MetError::ReaderGone)?
            }
            Some(_) => return Ok(()),
            None if self.next >= self.order.len() => return Ok(()),
            None => {
                let _timed = timers::section(Timed::WindowSyncLoadTotal);
                let Some(mut buffer) = self.buffer() else { return Err(MetError::ReaderGone) };
                let position = self.order[self.next];
                let result = read(&self.files[position.file].file, position.window, &mut buffer, LoadThreads::Pool);
                self.next += 1;
                (buffer, result)
            }
        };
        match result {
            Ok(()) => {
                self.ready = Some((self.order[self.next - 1], buffer));
                Ok(())
            }
            Err(error) => {
                self.spare.push(buffer);
                self.next -= 1;
                Err(error)
            }
        }
    }
}

fn read<R: Scalar>(
    file: &TransportFile,
    window: usize,
    buffer: &mut WindowBuffer<R>,
    threads: LoadThreads,
) -> Result<(), MetError> {
    let _timed = timers::section(Timed::WindowLoadHost);
    let result = file.load_window_with(window, buffer, threads);
    // More than the window: the system maps pages around those that are read.
    file.release();
    result
}

fn start_reader<R: Scalar>() -> std::io::Result<Reader<R>> {
    let desk = Arc::new(Desk::new());
    let guard = CloseOnDrop(desk.clone());
    let inherit = timers::inheritance();
    let work = move || {
        inherit();
        let desk = &guard.0;
        while let Some((file, window, mut buffer)) = desk.take(|hand| hand.request.take()) {
            let timed = timers::section(Timed::PrefetchTaskTotal);
            let result = read(&file, window, &mut buffer, LoadThreads::Caller);
            drop(timed);
            desk.put(|hand| hand.answer = Some((buffer, result)));
        }
    };
    let thread = std::thread::Builder::new().name("window reader".to_string()).spawn(work)?;
    Ok(Reader { desk, thread: Some(thread) })
}
