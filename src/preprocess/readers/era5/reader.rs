//! Windows of ERA5.

use std::collections::VecDeque;
use std::rc::Rc;

use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::super::archive::{NextDay, PhysicsGroup, check_convection};
use super::archive_files::{Collection, Files};
use super::convection::{drafts, forecast_of, mean_fluxes};
use super::diffusion::Layers;
use super::grids::{Gaussian, OtherGrids, ToFaces};
use super::hours::{Air, BATCH, CubeWind, Flow, Hour, Reading};
use super::parameters::{HUMIDITY, LOG_PRESSURE, VORTICITY};
use super::surface::Surface;
use super::{Era5Faces, Era5Source};
use crate::grid::HybridCoordinate;
use crate::met::{Section, SourceFluxSampling};
use crate::preprocess::grib::{GribFile, GribGrid};
use crate::preprocess::{
    Endpoint, FluxSettings, FluxTime, LevelMap, MetReader, PreprocessError, Stage, Stages, Target, Transform, WindowMet,
};

/// Hours of a day.
const HOURS: usize = 24;

/// Hours kept on the cube.
const KEPT: usize = 2;

/// Reads windows of ERA5.
pub struct Era5Reader<'a> {
    target: &'a Target,
    files: Files,
    gaussian: Gaussian,
    others: OtherGrids,
    coordinate: HybridCoordinate,
    levels: LevelMap,
    fluxes: FluxSettings,
    windows: usize,
    air: VecDeque<(Hour, Rc<Air>)>,
    flow: VecDeque<(Hour, Rc<Flow>)>,
    /// Day whose first instant was asked for last, if its last window stands still.
    standstill: Option<Date>,
}

impl<'a> Era5Reader<'a> {
    /// A reader of `windows` windows a day; resolution and levels are those of the core file of `day`.
    ///
    /// Levels are those stored with the fields, or `coordinate`, which must agree with them to the precision of files;
    /// `transform` merges them, for the fields that are computed on merged layers.
    ///
    /// # Errors
    /// [`PreprocessError`] if `day` is not in the archive, its grids or levels cannot be used, or weights cannot be made.
    ///
    /// # Panics
    /// If windows are not whole hours.
    pub fn new(
        target: &'a Target,
        source: Era5Source,
        coordinate: Option<HybridCoordinate>,
        transform: &Transform,
        fluxes: FluxSettings,
        windows: usize,
        day: Date,
    ) -> Result<Self, PreprocessError> {
        assert!(windows > 0 && HOURS.is_multiple_of(windows), "{windows} windows");
        let faces = source.faces;
        let mut files = Files::new(source);
        let file = files.file(day, Collection::Core)?;
        let start = Hour { day, hour: 0 };
        let pressure = file.find(&LOG_PRESSURE.at(None, start.time()))?;
        let GribGrid::Spectral { truncation } = file.field(pressure)?.grid else {
            let problem = format!("message {} (lnsp) is not in spherical harmonics", pressure.message);
            return Err(PreprocessError::file(file.path(), problem, "fetch lnsp as it is archived"));
        };
        let humidity = file.find(&HUMIDITY.at(Some(1), start.time()))?;
        let GribGrid::Gaussian { points } = file.field(humidity)?.grid else {
            let problem = format!("message {} (q) is not on a Gaussian grid", humidity.message);
            return Err(PreprocessError::file(file.path(), problem, "fetch q as it is archived"));
        };
        let coordinate = levels_of(&file, start, coordinate)?;
        let levels = LevelMap::new(transform, &coordinate)?;
        let gaussian = Gaussian::new(target, file.path(), points, truncation, faces, fluxes.faces)?;
        let (air, flow) = (VecDeque::new(), VecDeque::new());
        let others = OtherGrids::default();
        Ok(Self { target, files, gaussian, others, coordinate, levels, fluxes, windows, air, flow, standstill: None })
    }

    fn reading(&mut self) -> Reading<'_> {
        let Self { target, files, gaussian, coordinate, fluxes, .. } = self;
        Reading { target, files, gaussian, coordinate, fluxes }
    }

    fn wants(&self, group: PhysicsGroup) -> bool {
        self.files.source().wants(group)
    }

    /// Hours of a window.
    fn per_window(&self) -> usize {
        HOURS / self.windows
    }

    /// Whether the end of a day stands still because there is no next day.
    fn stands_still(&self, day: Date) -> Result<bool, PreprocessError> {
        if self.files.source().next_day == NextDay::Required {
            return Ok(false);
        }
        let next = Hour { day, hour: 23 }.next()?.day;
        Ok(!self.files.has(next, Collection::Core)?)
    }

    /// Full hour `n` of a day, 0 to 24; where the end of the day stands still, that of hour 23 for 24.
    fn hour(&self, day: Date, n: usize) -> Result<Hour, PreprocessError> {
        let hour = |n: usize| Hour { day, hour: n as i8 };
        if n < HOURS {
            Ok(hour(n))
        } else if self.stands_still(day)? {
            Ok(hour(HOURS - 1))
        } else {
            hour(23).next()
        }
    }

    fn air(&mut self, hour: Hour, stages: &mut Stages) -> Result<Rc<Air>, PreprocessError> {
        if let Some((_, air)) = self.air.iter().find(|(kept, _)| *kept == hour) {
            return Ok(air.clone());
        }
        let air = Rc::new(self.reading().air(hour, stages)?);
        keep(&mut self.air, hour, air.clone());
        Ok(air)
    }

    fn flow(&mut self, hour: Hour, stages: &mut Stages) -> Result<Rc<Flow>, PreprocessError> {
        if let Some((_, flow)) = self.flow.iter().find(|(kept, _)| *kept == hour) {
            return Ok(flow.clone());
        }
        let air = self.air(hour, stages)?;
        let wanted = self.wants(PhysicsGroup::Vdiff) || self.wants(PhysicsGroup::Tm5Exchange);
        let cube_wind = if wanted { CubeWind::Wanted } else { CubeWind::Unwanted };
        let flow = Rc::new(self.reading().flow(hour, &air, cube_wind, stages)?);
        keep(&mut self.flow, hour, flow.clone());
        Ok(flow)
    }

    /// Full hours (counted in the day) whose fluxes make up window `n`, and their weights.
    fn nodes(&self, n: usize) -> Vec<(usize, f64)> {
        let (first, hours) = (n * self.per_window(), self.per_window());
        match self.fluxes.time {
            FluxTime::WindowStart => vec![(first, 1.0)],
            FluxTime::WindowMean => {
                (0..=hours).map(|h| (first + h, if h == 0 || h == hours { 0.5 } else { 1.0 } / hours as f64)).collect()
            }
        }
    }

    /// Fields of physics of the window that starts at full hour `first` of a day.
    fn window_physics(
        &mut self,
        day: Date,
        first: usize,
        stages: &mut Stages,
    ) -> Result<Vec<(Section, Vec<f64>)>, PreprocessError> {
        let hours: Vec<Hour> = (first..first + self.per_window()).map(|n| Hour { day, hour: n as i8 }).collect();
        let [surface, convection, vdiff, exchange] =
            [PhysicsGroup::Surface, PhysicsGroup::Convection, PhysicsGroup::Vdiff, PhysicsGroup::Tm5Exchange]
                .map(|group| self.wants(group));
        let mut all = Vec::new();
        let ground = if surface || exchange {
            let Self { target, files, gaussian, others, .. } = self;
            Some(stages.time(Stage::Physics, || Surface::read(target, files, gaussian, others, &hours))?)
        } else {
            None
        };
        if convection || vdiff || exchange {
            let air = self.air(hours[0], stages)?;
            let temperature = self.reading().temperature(hours[0], stages)?;
            if convection {
                all.extend(self.convection(&hours, &air, &temperature, stages)?);
            }
            if vdiff || exchange {
                let flow = self.flow(hours[0], stages)?;
                let Some(wind) = &flow.wind else { unreachable!("winds were asked for with the fluxes") };
                let [u, v] = stages.time(Stage::Physics, || self.gaussian.to_cube.east_north(wind));
                if exchange && let Some(ground) = &ground {
                    let dkg = stages.time(Stage::Physics, || {
                        Layers::merged(&self.levels, &self.coordinate, &air, &temperature, [&u, &v]).exchange(
                            self.levels.coordinate(),
                            &air.ps,
                            ground,
                        )
                    });
                    all.push((Section::Dkg, dkg));
                }
                if vdiff {
                    let q = air.q.clone();
                    all.extend([
                        (Section::VdiffU, u),
                        (Section::VdiffV, v),
                        (Section::VdiffT, temperature),
                        (Section::VdiffQv, q),
                    ]);
                }
            }
        }
        if surface && let Some(ground) = ground {
            all.extend([
                (Section::Pblh, ground.pbl_height),
                (Section::Ustar, ground.friction),
                (Section::SensibleHeatFlux, ground.sensible_heat),
                (Section::T2m, ground.temperature_2m),
                (Section::LatentHeatFlux, ground.latent_heat),
            ]);
        }
        Ok(all)
    }

    fn convection(
        &mut self,
        hours: &[Hour],
        air: &Air,
        temperature: &[f64],
        stages: &mut Stages,
    ) -> Result<Vec<(Section, Vec<f64>)>, PreprocessError> {
        let levels = self.coordinate.levels();
        let Self { target, files, gaussian, others, .. } = self;
        let fluxes = stages.time(Stage::Regrid, || mean_fluxes(target, files, (gaussian, others), levels, hours))?;
        let [entu, detu, entd, detd] =
            stages.time(Stage::Physics, || drafts(&self.coordinate, &fluxes, air, temperature, hours[0]))?;
        if let Some((day, ..)) = forecast_of(hours[0]) {
            check_convection(&self.files.path(day, Collection::Convection)?, "avg_umf", &entu, levels)?;
        }
        Ok(vec![(Section::Entu, entu), (Section::Detu, detu), (Section::Entd, entd), (Section::Detd, detd)])
    }
}

/// Keeps what belongs to an hour, and the one before it.
fn keep<T>(kept: &mut VecDeque<(Hour, T)>, hour: Hour, value: T) {
    if kept.len() == KEPT {
        kept.pop_front();
    }
    kept.push_back((hour, value));
}

/// Levels: those stored with the vorticity, or the given ones, which must agree with them.
fn levels_of(
    file: &GribFile,
    start: Hour,
    given: Option<HybridCoordinate>,
) -> Result<HybridCoordinate, PreprocessError> {
    // Coefficients are stored in single precision, in edition 1 with 20 to 24 bits; published tables have six decimals.
    const OFF: (f64, f64) = (0.05, 2e-6);
    const HELP: &str = "name the levels of the archive in `vertical.levels`: \"native\" or \"ifs_l137\"";
    let stored = file.hybrid(file.find(&VORTICITY.at(Some(1), start.time()))?)?;
    let refuse = |problem: String| Err(PreprocessError::file(file.path(), problem, HELP));
    let coordinate = match (stored, given) {
        (None, None) => return refuse("no levels are stored with the fields".into()),
        (Some(stored), None) => stored,
        (None, Some(given)) => given,
        (Some(stored), Some(given)) => {
            if stored.levels() != given.levels() {
                return refuse(format!("the fields have {} levels, {} are given", stored.levels(), given.levels()));
            }
            let off = |stored: &[f64], given: &[f64], most: f64| {
                stored.iter().zip(given).position(|(a, b)| (a - b).abs() > most)
            };
            let apart = off(stored.a(), given.a(), OFF.0).or_else(|| off(stored.b(), given.b(), OFF.1));
            if let Some(k) = apart {
                let (a, b) = (stored.a()[k], stored.b()[k]);
                return refuse(format!(
                    "interface {} has A = {a} Pa, B = {b}, given are A = {} Pa, B = {}",
                    k + 1,
                    given.a()[k],
                    given.b()[k]
                ));
            }
            given
        }
    };
    Ok(coordinate)
}

impl MetReader for Era5Reader<'_> {
    fn coordinate(&self) -> &HybridCoordinate {
        &self.coordinate
    }

    fn physics(&self) -> Vec<Section> {
        let groups: [(PhysicsGroup, &[Section]); 4] = [
            (
                PhysicsGroup::Surface,
                &[Section::Pblh, Section::Ustar, Section::SensibleHeatFlux, Section::T2m, Section::LatentHeatFlux],
            ),
            (PhysicsGroup::Convection, &[Section::Entu, Section::Detu, Section::Entd, Section::Detd]),
            (PhysicsGroup::Vdiff, &[Section::VdiffU, Section::VdiffV, Section::VdiffT, Section::VdiffQv]),
            (PhysicsGroup::Tm5Exchange, &[Section::Dkg]),
        ];
        let wanted = groups.into_iter().filter(|(group, _)| self.wants(*group));
        wanted.flat_map(|(_, sections)| sections.iter().copied()).collect()
    }

    fn sampling(&self) -> SourceFluxSampling {
        match self.fluxes.time {
            FluxTime::WindowMean => SourceFluxSampling::WindowMean,
            FluxTime::WindowStart => SourceFluxSampling::WindowStartEndpoint,
        }
    }

    fn provenance(&self) -> Map<String, Value> {
        let source = self.files.source();
        let mut keys = self.fluxes.provenance();
        if source.faces == Era5Faces::LineIntegral {
            keys.insert("face_fluxes".into(), json!("line_integral"));
            keys.remove("face_interpolation");
            keys.remove("flux_face_lengths");
        }
        let winds = match source.faces {
            Era5Faces::LineIntegral => "vorticity and divergence synthesised on the Gaussian grid",
            Era5Faces::CellMeans => "vorticity and divergence synthesised on the Gaussian grid, means over cells",
        };
        let own = [
            ("source_type", json!("era5")),
            ("source_directory", json!(source.root.display().to_string())),
            ("source_grid", json!(format!("N{}", self.gaussian.pairs()))),
            ("source_truncation", json!(self.gaussian.synthesis.truncation())),
            ("source_winds", json!(winds)),
            ("window_interpolation", json!("states of every hour")),
            ("terminal_zero_tendency", json!(self.standstill.is_some())),
        ];
        keys.extend(own.into_iter().map(|(key, value)| (key.to_owned(), value)));
        keys
    }

    fn memory_bytes(&self) -> u64 {
        let (levels, cells) = (self.coordinate.levels() as u64, self.target.cells() as u64);
        let (faces, points) = (self.target.faces().faces() as u64, self.gaussian.points() as u64);
        let waves = crate::spectral::coefficient_count(self.gaussian.synthesis.truncation()) as u64;
        let batch = BATCH as u64 * (6 * points + 5 * waves);
        let physics = if self.files.source().physics.is_empty() { 0 } else { 12 };
        let lines = match &self.gaussian.to_faces {
            ToFaces::Lines(lines) => lines.bytes() as u64,
            ToFaces::Centres(_) => 0,
        };
        8 * (batch + levels * (KEPT as u64 * (2 * cells + faces) + faces + physics * cells)) + lines
    }

    fn covers(&self, day: Date) -> Result<(), PreprocessError> {
        let need = |day, which| self.files.path(day, which).map(drop);
        need(day, Collection::Core)?;
        if self.wants(PhysicsGroup::Surface) || self.wants(PhysicsGroup::Tm5Exchange) {
            need(day, Collection::Surface)?;
        }
        if self.wants(PhysicsGroup::Convection) {
            need(day, Collection::Convection)?;
        }
        if self.stands_still(day)? { Ok(()) } else { need(Hour { day, hour: 23 }.next()?.day, Collection::Core) }
    }

    fn endpoint(&mut self, day: Date, n: usize, stages: &mut Stages) -> Result<Endpoint, PreprocessError> {
        if n == 0 {
            let still = self.stands_still(day)?;
            self.standstill = still.then_some(day);
            if still {
                tracing::warn!(%day, "no file of the next day: the last hour stands still");
            }
        }
        let hour = self.hour(day, n * self.per_window())?;
        Ok(Endpoint { mass: self.air(hour, stages)?.mass.clone() })
    }

    fn window(&mut self, day: Date, n: usize, stages: &mut Stages) -> Result<WindowMet, PreprocessError> {
        let first = n * self.per_window();
        let mut flux = vec![0.0; self.coordinate.levels() * self.target.faces().faces()];
        // Physics first: its hour is the one that the fluxes need first, too.
        let physics = self.window_physics(day, first, stages)?;
        for (hour, weight) in self.nodes(n) {
            let hour = self.hour(day, hour)?;
            let flow = self.flow(hour, stages)?;
            flux.iter_mut().zip(&flow.flux).for_each(|(sum, f)| *sum += weight * f);
        }
        Ok(WindowMet { flux, physics })
    }
}
