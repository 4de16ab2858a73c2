//! Initial fields stored on the model's own cubed sphere.

use std::path::Path;

use jiff::Timestamp;
use kernels::Scalar;

use super::{ChosenRecord, FieldProblem, InitialState, Negatives, RecordChoice, VerticalOrder, fill, units};
use crate::files::open_netcdf;
use crate::gridded::stored::{ATTRIBUTES, Packing, check_dimensions, sizes, text};
use crate::gridded::time_unit;
use crate::state::PackedState;

/// Dimensions of a field, with their spellings.
const DIMENSIONS: [&[&str]; 5] = [&["time"], &["lev", "level"], &["nf", "face"], &["Ydim"], &["Xdim"]];

/// What to do about files that do not fit.
const UNREADABLE: &str = "the file is damaged or of a type that is not known; get it again";
const VARIABLE: &str = "name a variable of the file in `variable`";
const GRID: &str = "the field lies on the grid and levels of the run, as (time, lev, nf, Ydim, Xdim)";

/// What to read.
pub(super) struct Request<'a> {
    pub(super) file: &'a Path,
    pub(super) variable: &'a str,
    pub(super) units: Option<&'a str>,
    pub(super) record: RecordChoice,
    pub(super) vertical_order: VerticalOrder,
    pub(super) negatives: Negatives,
}

/// A problem that is dealt with in this way.
fn with(help: &'static str) -> impl Fn(String) -> FieldProblem {
    move |problem| FieldProblem { problem, help }
}

impl<'a> Request<'a> {
    /// What a state asks for, if it is one on the model's grid.
    pub(super) fn of(state: &'a InitialState) -> Option<Self> {
        let InitialState::CsNative { file, variable, units, record, vertical_order, negatives } = state else {
            return None;
        };
        let (units, record) = (units.as_deref(), *record);
        Some(Self { file, variable, units, record, vertical_order: *vertical_order, negatives: *negatives })
    }

    /// Checks shape, units and record without reading values; returns the record.
    pub(super) fn check(&self, nc: usize, levels: usize) -> Result<ChosenRecord, FieldProblem> {
        self.factor(&self.open()?, nc, levels).map(|found| found.record)
    }

    /// The record, if the file can be understood.
    pub(super) fn record(&self) -> Option<ChosenRecord> {
        let file = self.open().ok()?;
        let records = *sizes(&file.variable(self.variable)?).first()?;
        self.record.among(records, times(&file).as_deref()).ok()
    }

    fn open(&self) -> Result<netcdf::File, FieldProblem> {
        open_netcdf(self.file).map_err(|e| with(e.help())(e.to_string()))
    }

    /// The variable, how it is stored, its factor to mol mol⁻¹, and the record.
    fn factor<'f>(&self, file: &'f netcdf::File, nc: usize, levels: usize) -> Result<Found<'f>, FieldProblem> {
        let name = self.variable;
        let variable = file.variable(name).ok_or_else(|| {
            let names: Vec<String> = file.variables().map(|v| v.name()).collect();
            with(VARIABLE)(format!("has no variable '{name}'; it holds {}", names.join(", ")))
        })?;
        check_dimensions(&variable, &DIMENSIONS).map_err(with(GRID))?;
        let sizes = sizes(&variable);
        let [records, layers, 6, ydim, xdim] = sizes[..] else {
            return Err(with(GRID)(format!("'{name}' has shape {sizes:?}, expected (time, lev, 6, {nc}, {nc})")));
        };
        if (layers, ydim, xdim) != (levels, nc, nc) {
            let found = format!("{layers} levels of C{xdim}");
            return Err(with(GRID)(format!("'{name}' holds {found}, the winds need {levels} levels of C{nc}")));
        }
        let record = self.record.among(records, times(file).as_deref())?;
        let factor = units::factor(name, self.units, text(&variable, "units")).map_err(with(units::UNITS))?;
        let packing = Packing::of(&variable).map_err(with(ATTRIBUTES))?;
        Ok(Found { variable, packing, factor, record })
    }
}

/// A variable that has been understood.
struct Found<'f> {
    variable: netcdf::Variable<'f>,
    packing: Packing,
    /// Factor to mol mol⁻¹.
    factor: f64,
    record: ChosenRecord,
}

/// Times of the records, s since 1970-01-01 UTC, if the file tells them.
fn times(file: &netcdf::File) -> Option<Vec<f64>> {
    let time = file.variable("time")?;
    let calendar = text(&time, "calendar");
    let unit =
        time_unit(&text(&time, "units")?, calendar.as_deref().unwrap_or("standard"), Timestamp::UNIX_EPOCH).ok()?;
    let stated: Vec<f64> = time.get_values(..).ok()?;
    Some(stated.into_iter().map(|value| unit.seconds(value)).collect())
}

/// Fills a tracer from the tiles of a (time, lev, nf, Ydim, Xdim) variable.
pub(super) fn fill_from_file<R: Scalar>(
    state: &mut PackedState<R>,
    index: usize,
    request: &Request<'_>,
    nc: usize,
) -> Result<(), FieldProblem> {
    let (file, levels) = (request.open()?, state.levels());
    let Found { variable, packing, factor, record } = request.factor(&file, nc, levels)?;
    let set = state.tile_set().clone();
    let mut values: Vec<Vec<f64>> = Vec::with_capacity(set.len());
    for tile in set.tiles() {
        let extents = [
            (record.index..record.index + 1).into(),
            (0..levels).into(),
            (tile.panel.index()..tile.panel.index() + 1).into(),
            (tile.j0..tile.j0 + tile.nj).into(),
            (tile.i0..tile.i0 + tile.ni).into(),
        ];
        let extents: [netcdf::Extent; 5] = extents;
        let field = variable.get_values::<f64, _>(extents);
        let mut field = field.map_err(|e| with(UNREADABLE)(format!("'{}' cannot be read ({e})", request.variable)))?;
        let place = |n: usize| {
            let (level, cell) = (n / (tile.ni * tile.nj) + 1, n % (tile.ni * tile.nj));
            let (i, j) = (tile.i0 + cell % tile.ni + 1, tile.j0 + cell / tile.ni + 1);
            format!("level {level}, {} ({i}, {j})", tile.panel)
        };
        packing
            .unpack(&mut field)
            .map_err(|found| with(found.help())(found.problem(request.variable, &place(found.at))))?;
        field.iter_mut().for_each(|value| *value *= factor);
        if let Some(n) = units::impossible(&field) {
            let (name, value) = (request.variable, field[n]);
            let problem = format!("'{name}' is {value} mol mol-1 at {}; no mole fraction is beyond 1", place(n));
            return Err(with(units::VALUES)(problem));
        }
        values.push(field);
    }
    fill(state, index, |level, tile, i, j| {
        let shape = &set.shapes()[tile];
        let k = match request.vertical_order {
            VerticalOrder::SurfaceFirst => levels - 1 - level,
            VerticalOrder::TopFirst => level,
        };
        let q = values[tile][(k * shape.nj + j) * shape.ni + i];
        match request.negatives {
            Negatives::Clamp => q.max(0.0),
            Negatives::Keep => q,
        }
    });
    Ok(())
}

#[cfg(test)]
#[path = "cs_native_tests.rs"]
mod tests;
