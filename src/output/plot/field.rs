//! One map of a variable, read from a file.

use std::path::Path;

use jiff::civil::DateTime;
use netcdf::{AttributeValue, File, Variable};

use super::super::error::{Context, OutputError, open};
use super::super::geometry::grid_of;
use super::super::selection::close_names;
use super::PlotRequest;
use crate::grid::CubedSphere;

/// Values of all cells with what is written around the map.
pub(super) struct Field {
    path: std::path::PathBuf,
    grid: CubedSphere,
    /// `[nf][Ydim][Xdim]`, NaN where missing.
    pub values: Vec<f64>,
    pub title: String,
    pub subtitle: String,
    pub units: String,
}

/// Dimensions of a map, slowest first.
const CELLS: [&str; 3] = ["nf", "Ydim", "Xdim"];

impl Field {
    /// Reads the slice that `request` names.
    pub(super) fn read(path: &Path, request: &PlotRequest) -> Result<Self, OutputError> {
        let content = |problem: String| OutputError::Content { path: path.to_path_buf(), problem };
        let file = open(path)?;
        let grid = grid_of(&file).map_err(content)?;
        let variable =
            file.variable(request.variable).ok_or_else(|| content(unknown_variable(&file, request.variable)))?;
        let dims: Vec<String> = variable.dimensions().iter().map(|d| d.name()).collect();
        if !is_map(&variable) {
            let problem =
                format!("variable `{}` is not a map: its dimensions are {}", request.variable, dims.join(", "));
            return Err(content(problem));
        }
        let (mut start, mut count) = (Vec::new(), Vec::new());
        let mut subtitle = vec![request.variable.to_owned()];
        let (mut timeless, mut levelless) = (true, true);
        for dimension in variable.dimensions() {
            let (name, length) = (dimension.name(), dimension.len());
            let index = match name.as_str() {
                "time" => {
                    timeless = false;
                    let index = chosen(request.time, length).map_err(|e| content(format!("time {e}")))?;
                    subtitle.push(time_text(&file, index));
                    Some(index)
                }
                "lev" | "lev_selected" => {
                    levelless = false;
                    let numbers = levels(&file, &name, length);
                    let index = chosen_level(request.level, &numbers).map_err(|e| content(format!("level {e}")))?;
                    subtitle.push(format!(
                        "level {} of {}",
                        numbers[index],
                        file.dimension_len("lev").unwrap_or(length)
                    ));
                    Some(index)
                }
                _ => None,
            };
            start.push(index.unwrap_or(0));
            count.push(if index.is_some() { 1 } else { length });
        }
        for (what, given, absent) in [("times", request.time, timeless), ("levels", request.level, levelless)] {
            if given.is_some() && absent {
                return Err(content(format!("variable `{}` has no {what}", request.variable)));
            }
        }
        let mut values =
            variable.get_values::<f64, _>((start, count)).context(path, || format!("read `{}`", request.variable))?;
        let fill = ["_FillValue", "missing_value"].map(|name| number(&variable, name));
        for value in &mut values {
            if fill.contains(&Some(*value)) {
                *value = f64::NAN;
            }
        }
        let title = text(&variable, "long_name").unwrap_or_else(|| request.variable.to_owned());
        let units = text(&variable, "units").unwrap_or_default();
        Ok(Self { path: path.to_path_buf(), grid, values, title, subtitle: subtitle.join(", "), units })
    }

    /// Value of the cell that holds a point, in degrees.
    pub(super) fn at(&self, longitude: f64, latitude: f64) -> Result<f64, OutputError> {
        let cell = self
            .grid
            .locate(longitude, latitude)
            .map_err(|e| OutputError::Content { path: self.path.clone(), problem: e.to_string() })?;
        let nc = self.grid.nc();
        Ok(self.values[(cell.panel.index() * nc + cell.j) * nc + cell.i])
    }
}

/// Whether the variable has one value per cell, perhaps by time and level.
fn is_map(variable: &Variable) -> bool {
    let dims: Vec<String> = variable.dimensions().iter().map(|d| d.name()).collect();
    let lead = dims.len().saturating_sub(3);
    dims.len() >= 3 && dims[lead..] == CELLS && dims[..lead].iter().all(|d| d == "time" || d.starts_with("lev"))
}

fn unknown_variable(file: &File, name: &str) -> String {
    let maps: Vec<String> = file.variables().filter(is_map).map(|v| v.name()).collect();
    let close = close_names(name, maps.iter().map(String::as_str));
    if close.is_empty() {
        format!("no variable `{name}`; maps can be drawn of {}", maps.join(", "))
    } else {
        format!("no variable `{name}`; did you mean {}?", close.join(" or "))
    }
}

/// Zero-based index of a choice from 1; the last one by default.
fn chosen(choice: Option<usize>, length: usize) -> Result<usize, String> {
    match choice {
        _ if length == 0 => Err("cannot be chosen: the file holds none".into()),
        None => Ok(length - 1),
        Some(n) if (1..=length).contains(&n) => Ok(n - 1),
        Some(n) => Err(format!("{n} is not among 1 to {length}")),
    }
}

/// Model levels along a level dimension, from 1.
fn levels(file: &File, dimension: &str, length: usize) -> Vec<usize> {
    let numbers = file.variable(dimension).and_then(|v| v.get_values::<f64, _>(..).ok());
    match numbers {
        Some(numbers) => numbers.into_iter().map(|n| n as usize).collect(),
        None => (1..=length).collect(),
    }
}

fn chosen_level(choice: Option<usize>, numbers: &[usize]) -> Result<usize, String> {
    let Some(level) = choice else { return chosen(None, numbers.len()) };
    numbers.iter().position(|&n| n == level).ok_or_else(|| {
        let known: Vec<_> = numbers.iter().map(usize::to_string).collect();
        let contiguous = numbers.windows(2).all(|w| w[1] == w[0] + 1);
        match (contiguous, numbers.first(), numbers.last()) {
            (true, Some(first), Some(last)) => format!("{level} is not among {first} to {last}"),
            _ => format!("{level} is not among those written: {}", known.join(", ")),
        }
    })
}

/// The time of a record: UTC if the axis has an origin, else hours.
fn time_text(file: &File, index: usize) -> String {
    let Some(variable) = file.variable("time") else { return format!("record {}", index + 1) };
    let Ok(hours) = variable.get_value::<f64, _>([index]) else { return format!("record {}", index + 1) };
    let units = text(&variable, "units").unwrap_or_default();
    let origin = units.strip_prefix("hours since ").and_then(|t| t.trim().replace(' ', "T").parse::<DateTime>().ok());
    let seconds = jiff::SignedDuration::try_from_secs_f64(hours * 3600.0).ok();
    match origin.zip(seconds).and_then(|(origin, seconds)| origin.checked_add(seconds).ok()) {
        Some(time) => time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        None => format!("hour {hours}"),
    }
}

fn text(variable: &Variable, attribute: &str) -> Option<String> {
    match variable.attribute_value(attribute) {
        Some(Ok(AttributeValue::Str(text))) => Some(text),
        _ => None,
    }
}

fn number(variable: &Variable, attribute: &str) -> Option<f64> {
    match variable.attribute_value(attribute) {
        Some(Ok(AttributeValue::Float(x))) => Some(x.into()),
        Some(Ok(AttributeValue::Double(x))) => Some(x),
        Some(Ok(AttributeValue::Int(x))) => Some(x.into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_count_from_one_and_default_to_the_last() {
        assert_eq!(chosen(None, 4), Ok(3));
        assert_eq!(chosen(Some(1), 4), Ok(0));
        assert!(chosen(Some(0), 4).is_err() && chosen(Some(5), 4).is_err() && chosen(None, 0).is_err());
        assert_eq!(chosen_level(Some(3), &[1, 3, 9]), Ok(1));
        assert_eq!(chosen_level(None, &[1, 3, 9]), Ok(2));
        assert_eq!(chosen_level(Some(2), &[1, 3, 9]), Err("2 is not among those written: 1, 3, 9".into()));
        assert_eq!(chosen_level(Some(7), &[1, 2, 3]), Err("7 is not among 1 to 3".into()));
    }
}
