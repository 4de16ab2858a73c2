use std::path::{Path, PathBuf};

use super::*;

/// Longitudes and latitudes as they are stored: westwards from the date line, southwards.
const LON: [f64; 4] = [135.0, 45.0, -45.0, -135.0];
const LAT: [f64; 3] = [60.0, 0.0, -60.0];

/// Value of record `t`, level `k` at a place.
fn value(t: usize, k: usize, lat: f64, lon: f64) -> f64 {
    1000.0 * t as f64 + 100.0 * k as f64 + lat / 10.0 + lon / 1000.0
}

/// Writes a field of 2 records and 3 levels whose dimensions have this order: names of time, level, lat and lon.
fn write(path: &Path, order: &[&str], [time, level, lat, lon]: [&str; 4]) -> PathBuf {
    let mut file = netcdf::create(path).unwrap();
    let size = |name: &str| [(time, 2), (level, 3), (lat, 3), (lon, 4)].iter().find(|(n, _)| *n == name).unwrap().1;
    for name in order {
        file.add_dimension(name, size(name)).unwrap();
    }
    file.add_variable::<f64>(lon, &[lon]).unwrap().put_values(&LON, ..).unwrap();
    file.add_variable::<f64>(lat, &[lat]).unwrap().put_values(&LAT, ..).unwrap();
    let sizes: Vec<usize> = order.iter().map(|name| size(name)).collect();
    let count: usize = sizes.iter().product();
    let values: Vec<f64> = (0..count)
        .map(|n| {
            let mut rest = n;
            let mut index = |wanted: &str| {
                rest = n;
                for (name, size) in order.iter().zip(&sizes).rev() {
                    if *name == wanted {
                        return rest % size;
                    }
                    rest /= size;
                }
                0
            };
            value(index(time), index(level), LAT[index(lat)], LON[index(lon)])
        })
        .collect();
    let mut field = file.add_variable::<f64>("q", order).unwrap();
    field.put_attribute("units", "mol mol-1").unwrap();
    field.put_attribute("_FillValue", 1e30).unwrap();
    field.put_values(&values, ..).unwrap();
    path.to_path_buf()
}

fn expected(t: usize, levels: Range<usize>) -> Vec<f64> {
    let mut all = Vec::new();
    for k in levels {
        for lat in LAT.iter().rev() {
            all.extend(LON.iter().rev().map(|lon| value(t, k, *lat, *lon)));
        }
    }
    all
}

#[test]
fn every_order_of_dimensions_reads_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.nc");
    let usual = ["time", "lev", "lat", "lon"];
    for order in [["time", "lev", "lat", "lon"], ["time", "lev", "lon", "lat"], ["lon", "lat", "lev", "time"]] {
        let file = GriddedFile::open(&write(&path, &order, usual)).unwrap();
        let q = file.variable("q", &AxisNames::default()).unwrap();
        assert_eq!((q.levels(), q.times(), q.units().as_deref()), (3, 2, Some("mol mol-1")), "{order:?}");
        assert_eq!(q.read(1, 1..3, Missing::Refuse).unwrap(), expected(1, 1..3), "{order:?}");
        assert_eq!(q.read(0, 0..1, Missing::AsNan).unwrap(), expected(0, 0..1), "{order:?}");
    }
}

#[test]
fn records_and_levels_may_be_absent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.nc");
    let file = GriddedFile::open(&write(&path, &["lat", "lon"], ["time", "lev", "lat", "lon"])).unwrap();
    let q = file.variable("q", &AxisNames::default()).unwrap();
    assert!(!q.has_times() && q.levels() == 1);
    assert_eq!(q.read(0, 0..1, Missing::Refuse).unwrap(), expected(0, 0..1));
}

#[test]
fn names_of_axes_are_given_or_told_by_units() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.nc");
    let order = ["when", "where", "phi", "lambda"];
    write(&path, &order, order);
    let refused = GriddedFile::open(&path).unwrap().variable("q", &AxisNames::default()).unwrap_err();
    assert!(refused.to_string().contains("'when' of length 2, whose meaning is not known"), "{refused}");
    let names = AxisNames::default().with_time("When").with_level("where").with_lat("phi").with_lon("lambda");
    let file = GriddedFile::open(&path).unwrap();
    assert_eq!(file.variable("q", &names).unwrap().read(1, 0..3, Missing::Refuse).unwrap(), expected(1, 0..3));
    drop(file);
    let mut file = netcdf::append(&path).unwrap();
    for (name, units) in [("phi", "degrees_north"), ("lambda", "degrees_east")] {
        file.variable_mut(name).unwrap().put_attribute("units", units).unwrap();
    }
    drop(file);
    let file = GriddedFile::open(&path).unwrap();
    let names = AxisNames::default().with_time("when").with_level("where");
    assert_eq!(file.variable("q", &names).unwrap().read(1, 0..3, Missing::Refuse).unwrap(), expected(1, 0..3));
}

#[test]
fn missing_values_are_named_or_become_nan() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.nc");
    write(&path, &["time", "lev", "lon", "lat"], ["time", "lev", "lat", "lon"]);
    let mut file = netcdf::append(&path).unwrap();
    file.variable_mut("q").unwrap().put_value(1e30, [1, 2, 3, 0]).unwrap();
    drop(file);
    let file = GriddedFile::open(&path).unwrap();
    let q = file.variable("q", &AxisNames::default()).unwrap();
    let refused = q.read(1, 1..3, Missing::Refuse).unwrap_err();
    assert!(refused.to_string().contains("'q' has no value at time 2, level 3, longitude 4, latitude 1"), "{refused}");
    let read = q.read(1, 1..3, Missing::AsNan).unwrap();
    // Northernmost row, westernmost cell of the last level.
    let at = 3 * 4 + 2 * 4;
    assert!(read.iter().enumerate().all(|(n, v)| v.is_nan() == (n == at)), "{read:?}");
}

#[test]
fn groups_are_addressed_by_their_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.nc");
    let mut file = netcdf::create(&path).unwrap();
    file.add_dimension("lat", 3).unwrap();
    file.add_dimension("lon", 4).unwrap();
    file.add_variable::<f32>("lat", &["lat"]).unwrap().put_values(&LAT.map(|x| x as f32), ..).unwrap();
    file.add_variable::<f32>("lon", &["lon"]).unwrap().put_values(&LON.map(|x| x as f32), ..).unwrap();
    let mut group = file.add_group("CO2").unwrap();
    let mut total = group.add_variable::<i16>("TOTAL", &["lat", "lon"]).unwrap();
    total.put_attribute("scale_factor", 0.5).unwrap();
    total.put_values(&std::array::from_fn::<i16, 12, _>(|n| n as i16), ..).unwrap();
    drop(file);
    let file = GriddedFile::open(&path).unwrap();
    assert_eq!(file.variable_names(), ["lat", "lon", "CO2/TOTAL"]);
    let total = file.variable("CO2/TOTAL", &AxisNames::default()).unwrap();
    let halves: Vec<f64> = (0..12).rev().map(|n| 0.5 * f64::from(n)).collect();
    assert_eq!(total.read(0, 0..1, Missing::Refuse).unwrap(), halves);
    let absent = file.variable("TOTAL", &AxisNames::default()).unwrap_err();
    assert!(absent.to_string().contains("it holds lat, lon, CO2/TOTAL"), "{absent}");
}

#[test]
fn axes_that_turn_back_are_refused_with_their_place() {
    for (role, centres, part) in [
        (Role::Lat, &[-60.0, 0.0, 0.0][..], "value 3 is 0, the one before it 0"),
        (Role::Lat, &[60.0, 0.0, 30.0], "value 3 is 30, the one before it 0"),
        (Role::Lat, &[0.0, 91.0], "is 91 degrees at 2"),
        (Role::Lon, &[0.0, 90.0, 45.0], "value 3 is 45, the one before it 90"),
        (Role::Lon, &[170.0, -170.0, 170.0, -170.0], "value 4 is -170"),
    ] {
        let problem = check_axis(role, centres).unwrap_err();
        assert!(problem.contains(part), "{centres:?}: {problem}");
    }
    for centres in [&[0.0, 90.0, 180.0, -90.0][..], &[45.0, -45.0, -135.0, 135.0], &[7.0]] {
        check_axis(Role::Lon, centres).unwrap();
    }
}

#[test]
fn times_are_seconds_from_an_origin() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.nc");
    let mut file = netcdf::create(&path).unwrap();
    file.add_dimension("time", 3).unwrap();
    let mut time = file.add_variable::<f64>("time", &["time"]).unwrap();
    time.put_attribute("units", "days since 2021-12-01").unwrap();
    time.put_values(&[0.0, 0.5, 31.0], ..).unwrap();
    let mut bad = file.add_variable::<f64>("bad", &["time"]).unwrap();
    bad.put_attribute("units", "days since 2021-12-01").unwrap();
    bad.put_values(&[0.0, 0.5, 0.5], ..).unwrap();
    drop(file);
    let file = GriddedFile::open(&path).unwrap();
    let origin = "2021-12-01T06:00:00Z".parse().unwrap();
    assert_eq!(file.times("time", origin).unwrap(), [-21_600.0, 21_600.0, 31.0 * 86_400.0 - 21_600.0]);
    let refused = file.times("bad", origin).unwrap_err();
    assert!(
        refused.to_string().ends_with("'bad' does not increase: value 3 is 0.5, the one before it 0.5"),
        "{refused}"
    );
}

#[test]
fn infinite_values_are_errors_and_invalid_ones_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.nc");
    write(&path, &["time", "lev", "lat", "lon"], ["time", "lev", "lat", "lon"]);
    let mut file = netcdf::append(&path).unwrap();
    let mut field = file.variable_mut("q").unwrap();
    // The largest of record 2 and level 3 is 1206.135.
    field.put_attribute("valid_max", 1206.0).unwrap();
    field.put_value(f64::NEG_INFINITY, [0, 1, 2, 3]).unwrap();
    drop(file);
    let file = GriddedFile::open(&path).unwrap();
    let q = file.variable("q", &AxisNames::default()).unwrap();
    for missing in [Missing::Refuse, Missing::AsNan] {
        let refused = q.read(0, 0..3, missing).unwrap_err();
        let place = "q.nc: 'q' is -inf at time 1, level 2, latitude 3, longitude 4";
        assert!(refused.to_string().ends_with(place) && refused.help().contains("mend the file"), "{refused}");
    }
    let refused = q.read(1, 2..3, Missing::Refuse).unwrap_err().to_string();
    assert!(refused.contains("latitude 1, longitude 1: 1206.135 is outside its valid range -inf to 1206"), "{refused}");
    let invalid = q.read(1, 2..3, Missing::AsNan).unwrap();
    assert!(invalid.iter().zip(expected(1, 2..3)).all(|(v, e)| if e > 1206.0 { v.is_nan() } else { *v == e }));
    assert_eq!(invalid.iter().filter(|v| v.is_nan()).count(), 2);
}

#[test]
fn coordinates_and_attributes_without_sense_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.nc");
    let refused = |variable: &str, key: &str, value: netcdf::AttributeValue, parts: &[&str]| {
        write(&path, &["time", "lev", "lat", "lon"], ["time", "lev", "lat", "lon"]);
        let mut file = netcdf::append(&path).unwrap();
        file.variable_mut(variable).unwrap().put_attribute(key, value).unwrap();
        drop(file);
        let file = GriddedFile::open(&path).unwrap();
        let error = file.variable("q", &AxisNames::default()).unwrap_err();
        let text = format!("{error}; {}", error.help());
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    };
    refused("lon", "units", "radians".into(), &["q.nc: 'lon' has units 'radians'", "degrees_east", "convert"]);
    refused("lat", "units", "m".into(), &["q.nc: 'lat' has units 'm'", "degrees_north"]);
    refused("q", "scale_factor", 0f64.into(), &["q.nc: 'scale_factor' of 'q' is 0", "mend the attribute"]);
    refused("lat", "scale_factor", 2f64.into(), &["q.nc: 'lat' is 120 degrees at 1, beyond 90", "degrees"]);
}

#[test]
fn longitudes_that_are_there_twice_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.nc");
    for lon in [[0.0, 120.0, 240.0, 360.0], [180.0, 60.0, -60.0, -180.0]] {
        let mut file = netcdf::create(&path).unwrap();
        for (name, values) in [("lat", &LAT[..]), ("lon", &lon)] {
            file.add_dimension(name, values.len()).unwrap();
            file.add_variable::<f64>(name, &[name]).unwrap().put_values(values, ..).unwrap();
        }
        file.add_variable::<f64>("q", &["lat", "lon"]).unwrap().put_values(&[1.0; 12], ..).unwrap();
        drop(file);
        let file = GriddedFile::open(&path).unwrap();
        let refused = file.variable("q", &AxisNames::default()).unwrap_err().to_string();
        assert!(
            refused.contains("centres 1 and 4 are the same place") && refused.contains("leave out the last"),
            "{refused}"
        );
    }
}
