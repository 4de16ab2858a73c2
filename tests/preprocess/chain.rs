//! From made winds through preprocessing to a run.

use crate::support::{Config, alone, atmostr};
use crate::winds::{Winds, prepare};

/// A jet with a wave that grows and travels, and a surface pressure that does not know of it.
fn wave(lon: f64, lat: f64, p: f64, hours: f64) -> [f64; 2] {
    let (x, y) = ((3.0 * lon - 15.0 * hours).to_radians(), lat.to_radians());
    let shear = 1.2 - p / 1000.0;
    [30.0 * shear * y.cos() + 10.0 * (2.0 * y).sin() * x.sin(), 12.0 * shear * y.cos() * x.cos()]
}

fn pressure(lon: f64, lat: f64, hours: f64) -> f64 {
    let (x, y) = ((2.0 * lon + 5.0 * hours).to_radians(), lat.to_radians());
    9.8e4 + 1500.0 * y.cos().powi(2) * x.sin() + 4.0 * hours
}

/// Spec 40 §8, end to end: a day of C12 in double precision keeps the total of a uniform tracer to 1e-15, and the tracer
/// uniform to rounding, although winds and surface pressure do not fit each other.
#[test]
fn a_uniform_tracer_stays_uniform_in_prepared_winds() {
    let (_guard, dir) = alone();
    let winds = Winds { wind: wave, pressure, ..Winds::default() };
    prepare(dir.path(), &winds, "", "");
    atmostr(dir.path(), &["preprocess", "met.toml", "--start", "2000-01-01", "--end", "2000-01-02"]).succeed();
    let input = "binary_paths = [\"out/20000101.bin\", \"out/20000102.bin\"]\nvalidate_replay = true";
    let tracers = "[tracers.background]\nbackground = 4.0e-4\n";
    Config { input, tracers, ..Config::default() }.write(dir.path(), "run.toml");
    atmostr(dir.path(), &["run.toml"]).succeed();
    let file = netcdf::open(dir.path().join("out.nc")).unwrap();
    let values = |name: &str| -> Vec<f64> { file.variable(name).unwrap().get_values(..).unwrap() };
    let totals = values("background_total_mass");
    assert_eq!(totals.len(), 49);
    let drift = totals.iter().map(|t| (t / totals[0] - 1.0).abs()).fold(0.0, f64::max);
    assert!(drift <= 1e-15, "total drifts by {drift:e}");
    let worst = values("background").iter().map(|q| (q / 4e-4 - 1.0).abs()).fold(0.0, f64::max);
    // Air is moved to the endpoints of the file, which the fluxes meet to rounding of the balance.
    assert!(worst < 1e-12, "mixing ratio deviates by {worst:e}");
}
