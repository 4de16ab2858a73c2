//! The main job on winds that nobody here invented: four days of real winds with real fluxes, on one rank and on six.
#![cfg(feature = "mpi")]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::{LONG_PATIENCE, alone, assert_same, finish, finish_within, mpirun_command, mpirun_program};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn data() -> Option<PathBuf> {
    let folder = root().join("../shared/data");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: {} is not there", folder.display());
    None
}

fn values(path: &Path, variable: &str) -> Vec<f64> {
    let file = netcdf::open(path).unwrap();
    file.variable(variable).unwrap_or_else(|| panic!("no variable {variable}")).get_values(..).unwrap()
}

/// Puts four days of winds of a configuration of `configs/met` into `dir/winds`, on one rank or several.
fn winds(dir: &Path, data: &Path, name: &str, [first, last]: [&str; 2], ranks: usize) {
    let config = root().join("configs/met").join(format!("{name}.toml"));
    let args = ["preprocess", config.to_str().unwrap(), "--start", first, "--end", last];
    // The environment of children is that of this process.
    let script = dir.join("program.sh");
    let text = format!(
        "#!/bin/sh\nDATA='{}' OUT=\"$PWD/winds\" WINDS=\"$PWD/winds\" exec '{}' \"$@\"\n",
        data.display(),
        env!("CARGO_BIN_EXE_atmostr")
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    if ranks == 1 {
        let mut command = Command::new(&script);
        command.args(args);
        finish(command, dir).succeed();
    } else {
        mpirun_program(dir, ranks, &script, &args).succeed();
    }
}

/// The run of `configs/runs/real_gcm_5day.toml` with other days, on `ranks` ranks.
fn run(dir: &Path, [first, last]: [&str; 2], ranks: usize, out: &str) {
    let text = std::fs::read_to_string(root().join("configs/runs/real_gcm_5day.toml")).unwrap();
    let text = text
        .replace("1987-01-02", first)
        .replace("1987-01-05", last)
        .replace("$OUT/real_gcm_5day.nc", &dir.join(out).display().to_string())
        .replace("cadence_hours = 6", "cadence_hours = 24");
    std::fs::write(dir.join("run.toml"), text).unwrap();
    let command = mpirun_command(ranks, &dir.join("program.sh"), &["run.toml"]);
    finish_within(command, dir, LONG_PATIENCE).succeed();
}

const DAY: f64 = 86_400.0;

/// kg of CO2 that the fluxes of CarbonTracker add in a second, from the file alone: sum of flux times area of a sphere with
/// `radius` m, 44.0095 g/mol.
fn carbontracker(data: &Path, radius: f64) -> f64 {
    let path = data.join("carbontracker_flux/ct2016_flux1x1_longterm_mean.nc");
    let fields = ["bio_flux_opt", "ocn_flux_opt", "fossil_flux_imp", "fire_flux_imp"].map(|name| values(&path, name));
    let area = |j: usize| {
        let edge = |n: usize| (n as f64 - 90.0).to_radians().sin();
        radius * radius * 1f64.to_radians() * (edge(j + 1) - edge(j))
    };
    (0..360 * 180).map(|c| fields.iter().map(|f| f[c]).sum::<f64>() * area(c / 360)).sum::<f64>() * 44.0095e-3
}

/// kg of carbon in a year: the sum of the file, in Tg (its README: 6506.25 in 2000).
fn cdiac(data: &Path) -> f64 {
    let all = values(&data.join("cdiac_fossil_co2/cdiac_gridcar_1deg.nc"), "emission");
    all[..360 * 180].iter().sum::<f64>() * 1e9
}

#[test]
fn four_days_of_real_winds_have_the_same_bits_on_one_and_six_ranks() {
    let Some(data) = data() else { return };
    for (name, days) in
        [("grads_model_5day", ["1987-01-02", "1987-01-05"]), ("era5_init_dycore_6hourly", ["1959-01-02", "1959-01-05"])]
    {
        let (_guard, dir) = alone();
        let dir = dir.path();
        winds(dir, &data, name, days, 1);
        run(dir, days, 1, "one.nc");
        run(dir, days, 6, "six.nc");
        assert_same(dir, "one.nc", "six.nc", name);

        // Emitted mass against the inventories, 1e-9; rates are rounded to Float32 once per cell.
        let out = dir.join("one.nc");
        let emitted = |tracer: &str| *values(&out, &format!("{tracer}_emitted_mass")).last().unwrap();
        // Outputs count kg of carrier air: 28.9644 g/mol of air, 44.0095 g/mol of CO2.
        let carrier = 28.9644 / 44.0095;
        let co2 = carbontracker(&data, 6_371_229.0) * 4.0 * DAY * carrier;
        assert!((emitted("co2") / co2 - 1.0).abs() < 1e-9, "{name}: co2 {} of {co2}", emitted("co2"));
        // The file's own year, 2000, has 366 days.
        let fossil = cdiac(&data) * 44.0 / 12.0 * 4.0 / 366.0 * carrier;
        assert!(
            (emitted("co2_fossil") / fossil - 1.0).abs() < 1e-9,
            "{name}: fossil {} of {fossil}",
            emitted("co2_fossil")
        );
        let background = values(&out, "background");
        let worst = background.iter().map(|q| (q / 4e-4 - 1.0).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-5, "{name}: a uniform tracer deviates by {worst:e}");
    }
}

/// Days shared out over ranks give the files of one rank.
#[test]
fn days_do_not_depend_on_the_ranks_that_prepare_them() {
    let Some(data) = data() else { return };
    let days = ["1987-01-02", "1987-01-05"];
    let (_guard, one) = alone();
    winds(one.path(), &data, "grads_model_5day", days, 1);
    let three = tempfile::tempdir().unwrap();
    winds(three.path(), &data, "grads_model_5day", days, 3);
    let mut names: Vec<_> =
        std::fs::read_dir(one.path().join("winds")).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names.len(), 5, "{names:?}");
    for name in names {
        let read = |dir: &Path| std::fs::read(dir.join("winds").join(&name)).unwrap();
        assert!(read(one.path()) == read(three.path()), "{}", name.display());
    }
}
