//! Archives that cannot be used.

use std::path::Path;

use atmostr::grid::HybridCoordinate;
use atmostr::preprocess::readers::PhysicsGroup;
use atmostr::preprocess::readers::era5::Era5Reader;
use atmostr::preprocess::{MetReader, PreprocessError, Stages, Target, Transform};

use crate::archive::{Archive, Atmosphere, LEVELS, STILL, constant, day, stamp};
use crate::fluxes::{FLUXES, target};

const ALL: [PhysicsGroup; 4] =
    [PhysicsGroup::Surface, PhysicsGroup::Convection, PhysicsGroup::Vdiff, PhysicsGroup::Tm5Exchange];

/// The error of the first window.
fn refused(archive: &Archive, target: &Target, physics: &[PhysicsGroup]) -> String {
    let reader = Era5Reader::new(target, archive.source(physics), None, &Transform::Identity, FLUXES, 24, day(0));
    let window = |mut reader: Era5Reader<'_>| reader.window(day(0), 0, &mut Stages::default());
    let error: PreprocessError = reader.and_then(window).expect_err("must be refused");
    error.to_string()
}

fn core(archive: &Archive) -> std::path::PathBuf {
    archive.root.join(format!("ml_an_native_core/era5_core_{}.grib", stamp(0)))
}

/// Bytes of all messages of a file, in order.
fn messages(path: &Path) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(path).unwrap();
    let mut all = Vec::new();
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let length = u64::from_be_bytes(rest[8..16].try_into().unwrap()) as usize;
        all.push(rest[..length].to_vec());
        rest = &rest[length..];
    }
    all
}

/// Messages of an hour of the core: lnsp, then vo, d, t and q of every level.
const VO: usize = 1;
const D: usize = 2;
const Q: usize = 4;
fn message(field: usize, level: usize) -> usize {
    field + 4 * level
}

#[test]
fn what_is_missing_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::new(dir.path(), STILL);
    let target = target(2);
    let error = refused(&archive, &target, &[]);
    assert!(error.contains("2021-12-01: no file of winds, humidity and pressure"), "{error}");
    assert!(error.contains("ml_an_native_core/era5_core_20211201.grib"), "{error}");
    archive.core(0, 0..2);
    let whole = messages(&core(&archive));
    for (field, level, words) in
        [(D, 2, "no d on level 3 at 2021-12-01 00 UTC"), (Q, 4, "no q on level 5"), (VO, 1, "no vo on level 2")]
    {
        let mut some = whole.clone();
        some.remove(message(field, level));
        std::fs::write(core(&archive), some.concat()).unwrap();
        let error = refused(&archive, &target, &[]);
        assert!(error.contains("era5_core_20211201.grib") && error.contains(words), "{error}");
    }
    // The second hour, in one message less.
    std::fs::write(core(&archive), whole[..whole.len() - 1].concat()).unwrap();
    let error = refused(&archive, &target, &[]);
    assert!(error.contains("no q on level 5 at 2021-12-01 01 UTC"), "{error}");
    std::fs::write(core(&archive), whole.concat()).unwrap();
    let error = refused(&archive, &target, &[PhysicsGroup::Convection]);
    assert!(error.contains("2021-11-30: no file of convection"), "{error}");
    let error = refused(&archive, &target, &[PhysicsGroup::Surface]);
    assert!(error.contains("no file of the surface") && error.contains("era5_surface_20211201.nc"), "{error}");
}

#[test]
fn what_is_there_twice_or_cut_short_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::new(dir.path(), STILL);
    let target = target(2);
    archive.core(0, 0..2);
    let whole = messages(&core(&archive));
    std::fs::write(core(&archive), [whole.concat(), whole[message(D, 1)].clone()].concat()).unwrap();
    let error = refused(&archive, &target, &[]);
    assert!(error.contains("d on level 2 at 2021-12-01 00 UTC is in message 7 and again in message 43"), "{error}");
    let cut = whole.concat();
    std::fs::write(core(&archive), &cut[..cut.len() - 100]).unwrap();
    let error = refused(&archive, &target, &[]);
    assert!(error.contains("message 42 at byte") && error.contains("fetch it again"), "{error}");
    std::fs::write(core(&archive), whole.concat()).unwrap();
    std::fs::copy(core(&archive), archive.root.join(format!("era5_core_{}.grib", stamp(0)))).unwrap();
    assert!(refused(&archive, &target, &[]).contains("also in"));
}

#[test]
fn fields_that_no_atmosphere_has_are_refused() {
    let target = target(2);
    let cases: [(Atmosphere, &str); 5] = [
        (Atmosphere { log_pressure: |_| constant(1000f64.ln()), ..STILL }, "the exponential of lnsp"),
        (Atmosphere { humidity: |k, _, _, _| if k == 3 { 5.0 } else { 0.0 }, ..STILL }, "q on level 4"),
        (Atmosphere { temperature: |k, _| constant(if k == 1 { 20.0 } else { 250.0 }), ..STILL }, "t on level 2"),
        (
            Atmosphere { vorticity: |k, _| crate::archive::rotation(900.0 * k as f64, 0.0), ..STILL },
            "wind of vo and d on level 2",
        ),
        (Atmosphere { convection: |_, _| [2e3, 0.0, 0.0, 0.0], ..STILL }, "avg_umf on level 1"),
    ];
    for (atmosphere, words) in cases {
        let dir = tempfile::tempdir().unwrap();
        let archive = Archive::new(dir.path(), atmosphere);
        archive.core(0, 0..2);
        archive.convection(-1);
        archive.surface(0);
        let error = refused(&archive, &target, &ALL);
        assert!(error.contains(words), "{words}: {error}");
    }
}

#[test]
fn fields_on_other_grids_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::new(dir.path(), STILL);
    archive.core(0, 0..2);
    let target = target(2);
    let other = Archive { pairs: 12, ..Archive::new(dir.path(), STILL) };
    let mut some = messages(&core(&archive));
    some[message(Q, 3)] = other.gaussian(133, 0, 0, 3, |_, _| 0.0);
    std::fs::write(core(&archive), some.concat()).unwrap();
    let error = refused(&archive, &target, &[]);
    assert!(error.contains("q on level 4") && error.contains("not on the Gaussian grid N16"), "{error}");
    some[message(Q, 3)] = archive.gaussian(133, 0, 0, 3, |_, _| 0.0);
    some[message(VO, 1)] = archive.gaussian(138, 0, 0, 1, |_, _| 0.0);
    std::fs::write(core(&archive), some.concat()).unwrap();
    let error = refused(&archive, &target, &[]);
    assert!(error.contains("vo on level 2") && error.contains("spherical harmonics"), "{error}");
}

#[test]
fn given_levels_must_be_those_of_the_fields() {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::new(dir.path(), STILL);
    archive.core(0, 0..1);
    let target = target(2);
    let with = |given: HybridCoordinate| {
        Era5Reader::new(&target, archive.source(&[]), Some(given), &Transform::Identity, FLUXES, 24, day(0)).map(|_| ())
    };
    let right = Archive::coordinate();
    with(right.clone()).unwrap();
    let mut a = right.a().to_vec();
    a[2] += 0.5;
    let error = with(HybridCoordinate::new(a, right.b().to_vec()).unwrap()).unwrap_err().to_string();
    assert!(error.contains("interface 3 has A = 8000 Pa") && error.contains("vertical.levels"), "{error}");
    let error = with(HybridCoordinate::ifs_l137()).unwrap_err().to_string();
    assert!(error.contains(&format!("the fields have {LEVELS} levels, 137 are given")), "{error}");
}

/// Pitfall T40-2: convection in the upper half of the layers.
#[test]
fn convection_upside_down_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let wrong = Atmosphere {
        convection: |k, _| [[0.0, 0.02, 0.01, 0.0, 0.0][k], 0.0, [2e-6, 1e-6, 0.0, 0.0, 0.0][k], 0.0],
        ..STILL
    };
    let archive = Archive::new(dir.path(), wrong);
    archive.core(0, 0..2);
    archive.convection(-1);
    let error = refused(&archive, &target(2), &[PhysicsGroup::Convection]);
    assert!(error.contains("era5_convection_20211130.grib") && error.contains("upper half"), "{error}");
}

/// Means and sums over other times than an hour.
#[test]
fn sums_over_several_hours_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::new(dir.path(), STILL);
    archive.core(0, 0..2);
    archive.convection(-1);
    let path = archive.root.join(format!("ml_fc_convection/era5_convection_{}.grib", stamp(-1)));
    let mut all = messages(&path);
    // The forecast of 18 UTC after 7 h: twelve steps of the first forecast and six of the second are before it.
    let place = (12 + 6) * 4 * LEVELS;
    all[place] = archive.forecast_from(235_009, -1, 18, 4, 7, 0, 0.0);
    std::fs::write(&path, all.concat()).unwrap();
    let error = refused(&archive, &target(2), &[PhysicsGroup::Convection]);
    assert!(error.contains("avg_umf on level 1") && error.contains("a mean from 4 to 7 h"), "{error}");
}
