//! One day of an archive to one transport file.

mod header;
mod settings;

use std::path::Path;

use jiff::civil::Date;
use rayon::prelude::*;

pub use self::header::SOURCE_INPUTS;
pub use self::settings::{BalanceMode, DayProgress, DayReport, DaySettings};
use super::columns::sum_levels;
use super::levels::LevelMap;
use super::pin::{mean_pressure, pin};
use super::substeps::outflow_ratio;
use super::{
    Balance, Endpoint, LayerWeights, MetReader, PreprocessError, Stage, Stages, Target, close_columns, physics,
};
use crate::files::lacks_room;
use crate::grid::constants::GRAVITY;
use crate::met::gates::worse;
use crate::met::{GateAction, GatePolicy, MetError, Section, TransportWriter, WindowPayload, WindowReceipt};

/// Prepares days one after the other.
pub struct Preprocessor<'a> {
    target: &'a Target,
    levels: &'a LevelMap,
    settings: &'a DaySettings,
    reader: &'a mut dyn MetReader,
}

/// Air of the file's layers at an instant.
struct Air {
    /// kg, `[layer][cell]`.
    mass: Vec<f64>,
    /// Air of the native layers, kg.
    native: Vec<f64>,
    /// Growth of each column by the global mass.
    growth: Vec<f64>,
}

impl<'a> Preprocessor<'a> {
    /// A preprocessor of what `reader` gives, onto the layers of `levels`.
    pub fn new(
        target: &'a Target,
        levels: &'a LevelMap,
        settings: &'a DaySettings,
        reader: &'a mut dyn MetReader,
    ) -> Self {
        Self { target, levels, settings, reader }
    }

    /// Mean dry surface pressure in Pa of the archive at the start of `day`.
    ///
    /// # Errors
    /// As the reader's.
    pub fn archive_pressure(&mut self, day: Date) -> Result<f64, PreprocessError> {
        let endpoint = self.reader.endpoint(day, 0, &mut Stages::default())?;
        Ok(mean_pressure(&endpoint.mass, self.target.grid().total_area()))
    }

    /// Bytes of the payload of a file.
    pub fn payload_bytes(&self) -> u64 {
        let elems = |s: Section| s.elems(self.target.grid().nc(), self.levels.levels()) as u64;
        let window: u64 = self.sections().into_iter().map(elems).sum();
        window * self.settings.windows as u64 * self.settings.float.bytes() as u64
    }

    /// Largest memory in bytes that the work on a day takes, estimated from the sizes of its fields; the factored balance and
    /// the regridding weights come on top.
    pub fn memory_bytes(&self) -> u64 {
        let (cells, native) = (self.target.cells() as u64, self.levels.native_levels() as u64);
        let levels = self.levels.levels() as u64;
        let fields = native * (2 + 2 + 1) + levels * (2 + 2 + 2 + 2 + 1 + 1 + 1);
        let physics: u64 =
            self.reader.physics().iter().map(|s| s.elems(self.target.grid().nc(), native as usize) as u64).sum();
        8 * (cells * fields + 3 * physics) + self.reader.memory_bytes()
    }

    fn sections(&self) -> Vec<Section> {
        let core = Section::CORE.into_iter().chain([Section::AirMassTendency]);
        let mut all: Vec<Section> = core.chain(self.settings.physics.iter().copied()).collect();
        all.sort();
        all
    }

    /// Prepares `day` and puts it at `path`. A file already there stays until the new one has passed all checks, and until
    /// `publish` allows it.
    ///
    /// # Errors
    /// What the archive lacks, a field that no atmosphere has, a window that fails its checks, a disk that is too small.
    pub fn day(
        &mut self,
        day: Date,
        path: &Path,
        publish: &mut dyn FnMut() -> Result<(), PreprocessError>,
        mut progress: impl FnMut(DayProgress),
    ) -> Result<DayReport, PreprocessError> {
        if let Some(sizes) = lacks_room(path, self.payload_bytes()) {
            let source = std::io::Error::other(sizes);
            return Err(PreprocessError::Io { path: path.to_path_buf(), action: "write a day here", source });
        }
        let mut stages = Stages::default();
        let gates = GatePolicy {
            positivity: self.settings.on_positivity,
            positivity_limit: self.settings.positivity_limit,
            ..GatePolicy::default()
        };
        let mut start = self.air(day, 0, &mut stages)?;
        let area = self.target.grid().total_area();
        let archive_pressure_pa = mean_pressure(&start.native, area);
        self.check_target(day, archive_pressure_pa)?;
        let mut writer = TransportWriter::create_with(path, self.header(day)?, gates)?;
        let windows = self.settings.windows;
        let (mut steps, mut replay, mut positivity, mut correction) = (Vec::new(), None, None, 0.0f64);
        for n in 0..windows {
            let end = self.air(day, n + 1, &mut stages)?;
            let (window_steps, receipt, change) = self.window(day, n, &start, &end, &mut writer, &mut stages)?;
            replay = worse(replay, receipt.replay, |r| r.relative);
            positivity = worse(positivity, receipt.positivity, |p| p.ratio);
            correction = correction.max(change);
            steps.push(window_steps);
            start = end;
            progress(DayProgress { day, written: n + 1, windows, steps: window_steps });
        }
        publish()?;
        let header = stages.time(Stage::Write, || writer.finish())?;
        let bytes = header.file_bytes();
        Ok(DayReport { steps, replay, positivity, correction, archive_pressure_pa, stages, bytes })
    }

    /// Air of the file's layers at the start of window `n`.
    fn air(&mut self, day: Date, n: usize, stages: &mut Stages) -> Result<Air, PreprocessError> {
        let Endpoint { mass: native } = self.reader.endpoint(day, n, stages)?;
        self.check_air(&native, day, n)?;
        let (target, settings, levels) = (self.target, self.settings, self.levels);
        Ok(stages.time(Stage::Levels, || {
            let mut mass = levels.sums(native.clone());
            let growth = match settings.pin.target_kg(target.grid().total_area()) {
                Some(kg) => pin(&mut mass, target.areas(), kg),
                None => vec![1.0; target.cells()],
            };
            // What is stored is what the fluxes have to meet.
            mass.iter_mut().for_each(|m| *m = settings.float.round(*m));
            Air { mass, native, growth }
        }))
    }

    /// Refuses a global mass that is far from the archive's, and says so where it is not near.
    fn check_target(&self, day: Date, archive_pa: f64) -> Result<(), PreprocessError> {
        let area = self.target.grid().total_area();
        let Some(target_pa) = self.settings.pin.target_kg(area).map(|kg| kg * GRAVITY / area) else { return Ok(()) };
        let problem = format!(
            "the archive's dry air between ground and model top weighs {archive_pa:.1} Pa on the mean, the target {target_pa:.1} Pa"
        );
        match (target_pa / archive_pa - 1.0).abs() {
            off if off <= 0.01 => Ok(()),
            off if off <= 0.05 => {
                tracing::warn!("{day}: {problem}");
                Ok(())
            }
            _ => Err(PreprocessError::Day {
                day,
                problem,
                help: "check the archive and [mass_fix]; a record of another archive (`campaign_file`) must be removed",
            }),
        }
    }

    fn check_air(&self, mass: &[f64], day: Date, n: usize) -> Result<(), PreprocessError> {
        let cells = self.target.cells();
        match mass.iter().position(|m| !(*m > 0.0 && m.is_finite())) {
            None => Ok(()),
            Some(at) => Err(PreprocessError::Field {
                day,
                when: format!("start of window {}", n + 1),
                field: "dry air mass (kg)",
                value: mass[at],
                level: at / cells + 1,
                cell: self.target.cell_words(at % cells),
                help: "check surface pressure, humidity and the order of the levels",
            }),
        }
    }

    /// Balances, closes and writes one window; returns its substeps, the results of its checks and the size of the correction.
    fn window(
        &mut self,
        day: Date,
        n: usize,
        start: &Air,
        end: &Air,
        writer: &mut TransportWriter,
        stages: &mut Stages,
    ) -> Result<(u32, WindowReceipt, f64), PreprocessError> {
        let (target, levels, settings) = (self.target, self.levels, self.settings);
        let met = self.reader.window(day, n, stages)?;
        let mut flux = stages.time(Stage::Levels, || self.amounts(met.flux, start, end));
        let physics = self.physics(day, n, met.physics, start, stages)?;
        let weights = LayerWeights::new(settings.balance.weights(), levels.coordinate().b());
        let balance = match settings.balance {
            BalanceMode::Column(_) => Some(Balance::Column(weights.clone())),
            BalanceMode::PerLayer => Some(Balance::PerLayer),
            BalanceMode::None => None,
        };
        let correction = stages.time(Stage::Balance, || match balance {
            Some(balance) => balance.apply(target.poisson(), &mut flux, &start.mass, &end.mass).map(|r| r.change),
            None => Ok(0.0),
        });
        let correction = correction.map_err(|source| PreprocessError::Balance { day, number: n + 1, source })?;
        let closed = stages.time(Stage::Close, || self.closed(day, n, &flux, &weights, start, end))?;
        let cells = target.cells();
        let order = |values: &[f64]| physics::file_order(values, cells);
        let receipt = stages.time(Stage::Write, || {
            let (m, m_next) = (order(&start.mass), order(&end.mass));
            let dm: Vec<f64> = m.iter().zip(&m_next).map(|(m, next)| next - m).collect();
            let ps = self.surface_pressure(&start.mass);
            let mut sections: Vec<(Section, &[f64])> = vec![
                (Section::AirMass, &m),
                (Section::FluxX, &closed.am),
                (Section::FluxY, &closed.bm),
                (Section::FluxZ, &closed.cm),
                (Section::SurfacePressure, &ps),
                (Section::AirMassTendency, &dm),
            ];
            sections.extend(physics.iter().map(|(section, values)| (*section, values.as_slice())));
            writer.write_window(n, &WindowPayload { steps: closed.steps, sections: &sections, m_next: Some(&m_next) })
        });
        let receipt = receipt.map_err(|error| match (error, settings.balance) {
            (error @ MetError::Replay { .. }, BalanceMode::None) => PreprocessError::Day {
                day,
                problem: error.to_string(),
                help: "winds that nothing balances do not close: choose another `fluxes.balance_mode` than \"none\"",
            },
            (error, _) => error.into(),
        })?;
        Ok((closed.steps, receipt, correction))
    }

    /// Air through the faces in the whole window, kg, of the file's layers, scaled with the air of pinned columns.
    fn amounts(&self, rates: Vec<f64>, start: &Air, end: &Air) -> Vec<f64> {
        let mut flux = self.levels.sums(rates);
        let (faces, seconds) = (self.target.faces(), self.settings.window_seconds());
        let growth = |cell: usize| 0.5 * (start.growth[cell] + end.growth[cell]);
        let factors: Vec<f64> =
            (0..faces.faces()).map(|f| 0.5 * seconds * (growth(faces.left(f)) + growth(faces.right(f)))).collect();
        for layer in flux.chunks_mut(factors.len()) {
            layer.iter_mut().zip(&factors).for_each(|(flux, factor)| *flux *= factor);
        }
        flux
    }

    fn physics(
        &self,
        day: Date,
        n: usize,
        given: Vec<(Section, Vec<f64>)>,
        air: &Air,
        stages: &mut Stages,
    ) -> Result<Vec<(Section, Vec<f64>)>, PreprocessError> {
        let (target, levels) = (self.target, self.levels);
        let wanted = given.into_iter().filter(|(section, _)| self.settings.physics.contains(section));
        let when = format!("window {}", n + 1);
        stages.time(Stage::Physics, || {
            wanted
                .map(|(section, values)| {
                    let mut merged = physics::on_levels(section, values, levels, &air.native);
                    physics::check(section, &mut merged, target, day, &when)?;
                    Ok((section, physics::file_order(&merged, target.cells())))
                })
                .collect()
        })
    }

    /// Substeps, and the fluxes of a half-sweep as they will be stored. Vertical fluxes close every layer with the rounded
    /// horizontal ones, so that rounding moves no air of its own.
    fn closed(
        &self,
        day: Date,
        n: usize,
        flux: &[f64],
        weights: &LayerWeights,
        start: &Air,
        end: &Air,
    ) -> Result<Closed, PreprocessError> {
        let (faces, settings) = (self.target.faces(), self.settings);
        let (nz, nc) = (self.levels.levels(), faces.nc());
        let mut cm = vec![0.0; (nz + 1) * faces.cells()];
        close_columns(faces, weights, flux, &start.mass, &end.mass, &mut cm);
        let ratio = outflow_ratio(faces, flux, &cm, &start.mass, &end.mass);
        // Rounding must not push a window over the limit that it just meets.
        let steps = settings.steps.steps(ratio * (1.0 + ROUNDING));
        let needed = (ratio / settings.steps.target).ceil();
        if needed > f64::from(steps) && settings.on_positivity == GateAction::Refuse {
            let (target, most) = (settings.steps.target, settings.steps.most);
            return Err(PreprocessError::Steps { day, number: n + 1, needed, target, most });
        }
        let applications = 2.0 * f64::from(steps);
        let stored: Vec<f64> = flux.par_iter().map(|f| settings.float.round(f / applications)).collect();
        let whole: Vec<f64> = stored.par_iter().map(|f| f * applications).collect();
        close_columns(faces, weights, &whole, &start.mass, &end.mass, &mut cm);
        cm.par_iter_mut().for_each(|f| *f /= applications);
        let (mut am, mut bm) = (vec![0.0; 6 * nz * nc * (nc + 1)], vec![0.0; 6 * nz * nc * (nc + 1)]);
        faces.scatter_levels(&stored, nz, &mut am, &mut bm);
        Ok(Closed { steps, am, bm, cm: physics::file_order(&cm, self.target.cells()) })
    }

    /// Dry surface pressure in Pa of masses `[layer][cell]` in kg.
    fn surface_pressure(&self, mass: &[f64]) -> Vec<f64> {
        let areas = self.target.areas();
        let mut ps = sum_levels(mass, areas.len());
        ps.iter_mut().zip(areas).for_each(|(p, a)| *p *= GRAVITY / a);
        ps
    }
}

/// Part of the outflow that rounding to the storage precision may add.
const ROUNDING: f64 = 1e-4;

/// Fluxes of one of the two applications of a substep, kg, in the order of files.
struct Closed {
    steps: u32,
    am: Vec<f64>,
    bm: Vec<f64>,
    cm: Vec<f64>,
}
