//! Failures on several ranks: one message, the documented exit code, and no rank left waiting.
#![cfg(feature = "mpi")]

mod support;

use std::path::Path;

use atmostr::cli::exit;
use atmostr::comm::{Communicator, Mpi, abort_all};
use support::{Config, alone, mpirun, mpirun_program, spoil, synth};

/// Winds of three windows, C12 with four layers.
fn winds(dir: &Path) {
    synth(dir, "winds.bin", &["--nc", "12", "--levels", "4", "--windows", "3"]);
}

#[test]
fn a_bad_configuration_is_reported_once() {
    let (_alone, dir) = alone();
    winds(dir.path());
    Config { advection: "scheme = \"upwnd\"", ..Config::default() }.write(dir.path(), "run.toml");
    // The silent ranks end first or last as it happens; the message must be out in any case.
    for _ in 0..5 {
        let ended = mpirun(dir.path(), 5, &["run.toml"]).refuse(&["did you mean \"upwind\""]);
        assert_eq!(ended.count("has no value"), 1, "{}", ended.stderr);
    }
    let ended = mpirun(dir.path(), 3, &["absent.toml"]).refuse(&[]);
    assert_eq!(ended.count("cannot be read"), 1, "{}", ended.stderr);
}

#[test]
fn a_file_that_only_the_last_rank_cannot_use_is_reported_by_it() {
    let (_alone, dir) = alone();
    winds(dir.path());
    spoil(dir.path(), "winds.bin", "spoilt.bin", 2);
    Config { input: "binary_paths = [\"spoilt.bin\"]", ..Config::default() }.write(dir.path(), "run.toml");
    for ranks in [5, 6, 24] {
        let cell = "spoilt.bin: window 2, section `m`, (panel, i, j, k) = (6, 12, 12, 4): value NaN";
        let ended = mpirun(dir.path(), ranks, &["run.toml"]).refuse(&[cell]);
        assert_eq!(ended.count("error:"), 1, "{}", ended.stderr);
    }
}

#[test]
fn too_many_ranks_are_refused_with_the_usable_number() {
    let (_alone, dir) = alone();
    synth(dir.path(), "winds.bin", &["--nc", "4", "--levels", "2", "--windows", "1"]);
    Config::default().write(dir.path(), "run.toml");
    let ended = mpirun(dir.path(), 7, &["run.toml"]).refuse(&["7 ranks", "the largest usable number is 6"]);
    assert_eq!(ended.count("largest usable"), 1, "{}", ended.stderr);
}

/// What every rank finds is told by one.
#[test]
fn a_schedule_that_is_too_coarse_is_reported_once() {
    let (_alone, dir) = alone();
    winds(dir.path());
    Config {
        advection: "scheme = \"upwind\"\ncfl_limit = 0.01\nstrict_cfl = true",
        run: "air_mass_reset_mode = \"none\"",
        ..Config::default()
    }
    .write(dir.path(), "run.toml");
    let ended = mpirun(dir.path(), 4, &["run.toml"]).refuse(&["the file needs at least"]);
    assert_eq!(ended.count("error:"), 1, "{}", ended.stderr);
}

#[test]
fn output_that_cannot_be_written_ends_all_ranks() {
    let (_alone, dir) = alone();
    winds(dir.path());
    std::fs::write(dir.path().join("taken"), "a file, not a folder").unwrap();
    Config { output: "path = \"taken/out.nc\"\ncadence_hours = 1", ..Config::default() }.write(dir.path(), "run.toml");
    let ended = mpirun(dir.path(), 3, &["run.toml"]);
    assert!(matches!(ended.code, Some(1 | 2)), "{ended:?}");
    assert_eq!(ended.count("error:"), 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("taken"), "{}", ended.stderr);
}

#[test]
fn a_panic_on_one_rank_ends_the_job_with_its_message() {
    let (_alone, dir) = alone();
    let this = std::env::current_exe().unwrap();
    let args = ["--ignored", "--exact", "the_second_of_several_ranks_panics", "--nocapture"];
    let ended = mpirun_program(dir.path(), 3, &this, &args);
    assert_eq!(ended.code, Some(1), "{}\n{}", ended.stdout, ended.stderr);
    assert_eq!(ended.count("internal error: provoked by a test (tests"), 1, "{}", ended.stderr);
    assert!(ended.seconds < 20.0, "ended after {} s", ended.seconds);
}

/// Does nothing unless it is started on several ranks.
#[test]
#[ignore = "started under mpirun by the test above"]
fn the_second_of_several_ranks_panics() {
    let mpi = Mpi::initialize().expect("the first use of MPI in this process");
    if mpi.size() > 1 {
        exit::install_panic_hook();
        exit::on_panic(|| abort_all(1));
        assert!(mpi.rank() != 1, "provoked by a test");
        mpi.barrier();
    }
}
