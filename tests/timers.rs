//! Timers of a run: what they report, and that results do not depend on them.

mod support;

use std::path::Path;
use std::process::Command;

use support::{Config, Ended, assert_same, finish, synth};

const HEADER: &str =
    "section,n_calls,total_s,mean_ms,p50_ms,p95_ms,max_ms,fraction_of_total,allocated_bytes,mean_alloc_bytes";

/// Runs `<name>.toml`, which writes `<name>.nc`.
fn run(dir: &Path, name: &str, backend: &str, variables: &[(&str, &str)]) -> Ended {
    let output = format!("path = \"{name}.nc\"\ncadence_hours = 1");
    let config = Config { float: "Float32", threads: 2, backend, output: &output, ..Config::default() };
    config.write(dir, &format!("{name}.toml"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_atmostr"));
    command.arg(format!("{name}.toml")).env("POCL_MAX_PTHREAD_COUNT", "1").envs(variables.iter().copied());
    finish(command, dir)
}

/// Sections and calls of `<name>.timings.csv`.
fn sections(dir: &Path, name: &str) -> Vec<(String, usize, f64)> {
    let text = std::fs::read_to_string(dir.join(format!("{name}.timings.csv"))).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(HEADER));
    let row = |line: &str| {
        let cells: Vec<_> = line.split(',').collect();
        assert_eq!(cells.len(), HEADER.split(',').count(), "{line}");
        (cells[0].to_owned(), cells[1].parse().unwrap(), cells[8].parse().unwrap())
    };
    lines.map(row).collect()
}

fn has(rows: &[(String, usize, f64)], names: &[&str]) {
    for name in names {
        assert!(rows.iter().any(|(section, calls, _)| section == name && *calls > 0), "{name} not in {rows:?}");
    }
}

#[test]
fn sections_are_reported_and_results_stay() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    synth(d, "winds.bin", &["--flow", "weather", "--nc", "8", "--levels", "4", "--windows", "3"]);
    let plain = run(d, "plain", "cpu", &[]).succeed();
    assert!(!plain.stderr.contains("wall=") && !d.join("plain.timings.csv").exists());

    let on = [("ATMOSTR_TIMERS", "1"), ("ATMOSTR_ALLOC_TIMERS", "yes")];
    let timed = run(d, "timed", "cpu", &on).succeed();
    assert_same(d, "plain.nc", "timed.nc", "timers");
    assert!(timed.stderr.contains("wall=") && timed.stderr.contains("alloc_MiB"), "{}", timed.stderr);
    let rows = sections(d, "timed");
    let common = ["window_advance", "window_load_host", "advection", "cs_cfl", "io_write", "cs_halo_rm_x", "seam_flux"];
    has(&rows, &common);
    has(&rows, &["cs_sweep_x", "cs_sweep_y", "cs_sweep_z", "prefetch_task_total", "prefetch_fetch_wait"]);
    let calls = |name: &str| rows.iter().find(|(section, ..)| section == name).unwrap().1;
    assert_eq!([calls("advection"), calls("io_write"), calls("window_load_host")], [3, 4, 3]);
    let allocated = |name: &str| rows.iter().find(|(section, ..)| section == name).unwrap().2;
    assert!(allocated("io_write") > 0.0);

    // Nothing falls into an interval that the run does not reach, and nothing is written.
    let late = [("ATMOSTR_TIMERS", "1"), ("ATMOSTR_PROFILE_MODE", "window"), ("ATMOSTR_PROFILE_WARMUP_SEC", "1e6")];
    let told = run(d, "late", "cpu", &late).succeed();
    assert_eq!(told.count("ATMOSTR_PROFILE_WARMUP_SEC"), 1, "{}", told.stderr);
    assert!(!d.join("late.timings.csv").exists());
    assert_same(d, "plain.nc", "late.nc", "an interval");
    run(d, "bad", "cpu", &[("ATMOSTR_TIMERS", "perhaps")]).refuse(&["ATMOSTR_TIMERS", "perhaps"]);
}

#[test]
fn vertical_physics_is_timed_in_the_columns_and_as_convection() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    synth(d, "winds.bin", &["--flow", "weather", "--nc", "8", "--levels", "12", "--windows", "2", "--physics", "all"]);
    let physics = "[diffusion]\nkind = \"tm5_dkg\"\n[convection]\nkind = \"tm5\"\n\
                   [tracers.co2]\nbackground = 4e-4";
    for (name, advection) in [("moved", "scheme = \"ppm\""), ("still", "scheme = \"none\"")] {
        let output = format!("path = \"{name}.nc\"\ncadence_hours = 1");
        Config { advection, tracers: physics, output: &output, ..Config::default() }.write(d, "run.toml");
        let mut command = Command::new(env!("CARGO_BIN_EXE_atmostr"));
        command.arg("run.toml").env("ATMOSTR_TIMERS", "1");
        finish(command, d).succeed();
        let rows = sections(d, name);
        has(&rows, &["cs_sweep_z"]);
        // Once at the end of either window.
        assert!(rows.iter().any(|(section, calls, _)| section == "cs_convection" && *calls == 2), "{rows:?}");
        assert_eq!(rows.iter().any(|(section, ..)| section == "cs_sweep_x"), name == "moved");
    }
}

#[test]
fn kernels_of_a_device_are_timed_apart() {
    if let Err(reason) = atmostr::device::OpenClDevice::count() {
        println!("skipped: {reason}");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    synth(d, "winds.bin", &["--flow", "weather", "--nc", "8", "--levels", "4", "--windows", "2"]);
    run(d, "plain", "cpu", &[]).succeed();
    run(d, "timed", "opencl", &[("ATMOSTR_TIMERS", "1"), ("ATMOSTR_PROFILE_GPU", "1")]).succeed();
    assert_same(d, "plain.nc", "timed.nc", "timers on a device");
    let rows = sections(d, "timed");
    has(&rows, &["cs_kernel_launch_x", "cs_kernel_launch_y", "cs_kernel_launch_z", "window_backend_copy"]);
    has(&rows, &["cs_kernel_sync_x", "cs_kernel_sync_y", "cs_kernel_sync_z", "cs_sweep_z", "cs_halo_rm_y"]);
}
