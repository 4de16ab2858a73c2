//! The configurations of the CATRINE intercomparison, scaled down: C12, archives in their own layouts but coarse, three days.
//! Meteorology and fluxes are prepared, the run is stopped twice and goes on elsewhere, and all that the protocol asks for is
//! in the output.
#![cfg(feature = "mpi")]

#[path = "../support/mod.rs"]
#[allow(dead_code)]
mod support;

mod archives;
#[path = "../preprocess_archives/merra2_files.rs"]
#[allow(dead_code)]
mod merra2_files;
#[path = "../preprocess_archives/writer.rs"]
#[allow(dead_code)]
mod writer;

use std::path::Path;
use std::process::Command;

use merra2_files::{Archive, Layout, WAVES, Weather};
use support::{Ended, LONG_PATIENCE, alone, atmostr, finish_within, mpirun_command, synth};

const TRACERS: [&str; 6] = ["background", "co2", "co2_fossil", "co2_fossil_from_dec2021", "rn222", "sf6"];

/// A configuration of `configs/catrine`, scaled down and changed, in `dir` as `<own>.toml`.
fn scaled(dir: &Path, name: &str, own: &str, changes: &[(&str, &str)]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/catrine").join(format!("{name}.toml"));
    let mut text = std::fs::read_to_string(path).unwrap().replace("nc = 96", "nc = 12").replace("_c96.nc", "_c12.nc");
    changes.iter().for_each(|(from, to)| text = text.replace(from, to));
    let own = format!("{own}.toml");
    std::fs::write(dir.join(&own), text).unwrap();
    own
}

/// With the folders that the configurations name.
fn with_folders(mut command: Command, dir: &Path) -> Command {
    for name in ["MERRA2", "MET", "FLUX", "INIT", "OUT"] {
        command.env(name, dir.join(name.to_lowercase()));
    }
    command
}

fn program(dir: &Path, args: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_atmostr"));
    command.args(args);
    finish_within(with_folders(command, dir), dir, LONG_PATIENCE)
}

fn on_ranks(dir: &Path, ranks: usize, args: &[&str]) -> Ended {
    let command = mpirun_command(ranks, Path::new(env!("CARGO_BIN_EXE_atmostr")), args);
    finish_within(with_folders(command, dir), dir, LONG_PATIENCE)
}

fn values(path: &Path, name: &str) -> Vec<f64> {
    let file = netcdf::open(path).unwrap();
    let variable = file.variable(name).unwrap_or_else(|| panic!("no {name} in {}", path.display()));
    variable.get_values(..).unwrap()
}

/// Archives of three days, and what is prepared from them.
fn prepare(dir: &Path) {
    for folder in ["merra2", "met", "flux", "init", "out"] {
        std::fs::create_dir(dir.join(folder)).unwrap();
    }
    let weather = Weather { layers: 72, ..WAVES };
    Archive::small(&dir.join("merra2"), Layout::GeosChem, weather).write(3);
    archives::fluxes(&dir.join("flux"));
    archives::states(&dir.join("init"));
    let met = scaled(dir, "met_merra2_c96", "met", &[]);
    program(dir, &["preprocess", &met, "--start", "2021-12-01", "--end", "2021-12-03"]).succeed();
    let fluxes = scaled(dir, "fluxes_c96", "fluxes", &[]);
    program(dir, &["prepare-fluxes", &fluxes]).succeed();
}

/// The run up to a day, writing to `out/<output>_<date>.nc`.
fn run_until(dir: &Path, config: &str, day: &str, output: &str) -> String {
    let changes = [
        ("end_date = \"2023-12-31\"", &*format!("end_date = \"{day}\"")),
        ("last_date = \"2023-12-31\"", "last_date = \"2021-12-31\""),
        ("$OUT/catrine_c96_merra2_", &format!("$OUT/{output}_")),
        ("$OUT/catrine_c96_era5_", &format!("$OUT/{output}_")),
    ];
    scaled(dir, config, output, &changes)
}

#[test]
fn three_days_stopped_twice_hold_all_that_the_protocol_asks_for() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir);
    let config = "c96_merra2_l72";
    let whole = run_until(dir, config, "2021-12-03", "whole");
    program(dir, &["check", &whole]).succeed();
    program(dir, &["run", &whole]).succeed();
    // The same in three pieces: one rank, six, five.
    for (day, ranks) in [("2021-12-01", 1), ("2021-12-02", 6), ("2021-12-03", 5)] {
        let text = run_until(dir, config, day, "pieces");
        let args = ["run", &text, "--restart", "auto"];
        match ranks {
            1 => program(dir, &args).succeed(),
            _ => on_ranks(dir, ranks, &args).succeed(),
        };
    }
    for day in ["20211201", "20211202", "20211203"] {
        let [whole, pieces] = ["whole", "pieces"].map(|name| format!("out/{name}_{day}.nc"));
        atmostr(dir, &["diff", &whole, &pieces]).succeed();
        complete(&dir.join(whole));
    }
    let [whole, pieces] = ["whole", "pieces"].map(|name| dir.join(format!("out/{name}.budget.csv")));
    assert_eq!(std::fs::read_to_string(whole).unwrap(), std::fs::read_to_string(pieces).unwrap());
    columns_close(dir, "whole", "background");
}

/// Everything of the protocol in a file of a day.
fn complete(path: &Path) {
    let times = values(path, "time");
    assert!(times.windows(2).all(|t| t[1] - t[0] == 3.0) && times.len() >= 8, "{times:?}");
    let columns = 6 * 12 * 12 * times.len();
    for tracer in TRACERS {
        assert_eq!(values(path, tracer).len(), 72 * columns, "{tracer}");
        for name in ["column_mean", "column_flux_east", "column_flux_north", "column_flux_divergence"] {
            let found = values(path, &format!("{tracer}_{name}"));
            assert!(found.len() == columns && found.iter().all(|x| x.is_finite() && x.abs() < 1e14), "{tracer}_{name}");
        }
    }
    for (name, low, high) in [
        ("dry_surface_pressure", 9.5e4, 1.01e5),
        ("surface_pressure", 9.5e4, 1.02e5),
        ("boundary_layer_height", 400.0, 1100.0),
        ("tropopause_height", 5e3, 2e4),
    ] {
        let found = values(path, name);
        assert_eq!(found.len(), columns, "{name}");
        // A synthetic atmosphere need not have a tropopause everywhere.
        assert!(found.iter().all(|x| x.is_nan() || (low..high).contains(x)), "{name}");
    }
    let background = values(path, "background");
    let worst = background.iter().map(|q| (q / 4e-4 - 1.0).abs()).fold(0.0, f64::max);
    // Air masses and fluxes of Float32 files are rounded apart, and the air is set to the files' after every window.
    assert!(worst < 1e-5, "a uniform tracer without sources stays uniform: {worst:e}");
    // Radon comes from nothing and decays; SF6 and CO2 start from their files.
    assert!(values(path, "rn222_total_mass").last().unwrap() > &0.0);
    let (total, air) = (values(path, "co2_total_mass"), values(path, "air_mass_total"));
    assert!(total.iter().zip(&air).all(|(co2, air)| (4.0e-4..4.3e-4).contains(&(co2 / air))));
}

/// What a column without sources gains is what its divergence says.
fn columns_close(dir: &Path, name: &str, tracer: &str) {
    let mut before: Option<Vec<f64>> = None;
    let (mut worst, mut moved) = (0.0_f64, 0.0_f64);
    for day in ["20211201", "20211202", "20211203"] {
        let path = dir.join(format!("out/{name}_{day}.nc"));
        let columns = values(&path, &format!("{tracer}_column_mass_per_area"));
        let divergences = values(&path, &format!("{tracer}_column_flux_divergence"));
        for (column, divergence) in columns.chunks(864).zip(divergences.chunks(864)) {
            if let Some(before) = before.replace(column.to_vec()) {
                for ((before, after), divergence) in before.iter().zip(column).zip(divergence) {
                    worst = worst.max((after - before + divergence).abs() / after);
                    moved = moved.max((divergence / after).abs());
                }
            }
        }
    }
    println!("columns close to {worst:.1e}; up to {moved:.1e} of a column moves in 3 h");
    assert!(worst < 2e-6 && moved > 1e-3, "{worst:e} {moved:e}");
}

/// The set for ERA5 on made-up winds with all its sections.
#[test]
fn the_set_for_era5_runs() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    for folder in ["met", "flux", "init", "out"] {
        std::fs::create_dir(dir.join(folder)).unwrap();
    }
    archives::fluxes(&dir.join("flux"));
    archives::states(&dir.join("init"));
    let winds = ["--nc", "12", "--levels", "66", "--windows", "6", "--physics", "all", "--start-time", "2021-12-01"];
    synth(dir, "met/winds_20211201.bin", &winds);
    let fluxes = scaled(dir, "fluxes_c96", "fluxes", &[("nc = 12", "transport_file = \"$MET/winds_20211201.bin\"")]);
    program(dir, &["prepare-fluxes", &fluxes]).succeed();
    let config = run_until(dir, "c96_era5_l66", "2021-12-01", "era5");
    on_ranks(dir, 2, &["run", &config]).succeed();
    let path = dir.join("out/era5_20211201.nc");
    assert_eq!(values(&path, "time").len(), 3);
    let background = values(&path, "background");
    assert!(background.iter().all(|q| (q / 4e-4 - 1.0).abs() < 1e-5));
}

/// The configuration of the other archive is accepted, and what it misses is the archive.
#[test]
fn the_meteorology_of_era5_asks_for_its_archive() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    std::fs::create_dir(dir.join("era5")).unwrap();
    let met = scaled(dir, "met_era5_c96", "met", &[]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_atmostr"));
    command.args(["preprocess", &met, "--day", "2022-07-01"]).env("ERA5", dir.join("era5")).env("MET", dir.join("met"));
    let ended = finish_within(command, dir, LONG_PATIENCE);
    // A program built without GRIB says so instead.
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("2022-07-01") || ended.stderr.contains("GRIB"), "{}", ended.stderr);
}
