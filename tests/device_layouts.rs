//! Runs of several ranks on one OpenCL device (PoCL: the processor) write the same bits as one rank on the processor.
#![cfg(feature = "mpi")]

mod support;

use std::path::Path;

use atmostr::device::OpenClDevice;
use kernels::scheme::{PpmLimiter, Scheme, SlopesLimiter};
use support::{Config, alone, assert_same, atmostr, mpirun, synth};

fn advection(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Upwind => "scheme = \"upwind\"",
        Scheme::Slopes(SlopesLimiter::None) => "scheme = \"slopes\"\nlimiter = \"none\"",
        Scheme::Slopes(SlopesLimiter::Monotone) => "scheme = \"slopes\"\nlimiter = \"monotone\"",
        Scheme::Slopes(SlopesLimiter::Positivity) => "scheme = \"slopes\"\nlimiter = \"positivity\"",
        Scheme::Ppm(PpmLimiter::None) => "scheme = \"ppm\"\nlimiter = \"none\"",
        Scheme::Ppm(PpmLimiter::Monotone) => "scheme = \"ppm\"",
        Scheme::Ppm(PpmLimiter::Cw84) => "scheme = \"ppm\"\nlimiter = \"cw84\"",
        Scheme::Ppm(PpmLimiter::HuynhPd) => "scheme = \"ppm\"\nlimiter = \"huynh_pd\"",
    }
}

/// One rank on the processor, then each of `ranks` on the device.
fn compare(dir: &Path, config: &Config, ranks: &[usize], what: &str) {
    let written = |backend, output: &str| {
        let output = format!("path = \"{output}\"\ncadence_hours = 12");
        Config { backend, output: &output, ..*config }.write(dir, "run.toml");
    };
    written("cpu", "reference.nc");
    atmostr(dir, &["run.toml"]).succeed();
    for &ranks in ranks {
        written("opencl", "device.nc");
        mpirun(dir, ranks, &["run.toml"]).succeed();
        assert_same(dir, "reference.nc", "device.nc", &format!("{what} on {ranks} ranks"));
    }
}

#[test]
fn every_scheme_and_precision_is_the_same_on_five_and_six_ranks() {
    if let Err(reason) = OpenClDevice::count() {
        println!("skipped: {reason}");
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
    if let Err(reason) = OpenClDevice::count() {
        println!("skipped: {reason}");
        return;
    }
    let (_alone, dir) = alone();
    synth(dir.path(), "winds.bin", &["--nc", "14", "--levels", "6", "--windows", "6"]);
    for (ranks, tiles) in [(4, [3, 2]), (12, [2, 3]), (9, [3, 3])] {
        let config = Config { tiles: Some(tiles), ..Config::default() };
        compare(dir.path(), &config, &[ranks], &format!("{tiles:?} tiles"));
    }
}
