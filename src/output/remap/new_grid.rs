//! Variables of the new grid.

use netcdf::types::{FloatType, IntType, NcVariableType};
use netcdf::{Extents, FileMut};

use super::super::geometry;
use super::super::schema::{self, Storage, VariableDef};
use crate::grid::constants::FALLBACK_RADIUS_M;
use crate::regrid::Mesh;

/// Dimensions of the cells of the new grid.
pub(super) fn cell_dimensions(mesh: &Mesh) -> Vec<(&'static str, usize)> {
    match mesh {
        Mesh::LatLon(mesh) => vec![("lat", mesh.nlat()), ("lon", mesh.nlon())],
        Mesh::Cube(grid) => vec![("nf", 6), ("Ydim", grid.nc()), ("Xdim", grid.nc())],
        Mesh::Reduced(_) => Vec::new(),
    }
}

/// Definitions of the variables of the new grid.
pub(super) fn grid_variables(to: &Mesh) -> Vec<VariableDef> {
    match to {
        Mesh::Cube(grid) => schema::grid_variables(grid)
            .into_iter()
            .filter(|def| !["ncontact", "contacts", "anchor"].contains(&def.name.as_str()))
            .collect(),
        _ => {
            let variable = |name: &str, dims: &[&'static str], pairs: &[(&str, &str)]| VariableDef {
                name: name.into(),
                storage: Storage::Double,
                dims: dims.to_vec(),
                attributes: pairs.iter().map(|(key, value)| (key.to_string(), (*value).into())).collect(),
                field: false,
            };
            let axis = |long_name, standard_name, units, letter, bounds| {
                [
                    ("standard_name", standard_name),
                    ("long_name", long_name),
                    ("units", units),
                    ("axis", letter),
                    ("bounds", bounds),
                ]
            };
            vec![
                variable(
                    "lat",
                    &["lat"],
                    &axis("latitude of the middle of the cell", "latitude", "degrees_north", "Y", "lat_bnds"),
                ),
                variable(
                    "lon",
                    &["lon"],
                    &axis("longitude of the middle of the cell", "longitude", "degrees_east", "X", "lon_bnds"),
                ),
                variable("lat_bnds", &["lat", "bnds"], &[]),
                variable("lon_bnds", &["lon", "bnds"], &[]),
                variable(
                    "cell_area",
                    &["lat", "lon"],
                    &[("standard_name", "cell_area"), ("long_name", "area of the grid cells"), ("units", "m2")],
                ),
            ]
        }
    }
}

/// Adds a variable, with its dimension of corners or bounds.
pub(super) fn add(file: &mut FileMut, def: &VariableDef) -> Result<(), netcdf::Error> {
    let corners = file.dimension_len("Xdim").unwrap_or(0) + 1;
    for (name, length) in [("bnds", 2), ("Ycorner", corners), ("Xcorner", corners)] {
        if def.dims.contains(&name) && file.dimension(name).is_none() {
            file.add_dimension(name, length)?;
        }
    }
    let kind = match def.storage {
        Storage::Int => NcVariableType::Int(IntType::I32),
        Storage::Float => NcVariableType::Float(FloatType::F32),
        Storage::Double => NcVariableType::Float(FloatType::F64),
    };
    let mut variable = file.add_variable_with_type(&def.name, &def.dims, &kind)?;
    for (key, value) in &def.attributes {
        variable.put_attribute(key, value.clone())?;
    }
    Ok(())
}

/// Radius in m of the sphere of the new grid.
pub(super) fn radius(from: &Mesh, to: &Mesh) -> f64 {
    match (to, from) {
        (Mesh::Cube(grid), _) | (_, Mesh::Cube(grid)) => grid.radius_m(),
        _ => FALLBACK_RADIUS_M,
    }
}

/// Values of the variables of the new grid.
pub(super) fn write_grid(file: &mut FileMut, to: &Mesh, radius_m: f64) -> Result<(), netcdf::Error> {
    let mut doubles = |name: &str, values: &[f64]| match file.variable_mut(name) {
        Some(mut variable) => variable.put_values(values, ..),
        None => Ok(()),
    };
    match to {
        Mesh::Cube(grid) => {
            let (lons, lats) = geometry::centers(grid);
            let (corner_lons, corner_lats) = geometry::corners(grid);
            doubles("lons", &lons)?;
            doubles("lats", &lats)?;
            doubles("corner_lons", &corner_lons)?;
            doubles("corner_lats", &corner_lats)?;
            doubles("cell_area", &geometry::areas(grid))?;
            if let Some(mut variable) = file.variable_mut("cubed_sphere") {
                variable.put_value(0i32, Extents::All)?;
            }
            Ok(())
        }
        Mesh::LatLon(mesh) => {
            let areas: Vec<f64> = to.areas().into_iter().map(|area| area * (radius_m * radius_m)).collect();
            doubles("lat", &middles(mesh.lat_edges()))?;
            doubles("lon", &middles(mesh.lon_edges()))?;
            doubles("lat_bnds", &bounds(mesh.lat_edges()))?;
            doubles("lon_bnds", &bounds(mesh.lon_edges()))?;
            doubles("cell_area", &areas)
        }
        Mesh::Reduced(_) => Ok(()),
    }
}

fn middles(edges: &[f64]) -> Vec<f64> {
    edges.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect()
}

fn bounds(edges: &[f64]) -> Vec<f64> {
    edges.windows(2).flatten().copied().collect()
}
