//! Jobs of several processes that are stopped or lose a process, and go on with another number of them.
#![cfg(feature = "mpi")]

#[path = "../support/mod.rs"]
mod support;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::{Config, TM5_PHYSICS, alone, assert_same, atmostr, mpirun, mpirun_command, synth};

const GO_ON: [&str; 4] = ["run", "pieces.toml", "--restart", "auto"];
/// A job that lost a process, or was told to end, is gone after this time.
const PATIENCE: Duration = Duration::from_secs(30);

fn prepare(dir: &Path) {
    let physics = ["--nc", "16", "--levels", "30", "--windows", "48", "--physics", "all"];
    for (day, skip) in [("01", "0"), ("03", "48")] {
        let (name, start) = (format!("winds_200001{day}.bin"), format!("2000-01-{day}"));
        synth(dir, &name, &[&physics[..], &["--skip-windows", skip, "--start-time", &start]].concat());
    }
    for output in ["whole", "pieces"] {
        Config {
            input: "binary_paths = [\"winds_20000101.bin\", \"winds_20000103.bin\"]",
            float: "Float32",
            tracers: TM5_PHYSICS,
            output: &format!("path = \"{output}.nc\"\ncadence_hours = 6\n[restart]\nevery = 4\nkeep = 3"),
            ..Config::default()
        }
        .write(dir, &format!("{output}.toml"));
    }
}

fn compare(dir: &Path, what: &str) {
    assert_same(dir, "whole.nc", "pieces.nc", what);
    let [a, b] =
        ["whole", "pieces"].map(|name| std::fs::read_to_string(dir.join(format!("{name}.budget.csv"))).unwrap());
    assert_eq!(a, b, "{what}");
    let last = |name: &str| format!("{name}.restart/{name}.restart-000000345600.nc");
    assert_same(dir, &last("whole"), &last("pieces"), what);
}

/// Name of the latest restart file.
fn latest(dir: &Path) -> Option<String> {
    let entries = std::fs::read_dir(dir.join("pieces.restart")).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".nc")).max()
}

fn job(dir: &Path, ranks: usize) -> Child {
    let mut command = mpirun_command(ranks, Path::new(env!("CARGO_BIN_EXE_atmostr")), &GO_ON);
    command.current_dir(dir).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Processes that a process has started.
fn children(id: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

fn send(signal: &str, id: u32) {
    // A process that has ended meanwhile needs no signal.
    let _ = Command::new("kill").args(["-s", signal, &id.to_string()]).stderr(Stdio::null()).status();
}

/// Waits for the end of a job, which must not hang, and for that of its processes; its exit code.
fn ended(mut job: Child, ranks: &[u32], what: &str) -> Option<i32> {
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = job.try_wait().unwrap() {
            break status;
        }
        assert!(begun.elapsed() < PATIENCE, "{what}: the job hangs");
        std::thread::sleep(Duration::from_millis(10));
    };
    while ranks.iter().any(|id| is_running(*id)) {
        assert!(begun.elapsed() < PATIENCE, "{what}: a process of the job hangs");
        std::thread::sleep(Duration::from_millis(10));
    }
    status.code()
}

fn is_running(id: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    state.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

#[test]
fn a_job_that_is_asked_to_stop_goes_on_with_other_ranks() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir);
    mpirun(dir, 2, &["whole.toml"]).succeed();
    let mut codes = Vec::new();
    for ranks in [6, 2, 5, 1] {
        let (before, begun) = (latest(dir), Instant::now());
        let mut job = job(dir, ranks);
        // Once it has written a restart file it runs; it may have nothing left to do.
        while latest(dir) == before && job.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < PATIENCE, "{ranks} ranks write no restart file");
            std::thread::sleep(Duration::from_millis(5));
        }
        let processes = children(job.id());
        // One process is enough: all agree to stop. (`mpirun` of Open MPI 4.1 does not pass this signal on.)
        processes.get(ranks / 2).into_iter().for_each(|process| send("USR1", *process));
        codes.push(ended(job, &processes, &format!("{ranks} ranks asked to stop")));
    }
    println!("exit codes {codes:?}");
    assert!(codes.contains(&Some(3)), "{codes:?}");
    mpirun(dir, 3, &GO_ON).succeed();
    compare(dir, "after signals");
    // One process goes on from what several wrote, and the other way round.
    std::fs::remove_dir_all(dir.join("pieces.restart")).unwrap();
    let ended = atmostr(dir, &[&GO_ON[..], &["--wall-limit", "0"]].concat());
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    mpirun(dir, 6, &GO_ON).succeed();
    compare(dir, "one process, then six");
}

fn killed(dir: &Path, times: usize) {
    prepare(dir);
    let whole = mpirun(dir, 6, &["whole.toml"]).succeed().seconds;
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random >> 11
    };
    for n in 0..times {
        let ranks = [6, 2, 3, 5][n % 4];
        let job = job(dir, ranks);
        std::thread::sleep(Duration::from_secs_f64(next() as f64 / (1u64 << 53) as f64 * 0.8 * whole));
        let processes = children(job.id());
        let what = match processes.get(next() as usize % (ranks + 1)) {
            Some(process) => {
                send("KILL", *process);
                format!("run {n}: one of {ranks} ranks killed")
            }
            None => {
                send("KILL", job.id());
                format!("run {n}: mpirun of {ranks} ranks killed")
            }
        };
        if ended(job, &processes, &what) == Some(0) {
            compare(dir, &what);
            for name in ["pieces.nc", "pieces.budget.csv"] {
                std::fs::remove_file(dir.join(name)).unwrap();
            }
            std::fs::remove_dir_all(dir.join("pieces.restart")).unwrap();
        }
    }
    mpirun(dir, 6, &GO_ON).succeed();
    compare(dir, "after all");
}

#[test]
fn a_job_that_loses_a_process_ends_at_once_and_goes_on() {
    let (_guard, dir) = alone();
    killed(dir.path(), 8);
}

#[test]
#[ignore = "takes many minutes"]
fn jobs_killed_two_hundred_times_go_on() {
    let (_guard, dir) = alone();
    killed(dir.path(), 200);
}
