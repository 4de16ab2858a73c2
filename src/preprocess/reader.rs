//! What every archive gives: dry air at instants, fluxes and physics over windows, on the target grid and the archive's layers.

use jiff::civil::Date;
use serde_json::{Map, Value};

use super::{PreprocessError, Stages};
use crate::grid::HybridCoordinate;
use crate::met::{Section, SourceFluxSampling};

/// Dry air at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    /// Dry air mass in kg, `[native layer][cell]`.
    pub mass: Vec<f64>,
}

/// Means over one window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowMet {
    /// Dry air through the unique faces in kg s⁻¹, `[native layer][face]`, positive from left to right.
    pub flux: Vec<f64>,
    /// Fields of physics in the units of their sections: `[native layer or interface][cell]`, or `[cell]` for columns.
    /// `cmfmc_cloud_base` counts native layers from 1 at the model top; `dkg`, which depends on their thickness, is on the
    /// layers of the file.
    pub physics: Vec<(Section, Vec<f64>)>,
}

/// An archive of meteorology. Days begin at 00:00 UTC; windows of a day are counted from 0.
pub trait MetReader {
    /// The archive's layers.
    fn coordinate(&self) -> &HybridCoordinate;

    /// Sections of physics that every window has.
    fn physics(&self) -> Vec<Section>;

    /// How fluxes sample the archive's time.
    fn sampling(&self) -> SourceFluxSampling;

    /// Header keys that describe the archive and how it was used.
    fn provenance(&self) -> Map<String, Value>;

    /// Names and sizes of the files from which `day` comes, if the archive is a list of files.
    fn inputs(&self, day: Date) -> Vec<String> {
        let _ = day;
        Vec::new()
    }

    /// Largest memory in bytes that it needs besides what it returns.
    fn memory_bytes(&self) -> u64;

    /// Refuses a day that the archive does not hold, as far as that can be told without reading fields.
    ///
    /// # Errors
    /// [`PreprocessError`] naming the file or the instant that is missing.
    fn covers(&self, day: Date) -> Result<(), PreprocessError>;

    /// Dry air at the start of window `n` of `day`; `n` = number of windows is the end of the day. Equal instants give
    /// equal values, from whichever day they are asked.
    ///
    /// # Errors
    /// [`PreprocessError`] if the archive does not hold the instant or holds values that no atmosphere has.
    fn endpoint(&mut self, day: Date, n: usize, stages: &mut Stages) -> Result<Endpoint, PreprocessError>;

    /// Fluxes and physics of window `n` of `day`.
    ///
    /// # Errors
    /// As for [`MetReader::endpoint`].
    fn window(&mut self, day: Date, n: usize, stages: &mut Stages) -> Result<WindowMet, PreprocessError>;
}
