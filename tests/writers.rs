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

/// More index of chunks than HDF5 lets a process change before all must meet (256 KiB). Of itself it met while one rank
/// looked up a chunk and another was on its way into the next write, and after 33 snapshots of these all waited for ever.
#[test]
fn files_of_many_chunks_are_written_together() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    synth(dir, "winds.bin", &["--nc", "8", "--levels", "72", "--windows", "34"]);
    let tracers: String = (0..10).map(|n| format!("[tracers.t{n}]\nbackground = 1e-6\n")).collect();
    let run = |output: &str, writer: &str, ranks: usize| {
        let output = format!("path = \"{output}\"\ncadence_hours = 1\nwriter = \"{writer}\"\n");
        let config = Config { float: "Float32", advection: "scheme = \"upwind\"", ..Config::default() };
        Config { output: &output, tracers: &tracers, ..config }.write(dir, "run.toml");
        match ranks {
            1 => atmostr(dir, &["run.toml"]).succeed(),
            _ => mpirun(dir, ranks, &["run.toml"]).succeed(),
        }
    };
    run("whole.nc", "background", 1);
    run("other.nc", "collective", 2);
    assert_same(dir, "whole.nc", "other.nc", "2 ranks");
}
