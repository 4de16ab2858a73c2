//! Whole days of MERRA-2 through the program.

use std::path::Path;

use atmostr::met::Section;

use crate::checks::{passes, told, values};
use crate::merra2_files::{Archive, Layout, WAVES, stamp};
use crate::support::{Config, GEOS_PHYSICS, alone, atmostr};

/// A configuration of C6 with further lines in `[source]` and at the end.
pub fn configuration(source: &str, rest: &str) -> String {
    let numerics = if rest.contains("[numerics]") { "" } else { "[numerics]\nfloat_type = \"Float64\"\n" };
    format!(
        "[source]\nkind = \"merra2\"\ndirectory = \"archive\"\n{source}\n[grid]\nnc = 6\n[vertical]\nlevels = \"smooth\"\n\
         n_levels = 8\ntop_pa = 100\n[output]\ndirectory = \"out\"\nfile_pattern = \"{{YYYYMMDD}}.bin\"\n{numerics}{rest}"
    )
}

pub const PHYSICS: &str = "include_surface = true\ninclude_convection = true\ninclude_vdiff_fields = true";

/// Puts an archive of `days` days and a configuration into `dir`.
fn prepare(dir: &Path, layout: Layout, days: usize, source: &str, rest: &str) {
    Archive::small(&dir.join("archive"), layout, WAVES).write(days);
    std::fs::write(dir.join("met.toml"), configuration(source, rest)).unwrap();
}

const BOTH: [&str; 6] = ["preprocess", "met.toml", "--start", "2021-12-01", "--end", "2021-12-02"];

/// Two days with all physics pass all checks, follow each other, are not done twice, and a run takes them.
#[test]
fn days_with_all_physics() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir, Layout::GeosChem, 2, PHYSICS, "");
    atmostr(dir, &["preprocess", "met.toml", "--day", "2021-12-02"]).succeed();
    let second = std::fs::read(dir.join("out").join(format!("{}.bin", stamp(1)))).unwrap();
    let ended = atmostr(dir, &BOTH).succeed();
    assert_eq!(ended.count("already there"), 1, "{}", ended.stderr);
    assert_eq!(std::fs::read(dir.join("out").join(format!("{}.bin", stamp(1)))).unwrap(), second);
    let file = passes(dir, &stamp(0), Some(&stamp(1)));
    passes(dir, &stamp(1), None);
    assert_eq!((file.header().nwindow(), file.header().dt_met_seconds()), (24, 3600.0));
    for section in Section::ALL {
        let tm5 = [Section::Entu, Section::Detu, Section::Entd, Section::Detd, Section::Dkg].contains(&section);
        assert_eq!(file.header().has(section), !tm5, "{section:?}");
    }
    for (key, expected) in [
        ("source_type", "merra2"),
        ("source_layout", "geoschem"),
        ("winds_collection", "A3dyn"),
        ("face_interpolation", "fv3"),
        ("wind_regrid", "cartesian"),
        ("flux_thickness", "dry_mass"),
        ("column_balance_weights", "hybrid_mass"),
    ] {
        assert_eq!(told(&file, key), expected, "{key}");
    }
    assert_eq!(told(&file, "terminal_zero_tendency"), false);
    let config = Config {
        input: "folder = \"out\"\nstart_date = \"2021-12-01\"\nend_date = \"2021-12-02\"\nfile_pattern = \"{YYYYMMDD}.bin\"",
        tracers: GEOS_PHYSICS,
        output: "path = \"out.nc\"\ncadence_hours = 24",
        ..Config::default()
    };
    config.write(dir, "run.toml");
    atmostr(dir, &["run", "run.toml"]).succeed();
}

/// Windows of 3 h in single precision; the global mass is that of the campaign.
#[test]
fn days_of_eight_windows() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir, Layout::GeosChem, 1, PHYSICS, "[numerics]\ndt_met_seconds = 10800\n");
    atmostr(dir, &["preprocess", "met.toml", "--day", "2021-12-01"]).succeed();
    let file = passes(dir, &stamp(0), None);
    assert_eq!((file.header().nwindow(), file.header().dt_met_seconds()), (8, 10800.0));
    let total = |window: usize| values(&file, window, Section::AirMass).iter().sum::<f64>();
    assert!((total(7) / total(0) - 1.0).abs() < 1e-7);
}

/// Files as NASA distributes them have winds only.
#[test]
fn days_of_the_nasa_layout() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir, Layout::Nasa, 1, "layout = \"nasa\"", "");
    atmostr(dir, &["preprocess", "met.toml", "--day", "2021-12-01"]).succeed();
    let file = passes(dir, &stamp(0), None);
    assert!(!file.header().has(Section::Cmfmc) && !file.header().has(Section::Pblh));
    assert_eq!(told(&file, "winds_collection"), "tavg3_3d_asm_Nv");
}

/// Pitfall T40-18: without the next day the last block is refused, or stands still and the file tells so.
#[test]
fn the_last_block_stands_still_only_if_allowed() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    let rest = "[mass_fix]\nmode = \"none\"\n";
    prepare(dir, Layout::GeosChem, 1, "", rest);
    let archive = dir.join("archive");
    std::fs::remove_file(Archive::small(&archive, Layout::GeosChem, WAVES).path("I3", 1)).unwrap();
    let day = ["preprocess", "met.toml", "--day", "2021-12-01"];
    atmostr(dir, &day).refuse(&["2021-12-02", "no file of I3", "MERRA2.20211202.I3.05x0625.nc4", "fetch it"]);
    assert!(!dir.join("out/20211201.bin").exists());
    let source = "allow_terminal_zero_tendency = true";
    std::fs::write(dir.join("met.toml"), configuration(source, rest)).unwrap();
    let ended = atmostr(dir, &day).succeed();
    assert!(ended.stderr.contains("stands still"), "{}", ended.stderr);
    let file = passes(dir, &stamp(0), None);
    assert_eq!(told(&file, "terminal_zero_tendency"), true);
    for window in 0..24 {
        let still = values(&file, window, Section::AirMassTendency).iter().all(|dm| *dm == 0.0);
        assert_eq!(still, window >= 21, "window {}", window + 1);
    }
}
