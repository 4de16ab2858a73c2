//! Checks of the physics of a window: do its fluxes carry its air mass into the next endpoint, and does every substep
//! leave air in every cell.
//!
//! All of them work in f64, panel by panel and level by level, in parallel; the answer does not depend on the number
//! of threads.

mod chain;
mod file;
mod mirror;
mod positivity;
mod replay;

pub use chain::check_chain;
pub use file::{ReplayTarget, WindowReplay, validate_replay};
pub use mirror::{MirrorReport, mirror, mirror_tolerance};
pub use positivity::{POSITIVITY_LIMIT, PositivityReport, positivity, recommended_steps};
pub use replay::{ReplayReport, replay, replay_tolerance};

use rayon::prelude::*;

use super::section::Section;

/// A field that the checks read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Air mass at the start of the window.
    Mass,
    /// Air mass at the end of the window.
    NextMass,
    /// Flux through sides normal to i.
    FluxX,
    /// Flux through sides normal to j.
    FluxY,
    /// Flux through layer interfaces, `Nz + 1` levels.
    FluxZ,
}

impl Field {
    /// Section with the same shape.
    pub fn section(self) -> Section {
        match self {
            Field::Mass | Field::NextMass => Section::AirMass,
            Field::FluxX => Section::FluxX,
            Field::FluxY => Section::FluxY,
            Field::FluxZ => Section::FluxZ,
        }
    }
}

/// Access to one window, level by level, so that a whole window need not be held in f64.
pub trait Levels: Sync {
    /// Cells per panel edge.
    fn nc(&self) -> usize;
    /// Layers.
    fn nlevel(&self) -> usize;
    /// Values of `field` on `panel` (from 0) at level `k` (from 0 at the top), i fastest, without halos: the shape of
    /// the field's section. `scratch` may be used to hold them.
    fn level<'a>(&'a self, field: Field, panel: usize, k: usize, scratch: &'a mut Vec<f64>) -> &'a [f64];
}

/// A window in memory: full panel arrays of the six panels, i fastest, then j, k, panel, as stored in files.
#[derive(Clone, Copy, Debug)]
pub struct PanelArrays<'a> {
    /// Cells per panel edge.
    pub nc: usize,
    /// Layers.
    pub nlevel: usize,
    /// Air mass at the start, kg.
    pub m: &'a [f64],
    /// Air mass at the end, kg.
    pub m_next: &'a [f64],
    /// Fluxes along i, kg.
    pub am: &'a [f64],
    /// Fluxes along j, kg.
    pub bm: &'a [f64],
    /// Fluxes downward, kg.
    pub cm: &'a [f64],
}

impl Levels for PanelArrays<'_> {
    fn nc(&self) -> usize {
        self.nc
    }

    fn nlevel(&self) -> usize {
        self.nlevel
    }

    fn level<'a>(&'a self, field: Field, panel: usize, k: usize, _: &'a mut Vec<f64>) -> &'a [f64] {
        let data = match field {
            Field::Mass => self.m,
            Field::NextMass => self.m_next,
            Field::FluxX => self.am,
            Field::FluxY => self.bm,
            Field::FluxZ => self.cm,
        };
        let shape = field.section().shape(self.nc, self.nlevel);
        let start = (panel * shape.nk + k) * shape.level_len();
        &data[start..start + shape.level_len()]
    }
}

/// One level of all fields.
struct LevelView<'a> {
    nc: usize,
    m: &'a [f64],
    m_next: &'a [f64],
    am: &'a [f64],
    bm: &'a [f64],
    top: &'a [f64],
    bottom: &'a [f64],
}

/// Applies `work` to every level of every panel, in parallel; results in the order panel, level.
fn for_levels<T: Send>(levels: &dyn Levels, work: impl Fn(usize, usize, &LevelView) -> T + Sync) -> Vec<T> {
    let nz = levels.nlevel();
    let task = |scratch: &mut [Vec<f64>; 6], n: usize| {
        let (panel, k) = (n / nz, n % nz);
        let [s0, s1, s2, s3, s4, s5] = scratch;
        let view = LevelView {
            nc: levels.nc(),
            m: levels.level(Field::Mass, panel, k, s0),
            m_next: levels.level(Field::NextMass, panel, k, s1),
            am: levels.level(Field::FluxX, panel, k, s2),
            bm: levels.level(Field::FluxY, panel, k, s3),
            top: levels.level(Field::FluxZ, panel, k, s4),
            bottom: levels.level(Field::FluxZ, panel, k + 1, s5),
        };
        work(panel, k, &view)
    };
    (0..6 * nz).into_par_iter().map_init(Default::default, task).collect()
}

/// A value and where it was found; larger values win, then earlier places. NaN counts as infinity.
#[derive(Clone, Copy, Debug)]
struct Worst {
    value: f64,
    i: usize,
    j: usize,
    k: usize,
}

impl Worst {
    fn new(k: usize) -> Self {
        Self { value: 0.0, i: 0, j: 0, k }
    }

    fn see(&mut self, value: f64, i: usize, j: usize) {
        let value = if value.is_nan() { f64::INFINITY } else { value };
        if value > self.value {
            *self = Self { value, i, j, k: self.k };
        }
    }
}

/// The report with the larger value; the earlier one if both are equal.
pub(crate) fn worse<T>(so_far: Option<T>, new: Option<T>, value: impl Fn(&T) -> f64) -> Option<T> {
    match (so_far, new) {
        (Some(a), Some(b)) => Some(if value(&b) > value(&a) { b } else { a }),
        (a, b) => a.or(b),
    }
}
