//! Copies of the transport files that come next, on a disk of the machine.

use std::fs::{File, Metadata};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use super::error::MetError;
use super::reader::TransportFile;

/// Where copies lie and how many there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagingSettings {
    /// Folder of the copies, one for each run.
    pub folder: PathBuf,
    /// Files that are copied ahead of the one in use.
    pub ahead: usize,
    /// Files that are kept behind it.
    pub behind: usize,
    /// Whether the copies go when the run ends.
    pub at_exit: AtExit,
}

/// What happens to copies at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtExit {
    /// They are removed.
    Remove,
    /// They stay for the next run, which uses those whose origin has not changed.
    Keep,
}

/// Bytes copied at a time.
const PIECE_BYTES: usize = 4 << 20;
/// Name of the file that a run holds locked in its folder.
const LOCK: &str = "atmostr.lock";

/// Copies files in the background while a run moves along them. Dropped, it stops; what is half copied goes.
#[derive(Debug)]
pub struct Stager {
    desk: Arc<Desk>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Desk {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// File in use.
    current: usize,
    stopped: bool,
    /// Why copies could not be made.
    problems: Vec<String>,
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stager {
    /// Starts to copy `files`, from the one numbered `first` on.
    ///
    /// # Errors
    /// The folder cannot be made or belongs to another run, or the system refuses a thread.
    pub fn start(settings: StagingSettings, files: Vec<Arc<TransportFile>>, first: usize) -> Result<Self, MetError> {
        std::fs::create_dir_all(&settings.folder).map_err(MetError::io(&settings.folder, "make the folder"))?;
        let path = settings.folder.join(LOCK);
        let lock = File::create(&path).map_err(MetError::io(&path, "create"))?;
        if lock.try_lock().is_err() {
            return Err(MetError::StagingInUse { folder: settings.folder });
        }
        let state = Mutex::new(State { current: first, stopped: false, problems: Vec::new() });
        let desk = Arc::new(Desk { state, changed: Condvar::new() });
        let work = Work { settings, files, desk: desk.clone(), _lock: lock };
        let thread = std::thread::Builder::new().name("staging".into()).spawn(move || work.run());
        let thread = thread.map_err(MetError::io(&path, "start a thread to copy to the folder of"))?;
        Ok(Self { desk, thread: Some(thread) })
    }

    /// The run has come to a file; what could not be copied since the last call.
    pub fn at(&self, current: usize) -> Vec<String> {
        let mut state = self.desk.lock();
        state.current = current;
        self.desk.changed.notify_all();
        std::mem::take(&mut state.problems)
    }
}

impl Drop for Stager {
    fn drop(&mut self) {
        self.desk.lock().stopped = true;
        self.desk.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread costs copies, not the run.
            let _ = thread.join();
        }
    }
}

struct Work {
    settings: StagingSettings,
    files: Vec<Arc<TransportFile>>,
    desk: Arc<Desk>,
    _lock: File,
}

impl Work {
    fn run(self) {
        // Once a copy fails, a full disk most likely, files are read where they are from then on.
        let mut failed = false;
        let mut done: Vec<bool> = vec![false; self.files.len()];
        loop {
            let mut state = self.desk.lock();
            if state.stopped {
                break;
            }
            let current = state.current;
            let wanted = current..(current + self.settings.ahead + 1).min(self.files.len());
            let next = wanted.clone().find(|n| !failed && !done[*n]);
            match next {
                None => {
                    // Nothing to do until the run moves on.
                    while !state.stopped && state.current == current {
                        state = self.desk.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                    }
                    let behind = state.current.saturating_sub(self.settings.behind);
                    drop(state);
                    self.forget(0..behind);
                }
                Some(n) => {
                    drop(state);
                    done[n] = true;
                    if let Err(error) = self.copy(n) {
                        failed = true;
                        let text = format!(
                            "{}: no copy in {} ({error}); this and the following files are read where they are",
                            self.files[n].path().display(),
                            self.settings.folder.display()
                        );
                        self.desk.lock().problems.push(text);
                    }
                }
            }
        }
        if self.settings.at_exit == AtExit::Remove {
            self.forget(0..self.files.len());
            let _ = std::fs::remove_file(self.settings.folder.join(LOCK));
        }
    }

    fn forget(&self, files: std::ops::Range<usize>) {
        for file in &self.files[files] {
            for path in
                [staged_path(&self.settings.folder, file.path()), stamp_path(&self.settings.folder, file.path())]
            {
                let _ = std::fs::remove_file(path);
            }
        }
    }

    /// Copies a file unless a copy of the same origin is there.
    fn copy(&self, n: usize) -> std::io::Result<()> {
        let from = self.files[n].path();
        let (to, stamp) = (staged_path(&self.settings.folder, from), stamp_path(&self.settings.folder, from));
        let origin = Stamp::of(&std::fs::metadata(from)?).text(from);
        let same = std::fs::read_to_string(&stamp).is_ok_and(|text| text == origin);
        if same && to.exists() {
            return Ok(());
        }
        // A copy of another origin must not be met with the stamp of this one.
        let _ = std::fs::remove_file(&to);
        let partial = to.with_extension("partial");
        let copied = self.copy_bytes(from, &partial).and_then(|whole| match whole {
            true => std::fs::write(&stamp, &origin).and_then(|()| std::fs::rename(&partial, &to)),
            false => std::fs::remove_file(&partial),
        });
        copied.inspect_err(|_| {
            let _ = std::fs::remove_file(&partial);
        })
    }

    /// Whether the copy was completed before the run ended.
    fn copy_bytes(&self, from: &Path, to: &Path) -> std::io::Result<bool> {
        let (mut from, mut to) = (File::open(from)?, File::create(to)?);
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            match from.read(&mut piece)? {
                0 => return Ok(true),
                n => to.write_all(&piece[..n])?,
            }
            if self.desk.lock().stopped {
                return Ok(false);
            }
        }
    }
}

/// The copy of a file with this stamp, if it is whole.
pub(super) fn copy_of(folder: &Path, path: &Path, origin: &Stamp) -> Option<PathBuf> {
    let stamp = std::fs::read_to_string(stamp_path(folder, path)).ok()?;
    let copy = staged_path(folder, path);
    (stamp == origin.text(path) && copy.exists()).then_some(copy)
}

/// Name of the copy of a file.
fn staged_path(folder: &Path, of: &Path) -> PathBuf {
    folder.join(of.file_name().unwrap_or(of.as_os_str()))
}

/// Name of the file that tells what a copy was made of.
fn stamp_path(folder: &Path, of: &Path) -> PathBuf {
    let mut name = of.file_name().unwrap_or(of.as_os_str()).to_os_string();
    name.push(".origin");
    folder.join(name)
}

/// Size and time of the last change of a file, by which it is known again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    bytes: u64,
    changed: Option<SystemTime>,
}

impl Stamp {
    pub(super) fn of(facts: &Metadata) -> Self {
        Self { bytes: facts.len(), changed: facts.modified().ok() }
    }

    /// As it lies beside a copy, with the path of the original.
    fn text(&self, path: &Path) -> String {
        let since = self.changed.and_then(|t| t.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        format!("{}\n{} bytes\n{}.{:09}\n", path.display(), self.bytes, since.as_secs(), since.subsec_nanos())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::met::synth::{self, SynthFlow, SynthOptions};

    fn files(dir: &Path, count: usize) -> Vec<Arc<TransportFile>> {
        let make = |n: usize| {
            let path = dir.join(format!("day{n}.bin"));
            let mut options = SynthOptions::new(SynthFlow::Weather, 4, 3);
            (options.windows, options.skip_windows) = (1, n);
            synth::write(&path, &options, |_| {}).unwrap();
            Arc::new(TransportFile::open(&path).unwrap().with_copies_in(Some(dir.join("copies"))))
        };
        (0..count).map(make).collect()
    }

    fn settings(dir: &Path, at_exit: AtExit) -> StagingSettings {
        StagingSettings { folder: dir.join("copies"), ahead: 1, behind: 0, at_exit }
    }

    fn wait(until: impl Fn() -> bool) {
        let start = Instant::now();
        while !until() {
            assert!(start.elapsed() < Duration::from_secs(60), "nothing happened");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn copies_run_ahead_and_go_behind() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(dir.path(), 4);
        let copy = |n: usize| dir.path().join(format!("copies/day{n}.bin"));
        let stager = Stager::start(settings(dir.path(), AtExit::Remove), files.clone(), 0).unwrap();
        wait(|| copy(0).exists() && copy(1).exists());
        assert!(!copy(2).exists());
        assert_eq!(std::fs::read(copy(1)).unwrap(), std::fs::read(files[1].path()).unwrap());
        assert_eq!(stager.at(2), Vec::<String>::new());
        wait(|| copy(2).exists() && copy(3).exists() && !copy(1).exists() && !copy(0).exists());
        // Another run may not use the folder meanwhile.
        let other = Stager::start(settings(dir.path(), AtExit::Remove), files, 0).unwrap_err().to_string();
        assert!(other.contains("copies") && other.contains("another run"), "{other}");
        drop(stager);
        assert_eq!(std::fs::read_dir(dir.path().join("copies")).unwrap().count(), 0);
    }

    #[test]
    fn reads_use_a_copy_of_the_same_origin_only() {
        let dir = tempfile::tempdir().unwrap();
        let file = files(dir.path(), 1).remove(0);
        let copy = dir.path().join("copies/day0.bin");
        let stager = Stager::start(settings(dir.path(), AtExit::Keep), vec![file.clone()], 0).unwrap();
        wait(|| copy.exists());
        drop(stager);
        let whole = file.window_crc32c(0).unwrap();
        // Whoever opens it again reads the copy, as one whose payload is different shows.
        file.close();
        let mut bytes = std::fs::read(&copy).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&copy, &bytes).unwrap();
        assert_ne!(file.window_crc32c(0).unwrap(), whole);
        // Not if it was made of something else.
        file.close();
        std::fs::write(dir.path().join("copies/day0.bin.origin"), "elsewhere").unwrap();
        assert_eq!(file.window_crc32c(0).unwrap(), whole);
        // And then it is made anew.
        let stager = Stager::start(settings(dir.path(), AtExit::Keep), vec![file.clone()], 0).unwrap();
        wait(|| std::fs::read(&copy).is_ok_and(|copy| copy == std::fs::read(file.path()).unwrap()));
        drop(stager);
    }

    #[test]
    fn files_that_change_are_noticed_when_they_are_opened_again() {
        let dir = tempfile::tempdir().unwrap();
        let file = files(dir.path(), 1).remove(0);
        file.window_crc32c(0).unwrap();
        file.close();
        let bytes = std::fs::read(file.path()).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        std::fs::write(file.path(), bytes).unwrap();
        let message = file.window_crc32c(0).unwrap_err().to_string();
        assert!(message.contains("day0.bin") && message.contains("changed"), "{message}");
    }

    #[test]
    fn a_folder_without_room_costs_the_copies_only() {
        let dir = tempfile::tempdir().unwrap();
        let files = files(dir.path(), 2);
        std::fs::create_dir_all(dir.path().join("copies/day0.partial")).unwrap();
        let stager = Stager::start(settings(dir.path(), AtExit::Remove), files.clone(), 0).unwrap();
        let mut told = Vec::new();
        let start = Instant::now();
        while told.is_empty() && start.elapsed() < Duration::from_secs(60) {
            told = stager.at(0);
        }
        assert!(told[0].contains("day0.bin") && told[0].contains("read where they are"), "{told:?}");
        files[0].window_crc32c(0).unwrap();
    }
}
