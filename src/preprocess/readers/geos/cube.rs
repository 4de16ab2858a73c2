//! NetCDF files on the cubed sphere of GEOS: (time, lev, nf, Ydim, Xdim).

use std::ops::Range;
use std::path::Path;

use super::super::archive::{
    LayerOrder, Variable, check_convection, check_units, check_values, flipped, from_convection, from_ends,
};
use crate::grid::CubedSphere;
use crate::gridded::GriddedFile;
use crate::gridded::stored::{ATTRIBUTES, Packing, check_dimensions, sizes, text};
use crate::preprocess::PreprocessError;

const LEVELS: &[&str] = &["lev", "level", "ilev", "edge"];
const FACES: &[&str] = &["nf", "face"];

/// Values read at once: 64 MiB.
const SLAB: usize = 8 << 20;
/// Largest difference between coordinates of cell centres of a file and of the grid, degrees.
const CENTRE_TOLERANCE: f64 = 1e-2;
/// Distance from a pole, in degrees, within which longitudes say nothing.
const POLE: f64 = 0.1;

/// An open file on a cube of `nc` cells per panel edge.
pub(super) struct CubeFile {
    file: GriddedFile,
    nc: usize,
}

/// A variable that is ready to be read.
struct Found<'a> {
    variable: netcdf::Variable<'a>,
    packing: Packing,
    by: f64,
    /// Records, and levels where there are any.
    records: usize,
    levels: Option<usize>,
}

impl CubeFile {
    /// An open file.
    pub(super) fn new(file: GriddedFile, nc: usize) -> Self {
        Self { file, nc }
    }

    /// The path.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Whether there is a variable.
    pub(super) fn has(&self, variable: Variable) -> bool {
        self.file.has(variable.name())
    }

    /// Cells of a level.
    fn cells(&self) -> usize {
        6 * self.nc * self.nc
    }

    fn found(&self, which: Variable) -> Result<Found<'_>, PreprocessError> {
        const HELP: &str = "fetch the file again, or state the archive's cells per panel edge in `source.source_nc`";
        let refuse = |problem: String| PreprocessError::file(self.path(), problem, HELP);
        let variable = self.file.found(which.name())?;
        let sizes = sizes(&variable);
        let layers = sizes.len() == 5;
        let expected: &[&[&str]] = match layers {
            true => &[&["time"], LEVELS, FACES, &["Ydim"], &["Xdim"]],
            false => &[&["time"], FACES, &["Ydim"], &["Xdim"]],
        };
        check_dimensions(&variable, expected).map_err(refuse)?;
        if sizes[sizes.len() - 3..] != [6, self.nc, self.nc] {
            let problem = format!("'{}' has shape {sizes:?}, expected (…, 6, {nc}, {nc})", which.name(), nc = self.nc);
            return Err(refuse(problem));
        }
        let by = check_units(self.path(), which, text(&variable, "units").as_deref())?;
        let packing =
            Packing::of(&variable).map_err(|problem| PreprocessError::file(self.path(), problem, ATTRIBUTES))?;
        Ok(Found { variable, packing, by, records: sizes[0], levels: layers.then(|| sizes[1]) })
    }

    /// Record `record` of a variable without levels, `[panel][j][i]` in SI units.
    pub(super) fn plane(&self, which: Variable, record: usize) -> Result<Vec<f64>, PreprocessError> {
        let found = self.found(which)?;
        if found.levels.is_some_and(|n| n != 1) {
            let problem = format!("'{}' has {} levels, expected none", which.name(), found.levels.unwrap_or(0));
            return Err(PreprocessError::file(self.path(), problem, "fetch the file again"));
        }
        self.block(&found, which, record, 0..1)
    }

    /// Levels as stored of record `record`, `[level][panel][j][i]` in SI units.
    fn block(
        &self,
        found: &Found<'_>,
        which: Variable,
        record: usize,
        levels: Range<usize>,
    ) -> Result<Vec<f64>, PreprocessError> {
        let refuse = |problem: String| PreprocessError::file(self.path(), problem, "fetch the file again");
        if record >= found.records {
            let problem = format!("'{}' has no record {}; it has {}", which.name(), record + 1, found.records);
            return Err(refuse(problem));
        }
        let mut extents: Vec<netcdf::Extent> = vec![(record..record + 1).into()];
        if found.levels.is_some() {
            extents.push(levels.clone().into());
        }
        extents.extend([6, self.nc, self.nc].map(|n| netcdf::Extent::from(0..n)));
        let mut values = (found.variable.get_values::<f64, _>(extents))
            .map_err(|e| refuse(format!("'{}' cannot be read ({e})", which.name())))?;
        let (nc, cells) = (self.nc, self.cells());
        let place = |n: usize| {
            let level = match found.levels {
                Some(_) => format!("level {}, ", levels.start + n / cells + 1),
                None => String::new(),
            };
            let cell = n % cells;
            format!(
                "time {}, {level}face {} ({}, {})",
                record + 1,
                cell / (nc * nc) + 1,
                cell % nc + 1,
                cell / nc % nc + 1
            )
        };
        found.packing.unpack(&mut values).map_err(|fault| {
            PreprocessError::file(self.path(), fault.problem(which.name(), &place(fault.at)), fault.help())
        })?;
        check_values(self.path(), which, found.by, &mut values, place)?;
        Ok(values)
    }

    /// Ranges of levels, from the model top down, that are read at once: within 64 MiB or one compressed piece.
    pub(super) fn slabs(&self, which: Variable, levels: usize) -> Result<Vec<Range<usize>>, PreprocessError> {
        let found = self.found(which)?;
        let stored = found.levels.unwrap_or(0);
        if stored != levels {
            let problem = format!("'{}' has {stored} levels, expected {levels}", which.name());
            let help = "the archive's layers are those of `vertical.levels`; 72 unless stated";
            return Err(PreprocessError::file(self.path(), problem, help));
        }
        let piece = found.variable.chunking().ok().flatten().map_or(1, |c| c[1].max(1));
        let size = (SLAB / self.cells()).clamp(1, levels).div_ceil(piece) * piece;
        Ok((0..levels.div_ceil(size)).map(|n| n * size..((n + 1) * size).min(levels)).collect())
    }

    /// Levels `range`, counted from the model top, of `levels`.
    pub(super) fn slab(
        &self,
        which: Variable,
        record: usize,
        range: Range<usize>,
        levels: usize,
        order: LayerOrder,
    ) -> Result<Vec<f64>, PreprocessError> {
        let found = self.found(which)?;
        let (first, last) = (order.stored(range.start, levels), order.stored(range.end - 1, levels));
        let stored = first.min(last)..first.max(last) + 1;
        let values = self.block(&found, which, record, stored)?;
        Ok(flipped(values, range.len(), order))
    }

    /// Order of the layers by thickness or humidity, if the file has one of them.
    pub(super) fn own_order(&self) -> Result<Option<LayerOrder>, PreprocessError> {
        let Some(which) = [Variable::Delp, Variable::Qv].into_iter().find(|v| self.has(*v)) else { return Ok(None) };
        let found = self.found(which)?;
        let mean = |k: usize| {
            let values = self.block(&found, which, 0, k..k + 1)?;
            Ok::<_, PreprocessError>(values.iter().sum::<f64>() / values.len() as f64)
        };
        let last = found.levels.unwrap_or(1) - 1;
        from_ends(self.path(), which.name(), mean(0)?, mean(last)?).map(Some)
    }

    /// Order of the layers by a convective field of the first record.
    pub(super) fn convective_order(&self, which: Variable) -> Result<LayerOrder, PreprocessError> {
        let means = self.level_means(which, 0)?;
        from_convection(self.path(), which.name(), &means, means.len())
    }

    /// Means of all levels as stored.
    fn level_means(&self, which: Variable, record: usize) -> Result<Vec<f64>, PreprocessError> {
        let found = self.found(which)?;
        let levels = found.levels.unwrap_or(0);
        let mut means = Vec::with_capacity(levels);
        for range in self.slabs(which, levels)? {
            let values = self.block(&found, which, record, range)?;
            means.extend(values.chunks(self.cells()).map(|level| level.iter().sum::<f64>() / level.len() as f64));
        }
        Ok(means)
    }

    /// Refuses convection in the upper half of the layers; `means` of the levels from the model top down.
    pub(super) fn check_convection(&self, which: Variable, means: &[f64]) -> Result<(), PreprocessError> {
        check_convection(self.path(), which.name(), means, means.len())
    }

    /// Compares `lons` and `lats`, as far as the file has them, with the centres of the grid.
    pub(super) fn check_centres(&self, grid: &CubedSphere) -> Result<(), PreprocessError> {
        if !(self.file.has("lons") && self.file.has("lats")) {
            return Ok(());
        }
        let (lons, lats) = (self.file.values("lons")?, self.file.values("lats")?);
        let help = "the cells of the archive are those of GEOS; state their number in `source.source_nc`";
        if lons.len() != self.cells() || lats.len() != self.cells() {
            let problem = format!(
                "'lons' and 'lats' have {} and {} values, C{} has {}",
                lons.len(),
                lats.len(),
                self.nc,
                self.cells()
            );
            return Err(PreprocessError::file(self.path(), problem, help));
        }
        for (cell, (lon, lat)) in lons.iter().zip(&lats).enumerate() {
            let (panel, i, j) = (cell / (self.nc * self.nc), cell % self.nc, cell / self.nc % self.nc);
            let (east, north) = grid.center_lonlat(decomposition::Panel::ALL[panel], i, j);
            let turn = (lon - east + 180.0).rem_euclid(360.0) - 180.0;
            let lon_fits = north.abs() > 90.0 - POLE || turn.abs() <= CENTRE_TOLERANCE;
            if !(lon_fits && (lat - north).abs() <= CENTRE_TOLERANCE) {
                let problem = format!(
                    "'lons' and 'lats' put face {} ({}, {}) at {lon:.3} E, {lat:.3} N, the cell of GEOS lies at {east:.3} E, \
                     {north:.3} N",
                    panel + 1,
                    i + 1,
                    j + 1
                );
                return Err(PreprocessError::file(self.path(), problem, help));
            }
        }
        Ok(())
    }
}
