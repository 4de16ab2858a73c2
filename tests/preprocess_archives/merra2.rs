//! The reader of MERRA-2 against formulas (spec 40 §1.4, §1.6, §8).

use atmostr::grid::HybridCoordinate;
use atmostr::grid::constants::GRAVITY;
use atmostr::met::Section;
use atmostr::preprocess::readers::gridded::LevelOrder;
use atmostr::preprocess::readers::merra2::{Merra2Layout, Merra2Reader, Merra2Source};
use atmostr::preprocess::readers::{NextDay, PhysicsGroup};
use atmostr::preprocess::{
    FaceFluxes, FaceInterpolation, FluxSettings, FluxTime, LatLonToCube, MetReader, Stages, Target, Thickness,
    WindRegrid, WindToFlux, WindowMet,
};
use atmostr::regrid::{LatLonAxes, WeightCache};
use jiff::civil::{Date, date};

use crate::merra2_files::{Archive, LAYERS, Layout, UNIFORM, WAVES, Weather};
use crate::writer::{Grid, Order, geos, stored};

const DAY: Date = date(2021, 12, 1);
const FLUXES: FluxSettings = FluxSettings {
    wind_regrid: WindRegrid::Cartesian,
    faces: FaceFluxes::Vector(FaceInterpolation::Fv3),
    thickness: Thickness::Dry,
    time: FluxTime::WindowMean,
};
const ALL: [PhysicsGroup; 3] = [PhysicsGroup::Surface, PhysicsGroup::Convection, PhysicsGroup::Vdiff];

fn target(nc: usize) -> Target {
    Target::new(geos(nc), WeightCache::none())
}

fn layers() -> HybridCoordinate {
    HybridCoordinate::smooth(LAYERS, 100.0).unwrap()
}

fn reader<'a>(target: &'a Target, archive: &Archive<'_>, windows: usize, fluxes: FluxSettings) -> Merra2Reader<'a> {
    let (layout, physics) = match archive.layout {
        Layout::GeosChem => (Merra2Layout::GeosChem, ALL.to_vec()),
        Layout::Nasa => (Merra2Layout::Nasa, Vec::new()),
    };
    let source = Merra2Source {
        root: archive.root.to_path_buf(),
        layout,
        order: LevelOrder::Auto,
        physics,
        next_day: NextDay::Required,
    };
    Merra2Reader::new(target, source, layers(), fluxes, windows, DAY).unwrap()
}

fn mass(reader: &mut Merra2Reader<'_>, day: Date, n: usize) -> Vec<f64> {
    reader.endpoint(day, n, &mut Stages::default()).unwrap().mass
}

fn window(reader: &mut Merra2Reader<'_>, n: usize) -> WindowMet {
    reader.window(DAY, n, &mut Stages::default()).unwrap()
}

fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    let error = (found - expected).abs() / expected.abs().max(f64::MIN_POSITIVE);
    assert!(error <= tolerance || found == expected, "{what}: {found} instead of {expected} ({error:e})");
}

/// (1 − q)(ΔA + ΔB·ps)·area/g at the states, linear in time inside a block; the first state of the next day ends the day.
#[test]
fn dry_masses_are_linear_inside_a_block() {
    let root = tempfile::tempdir().unwrap();
    let archive = Archive::small(root.path(), Layout::GeosChem, UNIFORM);
    archive.write(1);
    let target = target(6);
    let mut reader = reader(&target, &archive, 24, FLUXES);
    let coordinate = layers();
    let at_state = |k: usize, c: usize, state: f64| {
        let (a, b) = (coordinate.a(), coordinate.b());
        let thickness = (a[k + 1] - a[k]) + (b[k + 1] - b[k]) * (UNIFORM.ps)(state, 0.0, 0.0);
        (1.0 - archive.q(k, state)) * thickness * target.areas()[c] / GRAVITY
    };
    let masses: Vec<Vec<f64>> = (0..=24).map(|n| mass(&mut reader, DAY, n)).collect();
    for (n, mass) in masses.iter().enumerate() {
        let (state, part) = ((n / 3) as f64, (n % 3) as f64 / 3.0);
        for k in 0..LAYERS {
            for c in (0..target.cells()).step_by(7) {
                let expected = (1.0 - part) * at_state(k, c, state) + part * at_state(k, c, state + 1.0);
                close(mass[k * target.cells() + c], expected, 2e-14, &format!("end point {n}, layer {k}, cell {c}"));
            }
        }
    }
    // Spec 40 §8: what a block gains is what its hours gain.
    for b in 0..8 {
        for c in 0..masses[0].len() {
            let hours: f64 = (3 * b..3 * b + 3).map(|n| masses[n + 1][c] - masses[n][c]).sum();
            let block = masses[3 * b + 3][c] - masses[3 * b][c];
            assert!((hours - block).abs() <= 1e-15 * masses[3 * b][c], "block {b}, {c}");
        }
    }
}

/// Equal instants have equal values from whichever day they are asked.
#[test]
fn a_day_ends_where_the_next_begins() {
    let root = tempfile::tempdir().unwrap();
    let archive = Archive::small(root.path(), Layout::GeosChem, WAVES);
    archive.write(2);
    let target = target(6);
    let mut hourly = reader(&target, &archive, 24, FLUXES);
    let end = mass(&mut hourly, DAY, 24);
    assert_eq!(mass(&mut hourly, DAY.tomorrow().unwrap(), 0), end);
    let mut slow = reader(&target, &archive, 8, FLUXES);
    assert_eq!(mass(&mut slow, DAY, 8), end);
    assert_eq!(mass(&mut slow, DAY, 1), mass(&mut hourly, DAY, 3));
}

/// Pitfall T40-2: files of either order, and of either archive, give the same bits.
#[test]
fn order_of_layers_is_found_in_every_file() {
    let target = target(6);
    let read = |layout: Layout, order: Order| {
        let root = tempfile::tempdir().unwrap();
        let archive = Archive { order, ..Archive::small(root.path(), layout, WAVES) };
        archive.write(1);
        let mut reader = reader(&target, &archive, 24, FLUXES);
        (mass(&mut reader, DAY, 4), window(&mut reader, 4))
    };
    let (mass, met) = read(Layout::GeosChem, Order::SurfaceFirst);
    assert_eq!(read(Layout::GeosChem, Order::TopFirst), (mass.clone(), met.clone()));
    let plain = WindowMet { physics: Vec::new(), ..met };
    for order in [Order::SurfaceFirst, Order::TopFirst] {
        assert_eq!(read(Layout::Nasa, order), (mass.clone(), plain.clone()));
    }
}

/// Fluxes are those of the winds of the block on the cube with the mean thickness of the window; with uniform humidity dry ones
/// are (1 − q) of the moist ones (pitfall T40-4).
#[test]
fn fluxes_are_those_of_held_winds() {
    let root = tempfile::tempdir().unwrap();
    let archive = Archive::small(root.path(), Layout::GeosChem, Weather { wind: WAVES.wind, ..UNIFORM });
    archive.write(1);
    let target = target(8);
    let Grid::LatLon { lon, lat } = &archive.grid else { unreachable!() };
    let to_cube = LatLonToCube::new(&target, &LatLonAxes::from_centres(lon, lat).unwrap()).unwrap();
    let faces = WindToFlux::new(target.grid(), target.faces(), FLUXES.faces);
    let n = 13;
    let block = (n / 3) as f64;
    let component = |c: usize| -> Vec<f64> {
        (0..LAYERS * archive.grid.cells())
            .map(|i| {
                let (k, cell) = (i / archive.grid.cells(), i % archive.grid.cells());
                let (lon, lat) = archive.grid.place(cell);
                stored((archive.weather.wind)(archive.weather.height(k), lon, lat, block)[c])
            })
            .collect()
    };
    let wind = to_cube.wind(&component(0), &component(1), WindRegrid::Cartesian);
    let coordinate = layers();
    // The middle of hour 13 lies at 1.5/3 of the block between states 4 and 5.
    let thickness = |dry: bool| -> Vec<f64> {
        let at = |k: usize, state: f64| {
            let (a, b) = (coordinate.a(), coordinate.b());
            let moist = (a[k + 1] - a[k]) + (b[k + 1] - b[k]) * (UNIFORM.ps)(state, 0.0, 0.0);
            if dry { moist * (1.0 - archive.q(k, state)) } else { moist }
        };
        (0..LAYERS).flat_map(|k| vec![0.5 * (at(k, 4.0) + at(k, 5.0)); target.cells()]).collect()
    };
    for (thickness, choice) in [(thickness(true), Thickness::Dry), (thickness(false), Thickness::Moist)] {
        let fluxes = FluxSettings { thickness: choice, ..FLUXES };
        let found = window(&mut reader(&target, &archive, 24, fluxes), n).flux;
        let expected = faces.levels(&wind, &thickness);
        let largest = expected.iter().fold(0.0f64, |a, f| a.max(f.abs()));
        assert!(largest > 1e9, "{largest}");
        for (f, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!((found - expected).abs() <= 1e-13 * largest, "{choice:?}, {f}: {found} {expected}");
        }
    }
}

/// Moist to dry by formula, cloud base after regridding, hours of the ground, states at the start of the window.
#[test]
fn physics_of_a_window() {
    let root = tempfile::tempdir().unwrap();
    let archive = Archive::small(root.path(), Layout::GeosChem, UNIFORM);
    archive.write(1);
    let target = target(4);
    let cells = target.cells();
    let mut hourly = reader(&target, &archive, 24, FLUXES);
    for n in [0, 4, 23] {
        let met = window(&mut hourly, n);
        let field = |section: Section| &met.physics.iter().find(|(s, _)| *s == section).unwrap().1;
        assert_eq!(met.physics.iter().map(|(s, _)| *s).collect::<Vec<_>>(), hourly.physics());
        let (block, part) = (n / 3, (n % 3) as f64 / 3.0);
        let q = |k: usize, at: f64| (1.0 - at) * archive.q(k, block as f64) + at * archive.q(k, block as f64 + 1.0);
        let ends = [part, part + 1.0 / 3.0];
        let layer = |k: usize| 0.5 * (q(k, ends[0]) + q(k, ends[1]));
        for k in 0..LAYERS {
            let c = k * cells + (k * 31 + n) % cells;
            let dtrain = stored(UNIFORM.dtrain(k, block as f64)) * (1.0 - layer(k));
            close(field(Section::Dtrain)[c], dtrain, 1e-13, "DTRAIN");
            let t = (1.0 - part) * stored(UNIFORM.t(k, block as f64)) + part * stored(UNIFORM.t(k, block as f64 + 1.0));
            close(field(Section::VdiffT)[c], t, 1e-13, "T");
            close(field(Section::VdiffQv)[c], q(k, part), 1e-13, "QV");
        }
        for k in 0..=LAYERS {
            let beside = [k.max(1) - 1, k.min(LAYERS - 1)];
            let dry = 1.0 - 0.5 * (layer(beside[0]) + layer(beside[1]));
            let found = field(Section::Cmfmc)[k * cells + (k * 17 + n) % cells];
            close(found, stored(UNIFORM.cmfmc(k, block as f64)) * dry, 1e-13, "CMFMC");
        }
        let base = if block == 7 { LAYERS } else { LAYERS - block % 3 };
        assert!(field(Section::CmfmcCloudBase).iter().all(|k| *k == base as f64), "window {n}");
        for (section, name) in [
            (Section::Pblh, "PBLH"),
            (Section::Ustar, "USTAR"),
            (Section::SensibleHeatFlux, "HFLUX"),
            (Section::LatentHeatFlux, "EFLUX"),
            (Section::T2m, "T2M"),
        ] {
            close(field(section)[n], stored(Weather::ground(name, n as f64)), 1e-13, name);
        }
    }
    // A window of 3 h has the mean of its hours.
    let met = window(&mut reader(&target, &archive, 8, FLUXES), 2);
    let (_, heat) = met.physics.iter().find(|(s, _)| *s == Section::SensibleHeatFlux).unwrap();
    let mean = (6..9).map(|n| stored(Weather::ground("HFLUX", f64::from(n)))).sum::<f64>() / 3.0;
    close(heat[5], mean, 1e-13, "mean of HFLUX");
}

/// Winds of rigid rotation keep their direction through the regridding, at the poles too.
#[test]
fn winds_of_the_layers_are_east_and_north() {
    let root = tempfile::tempdir().unwrap();
    let archive = Archive { grid: Grid::with_poles(72, 37), ..Archive::small(root.path(), Layout::GeosChem, UNIFORM) };
    archive.write(1);
    let target = target(6);
    let met = window(&mut reader(&target, &archive, 24, FLUXES), 0);
    let field = |section: Section| &met.physics.iter().find(|(s, _)| *s == section).unwrap().1;
    for c in 0..target.cells() {
        let (panel, i, j) = (decomposition::Panel::ALL[c / 36], c % 6, c / 6 % 6);
        let (_, lat) = target.grid().center_lonlat(panel, i, j);
        let expected = 20.0 * lat.to_radians().cos();
        let (u, v) = (field(Section::VdiffU)[c], field(Section::VdiffV)[c]);
        assert!((u - expected).abs() < 0.3 && v.abs() < 0.3, "{lat}: {u} {v}, expected {expected}");
    }
}
