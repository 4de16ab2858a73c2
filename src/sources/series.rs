//! Writes sources on the model's own cells, as [`NativeFiles`](super::NativeFiles) reads them.

use std::path::{Path, PathBuf};

use decomposition::Panel;
use jiff::Timestamp;
use tempfile::TempPath;

use super::SourceError;
use super::error::{Refusal, help};
use crate::grid::CubedSphere;

/// Precision of stored fluxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FluxPrecision {
    /// 32 bits.
    Single,
    /// 64 bits.
    Double,
}

/// A number or a text that a file says about its flux.
#[derive(Clone, Debug, PartialEq)]
pub enum FluxAttribute {
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
}

/// A file of fluxes that is being written; it takes its name when it is complete.
#[derive(Debug)]
pub struct NativeSeries {
    path: PathBuf,
    staged: TempPath,
    file: netcdf::FileMut,
    variable: String,
    precision: FluxPrecision,
    /// Areas of the cells of a panel, m².
    areas: Vec<f64>,
    slices: usize,
}

impl NativeSeries {
    /// Begins the file `path` with fluxes in kg m⁻² s⁻¹ of a `variable` on `grid`, times in s since `start`.
    ///
    /// # Errors
    /// [`SourceError::File`] if it cannot be written.
    pub fn create(
        path: &Path,
        grid: &CubedSphere,
        variable: &str,
        start: Timestamp,
        precision: FluxPrecision,
        attributes: &[(&str, FluxAttribute)],
    ) -> Result<Self, SourceError> {
        let refuse = |why: String| Refusal::with(help::WRITE)(format!("cannot be written ({why})")).of(path);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|e| refuse(e.to_string()))?;
        let staged = tempfile::Builder::new().prefix(".fluxes").suffix(".nc").tempfile_in(folder);
        let staged = staged.map_err(|e| refuse(e.to_string()))?.into_temp_path();
        let begun = begin(&staged, grid, variable, start, precision, attributes);
        let file = begun.map_err(|e| refuse(e.to_string()))?;
        let nc = grid.nc();
        let areas = (0..nc * nc).map(|n| grid.area(n % nc, n / nc)).collect();
        Ok(Self { path: path.into(), staged, file, variable: variable.into(), precision, areas, slices: 0 })
    }

    /// Appends a slice at `seconds`: `amounts` in kg s⁻¹ of every cell of the sphere, panel by panel, row by row.
    ///
    /// # Errors
    /// [`SourceError::File`] if it cannot be written.
    ///
    /// # Panics
    /// Unless there is one amount for every cell.
    pub fn append(&mut self, seconds: f64, amounts: &[f64]) -> Result<(), SourceError> {
        let cells = self.areas.len();
        assert_eq!(amounts.len(), 6 * cells, "one amount for every cell");
        let densities = amounts.iter().enumerate().map(|(n, amount)| amount / self.areas[n % cells]);
        let slice = self.slices;
        self.slices += 1;
        let written = match self.precision {
            FluxPrecision::Single => self.put(slice, seconds, &densities.map(|d| d as f32).collect::<Vec<f32>>()),
            FluxPrecision::Double => self.put(slice, seconds, &densities.collect::<Vec<f64>>()),
        };
        written.map_err(|e| Refusal::with(help::WRITE)(format!("cannot be written ({e})")).of(&self.path))
    }

    fn put<T: netcdf::NcTypeDescriptor>(
        &mut self,
        slice: usize,
        seconds: f64,
        values: &[T],
    ) -> Result<(), netcdf::Error> {
        let missing = |name: &str| netcdf::Error::Str(format!("no variable {name}"));
        let mut time = self.file.variable_mut("time").ok_or_else(|| missing("time"))?;
        time.put_value(seconds, [slice])?;
        let mut flux = self.file.variable_mut(&self.variable).ok_or_else(|| missing(&self.variable))?;
        flux.put_values(values, (slice..slice + 1, .., .., ..))
    }

    /// Completes the file.
    ///
    /// # Errors
    /// [`SourceError::File`] if it cannot be written.
    pub fn finish(self) -> Result<(), SourceError> {
        let refuse = |why: String| Refusal::with(help::WRITE)(format!("cannot be written ({why})")).of(&self.path);
        self.file.close().map_err(|e| refuse(e.to_string()))?;
        readable_as_usual(&self.staged)
            .and_then(|()| Ok(self.staged.persist(&self.path)?))
            .map_err(|e| refuse(e.to_string()))
    }
}

/// Gives a staged file, which is private, the rights of others.
fn readable_as_usual(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644))?;
    }
    Ok(())
}

fn begin(
    path: &Path,
    grid: &CubedSphere,
    variable: &str,
    start: Timestamp,
    precision: FluxPrecision,
    attributes: &[(&str, FluxAttribute)],
) -> Result<netcdf::FileMut, netcdf::Error> {
    let nc = grid.nc();
    let mut file = netcdf::create(path)?;
    file.add_unlimited_dimension("time")?;
    for (name, len) in [("nf", 6), ("Ydim", nc), ("Xdim", nc)] {
        file.add_dimension(name, len)?;
    }
    let mut time = file.add_variable::<f64>("time", &["time"])?;
    time.put_attribute("units", format!("seconds since {}", start.strftime("%Y-%m-%d %H:%M:%S")))?;
    time.put_attribute("calendar", "standard")?;
    let dimensions = ["time", "nf", "Ydim", "Xdim"];
    let mut flux = match precision {
        FluxPrecision::Single => file.add_variable::<f32>(variable, &dimensions)?,
        FluxPrecision::Double => file.add_variable::<f64>(variable, &dimensions)?,
    };
    flux.put_attribute("units", "kg m-2 s-1")?;
    flux.put_attribute("coordinates", "lons lats")?;
    for (name, value) in attributes {
        match value {
            FluxAttribute::Text(text) => file.add_attribute(name, text.as_str()).map(drop)?,
            FluxAttribute::Number(number) => file.add_attribute(name, *number).map(drop)?,
        }
    }
    let cells = Panel::ALL.into_iter().flat_map(|panel| (0..nc * nc).map(move |n| (panel, n % nc, n / nc)));
    let places: Vec<(f64, f64)> = cells.map(|(panel, i, j)| grid.center_lonlat(panel, i, j)).collect();
    let areas: Vec<f64> = (0..6 * nc * nc).map(|n| grid.area(n % nc, n / nc % nc)).collect();
    for (name, units, values) in [
        ("lons", "degrees_east", places.iter().map(|place| place.0).collect()),
        ("lats", "degrees_north", places.iter().map(|place| place.1).collect()),
        ("cell_area", "m2", areas),
    ] {
        let mut coordinate = file.add_variable::<f64>(name, &dimensions[1..])?;
        coordinate.put_attribute("units", units)?;
        coordinate.put_values(&values, ..)?;
    }
    Ok(file)
}
