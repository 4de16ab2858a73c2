//! Sources stored on the model's own cubed sphere.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use decomposition::Layout;
use jiff::{SignedDuration, Timestamp};
use kernels::Scalar;

use super::cells::check_cells;
use super::error::{Refusal, help};
use super::plausible::{self, largest_flux};
use super::total::SourceTotals;
use super::units::flux_factor;
use super::{Conversion, CoveredTimes, Source, SourceError, SourceTimes, TimeScheme};
use crate::files::open_netcdf;
use crate::grid::CubedSphere;
use crate::gridded::stored::{ATTRIBUTES, Packing, check_dimensions, sizes, text};
use crate::gridded::time_unit;
use crate::state::TileSet;

/// Dimensions of a flux, with their spellings.
const DIMENSIONS: [&[&str]; 4] = [&["time"], &["nf", "face"], &["Ydim"], &["Xdim"]];

/// When the run takes place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunSpan {
    /// Start of the run.
    pub start: Timestamp,
    /// Its length in s.
    pub seconds: f64,
}

impl RunSpan {
    /// The moment `seconds` after the start, in words.
    pub fn instant(&self, seconds: f64) -> String {
        let moment =
            SignedDuration::try_from_secs_f64(seconds.round()).ok().and_then(|s| self.start.checked_add(s).ok());
        moment.map_or_else(|| format!("{seconds} s after the start"), |moment| moment.to_string())
    }
}

/// NetCDF files with a variable (time, nf, Ydim, Xdim) in kg m⁻² s⁻¹ (or kgC m⁻² s⁻¹ of CO2), packed or not. Their times
/// follow one another.
#[derive(Clone, Debug, PartialEq)]
pub struct NativeFiles {
    /// The files, at least one.
    pub files: Vec<PathBuf>,
    /// The variable.
    pub variable: String,
    /// How values between slices are made.
    pub scheme: TimeScheme,
    /// Scale and molar mass.
    pub conversion: Conversion,
}

/// Times of slices, and the intervals for which they stand.
type Stated = (Vec<f64>, Option<Vec<[f64; 2]>>);

/// One file that is open, and what its variable says about itself.
struct Opened<'a> {
    path: &'a Path,
    file: netcdf::File,
    packing: Packing,
    /// Factor to kg of the species m⁻² s⁻¹.
    factor: f64,
    /// Times of its slices, s since the start of the run.
    seconds: Vec<f64>,
    /// Intervals for which they stand, if the file has bounds.
    bounds: Option<Vec<[f64; 2]>>,
}

impl NativeFiles {
    /// Reads the slices that the run needs, in the cells of `set`.
    ///
    /// # Errors
    /// [`SourceError::File`] if a file cannot be read, does not fit the grid (names and lengths of dimensions;
    /// `cell_area` within 1e-4; `lons` and `lats` within 0.01°), has other units or a calendar unlike ours, holds times
    /// that do not increase or do not follow those of the file before, or values that are missing, no numbers or larger
    /// than any flux of the species. [`SourceError::NoSlice`] without a file.
    pub fn read<R: Scalar>(
        &self,
        run: &RunSpan,
        grid: &CubedSphere,
        set: &Arc<TileSet>,
    ) -> Result<Source<R>, SourceError> {
        let (opened, all) = self.open(grid.nc(), run)?;
        let needed = all.needed(0.0, run.seconds);
        let mut densities = Vec::with_capacity(needed.len() * set.len());
        let mut before = 0;
        for one in &opened {
            let slices = needed.start.max(before)..needed.end.min(before + one.seconds.len());
            if !slices.is_empty() {
                check_cells(&one.file, grid, set).map_err(Refusal::with(help::GRID)).map_err(|r| r.of(one.path))?;
            }
            for slice in slices {
                self.read_slice(one, slice - before, set, &mut densities).map_err(|r| r.of(one.path))?;
            }
            before += one.seconds.len();
        }
        let at = |slice: usize, tile: usize, i: usize, j: usize| {
            densities[slice * set.len() + tile][j * set.tiles()[tile].ni + i]
        };
        Ok(Source::from_densities(set.clone(), grid, all.limited(needed), &self.conversion, at))
    }

    /// Checks dimensions, units and times of the files without reading values, and returns the times with what they stand
    /// for, which the time bounds of the files tell.
    ///
    /// # Errors
    /// As for [`NativeFiles::read`], places and areas of cells and values aside.
    pub fn check(&self, nc: usize, run: &RunSpan) -> Result<CoveredTimes, SourceError> {
        let (opened, times) = self.open(nc, run)?;
        let bounds: Option<Vec<&[[f64; 2]]>> = opened.iter().map(|one| one.bounds.as_deref()).collect();
        Ok(match bounds {
            Some(bounds) => CoveredTimes::bounded(times, &bounds.concat()),
            None => CoveredTimes::stated(times),
        })
    }

    /// What the files hold for a run, in kg of the species s⁻¹ with the scale, slice by slice.
    ///
    /// # Errors
    /// As for [`NativeFiles::read`].
    pub fn totals(&self, run: &RunSpan, grid: &CubedSphere) -> Result<SourceTotals, SourceError> {
        let (opened, all) = self.open(grid.nc(), run)?;
        let (needed, tiles) = (all.needed(0.0, run.seconds), whole_panels(grid));
        let (mut totals, mut before) = (Vec::with_capacity(needed.len()), 0);
        for one in &opened {
            let slices = needed.start.max(before)..needed.end.min(before + one.seconds.len());
            if !slices.is_empty() {
                check_cells(&one.file, grid, &tiles).map_err(Refusal::with(help::GRID)).map_err(|r| r.of(one.path))?;
            }
            for slice in slices {
                let mut panels = Vec::with_capacity(6);
                self.read_slice(one, slice - before, &tiles, &mut panels).map_err(|r| r.of(one.path))?;
                let nc = grid.nc();
                let of_panel = |panel: &Vec<f64>| {
                    panel.iter().enumerate().map(|(n, v)| v * grid.area(n % nc, n / nc)).sum::<f64>()
                };
                totals.push(panels.iter().map(of_panel).sum::<f64>() * self.conversion.scale());
            }
            before += one.seconds.len();
        }
        Ok(SourceTotals { times: all.limited(needed), totals })
    }

    fn open(&self, nc: usize, run: &RunSpan) -> Result<(Vec<Opened<'_>>, SourceTimes), SourceError> {
        let mut opened: Vec<Opened<'_>> = Vec::with_capacity(self.files.len());
        for path in &self.files {
            let one = self.open_one(path, nc, run).map_err(|r| r.of(path))?;
            let last = opened.last().and_then(|one| one.seconds.last());
            if let (Some(last), Some(first)) = (last, one.seconds.first())
                && first <= last
            {
                let problem =
                    format!("'time' starts at {first} s after the start of the run, the file before ends at {last} s");
                return Err(Refusal::with(help::ORDER)(problem).of(path));
            }
            opened.push(one);
        }
        let seconds = opened.iter().flat_map(|one| one.seconds.iter().copied()).collect();
        Ok((opened, SourceTimes::new(seconds, self.scheme)?))
    }

    fn open_one<'a>(&self, path: &'a Path, nc: usize, run: &RunSpan) -> Result<Opened<'a>, Refusal> {
        let name = &self.variable;
        let file = open_netcdf(path).map_err(|e| Refusal::with(e.help())(e.to_string()))?;
        let variable = file.variable(name).ok_or_else(|| {
            let names: Vec<String> = file.variables().map(|v| v.name()).collect();
            Refusal::with(help::VARIABLE)(format!("has no variable '{name}'; it holds {}", names.join(", ")))
        })?;
        let grid = Refusal::with(help::GRID);
        check_dimensions(&variable, &DIMENSIONS).map_err(&grid)?;
        let sizes = sizes(&variable);
        let [slices, 6, ydim, xdim] = sizes[..] else {
            return Err(grid(format!("'{name}' has shape {sizes:?}, expected (time, 6, {nc}, {nc})")));
        };
        if (ydim, xdim) != (nc, nc) {
            return Err(grid(format!("'{name}' is on a grid of {xdim} × {ydim} cells per panel, the model has C{nc}")));
        }
        let units = text(&variable, "units").ok_or_else(|| format!("'{name}' has no units"));
        let factor = units.and_then(|units| {
            flux_factor(&units, self.conversion.molar_mass()).map_err(|problem| format!("'{name}' {problem}"))
        });
        let factor = factor.map_err(Refusal::with(help::UNITS))?;
        let (seconds, bounds) = self.seconds(&file, run, slices).map_err(Refusal::with(help::TIMES))?;
        let packing = Packing::of(&variable).map_err(Refusal::with(ATTRIBUTES))?;
        drop(variable);
        Ok(Opened { path, file, packing, factor, seconds, bounds })
    }

    /// Times of the slices of a file, s since the start of the run, and the intervals of their bounds if it has them.
    fn seconds(&self, file: &netcdf::File, run: &RunSpan, slices: usize) -> Result<Stated, String> {
        let time = file.variable("time").ok_or("has no variable 'time'")?;
        let values: Vec<f64> = time.get_values(..).map_err(|e| format!("'time' cannot be read ({e})"))?;
        if values.len() != slices {
            return Err(format!("'time' has {} values for {slices} slices of '{}'", values.len(), self.variable));
        }
        let units = text(&time, "units").ok_or("'time' has no units")?;
        let calendar = text(&time, "calendar");
        let unit = time_unit(&units, calendar.as_deref().unwrap_or("standard"), run.start)
            .map_err(|problem| format!("'time' {problem}"))?;
        let seconds: Vec<f64> = values.iter().map(|v| unit.seconds(*v)).collect();
        SourceTimes::new(seconds.clone(), self.scheme).map_err(|e| e.to_string())?;
        let Some(name) = text(&time, "bounds") else { return Ok((seconds, None)) };
        let Some(bounds) = file.variable(&name) else { return Ok((seconds, None)) };
        let stored: Vec<f64> = bounds.get_values(..).map_err(|e| format!("'{name}' cannot be read ({e})"))?;
        if stored.len() != 2 * slices {
            return Err(format!("'{name}' has {} values for {slices} slices", stored.len()));
        }
        let pairs: Vec<[f64; 2]> = stored.chunks_exact(2).map(|pair| [0, 1].map(|n| unit.seconds(pair[n]))).collect();
        match pairs.iter().position(|[from, to]| !(from.is_finite() && to.is_finite() && from < to)) {
            Some(n) => {
                Err(format!("'{name}' of time {} are {:?}, which do not increase", n + 1, &stored[2 * n..2 * n + 2]))
            }
            None => Ok((seconds, Some(pairs))),
        }
    }

    /// Appends the flux densities of a slice of a file, one field per tile, in kg of the species m⁻² s⁻¹.
    fn read_slice(
        &self,
        one: &Opened<'_>,
        slice: usize,
        set: &TileSet,
        densities: &mut Vec<Vec<f64>>,
    ) -> Result<(), Refusal> {
        let name = &self.variable;
        let variable = one.file.variable(name).expect("the variable was there when the file was opened");
        let (scale, largest) = (self.conversion.scale(), largest_flux(self.conversion.molar_mass()));
        for tile in set.tiles() {
            let extents: [netcdf::Extent; 4] = [
                (slice..slice + 1).into(),
                (tile.panel.index()..tile.panel.index() + 1).into(),
                (tile.j0..tile.j0 + tile.nj).into(),
                (tile.i0..tile.i0 + tile.ni).into(),
            ];
            let mut field = variable
                .get_values::<f64, _>(extents)
                .map_err(|e| Refusal::with(help::FORMAT)(format!("'{name}' cannot be read ({e})")))?;
            let place = |n: usize| {
                let (i, j) = (tile.i0 + n % tile.ni + 1, tile.j0 + n / tile.ni + 1);
                format!("time {}, {} ({i}, {j})", slice + 1, tile.panel)
            };
            one.packing
                .unpack(&mut field)
                .map_err(|found| Refusal::with(found.help())(found.problem(name, &place(found.at))))?;
            for (n, value) in field.iter_mut().enumerate() {
                let flux = *value * one.factor;
                plausible::check(name, *value, flux * scale, largest, || place(n))?;
                *value = flux;
            }
            densities.push(field);
        }
        Ok(())
    }
}

/// The six panels as tiles.
fn whole_panels(grid: &CubedSphere) -> TileSet {
    let layout = Layout::new(grid.nc(), grid.convention(), 1, 1, None).expect("one rank can hold any grid");
    TileSet::new(layout.tiles_of(0).to_vec(), layout.halo())
}
