//! `atmostr plan` and the run agree.

use serde_json::Value;

use crate::support::{Config, TM5_PHYSICS, atmostr, synth};
use crate::{event, events, expected, total};

fn plan(dir: &std::path::Path, more: &[&str]) -> Value {
    let args: Vec<&str> = ["plan", "run.toml", "--json", "--rate", "50e6"].iter().chain(more).copied().collect();
    let told = atmostr(dir, &args).succeed();
    serde_json::from_str(&told.stdout).unwrap()
}

fn config() -> String {
    let output = "path = \"o.nc\"\ncadence_hours = 1\n[restart]\nevery = 2\nkeep = 2";
    Config { tracers: TM5_PHYSICS, output, ..Config::default() }.text()
}

#[test]
fn memory_and_files_are_those_of_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    synth(d, "winds.bin", &["--flow", "weather", "--nc", "12", "--levels", "20", "--windows", "4", "--physics", "all"]);
    std::fs::write(d.join("run.toml"), config()).unwrap();
    let before = plan(d, &[]);
    let events = events(d, &config());
    let run = expected(&events);
    let planned = before["memory"]["first_rank"]["items"].as_array().unwrap();
    assert_eq!(run.len(), planned.len());
    for ((name, bytes), item) in run.iter().zip(planned) {
        assert_eq!(item["name"], name.as_str());
        // What the process takes by itself differs from start to start.
        if name != "program" {
            assert_eq!(item["bytes"], *bytes as u64, "{name}");
        }
    }
    assert!(total(&run) > 1e6);
    // Five snapshots in four hours; their fields make up most of the file.
    let disk = &before["disk"];
    assert_eq!(disk["snapshots"], 720.0);
    let size = |name: &str| std::fs::metadata(d.join(name)).unwrap().len() as f64;
    let fields = 5.0 * disk["snapshot_bytes"].as_f64().unwrap();
    assert!((fields..1.25 * fields + 1e6).contains(&size("o.nc")), "{} of {fields}", size("o.nc"));
    let checkpoint = event(&events, "checkpoint");
    let restart = disk["restart_bytes"].as_f64().unwrap();
    let found = checkpoint["bytes"].as_f64().unwrap();
    assert!((restart..1.1 * restart + 2e5).contains(&found), "{found} of {restart}");
    assert_eq!(disk["restart_files"], 3);
    let winds = size("winds.bin") / 4.0 * 720.0;
    let read = disk["transport_bytes"].as_f64().unwrap();
    assert!((read / winds - 1.0).abs() < 0.1, "{read} of {winds}");
    assert_eq!(before["substeps_known"], true);
}

/// The messages are those of `atmostr decompose`: every exchange there and back.
#[test]
fn messages_and_speed_follow_from_the_layout() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    synth(d, "winds.bin", &["--flow", "weather", "--nc", "12", "--levels", "20", "--windows", "4", "--physics", "all"]);
    std::fs::write(d.join("run.toml"), config()).unwrap();
    let one = plan(d, &[]);
    assert_eq!(one["halo"]["substep_bytes"], 0);
    let six = plan(d, &["--nodes", "2", "--ranks-per-node", "3", "--threads", "2"]);
    assert_eq!((&six["ranks"], &six["threads"]), (&6.into(), &2.into()));
    let layout = ["--nc", "12", "--ranks", "6", "--levels", "20", "--tracers", "3", "--float", "Float64", "--json"];
    let told = atmostr(d, &["decompose"].iter().chain(&layout).copied().collect::<Vec<_>>()).succeed().stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    let exchanged: u64 = told["exchanges"].as_array().unwrap().iter().map(|e| e["bytes"].as_u64().unwrap()).sum();
    assert!(exchanged > 0);
    assert_eq!(six["halo"]["substep_bytes"], 2 * exchanged);
    let substeps = six["substeps"]["mean"].as_f64().unwrap();
    assert_eq!(six["halo"]["window_bytes"].as_f64().unwrap(), 2.0 * exchanged as f64 * substeps);
    let (alone, each) = (one["memory"]["per_rank"]["max"].as_f64(), six["memory"]["per_rank"]["max"].as_f64());
    assert!(each < alone, "{each:?} {alone:?}");
    // What physics adds is measured anew each time.
    let speed = |plan: &Value| {
        let [days, share] = ["days_per_day", "vertical_physics_share"].map(|key| plan["speed"][key].as_f64().unwrap());
        assert!(days > 0.0 && share > 0.0);
        days * (1.0 + share)
    };
    let gain = speed(&six) / speed(&one);
    // The measurements scatter on a busy machine.
    assert!(gain > 1.5 && gain <= 6.0, "{gain}");
    assert_eq!(one["speed"]["rate_from"], "given");
    let text = atmostr(d, &["plan", "run.toml", "--rate", "50e6", "--nodes", "2"]).succeed().stdout;
    for words in ["memory, at most", "disk in 30 days", "messages", "days/day", "restart files"] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn winds_that_the_run_would_make_are_planned_without_them() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    let text = "[input.synthetic]\nflow = \"weather\"\nnc = 48\nlevels = 20\nwindows = 24\n[architecture]\nthreads = 1\n\
                [advection]\nscheme = \"ppm\"\n[tracers.co2]\nbackground = 4e-4\n";
    std::fs::write(d.join("run.toml"), text).unwrap();
    let found = plan(d, &[]);
    assert_eq!((&found["nc"], &found["substeps_known"]), (&48.into(), &false.into()));
    assert!(found["disk"]["transport_bytes"].as_f64().unwrap() > 0.0);
    let items = found["memory"]["first_rank"]["items"].as_array().unwrap();
    // 20 levels of 6 padded panels, air and a tracer, in the usual precision: more than the cells alone.
    let state = items.iter().find(|i| i["name"] == "state").unwrap()["bytes"].as_u64().unwrap();
    assert!(state >= 20 * 2 * 6 * 48 * 48 * 4, "{state}");
    assert_eq!(std::fs::read_dir(d).unwrap().count(), 1, "only the configuration is there");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    let text =
        "[input.synthetic]\nflow = \"weather\"\nnc = 8\nlevels = 4\n[advection]\nscheme = \"ppm\"\n[tracers.a]\n";
    std::fs::write(d.join("run.toml"), text).unwrap();
    atmostr(d, &["plan", "run.toml", "--rate", "0"]).refuse(&["--rate", "above 0"]);
    atmostr(d, &["plan", "run.toml", "--nodes", "100000"]).refuse(&["ranks"]);
    atmostr(d, &["plan", "absent.toml"]).refuse(&["absent.toml"]);
}
