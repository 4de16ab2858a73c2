//! The grid of a file.

use std::path::{Path, PathBuf};

use netcdf::{File, Variable};

use super::super::error::{OutputError, open};
use super::super::geometry::grid_of;
use crate::grid::constants::FALLBACK_RADIUS_M;
use crate::grid::{CubedSphere, GeometryBundle};
use crate::gridded::stored::{ATTRIBUTES, Packing, text};
use crate::gridded::{Role, check_degrees, role_by_degrees};
use crate::regrid::{LatLonAxes, Mesh};

/// Dimensions of the cells of the cubed sphere, with the names that GEOS and GCHP use.
const CUBE: [&[&str]; 3] = [&["nf", "face"], &["Ydim"], &["Xdim"]];

/// Degrees by which centres in a file may be off.
const CENTRES: f64 = 0.01;

/// A file and its grid.
pub(super) struct Source {
    pub path: PathBuf,
    pub file: File,
    mesh: Mesh,
    cells: Cells,
}

/// Dimensions that make up the cells.
pub(super) enum Cells {
    /// Panel, j and i, together and in this order.
    Cube,
    /// Names of the dimensions of latitude and longitude, and how they run.
    LatLon { lat: String, lon: String, axes: Box<LatLonAxes> },
}

impl Source {
    pub fn open(path: &Path) -> Result<Self, OutputError> {
        let content = |problem: String| OutputError::Content { path: path.to_path_buf(), problem };
        let file = open(path)?;
        let (mesh, cells) = if file.variable("cubed_sphere").is_some() {
            (Mesh::Cube(grid_of(&file).map_err(content)?), Cells::Cube)
        } else if file.dimension("Xdim").is_some() {
            (Mesh::Cube(native_cube(&file).map_err(content)?), Cells::Cube)
        } else {
            let (lat, lon) = (axis(&file, Role::Lat).map_err(content)?, axis(&file, Role::Lon).map_err(content)?);
            let values = |name: &str| centres(&file, name).map_err(content);
            let axes = LatLonAxes::from_centres(&values(&lon)?, &values(&lat)?)
                .map_err(|error| content(format!("{error}; {}", error.help())))?;
            (Mesh::LatLon(axes.mesh().clone()), Cells::LatLon { lat, lon, axes: Box::new(axes) })
        };
        Ok(Self { path: path.to_path_buf(), file, mesh, cells })
    }

    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// Positions among the dimensions of a variable of those that make up the cells, if it has them.
    pub fn place(&self, variable: &Variable) -> Option<Vec<usize>> {
        let dims: Vec<String> = variable.dimensions().iter().map(netcdf::Dimension::name).collect();
        match &self.cells {
            Cells::Cube => {
                let fits = |at: usize| CUBE.iter().zip(&dims[at..]).all(|(names, dim)| names.contains(&dim.as_str()));
                let at = (0..(dims.len() + 1).saturating_sub(CUBE.len())).find(|at| fits(*at))?;
                Some((at..at + CUBE.len()).collect())
            }
            Cells::LatLon { lat, lon, .. } => {
                let find = |name: &String| dims.iter().position(|dim| dim == name);
                Some(vec![find(lat)?, find(lon)?])
            }
        }
    }

    /// Puts a slice into the order of the mesh. `places` are those of the variable.
    pub fn order(&self, stored: Vec<f64>, places: &[usize]) -> Vec<f64> {
        let Cells::LatLon { axes, .. } = &self.cells else { return stored };
        let (nlon, nlat) = (axes.mesh().nlon(), axes.mesh().nlat());
        let stored = if places[0] < places[1] {
            stored
        } else {
            (0..nlat * nlon).map(|cell| stored[cell % nlon * nlat + cell / nlon]).collect()
        };
        let mut ordered = Vec::new();
        axes.reorder(&stored, &mut ordered);
        ordered
    }

    /// Whether a variable describes the grid of the file, or cells of it that the new grid does not have.
    pub fn describes_grid(&self, variable: &Variable) -> bool {
        const NAMES: [&str; 8] =
            ["lons", "lats", "corner_lons", "corner_lats", "cell_area", "contacts", "anchor", "cubed_sphere"];
        const CUBE_DIMENSIONS: [&str; 8] = ["nf", "face", "Ydim", "Xdim", "ncontact", "Ycorner", "Xcorner", "XCdim"];
        let name = variable.name();
        let dims: Vec<String> = variable.dimensions().iter().map(netcdf::Dimension::name).collect();
        match &self.cells {
            Cells::Cube => {
                let of_grid = |dim: &String| CUBE_DIMENSIONS.contains(&dim.as_str()) || dim == "four";
                let places = dims.len() < CUBE.len() && !dims.is_empty() && dims.iter().all(of_grid);
                NAMES.contains(&name.as_str()) || places
            }
            Cells::LatLon { lat, lon, .. } => {
                let of_axis = |axis: &String| {
                    let bounds = self.file.variable(axis).and_then(|v| text(&v, "bounds"));
                    name == *axis || bounds.is_some_and(|bounds| bounds == name)
                };
                let alone = dims.len() <= 1 && dims.iter().all(|dim| dim == lat || dim == lon) && !dims.is_empty();
                of_axis(lat) || of_axis(lon) || alone || name == "cell_area"
            }
        }
    }
}

/// Usual names of the coordinate variables of an axis.
fn usual_names(role: Role) -> [&'static str; 4] {
    match role {
        Role::Lat => ["lat", "latitude", "nav_lat", "y"],
        _ => ["lon", "longitude", "nav_lon", "x"],
    }
}

/// Name of the dimension with a coordinate variable of this kind.
fn axis(file: &File, role: Role) -> Result<String, String> {
    let coordinates = file.dimensions().map(|dim| dim.name()).filter(|name| {
        file.variable(name).is_some_and(|v| v.dimensions().len() == 1 && v.dimensions()[0].name() == *name)
    });
    let coordinates: Vec<String> = coordinates.collect();
    let units = |name: &String| file.variable(name).and_then(|v| text(&v, "units"));
    let by_units = |name: &&String| units(name).and_then(|units| role_by_degrees(&units)) == Some(role);
    let by_name = |name: &&String| usual_names(role).iter().any(|n| n.eq_ignore_ascii_case(name));
    let found = coordinates.iter().find(by_units).or_else(|| coordinates.iter().find(by_name));
    let found = found.ok_or_else(|| {
        let (what, direction) = (role.words(), if role == Role::Lat { "north" } else { "east" });
        format!(
            "neither a cubed-sphere file nor one with a coordinate variable of {what}: its units are degrees_{direction}"
        )
    })?;
    check_degrees(role, units(found).as_deref()).map_err(|problem| format!("'{found}' {problem}"))?;
    Ok(found.clone())
}

/// Values of a coordinate variable.
fn centres(file: &File, name: &str) -> Result<Vec<f64>, String> {
    let variable = file.variable(name).ok_or_else(|| format!("no variable `{name}`"))?;
    let packing = Packing::of(&variable).map_err(|problem| format!("{problem}; {ATTRIBUTES}"))?;
    let mut values = variable.get_values::<f64, _>(..).map_err(|e| format!("'{name}' cannot be read ({e})"))?;
    packing.unpack(&mut values).map_err(|found| {
        let place = format!("value {}", found.at + 1);
        format!("{}; {}", found.problem(name, &place), found.help())
    })?;
    Ok(values)
}

/// The grid of a native file of GEOS or GCHP, which holds no other description than the centres of its cells.
fn native_cube(file: &File) -> Result<CubedSphere, String> {
    let nc = file.dimension_len("Xdim").ok_or("no dimension `Xdim`")?;
    let bundle = GeometryBundle::GeosNative;
    let grid =
        CubedSphere::new(nc, bundle, bundle.default_offset_deg(), FALLBACK_RADIUS_M).map_err(|e| e.to_string())?;
    let centres = Mesh::Cube(grid.clone()).centres();
    for (name, expected) in
        [("lons", centres.iter().map(|c| c.0).collect::<Vec<_>>()), ("lats", centres.iter().map(|c| c.1).collect())]
    {
        let variable = file.variable(name).ok_or_else(|| format!("a cubed sphere without centres: no `{name}`"))?;
        let found = variable.get_values::<f64, _>(..).map_err(|e| format!("`{name}`: {e}"))?;
        let off = |(a, b): (&f64, &f64)| ((a - b + 180.0).rem_euclid(360.0) - 180.0).abs() > CENTRES;
        if found.len() != expected.len() || found.iter().zip(&expected).any(off) {
            return Err(format!("`{name}` are not those of the cubed sphere of GEOS with Nc = {nc}"));
        }
    }
    Ok(grid)
}
