//! Input that cannot be right is refused with exit code 2, by name, and nothing that existed is damaged.

use std::path::Path;

use crate::support::{alone, atmostr};
use crate::winds::{PS, U, Winds, as_classic, configuration};

/// Writes winds spoilt by `change`, prepares a day and expects a refusal that names all parts. A file of that day that was there
/// before must stay as it was.
fn refused(winds: &Winds, change: impl FnOnce(&mut netcdf::FileMut), source: &str, day: &str, parts: &[&str]) {
    let (_guard, dir) = alone();
    winds.write(&dir.path().join("winds.nc"), change);
    refused_in(dir.path(), source, day, parts);
}

fn refused_in(dir: &Path, source: &str, day: &str, parts: &[&str]) {
    std::fs::write(dir.join("met.toml"), configuration(source, "")).unwrap();
    std::fs::create_dir_all(dir.join("out")).unwrap();
    let old = dir.join("out").join(format!("{}.bin", day.replace('-', "")));
    std::fs::write(&old, "older").unwrap();
    atmostr(dir, &["preprocess", "met.toml", "--day", day, "--replace"]).refuse(parts);
    assert_eq!(std::fs::read_to_string(old).unwrap(), "older");
    let left: Vec<_> = std::fs::read_dir(dir.join("out")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains(".part")), "{left:?}");
}

const DAY: &str = "2000-01-01";

#[test]
fn variables_and_units() {
    let winds = Winds::default();
    refused(&winds, |_| {}, "[source.variables]\nu = \"uwind\"", DAY, &["winds.nc", "no variable 'uwind'", "u, v"]);
    let units = |name: &'static str, units: &'static str| {
        move |file: &mut netcdf::FileMut| {
            file.variable_mut(name).unwrap().put_attribute("units", units).unwrap();
        }
    };
    refused(&winds, units(PS, "inHg"), "", DAY, &["winds.nc", "'ps' has units 'inHg'", "Pa or hPa"]);
    refused(&winds, units(U, "knots"), "", DAY, &["'u' has units 'knots'", "m s-1"]);
    // Stored in Pa, called hPa.
    refused(&winds, units(PS, "hPa"), "", DAY, &["'ps' is 10000000", "latitude 1 of 19", "300 to 1200 hPa"]);
    refused(&winds, units("lev", "m"), "", DAY, &["'lev' has units 'm'", "[source.levels]"]);
}

#[test]
fn values_that_are_missing_or_impossible() {
    let winds = Winds::default();
    let spoil = |name: &'static str, value: f64, at: &'static [usize]| {
        move |file: &mut netcdf::FileMut| {
            let extents: Vec<netcdf::Extent> = at.iter().map(|n| (*n..n + 1).into()).collect();
            file.variable_mut(name).unwrap().put_values(&[value], extents).unwrap();
        }
    };
    refused(&winds, spoil(PS, f64::NAN, &[1, 3, 5]), "", DAY, &["winds.nc", "ps", "2", "4", "6"]);
    refused(
        &winds,
        spoil(PS, 2e4, &[0, 18, 35]),
        "",
        DAY,
        &["'ps' is 20000", "latitude 19 of 19", "longitude 36 of 36"],
    );
    for (infinite, name) in [(f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        let place = "at time 1, level 3, latitude 5, longitude 6";
        refused(
            &winds,
            spoil(U, infinite, &[0, 2, 4, 5]),
            "",
            DAY,
            &["winds.nc", &format!("'u' is {name} {place}"), "mend"],
        );
    }
    refused(&winds, spoil(U, 900.0, &[0, 2, 4, 4]), "", DAY, &["'u' is 900", "level 3", "within 500 m/s"]);
    let hole = |file: &mut netcdf::FileMut| {
        let extents: [netcdf::Extent; 4] = [(0..1).into(), (0..4).into(), (4..5).into(), (6..7).into()];
        file.variable_mut(U).unwrap().put_values(&[f64::NAN; 4], extents).unwrap();
    };
    refused(&winds, hole, "", DAY, &["no level above the ground has a value", "row 5 from the south, column 7"]);
}

/// What a file says of its numbers is not ignored: numbers that are not valid are missing, those of a scale of 0 are none.
#[test]
fn attributes_of_values() {
    let winds = Winds::default();
    let with = |name: &'static str, key: &'static str, value: netcdf::AttributeValue| {
        move |file: &mut netcdf::FileMut| {
            file.variable_mut(name).unwrap().put_attribute(key, value).unwrap();
        }
    };
    let range = vec![9.9e4, 9.99e4].into();
    refused(&winds, with(PS, "valid_range", range), "", DAY, &["winds.nc", "'ps' has no value", "100000 is outside"]);
    refused(&winds, with(U, "scale_factor", 0f64.into()), "", DAY, &["winds.nc: 'scale_factor' of 'u' is 0", "mend"]);
    refused(&winds, with(U, "add_offset", f64::NAN.into()), "", DAY, &["winds.nc: 'add_offset' of 'u' is NaN"]);
    refused(&winds, with(U, "_Unsigned", "true".into()), "", DAY, &["'_Unsigned' of 'u'", "no integers"]);
    refused(
        &winds,
        with("lon", "units", "radians".into()),
        "",
        DAY,
        &["winds.nc: 'lon' has units 'radians'", "convert"],
    );
}

#[test]
fn names_of_dimensions_that_are_not_there() {
    let winds = Winds::default();
    for (key, words) in [("longitude", "longitude"), ("latitude", "latitude"), ("level", "level"), ("time", "time")] {
        let lines = format!("[source.dimensions]\n{key} = \"foo\"");
        let parts = ["winds.nc", "'foo'", words, "the dimensions are lat, lev, lon, time"];
        refused(&winds, |_| {}, &lines, DAY, &parts);
    }
}

/// Every format in which the library would read zeros past the end.
#[test]
fn truncated_files() {
    let options = [netcdf::Options::empty(), netcdf::Options::_64BIT_OFFSET, netcdf::Options::_64BIT_DATA];
    for options in options.into_iter().map(Some).chain([None]) {
        let (_guard, dir) = alone();
        let path = dir.path().join("winds.nc");
        Winds::default().write(&path, |_| {});
        if let Some(options) = options {
            as_classic(&path, options);
        }
        let length = std::fs::metadata(&path).unwrap().len();
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length - 5000).unwrap();
        let bytes = format!("{} bytes", length - 5000);
        refused_in(dir.path(), "", DAY, &["winds.nc: is truncated", &bytes, "get the file again"]);
    }
}

#[test]
fn a_folder_where_a_file_is_to_be() {
    let (_guard, dir) = alone();
    Winds::default().write(&dir.path().join("winds.nc"), |_| {});
    std::fs::write(dir.path().join("met.toml"), configuration("", "")).unwrap();
    std::fs::create_dir_all(dir.path().join("out/20000101.bin")).unwrap();
    for more in [&["--replace"][..], &[]] {
        let args = [&["preprocess", "met.toml", "--day", DAY], more].concat();
        atmostr(dir.path(), &args).refuse(&["20000101.bin: this is a folder", "move what is there"]);
    }
}

#[test]
fn axes_that_are_not_in_order() {
    let winds = |change: fn(&mut Winds)| {
        let mut winds = Winds::default();
        change(&mut winds);
        winds
    };
    let plain = |_: &mut netcdf::FileMut| {};
    refused(&winds(|w| w.levels.swap(1, 2)), plain, "", DAY, &["level", "out of order"]);
    refused(&winds(|w| w.lat.swap(1, 2)), plain, "", DAY, &["winds.nc", "lat"]);
    refused(
        &winds(|w| w.lon.push(360.0)),
        plain,
        "",
        DAY,
        &["winds.nc", "centres 1 and 37 are the same place", "leave out"],
    );
    refused(&winds(|w| w.lon[5] = 47.0), plain, "", DAY, &["winds.nc", "lon"]);
    refused(&winds(|w| w.times.swap(1, 2)), plain, "", DAY, &["winds.nc", "time"]);
    refused(&winds(|_| {}), plain, "level_order = \"toa_first\"", DAY, &["toa_first", "pressures fall"]);
    // Part of the globe.
    refused(&winds(|w| w.lat.truncate(15)), plain, "", DAY, &["does not cover", "whole globe"]);
}

#[test]
fn days_and_files_that_are_absent_or_twice_there() {
    let winds = Winds::default();
    let plain = |_: &mut netcdf::FileMut| {};
    refused(&winds, plain, "", "2000-01-03", &["2000-01-03", "the states reach from 2000-01-01", "add files"]);
    refused(&winds, plain, "", "1999-12-31", &["1999-12-31"]);
    let (_guard, dir) = alone();
    winds.write(&dir.path().join("winds.nc"), plain);
    std::fs::copy(dir.path().join("winds.nc"), dir.path().join("copy.nc")).unwrap();
    let twice = "files = [\"winds.nc\", \"copy.nc\"]";
    refused_in(dir.path(), twice, DAY, &["the same time", "record 1", "winds.nc", "copy.nc"]);
}

/// What makes a file unlike the first.
type Change = fn(&mut Winds);

/// Every file of a variable has to lie on the grid and the levels of the first: what is read with those of another file is
/// wrong without a sign.
#[test]
fn later_files_on_other_grids_or_levels() {
    let later = |change: Change| {
        let mut winds = Winds { times: vec![24.0, 30.0, 36.0, 42.0, 48.0], ..Winds::default() };
        change(&mut winds);
        winds
    };
    let first = Winds { times: vec![0.0, 6.0, 12.0, 18.0], ..Winds::default() };
    let both = "files = [\"winds.nc\", \"later.nc\"]";
    let cases: [(Change, &str); 5] = [
        (|w| w.lat = (0..10).map(|j| -90.0 + 20.0 * f64::from(j)).collect(), "another grid"),
        (|w| w.lon.iter_mut().for_each(|lon| *lon -= 180.0), "another grid"),
        (|w| w.levels.truncate(3), "3 levels"),
        (|w| w.levels.reverse(), "another order"),
        (|w| w.levels[1] = 750.0, "other levels"),
    ];
    for (change, part) in cases {
        let (_guard, dir) = alone();
        first.write(&dir.path().join("winds.nc"), |_| {});
        later(change).write(&dir.path().join("later.nc"), |_| {});
        refused_in(dir.path(), both, DAY, &["later.nc", part]);
    }
    let (_guard, dir) = alone();
    first.write(&dir.path().join("winds.nc"), |_| {});
    later(|_| {}).write(&dir.path().join("later.nc"), |_| {});
    std::fs::write(dir.path().join("met.toml"), configuration(both, "")).unwrap();
    atmostr(dir.path(), &["preprocess", "met.toml", "--day", DAY]).succeed();
}

#[test]
fn levels_in_other_units_or_of_another_kind() {
    let winds = Winds::default();
    let pascal = |file: &mut netcdf::FileMut| {
        file.variable_mut("lev").unwrap().put_attribute("units", "Pa").unwrap();
    };
    refused(&winds, pascal, "", DAY, &["all levels lie above", "units"]);
    refused(&winds, |_| {}, "[source.levels]\nkind = \"sigma\"", DAY, &["level 1 lies at", "kind and units"]);
    refused(&Winds { levels: vec![500.0], ..Winds::default() }, |_| {}, "", DAY, &["at least two"]);
}

/// A day that fails records no global mass for the days to come.
#[test]
fn a_failed_day_leaves_no_campaign() {
    let (_guard, dir) = alone();
    Winds::default().write(&dir.path().join("winds.nc"), |file| {
        let extents: [netcdf::Extent; 4] = [(1..2).into(), (0..1).into(), (0..1).into(), (0..1).into()];
        file.variable_mut(U).unwrap().put_values(&[900.0], extents).unwrap();
    });
    refused_in(dir.path(), "", DAY, &["'u' is 900"]);
    assert!(!dir.path().join("out/campaign.toml").exists());
    // A record of other air is not used for an archive that it cannot belong to.
    Winds::default().write(&dir.path().join("winds.nc"), |_| {});
    let record = "mean_dry_surface_pressure_pa = 90000.0\nmeasured_at = \"1999\"\nsource = \"other\"\n";
    std::fs::write(dir.path().join("out/campaign.toml"), record).unwrap();
    refused_in(dir.path(), "", DAY, &["the target 90000.0 Pa", "campaign_file"]);
}

/// What can be known before the first day is worked on is said then.
#[test]
fn nothing_is_begun_that_cannot_be_finished() {
    let (_guard, dir) = alone();
    let dir = dir.path();
    Winds::default().write(&dir.join("winds.nc"), |_| {});
    let refused = |config: String, range: [&str; 2], parts: &[&str]| {
        std::fs::write(dir.join("met.toml"), config).unwrap();
        atmostr(dir, &["preprocess", "met.toml", "--start", range[0], "--end", range[1]]).refuse(parts);
        assert!(!dir.join("out").exists());
    };
    let parts = ["2000-01-", "is needed", "the states reach from", "add files"];
    refused(configuration("", ""), ["2000-01-01", "2000-01-20"], &parts);
    let large = configuration("", "").replace("nc = 12", "nc = 5760");
    assert!(large.contains("nc = 5760"), "{large}");
    refused(large, ["2000-01-01", "2000-01-01"], &["met.toml", "grid.nc", "memory", "choose fewer cells"]);
    let mass = configuration("", "[mass_fix]\nmode = \"target_ps_dry\"\ntarget_total_kg = 1\n");
    refused(mass, ["2000-01-01", "2000-01-01"], &["target_total_kg"]);
}

#[test]
fn winds_that_nothing_balances_say_which_key_decides() {
    let (_guard, dir) = alone();
    Winds::default().write(&dir.path().join("winds.nc"), |_| {});
    let config = configuration("", "[fluxes]\nbalance_mode = \"none\"\n");
    std::fs::write(dir.path().join("met.toml"), config).unwrap();
    atmostr(dir.path(), &["preprocess", "met.toml", "--day", DAY]).refuse(&["window 1", "fluxes.balance_mode"]);
}
