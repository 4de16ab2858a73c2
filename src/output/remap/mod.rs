//! Variables of a file on another grid.

mod fields;
mod new_grid;
mod source;
mod target;

use std::fmt;
use std::path::Path;

use self::fields::Kind;
use self::source::Source;
use super::error::{OutputError, check_target};
use crate::files::same_file;
use crate::grid::constants::FALLBACK_RADIUS_M;
use crate::regrid::{LatLonSides, Mesh, RegridError, WeightCache};

/// What is put on another grid, and how.
#[derive(Debug)]
pub struct RegridRequest<'a> {
    /// Name of the grid ([`Mesh::named`]), or a file whose grid is meant.
    pub target: &'a str,
    /// Variables; all that have a value per cell if empty.
    pub variables: &'a [String],
    /// Variables that are amounts per cell whatever their units.
    pub amounts: &'a [String],
    /// Variables that are means over the cell whatever their units.
    pub means: &'a [String],
    /// Northern and southern sides of lat-lon cells.
    pub sides: LatLonSides,
    /// Where weights are kept.
    pub cache: WeightCache,
}

/// What was done.
#[derive(Clone, Debug, PartialEq)]
pub struct RegridReport {
    /// From which grid to which.
    pub grids: (String, String),
    /// Each variable with what became of it.
    pub variables: Vec<(String, Mapped)>,
    /// Variables that were left out, as their types cannot be copied.
    pub left_out: Vec<String>,
    /// Cells of the new grid that the old one covers by half or less: they have no value.
    pub uncovered: usize,
}

/// How a variable was put on the new grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mapped {
    /// Means, weighted by area.
    Mean {
        /// Global means of the first slice before and after.
        of: [f64; 2],
    },
    /// Amounts.
    Amount {
        /// Sums over the cells of the first slice before and after.
        of: [f64; 2],
    },
}

impl fmt::Display for RegridReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} -> {}", self.grids.0, self.grids.1)?;
        let width = self.variables.iter().map(|v| v.0.len()).max().unwrap_or(0);
        for (name, mapped) in &self.variables {
            let (how, [before, after]) = match mapped {
                Mapped::Mean { of } => ("mean", of),
                Mapped::Amount { of } => ("sum ", of),
            };
            writeln!(f, "  {name:width$}  {how} {before:.9e} -> {after:.9e}")?;
        }
        if self.uncovered > 0 {
            writeln!(f, "{} cells are not covered and have no value", self.uncovered)?;
        }
        if !self.left_out.is_empty() {
            writeln!(f, "left out: {}", self.left_out.join(", "))?;
        }
        Ok(())
    }
}

impl From<(&Path, RegridError)> for OutputError {
    fn from((path, error): (&Path, RegridError)) -> Self {
        match error {
            RegridError::Io { .. } | RegridError::NetCdf { .. } => Self::Weights(error),
            other => Self::Content { path: path.to_path_buf(), problem: format!("{other}; {}", other.help()) },
        }
    }
}

/// The mesh of a grid by name, or of a file: a cubed-sphere file, or one with latitudes and longitudes. A cubed sphere by
/// name has the radius `radius_m`.
///
/// # Errors
/// [`OutputError::Content`] for other names, and for files whose grid is not known.
pub fn mesh_of(grid: &str, sides: LatLonSides, radius_m: f64) -> Result<Mesh, OutputError> {
    let path = Path::new(grid);
    let mesh = if path.is_file() {
        Source::open(path)?.mesh().clone()
    } else {
        Mesh::named(grid, radius_m)
            .map_err(|error| OutputError::Selection(vec![format!("{error}; {}", error.help())]))?
    };
    with_sides(mesh, sides).map_err(|error| (path, error).into())
}

/// Refuses a folder of weights that neither holds those of the meshes nor takes new ones.
///
/// # Errors
/// [`OutputError::Content`], naming the folder.
pub fn check_cache(cache: &WeightCache, from: &Mesh, to: &Mesh) -> Result<(), OutputError> {
    cache
        .check(from, to)
        .map_err(|(folder, problem)| OutputError::Content { path: folder, problem: problem.to_string() })
}

/// Refuses a result `out` that cannot be made or replaced, or would replace one of the files `read`.
///
/// # Errors
/// [`OutputError::Content`], naming the file.
pub fn check_output(out: &Path, read: &[&Path]) -> Result<(), OutputError> {
    check_target(out)?;
    if read.iter().any(|path| same_file(path, out)) {
        let problem = "the result would overwrite the file it is made of; choose another path".into();
        return Err(OutputError::Content { path: out.to_path_buf(), problem });
    }
    Ok(())
}

fn with_sides(mesh: Mesh, sides: LatLonSides) -> Result<Mesh, RegridError> {
    match mesh {
        Mesh::LatLon(mesh) => mesh.with_sides(sides).map(Mesh::LatLon),
        other => Ok(other),
    }
}

/// Puts variables of the NetCDF file `path` on another grid, conservatively, and writes them to `out`.
///
/// Variables with a value per cell are averaged by area, or added up if they are amounts per cell (units such as `kg` or
/// `kg s-1`, or `cell_methods` with `area: sum`). Missing values do not count, infinite ones are refused. Variables without cells are copied; those
/// that describe the old grid are replaced by those of the new one.
///
/// # Errors
/// If the file cannot be read, its grid is not known, a variable does not exist (close names are given) or has no value
/// per cell, the new grid is not a lat-lon grid or cubed sphere, or `out` cannot be written.
pub fn regrid(path: &Path, request: &RegridRequest, out: &Path) -> Result<RegridReport, OutputError> {
    check_output(out, &[path, Path::new(request.target)])?;
    let source = Source::open(path)?;
    let fields = source.fields(request)?;
    let radius_m = match source.mesh() {
        Mesh::Cube(grid) => grid.radius_m(),
        _ => FALLBACK_RADIUS_M,
    };
    let target = mesh_of(request.target, request.sides, radius_m)?;
    let from = with_sides(source.mesh().clone(), request.sides).map_err(|error| OutputError::from((path, error)))?;
    check_cache(&request.cache, &from, &target)?;
    let weights = request.cache.get(&from, &target).map_err(|error| OutputError::from((path, error)))?;
    target::write(&source, &fields, &from, &target, &weights, out)
}

/// How the values of one slice are mapped, with what the report says of the first one.
fn report_of(kind: Kind, of: [f64; 2]) -> Mapped {
    match kind {
        Kind::Mean => Mapped::Mean { of },
        Kind::Amount => Mapped::Amount { of },
    }
}
