//! `atmostr regrid` and `atmostr weights`.

mod output_support;

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Mutex, MutexGuard};

use assert_cmd::Command;
use atmostr::grid::{CubedSphere, GeometryBundle};
use atmostr::output::OutputSpec;
use atmostr::regrid::{LatLonSides, Mesh, Overlap};
use output_support::{FRAMES, LEVELS, NC, cell, written};

/// A directory, and the guarantee that no other test has a file open: a child process started meanwhile would inherit
/// its descriptor, and with it the lock that keeps readers off.
fn alone() -> (MutexGuard<'static, ()>, tempfile::TempDir) {
    static ALONE: Mutex<()> = Mutex::new(());
    let guard = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    (guard, tempfile::tempdir().unwrap())
}

fn atmostr(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("atmostr").unwrap();
    command.current_dir(dir).env_remove("RUST_BACKTRACE").args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Standard output of a command that must succeed.
fn stdout_of(dir: &Path, args: &[&str]) -> String {
    let output = atmostr(dir, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}\n{}", text(&output.stderr));
    text(&output.stdout)
}

/// A command that must be refused with these words.
fn refused(dir: &Path, args: &[&str], parts: &[&str]) {
    let output = atmostr(dir, args);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?}\n{message}");
    for part in parts {
        assert!(message.contains(part), "{part:?} not in {message}");
    }
}

fn values(file: &netcdf::File, name: &str) -> Vec<f64> {
    file.variable(name).unwrap_or_else(|| panic!("no {name}")).get_values(..).unwrap()
}

fn dimensions(file: &netcdf::File, name: &str) -> Vec<String> {
    file.variable(name).unwrap().dimensions().iter().map(netcdf::Dimension::name).collect()
}

fn attribute(file: &netcdf::File, name: &str, key: &str) -> String {
    match file.variable(name).unwrap().attribute_value(key) {
        Some(Ok(netcdf::AttributeValue::Str(text))) => text,
        other => panic!("{name}:{key} is {other:?}"),
    }
}

/// A field of the run of `output_support` at a frame and level, in the order of cells.
fn field(frame: usize, k: usize, value: impl Fn((f64, [f64; 2])) -> f64) -> Vec<f64> {
    let cells = (0..6).flat_map(|p| (0..NC * NC).map(move |c| (p, c / NC, c % NC)));
    cells.map(|(p, j, i)| value(cell(frame, k, p, j, i))).collect()
}

/// Weights from the cubed sphere of the run to 5 degrees.
fn weights() -> Overlap {
    Overlap::new(&Mesh::Cube(output_support::grid()), &Mesh::named("latlon:5x5", 6.371e6).unwrap())
}

#[test]
fn snapshots_on_a_lat_lon_grid() {
    let (_alone, dir) = alone();
    let file = written::<f64>(dir.path(), |_: &mut OutputSpec| {});
    let report = stdout_of(dir.path(), &["regrid", file.to_str().unwrap(), "--to", "latlon:5x5", "-o", "ll.nc"]);
    assert!(report.starts_with("cubed sphere C6, geos_native -> lat-lon 72 x 36\n"), "{report}");
    assert!(report.ends_with("ll.nc\n") && report.contains("air_mass "), "{report}");
    let out = netcdf::open(dir.path().join("ll.nc")).unwrap();
    assert_eq!(dimensions(&out, "co2"), ["time", "lev", "lat", "lon"]);
    assert_eq!(dimensions(&out, "co2_column_mean"), ["time", "lat", "lon"]);
    let (lat, lon) = (values(&out, "lat"), values(&out, "lon"));
    assert_eq!((lat[0], lat[35], lon[0], lon[71]), (-87.5, 87.5, -177.5, 177.5));
    assert_eq!(values(&out, "lat_bnds")[..2], [-90.0, -85.0]);
    assert_eq!(attribute(&out, "lon", "units"), "degrees_east");
    assert_eq!(attribute(&out, "lat", "bounds"), "lat_bnds");
    assert_eq!(values(&out, "time"), [0.0, 3.0]);
    assert!(attribute(&out, "time", "units").starts_with("hours since 2021-12-01"));
    assert!(out.dimension("time").unwrap().is_unlimited());
    assert_eq!((values(&out, "hyai").len(), values(&out, "co2_total_mass")), (LEVELS + 1, vec![1.5, 2.5]));
    let sphere: f64 = values(&out, "cell_area").iter().sum();
    assert!((sphere / (4.0 * std::f64::consts::PI * 6.371e6f64.powi(2)) - 1.0).abs() < 1e-13);
    for name in ["lons", "corner_lats", "contacts", "nf", "Xdim", "cubed_sphere"] {
        assert!(out.variable(name).is_none(), "{name}");
    }

    // Mole fractions are means by area, air mass is added up: what the operator gives, and the same total.
    let weights = weights();
    let cells = weights.dst_areas().len();
    let (co2, air) = (values(&out, "co2"), values(&out, "air_mass"));
    for frame in 0..FRAMES {
        for k in 0..LEVELS {
            let at = (frame * LEVELS + k) * cells;
            let mut expected = vec![0.0; cells];
            weights.intensive(&field(frame, k, |(m, rm)| rm[0] / m), &mut expected);
            assert!(co2[at..at + cells].iter().zip(&expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-14));
            weights.extensive(&field(frame, k, |(m, _)| m), &mut expected);
            assert!(air[at..at + cells].iter().zip(&expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-14));
            let (before, after): (f64, f64) =
                (field(frame, k, |(m, _)| m).iter().sum(), air[at..at + cells].iter().sum());
            assert!((after / before - 1.0).abs() < 1e-13, "{before} became {after}");
        }
    }
    assert!(attribute(&out, "co2", "regrid_method").contains("mean"));
    assert!(attribute(&out, "air_mass", "regrid_method").contains("sum"));
    drop(out);
    for (name, more) in [("co2", &["--level", "2", "--time", "1"][..]), ("co2_column_mean", &[]), ("cell_area", &[])] {
        let told = stdout_of(dir.path(), &[&["plot", "ll.nc", "--var", name, "-o", "map.png"], more].concat());
        assert_eq!(told, "map.png\n");
    }
    refused(
        dir.path(),
        &["plot", "ll.nc", "--var", "co2", "--level", "9", "-o", "map.png"],
        &["level 9 is not among 1 to 3"],
    );
    refused(dir.path(), &["plot", "ll.nc", "--var", "lat_bnds", "-o", "map.png"], &["ll.nc", "not a map"]);
}

#[test]
fn single_precision_stays_and_variables_are_chosen() {
    let (_alone, dir) = alone();
    let file = written::<f32>(dir.path(), |_| {});
    let name = file.to_str().unwrap();
    stdout_of(
        dir.path(),
        &["regrid", name, "--to", "latlon:5x5", "--var", "air_mass", "--mean", "air_mass", "-o", "mean.nc"],
    );
    let out = netcdf::open(dir.path().join("mean.nc")).unwrap();
    assert!(out.variable("co2").is_none());
    let kind = out.variable("air_mass").unwrap().vartype();
    assert_eq!(kind, netcdf::types::NcVariableType::Float(netcdf::types::FloatType::F32));
    let mut expected = vec![0.0; 72 * 36];
    weights().intensive(&field(0, 0, |(m, _)| m), &mut expected);
    let found = values(&out, "air_mass");
    assert!(found.iter().zip(&expected).all(|(a, b)| (a / b - 1.0).abs() < 2e-7));
}

/// A lat-lon file as archives have them: north first, packed, with gaps, dimensions in odd order.
fn archive(dir: &Path) -> PathBuf {
    let path = dir.join("archive.nc");
    let mut file = netcdf::create(&path).unwrap();
    for (name, length) in [("longitude", 36), ("latitude", 18), ("month", 2)] {
        file.add_dimension(name, length).unwrap();
    }
    let mut axis = |name: &str, units: &str, first: f32, step: f32, n: usize| {
        let mut variable = file.add_variable::<f32>(name, &[name]).unwrap();
        variable.put_attribute("units", units).unwrap();
        let values: Vec<f32> = (0..n).map(|k| first + step * k as f32).collect();
        variable.put_values(&values, ..).unwrap();
    };
    axis("longitude", "degrees_east", 5.0, 10.0, 36);
    axis("latitude", "degrees_north", 85.0, -10.0, 18);
    axis("month", "1", 1.0, 1.0, 2);
    let mut packed = file.add_variable::<i16>("flux", &["month", "longitude", "latitude"]).unwrap();
    packed.put_attribute("units", "kg m-2 s-1").unwrap();
    packed.put_attribute("scale_factor", 0.5f64).unwrap();
    packed.put_attribute("add_offset", 10.0f64).unwrap();
    packed.put_attribute("missing_value", -999i16).unwrap();
    // Value 10 + latitude row from the north; the northernmost row of the second month is missing.
    let stored: Vec<i16> = (0..2 * 36 * 18)
        .map(|n| match (n / (36 * 18), n % 18) {
            (1, 0) => -999,
            (_, row) => 2 * row as i16,
        })
        .collect();
    packed.put_values(&stored, ..).unwrap();
    let mut amounts = file.add_variable::<f64>("emission", &["latitude", "longitude"]).unwrap();
    amounts.put_attribute("units", "kg s-1").unwrap();
    let stored: Vec<f64> = (0..18 * 36).map(|n| f64::from(n % 7)).collect();
    amounts.put_values(&stored, ..).unwrap();
    path
}

#[test]
fn archives_on_the_cubed_sphere() {
    let (_alone, dir) = alone();
    archive(dir.path());
    stdout_of(dir.path(), &["regrid", "archive.nc", "--to", "c12", "-o", "c12.nc", "--weights-dir", "weights"]);
    assert_eq!(std::fs::read_dir(dir.path().join("weights")).unwrap().count(), 1);
    let out = netcdf::open(dir.path().join("c12.nc")).unwrap();
    assert_eq!(dimensions(&out, "flux"), ["month", "nf", "Ydim", "Xdim"]);
    assert_eq!(dimensions(&out, "emission"), ["nf", "Ydim", "Xdim"]);
    assert_eq!(values(&out, "month"), [1.0, 2.0]);

    let weights = Overlap::new(&Mesh::named("latlon:10x10", 1.0).unwrap(), &Mesh::named("c12", 1.0).unwrap());
    // The file begins at 0 degrees, the mesh of that name at -180; rows are all that the flux depends on.
    let rows: Vec<f64> = (0..18 * 36).map(|n| 10.0 + (17 - n / 36) as f64).collect();
    let mut expected = vec![0.0; 6 * 144];
    weights.intensive(&rows, &mut expected);
    let flux = values(&out, "flux");
    assert!(flux[..6 * 144].iter().zip(&expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-6));
    // Without the northernmost row: cells that lie in it by more than half have no value, others the mean of the rest.
    let known: Vec<f64> = rows.iter().enumerate().map(|(n, v)| if n / 36 == 17 { f64::NAN } else { *v }).collect();
    let coverage = weights.intensive_of_known(&known, &mut expected);
    assert!(coverage.uncovered > 0);
    for (found, expected) in flux[6 * 144..].iter().zip(&expected) {
        assert!(if expected.is_nan() { *found == f64::from(1e15f32) } else { (found / expected - 1.0).abs() < 1e-6 });
    }
    let (before, after): (f64, f64) =
        ((0..18 * 36).map(|n| f64::from(n % 7)).sum(), values(&out, "emission").iter().sum());
    assert!((after / before - 1.0).abs() < 1e-13, "{before} became {after}");

    // Maps can be drawn of it, and it goes back to a lat-lon grid, that of the file.
    stdout_of(dir.path(), &["plot", "c12.nc", "--var", "emission", "-o", "map.png"]);
    stdout_of(dir.path(), &["regrid", "c12.nc", "--to", "archive.nc", "--var", "emission", "-o", "back.nc"]);
    let back = netcdf::open(dir.path().join("back.nc")).unwrap();
    assert_eq!((values(&back, "lon")[0], values(&back, "lat")[0]), (5.0, -85.0));
    let again: f64 = values(&back, "emission").iter().sum();
    assert!((again / before - 1.0).abs() < 1e-13);
    assert!(values(&back, "emission").iter().all(|v| v.is_finite()));
}

/// A file as GCHP writes it: no grid mapping, but centres.
fn gchp(dir: &Path, shift: f64) -> PathBuf {
    let path = dir.join("gchp.nc4");
    let mut file = netcdf::create(&path).unwrap();
    for (name, length) in [("lev", 2), ("nf", 6), ("Ydim", 4), ("Xdim", 4)] {
        file.add_dimension(name, length).unwrap();
    }
    let grid = CubedSphere::new(4, GeometryBundle::GeosNative, -10.0, 6.371e6).unwrap();
    let centres = Mesh::Cube(grid).centres();
    for (name, values) in [
        ("lons", centres.iter().map(|c| c.0 + shift).collect::<Vec<_>>()),
        ("lats", centres.iter().map(|c| c.1).collect()),
    ] {
        file.add_variable::<f64>(name, &["nf", "Ydim", "Xdim"]).unwrap().put_values(&values, ..).unwrap();
    }
    file.add_variable::<i32>("orientation", &["nf"]).unwrap().put_values(&[0; 6], ..).unwrap();
    let mut variable = file.add_variable::<f32>("SpeciesConc_CO2", &["lev", "nf", "Ydim", "Xdim"]).unwrap();
    variable.put_attribute("units", "mol mol-1 dry").unwrap();
    variable.put_values(&[4.1e-4f32; 2 * 96], ..).unwrap();
    path
}

#[test]
fn native_files_of_gchp_are_known_by_their_centres() {
    let (_alone, dir) = alone();
    gchp(dir.path(), 0.0);
    stdout_of(dir.path(), &["regrid", "gchp.nc4", "--to", "geos:4x5", "-o", "ll.nc"]);
    let out = netcdf::open(dir.path().join("ll.nc")).unwrap();
    assert_eq!(dimensions(&out, "SpeciesConc_CO2"), ["lev", "lat", "lon"]);
    assert!(values(&out, "SpeciesConc_CO2").iter().all(|v| *v == f64::from(4.1e-4f32)));
    assert_eq!(values(&out, "lat")[..2], [-89.0, -86.0]);
    assert!(out.variable("orientation").is_none() && out.dimension("nf").is_none());
    gchp(dir.path(), 5.0);
    let words = ["`lons` are not those of the cubed sphere of GEOS with Nc = 4"];
    refused(dir.path(), &["regrid", "gchp.nc4", "--to", "geos:4x5", "-o", "ll.nc"], &words);
}

#[test]
fn weights_for_other_programs() {
    let (_alone, dir) = alone();
    let file = written::<f64>(dir.path(), |_| {});
    let said = stdout_of(dir.path(), &["weights", "--from", "geos:4x5", "--to", file.to_str().unwrap(), "-o", "w.nc"]);
    assert!(said.starts_with("lat-lon 72 x 46 -> cubed sphere C6, geos_native: "), "{said}");
    let from = Mesh::named("geos:4x5", 1.0).unwrap();
    let expected = Overlap::new(&from, &Mesh::Cube(output_support::grid()));
    let check = |name: &str, expected: &Overlap| {
        let out = netcdf::open(dir.path().join(name)).unwrap();
        let (s, row, col) = (values(&out, "S"), values(&out, "row"), values(&out, "col"));
        assert_eq!(s.len(), expected.len());
        let mut k = 0;
        for cell in 0..expected.dst_areas().len() {
            for (at, area) in expected.row(cell) {
                let weight = area / expected.dst_areas()[cell];
                assert_eq!((row[k], col[k], s[k]), (cell as f64 + 1.0, at as f64 + 1.0, weight));
                k += 1;
            }
        }
    };
    check("w.nc", &expected);
    stdout_of(dir.path(), &["weights", "--from", "geos:4x5", "--to", "c6", "--sides", "great-circles", "-o", "g.nc"]);
    let Mesh::LatLon(from) = from else { panic!() };
    let from = Mesh::LatLon(from.with_sides(LatLonSides::GreatCircles).unwrap());
    let arcs = Overlap::new(&from, &Mesh::named("c6", 1.0).unwrap());
    check("g.nc", &arcs);
    assert_ne!(arcs, expected);
}

#[test]
fn mistakes_are_refused() {
    let (_alone, dir) = alone();
    let file = written::<f32>(dir.path(), |_| {});
    let name = file.to_str().unwrap();
    let to = |grid: &'static str| vec!["regrid", name, "--to", grid, "-o", "out.nc"];
    let with = |more: &[&'static str]| [&to("latlon:5x5")[..], more].concat();
    refused(dir.path(), &["regrid", "none.nc", "--to", "c6", "-o", "out.nc"], &["none.nc: no such file"]);
    refused(dir.path(), &to("latlon:7x5"), &["grid 'latlon:7x5'", "7 degrees do not divide", "grids are c24"]);
    refused(dir.path(), &to("octahedral:o8"), &["neither a lat-lon grid nor a cubed sphere"]);
    refused(dir.path(), &with(&["--var", "co2_colum_mean"]), &["no variable `co2_colum_mean`", "co2_column_mean"]);
    refused(dir.path(), &with(&["--var", "time"]), &["`time` has no value per cell", "(time)"]);
    refused(dir.path(), &with(&["--amount", "co2", "--mean", "co2"]), &["both an amount and a mean"]);
    refused(dir.path(), &["regrid", name, "--to", "c6", "-o", name], &["would overwrite"]);
    gchp(dir.path(), 0.0);
    for args in [
        &["regrid", name, "--to", "gchp.nc4", "-o", "gchp.nc4"][..],
        &["weights", "--from", "gchp.nc4", "--to", "latlon:5x5", "-o", "gchp.nc4"],
        &["weights", "--from", "latlon:5x5", "--to", "gchp.nc4", "-o", "gchp.nc4"],
    ] {
        refused(dir.path(), args, &["gchp.nc4: the result would overwrite", "choose another path"]);
    }
    std::fs::write(dir.path().join("text.nc"), "no netcdf").unwrap();
    refused(dir.path(), &["regrid", "text.nc", "--to", "c6", "-o", "out.nc"], &["text.nc: cannot be opened as NetCDF"]);
    refused(dir.path(), &["weights", "--from", "c6", "--to", "text.nc", "-o", "out.nc"], &["text.nc"]);
    let mut odd = netcdf::create(dir.path().join("odd.nc")).unwrap();
    for (axis, values) in [("lat", [10.0, 20.0, 50.0]), ("lon", [0.0, 120.0, 240.0])] {
        odd.add_dimension(axis, 3).unwrap();
        odd.add_variable::<f64>(axis, &[axis]).unwrap().put_values(&values, ..).unwrap();
    }
    odd.add_variable::<f64>("v", &["lat", "lon"]).unwrap().put_values(&[1.0; 9], ..).unwrap();
    odd.close().unwrap();
    let words = ["odd.nc: latitude: centre 2 lies at 20", "centres of the cells in degrees"];
    refused(dir.path(), &["regrid", "odd.nc", "--to", "c6", "-o", "out.nc"], &words);
    assert!(!dir.path().join("out.nc").exists());
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(".part")), "{left:?}");
}

/// A file of 4 x 3 cells with a variable of this type, spoilt by `change`.
fn small<T: netcdf::NcTypeDescriptor + Copy>(path: &Path, values: [T; 12], change: impl FnOnce(&mut netcdf::FileMut)) {
    let mut file = netcdf::create(path).unwrap();
    for (name, units, values) in
        [("lat", "degrees_north", &[-60.0, 0.0, 60.0][..]), ("lon", "degrees_east", &[0.0, 90.0, 180.0, 270.0])]
    {
        file.add_dimension(name, values.len()).unwrap();
        let mut variable = file.add_variable::<f64>(name, &[name]).unwrap();
        variable.put_attribute("units", units).unwrap();
        variable.put_values(values, ..).unwrap();
    }
    file.add_variable::<T>("v", &["lat", "lon"]).unwrap().put_values(&values, ..).unwrap();
    change(&mut file);
}

fn put(name: &str, key: &str, value: impl Into<netcdf::AttributeValue>) -> impl FnOnce(&mut netcdf::FileMut) {
    move |file| {
        file.variable_mut(name).unwrap().put_attribute(key, value.into()).unwrap();
    }
}

#[test]
fn what_no_file_can_hold_is_refused() {
    let (_alone, dir) = alone();
    let path = dir.path().join("v.nc");
    let refuse = |parts: &[&str]| {
        refused(dir.path(), &["regrid", "v.nc", "--to", "latlon:30x30", "-o", "out.nc"], parts);
        assert!(!dir.path().join("out.nc").exists());
    };
    let mut values = [1.0f32; 12];
    for (infinite, name) in [(f32::INFINITY, "inf"), (f32::NEG_INFINITY, "-inf")] {
        values[6] = infinite;
        small(&path, values, |_| {});
        refuse(&["v.nc: ", &format!("'v' is {name} at lat 2, lon 3"), "mend the file"]);
    }
    // Packed integers become single precision.
    small(&path, [1i32, 1, 1, 1, 1, 2_000_000_000, 1, 1, 1, 1, 1, 1], put("v", "scale_factor", 1e30f64));
    refuse(&["v.nc: 'v' becomes ", "e39 at lat ", "too large for single precision", "in double precision"]);
    small(&path, [1f32; 12], put("v", "scale_factor", 0f64));
    refuse(&["v.nc: 'scale_factor' of 'v' is 0", "mend the attribute"]);
    small(&path, [1f32; 12], put("v", "_Unsigned", "perhaps"));
    refuse(&["'_Unsigned' of 'v' is \"perhaps\""]);
    small(&path, [1f32; 12], put("lat", "units", "radians"));
    refuse(&["v.nc: 'lat' has units 'radians', expected degrees_north", "convert"]);
    small(&path, [1f32; 12], put("lat", "scale_factor", f64::NAN));
    refuse(&["v.nc: 'scale_factor' of 'lat' is NaN"]);
    small(&path, [1f32; 12], |file| {
        file.variable_mut("lon").unwrap().put_values(&[0.0, 120.0, 240.0, 360.0], ..).unwrap()
    });
    refuse(&["centres 1 and 4 are the same place", "leave out the last column"]);
    small(&path, [1f32; 12], |file| file.variable_mut("lat").unwrap().put_values(&[-95.0, 0.0, 95.0], ..).unwrap());
    refuse(&["v.nc: latitude: ", "beyond the pole", "in degrees"]);
}

/// Numbers beyond the valid range are missing, those of `_Unsigned` bytes reach 255; the new file has neither attribute.
#[test]
fn numbers_are_what_their_attributes_say() {
    let (_alone, dir) = alone();
    small(&dir.path().join("v.nc"), [-1i8, -1, -1, -1, 100, 100, 100, 100, 3, 3, 3, 3], |file| {
        let mut variable = file.variable_mut("v").unwrap();
        variable.put_attribute("_Unsigned", "true").unwrap();
        variable.put_attribute("valid_range", vec![4i8, -1]).unwrap();
        variable.put_attribute("scale_factor", 2f32).unwrap();
    });
    stdout_of(dir.path(), &["regrid", "v.nc", "--to", "latlon:60x90", "-o", "out.nc"]);
    let out = netcdf::open(dir.path().join("out.nc")).unwrap();
    let rows: Vec<f64> = values(&out, "v").chunks(4).map(|row| row[0]).collect();
    assert_eq!(rows, [510.0, 200.0, f64::from(1e15f32)]);
    let variable = out.variable("v").unwrap();
    assert!(["_Unsigned", "valid_range", "scale_factor"].iter().all(|key| variable.attribute(key).is_none()));
}

#[test]
fn truncated_files_are_refused_by_every_command() {
    let (_alone, dir) = alone();
    let file = written::<f32>(dir.path(), |_| {});
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(dir.path().join("cut.nc"), &bytes[..bytes.len() / 2]).unwrap();
    let mut classic = netcdf::create_with(dir.path().join("whole3.nc"), netcdf::Options::_64BIT_OFFSET).unwrap();
    classic.add_dimension("lat", 400).unwrap();
    classic.add_variable::<f64>("lat", &["lat"]).unwrap();
    classic.enddef().unwrap();
    classic.variable_mut("lat").unwrap().put_values(&[1.0; 400], ..).unwrap();
    classic.close().unwrap();
    let bytes = std::fs::read(dir.path().join("whole3.nc")).unwrap();
    std::fs::write(dir.path().join("cut3.nc"), &bytes[..bytes.len() - 8]).unwrap();
    for name in ["cut.nc", "cut3.nc"] {
        for args in [
            &["regrid", name, "--to", "c6", "-o", "out.nc"][..],
            &["weights", "--from", name, "--to", "c6", "-o", "out.nc"],
            &["regrid", file.to_str().unwrap(), "--to", name, "-o", "out.nc"],
            &["plot", name, "--var", "co2", "-o", "out.png"],
            &["diff", name, name],
        ] {
            refused(dir.path(), args, &[&format!("{name}: is truncated"), " bytes", "get the file again"]);
        }
    }
    refused(dir.path(), &["diff", "cut3.nc", "cut.nc"], &[&format!("'lat' ends at byte {}", bytes.len())]);
}

/// Files and folders that cannot be written are refused before any work, and nothing is left behind.
#[test]
fn targets_are_checked_before_any_work() {
    let (_alone, dir) = alone();
    small(&dir.path().join("v.nc"), [1.0f32; 12], |_| {});
    std::fs::write(dir.path().join("file"), "x").unwrap();
    std::fs::create_dir(dir.path().join("folder.nc")).unwrap();
    let regrid = ["regrid", "v.nc", "--to", "c6"];
    let weights = ["weights", "--from", "latlon:30x30", "--to", "c6"];
    for command in [&regrid[..], &weights] {
        for (more, parts) in [
            (&["-o", "no/such/x.nc"][..], ["no/such/x.nc: ", "there is no folder no/such; make it"]),
            (&["-o", "file/x.nc"], ["file/x.nc: ", "is no folder; name another"]),
            (&["-o", "folder.nc"], ["folder.nc: ", "a folder, not a regular file; name a file"]),
            (&["-o", "out.nc", "--weights-dir", "file"], ["file: ", "file is no folder; name another"]),
            (&["-o", "out.nc", "--weights-dir", "file/w"], ["file/w: ", "is no folder; name another"]),
        ] {
            let args = [command, more].concat();
            let output = atmostr(dir.path(), &args);
            let message = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{args:?}\n{message}");
            assert!(parts.iter().all(|part| message.contains(part)) && !message.contains(".part"), "{message}");
        }
    }
    let mut left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["file", "folder.nc", "v.nc"]);
}
