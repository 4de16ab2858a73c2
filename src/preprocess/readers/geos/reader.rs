//! Windows of GEOS-IT and GEOS-FP.

use std::collections::VecDeque;
use std::rc::Rc;

use jiff::civil::Date;
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::super::archive::{PhysicsGroup, Variable, day_after, dry_detrainment, dry_updraft};
use super::super::gridded::LevelOrder;
use super::files::Files;
use super::layout::{Collection, GeosProduct};
use super::{GeosSource, HOURS, STEP_SECONDS};
use crate::grid::HybridCoordinate;
use crate::grid::constants::GRAVITY;
use crate::met::{Section, SourceFluxSampling};
use crate::preprocess::{Endpoint, MetReader, PreprocessError, Stage, Stages, Target, WindowMet};

/// Humidities kept on the target: those at the ends of a window, and one more.
const KEPT: usize = 3;
/// Hours over which convection and states of layers are held.
const HELD: usize = 3;

/// An hour or a block of 3 h of a day.
type Place = (Date, usize);

/// Fields held over 3 h, on the target, `[layer][cell]`; only what is written.
struct Block {
    /// Updraft (`[interface][cell]`) and detrainment of all air, kg m⁻² s⁻¹.
    convection: Option<[Vec<f64>; 2]>,
    /// Winds towards east and north (m s⁻¹) and temperature (K).
    vdiff: Option<[Vec<f64>; 3]>,
}

/// Reads windows of one hour.
pub struct GeosReader<'a> {
    files: Files<'a>,
    coordinate: HybridCoordinate,
    sections: Vec<Section>,
    humidity: VecDeque<(Place, Rc<Vec<f64>>)>,
    block: Option<(Place, Rc<Block>)>,
}

impl<'a> GeosReader<'a> {
    /// A reader of the archive, whose layers are those of `coordinate`; `day` is the first one wanted.
    ///
    /// # Errors
    /// [`PreprocessError`] if `day` is not in the archive or its files are not of the cube of GEOS.
    ///
    /// # Panics
    /// If the target is no cube of GEOS, or the archive's number of cells no multiple of its.
    pub fn new(
        target: &'a Target,
        source: GeosSource,
        coordinate: HybridCoordinate,
        day: Date,
    ) -> Result<Self, PreprocessError> {
        let mut files = Files::new(target, source, coordinate.levels(), day)?;
        let sections = sections(&mut files, day)?;
        Ok(Self { files, coordinate, sections, humidity: VecDeque::new(), block: None })
    }

    /// The hour, in the next day if it is the last of this one.
    fn hour(&self, day: Date, n: usize) -> Result<Place, PreprocessError> {
        if n == HOURS { Ok((day_after(day)?, 0)) } else { Ok((day, n)) }
    }

    fn wants_humidity(&self) -> bool {
        [PhysicsGroup::Convection, PhysicsGroup::Vdiff].iter().any(|g| self.files.source.wants(*g))
    }

    fn keep_humidity(&mut self, place: Place, q: Vec<f64>) -> Rc<Vec<f64>> {
        let q = Rc::new(q);
        if self.humidity.len() == KEPT {
            self.humidity.pop_front();
        }
        self.humidity.push_back((place, q.clone()));
        q
    }

    /// Humidity at the start of an hour on the target.
    fn humidity(&mut self, place @ (day, hour): Place, stages: &mut Stages) -> Result<Rc<Vec<f64>>, PreprocessError> {
        if let Some((_, q)) = self.humidity.iter().find(|(kept, _)| *kept == place) {
            return Ok(q.clone());
        }
        let (opened, record) = self.files.states(day, hour)?;
        let q = stages.time(Stage::Read, || self.files.means_of(&opened, day, Variable::Qv, record))?;
        Ok(self.keep_humidity(place, q))
    }

    /// Dry air of the target's cells at the start of an hour: (1 − q)(ΔA + ΔB·ps)·area/g on the archive's cells, added up.
    fn air(&mut self, place @ (day, hour): Place, stages: &mut Stages) -> Result<Vec<f64>, PreprocessError> {
        let (opened, record) = self.files.states(day, hour)?;
        let order = self.files.order(&opened, day, None)?;
        let keep = self.wants_humidity();
        let (file, mapping, target) = (opened.cube(), &self.files.mapping, self.files.target);
        let (layers, cells) = (self.files.layers(), target.cells());
        let ps = stages.time(Stage::Read, || file.plane(Variable::Ps, record))?;
        let mut mass = vec![0.0; layers * cells];
        let mut means = if keep { vec![0.0; layers * cells] } else { Vec::new() };
        let (a, b) = (self.coordinate.a(), self.coordinate.b());
        for range in file.slabs(Variable::Qv, layers)? {
            let q = stages.time(Stage::Read, || file.slab(Variable::Qv, record, range.clone(), layers, order))?;
            let span = range.start * cells..range.end * cells;
            stages.time(Stage::Regrid, || {
                let levels = mass[span.clone()].par_chunks_mut(cells).zip(q.par_chunks(mapping.cells())).enumerate();
                levels.for_each_init(
                    || vec![0.0; mapping.cells()],
                    |fine, (n, (out, q))| {
                        let k = range.start + n;
                        let (da, db) = (a[k + 1] - a[k], b[k + 1] - b[k]);
                        for (((m, q), ps), area) in fine.iter_mut().zip(q).zip(&ps).zip(mapping.areas()) {
                            *m = (1.0 - q) * (da + db * ps) * area / GRAVITY;
                        }
                        mapping.amounts(fine, out);
                    },
                );
                if keep {
                    let levels = means[span].par_chunks_mut(cells).zip(q.par_chunks(mapping.cells()));
                    levels.for_each(|(out, q)| mapping.means(q, out));
                }
            });
        }
        if keep {
            self.keep_humidity(place, means);
        }
        Ok(mass)
    }

    /// Dry air through the target's faces over an hour, kg s⁻¹.
    fn fluxes(&mut self, (day, hour): Place, stages: &mut Stages) -> Result<Vec<f64>, PreprocessError> {
        let (opened, record) = self.files.transport(day, hour)?;
        let order = self.files.order(&opened, day, None)?;
        let (file, mapping) = (opened.cube(), &self.files.mapping);
        let (layers, faces) = (self.files.layers(), self.files.target.faces().faces());
        let mut flux = vec![0.0; layers * faces];
        for range in file.slabs(Variable::Mfxc, layers)? {
            let mut read = |which| stages.time(Stage::Read, || file.slab(which, record, range.clone(), layers, order));
            let (east, north) = (read(Variable::Mfxc)?, read(Variable::Mfyc)?);
            stages.time(Stage::Fluxes, || {
                let out = flux[range.start * faces..range.end * faces].par_chunks_mut(faces);
                let levels = east.par_chunks(mapping.cells()).zip(north.par_chunks(mapping.cells()));
                out.zip(levels).for_each(|(out, (east, north))| {
                    mapping.fluxes([east, north], 1.0 / (STEP_SECONDS * GRAVITY), out);
                });
            });
        }
        Ok(flux)
    }

    /// Fields that hold for the 3 h around an hour.
    fn block(&mut self, (day, hour): Place, stages: &mut Stages) -> Result<Rc<Block>, PreprocessError> {
        let b = hour / HELD;
        if let Some((_, block)) = self.block.as_ref().filter(|(kept, _)| *kept == (day, b)) {
            return Ok(block.clone());
        }
        // The old one goes before the new one comes.
        self.block = None;
        let files = &mut self.files;
        let (convection, vdiff) =
            (files.source.wants(PhysicsGroup::Convection), files.source.wants(PhysicsGroup::Vdiff));
        let mut means = |collection, which| stages.time(Stage::Read, || files.means(day, collection, which, b));
        let convection = match convection {
            true => {
                let cmfmc = means(Collection::Interfaces, Variable::Cmfmc)?;
                Some([cmfmc, means(Collection::Dynamics, Variable::Dtrain)?])
            }
            false => None,
        };
        let temperature = if vdiff { Some(means(Collection::Temperature, Variable::T)?) } else { None };
        let vdiff = match temperature {
            Some(t) => {
                let [u, v] = stages.time(Stage::Read, || files.winds(day, b))?;
                Some([u, v, t])
            }
            None => None,
        };
        let block = Rc::new(Block { convection, vdiff });
        self.block = Some(((day, b), block.clone()));
        Ok(block)
    }
}

/// Sections that the files of a day can give, as far as they are wanted.
fn sections(files: &mut Files<'_>, day: Date) -> Result<Vec<Section>, PreprocessError> {
    let mut all = Vec::new();
    for group in files.source.physics.clone() {
        all.extend(group.sections());
        if group == PhysicsGroup::Surface && files.physics(day, Collection::Surface)?.has(Variable::Eflux) {
            all.push(Section::LatentHeatFlux);
        }
    }
    Ok(all)
}

impl MetReader for GeosReader<'_> {
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
        let source = &self.files.source;
        let ratio = self.files.mapping.ratio(self.files.target);
        let strategy = if ratio == 1 { "identity".to_owned() } else { format!("nested_block_coarsen_{ratio}x{ratio}") };
        let order = match source.order {
            LevelOrder::Auto => "from thickness or humidity, per file",
            LevelOrder::SurfaceFirst => "surface_first",
            LevelOrder::TopFirst => "toa_first",
        };
        let collection = match source.product {
            GeosProduct::It => "CTM_A1",
            GeosProduct::Fp => "tavg_1hr_ctm",
        };
        let keys = [
            ("source_type", json!(source.product.name())),
            ("source_directory", json!(self.files.root().display().to_string())),
            ("source_level_order", json!(order)),
            ("winds_collection", json!(collection)),
            ("source_Nc", json!(source.nc)),
            ("geos_cs_resolution_strategy", json!(strategy)),
            ("source_steps_per_window", json!((3600.0 / STEP_SECONDS).round())),
            ("geos_cm_closure", json!("endpoint")),
            ("geos_vertical_flux", json!("closes every layer between the endpoints")),
            (
                "window_interpolation",
                json!("hourly transport and endpoints; convection and fields of layers held over 3 h"),
            ),
        ];
        keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn memory_bytes(&self) -> u64 {
        let (cells, fine) = (self.files.target.cells() as u64, self.files.mapping.cells() as u64);
        let layers = self.coordinate.levels() as u64;
        let held = if self.wants_humidity() { KEPT as u64 + 6 } else { 0 };
        // Two slabs of 64 MiB, and levels of the archive in work.
        8 * (held * layers * cells + 24 * fine) + (2 << 26)
    }

    fn covers(&self, day: Date) -> Result<(), PreprocessError> {
        self.files.need(day)
    }

    fn endpoint(&mut self, day: Date, n: usize, stages: &mut Stages) -> Result<Endpoint, PreprocessError> {
        let place = self.hour(day, n)?;
        Ok(Endpoint { mass: self.air(place, stages)? })
    }

    fn window(&mut self, day: Date, n: usize, stages: &mut Stages) -> Result<WindowMet, PreprocessError> {
        let flux = self.fluxes((day, n), stages)?;
        let mut physics = Vec::new();
        for section in self.sections.clone() {
            if let Some(which) = Variable::of_ground(section) {
                let values = stages.time(Stage::Read, || self.files.ground(day, which, n))?;
                physics.push((section, values));
            }
        }
        if !self.wants_humidity() {
            return Ok(WindowMet { flux, physics });
        }
        let block = self.block((day, n), stages)?;
        let q = [self.humidity((day, n), stages)?, self.humidity(self.hour(day, n + 1)?, stages)?];
        if let Some([cmfmc, dtrain]) = &block.convection {
            let (mut cmfmc, mut dtrain) = (cmfmc.clone(), dtrain.clone());
            stages.time(Stage::Physics, || {
                dry_updraft(&mut cmfmc, [&q[0], &q[1]], self.files.target.cells());
                dry_detrainment(&mut dtrain, [&q[0], &q[1]]);
            });
            physics.extend([(Section::Cmfmc, cmfmc), (Section::Dtrain, dtrain)]);
        }
        if let Some([u, v, t]) = &block.vdiff {
            let fields = [(Section::VdiffU, u), (Section::VdiffV, v), (Section::VdiffT, t), (Section::VdiffQv, &*q[0])];
            physics.extend(fields.map(|(section, values)| (section, values.clone())));
        }
        Ok(WindowMet { flux, physics })
    }
}
