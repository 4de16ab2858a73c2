//! States of the archive at full hours, on the cube.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rayon::prelude::*;

use super::archive_files::{Collection, Files, believe, read, spectrum};
use super::grids::{Gaussian, ToFaces};
use super::parameters::{DIVERGENCE, HUMIDITY, LOG_PRESSURE, Parameter, TEMPERATURE, VORTICITY};
use crate::grid::HybridCoordinate;
use crate::preprocess::grib::GribFile;
use crate::preprocess::{
    FluxSettings, PreprocessError, Stage, Stages, Target, Thickness, dry_thickness, thickness_to_mass,
};

/// Levels in work at a time.
pub(super) const BATCH: usize = 16;

/// Largest humidity that is used (spec 40 §1.10).
const MOST_HUMID: f64 = 0.999_999;

/// A full hour of a day, 0 to 23.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hour {
    pub(super) day: Date,
    pub(super) hour: i8,
}

impl Hour {
    /// Its time.
    pub(super) fn time(self) -> Timestamp {
        TimeZone::UTC.to_timestamp(self.day.at(self.hour, 0, 0, 0)).unwrap_or(Timestamp::MAX)
    }
}

/// Air at an hour.
pub(super) struct Air {
    /// Pressure at the surface, Pa, `[cell]`.
    pub(super) ps: Vec<f64>,
    /// Specific humidity, kg kg⁻¹, `[layer][cell]`.
    pub(super) q: Vec<f64>,
    /// Dry air, kg, `[layer][cell]`.
    pub(super) mass: Vec<f64>,
}

/// Moving air at an hour.
pub(super) struct Flow {
    /// Air through the faces, kg s⁻¹, `[layer][face]`.
    pub(super) flux: Vec<f64>,
    /// Wind along x, y, z, m s⁻¹, `[layer][cell]`, if it was asked for.
    pub(super) wind: Option<[Vec<f64>; 3]>,
}

/// Whether winds on the cube are wanted for themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CubeWind {
    Wanted,
    Unwanted,
}

/// What reading an hour needs.
pub(super) struct Reading<'a> {
    pub(super) target: &'a Target,
    pub(super) files: &'a mut Files,
    pub(super) gaussian: &'a Gaussian,
    pub(super) coordinate: &'a HybridCoordinate,
    pub(super) fluxes: &'a FluxSettings,
}

impl Reading<'_> {
    fn levels(&self) -> usize {
        self.coordinate.levels()
    }

    /// Spectra of a field on some levels (from 0 at the model top).
    fn spectra(
        &self,
        file: &GribFile,
        parameter: Parameter,
        levels: std::ops::Range<usize>,
        time: Timestamp,
    ) -> Result<Vec<Vec<f64>>, PreprocessError> {
        let truncation = self.gaussian.synthesis.truncation();
        let one = |k: usize| spectrum(file, &parameter.at(Some(k as u32 + 1), time), truncation);
        levels.map(one).collect()
    }

    /// Values of spectra at the points, one list per level.
    fn synthesised(&self, file: &GribFile, spectra: &[Vec<f64>]) -> Result<Vec<f64>, PreprocessError> {
        let points = self.gaussian.points();
        let mut values = vec![0.0; spectra.len() * points];
        let mut fields: Vec<&mut [f64]> = values.chunks_mut(points).collect();
        let done = self.gaussian.synthesis.scalars(&slices(spectra), &mut fields);
        done.map_err(|e| PreprocessError::file(file.path(), e.to_string(), e.help()))?;
        Ok(values)
    }

    /// Humidity on some levels at the points, `[level][point]`.
    fn humidity(
        &self,
        file: &GribFile,
        levels: std::ops::Range<usize>,
        time: Timestamp,
    ) -> Result<Vec<f64>, PreprocessError> {
        let mut all = Vec::with_capacity(levels.len() * self.gaussian.points());
        for k in levels {
            let wanted = HUMIDITY.at(Some(k as u32 + 1), time);
            let (_, field) = read(file, &wanted)?;
            let values = self.gaussian.ordered(file.path(), &wanted.to_string(), &field)?;
            believe(file.path(), HUMIDITY, wanted, &values)?;
            all.extend(values.into_iter().map(|q| q.clamp(0.0, MOST_HUMID)));
        }
        Ok(all)
    }

    /// Surface pressure at the points, Pa.
    fn surface_pressure(&self, file: &GribFile, time: Timestamp) -> Result<Vec<f64>, PreprocessError> {
        let wanted = LOG_PRESSURE.at(None, time);
        let spectrum = spectrum(file, &wanted, self.gaussian.synthesis.truncation())?;
        let mut ps = self.synthesised(file, &[spectrum])?;
        ps.iter_mut().for_each(|p| *p = p.exp());
        believe(file.path(), LOG_PRESSURE, format_args!("the exponential of {wanted}"), &ps)?;
        Ok(ps)
    }

    /// Batches of levels.
    fn batches(&self) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
        let levels = self.levels();
        (0..levels).step_by(BATCH).map(move |first| first..(first + BATCH).min(levels))
    }

    /// Air at an hour.
    pub(super) fn air(&mut self, hour: Hour, stages: &mut Stages) -> Result<Air, PreprocessError> {
        let time = hour.time();
        let file = stages.time(Stage::Read, || self.files.file(hour.day, Collection::Core))?;
        let ps = stages.time(Stage::Interpolate, || self.surface_pressure(&file, time))?;
        let ps = stages.time(Stage::Regrid, || self.gaussian.to_cube.field(&ps));
        let mut q = Vec::with_capacity(self.levels() * self.target.cells());
        for levels in self.batches() {
            let values = stages.time(Stage::Read, || self.humidity(&file, levels, time))?;
            q.extend(stages.time(Stage::Regrid, || self.gaussian.to_cube.field(&values)));
        }
        let mut mass = dry_thickness(self.coordinate, &ps, Some(&q));
        thickness_to_mass(self.target, &mut mass);
        Ok(Air { ps, q, mass })
    }

    /// Temperature at an hour on the cube, K, `[layer][cell]`.
    pub(super) fn temperature(&mut self, hour: Hour, stages: &mut Stages) -> Result<Vec<f64>, PreprocessError> {
        let time = hour.time();
        let file = stages.time(Stage::Read, || self.files.file(hour.day, Collection::Core))?;
        let mut all = Vec::with_capacity(self.levels() * self.target.cells());
        for levels in self.batches() {
            let first = levels.start;
            let spectra = stages.time(Stage::Read, || self.spectra(&file, TEMPERATURE, levels, time))?;
            let values = stages.time(Stage::Interpolate, || self.synthesised(&file, &spectra))?;
            for (k, level) in values.chunks(self.gaussian.points()).enumerate() {
                let wanted = TEMPERATURE.at(Some((first + k) as u32 + 1), time);
                believe(file.path(), TEMPERATURE, wanted, level)?;
            }
            all.extend(stages.time(Stage::Regrid, || self.gaussian.to_cube.field(&values)));
        }
        Ok(all)
    }

    /// Moving air at an hour. `air` is that of the hour.
    pub(super) fn flow(
        &mut self,
        hour: Hour,
        air: &Air,
        cube_wind: CubeWind,
        stages: &mut Stages,
    ) -> Result<Flow, PreprocessError> {
        let (time, cells) = (hour.time(), self.target.cells());
        let file = stages.time(Stage::Read, || self.files.file(hour.day, Collection::Core))?;
        let on_cube = cube_wind == CubeWind::Wanted || matches!(self.gaussian.to_faces, ToFaces::Centres(_));
        let ps = match self.gaussian.to_faces {
            ToFaces::Lines(_) => stages.time(Stage::Interpolate, || self.surface_pressure(&file, time))?,
            ToFaces::Centres(_) => Vec::new(),
        };
        let mut flux = Vec::with_capacity(self.levels() * self.target.faces().faces());
        let mut wind: [Vec<f64>; 3] = Default::default();
        for levels in self.batches() {
            let [u, v] = self.winds(&file, levels.clone(), time, stages)?;
            let regridded = on_cube
                .then(|| stages.time(Stage::Regrid, || self.gaussian.to_cube.wind(&u, &v, self.fluxes.wind_regrid)));
            match (&self.gaussian.to_faces, &regridded) {
                (ToFaces::Lines(lines), _) => {
                    let thickness = self.thickness_at_points(&file, levels, &ps, time, stages)?;
                    flux.extend(stages.time(Stage::Fluxes, || lines.levels(&u, &v, &thickness)));
                }
                (ToFaces::Centres(centres), Some(wind)) => {
                    let thickness = stages.time(Stage::Fluxes, || {
                        let q = &air.q[levels.start * cells..levels.end * cells];
                        self.thickness(levels, &air.ps, q)
                    });
                    flux.extend(stages.time(Stage::Fluxes, || centres.levels(wind, &thickness)));
                }
                (ToFaces::Centres(_), None) => unreachable!("winds are regridded for this"),
            }
            if cube_wind == CubeWind::Wanted
                && let Some(regridded) = regridded
            {
                wind.iter_mut().zip(regridded).for_each(|(all, part)| all.extend(part));
            }
        }
        Ok(Flow { flux, wind: (cube_wind == CubeWind::Wanted).then_some(wind) })
    }

    /// Winds on some levels at the points towards east and north, `[level][point]`.
    fn winds(
        &self,
        file: &GribFile,
        levels: std::ops::Range<usize>,
        time: Timestamp,
        stages: &mut Stages,
    ) -> Result<[Vec<f64>; 2], PreprocessError> {
        let (first, points) = (levels.start, self.gaussian.points());
        let mut spectra = |parameter| stages.time(Stage::Read, || self.spectra(file, parameter, levels.clone(), time));
        let (vorticity, divergence) = (spectra(VORTICITY)?, spectra(DIVERGENCE)?);
        let (mut u, mut v) = (vec![0.0; levels.len() * points], vec![0.0; levels.len() * points]);
        stages.time(Stage::Interpolate, || {
            let mut us: Vec<&mut [f64]> = u.chunks_mut(points).collect();
            let mut vs: Vec<&mut [f64]> = v.chunks_mut(points).collect();
            let radius = self.target.grid().radius_m();
            let synthesis = &self.gaussian.synthesis;
            let done = synthesis.winds(radius, &slices(&vorticity), &slices(&divergence), &mut us, &mut vs);
            done.map_err(|e| PreprocessError::file(file.path(), e.to_string(), e.help()))
        })?;
        let believed = |values: &[f64]| values.par_iter().position_first(|v| !(-MOST_WIND..=MOST_WIND).contains(v));
        if let Some(n) = believed(&u).or_else(|| believed(&v)) {
            let level = first + n / points + 1;
            let problem = format!("the wind of vo and d on level {level} at {time} is ({}, {}) m/s", u[n], v[n]);
            return Err(PreprocessError::file(file.path(), problem, "no atmosphere has that: fetch the file again"));
        }
        Ok([u, v])
    }

    /// Thickness in Pa on some levels at the points, `[level][point]`.
    fn thickness_at_points(
        &self,
        file: &GribFile,
        levels: std::ops::Range<usize>,
        ps: &[f64],
        time: Timestamp,
        stages: &mut Stages,
    ) -> Result<Vec<f64>, PreprocessError> {
        let q = match self.fluxes.thickness {
            Thickness::Dry => stages.time(Stage::Read, || self.humidity(file, levels.clone(), time))?,
            Thickness::Moist => Vec::new(),
        };
        Ok(stages.time(Stage::Fluxes, || self.thickness(levels, ps, &q)))
    }

    /// Thickness in Pa of some levels of columns with the surface pressures `ps`, `[level][column]`; `q` is used for dry air.
    fn thickness(&self, levels: std::ops::Range<usize>, ps: &[f64], q: &[f64]) -> Vec<f64> {
        let (a, b, width) = (self.coordinate.a(), self.coordinate.b(), ps.len());
        let mut thickness = vec![0.0; levels.len() * width];
        thickness.par_chunks_mut(width).enumerate().for_each(|(n, level)| {
            let k = levels.start + n;
            let (da, db) = (a[k + 1] - a[k], b[k + 1] - b[k]);
            level.iter_mut().zip(ps).for_each(|(dp, ps)| *dp = da + db * ps);
            if self.fluxes.thickness == Thickness::Dry {
                level.iter_mut().zip(&q[n * width..]).for_each(|(dp, q)| *dp *= 1.0 - q);
            }
        });
        thickness
    }
}

fn slices(lists: &[Vec<f64>]) -> Vec<&[f64]> {
    lists.iter().map(Vec::as_slice).collect()
}

/// Winds lie below this, m s⁻¹.
const MOST_WIND: f64 = 500.0;
