//! Jobs of several processes whose disk fails or of which one stands still: all end together, soon, with file and cause.
#![cfg(feature = "mpi")]

#[path = "../faults/injection.rs"]
mod injection;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use injection::{EIO, ENOSPC, Fault, library};
use support::{Config, Ended, alone, assert_same, finish, mpirun, mpirun_command, synth};

/// A job of which one rank has failed is gone after this time.
const SOON: f64 = 30.0;
const RANKS: usize = 3;

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_atmostr"))
}

fn configure(dir: &Path, name: &str, writer: &str, restart: bool) {
    let restart = if restart { "[restart]\nevery = 2\nkeep = 9" } else { "" };
    Config {
        float: "Float32",
        advection: "scheme = \"upwind\"",
        tracers: "[tracers.co2]\ninit = { kind = \"latitude_step\", south_value = 4.0e-4, north_value = 4.4e-4 }\n",
        output: &format!("path = \"{name}.nc\"\ncadence_hours = 1\nwriter = \"{writer}\"\n{restart}"),
        ..Config::default()
    }
    .write(dir, &format!("{name}.toml"));
}

/// A job under a fault, on one rank or on all.
fn faulty(library: &Path, dir: &Path, fault: Fault, rank: Option<usize>, args: &[&str]) -> Ended {
    let mut command = mpirun_command(RANKS, program(), args);
    fault.set(library, &mut command);
    if let Some(rank) = rank {
        command.env("FAULT_RANK", rank.to_string());
    }
    finish(command, dir)
}

fn assert_told(ended: &Ended, parts: &[&str], what: &str) {
    let text = &ended.stderr;
    assert!(matches!(ended.code, Some(1 | 2)), "{what}: ended with {:?}\n{text}", ended.code);
    assert!(ended.seconds < SOON, "{what}: took {} s", ended.seconds);
    assert!(ended.count("error: ") >= 1, "{what}: a message\n{text}");
    for odd in ["internal error", "panicked", "HDF5-DIAG", "Signal"] {
        assert!(!text.contains(odd), "{what}: {odd}\n{text}");
    }
    for part in parts {
        assert!(text.contains(part), "{what}: {part:?} not in\n{text}");
    }
}

fn restart_files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries =
        std::fs::read_dir(dir.join("pieces.restart")).into_iter().flatten().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.extension().is_some_and(|e| e == "nc"));
    files.map(|path| (path.display().to_string(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn a_disk_that_fails_for_one_rank_ends_all() {
    let Some(library) = library() else { return };
    let (_guard, dir) = alone();
    let dir = dir.path();
    synth(dir, "winds.bin", &["--nc", "8", "--levels", "6", "--windows", "4"]);
    for writer in ["background", "collective", "grouped"] {
        configure(dir, "out", writer, false);
        std::fs::write(dir.join("out.nc"), "of an earlier run").unwrap();
        for (fault, rank) in [
            (Fault::from("out.nc", "write", ENOSPC, 1), Some(0)),
            (Fault::from("out.nc", "write", ENOSPC, 30), Some(0)),
            (Fault::from("out.nc", "write", EIO, 4), None),
            (Fault::from("out.nc", "sync", EIO, 1), Some(0)),
            (Fault::from("out.nc", "rename", EIO, 1), None),
            (Fault::from("out.budget.csv", "write", ENOSPC, 2), None),
        ] {
            let what = format!("{writer}, {fault:?} on {rank:?}");
            let ended = faulty(library, dir, fault, rank, &["out.toml"]);
            assert_told(&ended, &[fault.path, fault.reason()], &what);
            if writer == "background" || fault.call != "write" {
                assert_eq!(ended.count("error: "), 1, "{what}: one message\n{}", ended.stderr);
            }
            assert_eq!(std::fs::read(dir.join("out.nc")).unwrap(), b"of an earlier run", "{what}");
        }
        // What another rank writes, if it writes itself.
        let fault = Fault::from("out.nc", "write", ENOSPC, 1);
        let ended = faulty(library, dir, fault, Some(1), &["out.toml"]);
        if ended.code != Some(0) {
            assert_told(&ended, &["out.nc"], &format!("{writer}, rank 1"));
        }
        println!("{writer}: a full disk for rank 1 alone ends with {:?}", ended.code);
    }
}

#[test]
fn input_that_one_rank_cannot_read_ends_all() {
    let Some(library) = library() else { return };
    let (_guard, dir) = alone();
    let dir = dir.path();
    synth(dir, "winds.bin", &["--nc", "8", "--levels", "6", "--windows", "4"]);
    configure(dir, "out", "background", false);
    let fault = Fault::from("winds.bin", "read", EIO, 80);
    let ended = faulty(library, dir, fault, Some(2), &["out.toml"]);
    assert_told(&ended, &["winds.bin: window ", "cannot be read", fault.reason()], "rank 2");
}

#[test]
fn a_job_goes_on_after_a_restart_file_has_failed() {
    let Some(library) = library() else { return };
    let (_guard, dir) = alone();
    let dir = dir.path();
    synth(dir, "winds.bin", &["--nc", "8", "--levels", "6", "--windows", "6"]);
    configure(dir, "whole", "background", true);
    configure(dir, "pieces", "background", true);
    mpirun(dir, RANKS, &["whole.toml"]).succeed();
    let go_on = ["run", "pieces.toml", "--restart", "auto"];
    for (fault, rank) in [
        (Fault::from("restart-000000014400", "write", ENOSPC, 1), None),
        (Fault::from("restart-000000014400", "write", EIO, 6), Some(0)),
        (Fault::from("restart-000000014400", "sync", EIO, 1), Some(0)),
        (Fault::from("restart-000000014400", "rename", EIO, 1), None),
        (Fault::from("restart-000000014400", "open", EIO, 1), None),
    ] {
        let what = format!("{fault:?} on {rank:?}");
        let before = restart_files(dir);
        let ended = faulty(library, dir, fault, rank, &go_on);
        assert_told(&ended, &[fault.path, fault.reason()], &what);
        let after = restart_files(dir);
        assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)), "{what}");
        assert_eq!(after.len(), 1, "{what}");
    }
    mpirun(dir, RANKS, &go_on).succeed();
    assert_same(dir, "whole.nc", "pieces.nc", "after all");
    let last = |name: &str| format!("{name}.restart/{name}.restart-000000021600.nc");
    assert_same(dir, &last("whole"), &last("pieces"), "after all");
}

/// Processes that a process has started.
fn children(id: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

fn is_running(id: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    state.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// One rank is stopped; the others say so and end the job, which goes on later.
#[test]
fn a_job_of_which_a_rank_stands_still_ends() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    synth(dir, "winds.bin", &["--nc", "16", "--levels", "20", "--windows", "48"]);
    configure(dir, "whole", "background", true);
    configure(dir, "pieces", "background", true);
    mpirun(dir, RANKS, &["whole.toml"]).succeed();
    let go_on = ["run", "pieces.toml", "--restart", "auto"];
    const LIMIT: f64 = 5.0;
    let args = [&go_on[..], &["--stall-timeout", "5"]].concat();
    let mut command = mpirun_command(RANKS, program(), &args);
    let log = dir.join("log");
    let mut job = command
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while restart_files(dir).is_empty() {
        assert!(begun.elapsed().as_secs_f64() < SOON && job.try_wait().unwrap().is_none(), "no restart file");
        std::thread::sleep(Duration::from_millis(2));
    }
    let ranks = children(job.id());
    assert_eq!(ranks.len(), RANKS);
    let stopped = Command::new("kill").args(["-s", "STOP", &ranks[1].to_string()]).status().unwrap();
    assert!(stopped.success() && job.try_wait().unwrap().is_none(), "the run was too short");
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = job.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed().as_secs_f64() > LIMIT + SOON {
            ranks.iter().for_each(|id| drop(Command::new("kill").args(["-s", "KILL", &id.to_string()]).status()));
            panic!("the job hangs\n{}", std::fs::read_to_string(&log).unwrap());
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let text = std::fs::read_to_string(&log).unwrap();
    assert_eq!(status.code(), Some(1), "{text}");
    assert!(text.contains("no progress for 5 s") && text.contains("winds.bin, window"), "{text}");
    assert!(text.contains("rank 0 of 3") && text.contains("rank 2 of 3") && !text.contains("rank 1 of 3"), "{text}");
    while ranks.iter().any(|id| is_running(*id)) {
        assert!(begun.elapsed().as_secs_f64() < LIMIT + SOON, "a process of the job is left");
        std::thread::sleep(Duration::from_millis(10));
    }
    mpirun(dir, 2, &go_on).succeed();
    assert_same(dir, "whole.nc", "pieces.nc", "after a rank stood still");
}
