//! Initial fields from small files.

use std::sync::Arc;

use decomposition::Layout;

use super::*;
use crate::grid::GeometryBundle;
use crate::state::{AIR, TileSet};

const NC: usize = 4;
const LEVELS: usize = 2;

/// Mole fractions of a field whose stored numbers are 1 to 192, in the order of the file.
fn read(
    dimensions: [&str; 5],
    units: Option<&str>,
    packing: Option<(f64, f64)>,
    fill_value: i16,
) -> Result<Vec<f64>, String> {
    read_as(None, dimensions, units, packing, fill_value)
}

/// The same with units `given` in the configuration.
fn read_as(
    given: Option<&str>,
    dimensions: [&str; 5],
    units: Option<&str>,
    packing: Option<(f64, f64)>,
    fill_value: i16,
) -> Result<Vec<f64>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ic.nc");
    let mut file = netcdf::create(&path).unwrap();
    for (name, len) in dimensions.iter().zip([1, LEVELS, 6, NC, NC]) {
        file.add_dimension(name, len).unwrap();
    }
    let mut field = file.add_variable::<i16>("CO2", &dimensions).unwrap();
    field.set_fill_value(fill_value).unwrap();
    if let Some(units) = units {
        field.put_attribute("units", units).unwrap();
    }
    if let Some((scale, offset)) = packing {
        field.put_attribute("scale_factor", scale).unwrap();
        field.put_attribute("add_offset", offset).unwrap();
    }
    let numbers: Vec<i16> = (1..).take(LEVELS * 6 * NC * NC).collect();
    field.put_values(&numbers, ..).unwrap();
    file.close().unwrap();
    let convention = GeometryBundle::GeosNative.convention();
    let layout = Layout::new(NC, convention, 1, 3, None).unwrap();
    let set = Arc::new(TileSet::new(layout.tiles_of(0).to_vec(), layout.halo()));
    let mut state = PackedState::<f64>::zeros(set.clone(), LEVELS, vec!["co2".into()]);
    for (level, tile) in (0..LEVELS).flat_map(|level| (0..set.len()).map(move |tile| (level, tile))) {
        state.slabs_mut().plane_mut(level, tile, AIR).fill(1.0);
    }
    let request = Request {
        file: &path,
        variable: "CO2",
        units: given,
        record: RecordChoice::Only,
        vertical_order: VerticalOrder::TopFirst,
        negatives: Negatives::Keep,
    };
    let checked = request.check(NC, LEVELS);
    let filled = fill_from_file(&mut state, 0, &request, NC);
    assert!(checked.is_ok() || filled.is_err(), "what a check refuses is not read");
    filled.map_err(|FieldProblem { problem, help }| format!("{problem}; {help}"))?;
    let mut values = vec![f64::NAN; numbers.len()];
    for (n, (tile, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
        for (level, j, i) in
            (0..LEVELS).flat_map(|k| (0..tile.nj * tile.ni).map(move |c| (k, c / tile.ni, c % tile.ni)))
        {
            let at = ((level * 6 + tile.panel.index()) * NC + tile.j0 + j) * NC + tile.i0 + i;
            values[at] = state.slabs().plane(level, n, 1)[shape.row_start(j) + i];
        }
    }
    Ok(values)
}

const FITS: [&str; 5] = ["time", "lev", "nf", "Ydim", "Xdim"];

#[test]
fn packed_fields_are_unpacked() {
    let values = read(FITS, Some("mol mol-1"), Some((2e-6, 0.0)), 1000).unwrap();
    assert!(values.iter().enumerate().all(|(n, v)| *v == 2e-6 * (n + 1) as f64), "{values:?}");
    let values = read(FITS, Some("1"), Some((0.25e-3, -3.5e-3)), 1000).unwrap();
    assert!(values.iter().enumerate().all(|(n, v)| *v == 0.25e-3 * (n + 1) as f64 - 3.5e-3), "{values:?}");
    // The fill value is a stored number, not the value 502 of the first cell.
    assert_eq!(read(FITS, Some("ppm"), Some((2.0, 500.0)), 502).unwrap()[0], 502.0 * 1e-6);
    let missing = read(FITS, Some("ppm"), Some((2.0, 500.0)), 6).unwrap_err();
    assert!(missing.contains("no value at level 1") && missing.contains("(2, 2): 6"), "{missing}");
    let none = read(FITS, Some("ppm"), Some((0.0, 500.0)), 1000).unwrap_err();
    assert!(none.contains("'scale_factor' of 'CO2' is 0") && none.contains("mend the attribute"), "{none}");
    let infinite = read(FITS, Some("ppm"), Some((1e308, 0.0)), 1000).unwrap_err();
    assert!(infinite.contains("'CO2' is infinite at level 1") && infinite.contains("(2, 1): 2"), "{infinite}");
}

#[test]
fn other_dimensions_are_refused() {
    assert!(read(["TIME", "level", "face", "ydim", "xdim"], Some("ppm"), None, 1000).is_ok());
    let transposed = read(["time", "lev", "nf", "Xdim", "Ydim"], Some("ppm"), None, 1000).unwrap_err();
    assert!(transposed.contains("(time, lev, nf, Xdim, Ydim), expected (time, lev or level"), "{transposed}");
}

#[test]
fn units_are_stated_or_given() {
    for (given, stated) in [(None, Some("ppm")), (Some("ppm"), None), (Some("ppm"), Some("K")), (Some("ppm"), Some(""))]
    {
        let values = read_as(given, FITS, stated, None, 1000).unwrap();
        assert!(values.iter().enumerate().all(|(n, v)| *v == 1e-6 * (n + 1) as f64), "{given:?}, {stated:?}");
    }
    for (units, part) in
        [(None, "'CO2' has no units"), (Some(""), "no units"), (Some("kg kg-1"), "'CO2' has units 'kg kg-1'")]
    {
        let problem = read(FITS, units, None, 1000).unwrap_err();
        assert!(problem.contains(part) && problem.contains("`units`") && problem.contains("ppm"), "{problem}");
    }
}

#[test]
fn numbers_that_are_no_mole_fractions_are_refused() {
    for units in ["mol mol-1", "v/v"] {
        let problem = read(FITS, Some(units), None, 1000).unwrap_err();
        let parts = ["'CO2' is 2 mol mol-1 at level 1", "(2, 1)", "ppm", "_FillValue"];
        assert!(parts.iter().all(|part| problem.contains(part)), "{problem}");
    }
}
