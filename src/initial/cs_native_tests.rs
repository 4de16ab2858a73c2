//! Initial fields from small files.

use std::sync::Arc;

use decomposition::Layout;

use super::*;
use crate::grid::GeometryBundle;
use crate::state::{AIR, TileSet};

const NC: usize = 4;
const LEVELS: usize = 2;

/// Stored numbers of a field: 1 to 192, in the order of the file.
fn read(
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
        time_index: 1,
        vertical_order: VerticalOrder::TopFirst,
        negatives: Negatives::Keep,
    };
    fill_from_file(&mut state, 0, &request, NC)?;
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
    let values = read(FITS, Some("mol mol-1"), Some((2.0, 0.0)), 1000).unwrap();
    assert!(values.iter().enumerate().all(|(n, v)| *v == 2.0 * (n + 1) as f64), "{values:?}");
    let values = read(FITS, None, Some((0.25, -3.5)), 1000).unwrap();
    assert!(values.iter().enumerate().all(|(n, v)| *v == 0.25 * (n + 1) as f64 - 3.5), "{values:?}");
    // The fill value is a stored number, not the value 502 of the first cell.
    assert_eq!(read(FITS, None, Some((2.0, 500.0)), 502).unwrap()[0], 502.0);
    let missing = read(FITS, None, Some((2.0, 500.0)), 6).unwrap_err();
    assert!(missing.contains("no value at level 1") && missing.contains("(2, 2): 6"), "{missing}");
    let none = read(FITS, None, Some((0.0, 500.0)), 1000).unwrap_err();
    assert!(none.contains("'scale_factor' of 'CO2' is 0") && none.contains("mend the attribute"), "{none}");
    let infinite = read(FITS, None, Some((1e308, 0.0)), 1000).unwrap_err();
    assert!(infinite.contains("'CO2' is infinite at level 1") && infinite.contains("(2, 1): 2"), "{infinite}");
}

#[test]
fn other_dimensions_are_refused() {
    assert!(read(["TIME", "level", "face", "ydim", "xdim"], None, None, 1000).is_ok());
    let transposed = read(["time", "lev", "nf", "Xdim", "Ydim"], None, None, 1000).unwrap_err();
    assert!(transposed.contains("(time, lev, nf, Xdim, Ydim), expected (time, lev or level"), "{transposed}");
}

#[test]
fn units_are_those_of_a_mole_fraction() {
    for units in ["mol mol-1", "mol mol^-1", "mol/mol", "mol mol-1 dry", "v/v", "1", ""] {
        assert!(check_units(units).is_ok(), "{units}");
    }
    for (units, remedy) in [("ppm", "by 1e-6"), ("ppbv", "by 1e-9"), ("kg kg-1", "28.9644"), ("K", "convert")] {
        let problem = check_units(units).unwrap_err();
        assert!(problem.contains(units) && problem.contains(remedy), "{problem}");
    }
    assert!(read(FITS, Some("ppm"), None, 1000).unwrap_err().contains("'CO2' has units 'ppm'"));
}
