use std::path::Path;
use std::sync::Arc;

use decomposition::Layout;

use super::*;
use crate::comm::Solo;
use crate::grid::{CubedSphere, GeometryBundle, HybridCoordinate};
use crate::gridded::Weights;
use crate::state::{AIR, Slabs, TileSet};

const NC: usize = 6;

/// Interfaces of the file from the top down: a in Pa, b.
const INTERFACES: [(f64, f64); 7] =
    [(100.0, 0.0), (2_000.0, 0.0), (9_000.0, 0.01), (12_000.0, 0.12), (9_000.0, 0.45), (3_000.0, 0.8), (0.0, 1.0)];

/// How a file says where its levels lie.
#[derive(Clone, Copy, PartialEq)]
enum Told {
    /// `ap` and `bp` at interfaces, Pa.
    Ap,
    /// `hyam` and `hybm` in hPa, as GEOS-Chem stores them.
    HyamHecto,
    /// `hyam` as part of P0, as CESM stores it; P0 in Pa or hPa.
    HyamPart(f64, &'static str),
    /// A level coordinate in hPa.
    Levels,
    Nothing,
}

struct Written {
    told: Told,
    order: VerticalOrder,
    units: Option<&'static str>,
    surface_pressure: Option<(f64, &'static str)>,
    /// Value by pressure, latitude and longitude.
    value: fn(f64, f64, f64) -> f64,
}

impl Default for Written {
    fn default() -> Self {
        let value = |p: f64, _, _| 3e-4 + 1e-5 * p.ln();
        let (told, order) = (Told::Ap, VerticalOrder::SurfaceFirst);
        Self { told, order, units: Some("mol mol-1"), surface_pressure: Some((101_000.0, "Pa")), value }
    }
}

impl Written {
    fn middles(&self) -> Vec<(f64, f64)> {
        INTERFACES.windows(2).map(|w| (0.5 * (w[0].0 + w[1].0), 0.5 * (w[0].1 + w[1].1))).collect()
    }

    fn write(&self, path: &Path) -> PathBuf {
        let (nlat, nlon, count) = (12, 24, INTERFACES.len() - 1);
        let turn = |mut list: Vec<f64>| {
            if self.order == VerticalOrder::SurfaceFirst {
                list.reverse();
            }
            list
        };
        let mut file = netcdf::create(path).unwrap();
        for (name, len) in [("presnivs", count), ("klevp1", count + 1), ("lat", nlat), ("lon", nlon)] {
            file.add_dimension(name, len).unwrap();
        }
        let lat: Vec<f64> = (0..nlat).map(|j| -90.0 + 180.0 * (j as f64 + 0.5) / nlat as f64).collect();
        let lon: Vec<f64> = (0..nlon).map(|i| 360.0 * i as f64 / nlon as f64).collect();
        file.add_variable::<f64>("lat", &["lat"]).unwrap().put_values(&lat, ..).unwrap();
        file.add_variable::<f64>("lon", &["lon"]).unwrap().put_values(&lon, ..).unwrap();
        let surface = self.surface_pressure.map_or(101_000.0, |(value, _)| value);
        let middles = self.middles();
        let pressures: Vec<f64> = middles.iter().map(|(a, b)| a + b * surface).collect();
        let mut add = |name: &str, dimension: &str, units: &str, values: Vec<f64>| {
            let mut variable = match dimension {
                "" => file.add_variable::<f64>(name, &[]).unwrap(),
                _ => file.add_variable::<f64>(name, &[dimension]).unwrap(),
            };
            if !units.is_empty() {
                variable.put_attribute("units", units).unwrap();
            }
            variable.put_values(&turn(values), ..).unwrap();
        };
        let list = |f: fn(&(f64, f64)) -> f64, of: &[(f64, f64)]| of.iter().map(f).collect::<Vec<_>>();
        match self.told {
            Told::Ap => {
                add("ap", "klevp1", "Pa", list(|c| c.0, &INTERFACES));
                add("bp", "klevp1", "", list(|c| c.1, &INTERFACES));
            }
            Told::HyamHecto => {
                add("hyam", "presnivs", "hPa", list(|c| c.0 / 100.0, &middles));
                add("hybm", "presnivs", "1", list(|c| c.1, &middles));
                add("P0", "", "hPa", vec![1000.0]);
            }
            Told::HyamPart(p0, units) => {
                let factor = if units == "hPa" { 100.0 } else { 1.0 };
                let parts = list(|c| c.0, &middles).iter().map(|a| a / (p0 * factor)).collect();
                add("hyam", "presnivs", "1", parts);
                add("hybm", "presnivs", "1", list(|c| c.1, &middles));
                add("P0", "", units, vec![p0]);
            }
            Told::Levels => add("presnivs", "presnivs", "hPa", pressures.iter().map(|p| p / 100.0).collect()),
            Told::Nothing => {}
        }
        if let Some((value, units)) = self.surface_pressure {
            let mut pressure = file.add_variable::<f64>("Psurf", &["lat", "lon"]).unwrap();
            pressure.put_attribute("units", units).unwrap();
            let value = if units == "hPa" { value / 100.0 } else { value };
            pressure.put_values(&vec![value; nlat * nlon], ..).unwrap();
        }
        let mut column = pressures;
        if self.order == VerticalOrder::SurfaceFirst {
            column.reverse();
        }
        let values: Vec<f64> = column
            .iter()
            .flat_map(|p| lat.iter().flat_map(|lat| lon.iter().map(|lon| (self.value)(*p, *lat, *lon))))
            .collect();
        let mut field = file.add_variable::<f64>("CO2", &["presnivs", "lat", "lon"]).unwrap();
        if let Some(units) = self.units {
            field.put_attribute("units", units).unwrap();
        }
        field.put_values(&values, ..).unwrap();
        path.to_path_buf()
    }
}

fn field(file: PathBuf) -> FieldFile {
    FieldFile {
        file,
        variable: "CO2".into(),
        units: None,
        record: RecordChoice::Only,
        surface_pressure: SurfacePressure::Known,
        vertical: VerticalMapping::LogPressure,
        vertical_order: None,
        negatives: Negatives::Keep,
    }
}

fn sphere() -> CubedSphere {
    let bundle = GeometryBundle::GeosNative;
    CubedSphere::new(NC, bundle, bundle.default_offset_deg(), 6_371_229.0).unwrap()
}

/// Mixing ratios `[level][cell]` of a run with these levels and surface pressure, and what the file holds.
fn mapped(
    field: &FieldFile,
    vertical: &HybridCoordinate,
    surface: f64,
) -> Result<(Vec<Vec<f64>>, Option<f64>), FieldProblem> {
    let grid = sphere();
    let layout = Layout::new(NC, grid.convention(), 1, 1, None).unwrap();
    let set = Arc::new(TileSet::new(layout.tiles_of(0).to_vec(), layout.halo()));
    let levels = vertical.levels();
    let mut state = PackedState::<f64>::zeros(set.clone(), levels, vec!["co2".into()]);
    for (level, tile) in (0..levels).flat_map(|level| (0..set.len()).map(move |tile| (level, tile))) {
        state.slabs_mut().plane_mut(level, tile, AIR).fill(1.0);
    }
    let mut pressure = Slabs::<f64>::zeros(set.clone(), 1, 1);
    (0..set.len()).for_each(|tile| pressure.plane_mut(0, tile, 0).fill(surface));
    let (weights, comm) = (Weights::new(None), Solo);
    let context = InitialContext { grid: &grid, vertical, surface_pressure: &pressure, weights: &weights, comm: &comm };
    let held = fill_from_field(&mut state, 0, field, &context)?;
    let mut found = vec![vec![f64::NAN; 6 * NC * NC]; levels];
    for (n, (tile, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
        for (level, cells) in found.iter_mut().enumerate() {
            for (j, i) in (0..shape.nj).flat_map(|j| (0..shape.ni).map(move |i| (j, i))) {
                let cell = (tile.panel.index() * NC + tile.j0 + j) * NC + tile.i0 + i;
                cells[cell] = state.slabs().plane(level, n, 1)[shape.row_start(j) + i];
            }
        }
    }
    Ok((found, held))
}

fn problem(written: &Written, change: impl Fn(&mut FieldFile), levels: usize) -> String {
    let dir = tempfile::tempdir().unwrap();
    let mut field = field(written.write(&dir.path().join("start.nc")));
    change(&mut field);
    let FieldProblem { problem, help } = field.check(levels).unwrap_err();
    format!("{problem}; {help}")
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 1e-12, "{what}: {found} instead of {expected}");
}

/// A profile that is straight in ln p is met at the run's own pressures, from its own surface pressure; beyond the middles
/// of the end layers it is constant. Nothing shifts by half a layer.
#[test]
fn a_line_in_the_logarithm_of_pressure_is_met_everywhere() {
    let dir = tempfile::tempdir().unwrap();
    let written = Written::default();
    let field = field(written.write(&dir.path().join("start.nc")));
    let ends = written.middles();
    let [top, bottom] = [ends[0], ends[5]].map(|(a, b)| a + b * 101_000.0);
    for levels in [3, 6, 40] {
        let vertical = HybridCoordinate::smooth(levels, 50.0).unwrap();
        let (found, held) = mapped(&field, &vertical, 98_000.0).unwrap();
        assert_eq!(held, None);
        let mut inside = 0;
        for (k, cells) in found.iter().enumerate() {
            let middle = 0.5 * (vertical.pressure_at(k, 98_000.0) + vertical.pressure_at(k + 1, 98_000.0));
            inside += usize::from((top..bottom).contains(&middle));
            let expected = 3e-4 + 1e-5 * middle.clamp(top, bottom).ln();
            cells.iter().for_each(|q| close(*q, expected, &format!("level {k} of {levels}")));
        }
        assert!(inside > 1, "{inside} of {levels}");
    }
}

/// As many levels as the run has, but at other pressures: they are not taken for the same.
#[test]
fn the_same_number_of_levels_is_not_the_same_levels() {
    let dir = tempfile::tempdir().unwrap();
    let field = field(Written::default().write(&dir.path().join("start.nc")));
    let (a, b): (Vec<f64>, Vec<f64>) = INTERFACES.into_iter().unzip();
    let same = HybridCoordinate::new(a, b).unwrap();
    for (k, cells) in mapped(&field, &same, 101_000.0).unwrap().0.iter().enumerate() {
        let (a, b) = Written::default().middles()[k];
        cells.iter().for_each(|q| close(*q, 3e-4 + 1e-5 * (a + b * 101_000.0).ln(), "the same levels"));
    }
    // Under the pressure of a mountain every level of the run lies higher.
    let found = mapped(&field, &same, 70_000.0).unwrap().0;
    let (a, b) = Written::default().middles()[3];
    found[3].iter().for_each(|q| close(*q, 3e-4 + 1e-5 * (a + b * 70_000.0).ln(), "another surface pressure"));
    // With the run's surface pressure under the file's levels, they stay in place.
    let model = FieldFile { surface_pressure: SurfacePressure::Model, ..field };
    let found = mapped(&model, &same, 70_000.0).unwrap().0;
    found[3].iter().for_each(|q| close(*q, 3e-4 + 1e-5 * (a + b * 101_000.0).ln(), "levels that follow the surface"));
}

#[test]
fn both_orders_and_all_descriptions_of_levels_agree() {
    let dir = tempfile::tempdir().unwrap();
    let vertical = HybridCoordinate::smooth(9, 300.0).unwrap();
    let read = |told, order| {
        let path = Written { told, order, ..Written::default() }.write(&dir.path().join("start.nc"));
        mapped(&field(path), &vertical, 99_000.0).unwrap().0
    };
    let expected = read(Told::Ap, VerticalOrder::TopFirst);
    assert_eq!(read(Told::Ap, VerticalOrder::SurfaceFirst), expected);
    for told in [
        Told::HyamHecto,
        Told::HyamPart(1e5, "Pa"),
        Told::HyamPart(1000.0, "hPa"),
        Told::HyamPart(5e4, ""),
        Told::Levels,
    ] {
        for order in [VerticalOrder::TopFirst, VerticalOrder::SurfaceFirst] {
            for (found, expected) in read(told, order).iter().flatten().zip(expected.iter().flatten()) {
                close(*found, *expected, "another description");
            }
        }
    }
}

#[test]
fn units_and_negative_values() {
    let dir = tempfile::tempdir().unwrap();
    let vertical = HybridCoordinate::smooth(4, 300.0).unwrap();
    let first = |written: &Written, negatives| {
        let field = FieldFile { negatives, ..field(written.write(&dir.path().join("start.nc"))) };
        mapped(&field, &vertical, 99_000.0).unwrap().0[2][5]
    };
    let value = |_, _, _| 412.0;
    let ppm = Written { units: Some("ppm"), value, ..Written::default() };
    close(first(&ppm, Negatives::Keep), 412e-6, "ppm");
    let negative = Written { value: |_, _, _| -1e-4, ..Written::default() };
    close(first(&negative, Negatives::Keep), -1e-4, "kept");
    assert_eq!(first(&negative, Negatives::Clamp), 0.0);
    let hecto = Written { surface_pressure: Some((101_000.0, "hPa")), ..Written::default() };
    close(first(&hecto, Negatives::Keep), first(&Written::default(), Negatives::Keep), "surface pressure in hPa");
    // Without units nothing says what these are; with the wrong ones they cannot be.
    let bare = Written { units: None, value, ..Written::default() };
    let path = bare.write(&dir.path().join("start.nc"));
    for (units, part) in [(None, "no units"), (Some("mol mol-1"), "412 mol mol-1"), (Some("kg kg-1"), "'kg kg-1'")] {
        let field = FieldFile { units: units.map(str::to_owned), ..field(path.clone()) };
        let FieldProblem { problem, help } = mapped(&field, &vertical, 99_000.0).unwrap_err();
        assert!(problem.contains(part) && help.contains("`units`") && help.contains("ppm"), "{problem}; {help}");
    }
    let told = FieldFile { units: Some("ppm".into()), ..field(path) };
    close(mapped(&told, &vertical, 99_000.0).unwrap().0[2][5], 412e-6, "units of the configuration");
    // They take the place of the attribute.
    let other = Written { units: Some("K"), value, ..Written::default() }.write(&dir.path().join("other.nc"));
    let told = FieldFile { units: Some("ppm".into()), ..field(other) };
    close(mapped(&told, &vertical, 99_000.0).unwrap().0[2][5], 412e-6, "units of the configuration");
}

/// Shared pressure keeps a constant, and the mass of every column where both columns are the same.
#[test]
fn mapping_by_shared_pressure_keeps_mass() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b): (Vec<f64>, Vec<f64>) = INTERFACES.into_iter().unzip();
    // Layers merged and split between the same ends.
    let coarse = HybridCoordinate::new(vec![a[0], a[2], 8_000.0, a[6]], vec![b[0], b[2], 0.3, b[6]]).unwrap();
    let read = |written: &Written| {
        let path = written.write(&dir.path().join("start.nc"));
        let field = FieldFile { vertical: VerticalMapping::Conservative, ..field(path) };
        mapped(&field, &coarse, 101_000.0).unwrap()
    };
    let value = |_, _, _| 4e-4;
    read(&Written { value, ..Written::default() }).0.iter().flatten().for_each(|q| close(*q, 4e-4, "constant"));
    let written = Written::default();
    let (found, held) = read(&written);
    let column: f64 = written
        .middles()
        .iter()
        .zip(INTERFACES.windows(2))
        .map(|((a, b), w)| (3e-4 + 1e-5 * (a + b * 101_000.0).ln()) * (w[1].0 - w[0].0 + (w[1].1 - w[0].1) * 101_000.0))
        .sum();
    for cell in 0..6 * NC * NC {
        let thickness = |k: usize| coarse.pressure_at(k + 1, 101_000.0) - coarse.pressure_at(k, 101_000.0);
        let kept: f64 = (0..3).map(|k| found[k][cell] * thickness(k)).sum();
        close(kept, column, "column");
    }
    let area = 4.0 * std::f64::consts::PI * 6_371_229.0f64.powi(2);
    close(held.unwrap(), column * area / GRAVITY, "sphere");
}

/// The mean over the sphere of what varies along it.
#[test]
fn fields_are_regridded_conservatively() {
    let dir = tempfile::tempdir().unwrap();
    let value = |_, lat: f64, lon: f64| 4e-4 + 1e-5 * (lat.to_radians().sin() + (2.0 * lon.to_radians()).cos());
    let field = field(Written { value, ..Written::default() }.write(&dir.path().join("start.nc")));
    let grid = sphere();
    let found = mapped(&field, &HybridCoordinate::smooth(2, 300.0).unwrap(), 99_000.0).unwrap().0;
    let mean = |cells: &[f64]| {
        let area = |n: usize| grid.area(n % NC, n / NC % NC);
        let whole: f64 = (0..cells.len()).map(area).sum();
        cells.iter().enumerate().map(|(n, q)| q * area(n)).sum::<f64>() / whole
    };
    // Of the file: sine and cosine cancel in its rows and between its hemispheres.
    close(mean(&found[1]), 4e-4, "mean");
    assert!(found[1].iter().any(|q| (q - 4e-4).abs() > 1e-5));
}

#[test]
fn files_that_do_not_fit_are_refused() {
    let nothing = || Written { told: Told::Nothing, ..Written::default() };
    let keep = |_: &mut FieldFile| {};
    let ordered = |field: &mut FieldFile| field.vertical_order = Some(VerticalOrder::SurfaceFirst);
    let conservative = |field: &mut FieldFile| field.vertical = VerticalMapping::Conservative;
    let model = |field: &mut FieldFile| field.surface_pressure = SurfacePressure::Model;
    let cases: [(String, &[&str]); 12] = [
        (problem(&nothing(), keep, 6), &["order are not told", "`vertical_order`"]),
        (problem(&nothing(), ordered, 7), &["6 levels whose pressures are not told, the run has 7", "hyam"]),
        (problem(&Written::default(), ordered, 6), &["`vertical_order` has no meaning", "remove"]),
        (
            problem(&Written { surface_pressure: None, ..Written::default() }, keep, 6),
            &["no surface pressure (Psurf, PS", "\"model\""],
        ),
        (problem(&Written { told: Told::Levels, ..Written::default() }, model, 6), &["do not rest", "remove"]),
        (problem(&Written { told: Told::Levels, ..Written::default() }, conservative, 6), &["interfaces are not told"]),
        (problem(&Written { units: Some("kg kg-1"), ..Written::default() }, keep, 6), &["'kg kg-1'", "molar mass"]),
        (
            problem(&Written { surface_pressure: Some((101_000.0, "K")), ..Written::default() }, keep, 6),
            &["'Psurf' has units 'k'", "Pa or hPa"],
        ),
        (
            problem(
                &Written { told: Told::HyamPart(1e3, "Pa"), ..Written::default() },
                |f| f.record = RecordChoice::Index(2),
                6,
            ),
            &["1..1"],
        ),
        (problem(&Written::default(), |f| f.variable = "co2".into(), 6), &["no variable 'co2'", "CO2"]),
        (problem(&Written::default(), |f| f.surface_pressure = SurfacePressure::Variable("PS".into()), 6), &["'PS'"]),
        (
            problem(&Written::default(), |f| f.variable = "ap".into(), 6),
            &["'klevp1' of length 7, whose meaning is not known"],
        ),
    ];
    for (found, parts) in cases {
        assert!(parts.iter().all(|part| found.contains(part)), "{parts:?} not in {found}");
    }
    let dir = tempfile::tempdir().unwrap();
    let ordered = FieldFile {
        vertical_order: Some(VerticalOrder::SurfaceFirst),
        ..field(nothing().write(&dir.path().join("start.nc")))
    };
    ordered.check(6).unwrap();
    let found = mapped(&ordered, &HybridCoordinate::smooth(6, 100.0).unwrap(), 98_000.0).unwrap().0;
    close(found[5][0], 3e-4 + 1e-5 * (1_500.0 + 0.9 * 101_000.0f64).ln(), "levels of the run");
}

/// Methane of GEOS-Chem on 72 levels, surface first: on those levels themselves it stays what it is, on others it keeps its
/// range and its column.
#[test]
fn real_levels_of_geos_chem_are_understood() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/data/geoschem_l72_tracer/geoschem_speciesconc_ch4_4x5_l72.nc4");
    if !path.exists() {
        return println!("skipped: {} is absent", path.display());
    }
    let file = GriddedFile::open(&path).unwrap();
    let variable = file.variable("SpeciesConc_CH4", &AxisNames::default()).unwrap();
    assert_eq!(variable.levels(), 72);
    let mut ch4 = field(path.clone());
    ch4.variable = "SpeciesConc_CH4".into();
    let FieldProblem { problem, help } = ch4.check(72).unwrap_err();
    assert!(problem.contains("no surface pressure") && help.contains("model"), "{problem}; {help}");
    ch4.surface_pressure = SurfacePressure::Model;
    ch4.check(72).unwrap();
    let list = |name| file.values(name).unwrap().into_iter().rev();
    let a: Vec<f64> = list("hyai").map(|a| 100.0 * a).collect();
    let same = HybridCoordinate::new(a, list("hybi").collect()).unwrap();
    let found = mapped(&ch4, &same, 98_500.0).unwrap().0;
    let grid = sphere();
    let overlap = Weights::new(None).to_cube(variable.axes().mesh(), &grid).unwrap();
    for (k, cells) in found.iter().enumerate() {
        let stored = variable.read(0, 71 - k..72 - k, Missing::Refuse).unwrap();
        let mut expected = vec![0.0; cells.len()];
        overlap.intensive(&stored, &mut expected);
        for (q, expected) in cells.iter().zip(&expected) {
            // Middles are stored in single precision.
            assert!((q / expected - 1.0).abs() < 1e-5, "level {k}: {q} instead of {expected}");
        }
    }
    // A month of emissions into an empty atmosphere: more near the surface than aloft.
    let mean = |cells: &[f64]| cells.iter().sum::<f64>() / cells.len() as f64;
    let (aloft, surface) = (mean(&found[20]), mean(&found[71]));
    assert!((3e-7..4e-7).contains(&surface) && (0.0..0.5 * surface).contains(&aloft), "{aloft} and {surface}");
    let other = HybridCoordinate::smooth(30, 100.0).unwrap();
    let thickness = |v: &HybridCoordinate, k: usize| v.pressure_at(k + 1, 98_500.0) - v.pressure_at(k, 98_500.0);
    let column = |v: &HybridCoordinate, found: &[Vec<f64>], cell: usize| {
        (0..v.levels()).map(|k| found[k][cell] * thickness(v, k)).sum::<f64>()
    };
    for vertical in [VerticalMapping::LogPressure, VerticalMapping::Conservative] {
        ch4.vertical = vertical;
        let (mapped, held) = mapped(&ch4, &other, 98_500.0).unwrap();
        // Above the run's top, at 100 Pa, the file holds a thousandth of its air, and less of its methane.
        let tolerance = if vertical == VerticalMapping::Conservative { 3e-4 } else { 1e-2 };
        for cell in 0..6 * NC * NC {
            let ratio = column(&other, &mapped, cell) / column(&same, &found, cell);
            assert!((ratio - 1.0).abs() < tolerance, "{vertical:?}: {ratio}");
        }
        assert_eq!(held, None);
    }
}
