//! Writing a flow as a transport file.

use std::path::Path;

use serde_json::{Map, json};

use super::generator::Generator;
use super::physics::{self, Physics};
use super::{SynthError, SynthFlow};
use crate::files::lacks_room;
use crate::grid::{CubedSphere, GeometryBundle};
use crate::met::gates::{PositivityReport, ReplayReport, worse};
use crate::met::{FloatType, Header, HeaderSpec, Section, TransportWriter, WindowPayload};

/// Which optional sections a file holds besides the mass tendency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SynthPhysics {
    /// None.
    #[default]
    None,
    /// Every physics section a cubed-sphere file can hold; only the weather flow has them.
    All,
}

/// What to write.
#[derive(Clone, Debug, PartialEq)]
pub struct SynthOptions {
    /// The flow.
    pub flow: SynthFlow,
    /// Cells per panel edge.
    pub nc: usize,
    /// Layers, 1..=1000.
    pub levels: usize,
    /// Number of windows, at least 1.
    pub windows: usize,
    /// Length of a window in s, above 0.
    pub window_seconds: f64,
    /// Storage precision.
    pub float: FloatType,
    /// Geometry; the longitude offset is its usual one.
    pub bundle: GeometryBundle,
    /// Physics sections.
    pub physics: SynthPhysics,
    /// Windows of the flow that pass before the first one written, so that files of successive days join.
    pub skip_windows: usize,
    /// Start of the first window, if the file is to carry a date.
    pub start_time: Option<jiff::Timestamp>,
}

impl SynthOptions {
    /// The cells that the winds are made on.
    ///
    /// # Errors
    /// Cells or levels that the flow or the grid cannot have.
    pub fn grid(&self) -> Result<CubedSphere, SynthError> {
        let recipe = self.flow.recipe(self.levels)?;
        Ok(CubedSphere::new(self.nc, self.bundle, self.bundle.default_offset_deg(), recipe.radius_m)?)
    }

    /// One day of hourly single-precision windows without physics, geometry of GEOS, no date.
    pub fn new(flow: SynthFlow, nc: usize, levels: usize) -> Self {
        Self {
            flow,
            nc,
            levels,
            windows: 24,
            window_seconds: 3600.0,
            float: FloatType::Float32,
            bundle: GeometryBundle::GeosNative,
            physics: SynthPhysics::None,
            skip_windows: 0,
            start_time: None,
        }
    }

    /// Sections of the file in payload order.
    fn sections(&self) -> Vec<Section> {
        let mut all: Vec<_> = Section::CORE.into_iter().chain([Section::AirMassTendency]).collect();
        if self.physics == SynthPhysics::All {
            all.extend(physics::SECTIONS);
        }
        all
    }

    /// Bytes of all windows of the file, its header aside; the largest `u64` where the number does not fit.
    pub fn payload_bytes(&self) -> u64 {
        let elems = |section: Section| section.checked_elems(self.nc as u64, self.levels as u64).unwrap_or(u64::MAX);
        let window = self.sections().into_iter().map(elems).fold(0, u64::saturating_add);
        window.saturating_mul(self.windows as u64).saturating_mul(self.float.bytes() as u64)
    }
}

/// How far the writing has come; reported after every window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SynthProgress {
    /// Windows written.
    pub written: usize,
    /// Windows in all.
    pub windows: usize,
    /// Substeps of the window just written.
    pub steps: u32,
}

/// What was written.
#[derive(Clone, Debug)]
pub struct SynthReport {
    /// Header of the file.
    pub header: Header,
    /// Substeps of each window.
    pub steps: Vec<u32>,
    /// Worst replay of all windows.
    pub replay: Option<ReplayReport>,
    /// Largest outflow of all windows.
    pub positivity: Option<PositivityReport>,
}

/// Writes a flow to `path`; an existing file is replaced when the new one is complete. Equal options give equal bytes,
/// whatever the number of threads. Air mass of window w + 1 is air mass plus tendency of window w to the bit of
/// the storage precision. `progress` is called after every window.
///
/// # Errors
/// Before any work: impossible options, a disk that is too small, a target that cannot be written. Later: a flow too fast for
/// its windows, or whatever the writer of transport files refuses.
pub fn write(
    path: impl AsRef<Path>,
    options: &SynthOptions,
    mut progress: impl FnMut(SynthProgress),
) -> Result<SynthReport, SynthError> {
    let &SynthOptions { flow, nc, windows, window_seconds, float, bundle, .. } = options;
    if windows == 0 {
        return Err(SynthError::NoWindows);
    }
    if !(window_seconds.is_finite() && window_seconds > 0.0) {
        return Err(SynthError::WindowLength { seconds: window_seconds });
    }
    if options.physics == SynthPhysics::All && flow != SynthFlow::Weather {
        return Err(SynthError::NoPhysics { flow: flow.name() });
    }
    let recipe = flow.recipe(options.levels)?;
    let path = path.as_ref();
    if let Some(sizes) = lacks_room(path, options.payload_bytes()) {
        return Err(SynthError::NoRoom { path: path.to_path_buf(), sizes });
    }
    let grid = CubedSphere::new(nc, bundle, bundle.default_offset_deg(), recipe.radius_m)?;
    let begun = TransportWriter::create(path, header(options, &grid, &recipe.coordinate));
    let mut writer = begun.map_err(|error| SynthError::Target(Box::new(error)))?;
    let mut generator = Generator::new(grid, recipe, window_seconds);
    let physics = (options.physics == SynthPhysics::All).then(|| Physics::new(&generator));

    let (mut all_steps, mut replay, mut positivity) = (Vec::with_capacity(windows), None, None);
    for _ in 0..options.skip_windows {
        generator.next_window()?;
    }
    for window in 0..windows {
        let air = generator.next_window()?;
        // Both are rounded first: their difference is then exact in the storage precision as well.
        let tendency: Vec<f64> =
            air.m.iter().zip(&air.m_next).map(|(m, next)| float.round(*next) - float.round(*m)).collect();
        let extra = physics
            .as_ref()
            .map(|physics| physics.window(&generator, options.skip_windows + window, &air))
            .unwrap_or_default();
        let mut sections: Vec<(Section, &[f64])> = vec![
            (Section::AirMass, &air.m),
            (Section::FluxX, &air.am),
            (Section::FluxY, &air.bm),
            (Section::FluxZ, &air.cm),
            (Section::SurfacePressure, &air.ps),
            (Section::AirMassTendency, &tendency),
        ];
        sections.extend(extra.iter().map(|(section, values)| (*section, values.as_slice())));
        let payload = WindowPayload { steps: air.steps, sections: &sections, m_next: Some(&air.m_next) };
        let receipt = writer.write_window(window, &payload)?;
        replay = worse(replay, receipt.replay, |r| r.relative);
        positivity = worse(positivity, receipt.positivity, |p| p.ratio);
        all_steps.push(air.steps);
        progress(SynthProgress { written: window + 1, windows, steps: air.steps });
    }
    Ok(SynthReport { header: writer.finish()?, steps: all_steps, replay, positivity })
}

fn header(options: &SynthOptions, grid: &CubedSphere, coordinate: &crate::grid::HybridCoordinate) -> HeaderSpec {
    let (a, b) = (coordinate.a().to_vec(), coordinate.b().to_vec());
    let mut spec = HeaderSpec::new(options.nc, options.bundle.convention(), a, b, options.windows);
    spec.longitude_offset_deg = grid.longitude_offset_deg();
    spec.radius_m = grid.radius_m();
    spec.float_type = options.float;
    spec.dt_met_seconds = options.window_seconds;
    spec.adaptive_substeps = true;
    spec.start_time_utc = options.start_time;
    spec.sections = options.sections();
    let mut extra = Map::new();
    extra.insert("analytic_flow".to_owned(), json!(options.flow.name()));
    if let SynthFlow::SolidBody { angle_deg } = options.flow {
        extra.insert("analytic_flow_angle_deg".to_owned(), json!(angle_deg));
    }
    extra.insert("poisson_balance_method".to_owned(), json!("analytic"));
    spec.extra = extra;
    spec
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
