//! Variables with a value per cell.

use netcdf::types::{FloatType, NcVariableType};
use netcdf::{AttributeValue, Variable};

use super::super::error::{Context, OutputError};
use super::super::schema::{Attributes, Storage};
use super::super::selection::close_names;
use super::RegridRequest;
use super::source::Source;
use super::units::{Told, told_by};
use crate::files;
use crate::gridded::first_mark;
use crate::gridded::stored::{ATTRIBUTES, Packing, text};

/// What the values of a variable stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Means over the cell.
    Mean,
    /// Amounts in the cell.
    Amount,
}

/// A variable to be mapped.
pub(super) struct Field {
    pub name: String,
    pub kind: Kind,
    pub storage: Storage,
    /// Names and lengths of the dimensions other than those of cells.
    pub lead: Vec<(String, usize)>,
    /// Positions of the dimensions of cells.
    pub places: Vec<usize>,
    /// Attributes that stay true on another grid.
    pub attributes: Attributes,
    packing: Packing,
}

/// Attributes that speak of the old grid or of how numbers were stored.
const DROPPED: [&str; 13] = [
    "coordinates",
    "grid_mapping",
    "cell_measures",
    "bounds",
    "_FillValue",
    "missing_value",
    "scale_factor",
    "add_offset",
    "valid_range",
    "valid_min",
    "valid_max",
    "actual_range",
    "_Unsigned",
];

impl Source {
    /// The variables that are asked for.
    pub fn fields(&self, request: &RegridRequest) -> Result<Vec<Field>, OutputError> {
        let content = |problem: String| OutputError::Content { path: self.path.clone(), problem };
        let all = self.file.variables().filter(|v| self.place(v).is_some() && !self.describes_grid(v));
        let all: Vec<(String, Variable)> = all.map(|v| (v.name(), v)).collect();
        let asked = [request.variables, request.amounts, request.means].concat();
        for name in &asked {
            if all.iter().any(|(known, _)| known == name) {
                continue;
            }
            let problem = match files::variable(&self.file, name) {
                Some(variable) => {
                    let dims: Vec<String> = variable.dimensions().iter().map(netcdf::Dimension::name).collect();
                    format!(
                        "variable `{name}` has no value per cell that can be regridded: its dimensions are ({})",
                        dims.join(", ")
                    )
                }
                None => {
                    let known: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
                    let close = close_names(name, known.iter().copied());
                    let close = if close.is_empty() {
                        known.join(", ")
                    } else {
                        format!("did you mean {}?", close.join(" or "))
                    };
                    format!("no variable `{name}`; {close}")
                }
            };
            return Err(content(problem));
        }
        if let Some(name) = request.amounts.iter().find(|name| request.means.contains(name)) {
            return Err(content(format!("variable `{name}` cannot be both an amount and a mean")));
        }
        let chosen = all.iter().filter(|(name, _)| request.variables.is_empty() || request.variables.contains(name));
        let given = |name: &String| match () {
            () if request.amounts.contains(name) => Some(Kind::Amount),
            () if request.means.contains(name) => Some(Kind::Mean),
            () => None,
        };
        let chosen: Vec<Field> =
            chosen.map(|(name, v)| self.field(v, given(name)).map_err(content)).collect::<Result<_, _>>()?;
        if chosen.is_empty() {
            return Err(content("no variable has a value per cell".into()));
        }
        Ok(chosen)
    }

    fn field(&self, variable: &Variable, given: Option<Kind>) -> Result<Field, String> {
        let places = self.place(variable).unwrap_or_default();
        let dims = variable.dimensions().iter().enumerate().filter(|(at, _)| !places.contains(at));
        let lead = dims.map(|(_, dim)| (dim.name(), dim.len())).collect();
        let packing = Packing::of(variable).map_err(|problem| format!("{problem}; {ATTRIBUTES}"))?;
        let packing = packing.with_unwritten(variable);
        let double = variable.vartype() == NcVariableType::Float(FloatType::F64);
        let kept = variable.attributes().filter(|a| !DROPPED.contains(&a.name()));
        let attributes = kept.filter_map(|a| Some((a.name().to_owned(), a.value().ok()?))).collect();
        Ok(Field {
            name: variable.name(),
            kind: given.map_or_else(|| kind(variable), Ok)?,
            storage: if double { Storage::Double } else { Storage::Float },
            lead,
            places,
            attributes,
            packing,
        })
    }

    /// Values of one slice in the order of the mesh; not a number where missing.
    ///
    /// # Errors
    /// [`OutputError::Content`] for the first value that is infinite, or marks what is missing without being declared.
    pub fn read(&self, field: &Field, slice: &[usize]) -> Result<Vec<f64>, OutputError> {
        let path = &self.path;
        let gone = || OutputError::Content { path: path.clone(), problem: format!("no variable `{}`", field.name) };
        let variable = files::variable(&self.file, &field.name).ok_or_else(gone)?;
        let mut lead = slice.iter();
        let (mut start, mut count) = (Vec::new(), Vec::new());
        for (at, dim) in variable.dimensions().iter().enumerate() {
            let of_cells = field.places.contains(&at);
            start.push(if of_cells { 0 } else { *lead.next().unwrap_or(&0) });
            count.push(if of_cells { dim.len() } else { 1 });
        }
        let mut values =
            variable.get_values::<f64, _>((&*start, &*count)).context(path, || format!("read `{}`", field.name))?;
        let place_of = |at: usize| {
            let dims: Vec<String> = variable.dimensions().iter().map(netcdf::Dimension::name).collect();
            place(&dims, &start, &count, at)
        };
        field.packing.unpack_all(&mut values).map_err(|found| {
            let problem = format!("{}; {}", found.problem(&field.name, &place_of(found.at)), found.help());
            OutputError::Content { path: path.clone(), problem }
        })?;
        if let Some(at) = first_mark(&values).filter(|_| !field.packing.has_limits()) {
            let (name, value, place) = (&field.name, values[at], place_of(at));
            let problem = format!(
                "'{name}' is {value:e} at {place}, which marks a missing value; declare it as `_FillValue` of the variable, \
                 or state in `valid_range` that it is a value"
            );
            return Err(OutputError::Content { path: path.clone(), problem });
        }
        Ok(self.order(values, &field.places))
    }
}

/// Where value `at` of a block lies along each dimension, counted from 1.
pub(super) fn place(dims: &[String], start: &[usize], count: &[usize], at: usize) -> String {
    let mut rest = at;
    let mut parts: Vec<String> = Vec::with_capacity(dims.len());
    for (dim, (start, count)) in dims.iter().zip(start.iter().zip(count)).rev() {
        parts.push(format!("{dim} {}", start + rest % count + 1));
        rest /= count;
    }
    parts.reverse();
    parts.join(", ")
}

/// Amounts are told by `cell_methods` (CF), else by their units.
fn kind(variable: &Variable) -> Result<Kind, String> {
    let methods = text(variable, "cell_methods").unwrap_or_default();
    if methods.contains("area: sum") {
        return Ok(Kind::Amount);
    }
    if methods.contains("area: mean") {
        return Ok(Kind::Mean);
    }
    let units = text(variable, "units").unwrap_or_default();
    match told_by(&units) {
        Told::Amount => Ok(Kind::Amount),
        Told::Mean => Ok(Kind::Mean),
        Told::Unclear => {
            let name = variable.name();
            Err(format!(
                "'{name}' has units '{units}', which may be those of an amount per cell; give --amount {name} if its \
                 values add up, else --mean {name}"
            ))
        }
    }
}

/// A number from an attribute for the storage type of a field.
pub(super) fn as_stored(value: f64, storage: Storage) -> AttributeValue {
    match storage {
        Storage::Float => (value as f32).into(),
        _ => value.into(),
    }
}
