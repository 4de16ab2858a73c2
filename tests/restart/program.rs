//! The program stopped by signals, by its wall limit and by brute force.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Config, alone, assert_same, atmostr, synth};

/// Two days of hourly windows in two files, daily output and restart files every three hours.
fn prepare(dir: &Path) {
    for (day, skip) in [("01", "0"), ("02", "24")] {
        let (name, start) = (format!("winds_200001{day}.bin"), format!("2000-01-{day}"));
        synth(dir, &name, &["--nc", "12", "--levels", "10", "--skip-windows", skip, "--start-time", &start]);
    }
    for output in ["whole", "pieces"] {
        let config = Config {
            input: "binary_paths = [\"winds_20000101.bin\", \"winds_20000102.bin\"]",
            output: &format!("path = \"{output}.nc\"\nsplit = \"daily\"\ncadence_hours = 1\n[restart]\nevery = 3"),
            ..Config::default()
        };
        config.write(dir, &format!("{output}.toml"));
    }
}

fn compare(dir: &Path, what: &str) {
    for day in ["20000101", "20000102"] {
        assert_same(dir, &format!("whole_{day}.nc"), &format!("pieces_{day}.nc"), what);
    }
    let [a, b] =
        ["whole", "pieces"].map(|name| std::fs::read_to_string(dir.join(format!("{name}.budget.csv"))).unwrap());
    assert_eq!(a, b, "{what}");
    let last = |name: &str| format!("{name}.restart/{name}.restart-000000172800.nc");
    assert_same(dir, &last("whole"), &last("pieces"), what);
    let left = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
    let left: Vec<String> = left.filter(|name| name.contains(".part")).collect();
    assert!(left.is_empty(), "{what}: {left:?}");
}

fn start(dir: &Path, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_atmostr"));
    command.current_dir(dir).args(args).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

const GO_ON: [&str; 4] = ["run", "pieces.toml", "--restart", "auto"];

/// Each signal ends a run with exit code 3 and a restart file, from which the next one goes on.
#[test]
fn signals_are_obeyed_at_the_end_of_a_window() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir);
    let whole = atmostr(dir, &["whole.toml"]).succeed().seconds;
    let mut stopped = 0;
    for signal in ["TERM", "USR1", "INT", "HUP"] {
        let mut child = start(dir, &GO_ON);
        std::thread::sleep(Duration::from_secs_f64(0.35 * whole));
        let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap().success();
        let status = child.wait().unwrap();
        match status.code() {
            Some(3) => stopped += 1,
            // The run was over before the signal came, or had not begun to listen.
            Some(0) => {}
            None => assert!(sent && status.signal().is_some()),
            other => panic!("SIG{signal}: {other:?}"),
        }
    }
    assert!(stopped > 0, "no run was stopped");
    let ended = atmostr(dir, &GO_ON).succeed();
    assert!(ended.stderr.contains("finished"), "{}", ended.stderr);
    compare(dir, "after signals");
}

#[test]
fn a_wall_limit_ends_a_run_in_time() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir);
    atmostr(dir, &["whole.toml"]).succeed();
    let ended = atmostr(dir, &[&GO_ON[..], &["--wall-limit", "0"]].concat());
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    for part in ["stopped at day 0.04 by the wall limit", "--restart latest", "pieces.restart-000000003600.nc"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    atmostr(dir, &GO_ON).succeed();
    compare(dir, "after a wall limit");
    // Nothing to do is no error.
    atmostr(dir, &GO_ON).succeed();
    compare(dir, "again");
    let none = "needs a table [restart]";
    Config { input: "binary_paths = [\"winds_20000101.bin\"]", ..Config::default() }.write(dir, "plain.toml");
    atmostr(dir, &["run", "plain.toml", "--wall-limit", "9"]).refuse(&["--wall-limit", none]);
    atmostr(dir, &["run", "plain.toml", "--restart", "latest"]).refuse(&["--restart latest", none]);
    atmostr(dir, &["run", "plain.toml", "--restart", "absent.nc"]).refuse(&["absent.nc", "cannot read"]);
    atmostr(dir, &["run", "plain.toml", "--wall-limit", "1:75"]).refuse(&["[[H:]M:]S"]);
}

fn killed(dir: &Path, times: u32) {
    prepare(dir);
    let whole = atmostr(dir, &["whole.toml"]).succeed().seconds;
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut progress = 0;
    for n in 0..times {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut child = start(dir, &GO_ON);
        let patience = (random >> 11) as f64 / (1u64 << 53) as f64 * whole * 0.6;
        let begun = Instant::now();
        while begun.elapsed().as_secs_f64() < patience && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert!(matches!(status.code(), None | Some(0)), "run {n}: {status}");
        if status.code() == Some(0) {
            compare(dir, &format!("run {n}"));
            progress += 1;
            for entry in std::fs::read_dir(dir).unwrap().map(|e| e.unwrap()) {
                if entry.file_name().to_string_lossy().starts_with("pieces") && !entry.path().ends_with("pieces.toml") {
                    let path = entry.path();
                    if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.unwrap();
                }
            }
        }
    }
    println!("{times} runs killed or finished, {progress} of them finished");
    atmostr(dir, &GO_ON).succeed();
    compare(dir, "after all");
}

#[test]
fn runs_killed_at_any_moment_go_on() {
    let (_guard, dir) = alone();
    killed(dir.path(), 30);
}

#[test]
#[ignore = "takes minutes"]
fn runs_killed_two_hundred_times_go_on() {
    let (_guard, dir) = alone();
    killed(dir.path(), 200);
}
