//! Disks that are full, broken, read-only or gone: every failure ends a run with its file and cause, and harms nothing that
//! was there.

mod injection;
mod input;
mod output;
mod places;
mod restart;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use injection::Fault;
use support::{Config, Ended, finish, synth};

/// The program under a fault.
fn faulty(library: &Path, dir: &Path, fault: Fault, args: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_atmostr"));
    command.args(args);
    fault.set(library, &mut command);
    finish(command, dir)
}

/// Panics unless the program ended by itself, with one clear message that has all parts.
fn assert_told(ended: &Ended, parts: &[&str], what: &str) {
    let text = &ended.stderr;
    assert!(matches!(ended.code, Some(1 | 2)), "{what}: ended with {:?}\n{text}", ended.code);
    assert_eq!(ended.count("error:"), 1, "{what}: one message\n{text}");
    for odd in ["internal error", "panicked", "HDF5-DIAG"] {
        assert!(!text.contains(odd), "{what}: {odd}\n{text}");
    }
    for part in parts {
        assert!(text.contains(part), "{what}: {part:?} not in\n{text}");
    }
}

/// Names and contents of all files of a folder.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap()) {
        let name = entry.file_name().to_string_lossy().into_owned();
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => {
                let inner = contents(&entry.path()).into_iter();
                found.extend(inner.map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
            }
            _ => drop(found.insert(name, std::fs::read(entry.path()).unwrap_or_default())),
        }
    }
    found
}

/// Files whose names are those of results.
fn results(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let unfinished = |name: &str| name.ends_with(".partial") || name.contains(".part-") || name.ends_with(".part");
    contents(dir).into_iter().filter(|(name, _)| !unfinished(name)).collect()
}

/// Winds of two days of three windows each, and a run of them.
fn prepare(dir: &Path) {
    for (day, skip, hour) in [("01", "0", "T00:00:00Z"), ("02", "3", "T03:00:00Z")] {
        let (name, start) = (format!("winds_200001{day}.bin"), format!("2000-01-01{hour}"));
        let size = ["--nc", "8", "--levels", "6", "--windows", "3"];
        synth(dir, &name, &[&size[..], &["--skip-windows", skip, "--start-time", &start]].concat());
    }
}

/// A run of the prepared winds with this content of `[output]` and what follows it.
fn configure(dir: &Path, name: &str, output: &str) {
    let tracers = "[tracers.co2]\ninit = { kind = \"latitude_step\", south_value = 4.0e-4, north_value = 4.4e-4 }\n";
    Config {
        input: "binary_paths = [\"winds_20000101.bin\", \"winds_20000102.bin\"]",
        float: "Float32",
        advection: "scheme = \"upwind\"",
        tracers,
        output: &format!("cadence_hours = 1\n{output}"),
        ..Config::default()
    }
    .write(dir, name);
}
