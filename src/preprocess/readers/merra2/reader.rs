//! Windows of MERRA-2.

use std::collections::VecDeque;
use std::rc::Rc;

use jiff::civil::Date;
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::super::archive::{NextDay, PhysicsGroup, Variable, day_after, dry_detrainment, dry_updraft};
use super::super::gridded::LevelOrder;
use super::block::{Block, State};
use super::files::Files;
use super::layout::{Collection, Merra2Layout};
use super::{BLOCKS, Merra2Source};
use crate::grid::HybridCoordinate;
use crate::grid::constants::GRAVITY;
use crate::met::{Section, SourceFluxSampling};
use crate::preprocess::{
    Endpoint, FluxSettings, LatLonToCube, MetReader, PreprocessError, Stage, Stages, Target, Thickness, WindToFlux,
    WindowMet, dry_thickness,
};

/// States kept on the cube: those around a block, and the last one asked for.
const KEPT: usize = 3;

/// A number of a day's states or blocks.
type Place = (Date, usize);

/// Reads windows of MERRA-2.
pub struct Merra2Reader<'a> {
    target: &'a Target,
    files: Files,
    coordinate: HybridCoordinate,
    fluxes: FluxSettings,
    windows: usize,
    sections: Vec<Section>,
    to_cube: LatLonToCube,
    faces: WindToFlux,
    states: VecDeque<(Place, Rc<State>)>,
    block: Option<(Place, Rc<Block>)>,
    /// Day whose first instant was asked for last, and whether its last block stands still.
    standstill: Option<Date>,
}

impl<'a> Merra2Reader<'a> {
    /// A reader of `windows` windows a day (8 or 24) on the layers of `coordinate`; the grid is that of the files of `day`.
    ///
    /// # Errors
    /// [`PreprocessError`] if `day` is not in the archive, its grid cannot be used, or weights cannot be made.
    ///
    /// # Panics
    /// If `windows` is no multiple of 8.
    pub fn new(
        target: &'a Target,
        source: Merra2Source,
        coordinate: HybridCoordinate,
        fluxes: FluxSettings,
        windows: usize,
        day: Date,
    ) -> Result<Self, PreprocessError> {
        assert!(windows > 0 && windows.is_multiple_of(BLOCKS), "{windows} windows");
        let mut files = Files::new(source, coordinate.levels(), day)?;
        let sections = sections(&mut files, day)?;
        let to_cube = LatLonToCube::new(target, files.axes())?;
        let faces = WindToFlux::new(target.grid(), target.faces(), fluxes.faces);
        let (states, block) = (VecDeque::new(), None);
        Ok(Self {
            target,
            files,
            coordinate,
            fluxes,
            windows,
            sections,
            to_cube,
            faces,
            states,
            block,
            standstill: None,
        })
    }

    /// Windows of a block.
    fn per_block(&self) -> usize {
        self.windows / BLOCKS
    }

    /// Whether the last block of a day stands still because there is no next day.
    fn stands_still(&self, day: Date) -> Result<bool, PreprocessError> {
        let allowed = self.files.source().next_day == NextDay::ZeroTendency;
        Ok(allowed && !self.files.has(day_after(day)?, Collection::States)?)
    }

    /// State `b` of a day; that after the last block is the first of the next day.
    fn state(&mut self, day: Date, b: usize, stages: &mut Stages) -> Result<Rc<State>, PreprocessError> {
        let place = match b {
            BLOCKS if self.stands_still(day)? => (day, BLOCKS - 1),
            BLOCKS => (day_after(day)?, 0),
            b => (day, b),
        };
        if let Some((_, state)) = self.states.iter().find(|(kept, _)| *kept == place) {
            return Ok(state.clone());
        }
        let (files, to_cube) = (&mut self.files, &self.to_cube);
        let state = Rc::new(State::read(files, place, to_cube, &self.coordinate, self.target, stages)?);
        if self.states.len() == KEPT {
            self.states.pop_front();
        }
        self.states.push_back((place, state.clone()));
        Ok(state)
    }

    fn block(&mut self, day: Date, b: usize, stages: &mut Stages) -> Result<Rc<Block>, PreprocessError> {
        if let Some((_, block)) = self.block.as_ref().filter(|(kept, _)| *kept == (day, b)) {
            return Ok(block.clone());
        }
        // The old one goes before the new one comes.
        self.block = None;
        let regrid = self.fluxes.wind_regrid;
        let block = Rc::new(Block::read(&mut self.files, (day, b), &self.to_cube, regrid, stages)?);
        self.block = Some(((day, b), block.clone()));
        Ok(block)
    }

    /// Mean over the hours of window `n` of a field of the ground, on the cube.
    fn ground(
        &mut self,
        day: Date,
        n: usize,
        variable: Variable,
        stages: &mut Stages,
    ) -> Result<Vec<f64>, PreprocessError> {
        let records = Collection::Surface.records();
        let hours = n * records / self.windows..((n + 1) * records).div_ceil(self.windows);
        let (first, count) = (hours.start, hours.len() as f64);
        let mut sum = stages.time(Stage::Read, || self.files.plane(day, Collection::Surface, variable, first))?;
        for hour in hours.skip(1) {
            let values = stages.time(Stage::Read, || self.files.plane(day, Collection::Surface, variable, hour))?;
            sum.iter_mut().zip(values).for_each(|(sum, v)| *sum += v);
        }
        if count > 1.0 {
            sum.iter_mut().for_each(|v| *v /= count);
        }
        Ok(stages.time(Stage::Regrid, || self.to_cube.field(&sum)))
    }

    /// Fields of physics of window `n` from its block and from the states around it; `parts` tell where the window begins and
    /// ends between the states.
    fn physics(
        &mut self,
        (day, n): Place,
        block: &Block,
        [before, after]: [&State; 2],
        parts: [f64; 2],
        stages: &mut Stages,
    ) -> Result<Vec<(Section, Vec<f64>)>, PreprocessError> {
        let mut all = Vec::new();
        for section in self.sections.clone() {
            if let Some(variable) = Variable::of_ground(section) {
                all.push((section, self.ground(day, n, variable, stages)?));
            }
        }
        if block.cmfmc.is_none() && before.t.is_none() {
            return Ok(all);
        }
        stages.time(Stage::Physics, || {
            let [q_start, q_end] = parts.map(|part| mixed(&before.q, &after.q, part));
            if let (Some(cmfmc), Some(dtrain)) = (&block.cmfmc, &block.dtrain) {
                let (mut cmfmc, mut dtrain) = (cmfmc.clone(), dtrain.clone());
                dry_updraft(&mut cmfmc, [&q_start, &q_end], self.target.cells());
                dry_detrainment(&mut dtrain, [&q_start, &q_end]);
                all.extend([(Section::Cmfmc, cmfmc), (Section::Dtrain, dtrain)]);
                all.extend(block.cloud_base.clone().map(|base| (Section::CmfmcCloudBase, base)));
            }
            if let (Some(t0), Some(t1)) = (&before.t, &after.t) {
                let [u, v] = self.to_cube.east_north(&block.wind);
                let t = mixed(t0, t1, parts[0]);
                all.extend([
                    (Section::VdiffU, u),
                    (Section::VdiffV, v),
                    (Section::VdiffT, t),
                    (Section::VdiffQv, q_start),
                ]);
            }
        });
        Ok(all)
    }
}

/// Sections that the files of a day can give, as far as they are wanted.
fn sections(files: &mut Files, day: Date) -> Result<Vec<Section>, PreprocessError> {
    let mut all = Vec::new();
    for group in files.source().physics.clone() {
        all.extend(group.sections());
        match group {
            PhysicsGroup::Surface if files.holds(day, Collection::Surface, Variable::Eflux)? => {
                all.push(Section::LatentHeatFlux);
            }
            PhysicsGroup::Convection => all.push(Section::CmfmcCloudBase),
            _ => {}
        }
    }
    Ok(all)
}

/// a + part·(b − a); exactly a or b at the ends.
fn mixed(a: &[f64], b: &[f64], part: f64) -> Vec<f64> {
    match part {
        0.0 => a.to_vec(),
        1.0 => b.to_vec(),
        part => a.par_iter().zip(b).map(|(a, b)| a + part * (b - a)).collect(),
    }
}

impl MetReader for Merra2Reader<'_> {
    fn coordinate(&self) -> &HybridCoordinate {
        &self.coordinate
    }

    fn physics(&self) -> Vec<Section> {
        self.sections.clone()
    }

    fn sampling(&self) -> SourceFluxSampling {
        SourceFluxSampling::WindowMean
    }

    fn provenance(&self) -> Map<String, Value> {
        let source = self.files.source();
        let (layout, winds) = match source.layout {
            Merra2Layout::GeosChem => ("geoschem", "A3dyn"),
            Merra2Layout::Nasa => ("nasa", "tavg3_3d_asm_Nv"),
        };
        let order = match source.order {
            LevelOrder::Auto => "from humidity, per file",
            LevelOrder::SurfaceFirst => "surface_first",
            LevelOrder::TopFirst => "toa_first",
        };
        let mut keys = self.fluxes.provenance();
        let own = [
            ("source_type", json!("merra2")),
            ("source_layout", json!(layout)),
            ("source_directory", json!(source.root.display().to_string())),
            ("source_level_order", json!(order)),
            ("winds_collection", json!(winds)),
            (
                "window_interpolation",
                json!("dry mass, humidity and temperature linear in time inside blocks of 3 h; winds held"),
            ),
            ("terminal_zero_tendency", json!(self.standstill.is_some())),
        ];
        keys.extend(own.into_iter().map(|(key, value)| (key.to_owned(), value)));
        keys
    }

    fn memory_bytes(&self) -> u64 {
        let mesh = self.files.axes().mesh();
        let (columns, cells) = ((mesh.nlon() * mesh.nlat()) as u64, self.target.cells() as u64);
        let layers = self.coordinate.levels() as u64;
        // States: q, t, mass. Block: three winds, two convective fields, and one more while it is made.
        8 * layers * (cells * (3 * KEPT as u64 + 6) + 4 * columns)
    }

    fn covers(&self, day: Date) -> Result<(), PreprocessError> {
        let wants = |group| self.files.source().physics.contains(&group);
        let needed = [
            (Collection::States, true),
            (Collection::Dynamics, true),
            (Collection::Surface, wants(PhysicsGroup::Surface)),
            (Collection::Interfaces, wants(PhysicsGroup::Convection)),
            (Collection::Clouds, wants(PhysicsGroup::Convection)),
        ];
        needed.into_iter().filter(|(_, needed)| *needed).try_for_each(|(which, _)| self.files.need(day, which))?;
        if self.stands_still(day)? { Ok(()) } else { self.files.need(day_after(day)?, Collection::States) }
    }

    fn endpoint(&mut self, day: Date, n: usize, stages: &mut Stages) -> Result<Endpoint, PreprocessError> {
        if n == 0 {
            let still = self.stands_still(day)?;
            self.standstill = still.then_some(day);
            if still {
                tracing::warn!(%day, "no file of the next day: the mass of the last 3 h stands still");
            }
        }
        let (b, r) = (n / self.per_block(), n % self.per_block());
        let before = self.state(day, b, stages)?;
        if r == 0 {
            return Ok(Endpoint { mass: before.mass.clone() });
        }
        let after = self.state(day, b + 1, stages)?;
        Ok(Endpoint { mass: mixed(&before.mass, &after.mass, r as f64 / self.per_block() as f64) })
    }

    fn window(&mut self, day: Date, n: usize, stages: &mut Stages) -> Result<WindowMet, PreprocessError> {
        let (b, r, per) = (n / self.per_block(), n % self.per_block(), self.per_block() as f64);
        let (before, after) = (self.state(day, b, stages)?, self.state(day, b + 1, stages)?);
        let block = self.block(day, b, stages)?;
        let parts = [r as f64 / per, (r + 1) as f64 / per];
        let flux = stages.time(Stage::Fluxes, || {
            let middle = 0.5 * (parts[0] + parts[1]);
            let thickness = match self.fluxes.thickness {
                Thickness::Moist => dry_thickness(&self.coordinate, &mixed(&before.ps, &after.ps, middle), None),
                Thickness::Dry => {
                    let mut thickness = mixed(&before.mass, &after.mass, middle);
                    for layer in thickness.chunks_mut(self.target.cells()) {
                        layer.iter_mut().zip(self.target.areas()).for_each(|(dp, area)| *dp *= GRAVITY / area);
                    }
                    thickness
                }
            };
            self.faces.levels(&block.wind, &thickness)
        });
        let physics = self.physics((day, n), &block, [&before, &after], parts, stages)?;
        Ok(WindowMet { flux, physics })
    }
}
