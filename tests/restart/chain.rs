//! Chains of runs, each of which stops after a window and goes on elsewhere.

use std::path::{Path, PathBuf};

use atmostr::device::{Accelerator, count};
use atmostr::met::FloatType;
use atmostr::met::synth::{self, SynthFlow, SynthOptions, SynthPhysics};
use atmostr::model::report::Ended;
use atmostr::model::{RunControl, StartFrom};

use crate::case::{GEOS, How, Operators, PLAIN, TM5, assert_same, make_winds, run_text, run_text_under};

/// With restart files, all of which are kept, in `<output>.restart`.
pub fn with_restarts(text: &str, output: &str, every: Option<f64>) -> String {
    let every = every.map_or(String::new(), |hours| format!("every = {hours}\n"));
    format!("{text}[restart]\nkeep = 1000\ndir = \"{output}.restart\"\n{every}")
}

pub fn restart_files(dir: &Path, output: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir.join(format!("{output}.restart")))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "nc"))
        .collect();
    files.sort();
    files
}

/// Layouts, threads and devices, one after the other.
fn places() -> Vec<How> {
    let cpu = |ranks, threads, tiles| How { ranks, threads, tiles, backend: "cpu" };
    let mut places = vec![
        cpu(1, 1, None),
        cpu(6, 1, None),
        cpu(1, 2, Some([2, 1])),
        cpu(5, 1, None),
        cpu(2, 1, Some([1, 3])),
        cpu(24, 1, None),
    ];
    match count(Accelerator::OpenCl) {
        Ok(_) => {
            places.insert(1, How { ranks: 1, threads: 1, tiles: None, backend: "opencl" });
            places.insert(4, How { ranks: 6, threads: 1, tiles: None, backend: "opencl" });
        }
        Err(reason) => println!("without a device: {reason}"),
    }
    places
}

/// Stops after every window.
fn stop_at_once() -> Option<&'static str> {
    Some("the test")
}

fn chain(operators: &Operators, float: FloatType, dir: &Path, windows: usize, every: f64) {
    let whole = with_restarts(&operators.text(float, How::default(), "whole", every), "whole", Some(1.0));
    run_text(&whole, dir, 1).unwrap();
    let places = places();
    for window in 0..windows {
        let how = places[window % places.len()];
        let text = with_restarts(&operators.text(float, how, "pieces", every), "pieces", None);
        let control = RunControl { from: StartFrom::LatestIfAny, stop_request: stop_at_once, ..RunControl::default() };
        let what = format!("{} {float:?} window {window} {how:?}", operators.name);
        let (report, warnings) =
            run_text_under(&control, &text, dir, how.ranks).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert!(warnings.iter().all(|w| w.contains("lofting")), "{what}: {warnings:?}");
        match report.ended {
            Ended::Stopped { .. } => assert!(window + 1 < windows, "{what}"),
            Ended::Complete => assert_eq!(window + 1, windows, "{what}"),
        }
    }
    let what = format!("{} {float:?}", operators.name);
    assert_same(dir, "whole", "pieces", &what);
    let (whole, pieces) = (restart_files(dir, "whole"), restart_files(dir, "pieces"));
    assert_eq!(whole.len(), windows);
    assert_eq!(pieces.len(), windows);
    for (whole, pieces) in whole.iter().zip(&pieces) {
        let found =
            std::process::Command::new(env!("CARGO_BIN_EXE_atmostr")).arg("diff").args([whole, pieces]).output();
        let found = found.unwrap();
        assert!(found.status.success(), "{what}: {}", String::from_utf8_lossy(&found.stdout));
    }
    let left: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("part")), "{left:?}");
}

#[test]
fn every_window_elsewhere_gives_the_bits_of_one_piece() {
    for float in [FloatType::Float32, FloatType::Float64] {
        for operators in [TM5, GEOS] {
            let dir = tempfile::tempdir().unwrap();
            make_winds(dir.path(), "winds.bin", 12, 20, 6, 1.0, float);
            chain(&operators, float, dir.path(), 6, 2.0);
        }
        let dir = tempfile::tempdir().unwrap();
        make_winds(dir.path(), "winds.bin", 12, 20, 3, 1.0, float);
        chain(&PLAIN, float, dir.path(), 3, 1.0);
    }
}

/// Two days of C24 with 72 layers and all physics, stopped after each of their 48 windows.
#[test]
#[ignore = "takes many minutes"]
fn two_days_of_every_window_elsewhere() {
    for (operators, float) in [(TM5, FloatType::Float32), (GEOS, FloatType::Float32), (TM5, FloatType::Float64)] {
        let dir = tempfile::tempdir().unwrap();
        make_winds(dir.path(), "winds.bin", 24, 72, 48, 1.0, float);
        chain(&operators, float, dir.path(), 48, 6.0);
    }
}

/// From any restart file, not only the last one, with the output as a single file of many parts.
#[test]
fn a_run_goes_on_from_any_of_its_restart_files() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    make_winds(dir, "winds.bin", 12, 20, 6, 1.0, FloatType::Float32);
    let text =
        |output: &str| with_restarts(&TM5.text(FloatType::Float32, How::default(), output, 1.0), output, Some(2.0));
    run_text(&text("whole"), dir, 1).unwrap();
    run_text(&text("again"), dir, 1).unwrap();
    for file in restart_files(dir, "again").iter().rev() {
        let control = RunControl { from: StartFrom::File(file.clone()), ..RunControl::default() };
        run_text_under(&control, &text("again"), dir, 1).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        assert_same(dir, "whole", "again", &file.display().to_string());
    }
}

/// Daily files, restart files in the middle of days, and a run that is made longer after it has ended.
#[test]
fn days_are_completed_and_runs_made_longer() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for (day, skip) in [("01", 0), ("02", 3)] {
        let mut options = SynthOptions::new(SynthFlow::Weather, 12, 20);
        (options.windows, options.skip_windows, options.float) = (3, skip, FloatType::Float32);
        options.physics = SynthPhysics::All;
        options.start_time = Some(format!("2021-12-01T{skip:02}:00:00Z").parse().unwrap());
        synth::write(dir.join(format!("winds_202112{day}.bin")), &options, |_| {}).unwrap();
    }
    let text = |output: &str, files: &str| {
        let text = TM5.text(FloatType::Float32, How::default(), output, 1.0);
        let text = text.replace("binary_paths = [\"winds.bin\"]", &format!("binary_paths = [{files}]"));
        with_restarts(&text.replace("cadence_hours", "split = \"daily\"\ncadence_hours"), output, Some(2.0))
    };
    let (one, both) = ("\"winds_20211201.bin\"", "\"winds_20211201.bin\", \"winds_20211202.bin\"");
    run_text(&text("whole", both), dir, 1).unwrap();
    let stopped = RunControl { from: StartFrom::LatestIfAny, stop_request: stop_at_once, ..RunControl::default() };
    for _ in 0..3 {
        run_text_under(&stopped, &text("pieces", one), dir, 1).unwrap();
    }
    assert!(dir.join("pieces_20211201.nc").exists());
    let control = RunControl { from: StartFrom::Latest, ..RunControl::default() };
    run_text_under(&control, &text("pieces", both), dir, 6).unwrap();
    for day in ["20211201", "20211202"] {
        std::fs::copy(dir.join("whole.budget.csv"), dir.join(format!("whole_{day}.budget.csv"))).unwrap();
        std::fs::copy(dir.join("pieces.budget.csv"), dir.join(format!("pieces_{day}.budget.csv"))).unwrap();
        assert_same(dir, &format!("whole_{day}"), &format!("pieces_{day}"), day);
    }
}
