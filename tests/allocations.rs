//! Memory is taken before the first substep, not during the run.
//!
//! All in one test: the counters see every thread of the process.

use std::alloc::{GlobalAlloc, Layout as Memory, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use atmostr::comm::Solo;
use atmostr::met::synth::{self, SynthFlow, SynthOptions};
use atmostr::met::{FileWindows, FluxForm, PrefetchMode, Section, TransportFile, WindowBuffer, WindowStream};
use atmostr::operators::Threads;
use atmostr::operators::advection::{Advection, Winds};
use atmostr::state::{AIR, PackedState, TileSet};
use decomposition::{Layout, TileGrid};
use kernels::Scheme;
use kernels::scheme::{PpmLimiter, SlopesLimiter};

/// The system's allocator with counters.
struct Counting;

static CALLS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

fn count(bytes: usize) {
    CALLS.fetch_add(1, Ordering::Relaxed);
    BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
}

// SAFETY: all calls are passed on unchanged to the system's allocator; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Memory) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Memory) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(ptr, layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Memory, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(ptr, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn counters() -> [u64; 2] {
    [&CALLS, &BYTES].map(|c| c.load(Ordering::Relaxed))
}

/// Allocations and bytes since earlier counters.
fn since(earlier: [u64; 2]) -> [u64; 2] {
    let now = counters();
    [now[0] - earlier[0], now[1] - earlier[1]]
}

/// Allocations of the substeps and of the changes of window, after the first window and the first change.
fn measure(file: &Arc<TransportFile>, scheme: Scheme, threads: usize, mode: PrefetchMode) -> ([u64; 2], [u64; 2]) {
    let header = file.header();
    let grid = Some(TileGrid { px: 2, py: 1 });
    let layout = Layout::new(header.nc(), header.panel_convention(), 1, scheme.halo(), grid).unwrap();
    let tiles = Arc::new(TileSet::new(layout.tiles_of(0).to_vec(), scheme.halo()));
    let threads = Threads::new(threads).unwrap();
    let sections = [Section::AirMass, Section::FluxX, Section::FluxY, Section::FluxZ];
    let buffer = WindowBuffer::<f64>::new(tiles.clone(), header, &sections).with_flux_form(FluxForm::HalfSweep);
    let mut stream = WindowStream::new(vec![FileWindows::all(file.clone())], buffer, mode).unwrap();
    stream.advance().unwrap();
    let names = vec!["a".to_owned(), "b".to_owned()];
    let mut state = PackedState::<f64>::zeros(tiles.clone(), header.nlevel(), names);
    let (_, window) = stream.current().unwrap();
    let air = window.get(Section::AirMass).unwrap();
    for level in 0..header.nlevel() {
        for tile in 0..tiles.len() {
            for plane in AIR..3 {
                state.slabs_mut().plane_mut(level, tile, plane).copy_from_slice(air.plane(level, tile, 0));
            }
        }
    }
    let mut advection = Advection::new(scheme, &layout, &state, &threads, &Solo);
    let (mut in_substeps, mut between) = ([0; 2], [0; 2]);
    threads.install(|| {
        for number in 0..header.nwindow() {
            let (_, window) = stream.current().unwrap();
            let [x, y, z] = [Section::FluxX, Section::FluxY, Section::FluxZ].map(|s| window.get(s).unwrap());
            let winds = || Winds { x, y, z, scale: 1.0 };
            let before = counters();
            for _ in 0..3 {
                advection.substep(&mut state, winds(), 2, None, &threads);
            }
            let mine = since(before);
            let before = counters();
            stream.advance().unwrap();
            let change = since(before);
            if number > 1 {
                (0..2).for_each(|n| in_substeps[n] += mine[n]);
                (0..2).for_each(|n| between[n] += change[n]);
            }
        }
    });
    (in_substeps, between)
}

#[test]
fn the_substep_loop_takes_no_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("winds.bin");
    let mut options = SynthOptions::new(SynthFlow::Weather, 12, 6);
    options.windows = 6;
    synth::write(&path, &options, |_| {}).unwrap();
    let file = Arc::new(TransportFile::open(&path).unwrap());
    let schemes = [Scheme::Upwind, Scheme::Slopes(SlopesLimiter::Monotone), Scheme::Ppm(PpmLimiter::HuynhPd)];
    let before = counters();
    let kept = std::hint::black_box(vec![0_u8; 100]);
    assert_eq!(since(before), [1, 100], "the counters count");
    drop(kept);
    for scheme in schemes {
        for count in [1, 2] {
            // Each pool takes the calling thread as a member for good, so every pool starts on a thread of its own.
            let file = &file;
            let measured = std::thread::scope(|scope| {
                scope.spawn(move || measure(file, scheme, count, PrefetchMode::Synchronous)).join().unwrap()
            });
            let ([calls, bytes], change) = measured;
            assert_eq!(calls, 0, "{} with {count} threads: {bytes} bytes in 12 substeps", scheme.name());
            assert_eq!(change, [0, 0], "calls and bytes of window changes");
        }
    }
}
