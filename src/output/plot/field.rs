//! One map of a variable, read from a file.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use netcdf::{AttributeValue, File, Variable};

use super::super::error::{Context, OutputError, open};
use super::super::geometry::grid_of;
use super::super::selection::close_names;
use super::PlotRequest;
use super::cells::Cells;
use crate::files;
use crate::grid::CubedSphere;
use crate::gridded::{AxisNames, GriddedFile, Missing, time_unit};

/// Values of all cells with what is written around the map.
pub(super) struct Field {
    path: PathBuf,
    cells: Cells,
    /// In the order of the cells, NaN where missing.
    pub values: Vec<f64>,
    pub title: String,
    pub subtitle: String,
    pub units: String,
}

/// Dimensions of a map on the cubed sphere, slowest first.
const CELLS: [&str; 3] = ["nf", "Ydim", "Xdim"];

impl Field {
    /// Reads the slice that `request` names, from a file of this program on the cubed sphere or from any file on a
    /// longitude-latitude grid.
    pub(super) fn read(path: &Path, request: &PlotRequest) -> Result<Self, OutputError> {
        let file = open(path)?;
        if file.variable("cubed_sphere").is_some() {
            return Self::on_cube(path, &file, request);
        }
        drop(file);
        Self::on_latlon(path, request).map_err(|problem| OutputError::Content { path: path.to_path_buf(), problem })
    }

    /// Values that come from no file.
    pub(super) fn of_cells(grid: CubedSphere, values: Vec<f64>, texts: [&str; 3]) -> Self {
        let [title, subtitle, units] = texts.map(str::to_owned);
        Self { path: PathBuf::new(), cells: Cells::Cube(grid), values, title, subtitle, units }
    }

    fn on_latlon(path: &Path, request: &PlotRequest) -> Result<Self, String> {
        let names = AxisNames::default().with_level("lev_selected");
        let file = GriddedFile::open(path).map_err(|e| e.problem())?;
        let maps = || file.variable_names().into_iter().filter(|name| file.variable(name, &names).is_ok()).collect();
        if !file.variable_names().iter().any(|name| name == request.variable) {
            return Err(unknown_variable(maps(), request.variable));
        }
        let variable = file.variable(request.variable, &names).map_err(|e| {
            let known: Vec<String> = maps();
            match known.is_empty() {
                true => {
                    format!("{}; maps are drawn of files on the cubed sphere or a latitude-longitude grid", e.problem())
                }
                false => format!("variable `{}` is not a map: it {}", request.variable, e.problem()),
            }
        })?;
        let mut subtitle = vec![request.variable.to_owned()];
        let axis = |name: Option<&str>| name.and_then(|name| Some((name.to_owned(), file.values(name).ok()?)));
        let mut time = 0;
        if variable.has_times() {
            time = chosen(request.time, variable.times()).map_err(|e| format!("time {e}"))?;
            let number = axis(variable.time_axis()).and_then(|(name, numbers)| Some((name, *numbers.get(time)?)));
            subtitle.push(number.map_or(format!("record {}", time + 1), |(name, number)| {
                time_text(number, file.text(&name, "units"), file.text(&name, "calendar"))
            }));
        } else if request.time.is_some() {
            return Err(format!("variable `{}` has no times", request.variable));
        }
        let (count, mut level) = (variable.levels(), 0);
        if count > 1 || variable.level_axis().is_some() {
            let numbers = axis(variable.level_axis()).map(|(_, numbers)| numbers);
            let numbers = numbers.filter(|numbers| numbers.iter().all(|n| n.fract() == 0.0 && (1.0..1e4).contains(n)));
            let numbers: Vec<usize> = match numbers {
                Some(numbers) => numbers.iter().map(|n| *n as usize).collect(),
                None => (1..=count).collect(),
            };
            level = chosen_level(request.level, &numbers).map_err(|e| format!("level {e}"))?;
            subtitle.push(format!("level {}", numbers[level]));
        } else if request.level.is_some() {
            return Err(format!("variable `{}` has no levels", request.variable));
        }
        let values = variable.read(time, level..level + 1, Missing::AsNan).map_err(|e| e.problem())?;
        Ok(Self {
            path: path.to_path_buf(),
            cells: Cells::LatLon(variable.axes().mesh().clone()),
            values,
            title: file.text(request.variable, "long_name").unwrap_or_else(|| request.variable.to_owned()),
            subtitle: subtitle.join(", "),
            units: variable.units().unwrap_or_default(),
        })
    }

    fn on_cube(path: &Path, file: &File, request: &PlotRequest) -> Result<Self, OutputError> {
        let content = |problem: String| OutputError::Content { path: path.to_path_buf(), problem };
        let grid = grid_of(file).map_err(content)?;
        let maps = || file.variables().filter(is_map).map(|v| v.name()).collect();
        let variable = files::variable(file, request.variable)
            .ok_or_else(|| content(unknown_variable(maps(), request.variable)))?;
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
                    subtitle.push(time_of(file, index));
                    Some(index)
                }
                "lev" | "lev_selected" => {
                    levelless = false;
                    let numbers = levels(file, &name, length);
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
        let cells = Cells::Cube(grid);
        Ok(Self { path: path.to_path_buf(), cells, values, title, subtitle: subtitle.join(", "), units })
    }

    /// Value at a point, in degrees; NaN where no cell lies.
    pub(super) fn at(&self, longitude: f64, latitude: f64) -> Result<f64, OutputError> {
        let cell = self.cells.at(longitude, latitude);
        let cell = cell.map_err(|problem| OutputError::Content { path: self.path.clone(), problem })?;
        Ok(cell.map_or(f64::NAN, |cell| self.values[cell]))
    }
}

/// Whether the variable has one value per cell, perhaps by time and level.
fn is_map(variable: &Variable) -> bool {
    let dims: Vec<String> = variable.dimensions().iter().map(|d| d.name()).collect();
    let lead = dims.len().saturating_sub(3);
    dims.len() >= 3 && dims[lead..] == CELLS && dims[..lead].iter().all(|d| d == "time" || d.starts_with("lev"))
}

fn unknown_variable(maps: Vec<String>, name: &str) -> String {
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

/// The time of a record of a file on the cubed sphere.
fn time_of(file: &File, index: usize) -> String {
    let Some(variable) = file.variable("time") else { return format!("record {}", index + 1) };
    let Ok(number) = variable.get_value::<f64, _>([index]) else { return format!("record {}", index + 1) };
    time_text(number, text(&variable, "units"), text(&variable, "calendar"))
}

/// A time in words: UTC if the axis has an origin in our calendar, else the number and its units.
fn time_text(number: f64, units: Option<String>, calendar: Option<String>) -> String {
    let units = units.unwrap_or_default();
    let unit = time_unit(&units, calendar.as_deref().unwrap_or("standard"), Timestamp::UNIX_EPOCH).ok();
    let seconds = unit.and_then(|unit| jiff::SignedDuration::try_from_secs_f64(unit.seconds(number)).ok());
    match seconds.and_then(|seconds| Timestamp::UNIX_EPOCH.checked_add(seconds).ok()) {
        Some(time) => TimeZone::UTC.to_datetime(time).strftime("%Y-%m-%d %H:%M UTC").to_string(),
        None if units == "hours" => format!("hour {number}"),
        None => format!("time {number} {units}").trim_end().to_owned(),
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
    fn times_are_told_in_utc_where_they_can_be() {
        let of = |number, units: &str, calendar: Option<&str>| {
            time_text(number, Some(units.to_owned()), calendar.map(str::to_owned))
        };
        for (number, units) in [
            (43_200.0, "seconds since 2021-12-01 00:00:00"),
            (12.0, "hours since 2021-12-01 00:00:00"),
            (0.5, "days since 2021-12-01"),
        ] {
            assert_eq!(of(number, units, None), "2021-12-01 12:00 UTC");
        }
        assert_eq!(of(3.0, "hours", None), "hour 3");
        assert_eq!(of(2.0, "days since 2021-12-01", Some("noleap")), "time 2 days since 2021-12-01");
        assert_eq!(time_text(2000.0, None, None), "time 2000");
    }

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
