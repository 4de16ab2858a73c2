//! Variables with a value per cell.

use netcdf::types::{FloatType, NcVariableType};
use netcdf::{AttributeValue, Variable};

use super::super::error::{Context, OutputError};
use super::super::schema::{Attributes, Storage};
use super::super::selection::close_names;
use super::source::{Source, text};
use super::{RegridRequest, names};

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
    missing: Vec<f64>,
    scale_and_offset: (f64, f64),
}

/// Attributes that speak of the old grid or of how numbers were stored.
const DROPPED: [&str; 12] = [
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
];

impl Source {
    /// The variables that are asked for.
    pub fn fields(&self, request: &RegridRequest) -> Result<Vec<Field>, OutputError> {
        let content = |problem: String| OutputError::Content { path: self.path.clone(), problem };
        let candidates = self.file.variables().filter(|v| self.place(v).is_some() && !self.describes_grid(v));
        let all: Vec<Field> = candidates.map(|v| self.field(&v).map_err(content)).collect::<Result<_, _>>()?;
        let asked = [request.variables, request.amounts, request.means].concat();
        for name in &asked {
            if all.iter().any(|field| field.name == *name) {
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
                    let known = names(&all);
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
        let chosen = all.into_iter().filter(|f| request.variables.is_empty() || request.variables.contains(&f.name));
        let mut chosen: Vec<Field> = chosen.collect();
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
        let number = |key: &str| match variable.attribute_value(key) {
            None => Ok(None),
            Some(value) => value
                .ok()
                .and_then(|value| f64::try_from(value).ok())
                .map(Some)
                .ok_or_else(|| format!("'{key}' of '{}' is not a number", variable.name())),
        };
        let missing = [number("_FillValue")?, number("missing_value")?].into_iter().flatten().collect();
        let scale_and_offset = (number("scale_factor")?.unwrap_or(1.0), number("add_offset")?.unwrap_or(0.0));
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
            missing,
            scale_and_offset,
        })
    }

    /// Values of one slice in the order of the mesh; not a number where missing.
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
            variable.get_values::<f64, _>((start, count)).context(path, || format!("read `{}`", field.name))?;
        let (scale, offset) = field.scale_and_offset;
        // A value such as -999.9 may be stated in more digits than the variable keeps.
        let single = |x: f64| if field.storage == Storage::Float { f64::from(x as f32) } else { x };
        for value in &mut values {
            let missing = field.missing.iter().any(|m| m == value || single(*m) == *value);
            *value = if missing { f64::NAN } else { *value * scale + offset };
        }
        Ok(self.order(values, &field.places))
    }
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
