//! Who writes the output changes none of it: one rank, all, or one of each group.
#![cfg(feature = "mpi")]

mod support;

use support::{Config, alone, assert_same, atmostr, mpirun, synth};

const WRITERS: [(&str, &str); 5] = [
    ("background", ""),
    ("collective", ""),
    ("grouped", ""),
    ("grouped", "ranks_per_writer = 2\n"),
    ("grouped", "ranks_per_writer = 4\n"),
];

#[test]
fn every_writer_writes_the_same() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    synth(dir, "winds.bin", &["--nc", "12", "--windows", "4"]);
    let run = |output: &str, lines: &str, ranks: usize| {
        let output = format!("path = \"{output}\"\ncadence_hours = 1\n{lines}");
        let extra = "[output.fields]\ncolumn_fluxes = true\nlayers = \"selected\"\nlevels = [1, 18, 20]\n";
        let output = format!("{output}{extra}");
        Config { output: &output, ..Config::default() }.write(dir, "run.toml");
        match ranks {
            1 => atmostr(dir, &["run.toml"]).succeed(),
            _ => mpirun(dir, ranks, &["run.toml"]).succeed(),
        }
    };
    for deflate in ["", "deflate_level = 1\n"] {
        run("whole.nc", deflate, 1);
        // With uneven tiles and an uneven last group.
        for ranks in [5, 6] {
            for (writer, key) in WRITERS {
                let lines = format!("writer = \"{writer}\"\n{key}{deflate}");
                run("other.nc", &lines, ranks);
                assert_same(dir, "whole.nc", "other.nc", &format!("{ranks} ranks, {lines}"));
            }
        }
    }
}

/// Much more index of chunks than the library lets one process change before all must meet (256 KiB): it met while some
/// ranks looked up chunks and others did not, and all waited for ever.
#[test]
fn files_of_many_chunks_are_written_together() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    synth(dir, "winds.bin", &["--nc", "4", "--levels", "72", "--windows", "24"]);
    let tracers: String = (0..8).map(|n| format!("[tracers.t{n}]\nbackground = 1e-6\n")).collect();
    let run = |output: &str, writer: &str, ranks: usize| {
        let output = format!(
            "path = \"{output}\"\ncadence_hours = 1\nwriter = \"{writer}\"\n[restart]\nevery = 9\ndir = \"restart-{ranks}\"\n"
        );
        let advection = "scheme = \"upwind\"";
        Config { output: &output, tracers: &tracers, advection, ..Config::default() }.write(dir, "run.toml");
        match ranks {
            1 => atmostr(dir, &["run.toml"]).succeed(),
            _ => mpirun(dir, ranks, &["run.toml"]).succeed(),
        }
    };
    run("whole.nc", "background", 1);
    for ranks in [2, 3] {
        run("other.nc", "collective", ranks);
        assert_same(dir, "whole.nc", "other.nc", &format!("{ranks} ranks"));
    }
}
