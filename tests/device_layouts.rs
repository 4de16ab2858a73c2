//! Runs of several ranks on one device (OpenCL unless told otherwise; PoCL is the processor) write the same bits as one rank on the processor.
#![cfg(feature = "mpi")]

mod support;

use std::path::Path;

use kernels::Scheme;
use support::{
    Config, GEOS_PHYSICS, TM5_PHYSICS, advection, alone, assert_same, atmostr, has_device, mpirun, synth, test_backend,
};

/// One rank on the processor, then each of `ranks` on the device.
fn compare(dir: &Path, config: &Config, ranks: &[usize], what: &str) {
    let written = |backend: &str, output: &str| {
        let output = format!("path = \"{output}\"\ncadence_hours = 12");
        Config { backend, output: &output, ..*config }.write(dir, "run.toml");
    };
    written("cpu", "reference.nc");
    atmostr(dir, &["run.toml"]).succeed();
    for &ranks in ranks {
        written(&test_backend(), "device.nc");
        mpirun(dir, ranks, &["run.toml"]).succeed();
        assert_same(dir, "reference.nc", "device.nc", &format!("{what} on {ranks} ranks"));
    }
}

#[test]
fn every_scheme_and_precision_is_the_same_on_five_and_six_ranks() {
    if !has_device() {
        return;
    }
    let (_alone, dir) = alone();
    for float in ["Float32", "Float64"] {
        synth(dir.path(), "winds.bin", &["--nc", "24", "--levels", "20", "--windows", "24", "--float", float]);
        for scheme in Scheme::ALL {
            let config = Config { float, advection: advection(scheme), ..Config::default() };
            compare(dir.path(), &config, &[5, 6], &format!("{} {float}", scheme.name()));
        }
    }
}

/// Tiles of several shapes, several to a rank, and more ranks than panels.
#[test]
fn odd_layouts_are_the_same() {
    if !has_device() {
        return;
    }
    let (_alone, dir) = alone();
    synth(dir.path(), "winds.bin", &["--nc", "14", "--levels", "6", "--windows", "6"]);
    for (ranks, tiles) in [(4, [3, 2]), (12, [2, 3]), (9, [3, 3])] {
        let config = Config { tiles: Some(tiles), ..Config::default() };
        compare(dir.path(), &config, &[ranks], &format!("{tiles:?} tiles"));
    }
}

/// All vertical physics on the device.
#[test]
fn physics_is_the_same_on_six_ranks() {
    if !has_device() {
        return;
    }
    let (_alone, dir) = alone();
    for float in ["Float32", "Float64"] {
        let size = ["--nc", "12", "--levels", "20", "--windows", "6", "--physics", "all", "--float", float];
        synth(dir.path(), "winds.bin", &size);
        for tracers in [TM5_PHYSICS, GEOS_PHYSICS] {
            let config = Config { float, tracers, ..Config::default() };
            compare(dir.path(), &config, &[1, 6], &format!("physics {float}"));
        }
    }
}
