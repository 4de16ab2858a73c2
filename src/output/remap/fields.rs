//! Variables with a value per cell.

use netcdf::types::{FloatType, NcVariableType};
use netcdf::{AttributeValue, Variable};

use super::super::error::{Context, OutputError};
use super::super::schema::{Attributes, Storage};
use super::super::selection::close_names;
use super::RegridRequest;
use super::source::Source;
use crate::gridded::stored::{ATTRIBUTES, Packing, text};

/// What the values of a variable stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Means over the cell.
    Mean,
    /// Amounts in the cell.
    Amount,
}

/// Units of amounts.
const AMOUNTS: [&str; 14] =
    ["kg", "g", "t", "Mg", "Gg", "Tg", "Pg", "mol", "kmol", "molec", "molecules", "kgC", "kgCO2", "tonnes"];

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
            let problem = match self.file.variable(name) {
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
        let mut chosen: Vec<Field> = chosen.map(|(_, v)| self.field(v).map_err(content)).collect::<Result<_, _>>()?;
        if chosen.is_empty() {
            return Err(content("no variable has a value per cell".into()));
        }
        for field in &mut chosen {
            if request.amounts.contains(&field.name) {
                field.kind = Kind::Amount;
            } else if request.means.contains(&field.name) {
                field.kind = Kind::Mean;
            }
        }
        Ok(chosen)
    }

    fn field(&self, variable: &Variable) -> Result<Field, String> {
        let places = self.place(variable).unwrap_or_default();
        let dims = variable.dimensions().iter().enumerate().filter(|(at, _)| !places.contains(at));
        let lead = dims.map(|(_, dim)| (dim.name(), dim.len())).collect();
        let packing = Packing::of(variable).map_err(|problem| format!("{problem}; {ATTRIBUTES}"))?;
        let double = variable.vartype() == NcVariableType::Float(FloatType::F64);
        let kept = variable.attributes().filter(|a| !DROPPED.contains(&a.name()));
        let attributes = kept.filter_map(|a| Some((a.name().to_owned(), a.value().ok()?))).collect();
        Ok(Field {
            name: variable.name(),
            kind: kind(variable),
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
    /// [`OutputError::Content`] for the first value that is infinite.
    pub fn read(&self, field: &Field, slice: &[usize]) -> Result<Vec<f64>, OutputError> {
        let path = &self.path;
        let gone = || OutputError::Content { path: path.clone(), problem: format!("no variable `{}`", field.name) };
        let variable = self.file.variable(&field.name).ok_or_else(gone)?;
        let mut lead = slice.iter();
        let (mut start, mut count) = (Vec::new(), Vec::new());
        for (at, dim) in variable.dimensions().iter().enumerate() {
            let of_cells = field.places.contains(&at);
            start.push(if of_cells { 0 } else { *lead.next().unwrap_or(&0) });
            count.push(if of_cells { dim.len() } else { 1 });
        }
        let mut values =
            variable.get_values::<f64, _>((&*start, &*count)).context(path, || format!("read `{}`", field.name))?;
        field.packing.unpack_all(&mut values).map_err(|found| {
            let dims: Vec<String> = variable.dimensions().iter().map(netcdf::Dimension::name).collect();
            let place = place(&dims, &start, &count, found.at);
            let problem = format!("{}; {}", found.problem(&field.name, &place), found.help());
            OutputError::Content { path: path.clone(), problem }
        })?;
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
fn kind(variable: &Variable) -> Kind {
    let methods = text(variable, "cell_methods").unwrap_or_default();
    if methods.contains("area: sum") {
        return Kind::Amount;
    }
    if methods.contains("area: mean") {
        return Kind::Mean;
    }
    let units = text(variable, "units").unwrap_or_default();
    let units = units.trim();
    let per_time = [" s-1", "/s", " day-1", "/day", " month-1", "/month", " yr-1", "/yr", " year-1", "/year"];
    let stem = per_time.iter().find_map(|suffix| units.strip_suffix(suffix)).unwrap_or(units);
    let lower = units.to_lowercase();
    let by_cell = ["cell-1", "per cell", "per grid cell", "per gridcell", "/cell", "/gridcell"];
    // Areas add up as amounts do.
    let area = ["m2", "m^2", "m**2", "km2"].contains(&lower.as_str());
    let amount = AMOUNTS.contains(&stem.trim()) || area || by_cell.iter().any(|part| lower.contains(part));
    if amount { Kind::Amount } else { Kind::Mean }
}

/// A number from an attribute for the storage type of a field.
pub(super) fn as_stored(value: f64, storage: Storage) -> AttributeValue {
    match storage {
        Storage::Float => (value as f32).into(),
        _ => value.into(),
    }
}
