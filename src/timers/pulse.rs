//! Signs of life of this process: how often the run has come to a section, and in which it is.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Timed;

static BEATS: AtomicU64 = AtomicU64::new(0);
/// Index of the section; any other number: in none.
static PLACE: AtomicUsize = AtomicUsize::new(usize::MAX);
static WINDOW: Mutex<(String, usize)> = Mutex::new((String::new(), 0));

/// Tells that the run goes on.
pub fn beat() {
    BEATS.fetch_add(1, Ordering::Relaxed);
}

/// How often [`beat`] was called, and sections were begun or ended.
pub fn beats() -> u64 {
    BEATS.load(Ordering::Relaxed)
}

/// The run is in this window, counted from 1, of this file.
pub fn at_window(file: &str, window: usize) {
    let mut place = WINDOW.lock().unwrap_or_else(PoisonError::into_inner);
    place.0.clear();
    place.0.push_str(file);
    place.1 = window;
    beat();
}

/// File and window of the run, and what it does, in words.
pub fn place() -> String {
    let (file, window) = &*WINDOW.lock().unwrap_or_else(PoisonError::into_inner);
    let doing = match Timed::ALL.get(PLACE.load(Ordering::Relaxed)) {
        Some(Timed::MpiWait) => "waiting for messages of other ranks",
        Some(Timed::IoWrite) => "writing a snapshot",
        Some(Timed::Checkpoint) => "writing a restart file",
        Some(Timed::PrefetchFetchWait | Timed::WindowSyncLoadTotal) => "reading a window",
        Some(Timed::WindowAdvance) => "going to the next window",
        Some(Timed::CflScan) => "agreeing on the Courant number",
        Some(Timed::Advection) => "between substeps",
        Some(other) => return format!("{file}, window {window}, in {}", other.name()),
        None => "agreeing with other ranks",
    };
    format!("{file}, window {window}, {doing}")
}

/// Notes the beginning of a section; what to give back at its end. What happens on the thread that reads ahead does not count.
pub(super) fn enter(section: Timed) -> usize {
    if matches!(section, Timed::PrefetchTaskTotal | Timed::WindowLoadHost) {
        return PLACE.load(Ordering::Relaxed);
    }
    beat();
    PLACE.swap(section as usize, Ordering::Relaxed)
}

/// Notes its end.
pub(super) fn leave(section: Timed, outer: usize) {
    if !matches!(section, Timed::PrefetchTaskTotal | Timed::WindowLoadHost) {
        beat();
        PLACE.store(outer, Ordering::Relaxed);
    }
}
