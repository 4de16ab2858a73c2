//! States on the cube, and windows between them.

use std::collections::VecDeque;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::columns::{EmptyColumn, interpolate, specific_humidity};
use super::files::{StoredState, start_of};
use super::{Extension, GriddedArchive, StateTimes};
use crate::grid::HybridCoordinate;
use crate::met::{Section, SourceFluxSampling};
use crate::preprocess::{
    Endpoint, FluxSettings, FluxTime, LatLonToCube, MetReader, PreprocessError, Stage, Stages, Target, Thickness,
    WindToFlux, WindowMet, dry_thickness, thickness_to_mass,
};

/// States kept on the cube: those around a window.
const KEPT: usize = 3;

/// A state on the cube.
#[derive(Clone, Debug)]
struct CubeState {
    /// Surface pressure, Pa.
    ps: Vec<f64>,
    /// Specific humidity, `[layer][cell]`; none: dry.
    q: Option<Vec<f64>>,
    /// Wind along x, y, z, m s⁻¹, `[layer][cell]`.
    wind: [Vec<f64>; 3],
}

/// Reads gridded states as windows.
pub struct GriddedReader<'a> {
    target: &'a Target,
    archive: GriddedArchive,
    coordinate: HybridCoordinate,
    fluxes: FluxSettings,
    /// Length of a window in s.
    seconds: f64,
    to_cube: LatLonToCube,
    faces: WindToFlux,
    states: VecDeque<(usize, Arc<CubeState>)>,
}

/// A time between two states: the earlier one, and the weight of the one after it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Between {
    state: usize,
    part: f64,
}

impl<'a> GriddedReader<'a> {
    /// A reader of windows of `seconds` s on the layers of `coordinate`.
    ///
    /// # Errors
    /// [`PreprocessError`] if weights cannot be made.
    pub fn new(
        target: &'a Target,
        archive: GriddedArchive,
        coordinate: HybridCoordinate,
        fluxes: FluxSettings,
        seconds: f64,
    ) -> Result<Self, PreprocessError> {
        let to_cube = LatLonToCube::new(target, archive.axes())?;
        let faces = WindToFlux::new(target.grid(), target.faces(), fluxes.faces);
        Ok(Self { target, archive, coordinate, fluxes, seconds, to_cube, faces, states: VecDeque::new() })
    }

    /// Where `seconds` after the start of `day` lies between the states.
    fn between(&self, day: Date, seconds: f64) -> Result<Between, PreprocessError> {
        let times = self.archive.times();
        if matches!(self.archive.source().time, StateTimes::Steady { .. }) {
            return Ok(Between { state: 0, part: 0.0 });
        }
        let at = start_of(day) + seconds;
        let (first, last) = (times[0], times[times.len() - 1]);
        if !(first..=last).contains(&at) {
            let utc = |s: f64| Timestamp::from_second(s as i64).map_or_else(|_| s.to_string(), |t| t.to_string());
            return Err(PreprocessError::Day {
                day,
                problem: format!("{} is needed, the states reach from {} to {}", utc(at), utc(first), utc(last)),
                help: "add files, or choose days whose first and last instants lie among the states",
            });
        }
        let state = times.partition_point(|t| *t <= at) - 1;
        let Some(next) = times.get(state + 1) else { return Ok(Between { state, part: 0.0 }) };
        Ok(Between { state, part: (at - times[state]) / (next - times[state]) })
    }

    /// State `n` on the cube.
    fn state(&mut self, n: usize, stages: &mut Stages) -> Result<Arc<CubeState>, PreprocessError> {
        if let Some((_, state)) = self.states.iter().find(|(kept, _)| *kept == n) {
            return Ok(state.clone());
        }
        let stored = stages.time(Stage::Read, || self.archive.state(n))?;
        let layers = stages.time(Stage::Interpolate, || self.layers(&stored)).map_err(|EmptyColumn(column)| {
            let nlon = self.archive.axes().mesh().nlon();
            let place = format!("row {} from the south, column {} from the west", column / nlon + 1, column % nlon + 1);
            let problem = format!("no level above the ground has a value in {place} (state {})", n + 1);
            PreprocessError::file(self.archive.path(n), problem, "fill the columns, or check the surface pressure")
        })?;
        let StoredState { surface_pressure, u, v, humidity, .. } = layers;
        let state = stages.time(Stage::Regrid, || CubeState {
            ps: self.to_cube.field(&surface_pressure),
            q: humidity.map(|q| self.to_cube.field(&q)),
            wind: self.to_cube.wind(&u, &v, self.fluxes.wind_regrid),
        });
        if let Some(cell) = state.ps.iter().position(|p| p.is_nan()) {
            let problem = format!("the grid does not cover {} of the cube", self.target.cell_words(cell));
            return Err(PreprocessError::file(self.archive.path(n), problem, "give winds of the whole globe"));
        }
        let state = Arc::new(state);
        if self.states.len() == KEPT {
            self.states.pop_front();
        }
        self.states.push_back((n, state.clone()));
        Ok(state)
    }

    /// The state on the layers of the coordinate, still on the archive's columns.
    fn layers(&self, stored: &StoredState) -> Result<StoredState, EmptyColumn> {
        let source = self.archive.source();
        let (levels, ps) = (self.archive.levels(), &stored.surface_pressure);
        let onto = |values: &[f64], beyond| interpolate(values, ps, levels, &self.coordinate, beyond);
        let (winds, states) = ([source.above, source.below], [Extension::Constant; 2]);
        let humidity = match (&stored.humidity, &stored.temperature) {
            (Some(relative), Some(t)) => {
                let columns = ps.len();
                let specific = relative.iter().zip(t).enumerate();
                let q: Vec<f64> = specific
                    .map(|(n, (r, t))| specific_humidity(*r, *t, levels.pressure(n / columns, ps[n % columns])))
                    .collect();
                Some(onto(&q, states)?)
            }
            (Some(q), None) => Some(onto(q, states)?),
            (None, _) => None,
        };
        Ok(StoredState {
            surface_pressure: ps.clone(),
            u: onto(&stored.u, winds)?,
            v: onto(&stored.v, winds)?,
            humidity,
            temperature: None,
        })
    }

    /// Instants of window `n` (s after the start of the day) between which winds are linear, with their weights in the mean.
    fn nodes(&self, day: Date, n: usize) -> Vec<(f64, f64)> {
        let (start, end) = (n as f64 * self.seconds, (n + 1) as f64 * self.seconds);
        let states = self.archive.times().iter().map(|t| t - start_of(day));
        let inside = states.filter(|t| *t > start && *t < end);
        let instants: Vec<f64> = [start].into_iter().chain(inside).chain([end]).collect();
        let mut nodes: Vec<(f64, f64)> = instants.iter().map(|t| (*t, 0.0)).collect();
        for k in 1..nodes.len() {
            let half = 0.5 * (instants[k] - instants[k - 1]) / self.seconds;
            nodes[k - 1].1 += half;
            nodes[k].1 += half;
        }
        nodes
    }

    /// Both states around a time, and the weight of the second.
    fn around(
        &mut self,
        at: Between,
        stages: &mut Stages,
    ) -> Result<(Arc<CubeState>, Arc<CubeState>, f64), PreprocessError> {
        let first = self.state(at.state, stages)?;
        let second = if at.part > 0.0 { self.state(at.state + 1, stages)? } else { first.clone() };
        Ok((first, second, at.part))
    }

    /// Thickness in Pa of the layers at a time: of dry air, or of all air.
    fn thickness(&mut self, at: Between, air: Thickness, stages: &mut Stages) -> Result<Vec<f64>, PreprocessError> {
        let (first, second, part) = self.around(at, stages)?;
        let ps = mixed(&first.ps, &second.ps, part);
        let q = match (&first.q, &second.q) {
            (Some(a), Some(b)) if air == Thickness::Dry => Some(mixed(a, b, part)),
            _ => None,
        };
        Ok(dry_thickness(&self.coordinate, &ps, q.as_deref()))
    }

    /// Wind at a time.
    fn wind(&mut self, at: Between, stages: &mut Stages) -> Result<[Vec<f64>; 3], PreprocessError> {
        let (first, second, part) = self.around(at, stages)?;
        Ok(std::array::from_fn(|c| mixed(&first.wind[c], &second.wind[c], part)))
    }
}

/// a + part·(b − a).
fn mixed(a: &[f64], b: &[f64], part: f64) -> Vec<f64> {
    if part == 0.0 {
        return a.to_vec();
    }
    a.iter().zip(b).map(|(a, b)| a + part * (b - a)).collect()
}

impl MetReader for GriddedReader<'_> {
    fn coordinate(&self) -> &HybridCoordinate {
        &self.coordinate
    }

    fn physics(&self) -> Vec<Section> {
        Vec::new()
    }

    fn sampling(&self) -> SourceFluxSampling {
        match self.fluxes.time {
            FluxTime::WindowMean => SourceFluxSampling::WindowMean,
            FluxTime::WindowStart => SourceFluxSampling::WindowStartEndpoint,
        }
    }

    fn provenance(&self) -> Map<String, Value> {
        let source = self.archive.source();
        let files: Vec<String> = source.files.iter().map(|f| f.display().to_string()).collect();
        let time = match source.time {
            StateTimes::Series { .. } => "states interpolated linearly in time",
            StateTimes::Steady { .. } => "one state for all windows",
        };
        let mut keys = self.fluxes.provenance();
        keys.insert("source_type".into(), json!("gridded"));
        keys.insert("source_files".into(), json!(files));
        keys.insert("window_interpolation".into(), json!(time));
        keys.insert("vertical_interpolation".into(), json!("linear in ln p on the archive's columns"));
        keys
    }

    fn inputs(&self, day: Date) -> Vec<String> {
        let (Ok(first), Ok(last)) = (self.between(day, 0.0), self.between(day, 86_400.0)) else { return Vec::new() };
        let last = last.state + usize::from(last.part > 0.0);
        let files = self.archive.holders(first.state..=last).into_iter();
        let told = files.map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            format!("{name} ({} bytes)", std::fs::metadata(path).map_or(0, |m| m.len()))
        });
        told.collect()
    }

    fn memory_bytes(&self) -> u64 {
        let layers = self.coordinate.levels() as u64;
        let columns = (self.archive.axes().mesh().nlon() * self.archive.axes().mesh().nlat()) as u64;
        let (cells, levels) = (self.target.cells() as u64, self.archive.levels().levels() as u64);
        8 * (cells * layers * 4 * (KEPT as u64 + 2) + columns * 5 * (levels + layers))
    }

    fn covers(&self, day: Date) -> Result<(), PreprocessError> {
        self.between(day, 0.0).and_then(|_| self.between(day, 86_400.0)).map(drop)
    }

    fn endpoint(&mut self, day: Date, n: usize, stages: &mut Stages) -> Result<Endpoint, PreprocessError> {
        let at = self.between(day, n as f64 * self.seconds)?;
        let mut mass = self.thickness(at, Thickness::Dry, stages)?;
        thickness_to_mass(self.target, &mut mass);
        Ok(Endpoint { mass })
    }

    fn window(&mut self, day: Date, n: usize, stages: &mut Stages) -> Result<WindowMet, PreprocessError> {
        let nodes = match self.fluxes.time {
            FluxTime::WindowStart => vec![(n as f64 * self.seconds, 1.0)],
            FluxTime::WindowMean => self.nodes(day, n),
        };
        let mut sums: Option<([Vec<f64>; 3], Vec<f64>)> = None;
        for (seconds, weight) in nodes {
            let at = self.between(day, seconds)?;
            let (wind, thickness) = (self.wind(at, stages)?, self.thickness(at, self.fluxes.thickness, stages)?);
            let (winds, thicknesses) = sums.get_or_insert_with(|| {
                let zeros = vec![0.0; thickness.len()];
                ([zeros.clone(), zeros.clone(), zeros.clone()], zeros)
            });
            winds.iter_mut().zip(&wind).for_each(|(sum, wind)| accumulate(sum, wind, weight));
            accumulate(thicknesses, &thickness, weight);
        }
        let (wind, thickness) = sums.expect("a window has an instant");
        let flux = stages.time(Stage::Fluxes, || self.faces.levels(&wind, &thickness));
        Ok(WindowMet { flux, physics: Vec::new() })
    }
}

/// sum + weight·values.
fn accumulate(sum: &mut [f64], values: &[f64], weight: f64) {
    sum.iter_mut().zip(values).for_each(|(sum, v)| *sum += weight * v);
}
