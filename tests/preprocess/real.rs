//! Real winds to transport files that pass their checks, day after day.

use std::path::{Path, PathBuf};
use std::process::Command;

use atmostr::met::gates::validate_replay;
use atmostr::met::{FloatType, TransportFile};

use crate::support::{Ended, alone, finish};

/// Configurations in `configs/met` with the days that their files hold.
const WINDS: [(&str, [&str; 2]); 5] = [
    ("grads_model_5day", ["1987-01-02", "1987-01-05"]),
    ("era5_init_dycore_6hourly", ["1959-01-02", "1959-01-05"]),
    ("ncep_gfs_2p5deg", ["2011-10-11", "2011-10-11"]),
    ("era5_tl31", ["1959-01-02", "1959-01-02"]),
    ("csm_t42_l18", ["1980-01-15", "1980-01-15"]),
];

pub fn data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: {} is not there", folder.display());
    None
}

/// Prepares all days of a configuration of `configs/met` at C24.
pub fn prepare(dir: &Path, data: &Path, name: &str, days: [&str; 2], float: &str) -> Ended {
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/met").join(format!("{name}.toml"));
    let text = std::fs::read_to_string(config).unwrap();
    std::fs::write(dir.join("met.toml"), format!("{text}\n[numerics]\nfloat_type = \"{float}\"\n")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_atmostr"));
    command.args(["preprocess", "met.toml", "--start", days[0], "--end", days[1]]);
    command.env("DATA", data).env("OUT", dir.join("out"));
    finish(command, dir)
}

/// Transport files of a folder in the order of their days.
pub fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir.join("out")).unwrap().map(|e| e.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|p| p.extension().is_some_and(|e| e == "bin")).collect();
    files.sort();
    files
}

/// Replays every window and compares the end of each day with the start of the next: 1e-10 (Float64), 1e-6 (Float32).
fn passes(dir: &Path, days: usize, float: FloatType) {
    let files: Vec<TransportFile> = files(dir).iter().map(|path| TransportFile::open(path).unwrap()).collect();
    assert_eq!(files.len(), days);
    let tolerance = match float {
        FloatType::Float64 => 1e-10,
        FloatType::Float32 => 1e-6,
    };
    for (n, file) in files.iter().enumerate() {
        let found = validate_replay(file, 0..24, tolerance, files.get(n + 1)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(found.len(), 24);
        assert_eq!(file.header().float_type(), float);
    }
}

#[test]
fn real_winds_become_files_that_pass_their_checks() {
    let Some(data) = data() else { return };
    for (name, days) in WINDS {
        let (_guard, dir) = alone();
        let ended = prepare(dir.path(), &data, name, days, "Float32").succeed();
        let count = if days[0] == days[1] { 1 } else { 4 };
        passes(dir.path(), count, FloatType::Float32);
        assert_eq!(ended.stdout.matches("replay").count(), count, "{}", ended.stdout);
    }
}

#[test]
fn real_winds_in_double_precision() {
    let Some(data) = data() else { return };
    for (name, days) in &WINDS[..2] {
        let (_guard, dir) = alone();
        prepare(dir.path(), &data, name, [days[0], days[0]], "Float64").succeed();
        passes(dir.path(), 1, FloatType::Float64);
    }
}

/// The mean dry surface pressure is measured once and is that of every day (spec 40 §1.9).
#[test]
fn the_global_mass_is_the_same_every_day() {
    let Some(data) = data() else { return };
    let (_guard, dir) = alone();
    let (name, days) = WINDS[0];
    prepare(dir.path(), &data, name, days, "Float64").succeed();
    let masses: Vec<f64> = files(dir.path())
        .iter()
        .map(|path| {
            let file = TransportFile::open(path).unwrap();
            file.section_values(0, atmostr::met::Section::AirMass).unwrap().iter().sum()
        })
        .collect();
    for mass in &masses {
        assert!((mass / masses[0] - 1.0).abs() < 1e-13, "{masses:?}");
    }
}
