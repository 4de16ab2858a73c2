//! Memory is taken before the first substep, not during the run.
//!
//! All in one test: the counters see every thread of the process, the one that reads ahead too.

use std::alloc::{GlobalAlloc, Layout as Memory, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use atmostr::bench::{BenchSize, PhysicsBench};
use atmostr::comm::Solo;
use atmostr::config::RunConfig;
use atmostr::met::synth::{self, SynthFlow, SynthOptions, SynthPhysics};
use atmostr::met::{FileWindows, FluxForm, PrefetchMode, Section, TransportFile, WindowBuffer, WindowStream};
use atmostr::model;
use atmostr::model::report::{PlanReport, Progress, RunReport, WindowReport};
use atmostr::operators::Threads;
use atmostr::operators::advection::{Advection, Winds};
use atmostr::state::{AIR, PackedState, TileSet};
use decomposition::{Layout, TileGrid};
use kernels::Scheme;
use kernels::scheme::{Choice, EdgeRule, Fusion, LinRood, LinRoodRule, PpmLimiter, SeamGhost, SlopesLimiter, Vertical};

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

/// Windows of a file.
const WINDOWS: usize = 6;

/// Allocations of the substeps and of the changes of window, after the first window and the first change.
fn measure(file: &Arc<TransportFile>, choice: Choice, threads: usize, mode: PrefetchMode) -> ([u64; 2], [u64; 2]) {
    let (header, scheme) = (file.header(), choice.scheme);
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
    let mut advection = Advection::new(choice, &layout, &state, &threads, &Solo);
    let (mut in_substeps, mut between) = ([0; 2], [0; 2]);
    threads.install(|| {
        for number in 0..header.nwindow() {
            let (_, window) = stream.current().unwrap();
            let [x, y, z] = [Section::FluxX, Section::FluxY, Section::FluxZ].map(|s| window.get(s).unwrap());
            let winds = || Winds { x, y, z, scale: 1.0 };
            let before = counters();
            for _ in 0..3 {
                advection.substep(&mut state, winds(), 2, None, None, &threads);
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

/// Notes the counters at the end of every window.
#[derive(Default)]
struct AtWindowEnds(Vec<[u64; 2]>);

impl Progress for AtWindowEnds {
    fn start(&mut self, plan: &PlanReport) {
        self.0.reserve_exact(plan.windows as usize);
    }
    fn window(&mut self, _: &WindowReport<'_>) {
        self.0.push(counters());
    }
    fn warn(&mut self, message: &str) {
        panic!("{message}");
    }
    fn finish(&mut self, _: &RunReport) {}
}

/// Allocations and bytes of each window of a run without output, from the third window on.
fn whole_run(dir: &std::path::Path, scheme: &str, reset: &str, backend: &str, threads: usize) -> Vec<[u64; 2]> {
    let text = format!(
        "[input]\nbinary_paths = [\"winds1.bin\", \"winds2.bin\"]\n[architecture]\nthreads = {threads}\n\
         backend = \"{backend}\"\n\
         [run]\nair_mass_reset_mode = \"{reset}\"\n[decomposition]\ntiles = [2, 1]\n\
         [advection]\nscheme = \"{scheme}\"\n[tracers.a]\n[tracers.b]\nbackground = 1e-6\n"
    );
    run_of(&text, dir)
}

/// The same with all of vertical physics.
fn whole_run_with_physics(dir: &std::path::Path, set: &PhysicsSet, float: &str, threads: usize) -> Vec<[u64; 2]> {
    let PhysicsSet { run, diffusion, convection, chemistry, injection, .. } = set;
    let text = format!(
        "[input]\nbinary_paths = [\"winds1.bin\", \"winds2.bin\"]\n[architecture]\nthreads = {threads}\n\
         [numerics]\nfloat_type = \"{float}\"\n\
         [run]\nair_mass_reset_mode = \"preserve_tracer_mass\"\n{run}\n[decomposition]\ntiles = [2, 1]\n\
         [advection]\nscheme = \"ppm\"\n[diffusion]\n{diffusion}\n[convection]\n{convection}\n\
         [chemistry]\nkind = \"decay\"\nhalf_lives_seconds = {{ rn222 = 330350.4 }}\n{chemistry}\n\
         [tracers.rn222]\nbackground = 1e-20\nsurface_flux = {{ kind = \"uniform\", rate = 1e-16 }}\n\
         [tracers.fossil_co2]\nbackground = 4e-4\n\
         [[tracers.fossil_co2.surface_flux]]\nkind = \"uniform\"\nrate = 3e-9\n\
         [[tracers.fossil_co2.surface_flux]]\nkind = \"uniform\"\nrate = 1e-10\n{injection}\n"
    );
    run_of(&text, dir)
}

/// A choice of vertical physics, as configuration text.
struct PhysicsSet {
    name: &'static str,
    run: &'static str,
    diffusion: &'static str,
    convection: &'static str,
    chemistry: &'static str,
    injection: &'static str,
}

const PHYSICS: [PhysicsSet; 3] = [
    PhysicsSet {
        name: "tm5",
        run: "",
        diffusion: "kind = \"tm5_dkg\"",
        convection: "kind = \"tm5\"",
        chemistry: "decay_cadence = \"symmetric\"",
        injection: "",
    },
    PhysicsSet {
        name: "geos",
        run: "physics_cadence = \"substep\"",
        diffusion: "kind = \"geoschem_nonlocal_vdiff\"",
        convection: "kind = \"cmfmc\"",
        chemistry: "",
        injection: "injection = { kind = \"heights\", z_bottom = 100.0, z_top = 300.0 }",
    },
    PhysicsSet {
        name: "matrix",
        run: "physics_cadence = \"substep\"",
        diffusion: "kind = \"tm5_beljaars_viterbo_local_kz\"\nkz_update = \"flux\"",
        convection: "kind = \"cmfmc_matrix\"",
        chemistry: "",
        injection: "",
    },
];

fn run_of(text: &str, dir: &std::path::Path) -> Vec<[u64; 2]> {
    let config = RunConfig::parse(text, &dir.join("run.toml")).unwrap();
    let mut ends = AtWindowEnds::default();
    model::run(&config, &Solo, &mut ends).unwrap();
    assert_eq!(ends.0.len(), 2 * WINDOWS);
    ends.0[1..].windows(2).map(|w| [w[1][0] - w[0][0], w[1][1] - w[0][1]]).collect()
}

/// Calls for memory of a measurement of vertical physics.
fn bench(repetitions: usize) -> u64 {
    let size =
        BenchSize { nc: 8, levels: 12, tracers: 2, scheme: Scheme::Ppm(PpmLimiter::HuynhPd), vertical: Vertical::Same };
    let bench = PhysicsBench { size, repetitions };
    let threads = Threads::new(1).unwrap();
    let before = counters();
    threads.install(|| bench.run::<f32>(&threads)).unwrap();
    since(before)[0]
}

fn make_winds(dir: &std::path::Path) {
    for (name, skip_windows) in [("winds1.bin", 0), ("winds2.bin", WINDOWS)] {
        let mut options = SynthOptions::new(SynthFlow::Weather, 12, 6);
        options.windows = WINDOWS;
        options.skip_windows = skip_windows;
        options.physics = SynthPhysics::All;
        synth::write(dir.join(name), &options, |_| {}).unwrap();
    }
}

/// A pool takes the calling thread as a member for good, so every pool starts on a thread of its own. The threads of a
/// pool end some time after it, taking memory once more: nothing is measured until they have gone.
fn on_a_new_thread<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    let before = threads_alive();
    let result = std::thread::scope(|scope| scope.spawn(body).join().unwrap());
    let patience = Instant::now() + Duration::from_secs(10);
    loop {
        std::thread::sleep(Duration::from_millis(if before.is_some() { 1 } else { 200 }));
        if threads_alive() <= before {
            return result;
        }
        assert!(Instant::now() < patience, "a thread of the pool does not end");
    }
}

/// Threads of this process, where the system tells.
fn threads_alive() -> Option<usize> {
    std::fs::read_dir("/proc/self/task").ok().map(Iterator::count)
}

#[test]
fn the_loops_of_substeps_and_windows_take_no_memory() {
    let dir = tempfile::tempdir().unwrap();
    make_winds(dir.path());
    let file = &Arc::new(TransportFile::open(dir.path().join("winds1.bin")).unwrap());
    let before = counters();
    let kept = std::hint::black_box(vec![0_u8; 100]);
    assert_eq!(since(before), [1, 100], "the counters count");
    drop(kept);
    let linrood = LinRood { edge: EdgeRule::TwoSided, ghost: SeamGhost::Remap, ..LinRood::new(LinRoodRule::HuynhPd) };
    let linrood = Scheme::LinRood(linrood);
    let huynh = Scheme::Ppm(PpmLimiter::HuynhPd);
    let spline = Choice::from(huynh).with_vertical(Vertical::Fv3Kord8);
    let fused = spline.with_vertical(Vertical::Fv3Kord8Signed).with_fusion(Fusion::WherePossible);
    let plain = [Scheme::Upwind, Scheme::Slopes(SlopesLimiter::Monotone), huynh, linrood].map(Choice::from);
    for choice in plain.into_iter().chain([spline, fused]) {
        for threads in [1, 2] {
            for mode in [PrefetchMode::Synchronous, PrefetchMode::Thread] {
                let ([calls, bytes], change) = on_a_new_thread(move || measure(file, choice, threads, mode));
                let what = format!("{choice} with {threads} threads, {mode:?}");
                assert_eq!(calls, 0, "{what}: {bytes} bytes in 12 substeps");
                assert_eq!(change, [0, 0], "{what}: calls and bytes of window changes");
            }
        }
    }
    let device = atmostr::device::OpenClDevice::count();
    if let Err(reason) = &device {
        println!("skipped: the state on a device ({reason})");
    }
    let on_device = device.map_or(None, |_| Some(("opencl", 1)));
    let runs =
        [("ppm", "preserve_vmr"), ("slopes", "preserve_tracer_mass"), ("upwind", "none"), ("linrood", "preserve_vmr")];
    for (scheme, reset) in runs {
        // The Lin–Rood operator runs on the processor only.
        let device = on_device.filter(|_| scheme != "linrood");
        for (backend, threads) in [("cpu", 1), ("cpu", 2)].into_iter().chain(device) {
            let windows = on_a_new_thread(|| whole_run(dir.path(), scheme, reset, backend, threads));
            for (n, window) in windows.iter().enumerate() {
                let (number, what) = (n + 3, format!("{scheme}, {reset}, {backend}, {threads} threads"));
                assert_eq!(*window, [0, 0], "{what}: calls and bytes of window {number}; all: {windows:?}");
            }
        }
    }
    // What is repeated takes nothing; the first measurement finds out once what later ones know.
    let calls = [2, 2, 6].map(|repetitions| on_a_new_thread(move || bench(repetitions)));
    assert_eq!(calls[1], calls[2], "calls by the number of repetitions");
    for set in &PHYSICS {
        for (float, threads) in [("Float32", 1), ("Float64", 2)] {
            let windows = on_a_new_thread(|| whole_run_with_physics(dir.path(), set, float, threads));
            for (n, window) in windows.iter().enumerate() {
                let (number, what) = (n + 3, format!("{}, {float}, {threads} threads", set.name));
                assert_eq!(*window, [0, 0], "{what}: calls and bytes of window {number}; all: {windows:?}");
            }
        }
    }
}
