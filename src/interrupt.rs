//! Signals that end the program, and files that must not outlive it.
//!
//! A file under a temporary name is removed when a signal ends the program. Commands that can save their work first
//! [`defer`] the end: they ask [`requested`] from time to time.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static DEFERRED: AtomicBool = AtomicBool::new(false);
/// Signal that asked the program to stop; 0: none.
static REQUESTED: AtomicI32 = AtomicI32::new(0);

/// A file that is removed if a signal ends the program while this lives.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// Guards the file at `path`.
    pub fn new(path: &Path) -> Self {
        temporary().push(path.into());
        Self(path.into())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        temporary().retain(|path| *path != self.0);
    }
}

fn temporary() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remove_temporary() {
    temporary().drain(..).for_each(|path| {
        // Nothing is left to do about a file that cannot be removed.
        let _ = std::fs::remove_file(path);
    });
}

/// Ends the process with an exit code, whatever its threads are doing, without the work of libraries at exit.
pub fn end_at_once(code: i32) -> ! {
    remove_temporary();
    // SAFETY: ends the process; nothing of it is used afterwards.
    unsafe { libc::_exit(code) }
}

/// From now on the first SIGTERM, SIGINT, SIGHUP or SIGUSR1 does not end the program, but is told by [`requested`]; the
/// second one ends it.
pub fn defer() {
    DEFERRED.store(true, Ordering::SeqCst);
}

/// The signal that asked the program to stop, since [`defer`].
pub fn requested() -> Option<&'static str> {
    match REQUESTED.load(Ordering::SeqCst) {
        0 => None,
        signal => Some(name(signal)),
    }
}

#[cfg(unix)]
fn name(signal: i32) -> &'static str {
    signal_hook::low_level::signal_name(signal).unwrap_or("signal")
}

#[cfg(not(unix))]
fn name(_: i32) -> &'static str {
    "signal"
}

/// Starts to listen for signals; a file that grows over the limit of the shell becomes an error of writing instead of
/// the end of the program. Called once, at the start of the program.
///
/// # Errors
/// Of the system.
#[cfg(unix)]
pub fn listen() -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};

    signal_hook::flag::register(SIGXFSZ, std::sync::Arc::new(AtomicBool::new(false)))?;
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM, SIGUSR1])?;
    let receive = move || {
        for signal in &mut signals {
            let first = REQUESTED.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_ok();
            if DEFERRED.load(Ordering::SeqCst) && first {
                continue;
            }
            remove_temporary();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(receive)?;
    Ok(())
}

/// Signals end the program as they please.
///
/// # Errors
/// None here.
#[cfg(not(unix))]
pub fn listen() -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_living_guards_are_listed() {
        let path = PathBuf::from("guarded.part");
        let listed = || temporary().contains(&path);
        let guard = Temporary::new(&path);
        assert!(listed());
        drop(guard);
        assert!(!listed());
    }
}
