//! Initial fields on a longitude-latitude grid.

mod column;
mod levels;

use std::path::PathBuf;

use jiff::Timestamp;
use kernels::Scalar;

use super::{ChosenRecord, InitialContext, Negatives, RecordChoice, VerticalOrder, fill, units};
use crate::grid::constants::GRAVITY;
use crate::gridded::{AxisNames, GriddedError, GriddedFile, GriddedVariable, Missing};
use crate::state::PackedState;
use levels::{Levels, pressure_factor};

/// A field of dry mole fractions in a NetCDF file, with its dimensions in any order.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldFile {
    /// The file.
    pub file: PathBuf,
    /// The variable.
    pub variable: String,
    /// Units instead of its attribute.
    pub units: Option<String>,
    /// Record.
    pub record: RecordChoice,
    /// Surface pressure on which the file's levels rest.
    pub surface_pressure: SurfacePressure,
    /// How values come to the levels of the run.
    pub vertical: VerticalMapping,
    /// Order of levels, for files that say nothing about their pressures.
    pub vertical_order: Option<VerticalOrder>,
    /// What to do with negative values.
    pub negatives: Negatives,
}

/// Surface pressure of an initial field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SurfacePressure {
    /// The first that the file has of Psurf, PS, ps, psurf, sp, surface_pressure, PSFC, aps.
    Known,
    /// A variable of the file.
    Variable(String),
    /// That of the run.
    Model,
}

/// How values come from the levels of a file to those of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerticalMapping {
    /// On the straight line in the logarithm of pressure between the middles of layers; constant beyond the ends.
    LogPressure,
    /// By the pressure that layers share, so that what lies in both columns is kept.
    Conservative,
}

/// Names of surface pressures.
const SURFACE_PRESSURES: [&str; 8] = ["Psurf", "PS", "ps", "psurf", "sp", "surface_pressure", "PSFC", "aps"];

/// What is wrong with a field and what to do about it.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldProblem {
    /// What is wrong, to follow the name of the file.
    pub problem: String,
    /// What to do about it.
    pub help: &'static str,
}

impl From<GriddedError> for FieldProblem {
    fn from(error: GriddedError) -> Self {
        Self { problem: error.problem(), help: error.help() }
    }
}

fn refuse<T>(problem: String, help: &'static str) -> Result<T, FieldProblem> {
    Err(FieldProblem { problem, help })
}

/// A field whose file has been understood.
struct Opened<'a> {
    variable: GriddedVariable<'a>,
    /// Factor to mol mol⁻¹.
    factor: f64,
    levels: Levels,
    record: ChosenRecord,
    /// Name of the surface pressure in the file, if it is taken from there.
    surface_pressure: Option<String>,
}

impl FieldFile {
    /// Checks the file against a run of `levels` layers, without reading values of the field; returns the record.
    ///
    /// # Errors
    /// Variables, units, records, levels or a surface pressure that are absent or do not fit.
    pub fn check(&self, levels: usize) -> Result<ChosenRecord, FieldProblem> {
        self.open(&GriddedFile::open(&self.file)?, levels).map(|opened| opened.record)
    }

    /// The record, if the file can be understood.
    pub fn record(&self) -> Option<ChosenRecord> {
        let file = GriddedFile::open(&self.file).ok()?;
        let variable = file.variable(&self.variable, &AxisNames::default()).ok()?;
        self.chosen(&file, &variable).ok()
    }

    fn chosen(&self, file: &GriddedFile, variable: &GriddedVariable<'_>) -> Result<ChosenRecord, FieldProblem> {
        let times = variable.time_axis().and_then(|axis| file.times(axis, Timestamp::UNIX_EPOCH).ok());
        self.record.among(variable.times(), times.as_deref())
    }

    fn open<'a>(&self, file: &'a GriddedFile, levels: usize) -> Result<Opened<'a>, FieldProblem> {
        let name = &self.variable;
        let variable = match file.variable(name, &AxisNames::default()) {
            Ok(variable) => variable,
            Err(_) if file.has(name) && file.dimension_names().iter().any(|d| ["nf", "face"].contains(&d.as_str())) => {
                return refuse(format!("'{name}' lies on the panels of a cubed sphere"), help::PANELS);
            }
            Err(error) => return Err(error.into()),
        };
        let record = self.chosen(file, &variable)?;
        let factor = units::factor(name, self.units.as_deref(), variable.units());
        let factor = factor.map_err(|problem| FieldProblem { problem, help: units::UNITS })?;
        let found = Levels::of(file, &variable, self.vertical_order)?;
        if found == Levels::Model(VerticalOrder::TopFirst) || found == Levels::Model(VerticalOrder::SurfaceFirst) {
            if variable.levels() != levels {
                let count = variable.levels();
                let problem = format!("'{name}' has {count} levels whose pressures are not told, the run has {levels}");
                return refuse(problem, help::COEFFICIENTS);
            }
            if self.vertical == VerticalMapping::Conservative {
                return refuse(format!("'{name}' has levels whose pressures are not told"), help::COEFFICIENTS);
            }
        }
        if self.vertical == VerticalMapping::Conservative && !found.has_interfaces() {
            let problem = format!("'{name}' has levels whose interfaces are not told");
            return refuse(problem, "give coefficients of the interfaces, or leave out `vertical = \"conservative\"`");
        }
        let surface_pressure = match &self.surface_pressure {
            SurfacePressure::Known if !found.rests_on_surface() => None,
            _ if !found.rests_on_surface() => {
                let problem = format!("the levels of '{name}' do not rest on a surface pressure");
                return refuse(problem, "remove `surface_pressure`");
            }
            SurfacePressure::Model => None,
            SurfacePressure::Variable(given) => Some(given.clone()),
            SurfacePressure::Known => match SURFACE_PRESSURES.iter().find(|known| file.has(known)) {
                Some(known) => Some((*known).to_owned()),
                None => {
                    let problem = format!(
                        "has no surface pressure ({}), on which the levels of '{name}' rest",
                        SURFACE_PRESSURES.join(", ")
                    );
                    return refuse(problem, "name it in `surface_pressure`, or write \"model\" for that of the run");
                }
            },
        };
        if let Some(pressure) = &surface_pressure {
            let pressure = file.variable(pressure, &AxisNames::default())?;
            if pressure.axes() != variable.axes() || pressure.levels() > 1 {
                return refuse(
                    format!("'{}' is not on the grid of '{name}'", pressure.name()),
                    "give a surface pressure on the grid of the field",
                );
            }
            pressure_factor(pressure.name(), pressure.units().as_deref())?;
        }
        Ok(Opened { variable, factor, levels: found, record, surface_pressure })
    }

    /// Surface pressure of the file in every cell of the sphere, Pa.
    fn surface_pressure(
        &self,
        file: &GriddedFile,
        name: &str,
        record: ChosenRecord,
        map: &mut Map<'_>,
    ) -> Result<Vec<f64>, FieldProblem> {
        let pressure = file.variable(name, &AxisNames::default())?;
        let record = if pressure.times() > 1 { record.index } else { 0 };
        let mut values = pressure.read(record, 0..1, Missing::Refuse)?;
        let factor = pressure_factor(name, pressure.units().as_deref())?;
        values.iter_mut().for_each(|value| *value *= factor);
        if let Some(value) = values.iter().find(|value| !(2e4..=1.2e5).contains(*value)) {
            return refuse(
                format!("'{name}' is {value} Pa somewhere, which no surface pressure is"),
                "mend its units, Pa or hPa",
            );
        }
        map.put(&values)
    }
}

/// The way from the grid of the file to the cells of the sphere.
struct Map<'a> {
    overlap: &'a crate::regrid::Overlap,
    name: &'a str,
}

impl Map<'_> {
    fn put(&mut self, values: &[f64]) -> Result<Vec<f64>, FieldProblem> {
        let mut cells = vec![0.0; self.overlap.dst_areas().len()];
        self.overlap.intensive(values, &mut cells);
        match cells.iter().filter(|value| value.is_nan()).count() {
            0 => Ok(cells),
            n => refuse(
                format!("'{}' says nothing about {n} of {} cells of the run", self.name, cells.len()),
                "give a field that covers the sphere",
            ),
        }
    }
}

/// Fills a tracer from a field on a longitude-latitude grid. Where values are mapped by shared pressure, returns what the
/// file holds in kg of carrier air.
pub(super) fn fill_from_field<R: Scalar>(
    state: &mut PackedState<R>,
    index: usize,
    field: &FieldFile,
    context: &InitialContext<'_, R>,
) -> Result<Option<f64>, FieldProblem> {
    let file = GriddedFile::open(&field.file)?;
    let opened = field.open(&file, state.levels())?;
    let grid = context.grid;
    let overlap = context.weights.to_cube(opened.variable.axes().mesh(), grid);
    let overlap = overlap.map_err(|e| FieldProblem { problem: e.to_string(), help: e.help() })?;
    let mut map = Map { overlap: &overlap, name: &field.variable };
    let count = opened.variable.levels();
    let mut values = Vec::with_capacity(count);
    // From the top down, whatever the order of the file.
    for k in opened.levels.order(count) {
        let mut level = opened.variable.read(opened.record.index, k..k + 1, Missing::Refuse)?;
        level.iter_mut().for_each(|value| *value *= opened.factor);
        check_values(&field.variable, &level, k, opened.variable.axes().mesh().nlon())?;
        if field.negatives == Negatives::Clamp {
            level.iter_mut().for_each(|value| *value = value.max(0.0));
        }
        values.push(map.put(&level)?);
    }
    let pressure = opened.surface_pressure.as_deref();
    let pressure = pressure.map(|name| field.surface_pressure(&file, name, opened.record, &mut map)).transpose()?;
    let nc = grid.nc();
    let set = state.tile_set().clone();
    let levels = state.levels();
    let mut mapped: Vec<Vec<f64>> = Vec::with_capacity(set.len());
    let mut columns = column::Columns::new(&opened.levels, field.vertical, count, context.vertical);
    for (n, (tile, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
        let mut cells = vec![0.0; levels * shape.ni * shape.nj];
        let run = context.surface_pressure.plane(0, n, 0);
        for (j, i) in (0..shape.nj).flat_map(|j| (0..shape.ni).map(move |i| (j, i))) {
            let cell = (tile.panel.index() * nc + tile.j0 + j) * nc + tile.i0 + i;
            let target = run[shape.row_start(j) + i].to_f64();
            let source = pressure.as_ref().map_or(target, |pressure| pressure[cell]);
            let column = columns.map(|k| values[k][cell], source, target);
            let column = column.map_err(|problem| FieldProblem {
                problem: format!("{problem} at {} ({}, {})", tile.panel, tile.i0 + i + 1, tile.j0 + j + 1),
                help: help::COEFFICIENTS,
            })?;
            for (k, value) in column.iter().enumerate() {
                cells[(k * shape.nj + j) * shape.ni + i] = *value;
            }
        }
        mapped.push(cells);
    }
    fill(state, index, |level, tile, i, j| {
        let shape = &set.shapes()[tile];
        mapped[tile][(level * shape.nj + j) * shape.ni + i]
    });
    Ok(pressure.filter(|_| field.vertical == VerticalMapping::Conservative).map(|pressure| {
        let mass = |cell: usize| {
            let thickness = columns.thickness(pressure[cell]);
            let column: f64 = thickness.zip(&values).map(|(dp, level)| dp * level[cell]).sum();
            column * grid.area(cell % nc, cell / nc % nc) / GRAVITY
        };
        (0..6 * nc * nc).map(mass).sum()
    }))
}

/// Refuses mole fractions that cannot be; rows of the level are `width` long.
fn check_values(name: &str, level: &[f64], k: usize, width: usize) -> Result<(), FieldProblem> {
    let Some(n) = units::impossible(level) else { return Ok(()) };
    let (level, k, row, column) = (level[n], k + 1, n / width + 1, n % width + 1);
    let place = format!("level {k}, row {row} from the south, column {column} from the west");
    refuse(format!("'{name}' is {level} mol mol-1 at {place}; no mole fraction is beyond 1"), units::VALUES)
}

/// What to do about levels.
mod help {
    pub(super) const PANELS: &str = "write kind = \"cs_native\" if they are those of the run, with as many levels; for another grid \
                                     put it on longitudes and latitudes first (`atmostr regrid`)";
    pub(super) const COEFFICIENTS: &str = "give pressures of the levels in the file: ap and bp, hyam and hybm (with P0), \
                                           hyai and hybi, or a level coordinate in Pa or hPa";
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
