//! Selection of output variables.

use std::collections::BTreeMap;

/// Layers of a three-dimensional field that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerSelection {
    /// All layers, on dimension `lev`.
    Full,
    /// The layers of [`FieldSelection::levels`], on dimension `lev_selected`.
    Selected,
    /// No layers; column fields only.
    None,
}

impl LayerSelection {
    /// Name in configuration files and in the attribute `output_fields`.
    pub fn tag(self) -> &'static str {
        match self {
            LayerSelection::Full => "full",
            LayerSelection::Selected => "selected",
            LayerSelection::None => "none",
        }
    }
}

/// Tracers whose fields are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TracerSelection {
    /// Every tracer of the run.
    All,
    /// No tracer fields (totals are written all the same).
    None,
    /// These tracers.
    Named(Vec<String>),
}

/// Settings of one tracer that differ from the common ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TracerFields {
    /// Layers of the mixing ratio.
    pub layers: Option<LayerSelection>,
    /// Whether `<tracer>_column_mean` is written.
    pub column_mean: Option<bool>,
    /// Whether `<tracer>_column_mass_per_area` is written.
    pub column_mass_per_area: Option<bool>,
}

/// Table `[output.fields]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSelection {
    /// Tracers whose fields are written.
    pub tracers: TracerSelection,
    /// Layers of the mixing ratios.
    pub layers: LayerSelection,
    /// Model layers (from 1 at the model top) wherever `selected` is chosen.
    pub levels: Vec<usize>,
    /// Whether `<tracer>_column_mean` is written.
    pub column_mean: bool,
    /// Whether `<tracer>_column_mass_per_area` is written.
    pub column_mass_per_area: bool,
    /// Layers of `air_mass` and `air_mass_per_area`; as `layers` if absent.
    pub air_mass_layers: Option<LayerSelection>,
    /// Whether `air_mass` is written.
    pub air_mass: bool,
    /// Whether `air_mass_per_area` is written.
    pub air_mass_per_area: bool,
    /// Whether `column_air_mass_per_area` is written.
    pub column_air_mass_per_area: bool,
    /// Exceptions by tracer name.
    pub per_tracer: BTreeMap<String, TracerFields>,
}

impl Default for FieldSelection {
    fn default() -> Self {
        Self {
            tracers: TracerSelection::All,
            layers: LayerSelection::Full,
            levels: Vec::new(),
            column_mean: true,
            column_mass_per_area: true,
            air_mass_layers: None,
            air_mass: true,
            air_mass_per_area: true,
            column_air_mass_per_area: true,
            per_tracer: BTreeMap::new(),
        }
    }
}

/// How snapshots are spread over files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// One file for the whole run. It takes its final name once the first snapshot is safely on disk, and then grows.
    Single,
    /// One file per input file, which takes its final name when it is complete.
    Daily,
}

/// Lossless compression of the spatial variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    /// Deflate level, 0 (none) to 9.
    pub level: u8,
    /// Whether bytes are shuffled before deflation; without effect at level 0.
    pub shuffle: bool,
}

impl Default for Compression {
    fn default() -> Self {
        Self { level: 0, shuffle: true }
    }
}
