//! Standard test suites of tracer transport, run by the production operator: packed tracers, windows of face amounts,
//! tiles, threads and ranks.
//!
//! [`Verification::run`] runs suites and returns what was found beside figures of other programs, with limits that are
//! passed or failed. No figure depends on ranks, tiles or threads.

mod bed;
mod error;
mod flows;
mod layered;
mod limits;
mod norms;
mod pictures;
mod plane;
mod published;
mod report;
mod shapes;
mod suites;
mod text;

pub use error::VerifyError;
pub use norms::{Filament, Mixing, Norms};
pub use pictures::draw;
pub use published::StoredNorms;
pub use report::{CaseReport, Check, Comparison, Map};
pub use shapes::Sampling;
pub use suites::Suite;
pub use text::table;

use kernels::scheme::Vertical;

use crate::comm::Communicator;
use crate::config;
use crate::grid::GeometryBundle;
use crate::met::FloatType;
use crate::operators::Threads;

/// Whether fields are gathered for pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Maps {
    /// No.
    #[default]
    Dropped,
    /// At the start, half-way and at the end, on rank 0.
    Kept,
}

impl Maps {
    fn kept(self) -> bool {
        self == Maps::Kept
    }
}

/// What is run and how.
#[derive(Clone, Debug)]
pub struct Verification {
    /// Suites in their order.
    pub suites: Vec<Suite>,
    /// Cells per panel edge.
    pub nc: Vec<usize>,
    /// The scheme, as `[advection]` of a run.
    pub advection: config::Advection,
    /// Steps of a period per `nc`; each suite has its own otherwise.
    pub steps_per_nc: Option<f64>,
    /// Geometry of the grid.
    pub bundle: GeometryBundle,
    /// How initial values are laid onto cells; means on equal angles, centres on GEOS grids otherwise.
    pub sampling: Option<Sampling>,
    /// Precision of state and winds.
    pub float: FloatType,
    /// Layers of three-dimensional suites; as many as the published resolution otherwise.
    pub levels: Option<usize>,
    /// Fields for pictures.
    pub maps: Maps,
    /// Norms of other programs to stand beside ours.
    pub stored: StoredNorms,
}

impl Verification {
    /// Suites at C30 on equal angles in double precision.
    pub fn new(suites: Vec<Suite>, advection: config::Advection) -> Self {
        Self {
            suites,
            nc: vec![30],
            advection,
            steps_per_nc: None,
            bundle: GeometryBundle::Gnomonic,
            sampling: None,
            float: FloatType::Float64,
            levels: None,
            maps: Maps::Dropped,
            stored: StoredNorms::default(),
        }
    }

    fn sampling(&self) -> Sampling {
        self.sampling.unwrap_or(match self.bundle {
            GeometryBundle::Gnomonic => Sampling::Means,
            GeometryBundle::GeosNative => Sampling::Centres,
        })
    }

    /// Runs all suites; reports of all cases on every rank. Collective.
    ///
    /// # Errors
    /// A grid that does not suit the ranks, options that do not suit a suite, or a tracer that becomes unusable.
    pub fn run(
        &self,
        comm: &dyn Communicator,
        threads: &Threads,
        watcher: &mut dyn Watcher,
    ) -> Result<Vec<CaseReport>, VerifyError> {
        let mut job = Job { settings: self, comm, threads, watcher };
        let mut reports = Vec::new();
        for suite in &self.suites {
            reports.extend(match self.float {
                FloatType::Float32 => suite.run::<f32>(&mut job)?,
                FloatType::Float64 => suite.run::<f64>(&mut job)?,
            });
        }
        for report in &mut reports {
            report.compared = self.stored.beside(report);
            report.checks.extend(limits::checks(report));
        }
        Ok(reports)
    }
}

/// Told how far a verification is.
pub trait Watcher {
    /// A case begins.
    fn begin(&mut self, case: &CaseReport, steps: usize);
    /// That many of its steps are done.
    fn step(&mut self, done: usize);
}

/// Watches nothing.
pub struct Unwatched;

impl Watcher for Unwatched {
    fn begin(&mut self, _: &CaseReport, _: usize) {}
    fn step(&mut self, _: usize) {}
}

/// What every suite works with.
struct Job<'a> {
    settings: &'a Verification,
    comm: &'a dyn Communicator,
    threads: &'a Threads,
    watcher: &'a mut dyn Watcher,
}

impl Job<'_> {
    /// A report without figures.
    fn report(&self, suite: &'static str, case: &str, nc: usize, levels: usize, steps: usize) -> CaseReport {
        let grid = match self.settings.bundle {
            GeometryBundle::Gnomonic => "equiangular",
            GeometryBundle::GeosNative => "geos_native",
        };
        let float_type = match self.settings.float {
            FloatType::Float32 => "Float32",
            FloatType::Float64 => "Float64",
        };
        CaseReport {
            suite,
            case: case.to_owned(),
            nc,
            levels,
            grid,
            initial: self.settings.sampling().name(),
            scheme: scheme_name(&self.settings.advection, levels),
            float_type,
            steps,
            steps_per_nc: steps as f64 / nc.max(1) as f64,
            max_directional_courant: 0.0,
            max_budget: 0.0,
            norms: Vec::new(),
            constant_max_abs_error: None,
            mixing_half_period: None,
            mixing_final: None,
            filament_half_period: None,
            figures: Vec::new(),
            compared: Vec::new(),
            checks: Vec::new(),
            maps: Vec::new(),
        }
    }

    /// Steps of a whole period at a resolution, even; `usual` per cell of a panel edge unless the user has chosen.
    fn steps(&self, nc: usize, usual: f64) -> Result<usize, VerifyError> {
        let steps = self.settings.steps_per_nc.unwrap_or(usual) * nc as f64;
        let even = 2.0 * (0.5 * steps).round();
        if !(2.0..=1e9).contains(&even) {
            return Err(VerifyError::Steps { steps });
        }
        Ok(even as usize)
    }
}

/// A scheme in words, as limits name it.
fn scheme_name(advection: &config::Advection, levels: usize) -> String {
    let horizontal = advection.scheme.map_or("none", |scheme| scheme.name());
    match bed::vertical(advection, levels) {
        Vertical::Same => horizontal.to_owned(),
        vertical => format!("{horizontal} + {}", vertical.name()),
    }
}
