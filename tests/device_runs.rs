//! Whole runs on a device (OpenCL unless told otherwise; PoCL is the processor) write the same bits as runs on the processor itself.
//! Several ranks: `device_layouts.rs`.

mod support;

use std::path::Path;

use kernels::Scheme;
use support::{Config, GEOS_PHYSICS, TM5_PHYSICS, advection, assert_same, atmostr, has_device, synth, test_backend};

/// Runs a configuration on both backends and compares the output.
fn compare(dir: &Path, config: &Config, what: &str) {
    compare_fields(dir, config, "", what);
}

/// The same with this content of `[output.fields]`.
fn compare_fields(dir: &Path, config: &Config, fields: &str, what: &str) {
    for (backend, output) in [("cpu", "cpu.nc"), (&*test_backend(), "device.nc")] {
        let output = format!("path = \"{output}\"\ncadence_hours = 12\n[output.fields]\n{fields}");
        Config { backend, output: &output, ..*config }.write(dir, "run.toml");
        atmostr(dir, &["run.toml"]).succeed();
    }
    assert_same(dir, "cpu.nc", "device.nc", what);
}

#[test]
fn every_scheme_and_precision_writes_the_same_output() {
    if !has_device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for float in ["Float32", "Float64"] {
        synth(dir.path(), "winds.bin", &["--nc", "24", "--levels", "20", "--windows", "24", "--float", float]);
        for scheme in Scheme::ALL {
            let config = Config { float, advection: advection(scheme), ..Config::default() };
            compare(dir.path(), &config, &format!("{} {float}", scheme.name()));
        }
    }
}

#[test]
fn resets_files_and_many_passes_write_the_same_output() {
    if !has_device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let winds = ["--nc", "9", "--levels", "5", "--windows", "6", "--window-seconds", "21600"];
    synth(dir.path(), "winds.bin", &winds);
    // The second file does not join the first, and its precision is another one.
    synth(dir.path(), "more.bin", &[&winds[..], &["--float", "Float32"]].concat());
    let input = "binary_paths = [\"winds.bin\", \"more.bin\"]";
    for mode in ["none", "preserve_tracer_mass", "preserve_vmr"] {
        let run = format!("air_mass_reset_mode = \"{mode}\"");
        compare(dir.path(), &Config { input, run: &run, ..Config::default() }, mode);
    }
    let physics = "[chemistry]\nkind = \"decay\"\nhalf_lives_seconds = { co2 = 330350.4 }";
    for cadence in ["window", "substep", "symmetric"] {
        let tracers = format!("{physics}\ndecay_cadence = \"{cadence}\"\n{}", Config::default().tracers);
        compare(dir.path(), &Config { input, tracers: &tracers, ..Config::default() }, cadence);
    }
    let tiled = Config { tiles: Some([3, 2]), input, ..Config::default() };
    compare(dir.path(), &tiled, "tiles of several shapes");
    let still = Config { input, advection: "scheme = \"none\"", ..Config::default() };
    compare(dir.path(), &still, "no advection");
}

/// Every kind of vertical physics on odd tiles, the protocol sets in both precisions.
#[test]
fn vertical_physics_writes_the_same_output() {
    if !has_device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let kinds = |diffusion: &str, convection: &str| {
        format!("[diffusion]\n{diffusion}\n[convection]\n{convection}\n{}", Config::default().tracers)
    };
    let local = "kind = \"geoschem_holtslag_boville_vdiff\"\nkz_update = ";
    let sets = [
        TM5_PHYSICS.to_owned(),
        GEOS_PHYSICS.to_owned(),
        kinds(&format!("{local}\"flux\""), "kind = \"cmfmc_matrix\"\nsolve = \"plain\""),
        kinds(&format!("{local}\"matrix\""), "kind = \"cmfmc\"\nclamp = true\nupdate = \"rm\""),
        kinds("kind = \"constant\"", "kind = \"tm5\"\nuse_collab_lu = false"),
        kinds("kind = \"constant\"", "kind = \"tm5\"\nuse_collab_lu = true\nlmax_conv = 17\nn_merge = 2"),
    ];
    for float in ["Float32", "Float64"] {
        let size = ["--nc", "9", "--levels", "20", "--windows", "3", "--physics", "all", "--float", float];
        synth(dir.path(), "winds.bin", &size);
        for tracers in &sets {
            let config = Config { float, tiles: Some([2, 1]), tracers, ..Config::default() };
            compare(dir.path(), &config, &format!("{float} {tracers}"));
        }
    }
}

#[test]
fn column_fields_alone_are_the_same() {
    if !has_device() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for float in ["Float32", "Float64"] {
        synth(dir.path(), "winds.bin", &["--nc", "12", "--levels", "20", "--windows", "24", "--float", float]);
        let config = Config { float, tiles: Some([3, 2]), ..Config::default() };
        // The state stays on the device, or is fetched for one layer of the air.
        for fields in ["layers = \"none\"", "layers = \"none\"\nair_mass_layers = \"selected\"\nlevels = [20]"] {
            compare_fields(dir.path(), &config, fields, &format!("{fields} {float}"));
            let file = netcdf::open(dir.path().join("device.nc")).unwrap();
            let mean = file.variable("co2_column_mean").unwrap().get_values::<f64, _>(..).unwrap();
            assert!(mean.len() == 3 * 6 * 12 * 12 && mean.iter().all(|x| (3.9e-4..4.5e-4).contains(x)));
            assert!(file.variable("co2").is_none());
        }
    }
}

#[test]
fn a_backend_that_is_not_here_is_one_clear_error() {
    let dir = tempfile::tempdir().unwrap();
    synth(dir.path(), "winds.bin", &["--nc", "8", "--levels", "4", "--windows", "1"]);
    for backend in ["cuda", "metal", "auto"] {
        Config { backend, ..Config::default() }.write(dir.path(), "run.toml");
        let ended = atmostr(dir.path(), &["run.toml"]);
        if ended.code == Some(0) {
            println!("skipped: {backend} is here");
            continue;
        }
        ended.refuse(&["architecture.backend"]);
        assert!(!dir.path().join("out.nc").exists());
    }
}
