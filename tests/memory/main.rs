//! Memory of runs: it does not grow, it is what was expected, and restart files take little of it.

mod outlook;
#[path = "../support/mod.rs"]
mod support;

use std::path::Path;

use serde_json::Value;
use support::{atmostr, synth};

/// Events of a run of a configuration that runs to its end.
pub fn events(dir: &Path, text: &str) -> Vec<Value> {
    std::fs::write(dir.join("run.toml"), text).unwrap();
    atmostr(dir, &["run", "run.toml", "--events", "events.jsonl"]).succeed();
    let text = std::fs::read_to_string(dir.join("events.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The event of this name that comes first.
pub fn event<'a>(events: &'a [Value], name: &str) -> &'a Value {
    events.iter().find(|event| event["event"] == name).unwrap_or_else(|| panic!("no event {name}"))
}

/// Bytes that the first rank expects, by part.
fn expected(events: &[Value]) -> Vec<(String, f64)> {
    let items = event(events, "start")["memory_bytes"].as_array().unwrap();
    items.iter().map(|i| (i["name"].as_str().unwrap().to_owned(), i["bytes"].as_f64().unwrap())).collect()
}

/// The most bytes at a time; `None` where the system does not tell.
fn high_water(events: &[Value]) -> Option<f64> {
    event(events, "finish")["memory"]["high_water"]["max"].as_f64()
}

fn total(items: &[(String, f64)]) -> f64 {
    items.iter().map(|(_, bytes)| bytes).sum()
}

/// Six tracers on C48 with 72 levels.
fn large(float: &str, more: &str) -> String {
    let tracers: String =
        ["a", "b", "c", "d", "e", "f"].map(|t| format!("[tracers.{t}]\nbackground = 1e-6\n")).concat();
    format!(
        "[input]\nbinary_paths = [\"winds.bin\"]\n[architecture]\nthreads = 2\n[numerics]\nfloat_type = \"{float}\"\n\
         [advection]\nscheme = \"ppm\"\n{tracers}{more}"
    )
}

const PHYSICS: &str = "[diffusion]\nkind = \"geoschem_nonlocal_vdiff\"\n[convection]\nkind = \"tm5\"\n";
const COLUMNS: &str = "[output]\npath = \"o.nc\"\ncadence_hours = 1\n[output.fields]\nlayers = \"none\"\n";
const LAYERS: &str = "[output]\npath = \"o.nc\"\ncadence_hours = 1\n";
const RESTART: &str = "[restart]\nevery = 1\n";

fn large_winds(dir: &Path) {
    let size = ["--flow", "weather", "--nc", "48", "--levels", "72", "--windows", "3", "--physics", "all"];
    synth(dir, "winds.bin", &size);
}

/// Where the arrays of the run are most of it, what it takes is within 5 % of what it said.
#[test]
fn memory_is_what_was_expected() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    large_winds(d);
    for (float, more) in [
        ("Float32", String::new()),
        ("Float64", String::new()),
        ("Float32", format!("{PHYSICS}{COLUMNS}{RESTART}")),
        ("Float64", format!("{PHYSICS}{COLUMNS}{RESTART}")),
    ] {
        let events = events(d, &large(float, &more));
        let items = expected(&events);
        let Some(found) = high_water(&events) else { return println!("skipped: the system does not tell memory") };
        let ratio = found / total(&items);
        println!(
            "{float}{}: {:.1} MB of {:.1} MB",
            if more.is_empty() { "" } else { " with physics" },
            found / 1e6,
            total(&items) / 1e6
        );
        assert!((0.95..=1.05).contains(&ratio), "{float} {more}: {found} bytes are {ratio} of {items:?}");
        std::fs::remove_dir_all(d.join("run.restart")).ok();
    }
}

/// Snapshots that wait are counted whole; a quick disk has them wait in part only.
#[test]
fn snapshots_that_wait_are_counted_whole() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    large_winds(d);
    let events = events(d, &large("Float32", LAYERS));
    let items = expected(&events);
    let Some(found) = high_water(&events) else { return println!("skipped: the system does not tell memory") };
    let (_, waits) = items.iter().find(|(name, _)| name == "output that waits").unwrap();
    println!("{:.1} MB of {:.1} MB, of which {:.1} MB wait", found / 1e6, total(&items) / 1e6, waits / 1e6);
    assert!(found <= 1.05 * total(&items) && found >= 0.95 * (total(&items) - waits), "{found} bytes; {items:?}");
}

/// A restart file takes less than air and tracers once more.
#[test]
fn a_restart_file_takes_less_than_the_fields() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    large_winds(d);
    for (float, bytes) in [("Float32", 4.0), ("Float64", 8.0)] {
        let fields = 7.0 * 72.0 * (6 * 48 * 48) as f64 * bytes;
        let without = high_water(&events(d, &large(float, PHYSICS)));
        let with = events(d, &large(float, &format!("{PHYSICS}{RESTART}")));
        assert_eq!(with.iter().filter(|event| event["event"] == "checkpoint").count(), 3);
        let Some((without, with)) = without.zip(high_water(&with)) else {
            return println!("skipped: the system does not tell memory");
        };
        println!("{float}: {:.1} MB more, fields {:.1} MB", (with - without) / 1e6, fields / 1e6);
        assert!(with - without < fields, "{float}: {} bytes more", with - without);
        std::fs::remove_dir_all(d.join("run.restart")).unwrap();
    }
}

/// Windows of each file, and files. The first file that is completed takes memory that is kept for the others.
const WINDOWS: usize = 50;
const FILES: usize = 20;

/// A thousand windows in twenty files, with physics, sources, decay, a daily output file and restart files.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "slow: a thousand windows"]
fn memory_does_not_grow_in_a_thousand_windows() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    let names: Vec<String> = (0..FILES).map(|n| format!("w{n:02}.bin")).collect();
    for (n, name) in names.iter().enumerate() {
        let (windows, skip) = (WINDOWS.to_string(), (n * WINDOWS).to_string());
        synth(
            d,
            name,
            &["--flow", "weather", "--nc", "12", "--levels", "20", "--windows", &windows, "--skip-windows", &skip],
        );
    }
    let text = "[input]\nbinary_paths = PATHS\n[architecture]\nthreads = 2\n\
                [numerics]\nfloat_type = \"Float64\"\n[advection]\nscheme = \"ppm\"\n[diffusion]\nkind = \"constant\"\nvalue = 10.0\n\
                [chemistry]\nkind = \"decay\"\nhalf_lives_seconds = { rn222 = 330350.4 }\n\
                [tracers.rn222]\nsurface_flux = { kind = \"uniform\", rate = 1e-16 }\n[tracers.co2]\nbackground = 4e-4\n\
                [output]\npath = \"o_{day}.nc\"\nsplit = \"daily\"\ncadence_hours = 1\n[restart]\nevery = 25\n";
    std::fs::write(d.join("run.toml"), text.replace("PATHS", &format!("{names:?}"))).unwrap();
    let config = atmostr::config::RunConfig::load(&d.join("run.toml")).unwrap_or_else(|e| panic!("{}", e.plain()));
    let mut seen = Residence::default();
    atmostr::model::run(&config, &atmostr::comm::Solo, &mut seen).unwrap();
    assert_eq!(seen.0.len(), FILES * WINDOWS);
    let megabytes = |n: usize| seen.0[n - 1] as f64 / 1e6;
    let marks = [50, 100, 200, 300, 500, 700, 900, 1000].map(megabytes);
    println!("resident after 50, 100, 200, 300, 500, 700, 900, 1000 windows: {marks:.1?} MB");
    let grown = megabytes(1000) - megabytes(100);
    assert!(grown < GROWTH_MB, "grown by {grown} MB: {marks:?}");
}

/// What the allocator keeps varies by less than this from file to file.
#[cfg(target_os = "linux")]
const GROWTH_MB: f64 = 2.0;

/// Bytes in memory at the end of every window.
#[cfg(target_os = "linux")]
#[derive(Default)]
struct Residence(Vec<u64>);

#[cfg(target_os = "linux")]
impl atmostr::model::report::Progress for Residence {
    fn start(&mut self, plan: &atmostr::model::report::PlanReport) {
        self.0.reserve_exact(plan.windows as usize);
    }
    fn window(&mut self, _: &atmostr::model::report::WindowReport<'_>) {
        self.0.push(atmostr::timers::ProcessMemory::now().expect("Linux tells").resident);
    }
    fn warn(&mut self, _: &str) {}
    fn finish(&mut self, _: &atmostr::model::report::RunReport) {}
}

/// What ranks in one process tell: every one the same figures.
#[derive(Default)]
struct Told {
    imbalance: Vec<f64>,
    drift: Vec<usize>,
    memory: Option<atmostr::model::report::Spread>,
}

impl atmostr::model::report::Progress for Told {
    fn start(&mut self, plan: &atmostr::model::report::PlanReport) {
        self.memory = Some(plan.memory_of_ranks);
    }
    fn window(&mut self, report: &atmostr::model::report::WindowReport<'_>) {
        self.imbalance.push(report.imbalance);
        self.drift.push(report.drift.len());
        assert!(report.wall_seconds > 0.0 && report.read_wait_seconds >= 0.0 && report.passes > 0);
        assert!(report.largest_residual.is_some_and(|r| r < 1e-12), "{report:?}");
    }
    fn warn(&mut self, _: &str) {}
    fn finish(&mut self, _: &atmostr::model::report::RunReport) {}
}

#[test]
fn ranks_are_compared_in_every_window() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    synth(d, "winds.bin", &["--flow", "weather", "--nc", "12", "--levels", "8", "--windows", "4"]);
    let text = support::Config { tracers: support::TRACERS, output: "enabled = false", ..Default::default() }.text();
    let config =
        atmostr::config::RunConfig::parse(&text, &d.join("run.toml")).unwrap_or_else(|e| panic!("{}", e.plain()));
    // 14 ranks cannot have the same number of cells.
    let told = atmostr::comm::threads::run(14, |comm| {
        let mut told = Told::default();
        let report = atmostr::model::run(&config, &comm, &mut told).unwrap();
        (told, report.memory)
    });
    for (one, found) in &told {
        assert_eq!(one.imbalance, told[0].0.imbalance);
        assert_eq!((one.imbalance.len(), &one.drift), (4, &vec![4; 4]));
        assert!(one.imbalance.iter().all(|x| (1.0..=14.0).contains(x)), "{:?}", one.imbalance);
        let memory = one.memory.unwrap();
        assert!(memory.min < memory.max && memory.min <= memory.mean && memory.mean <= memory.max, "{memory:?}");
        assert_eq!(found.expected, memory);
    }
}
