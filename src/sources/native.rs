//! Sources stored on the model's own cubed sphere.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use kernels::Scalar;
use netcdf::AttributeValue;

use super::units::{flux_factor, time_unit};
use super::{Conversion, Source, SourceError, SourceTimes, TimeScheme};
use crate::grid::CubedSphere;
use crate::state::TileSet;

/// Largest relative difference between cell areas of a file and of the grid.
const AREA_TOLERANCE: f64 = 1e-4;

/// When the run takes place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunSpan {
    /// Start of the run.
    pub start: Timestamp,
    /// Its length in s.
    pub seconds: f64,
}

/// A NetCDF file with a variable (time, nf, Ydim, Xdim) in kg m⁻² s⁻¹ (or kgC m⁻² s⁻¹ of CO2).
#[derive(Clone, Debug, PartialEq)]
pub struct NativeFile {
    /// The file.
    pub file: PathBuf,
    /// The variable.
    pub variable: String,
    /// How values between slices are made.
    pub scheme: TimeScheme,
    /// Scale and molar mass.
    pub conversion: Conversion,
}

impl NativeFile {
    /// Reads the slices that the run needs, in the cells of `set`.
    ///
    /// # Errors
    /// [`SourceError::File`] if the file cannot be read, does not fit the grid (shape, `cell_area` within 1e-4), has
    /// other units or a calendar unlike ours, holds times that do not increase, or values that are missing or no
    /// numbers.
    pub fn read<R: Scalar>(
        &self,
        run: &RunSpan,
        grid: &CubedSphere,
        set: &Arc<TileSet>,
    ) -> Result<Source<R>, SourceError> {
        self.read_slices(run, grid, set).map_err(|problem| SourceError::File { file: self.file.clone(), problem })
    }

    fn read_slices<R: Scalar>(
        &self,
        run: &RunSpan,
        grid: &CubedSphere,
        set: &Arc<TileSet>,
    ) -> Result<Source<R>, String> {
        let name = &self.variable;
        let file = netcdf::open(&self.file).map_err(|e| format!("cannot be opened as NetCDF ({e})"))?;
        let variable = file.variable(name).ok_or_else(|| {
            let names: Vec<String> = file.variables().map(|v| v.name()).collect();
            format!("has no variable '{name}'; it holds {}", names.join(", "))
        })?;
        let (sizes, nc) = (sizes(&variable), grid.nc());
        let [slices, 6, ydim, xdim] = sizes[..] else {
            return Err(format!("'{name}' has shape {sizes:?}, expected (time, 6, {nc}, {nc})"));
        };
        if (ydim, xdim) != (nc, nc) {
            return Err(format!("'{name}' is on a grid of {xdim} × {ydim} cells per panel, the model has C{nc}"));
        }
        let units = text(&variable, "units").ok_or_else(|| format!("'{name}' has no units"))?;
        let factor =
            flux_factor(&units, self.conversion.molar_mass()).map_err(|problem| format!("'{name}' {problem}"))?;
        let all = self.times(&file, run, slices)?;
        let needed = all.needed(0.0, run.seconds);
        check_areas(&file, grid, set)?;
        let missing: Vec<f64> = ["_FillValue", "missing_value"]
            .iter()
            .filter_map(|key| attribute(&variable, key)?.try_into().ok())
            .collect();
        let mut densities = Vec::with_capacity(needed.len() * set.len());
        for slice in needed.clone() {
            for tile in set.tiles() {
                let extents: [netcdf::Extent; 4] = [
                    (slice..slice + 1).into(),
                    (tile.panel.index()..tile.panel.index() + 1).into(),
                    (tile.j0..tile.j0 + tile.nj).into(),
                    (tile.i0..tile.i0 + tile.ni).into(),
                ];
                let field = variable.get_values::<f64, _>(extents).map_err(|e| format!("cannot be read ({e})"))?;
                if let Some(n) = field.iter().position(|v| !v.is_finite() || missing.contains(v)) {
                    let (i, j) = (tile.i0 + n % tile.ni + 1, tile.j0 + n / tile.ni + 1);
                    let place = format!("time {}, {} ({i}, {j})", slice + 1, tile.panel);
                    return Err(format!("'{name}' has no value at {place}: {}", field[n]));
                }
                densities.push(field);
            }
        }
        let at = |slice: usize, tile: usize, i: usize, j: usize| {
            densities[slice * set.len() + tile][j * set.tiles()[tile].ni + i] * factor
        };
        Ok(Source::from_densities(set.clone(), grid, all.limited(needed), &self.conversion, at))
    }

    fn times(&self, file: &netcdf::File, run: &RunSpan, slices: usize) -> Result<SourceTimes, String> {
        let time = file.variable("time").ok_or("has no variable 'time'")?;
        let values: Vec<f64> = time.get_values(..).map_err(|e| format!("'time' cannot be read ({e})"))?;
        if values.len() != slices {
            return Err(format!("'time' has {} values for {slices} slices of '{}'", values.len(), self.variable));
        }
        let units = text(&time, "units").ok_or("'time' has no units")?;
        let unit = time_unit(&units, text(&time, "calendar").as_deref().unwrap_or("standard"), run.start)?;
        let seconds = values.iter().map(|v| unit.origin_seconds + v * unit.unit_seconds).collect();
        SourceTimes::new(seconds, self.scheme).map_err(|e| e.to_string())
    }
}

fn sizes(variable: &netcdf::Variable<'_>) -> Vec<usize> {
    variable.dimensions().iter().map(netcdf::Dimension::len).collect()
}

fn attribute(variable: &netcdf::Variable<'_>, key: &str) -> Option<AttributeValue> {
    variable.attribute_value(key)?.ok()
}

fn text(variable: &netcdf::Variable<'_>, key: &str) -> Option<String> {
    match attribute(variable, key)? {
        AttributeValue::Str(text) => Some(text),
        _ => None,
    }
}

/// Compares `cell_area` (nf, Ydim, Xdim), if the file has it, with the areas of the grid.
fn check_areas(file: &netcdf::File, grid: &CubedSphere, set: &TileSet) -> Result<(), String> {
    let Some(variable) = file.variable("cell_area") else { return Ok(()) };
    let expected = [6, grid.nc(), grid.nc()];
    if sizes(&variable) != expected {
        return Err(format!("'cell_area' has shape {:?}, expected {expected:?}", sizes(&variable)));
    }
    for tile in set.tiles() {
        let extents: [netcdf::Extent; 3] = [
            (tile.panel.index()..tile.panel.index() + 1).into(),
            (tile.j0..tile.j0 + tile.nj).into(),
            (tile.i0..tile.i0 + tile.ni).into(),
        ];
        let areas = variable.get_values::<f64, _>(extents).map_err(|e| format!("'cell_area' cannot be read ({e})"))?;
        for (n, stored) in areas.iter().enumerate() {
            let (i, j) = (tile.i0 + n % tile.ni, tile.j0 + n / tile.ni);
            let area = grid.area(i, j);
            let error = (stored / area - 1.0).abs();
            if error.is_nan() || error > AREA_TOLERANCE {
                let place = format!("{} ({}, {})", tile.panel, i + 1, j + 1);
                return Err(format!("'cell_area' at {place} is {stored} m2, the model's cell has {area} m2"));
            }
        }
    }
    Ok(())
}
