//! The surface: 0.25° fields of every hour, in GRIB or NetCDF.

use std::path::Path;

use super::super::archive::{NextDay, start_of};
use super::super::{Quantity, factor};
use super::archive_files::{Collection, Files, believe, read};
use super::grids::{Gaussian, OtherGrids};
use super::hours::Hour;
use super::parameters::{FRICTION, LATENT_HEAT, PBL_HEIGHT, Parameter, SENSIBLE_HEAT, TEMPERATURE_2M};
use crate::gridded::{AxisNames, GriddedFile, Missing};
use crate::preprocess::grib::GribGrid;
use crate::preprocess::{PreprocessError, Target};

/// Seconds of the hour over which heat is added up.
const HOUR: f64 = 3600.0;

/// Means over a window on the cube, `[cell]`.
pub(super) struct Surface {
    /// Height of the boundary layer, m.
    pub(super) pbl_height: Vec<f64>,
    /// Friction velocity, m s⁻¹.
    pub(super) friction: Vec<f64>,
    /// Sensible heat flux, W m⁻², upward.
    pub(super) sensible_heat: Vec<f64>,
    /// Latent heat flux, W m⁻², upward.
    pub(super) latent_heat: Vec<f64>,
    /// Temperature at 2 m, K.
    pub(super) temperature_2m: Vec<f64>,
}

/// Names and units of a field in NetCDF.
fn in_netcdf(parameter: Parameter) -> (&'static [&'static str], Quantity) {
    match parameter {
        PBL_HEIGHT => (&["blh"], Quantity::Length),
        FRICTION => (&["zust"], Quantity::Wind),
        SENSIBLE_HEAT => (&["sshf"], Quantity::EnergyPerArea),
        LATENT_HEAT => (&["slhf"], Quantity::EnergyPerArea),
        _ => (&["t2m", "2t"], Quantity::Temperature),
    }
}

impl Surface {
    /// Means over the hours that start at `hours`. Heat is the sum that ends with each hour; that of the last hour of a day
    /// is the first of the next day's file, in whose absence, if that is allowed, the hour before stands for it.
    pub(super) fn read(
        target: &Target,
        files: &mut Files,
        gaussian: &Gaussian,
        others: &mut OtherGrids,
        hours: &[Hour],
    ) -> Result<Self, PreprocessError> {
        let mut mean = |parameter: Parameter, at: fn(&Files, Hour) -> Result<Hour, PreprocessError>, by: f64| {
            let mut sum = vec![0.0; target.cells()];
            for hour in hours {
                let record = at(files, *hour)?;
                let values = field(target, files, gaussian, others, parameter, record)?;
                sum.iter_mut().zip(values).for_each(|(sum, v)| *sum += v * by / hours.len() as f64);
            }
            Ok::<_, PreprocessError>(sum)
        };
        let instant = |_: &Files, hour| Ok(hour);
        Ok(Self {
            pbl_height: mean(PBL_HEIGHT, instant, 1.0)?,
            friction: mean(FRICTION, instant, 1.0)?,
            sensible_heat: mean(SENSIBLE_HEAT, end_of, -1.0 / HOUR)?,
            latent_heat: mean(LATENT_HEAT, end_of, -1.0 / HOUR)?,
            temperature_2m: mean(TEMPERATURE_2M, instant, 1.0)?,
        })
    }
}

/// The full hour at the end of an hour, as far as the archive has it.
fn end_of(files: &Files, hour: Hour) -> Result<Hour, PreprocessError> {
    let next = hour.next()?;
    let stands_still = next.day != hour.day
        && files.source().next_day == NextDay::ZeroTendency
        && !files.has(next.day, Collection::Surface)?;
    Ok(if stands_still { hour } else { next })
}

/// A field at an hour on the cube.
fn field(
    target: &Target,
    files: &mut Files,
    gaussian: &Gaussian,
    others: &mut OtherGrids,
    parameter: Parameter,
    hour: Hour,
) -> Result<Vec<f64>, PreprocessError> {
    let path = files.path(hour.day, Collection::Surface)?;
    if path.extension().is_some_and(|ending| ending == "nc") {
        return from_netcdf(target, others, parameter, hour, &path);
    }
    let file = files.file(hour.day, Collection::Surface)?;
    let wanted = parameter.at(None, hour.time());
    let (entry, field) = read(&file, &wanted)?;
    if [SENSIBLE_HEAT, LATENT_HEAT].contains(&parameter) && entry.steps[1].saturating_sub(entry.steps[0]) > 1 {
        let [from, to] = entry.steps;
        let problem = format!("message {} ({wanted}) adds up the hours {from} to {to}", entry.message);
        return Err(PreprocessError::file(&path, problem, "sums over one hour are needed, as ERA5 has them"));
    }
    believe(&path, parameter, wanted, &field.values)?;
    others.on_cube(target, gaussian, &path, &wanted.to_string(), &field)
}

fn from_netcdf(
    target: &Target,
    others: &mut OtherGrids,
    parameter: Parameter,
    hour: Hour,
    path: &Path,
) -> Result<Vec<f64>, PreprocessError> {
    const HELP: &str = "fetch the fields of every hour of the day; records must be those of the day in the name";
    let file = GriddedFile::open(path)?;
    let (names, quantity) = in_netcdf(parameter);
    let name = names.iter().find(|name| file.has(name)).unwrap_or(&names[0]);
    let variable = file.variable(name, &AxisNames::default())?;
    let by = factor(quantity, variable.units().as_deref())
        .map_err(|problem| PreprocessError::file(path, format!("'{name}' {problem}"), "mend the attribute"))?;
    let Some(axis) = variable.time_axis() else {
        return Err(PreprocessError::file(path, format!("'{name}' has no times"), HELP));
    };
    let seconds = hour.time().duration_since(start_of(hour.day)).as_secs_f64();
    let times = file.times(axis, start_of(hour.day))?;
    let Some(record) = times.iter().position(|t| (t - seconds).abs() < 1.0) else {
        return Err(PreprocessError::file(path, format!("'{name}' has no record at {}", hour.time()), HELP));
    };
    let mut values = variable.read(record, 0..1, Missing::Refuse)?;
    values.iter_mut().for_each(|v| *v *= by);
    believe(path, parameter, format_args!("'{name}' of record {}", record + 1), &values)?;
    let axes = variable.axes();
    let grid = GribGrid::LatLon { longitudes: axes.lon_centres().to_vec(), latitudes: axes.lat_centres().to_vec() };
    others.latlon_on_cube(target, path, name, axes, &grid, &values)
}

impl Hour {
    /// The full hour after this one.
    pub(super) fn next(self) -> Result<Self, PreprocessError> {
        match self.hour {
            23 => Ok(Self { day: super::super::archive::day_after(self.day)?, hour: 0 }),
            hour => Ok(Self { day: self.day, hour: hour + 1 }),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn hours_follow_each_other_across_days() {
        let last = Hour { day: date(2021, 12, 31), hour: 23 };
        assert_eq!(last.next().unwrap(), Hour { day: date(2022, 1, 1), hour: 0 });
        assert_eq!(last.next().unwrap().time(), last.time() + jiff::SignedDuration::from_hours(1));
        assert!(Hour { day: date(9999, 12, 31), hour: 23 }.next().is_err());
    }
}
