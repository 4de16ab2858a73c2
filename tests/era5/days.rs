//! Whole days of ERA5 through the program.

use std::path::Path;

use atmostr::met::Section;

use crate::archive::{Archive, WEATHER, stamp};
use crate::checks::{passes, told};
use crate::support::{alone, atmostr};

/// A configuration of C6 with further lines in `[source]` and at the end.
fn configuration(source: &str, rest: &str) -> String {
    format!(
        "[source]\nkind = \"era5\"\ndirectory = \"archive\"\n{source}\n[grid]\nnc = 6\n[numerics]\nfloat_type = \"Float64\"\n\
         [output]\ndirectory = \"out\"\nfile_pattern = \"{{YYYYMMDD}}.bin\"\n{rest}"
    )
}

const PHYSICS: &str = "include_surface = true\ninclude_convection = true\ninclude_vdiff_fields = true\n\
                       include_tm5_diffusion = true";

fn prepare(dir: &Path, days: i32, source: &str, rest: &str) {
    Archive::new(&dir.join("archive"), WEATHER).write(days);
    std::fs::write(dir.join("met.toml"), configuration(source, rest)).unwrap();
}

/// Two days with all physics pass all checks and follow each other.
#[test]
fn days_with_all_physics() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    prepare(dir, 2, PHYSICS, "[vertical]\ntransform = \"merge_by_index\"\nmerge_ends = [2, 3, 4, 5]\n");
    let ended = atmostr(dir, &["preprocess", "met.toml", "--start", "2021-12-01", "--end", "2021-12-02"]).succeed();
    println!("{}", ended.stdout);
    for n in 0..2 {
        let next = (n == 0).then(|| stamp(1));
        let file = passes(dir, &stamp(n), next.as_deref());
        assert_eq!((file.header().nwindow(), file.header().dt_met_seconds()), (24, 3600.0));
        let without = [Section::Cmfmc, Section::Dtrain, Section::CmfmcCloudBase];
        for section in Section::ALL {
            assert_eq!(file.header().has(section), !without.contains(&section), "{section:?}");
        }
        for (key, expected) in [
            ("source_type", "era5"),
            ("source_grid", "N16"),
            ("face_fluxes", "line_integral"),
            ("flux_thickness", "dry_mass"),
            ("flux_time_sampling", "window_mean"),
        ] {
            assert_eq!(told(&file, key), expected, "{key}");
        }
        assert_eq!(told(&file, "source_truncation"), 21);
    }
}

/// Other fluxes and longer windows; without the next day only if that is allowed.
#[test]
fn days_of_means_over_cells_in_long_windows() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    let archive = Archive::new(&dir.join("archive"), WEATHER);
    archive.core(0, 0..24);
    let rest = "[fluxes]\nface_fluxes = \"vector\"\n[mass_fix]\nmode = \"none\"\n";
    let text =
        |source: &str| configuration(source, rest).replace("[numerics]\n", "[numerics]\ndt_met_seconds = 10800\n");
    std::fs::write(dir.join("met.toml"), text("")).unwrap();
    let run = || atmostr(dir, &["preprocess", "met.toml", "--day", "2021-12-01"]);
    run().refuse(&["2021-12-02", "era5_core_20211202.grib"]);
    std::fs::write(dir.join("met.toml"), text("allow_terminal_zero_tendency = true")).unwrap();
    let ended = run().succeed();
    assert!(ended.stderr.contains("the last hour stands still"), "{}", ended.stderr);
    let file = passes(dir, &stamp(0), None);
    assert_eq!((file.header().nwindow(), file.header().dt_met_seconds()), (8, 10800.0));
    assert_eq!(told(&file, "face_fluxes"), "vector");
    assert_eq!(told(&file, "terminal_zero_tendency"), true);
}

/// The configuration that comes with the program is accepted, and what it misses is its archive.
#[test]
fn the_shipped_configuration_asks_for_its_archive() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    std::fs::create_dir(dir.join("archive")).unwrap();
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/met/era5_n320_c90.toml");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_atmostr"));
    command.arg("preprocess").arg(config).args(["--day", "2022-07-01"]);
    command.env("ERA5", dir.join("archive")).env("OUT", dir.join("out"));
    crate::support::finish(command, dir).refuse(&["2022-07-01", "era5_core_20220701.grib", "fetch it"]);
}
