//! The cells of a file against those of the grid.

use decomposition::Tile;

use crate::grid::CubedSphere;
use crate::gridded::stored::sizes;
use crate::state::TileSet;

/// Largest relative difference between cell areas of a file and of the grid.
const AREA_TOLERANCE: f64 = 1e-4;
/// Largest difference between coordinates of cell centres of a file and of the grid, degrees.
const CENTRE_TOLERANCE: f64 = 1e-2;
/// Distance from a pole, in degrees, within which longitudes say nothing.
const POLE: f64 = 0.1;

/// Compares `cell_area`, `lons` and `lats` (nf, Ydim, Xdim), as far as the file has them, with the cells of `set`.
pub(super) fn check_cells(file: &netcdf::File, grid: &CubedSphere, set: &TileSet) -> Result<(), String> {
    for tile in set.tiles() {
        check_areas(file, grid, tile)?;
        check_centres(file, grid, tile)?;
    }
    Ok(())
}

/// Values of a variable (nf, Ydim, Xdim) in a tile, if the file has it.
fn field(file: &netcdf::File, name: &str, nc: usize, tile: &Tile) -> Result<Option<Vec<f64>>, String> {
    let Some(variable) = file.variable(name) else { return Ok(None) };
    let expected = [6, nc, nc];
    if sizes(&variable) != expected {
        return Err(format!("'{name}' has shape {:?}, expected {expected:?}", sizes(&variable)));
    }
    let extents: [netcdf::Extent; 3] = [
        (tile.panel.index()..tile.panel.index() + 1).into(),
        (tile.j0..tile.j0 + tile.nj).into(),
        (tile.i0..tile.i0 + tile.ni).into(),
    ];
    variable.get_values::<f64, _>(extents).map(Some).map_err(|e| format!("'{name}' cannot be read ({e})"))
}

fn check_areas(file: &netcdf::File, grid: &CubedSphere, tile: &Tile) -> Result<(), String> {
    let Some(areas) = field(file, "cell_area", grid.nc(), tile)? else { return Ok(()) };
    for (n, stored) in areas.iter().enumerate() {
        let (i, j) = (tile.i0 + n % tile.ni, tile.j0 + n / tile.ni);
        let area = grid.area(i, j);
        let error = (stored / area - 1.0).abs();
        if error.is_nan() || error > AREA_TOLERANCE {
            let place = format!("{} ({}, {})", tile.panel, i + 1, j + 1);
            return Err(format!("'cell_area' at {place} is {stored} m2, the model's cell has {area} m2"));
        }
    }
    Ok(())
}

fn check_centres(file: &netcdf::File, grid: &CubedSphere, tile: &Tile) -> Result<(), String> {
    let lons = field(file, "lons", grid.nc(), tile)?;
    let Some(lats) = field(file, "lats", grid.nc(), tile)? else { return Ok(()) };
    let Some(lons) = lons else { return Ok(()) };
    for (n, (lon, lat)) in lons.iter().zip(&lats).enumerate() {
        let (i, j) = (tile.i0 + n % tile.ni, tile.j0 + n / tile.ni);
        let (east, north) = grid.center_lonlat(tile.panel, i, j);
        let turn = (lon - east + 180.0).rem_euclid(360.0) - 180.0;
        let lon_fits = north.abs() > 90.0 - POLE || turn.abs() <= CENTRE_TOLERANCE;
        if !(lon_fits && (lat - north).abs() <= CENTRE_TOLERANCE) {
            let place = format!("{} ({}, {})", tile.panel, i + 1, j + 1);
            return Err(format!(
                "'lons' and 'lats' put {place} at {lon:.3} E, {lat:.3} N, the model's cell lies at {east:.3} E, \
                 {north:.3} N; the file is of another panel convention or grid"
            ));
        }
    }
    Ok(())
}
