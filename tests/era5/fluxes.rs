//! Fluxes and masses of the reader against formulas.

use atmostr::grid::constants::GRAVITY;
use atmostr::grid::vector::{cross, dot, subtract};
use atmostr::grid::{CubedSphere, GeometryBundle};
use atmostr::preprocess::readers::NextDay;
use atmostr::preprocess::readers::era5::{Era5Faces, Era5Reader, Era5Source};
use atmostr::preprocess::{
    FaceFluxes, FaceGeometry, FaceInterpolation, FluxSettings, FluxTime, MetReader, Stages, Target, Thickness,
    Transform, WindRegrid,
};
use atmostr::regrid::WeightCache;

use crate::archive::{Archive, Atmosphere, LEVELS, RADIUS, STILL, constant, day, rotation};

pub fn target(nc: usize) -> Target {
    let bundle = GeometryBundle::GeosNative;
    let grid = CubedSphere::new(nc, bundle, bundle.default_offset_deg(), RADIUS).unwrap();
    Target::new(grid, WeightCache::none())
}

pub const FLUXES: FluxSettings = FluxSettings {
    wind_regrid: WindRegrid::Cartesian,
    faces: FaceFluxes::Vector(FaceInterpolation::Linear),
    thickness: Thickness::Dry,
    time: FluxTime::WindowMean,
};

pub fn reader<'a>(target: &'a Target, source: Era5Source, fluxes: FluxSettings, windows: usize) -> Era5Reader<'a> {
    Era5Reader::new(target, source, None, &Transform::Identity, fluxes, windows, day(0)).unwrap()
}

/// Fluxes, kg/s for each Pa of thickness, of the rotations in [`rotation`] with 1 m/s.
fn exact(target: &Target, tilt: f64) -> Vec<f64> {
    let geometry = FaceGeometry::new(target.grid(), target.faces());
    let along = |arc: &atmostr::preprocess::FaceArc| {
        let sense = dot(cross(arc.a, arc.b), arc.normal).signum();
        sense * dot([tilt, 0.0, 1.0], subtract(arc.a, arc.b)) * RADIUS / GRAVITY
    };
    geometry.arcs().iter().map(along).collect()
}

/// Largest difference relative to the largest value.
fn apart(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0f64, |a, b| a.max(b.abs()));
    largest(&mut found.iter().zip(expected).map(|(a, b)| a - b)) / largest(&mut expected.iter().copied())
}

/// 10 m/s that become 16 within the hour; a hundredth of the air is vapour.
const TURNING: Atmosphere = Atmosphere {
    vorticity: |_, hours| rotation(10.0 + 6.0 * hours, 0.5),
    humidity: |_, _, _, _| 0.01,
    log_pressure: |_| vec![(0, 0, [98_000f64.ln(), 0.0])],
    ..STILL
};

#[test]
fn line_integrals_of_rotations_carry_dry_air() {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive { pairs: 32, ..Archive::new(dir.path(), TURNING) };
    archive.core(0, 0..3);
    let target = target(6);
    let (faces, whole) = (target.faces().faces(), exact(&target, 0.5));
    let coordinate = Archive::coordinate();
    for (time, speed) in [(FluxTime::WindowMean, 19.0), (FluxTime::WindowStart, 16.0)] {
        for (thickness, dry) in [(Thickness::Dry, 0.99), (Thickness::Moist, 1.0)] {
            let fluxes = FluxSettings { thickness, time, ..FLUXES };
            let mut reader = reader(&target, archive.source(&[]), fluxes, 24);
            let met = reader.window(day(0), 1, &mut Stages::default()).unwrap();
            assert!(met.physics.is_empty() && met.flux.len() == LEVELS * faces);
            for k in 0..LEVELS {
                let pressure = |i: usize| coordinate.pressure_at(i, 98_000.0);
                let factor = speed * dry * (pressure(k + 1) - pressure(k));
                let expected: Vec<f64> = whole.iter().map(|f| factor * f).collect();
                let error = apart(&met.flux[k * faces..(k + 1) * faces], &expected);
                assert!(error < 1e-3, "{time:?} {thickness:?}, level {k}: {error}");
            }
        }
    }
}

#[test]
fn means_over_cells_carry_about_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::new(dir.path(), TURNING);
    archive.core(0, 0..2);
    let target = target(12);
    let source = Era5Source { faces: Era5Faces::CellMeans, ..archive.source(&[]) };
    let met = reader(&target, source, FLUXES, 24).window(day(0), 0, &mut Stages::default()).unwrap();
    let thickness = Archive::coordinate().a()[1];
    let expected: Vec<f64> = exact(&target, 0.5).iter().map(|f| 13.0 * 0.99 * thickness * f).collect();
    let error = apart(&met.flux[..target.faces().faces()], &expected);
    assert!(error < 0.01, "{error}");
}

/// Windows of three hours: hours inside count twice as much as those at the ends.
#[test]
fn long_windows_have_all_their_hours() {
    let dir = tempfile::tempdir().unwrap();
    let squares = Atmosphere { vorticity: |_, hours| rotation(1.0 + hours * hours, 0.0), ..STILL };
    let archive = Archive::new(dir.path(), squares);
    archive.core(0, 0..7);
    let target = target(4);
    let mut reader = reader(&target, archive.source(&[]), FLUXES, 8);
    let faces = target.faces().faces();
    let mut flux = |n| reader.window(day(0), n, &mut Stages::default()).unwrap().flux[..faces].to_vec();
    let (first, second) = (flux(0), flux(1));
    // Trapezoids of 1 + h²: (1/2 + 2 + 5 + 10/2)/3 and (10/2 + 17 + 26 + 37/2)/3.
    let ratio = (5.0 + 17.0 + 26.0 + 18.5) / (0.5 + 2.0 + 5.0 + 5.0);
    let expected: Vec<f64> = first.iter().map(|f| ratio * f).collect();
    assert!(apart(&second, &expected) < 1e-6);
}

#[test]
fn masses_are_those_of_the_dry_columns() {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::new(dir.path(), TURNING);
    archive.core(0, 0..1);
    let target = target(5);
    let mut reader = reader(&target, archive.source(&[]), FLUXES, 24);
    // As stored: no more than single precision.
    assert_eq!(reader.coordinate(), &Archive::coordinate());
    let mass = reader.endpoint(day(0), 0, &mut Stages::default()).unwrap().mass;
    let (coordinate, cells) = (Archive::coordinate(), target.cells());
    for (n, mass) in mass.iter().enumerate() {
        let (k, cell) = (n / cells, n % cells);
        let pressure = |i: usize| coordinate.pressure_at(i, 98_000.0);
        let expected = 0.99 * (pressure(k + 1) - pressure(k)) * target.areas()[cell] / GRAVITY;
        // ln ps is stored as a single: 5e-7 of 11.5 in the exponent.
        assert!((mass / expected - 1.0).abs() < 2e-6, "level {k}, cell {cell}: {mass} {expected}");
    }
}

/// The end of a day is the start of the next; where that is not there, it is refused, or stands still if that is allowed.
#[test]
fn days_meet_at_midnight() {
    let dir = tempfile::tempdir().unwrap();
    let falling = Atmosphere { log_pressure: |hours| constant(1e5f64.ln() - 1e-3 * hours), ..STILL };
    let archive = Archive::new(dir.path(), falling);
    archive.core(0, 0..24);
    let target = target(3);
    let mut stages = Stages::default();
    let mut required = reader(&target, archive.source(&[]), FLUXES, 24);
    let error = required.endpoint(day(0), 24, &mut stages).unwrap_err().to_string();
    assert!(error.contains("2021-12-02") && error.contains("era5_core_20211202.grib"), "{error}");
    let source = Era5Source { next_day: NextDay::ZeroTendency, ..archive.source(&[]) };
    let mut still = reader(&target, source, FLUXES, 24);
    assert_eq!(still.endpoint(day(0), 0, &mut stages).unwrap().mass.len(), LEVELS * target.cells());
    let [last, end] = [23, 24].map(|n| still.endpoint(day(0), n, &mut stages).unwrap().mass);
    assert_eq!(last, end);
    assert_eq!(still.provenance()["terminal_zero_tendency"], true);
    archive.core(1, 0..1);
    let end = required.endpoint(day(0), 24, &mut stages).unwrap();
    assert_eq!(end, required.endpoint(day(1), 0, &mut stages).unwrap());
    assert!(end.mass[0] < last[0] || end.mass[4 * target.cells()] < last[4 * target.cells()]);
}
