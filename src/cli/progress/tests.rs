//! What is shown of a run.

use super::*;
use crate::model::report::{MemoryEstimate, MemoryItem, RunFacts, SnapshotReport};

fn plan() -> PlanReport {
    PlanReport {
        lines: vec![("grid", "C24".into())],
        windows: 24,
        start_seconds: 0.0,
        facts: RunFacts { ranks: 2, nc: 24, ..RunFacts::default() },
        memory: MemoryEstimate { items: vec![MemoryItem { name: "state", bytes: 1000 }] },
        memory_of_ranks: Spread { min: 900.0, mean: 950.0, max: 1000.0 },
    }
}

fn run() -> RunReport {
    RunReport {
        ended: Ended::Complete,
        model_seconds: 86_400.0,
        snapshots: 5,
        files: vec!["run.nc".into()],
        ledger_refused: [0, 0],
        budgets: vec![crate::model::report::Budget {
            name: "co2".into(),
            initial: 2.0,
            last: 2.5,
            half_life_seconds: None,
            tracer: None,
        }],
        seconds: vec![("advection", 1.5)],
        memory: MemoryUse {
            expected: Spread { min: 900.0, mean: 950.0, max: 1000.0 },
            high_water: Some(Spread { min: 800.0, mean: 850.0, max: 900.0 }),
        },
    }
}

const TRACERS: [&str; 2] = ["co2", "sf6"];

fn tracers() -> &'static [String] {
    static NAMES: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
    NAMES.get_or_init(|| TRACERS.map(String::from).to_vec())
}

fn report(window: usize) -> WindowReport<'static> {
    WindowReport {
        file: "winds.bin",
        window,
        windows: 24,
        number: window as u64,
        substeps: 4,
        model_seconds: 3600.0 * window as f64,
        snapshots: 2,
        max_cfl: Some(0.5),
        cfl_limit: 0.95,
        passes: 2,
        tracers: tracers(),
        drift: &[1e-16, -3e-16],
        largest_residual: Some(3e-16),
        wall_seconds: 0.75,
        imbalance: 1.25,
        read_wait_seconds: 0.5,
        seconds: &[("advection", 0.25), ("io_read", 0.5)],
    }
}

fn lines_of(interval: Duration) -> String {
    let mut out = Vec::new();
    let mut lines = Lines::new(&mut out, interval);
    lines.start(&plan());
    (1..=24).for_each(|w| lines.window(&report(w)));
    lines.finish(&run());
    String::from_utf8(out).unwrap()
}

#[test]
fn lines_are_few_unless_time_passes() {
    let few = lines_of(Duration::from_secs(3600));
    assert_eq!(few.lines().count(), 8, "{few}");
    assert!(few.contains("[24/24] winds.bin window 24/24 steps/window=4 | 1.00 days"), "{few}");
    let window = "0.75 s (reading 0.50 s) | cfl=0.50/0.95 in 2 passes | imbalance=1.25 | drift=-3.0e-16 (sf6)";
    assert!(few.contains(window), "{few}");
    let memory =
        "memory: 800 B to 900 B, mean 850 B on a rank at the most, 900 B to 1000 B, mean 950 B on a rank expected";
    assert!(few.contains(memory), "{few}");
    assert!(few.contains("\nfinished: 1.00 days"), "{few}");
    assert!(few.contains("2.000e-1") && few.ends_with("written: run.nc\n"), "{few}");
    assert!(!few.contains('\u{1b}') && !few.contains('\r'), "{few:?}");
    assert_eq!(lines_of(Duration::ZERO).lines().count(), 31);
}

#[test]
fn json_lines_hold_every_window() {
    let mut out = Vec::new();
    let mut json = Json::new(&mut out, Failures::Told);
    json.start(&plan());
    (1..=24).for_each(|w| json.window(&report(w)));
    json.finish(&run());
    let text = String::from_utf8(out).unwrap();
    let events: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(events.len(), 26);
    assert_eq!(events[0]["total_windows"], 24);
    let third = &events[3];
    assert_eq!(third["event"], "window");
    assert_eq!((&third["window"], &third["windows_done"], &third["substeps"]), (&3.into(), &3.into(), &4.into()));
    assert_eq!(third["model_seconds"], 10_800.0);
    assert_eq!(third["seconds"]["io_read"], 0.5);
    assert_eq!(third["largest_residual"], 3e-16);
    assert!(third["days_per_day"].as_f64().unwrap() > 0.0);
    assert_eq!(events[0]["grid"], "C24");
    assert_eq!(events[25]["event"], "finish");
    assert_eq!(events[25]["budgets"][0]["last"], 2.5);
}

#[test]
fn json_windows_tell_the_drift_of_every_tracer_and_the_balance_of_ranks() {
    let mut out = Vec::new();
    let mut json = Json::new(&mut out, Failures::Told);
    json.start(&plan());
    json.window(&report(7));
    json.snapshot(&SnapshotReport { model_seconds: 3600.0, snapshots: 1, took_seconds: 0.5 });
    let file = std::path::Path::new("a.nc");
    json.checkpoint(&CheckpointReport { file, model_seconds: 7200.0, bytes: 10, took_seconds: 0.25 });
    json.file(file);
    json.fail("no room");
    let text = String::from_utf8(out).unwrap();
    let events: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let names: Vec<_> = events.iter().map(|e| e["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["start", "window", "snapshot", "checkpoint", "file", "error"]);
    assert!(events.iter().all(|e| e["time"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok()), "{text}");
    assert_eq!((&events[0]["run"]["nc"], &events[0]["memory_bytes"][0]["bytes"]), (&24.into(), &1000.into()));
    let window = &events[1];
    assert_eq!(window["drift"], serde_json::json!({"co2": 1e-16, "sf6": -3e-16}));
    for (key, value) in [("imbalance", 1.25), ("wall_seconds", 0.75), ("read_wait_seconds", 0.5), ("cfl_limit", 0.95)] {
        assert_eq!(window[key], value, "{key}");
    }
    assert_eq!((&window["number"], &window["passes"]), (&7.into(), &2.into()));
    assert_eq!(events[3]["file"], "a.nc");
    // What is told elsewhere is not told twice.
    let mut out = Vec::new();
    Json::new(&mut out, Failures::ToldElsewhere).fail("no room");
    assert!(out.is_empty());
}

#[test]
fn restart_files_get_a_line_now_and_then() {
    let mut out = Vec::new();
    let mut lines = Lines::new(&mut out, Duration::from_secs(3600));
    for n in 1..=3 {
        let file = std::path::Path::new("run.restart/a.nc");
        lines.checkpoint(&CheckpointReport {
            file,
            model_seconds: 86_400.0 * f64::from(n),
            bytes: 20_000_000,
            took_seconds: 0.25,
        });
    }
    assert_eq!(String::from_utf8(out).unwrap(), "restart file of day 1.00: run.restart/a.nc (20.0 MB, 0.25 s)\n");
}

#[test]
fn both_listeners_hear_everything() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let file = File::create(&path).unwrap();
    let ctx = Context { log: LogFormat::Text, stderr: Sink::Plain };
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
    let mut both = Both(Box::new(Quiet), Box::new(Json::new(file, Failures::Told)));
    both.start(&plan());
    both.warn("odd");
    both.finish(&run());
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 3, "{text}");
    // Other ranks write to no file.
    let mut other = reporter(&ctx, 1, Some(File::create(&path).unwrap()));
    other.start(&plan());
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
}
