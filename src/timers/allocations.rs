//! Memory taken, counted when asked for.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// The system's allocator with a count of the bytes that each thread takes.
#[derive(Debug, Default)]
pub struct CountingAllocator;

static COUNTING: AtomicBool = AtomicBool::new(false);

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// Counts from now on, if this program uses [`CountingAllocator`].
pub(super) fn count() {
    COUNTING.store(true, Ordering::Relaxed);
}

/// Bytes that this thread has taken since counting began.
pub(super) fn of_this_thread() -> u64 {
    TAKEN.get()
}

fn taken(bytes: usize) {
    if COUNTING.load(Ordering::Relaxed) {
        // A thread that is ending counts no more.
        let _ = TAKEN.try_with(|n| n.set(n.get() + bytes as u64));
    }
}

// SAFETY: every call is passed on to the system's allocator; counting takes no memory.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        taken(size.saturating_sub(layout.size()));
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}
