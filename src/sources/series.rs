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

/// A file of fluxes that is being written, under a hidden name beside its place; [`place_all`] gives it its own.
#[derive(Debug)]
pub struct NativeSeries {
    path: PathBuf,
    staged: TempPath,
    file: netcdf::FileMut,
    variable: String,
    precision: FluxPrecision,
    /// Areas of the cells of a panel, m².
    areas: Vec<f64>,
    /// Times of the slices that are written, s.
    times: Vec<f64>,
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
        let refuse = |why: String| unwritable(path, &why);
        // A folder that is still to be made is not made before there is something to put into it.
        let absolute = std::path::absolute(path).map_err(|e| refuse(e.to_string()))?;
        let existing = absolute.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(Path::new("/"));
        let staged = tempfile::Builder::new().prefix(".fluxes").suffix(".nc").tempfile_in(existing);
        let staged = staged.map_err(|e| refuse(e.to_string()))?.into_temp_path();
        let begun = begin(&staged, grid, variable, start, precision, attributes);
        let file = begun.map_err(|e| refuse(e.to_string()))?;
        let nc = grid.nc();
        let areas = (0..nc * nc).map(|n| grid.area(n % nc, n / nc)).collect();
        Ok(Self { path: path.into(), staged, file, variable: variable.into(), precision, areas, times: Vec::new() })
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
        let slice = self.times.len();
        self.times.push(seconds);
        let written = match self.precision {
            FluxPrecision::Single => self.put(slice, seconds, &densities.map(|d| d as f32).collect::<Vec<f32>>()),
            FluxPrecision::Double => self.put(slice, seconds, &densities.collect::<Vec<f64>>()),
        };
        written.map_err(|e| unwritable(&self.path, &e.to_string()))
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

    /// Writes the intervals in which the slices hold, the last of them until `end`.
    fn put_bounds(&mut self, end: f64) -> Result<(), netcdf::Error> {
        let ends = self.times.iter().skip(1).chain([&end]);
        let pairs: Vec<f64> = self.times.iter().zip(ends).flat_map(|(from, to)| [*from, *to]).collect();
        let mut bounds = self.file.variable_mut(BOUNDS).ok_or_else(|| netcdf::Error::Str("no bounds".into()))?;
        bounds.put_values(&pairs, (..self.times.len(), ..))
    }

    /// Completes the file, whose last slice holds until `end` (s); it is still without its name.
    ///
    /// # Errors
    /// [`SourceError::File`] if it cannot be written.
    pub fn finish(mut self, end: f64) -> Result<CompleteSeries, SourceError> {
        self.put_bounds(end).map_err(|e| unwritable(&self.path, &e.to_string()))?;
        let closed = self.file.close().map_err(|e| e.to_string());
        let usual = closed.and_then(|()| readable_as_usual(&self.staged).map_err(|e| e.to_string()));
        usual.map_err(|why| unwritable(&self.path, &why))?;
        Ok(CompleteSeries { path: self.path, staged: self.staged })
    }
}

/// Name of the variable with the intervals in which fluxes hold.
const BOUNDS: &str = "time_bnds";

/// A complete file of fluxes without its name; it vanishes unless it is placed.
#[derive(Debug)]
pub struct CompleteSeries {
    path: PathBuf,
    staged: TempPath,
}

/// Gives complete files their names, all or none: folders are made as need be, files of these names replaced. After an
/// error no file and no folder is there that was not there before.
///
/// # Errors
/// [`SourceError::File`] if a folder or a file cannot be written.
pub fn place_all(files: Vec<CompleteSeries>) -> Result<(), SourceError> {
    let (mut made, mut placed): (Vec<PathBuf>, Vec<PathBuf>) = (Vec::new(), Vec::new());
    for CompleteSeries { path, staged } in files {
        let lacking: Vec<PathBuf> =
            path.ancestors().skip(1).take_while(|f| !f.as_os_str().is_empty() && !f.exists()).map(Into::into).collect();
        let is_new = !path.exists();
        let folder = lacking.first().map_or(Ok(()), std::fs::create_dir_all);
        made.extend(lacking.into_iter().rev());
        if let Err(error) = folder.and_then(|()| staged.persist(&path).map_err(|e| e.error)) {
            // What cannot be taken away again is left; the error tells of the file.
            placed.iter().for_each(|file| drop(std::fs::remove_file(file)));
            made.iter().rev().for_each(|folder| drop(std::fs::remove_dir(folder)));
            return Err(unwritable(&path, &error.to_string()));
        }
        placed.extend(is_new.then_some(path));
    }
    Ok(())
}

fn unwritable(path: &Path, why: &str) -> SourceError {
    Refusal::with(help::WRITE)(format!("cannot be written ({why})")).of(path)
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
    for (name, len) in [("nf", 6), ("Ydim", nc), ("Xdim", nc), ("nv", 2)] {
        file.add_dimension(name, len)?;
    }
    let mut time = file.add_variable::<f64>("time", &["time"])?;
    time.put_attribute("standard_name", "time")?;
    time.put_attribute("long_name", "start of the interval in which the flux holds")?;
    time.put_attribute("axis", "T")?;
    time.put_attribute("units", format!("seconds since {}", start.strftime("%Y-%m-%d %H:%M:%S")))?;
    time.put_attribute("calendar", "standard")?;
    time.put_attribute("bounds", BOUNDS)?;
    let mut bounds = file.add_variable::<f64>(BOUNDS, &["time", "nv"])?;
    bounds.put_attribute("long_name", "interval in which the flux holds")?;
    let dimensions = ["time", "nf", "Ydim", "Xdim"];
    let mut flux = match precision {
        FluxPrecision::Single => file.add_variable::<f32>(variable, &dimensions)?,
        FluxPrecision::Double => file.add_variable::<f64>(variable, &dimensions)?,
    };
    flux.put_attribute("long_name", format!("surface flux of {variable}, positive into the air"))?;
    flux.put_attribute("units", "kg m-2 s-1")?;
    flux.put_attribute("coordinates", "lons lats")?;
    flux.put_attribute("grid_mapping", "cubed_sphere")?;
    for (name, value) in attributes {
        match value {
            FluxAttribute::Text(text) => file.add_attribute(name, text.as_str()).map(drop)?,
            FluxAttribute::Number(number) => file.add_attribute(name, *number).map(drop)?,
        }
    }
    let cells = Panel::ALL.into_iter().flat_map(|panel| (0..nc * nc).map(move |n| (panel, n % nc, n / nc)));
    let places: Vec<(f64, f64)> = cells.map(|(panel, i, j)| grid.center_lonlat(panel, i, j)).collect();
    let areas: Vec<f64> = (0..6 * nc * nc).map(|n| grid.area(n % nc, n / nc % nc)).collect();
    for (name, standard_name, long_name, units, values) in [
        ("lons", "longitude", "longitude of cell centres", "degrees_east", places.iter().map(|p| p.0).collect()),
        ("lats", "latitude", "latitude of cell centres", "degrees_north", places.iter().map(|p| p.1).collect()),
        ("cell_area", "cell_area", "area of the grid cells", "m2", areas),
    ] {
        let mut coordinate = file.add_variable::<f64>(name, &dimensions[1..])?;
        coordinate.put_attribute("standard_name", standard_name)?;
        coordinate.put_attribute("long_name", long_name)?;
        coordinate.put_attribute("units", units)?;
        coordinate.put_values(&values, ..)?;
    }
    describe_grid(&mut file, grid)?;
    Ok(file)
}

/// Adds the variable by which readers, `atmostr plot` among them, know the cells.
fn describe_grid(file: &mut netcdf::FileMut, grid: &CubedSphere) -> Result<(), netcdf::Error> {
    let bundle = grid.bundle();
    let mut mapping = file.add_variable::<i32>("cubed_sphere", &[])?;
    for (name, value) in [
        ("grid_mapping_name", "gnomonic cubed-sphere"),
        ("cs_definition", bundle.cs_definition()),
        ("cs_coordinate_law", bundle.cs_coordinate_law()),
        ("cs_center_law", bundle.cs_center_law()),
        ("panel_convention", bundle.panel_convention()),
    ] {
        mapping.put_attribute(name, value)?;
    }
    mapping.put_attribute("longitude_of_central_meridian", grid.longitude_offset_deg())?;
    mapping.put_attribute("semi_major_axis", grid.radius_m())?;
    mapping.put_attribute("inverse_flattening", 0.0)?;
    mapping.put_value(0i32, netcdf::Extents::All)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::GeometryBundle;

    fn complete(path: &Path) -> CompleteSeries {
        let bundle = GeometryBundle::GeosNative;
        let grid = CubedSphere::new(2, bundle, bundle.default_offset_deg(), 6_371_229.0).unwrap();
        let mut file =
            NativeSeries::create(path, &grid, "co2", Timestamp::UNIX_EPOCH, FluxPrecision::Single, &[]).unwrap();
        file.append(0.0, &[1.0; 24]).unwrap();
        file.finish(1.0).unwrap()
    }

    fn left(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_take_their_names_together_or_leave_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("a/b");
        let (first, second) = (out.join("first.nc"), out.join("second.nc"));
        let files = vec![complete(&first), complete(&second)];
        assert!(!dir.path().join("a").exists());
        drop(files);
        assert_eq!(left(dir.path()), Vec::<String>::new());
        // The second name is a folder with something in it, which no file can replace.
        let blocked = dir.path().join("blocked");
        std::fs::create_dir_all(blocked.join("inside")).unwrap();
        let error = place_all(vec![complete(&first), complete(&blocked)]).unwrap_err();
        assert!(error.to_string().contains("blocked: cannot be written"), "{error}");
        assert_eq!(left(dir.path()), ["blocked"]);
        place_all(vec![complete(&first), complete(&second)]).unwrap();
        assert_eq!(left(&out), ["first.nc", "second.nc"]);
        assert_eq!(left(dir.path()), ["a", "blocked"]);
        // What was there before stays there if a later file fails.
        place_all(vec![complete(&first), complete(&blocked)]).unwrap_err();
        assert_eq!(left(&out), ["first.nc", "second.nc"]);
    }
}
