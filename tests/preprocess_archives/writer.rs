//! NetCDF files as the archives have them: (time, lev, lat, lon) or (time, lev, nf, Ydim, Xdim), Float32.

use std::path::Path;

use atmostr::grid::{CubedSphere, GeometryBundle};
use decomposition::Panel;

pub const RADIUS: f64 = 6_371_229.0;

/// The value as a file keeps it.
pub fn stored(value: f64) -> f64 {
    f64::from(value as f32)
}

/// Order of the layers in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    SurfaceFirst,
    TopFirst,
}

/// Where the values lie.
#[derive(Clone, Debug)]
pub enum Grid {
    LatLon { lon: Vec<f64>, lat: Vec<f64> },
    Cube { nc: usize },
}

impl Grid {
    /// Cells of a level.
    pub fn cells(&self) -> usize {
        match self {
            Self::LatLon { lon, lat } => lon.len() * lat.len(),
            Self::Cube { nc } => 6 * nc * nc,
        }
    }

    /// The grid of MERRA-2 with `nlon` columns and `nlat` rows, the outermost ones on the poles.
    pub fn with_poles(nlon: usize, nlat: usize) -> Self {
        Self::LatLon {
            lon: (0..nlon).map(|i| -180.0 + 360.0 * i as f64 / nlon as f64).collect(),
            lat: (0..nlat).map(|j| -90.0 + 180.0 * j as f64 / (nlat - 1) as f64).collect(),
        }
    }

    /// Longitude and latitude of a cell, degrees.
    pub fn place(&self, cell: usize) -> (f64, f64) {
        match self {
            Self::LatLon { lon, lat } => (lon[cell % lon.len()], lat[cell / lon.len()]),
            Self::Cube { nc } => geos(*nc).center_lonlat(Panel::ALL[cell / (nc * nc)], cell % nc, cell / nc % nc),
        }
    }
}

/// The cube of GEOS.
pub fn geos(nc: usize) -> CubedSphere {
    CubedSphere::new(nc, GeometryBundle::GeosNative, -10.0, RADIUS).unwrap()
}

/// Value of a variable at record, level from the model top and cell.
pub type Value<'a> = Box<dyn Fn(usize, usize, usize) -> f64 + 'a>;

/// A variable to write.
pub struct Variable<'a> {
    pub name: &'static str,
    pub units: &'static str,
    /// 0: no dimension of levels.
    pub levels: usize,
    pub value: Value<'a>,
}

/// A variable from its name, units, levels and values.
pub fn variable<'a>(
    name: &'static str,
    units: &'static str,
    levels: usize,
    value: impl Fn(usize, usize, usize) -> f64 + 'a,
) -> Variable<'a> {
    Variable { name, units, levels, value: Box::new(value) }
}

/// How a file is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    Plain,
    /// Level by level, fast compression.
    Compressed,
}

/// Writes a file of `day` ("YYYY-MM-DD") with records at these minutes.
pub fn write(
    path: &Path,
    grid: &Grid,
    day: &str,
    minutes: &[f64],
    order: Order,
    storage: Storage,
    variables: &[Variable<'_>],
) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = netcdf::create(path).unwrap();
    file.add_dimension("time", minutes.len()).unwrap();
    let mut time = file.add_variable::<f64>("time", &["time"]).unwrap();
    time.put_attribute("units", format!("minutes since {day} 00:00:00")).unwrap();
    time.put_values(minutes, ..).unwrap();
    let levels = variables.iter().map(|v| v.levels).max().unwrap_or(0);
    if levels > 0 {
        file.add_dimension("lev", levels).unwrap();
        let numbers: Vec<f64> = (1..=levels).map(|k| k as f64).collect();
        file.add_variable::<f64>("lev", &["lev"]).unwrap().put_values(&numbers, ..).unwrap();
    }
    let (horizontal, sizes) = axes(&mut file, grid);
    for one in variables {
        let dimensions: Vec<&str> =
            ["time"].into_iter().chain((one.levels > 0).then_some("lev")).chain(horizontal.iter().copied()).collect();
        let mut variable = file.add_variable::<f32>(one.name, &dimensions).unwrap();
        let mut piece = vec![1; dimensions.len() - sizes.len()];
        piece.extend(&sizes);
        if storage == Storage::Compressed {
            variable.set_chunking(&piece).unwrap();
            variable.set_compression(1, true).unwrap();
        }
        variable.put_attribute("units", one.units).unwrap();
        variable.put_attribute("_FillValue", 1e15f32).unwrap();
        for record in 0..minutes.len() {
            for level in 0..one.levels.max(1) {
                let values: Vec<f32> = (0..grid.cells()).map(|cell| (one.value)(record, level, cell) as f32).collect();
                let at = match order {
                    Order::TopFirst => level,
                    Order::SurfaceFirst => one.levels.max(1) - 1 - level,
                };
                let mut extents: Vec<netcdf::Extent> = vec![(record..record + 1).into()];
                if one.levels > 0 {
                    extents.push((at..at + 1).into());
                }
                extents.extend(sizes.iter().map(|n| netcdf::Extent::from(0..*n)));
                variable.put_values(&values, extents).unwrap();
            }
        }
    }
}

/// Adds the horizontal dimensions and their coordinates; returns names and lengths.
fn axes(file: &mut netcdf::FileMut, grid: &Grid) -> (Vec<&'static str>, Vec<usize>) {
    match grid {
        Grid::LatLon { lon, lat } => {
            for (name, units, values) in [("lat", "degrees_north", lat), ("lon", "degrees_east", lon)] {
                file.add_dimension(name, values.len()).unwrap();
                let mut axis = file.add_variable::<f64>(name, &[name]).unwrap();
                axis.put_attribute("units", units).unwrap();
                axis.put_values(values, ..).unwrap();
            }
            (vec!["lat", "lon"], vec![lat.len(), lon.len()])
        }
        Grid::Cube { nc } => {
            let names = vec!["nf", "Ydim", "Xdim"];
            for (name, n) in names.iter().zip([6, *nc, *nc]) {
                file.add_dimension(name, n).unwrap();
            }
            let places: Vec<(f64, f64)> = (0..grid.cells()).map(|cell| grid.place(cell)).collect();
            let lons: Vec<f64> = places.iter().map(|p| p.0).collect();
            let lats: Vec<f64> = places.iter().map(|p| p.1).collect();
            for (name, values) in [("lons", &lons), ("lats", &lats)] {
                file.add_variable::<f64>(name, &names).unwrap().put_values(values, ..).unwrap();
            }
            (names, vec![6, *nc, *nc])
        }
    }
}

/// Opens a file to spoil it.
pub fn spoil(path: &Path, change: impl FnOnce(&mut netcdf::FileMut)) {
    change(&mut netcdf::append(path).unwrap());
}

/// Repeatable values in −1..1.
pub fn noise(seed: u64) -> f64 {
    // SplitMix64, Steele et al. 2014.
    let mut z = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}
