//! Which file holds which variable at which time.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::{GriddedSource, PressureName, SourceLevels, StateTimes};
use crate::gridded::{GriddedFile, GriddedVariable, Missing};
use crate::preprocess::PreprocessError;
use crate::preprocess::readers::{Quantity, factor};
use crate::regrid::LatLonAxes;

const NAMES: &str = "name the variables in [source.variables] and the files in `source.files`";
const SERIES: &str = "give every state once, in files whose times increase; for one state write time = \"steady\"";
const UNITS: &str = "mend the attribute `units`, or convert the values";
const SAME: &str = "all variables need the same grid and the same times";

/// A record of a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Record {
    /// s since the origin; 0 for a steady state.
    seconds: f64,
    /// Index into the files.
    file: usize,
    /// Record in the file.
    index: usize,
}

/// A variable with all its records, in the order of their times.
#[derive(Clone, Debug)]
struct Series {
    name: String,
    records: Vec<Record>,
}

/// One state as the files hold it, `[level from the top][lat][lon]`, in SI units; NaN where a value is missing.
#[derive(Clone, Debug)]
pub(super) struct StoredState {
    pub surface_pressure: Vec<f64>,
    pub u: Vec<f64>,
    pub v: Vec<f64>,
    /// Specific humidity, or relative humidity with a temperature.
    pub humidity: Option<Vec<f64>>,
    pub temperature: Option<Vec<f64>>,
}

/// The files of a source, opened and understood.
pub struct GriddedArchive {
    source: GriddedSource,
    files: Vec<GriddedFile>,
    axes: LatLonAxes,
    levels: SourceLevels,
    surface_pressure: Series,
    u: Series,
    v: Series,
    humidity: Option<Series>,
    temperature: Option<Series>,
    /// Times of the states, s since 1970-01-01 UTC; one 0 for a steady state.
    times: Vec<f64>,
}

impl GriddedArchive {
    /// Opens all files and finds all variables; reads no field.
    ///
    /// # Errors
    /// [`PreprocessError`] for a variable that is absent, times that repeat or decrease, grids that differ, levels that cannot
    /// be understood.
    pub fn open(source: &GriddedSource) -> Result<Self, PreprocessError> {
        let files = source.files.iter().map(|path| GriddedFile::open(path)).collect::<Result<Vec<_>, _>>()?;
        check_axes(source, &files)?;
        let names = &source.variables;
        let find = |name: &str| series(source, &files, name);
        let (PressureName::Plain(ps) | PressureName::Logarithm(ps)) = &names.surface_pressure;
        let (surface_pressure, u, v) = (find(ps)?, find(&names.u)?, find(&names.v)?);
        let humidity = names.humidity.as_deref().map(find).transpose()?;
        let temperature = names.temperature.as_deref().map(find).transpose()?;
        let first = &files[u.records[0].file];
        let wind = first.variable(&u.name, &source.axes)?;
        let levels = SourceLevels::read(source, &files, first, &wind)?;
        let axes = wind.axes().clone();
        let times: Vec<f64> = u.records.iter().map(|r| r.seconds).collect();
        for other in
            [Some(&surface_pressure), Some(&u), Some(&v), humidity.as_ref(), temperature.as_ref()].into_iter().flatten()
        {
            let file = &files[other.records[0].file];
            if other.records.iter().map(|r| r.seconds).ne(times.iter().copied()) {
                let problem = format!("'{}' and '{}' have different times", other.name, u.name);
                return Err(PreprocessError::file(file.path(), problem, SAME));
            }
            let holders: BTreeSet<usize> = other.records.iter().map(|r| r.file).collect();
            for file in holders.into_iter().map(|n| &files[n]) {
                let refuse = |problem: String| Err(PreprocessError::file(file.path(), problem, SAME));
                let variable = file.variable(&other.name, &source.axes)?;
                if variable.axes().mesh() != axes.mesh() {
                    let place = first.path().display();
                    return refuse(format!("'{}' lies on another grid than '{}' of {place}", other.name, u.name));
                }
                if other.name == surface_pressure.name {
                    continue;
                }
                let (own, place) = (variable.levels(), first.path().display());
                if own != levels.levels() {
                    return refuse(format!(
                        "'{}' has {own} levels, '{}' of {place} {}",
                        other.name,
                        u.name,
                        levels.levels()
                    ));
                }
                if !SourceLevels::read(source, &files, file, &variable)?.are(&levels) {
                    return refuse(format!(
                        "'{}' has other levels, or another order, than '{}' of {place}",
                        other.name, u.name
                    ));
                }
            }
        }
        drop(wind);
        if let Some(series) = humidity.as_ref().filter(|_| temperature.is_none()) {
            let file = &files[series.records[0].file];
            let units = file.text(&series.name, "units");
            if factor(Quantity::RelativeHumidity, units.as_deref()).is_ok() {
                let problem = format!("'{}' is relative humidity, which needs a temperature", series.name);
                return Err(PreprocessError::file(file.path(), problem, "name it in `source.variables.temperature`"));
            }
        }
        Ok(Self { source: source.clone(), files, axes, levels, surface_pressure, u, v, humidity, temperature, times })
    }

    /// Longitudes and latitudes.
    pub fn axes(&self) -> &LatLonAxes {
        &self.axes
    }

    /// Levels.
    pub fn levels(&self) -> &SourceLevels {
        &self.levels
    }

    /// What was asked for.
    pub fn source(&self) -> &GriddedSource {
        &self.source
    }

    /// Times of the states in s since 1970-01-01 UTC; one 0 for a steady state.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Path of the file that holds state `n`.
    pub fn path(&self, n: usize) -> &Path {
        self.files[self.u.records[n].file].path()
    }

    /// Paths of the files that hold these states, each once, in the order of the list.
    pub(super) fn holders(&self, states: RangeInclusive<usize>) -> Vec<&Path> {
        let all = [Some(&self.surface_pressure), Some(&self.u), Some(&self.v), self.humidity.as_ref()];
        let series = all.into_iter().chain([self.temperature.as_ref()]).flatten();
        let files: BTreeSet<usize> =
            series.flat_map(|series| series.records[states.clone()].iter().map(|record| record.file)).collect();
        files.into_iter().map(|n| self.files[n].path()).collect()
    }

    /// Reads state `n`.
    pub(super) fn state(&self, n: usize) -> Result<StoredState, PreprocessError> {
        let names = &self.source.variables;
        let mut surface_pressure = match &names.surface_pressure {
            PressureName::Plain(_) => self.field(&self.surface_pressure, n, &[Quantity::Pressure], Missing::Refuse)?.0,
            PressureName::Logarithm(_) => {
                let record = self.surface_pressure.records[n];
                let mut values = self.raw(&self.surface_pressure, record, Missing::Refuse)?;
                values.iter_mut().for_each(|v| *v = v.exp());
                values
            }
        };
        self.believed(
            &self.surface_pressure,
            n,
            &mut surface_pressure,
            [3e4, 1.2e5],
            "surface pressures lie from 300 to 1200 hPa",
        )?;
        let mut winds = [&self.u, &self.v].into_iter().map(|series| {
            let (mut values, _) = self.field(series, n, &[Quantity::Wind], Missing::AsNan)?;
            self.believed(series, n, &mut values, [-500.0, 500.0], "winds lie within 500 m/s")?;
            Ok::<_, PreprocessError>(values)
        });
        let (u, v) = (winds.next().expect("two winds")?, winds.next().expect("two winds")?);
        let (mut humidity, mut relative) = (None, false);
        if let Some(series) = &self.humidity {
            let known = [Quantity::SpecificHumidity, Quantity::RelativeHumidity];
            let (mut values, quantity) = self.field(series, n, &known, Missing::AsNan)?;
            relative = quantity == Quantity::RelativeHumidity;
            let (most, rule) = if relative {
                (2.0, "relative humidity lies from 0 to 200 %")
            } else {
                (0.2, "specific humidity lies from 0 to 0.2 kg/kg")
            };
            // Spectral ripples just below zero are dry air.
            self.believed(series, n, &mut values, [-0.01 * most, most], rule)?;
            values.iter_mut().for_each(|q| *q = if *q < 0.0 { 0.0 } else { *q });
            humidity = Some(values);
        }
        let mut temperature = None;
        if relative {
            let Some(series) = &self.temperature else {
                let problem = "relative humidity needs a temperature".to_owned();
                return Err(PreprocessError::file(self.path(n), problem, "name it in `source.variables.temperature`"));
            };
            let (mut values, _) = self.field(series, n, &[Quantity::Temperature], Missing::AsNan)?;
            self.believed(series, n, &mut values, [100.0, 400.0], "temperatures lie from 100 to 400 K")?;
            temperature = Some(values);
        }
        Ok(StoredState { surface_pressure, u, v, humidity, temperature })
    }

    /// Record `n` of a series in SI units, and which of the quantities it is.
    fn field(
        &self,
        series: &Series,
        n: usize,
        quantities: &[Quantity],
        missing: Missing,
    ) -> Result<(Vec<f64>, Quantity), PreprocessError> {
        let record = series.records[n];
        let file = &self.files[record.file];
        let units = file.text(&series.name, "units");
        let known = quantities.iter().find_map(|q| factor(*q, units.as_deref()).ok().map(|by| (by, *q)));
        let (by, quantity) = match known {
            Some(found) => found,
            None => {
                let problem = factor(quantities[0], units.as_deref()).unwrap_err();
                return Err(PreprocessError::file(file.path(), format!("'{}' {problem}", series.name), UNITS));
            }
        };
        let mut values = self.raw(series, record, missing)?;
        values.iter_mut().for_each(|v| *v *= by);
        Ok((values, quantity))
    }

    /// A record as `[level from the top][lat][lon]`.
    fn raw(&self, series: &Series, record: Record, missing: Missing) -> Result<Vec<f64>, PreprocessError> {
        let variable = self.files[record.file].variable(&series.name, &self.source.axes)?;
        let stored = variable.read(record.index, 0..variable.levels(), missing)?;
        let levels = variable.levels();
        if levels == 1 {
            return Ok(stored);
        }
        let plane = stored.len() / levels;
        Ok((0..levels)
            .map(|k| self.levels.stored(k))
            .flat_map(|k| stored[k * plane..(k + 1) * plane].iter().copied())
            .collect())
    }

    /// Refuses values outside a range, naming file, variable and index as the file counts it.
    fn believed(
        &self,
        series: &Series,
        n: usize,
        values: &mut [f64],
        [least, most]: [f64; 2],
        rule: &'static str,
    ) -> Result<(), PreprocessError> {
        let Some(at) = values.iter().position(|v| !v.is_nan() && !(least..=most).contains(v)) else { return Ok(()) };
        let record = series.records[n];
        let mesh = self.axes.mesh();
        let plane = mesh.nlon() * mesh.nlat();
        let (k, cell) = (at / plane, at % plane);
        let level = if values.len() > plane { format!("level {}, ", self.levels.stored(k) + 1) } else { String::new() };
        let problem = format!(
            "'{}' is {} at time {}, {level}latitude {} of {} from the south, longitude {} of {} from {} degrees east",
            series.name,
            values[at],
            record.index + 1,
            cell / mesh.nlon() + 1,
            mesh.nlat(),
            cell % mesh.nlon() + 1,
            mesh.nlon(),
            mesh.lon_edges()[0],
        );
        Err(PreprocessError::file(self.files[record.file].path(), problem, rule))
    }
}

/// Refuses names of dimensions that no file has.
fn check_axes(source: &GriddedSource, files: &[GriddedFile]) -> Result<(), PreprocessError> {
    for (role, name) in source.axes.given() {
        let mut there: Vec<String> = files.iter().flat_map(|f| f.dimension_names()).collect();
        there.sort_unstable();
        there.dedup();
        let variables = || files.iter().flat_map(|f| f.variable_names());
        let own = |known: &String| known.rsplit('/').next().is_some_and(|stem| stem.eq_ignore_ascii_case(name));
        if !there.iter().any(own) && !variables().any(|v| own(&v)) {
            let problem = format!(
                "no dimension or variable '{name}' for the {} of [source.dimensions]; the dimensions are {}",
                role.words(),
                there.join(", ")
            );
            return Err(PreprocessError::file(files[0].path(), problem, "name one of them, or leave the key out"));
        }
    }
    Ok(())
}

/// All records of a variable in all files.
fn series(source: &GriddedSource, files: &[GriddedFile], name: &str) -> Result<Series, PreprocessError> {
    let mut records: Vec<Record> = Vec::new();
    let holders: Vec<usize> = (0..files.len()).filter(|&n| files[n].has(name)).collect();
    if holders.is_empty() {
        let there = files[0].variable_names().join(", ");
        return Err(PreprocessError::file(files[0].path(), format!("no variable '{name}'; there are {there}"), NAMES));
    }
    for &n in &holders {
        let file = &files[n];
        let variable = file.variable(name, &source.axes)?;
        match source.time {
            StateTimes::Steady { record } => {
                if record >= variable.times() {
                    let problem = format!("'{name}' has {} records, `time_index` is {}", variable.times(), record + 1);
                    return Err(PreprocessError::file(file.path(), problem, "choose one of the records"));
                }
                records.push(Record { seconds: 0.0, file: n, index: record });
            }
            StateTimes::Series { .. } => {
                let seconds = times(source, file, &variable)?;
                records.extend(seconds.into_iter().enumerate().map(|(index, seconds)| Record {
                    seconds,
                    file: n,
                    index,
                }));
            }
        }
    }
    if matches!(source.time, StateTimes::Steady { .. }) {
        records.truncate(1);
    }
    records.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    if let Some(pair) = records.windows(2).find(|pair| pair[1].seconds <= pair[0].seconds) {
        let place = |r: &Record| format!("record {} of {}", r.index + 1, files[r.file].path().display());
        let problem = format!("'{name}' has the same time in {} and {}", place(&pair[0]), place(&pair[1]));
        return Err(PreprocessError::file(files[pair[1].file].path(), problem, SERIES));
    }
    if let StateTimes::Series { first_day: Some(day) } = source.time {
        let shift = start_of(day) - records[0].seconds;
        records.iter_mut().for_each(|r| r.seconds += shift);
    }
    Ok(Series { name: name.to_owned(), records })
}

/// Times of the records of a variable in s since 1970-01-01 UTC.
fn times(
    source: &GriddedSource,
    file: &GriddedFile,
    variable: &GriddedVariable<'_>,
) -> Result<Vec<f64>, PreprocessError> {
    let axis = source.variables.time.as_deref().or(variable.time_axis());
    let Some(axis) = axis else {
        let problem = format!("'{}' has no times", variable.name());
        return Err(PreprocessError::file(file.path(), problem, SERIES));
    };
    let seconds = file.times(axis, Timestamp::UNIX_EPOCH)?;
    if seconds.len() != variable.times() {
        let problem =
            format!("'{axis}' has {} values for {} records of '{}'", seconds.len(), variable.times(), variable.name());
        return Err(PreprocessError::file(file.path(), problem, SERIES));
    }
    Ok(seconds)
}

/// 00:00 UTC of a day, s since 1970-01-01 UTC.
pub(super) fn start_of(day: Date) -> f64 {
    TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).map_or(f64::NAN, |t| t.as_second() as f64)
}
