//! Windows of a flow in memory, for runs that need no file.

use super::generator::Generator;
pub use super::generator::WindowAir;
use super::{SynthError, SynthFlow};
use crate::grid::{CubedSphere, GeometryBundle};

/// The windows of an analytic flow one after the other, as [`write`](super::write) puts them into files but in double precision.
pub struct AnalyticWinds {
    generator: Generator,
}

impl AnalyticWinds {
    /// A flow on a grid of `nc` cells per panel edge with the radius of the flow and the usual longitude offset.
    ///
    /// # Errors
    /// Cells, levels or a window length that the flow cannot have.
    pub fn new(
        flow: SynthFlow,
        nc: usize,
        bundle: GeometryBundle,
        levels: usize,
        window_seconds: f64,
    ) -> Result<Self, SynthError> {
        if !(window_seconds.is_finite() && window_seconds > 0.0) {
            return Err(SynthError::WindowLength { seconds: window_seconds });
        }
        let recipe = flow.recipe(levels)?;
        let grid = CubedSphere::new(nc, bundle, bundle.default_offset_deg(), recipe.radius_m)?;
        Ok(Self { generator: Generator::new(grid, recipe, window_seconds) })
    }

    /// The grid.
    pub fn grid(&self) -> &CubedSphere {
        self.generator.grid()
    }

    /// The next window.
    ///
    /// # Errors
    /// [`SynthError::TooManySteps`] if no acceptable number of substeps keeps every cell from giving away more air than
    /// it has.
    pub fn next_window(&mut self) -> Result<WindowAir, SynthError> {
        self.generator.next_window()
    }
}
