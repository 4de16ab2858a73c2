//! What is wrong with an archive of MERRA-2 is refused with exit code 2, by file, variable and index.

use std::path::Path;

use crate::merra2_days::{PHYSICS, configuration};
use crate::merra2_files::{Archive, LAYERS, Layout, WAVES};
use crate::support::{alone, atmostr};
use crate::writer::{Grid, Order, spoil};

/// Writes a day, lets `change` spoil the archive, and expects a refusal that names all parts and leaves nothing.
fn refused(source: &str, rest: &str, change: impl FnOnce(&Archive<'_>), parts: &[&str]) {
    let (_guard, dir) = alone();
    let dir = dir.path();
    let root = dir.join("archive");
    let archive = Archive::small(&root, Layout::GeosChem, WAVES);
    archive.write(1);
    change(&archive);
    std::fs::write(dir.join("met.toml"), configuration(source, rest)).unwrap();
    atmostr(dir, &["preprocess", "met.toml", "--day", "2021-12-01"]).refuse(parts);
    nothing_left(dir);
}

/// No file of a day, whole or in part.
fn nothing_left(dir: &Path) {
    let Ok(entries) = std::fs::read_dir(dir.join("out")) else { return };
    let left: Vec<_> = entries.map(|e| e.unwrap().file_name()).filter(|name| name != "campaign.toml").collect();
    assert!(left.is_empty(), "{left:?}");
}

fn put(path: &Path, variable: &str, at: &[usize], value: f32) {
    spoil(path, |file| {
        let extents: Vec<netcdf::Extent> = at.iter().map(|n| (*n..n + 1).into()).collect();
        file.variable_mut(variable).unwrap().put_values(&[value], extents).unwrap();
    });
}

fn units(path: &Path, variable: &str, units: &str) {
    spoil(path, |file| {
        file.variable_mut(variable).unwrap().put_attribute("units", units).unwrap();
    });
}

#[test]
fn files_that_are_not_there_or_twice_there() {
    for (collection, source) in [("I3", ""), ("A3dyn", ""), ("A3mstE", PHYSICS), ("A3mstC", PHYSICS), ("A1", PHYSICS)] {
        let name = format!("MERRA2.20211201.{collection}.05x0625.nc4");
        let remove = |archive: &Archive<'_>| std::fs::remove_file(archive.path(collection, 0)).unwrap();
        refused(source, "", remove, &["2021-12-01", &format!("no file of {collection}"), &name, "fetch it"]);
    }
    let copy = |archive: &Archive<'_>| {
        let path = archive.path("A3dyn", 0);
        std::fs::copy(&path, archive.root.join(path.file_name().unwrap())).unwrap();
    };
    refused("", "", copy, &["2021/12/MERRA2.20211201.A3dyn", "is also in", "keep one"]);
}

#[test]
fn variables_and_units() {
    let other = |archive: &Archive<'_>| {
        std::fs::copy(archive.path("A3mstC", 0), archive.path("A3dyn", 0)).unwrap();
    };
    refused("", "", other, &["A3dyn", "no variable 'U'", "it holds time, lev, lat, lon, DQRCU"]);
    let spoilt = |collection: &'static str, variable: &'static str, text: &'static str| {
        move |archive: &Archive<'_>| units(&archive.path(collection, 0), variable, text)
    };
    refused("", "", spoilt("I3", "PS", "inHg"), &["I3", "'PS' has units 'inHg'", "Pa or hPa", "mend"]);
    refused("", "", spoilt("I3", "PS", "hPa"), &["I3", "'PS' is", "300 to 1200 hPa"]);
    refused("", "", spoilt("A3dyn", "U", "knots"), &["A3dyn", "'U' has units 'knots'", "m s-1"]);
    refused(PHYSICS, "", spoilt("A3mstE", "CMFMC", "Pa s-1"), &["A3mstE", "'CMFMC' has units 'Pa s-1'"]);
    refused(PHYSICS, "", spoilt("A1", "T2M", "degC"), &["A1", "'T2M' has units 'degC'"]);
}

/// Pitfall T40-24: file, variable, record and cell are named.
#[test]
fn values_that_are_missing_or_impossible() {
    let spoilt = |collection: &'static str, variable: &'static str, at: &'static [usize], value: f32| {
        move |archive: &Archive<'_>| put(&archive.path(collection, 0), variable, at, value)
    };
    let nan = f32::NAN;
    refused(
        "",
        "",
        spoilt("I3", "PS", &[3, 5, 7], nan),
        &["I3", "'PS' has no value", "time 4, latitude 6, longitude 8"],
    );
    let place = "time 2, level 3, latitude 13, longitude 24";
    refused("", "", spoilt("A3dyn", "U", &[1, 2, 12, 23], 1e15), &["A3dyn", "'U'", place]);
    refused("", "", spoilt("A3dyn", "U", &[1, 2, 12, 23], 700.0), &["A3dyn", "'U' is 700", place, "within 500 m/s"]);
    refused("", "", spoilt("I3", "QV", &[1, 2, 12, 23], 0.5), &["I3", "'QV' is 0.5", place, "0.2 kg/kg"]);
    let negative = spoilt("A3mstE", "CMFMC", &[1, 2, 12, 23], -0.1);
    refused(PHYSICS, "", negative, &["A3mstE", "'CMFMC' is -0.1", place, "not negative"]);
    let infinite = spoilt("A1", "HFLUX", &[9, 1, 2], f32::INFINITY);
    refused(PHYSICS, "", infinite, &["A1", "'HFLUX'", "time 10, latitude 2, longitude 3"]);
    // The next day ends this one.
    let tomorrow = |archive: &Archive<'_>| put(&archive.path("I3", 1), "QV", &[0, 0, 0, 0], nan);
    refused("", "", tomorrow, &["20211202.I3", "'QV' has no value", "time 1, level 1"]);
}

#[test]
fn grids_levels_and_times_that_do_not_fit() {
    let coarse = |archive: &Archive<'_>| {
        Archive { grid: Grid::with_poles(12, 7), ..Archive::small(archive.root, Layout::GeosChem, WAVES) }
            .write_means(0);
    };
    refused("", "", coarse, &["A3dyn", "'U' lies on 12 × 7", "24 × 13"]);
    let layers = |archive: &Archive<'_>| {
        let mut other = Archive::small(archive.root, Layout::GeosChem, WAVES);
        other.weather.layers = LAYERS - 1;
        other.write_means(0);
    };
    refused("", "", layers, &["A3dyn", "'U' has 7 levels, expected 8", "vertical.levels"]);
    let time = |n: usize, minutes: f64| {
        move |archive: &Archive<'_>| {
            spoil(&archive.path("A3dyn", 0), |file| {
                file.variable_mut("time").unwrap().put_value(minutes, [n]).unwrap()
            });
        }
    };
    refused("", "", time(4, 630.0 - 180.0), &["A3dyn", "'time'", "value 5"]);
    refused("", "", time(7, 2000.0), &["A3dyn", "'time' of record 8", "expected from 2021-12-01T21:00:00Z"]);
    let other_day = |archive: &Archive<'_>| {
        std::fs::copy(archive.path("I3", 1), archive.path("I3", 0)).unwrap();
    };
    refused("", "", other_day, &["20211201.I3", "'time' of record 1 is 2021-12-02", "expected at 2021-12-01"]);
}

/// Pitfall T40-2: a file whose layers run the other way is found out by its convection, and so is a wrong order.
#[test]
fn layers_upside_down() {
    let turned = |archive: &Archive<'_>| {
        Archive { order: Order::TopFirst, ..Archive::small(archive.root, Layout::GeosChem, WAVES) }.write_means(0);
    };
    refused(PHYSICS, "", turned, &["'CMFMC' has its centre at level", "upside down", "level_order"]);
    let wrong = format!("{PHYSICS}\nlevel_order = \"top_down\"");
    refused(&wrong, "", |_| {}, &["'CMFMC' has its centre at level", "level_order"]);
}

/// Keys that would be ignored, or ask for what the archive does not have (pitfall T40-20).
#[test]
fn configurations() {
    let plain = |_: &Archive<'_>| {};
    refused("files = [\"a.nc\"]", "", plain, &["`source.files`", "no meaning", "merra2"]);
    refused("", "[source.variables]\nu = \"U\"\n", plain, &["`source.variables`", "merra2"]);
    refused("layout = \"nasa\"\ninclude_convection = true", "", plain, &["include_convection", "winds only"]);
    refused("include_vdif_fields = true", "", plain, &["include_vdif_fields", "did you mean `include_vdiff_fields`"]);
    refused("source_nc = 180", "", plain, &["source_nc", "geos_it"]);
    refused("", "[numerics]\ndt_met_seconds = 7200\n", plain, &["dt_met_seconds", "7200", "10800 or 3600"]);
    refused("", "[fluxes]\nflux_time_sampling = \"window_start\"\n", plain, &["flux_time_sampling", "means over 3 h"]);
}
