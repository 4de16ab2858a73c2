//! Folders that take no files or vanish, and names that are taken.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Ended, alone, atmostr, synth};
use crate::{assert_told, configure, prepare};

/// A folder that takes no new files: pseudo file systems refuse them to everybody, root too.
const CLOSED: &str = "/proc/self";

#[test]
fn taken_names_and_closed_folders_are_refused() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir);
    std::fs::create_dir(dir.join("folder.nc")).unwrap();
    std::os::unix::fs::symlink("nowhere/file.nc", dir.join("dangling.nc")).unwrap();
    std::fs::write(dir.join("file"), "kept").unwrap();
    for (n, (path, restart, parts)) in [
        ("folder.nc", "", ["folder.nc", "folder"]),
        ("file/out.nc", "", ["file/out.nc", "Not a directory"]),
        (&format!("{CLOSED}/out.nc"), "", [CLOSED, "no file can be made"]),
        ("out.nc", "[restart]\nevery = 2\ndir = \"file\"", ["file", "not a folder"]),
        ("out.nc", &format!("[restart]\nevery = 2\ndir = \"{CLOSED}/r\""), [CLOSED, ""]),
    ]
    .into_iter()
    .enumerate()
    {
        configure(dir, "run.toml", &format!("path = \"{path}\"\n{restart}"));
        let ended = atmostr(dir, &["run.toml"]);
        assert_told(&ended, &parts, &format!("case {n}"));
        assert_eq!(std::fs::read(dir.join("file")).unwrap(), b"kept");
        assert!(dir.join("folder.nc").is_dir());
    }
    // A link that leads nowhere is replaced by the file, not followed.
    configure(dir, "run.toml", "path = \"dangling.nc\"");
    atmostr(dir, &["run.toml"]).succeed();
    assert!(dir.join("dangling.nc").symlink_metadata().unwrap().is_file() && !dir.join("nowhere").exists());
}

/// A run that lasts until something is done to it.
fn long_run(dir: &Path, output: &str) -> std::process::Child {
    synth(
        dir,
        "winds_20000101.bin",
        &["--nc", "24", "--levels", "20", "--windows", "24", "--start-time", "2000-01-01"],
    );
    synth(
        dir,
        "winds_20000102.bin",
        &["--nc", "24", "--levels", "20", "--windows", "24", "--skip-windows", "24", "--start-time", "2000-01-02"],
    );
    configure(dir, "run.toml", output);
    let mut command = Command::new(env!("CARGO_BIN_EXE_atmostr"));
    command
        .current_dir(dir)
        .arg("run.toml")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(dir.join("log")).unwrap());
    command.spawn().unwrap()
}

fn wait_for(what: &str, found: impl Fn() -> bool) {
    let begun = Instant::now();
    while !found() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn end_of(mut child: std::process::Child, dir: &Path) -> Ended {
    let begun = Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("the run hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let stderr = std::fs::read_to_string(dir.join("log")).unwrap();
    Ended { code, stdout: String::new(), stderr, seconds: begun.elapsed().as_secs_f64() }
}

#[test]
fn folders_that_vanish_are_named() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    // The folder of the output, with a file that is open in it.
    let child = long_run(dir, "path = \"out/run.nc\"");
    wait_for("no output begins", || dir.join("out/run.nc.partial").exists());
    std::fs::remove_dir_all(dir.join("out")).unwrap();
    assert_told(&end_of(child, dir), &["out/run", "No such file"], "output");
    // The folder of restart files: it is made again where it can be.
    let child = long_run(dir, "path = \"run.nc\"\n[restart]\nevery = 2");
    wait_for("no restart file", || {
        std::fs::read_dir(dir.join("run.restart")).is_ok_and(|mut list| list.next().is_some())
    });
    let removed = (0..100).any(|_| std::fs::remove_dir_all(dir.join("run.restart")).is_ok());
    assert!(removed);
    std::fs::write(dir.join("run.restart"), "in the way").unwrap();
    assert_told(&end_of(child, dir), &["run.restart"], "restart");
}
