//! Column-integrated fluxes and fields of the meteorology in the output of whole runs.

#[path = "physics/case.rs"]
#[allow(dead_code)]
mod case;

use std::path::Path;

use atmostr::met::FloatType;
use atmostr::met::synth::{self, SynthFlow, SynthOptions};
use case::{GEOS, How, PLAIN, TM5, make_winds, run_text};

/// All values of a variable at one time; the grid variables have no time.
fn values(path: &Path, name: &str, time: Option<usize>) -> Vec<f64> {
    let file = netcdf::open(path).unwrap();
    let variable = file.variable(name).unwrap_or_else(|| panic!("no {name}"));
    let shape: Vec<usize> = variable.dimensions().iter().map(netcdf::Dimension::len).collect();
    let (mut start, mut count) = (vec![0; shape.len()], shape);
    if let Some(time) = time {
        (start[0], count[0]) = (time, 1);
    }
    variable.get_values::<f64, _>((start, count)).unwrap()
}

fn times(path: &Path) -> Vec<f64> {
    values(path, "time", None)
}

/// Emission of the tracers in kg of carrier air per m² and s, those of `case::SOURCES`: kg of the species as they are given.
fn emissions(path: &Path, tracer: &str, time: usize) -> f64 {
    let of = |t: usize| {
        let totals = values(path, &format!("{tracer}_total_mass"), Some(t));
        totals[0]
    };
    let area: f64 = values(path, "cell_area", None).iter().sum();
    (of(time) - of(time - 1)) / area
}

/// Column after − column before + divergence − emission, over the column, its largest amount.
fn closure(path: &Path, tracer: &str, emitted: bool) -> f64 {
    let column = |time| values(path, &format!("{tracer}_column_mass_per_area"), Some(time));
    let mut worst = 0.0_f64;
    for time in 1..times(path).len() {
        let divergence = values(path, &format!("{tracer}_column_flux_divergence"), Some(time));
        // Uniform sources: what they give a column follows from the totals.
        let source = if emitted { emissions(path, tracer, time) } else { 0.0 };
        let (before, after) = (column(time - 1), column(time));
        for ((before, after), divergence) in before.iter().zip(&after).zip(&divergence) {
            worst = worst.max(((after - before) + divergence - source).abs() / after.abs().max(before.abs()));
        }
    }
    worst
}

#[test]
fn divergences_close_the_budgets_of_columns_to_rounding() {
    for (operators, float, limit) in
        [(TM5, FloatType::Float64, 1e-12), (GEOS, FloatType::Float64, 1e-12), (TM5, FloatType::Float32, 2e-6)]
    {
        let dir = tempfile::tempdir().unwrap();
        make_winds(dir.path(), "winds.bin", 12, 20, 6, 1.0, float);
        operators.run(dir.path(), float, How::default(), "out", 3.0);
        let path = dir.path().join("out.nc");
        assert_eq!(times(&path), [0.0, 3.0, 6.0]);
        for (tracer, emitted) in [("background", false), ("sf6", false), ("co2", true)] {
            let found = closure(&path, tracer, emitted);
            println!("{} {float:?} {tracer}: {found:.1e} of the column", operators.name);
            assert!(found < limit, "{} {float:?} {tracer}: {found:e}", operators.name);
        }
        // Not because nothing moves.
        let divergence = values(&path, "background_column_flux_divergence", Some(2));
        let column = values(&path, "background_column_mass_per_area", Some(2));
        let moved = divergence.iter().zip(&column).map(|(d, c)| (d / c).abs()).fold(0.0, f64::max);
        assert!(moved > 1e-4, "{moved:e}");
    }
}

/// The divergence integrated over the sphere is nothing, and the first snapshot has an interval of no length.
#[test]
fn intervals_begin_at_the_snapshot_before() {
    let dir = tempfile::tempdir().unwrap();
    make_winds(dir.path(), "winds.bin", 9, 12, 4, 1.0, FloatType::Float64);
    let text =
        PLAIN.text(FloatType::Float64, How::default(), "out", 1.0).replace("cadence_hours = 1", "hours = [0, 1, 4]");
    run_text(&text, dir.path(), 1).unwrap();
    let path = dir.path().join("out.nc");
    let bounds: Vec<f64> = (0..3).flat_map(|time| values(&path, "time_bnds", Some(time))).collect();
    assert_eq!(bounds, [0.0, 0.0, 0.0, 1.0, 1.0, 4.0]);
    assert!(values(&path, "sf6_column_flux_east", Some(0)).iter().all(|x| *x == 0.0));
    let areas = values(&path, "cell_area", None);
    for time in 1..3 {
        let divergence = values(&path, "sf6_column_flux_divergence", Some(time));
        let (mut sum, mut size) = (0.0, 0.0);
        for (d, area) in divergence.iter().zip(&areas) {
            sum += d * area;
            size += (d * area).abs();
        }
        assert!(size > 0.0 && sum.abs() < 1e-12 * size, "{sum:e} of {size:e}");
    }
    let file = netcdf::open(&path).unwrap();
    let attribute = |variable: &str, name: &str| match file.variable(variable).unwrap().attribute_value(name) {
        Some(Ok(netcdf::AttributeValue::Str(text))) => text,
        other => panic!("{variable}.{name}: {other:?}"),
    };
    assert_eq!(attribute("time", "bounds"), "time_bnds");
    assert_eq!(attribute("sf6_column_flux_north", "units"), "kg m-1");
    assert!(attribute("sf6_column_flux_divergence", "cell_methods").contains("time: sum"));
}

/// Solid-body rotation once in 12 days about an inclined axis: the flux of a uniform tracer is its column times the wind.
#[test]
fn fluxes_of_a_rotation_are_the_column_times_the_wind() {
    ["ppm", "linrood"].into_iter().for_each(rotation);
}

fn rotation(scheme: &str) {
    let dir = tempfile::tempdir().unwrap();
    let (nc, hours, angle) = (24, 6.0, 50.0_f64);
    let mut options = SynthOptions::new(SynthFlow::SolidBody { angle_deg: angle }, nc, 4);
    (options.windows, options.window_seconds, options.float) = (6, 3600.0, FloatType::Float64);
    synth::write(dir.path().join("winds.bin"), &options, |_| {}).unwrap();
    let text = format!(
        "[input]\nbinary_paths = [\"winds.bin\"]\n[numerics]\nfloat_type = \"Float64\"\n[advection]\nscheme = \"{scheme}\"\n\
         [output]\npath = \"out.nc\"\ncadence_hours = {hours}\n[output.fields]\ncolumn_fluxes = true\n\
         [tracers.one]\nbackground = 4e-4\n"
    );
    run_text(&text, dir.path(), 1).unwrap();
    let path = dir.path().join("out.nc");
    let [east, north, column] = ["one_column_flux_east", "one_column_flux_north", "one_column_mass_per_area"]
        .map(|name| values(&path, name, Some(1)));
    let [lons, lats] = ["lons", "lats"].map(|name| values(&path, name, None));
    // Williamson et al. 1992 eq. 75–76: u = u0 (cos φ cos α + sin φ cos λ sin α), v = −u0 sin λ sin α, with λ from some
    // meridian of the flow: found as the one that fits best.
    let (period, radius, alpha) = (12.0 * 86_400.0, 6.371e6, angle.to_radians());
    let distance = 2.0 * std::f64::consts::PI * radius / period * hours * 3600.0;
    let error = |meridian: f64| {
        let cells = lons.iter().zip(&lats).enumerate();
        let wrong = cells.map(|(n, (lon, lat))| {
            let (l, p) = ((lon - meridian).to_radians(), lat.to_radians());
            let u = distance * (p.cos() * alpha.cos() + p.sin() * l.cos() * alpha.sin());
            let v = -distance * l.sin() * alpha.sin();
            (east[n] / column[n] - u).hypot(north[n] / column[n] - v) / distance
        });
        wrong.fold(0.0, f64::max)
    };
    let best = (0..72).map(|n| error(5.0 * f64::from(n))).fold(f64::INFINITY, f64::min);
    println!("largest error of the flux: {best:.1e} of the largest flux");
    assert!(best < 0.01, "{best}");
}

#[test]
fn fields_of_the_meteorology_are_sound() {
    let dir = tempfile::tempdir().unwrap();
    make_winds(dir.path(), "winds.bin", 12, 40, 2, 1.0, FloatType::Float64);
    GEOS.run(dir.path(), FloatType::Float64, How::default(), "out", 1.0);
    let path = dir.path().join("out.nc");
    for time in 0..3 {
        let get = |name: &str| values(&path, name, Some(time));
        let (dry, moist, air) = (get("dry_surface_pressure"), get("surface_pressure"), get("column_air_mass_per_area"));
        let top = values(&path, "hyai", None)[0];
        for ((dry, moist), air) in dry.iter().zip(&moist).zip(&air) {
            assert!((dry - (top + 9.806_65 * air)).abs() < 1e-9 * dry);
            // Water vapour weighs up to some percent.
            assert!((1.0..1.05).contains(&(moist / dry)), "{moist} {dry}");
        }
        assert!(get("boundary_layer_height").iter().all(|h| (10.0..5000.0).contains(h)));
        let (height, pressure) = (get("tropopause_height"), get("tropopause_pressure"));
        let found: Vec<_> = height.iter().zip(&pressure).filter(|(h, _)| h.is_finite()).collect();
        assert!(10 * found.len() > 9 * height.len(), "{} of {}", found.len(), height.len());
        for (height, pressure) in found {
            assert!((5e3..20e3).contains(height) && (7.5e3..55e3).contains(pressure), "{height} {pressure}");
        }
    }
}

/// Means of intervals are those of the snapshots at the ends of their windows.
#[test]
fn means_of_intervals_are_those_of_their_windows() {
    let dir = tempfile::tempdir().unwrap();
    make_winds(dir.path(), "winds.bin", 9, 12, 4, 1.0, FloatType::Float64);
    PLAIN.run(dir.path(), FloatType::Float64, How::default(), "hourly", 1.0);
    PLAIN.run(dir.path(), FloatType::Float64, How::default(), "rare", 2.0);
    let [hourly, rare] = ["hourly.nc", "rare.nc"].map(|name| dir.path().join(name));
    assert_eq!(values(&rare, "co2_interval_mean", Some(0)), values(&rare, "co2", Some(0)));
    for time in 1..3 {
        let found = values(&rare, "co2_interval_mean", Some(time));
        let at = |name: &str, hour: usize| values(&hourly, name, Some(hour));
        let hours = [2 * time - 1, 2 * time];
        let [(q1, m1), (q2, m2)] = hours.map(|hour| (at("co2", hour), at("air_mass", hour)));
        for (n, mean) in found.iter().enumerate() {
            let expected = (q1[n] * m1[n] + q2[n] * m2[n]) / (m1[n] + m2[n]);
            assert!((mean / expected - 1.0).abs() < 1e-13, "{mean} {expected}");
        }
        // Each hour is a mean of its own with snapshots every hour.
        let (mean, state) = (at("co2_interval_mean", time), at("co2", time));
        assert!(mean.iter().zip(&state).all(|(mean, q)| (mean / q - 1.0).abs() < 1e-14));
    }
}
