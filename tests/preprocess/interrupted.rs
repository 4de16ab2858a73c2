//! Days are done once, and a day that was interrupted leaves nothing that could be taken for finished.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use atmostr::met::TransportFile;
use atmostr::met::gates::validate_replay;

use crate::support::{alone, atmostr};
use crate::winds::{Winds, prepare};

const RANGE: [&str; 6] = ["preprocess", "met.toml", "--start", "2000-01-01", "--end", "2000-01-02"];

#[test]
fn days_that_are_there_are_left_as_they_are() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir, &Winds::default(), "", "");
    assert!(atmostr(dir, &["check", "met.toml"]).succeed().stdout.contains("preprocessing configuration is valid"));
    atmostr(dir, &["preprocess", "met.toml", "--day", "2000-01-02"]).succeed();
    let second = dir.join("out/20000102.bin");
    let (before, written) = (std::fs::read(&second).unwrap(), std::fs::metadata(&second).unwrap().modified().unwrap());
    let ended = atmostr(dir, &RANGE).succeed();
    assert!(ended.stderr.contains("already there"), "{}", ended.stderr);
    assert_eq!(std::fs::metadata(&second).unwrap().modified().unwrap(), written);
    // The same bytes again.
    atmostr(dir, &["preprocess", "met.toml", "--day", "2000-01-02", "--replace"]).succeed();
    assert_eq!(std::fs::read(&second).unwrap(), before);
    // Another configuration does not mix with the files of this one.
    prepare(dir, &Winds::default(), "", "[numerics]\nfloat_type = \"Float32\"\n");
    atmostr(dir, &RANGE).refuse(&["20000101.bin", "another configuration", "--replace"]);
    assert_eq!(std::fs::read(&second).unwrap(), before);
}

/// Spec 40 §7, pitfall T40-19: whenever the work is killed, a file at the place of a day is complete and fits.
#[test]
fn killed_work_leaves_no_file_that_looks_finished() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir, &Winds::default(), "", "");
    let whole = atmostr(dir, &RANGE).succeed().seconds;
    std::fs::remove_dir_all(dir.join("out")).unwrap();
    let mut finished = 0;
    for n in 0..12u32 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_atmostr"));
        command.current_dir(dir).args(RANGE).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // Points spread over the whole work, in no regular order.
        let part = f64::from((n * 7) % 12) / 12.0 + 0.03;
        std::thread::sleep(Duration::from_secs_f64(part * whole));
        child.kill().unwrap();
        child.wait().unwrap();
        for day in ["20000101", "20000102"] {
            let path = dir.join("out").join(format!("{day}.bin"));
            if path.exists() {
                passes(&path);
                finished += 1;
                std::fs::remove_file(path).unwrap();
            }
        }
    }
    println!("{finished} days were finished before the work was killed");
    // What was left behind does not disturb.
    atmostr(dir, &RANGE).succeed();
}

/// Signals that can be caught leave no temporary file behind.
#[cfg(unix)]
#[test]
fn stopped_work_takes_its_temporary_file_away() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir, &Winds::default(), "", "");
    let hidden = || {
        let entries = std::fs::read_dir(dir.join("out")).into_iter().flatten();
        entries.filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().ends_with(".part")).count()
    };
    for signal in ["TERM", "INT", "HUP"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_atmostr"));
        command.current_dir(dir).args(RANGE).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        while hidden() == 0 {
            std::thread::sleep(Duration::from_millis(1));
            assert!(child.try_wait().unwrap().is_none(), "the work ended before its file was seen");
        }
        assert!(Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap().success());
        let ended = child.wait().unwrap();
        assert!(!ended.success(), "{signal}");
        assert_eq!(hidden(), 0, "{signal}");
        std::fs::remove_dir_all(dir.join("out")).unwrap();
    }
}

fn passes(path: &Path) {
    let file = TransportFile::open(path).unwrap();
    validate_replay(&file, 0..24, 1e-10, None).unwrap();
}
