//! Which fields a snapshot file holds.

use std::collections::{BTreeMap, BTreeSet};

use super::error::OutputError;
use super::frame::FrameNeeds;
use super::met_field::MetField;

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
    /// Whether the column-integrated fluxes and their divergence are written.
    pub column_fluxes: Option<bool>,
    /// Whether `<tracer>_interval_mean` is written.
    pub interval_mean: Option<bool>,
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
    /// Whether `<tracer>_column_flux_east`, `…_north` and `…_divergence` are written.
    pub column_fluxes: bool,
    /// Whether `<tracer>_interval_mean` is written, on the layers of the mixing ratio.
    pub interval_mean: bool,
    /// Column fields of the meteorology, each once.
    pub meteorology: Vec<MetField>,
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
            column_fluxes: false,
            interval_mean: false,
            meteorology: Vec::new(),
            air_mass_layers: None,
            air_mass: true,
            air_mass_per_area: true,
            column_air_mass_per_area: true,
            per_tracer: BTreeMap::new(),
        }
    }
}

/// What a variable holds; tracers by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    AirMass,
    AirMassPerArea,
    ColumnAirMassPerArea,
    MixingRatio(usize),
    ColumnMean(usize),
    ColumnMassPerArea(usize),
    ColumnFluxEast(usize),
    ColumnFluxNorth(usize),
    ColumnFluxDivergence(usize),
    IntervalMean(usize),
    Meteorology(MetField),
}

impl Quantity {
    /// Whether it is a column-integrated flux over the time since the snapshot before.
    pub(super) fn is_flux(self) -> bool {
        matches!(self, Quantity::ColumnFluxEast(_) | Quantity::ColumnFluxNorth(_) | Quantity::ColumnFluxDivergence(_))
    }

    /// Whether it is a mean over the time since the snapshot before.
    pub(super) fn is_mean(self) -> bool {
        matches!(self, Quantity::IntervalMean(_))
    }
}

/// Vertical extent of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    Full,
    Selected,
    Column,
}

/// One spatial variable of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FieldVariable {
    pub name: String,
    pub quantity: Quantity,
    pub extent: Extent,
}

/// The variables of a file, worked out for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPlan {
    pub(super) variables: Vec<FieldVariable>,
    pub(super) tracers: Vec<String>,
    pub(super) levels: usize,
    /// Zero-based model levels of `lev_selected`, ascending.
    pub(super) selected: Vec<usize>,
    pub(super) summary: String,
}

impl FieldPlan {
    /// What the variables are made of.
    pub(super) fn needs(&self) -> FrameNeeds {
        let columns_only = self.variables.iter().all(|v| v.extent == Extent::Column);
        if columns_only { FrameNeeds::Columns } else { FrameNeeds::Layers }
    }

    /// Whether any variable belongs to the time since the snapshot before.
    pub(super) fn has_intervals(&self) -> bool {
        self.has_fluxes() || self.has_means()
    }

    pub(super) fn has_fluxes(&self) -> bool {
        self.variables.iter().any(|v| v.quantity.is_flux())
    }

    pub(super) fn has_means(&self) -> bool {
        self.variables.iter().any(|v| v.quantity.is_mean())
    }

    /// Column fields of the meteorology among the variables.
    pub fn meteorology(&self) -> impl Iterator<Item = MetField> + '_ {
        self.variables.iter().filter_map(|v| match v.quantity {
            Quantity::Meteorology(field) => Some(field),
            _ => None,
        })
    }
}

/// Variable of the total air mass.
pub(super) const AIR_TOTAL: &str = "air_mass_total";

/// Variable with the interval of sums over time.
pub(super) const TIME_BOUNDS: &str = "time_bnds";

/// Names that the layout of the file needs for itself.
pub const RESERVED_NAMES: [&str; 33] = [
    "time",
    TIME_BOUNDS,
    "nv",
    "lev",
    "lev_selected",
    "ilev",
    "hyai",
    "hybi",
    "nf",
    "Ydim",
    "Xdim",
    "Ycorner",
    "Xcorner",
    "ncontact",
    "four",
    "contacts",
    "anchor",
    "lons",
    "lats",
    "corner_lons",
    "corner_lats",
    "cell_area",
    "cubed_sphere",
    "air_mass",
    "air_mass_per_area",
    "column_air_mass_per_area",
    "ledger_refused_count",
    "dry_surface_pressure",
    "surface_pressure",
    "boundary_layer_height",
    "tropopause_height",
    "tropopause_pressure",
    AIR_TOTAL,
];

impl FieldSelection {
    /// Works out the variables for a run that carries `tracers` on `levels` layers.
    ///
    /// # Errors
    /// [`OutputError::Selection`] with every problem found: unknown tracers, levels missing, repeated or out of range,
    /// tracer names that clash with other variables.
    pub fn plan(&self, tracers: &[String], levels: usize) -> Result<FieldPlan, OutputError> {
        let mut problems = Vec::new();
        let chosen = self.chosen_tracers(tracers, &mut problems);
        for name in self.per_tracer.keys() {
            match tracers.iter().position(|t| t == name) {
                None => problems.push(unknown_tracer("output.fields.per_tracer", name, tracers)),
                Some(t) if !chosen.contains(&t) => problems.push(format!(
                    "output.fields.per_tracer.{name}: the tracer is not chosen by output.fields.tracers"
                )),
                Some(_) => {}
            }
        }
        let variables = self.variables(tracers, &chosen);
        let uses_selected = variables.iter().any(|v| v.extent == Extent::Selected);
        let selected = self.selected_levels(levels, uses_selected, &mut problems);

        let mut seen: BTreeSet<String> = RESERVED_NAMES.iter().map(|s| s.to_string()).collect();
        let totals = tracers.iter().map(|t| total_mass_name(t));
        let fields = variables.iter().filter(|v| tracer_of(v.quantity).is_some()).map(|v| v.name.clone()).chain(totals);
        for name in fields {
            if !seen.insert(name.clone()) {
                problems.push(format!("output: two variables would be called `{name}`; rename the tracer"));
            }
        }
        if !problems.is_empty() {
            return Err(OutputError::Selection(problems));
        }
        let names: Vec<_> = chosen.iter().map(|&t| tracers[t].as_str()).collect();
        let summary = self.summary(&names);
        Ok(FieldPlan { variables, tracers: tracers.to_vec(), levels, selected, summary })
    }

    /// Whether column-integrated fluxes of any tracer are written.
    pub fn has_column_fluxes(&self) -> bool {
        let writes = self.tracers != TracerSelection::None;
        writes && (self.column_fluxes || self.per_tracer.values().any(|one| one.column_fluxes == Some(true)))
    }

    /// Whether means over intervals of any tracer are written.
    pub fn has_interval_means(&self) -> bool {
        let writes = self.tracers != TracerSelection::None;
        writes && (self.interval_mean || self.per_tracer.values().any(|one| one.interval_mean == Some(true)))
    }

    fn chosen_tracers(&self, tracers: &[String], problems: &mut Vec<String>) -> Vec<usize> {
        match &self.tracers {
            TracerSelection::All => (0..tracers.len()).collect(),
            TracerSelection::None => Vec::new(),
            TracerSelection::Named(names) => {
                let mut chosen = BTreeSet::new();
                for name in names {
                    match tracers.iter().position(|t| t == name) {
                        Some(t) if chosen.insert(t) => {}
                        Some(_) => problems.push(format!("output.fields.tracers: `{name}` is named twice")),
                        None => problems.push(unknown_tracer("output.fields.tracers", name, tracers)),
                    }
                }
                chosen.into_iter().collect()
            }
        }
    }

    fn selected_levels(&self, levels: usize, used: bool, problems: &mut Vec<String>) -> Vec<usize> {
        if used && self.levels.is_empty() {
            problems.push("output.fields.levels: needed because `selected` layers are written".into());
        }
        for &level in self.levels.iter().filter(|&&l| l == 0 || l > levels) {
            problems.push(format!("output.fields.levels: {level} is not a model level (1 to {levels})"));
        }
        let sorted: BTreeSet<usize> = self.levels.iter().copied().filter(|&l| l > 0).map(|l| l - 1).collect();
        if used { sorted.into_iter().collect() } else { Vec::new() }
    }

    fn variables(&self, tracers: &[String], chosen: &[usize]) -> Vec<FieldVariable> {
        let mut list = Vec::new();
        let mut add = |name: String, quantity, extent| list.push(FieldVariable { name, quantity, extent });
        if let Some(extent) = extent_of(self.air_mass_layers.unwrap_or(self.layers)) {
            if self.air_mass {
                add("air_mass".into(), Quantity::AirMass, extent);
            }
            if self.air_mass_per_area {
                add("air_mass_per_area".into(), Quantity::AirMassPerArea, extent);
            }
        }
        if self.column_air_mass_per_area {
            add("column_air_mass_per_area".into(), Quantity::ColumnAirMassPerArea, Extent::Column);
        }
        for &field in &self.meteorology {
            add(field.name().into(), Quantity::Meteorology(field), Extent::Column);
        }
        for &t in chosen {
            let name = &tracers[t];
            let special = self.per_tracer.get(name).copied().unwrap_or_default();
            if let Some(extent) = extent_of(special.layers.unwrap_or(self.layers)) {
                add(name.clone(), Quantity::MixingRatio(t), extent);
                if special.interval_mean.unwrap_or(self.interval_mean) {
                    add(format!("{name}_interval_mean"), Quantity::IntervalMean(t), extent);
                }
            }
            if special.column_mean.unwrap_or(self.column_mean) {
                add(format!("{name}_column_mean"), Quantity::ColumnMean(t), Extent::Column);
            }
            if special.column_mass_per_area.unwrap_or(self.column_mass_per_area) {
                add(format!("{name}_column_mass_per_area"), Quantity::ColumnMassPerArea(t), Extent::Column);
            }
            if special.column_fluxes.unwrap_or(self.column_fluxes) {
                add(format!("{name}_column_flux_east"), Quantity::ColumnFluxEast(t), Extent::Column);
                add(format!("{name}_column_flux_north"), Quantity::ColumnFluxNorth(t), Extent::Column);
                add(format!("{name}_column_flux_divergence"), Quantity::ColumnFluxDivergence(t), Extent::Column);
            }
        }
        list
    }

    fn summary(&self, names: &[&str]) -> String {
        let mut text = format!(
            "tracers={}; layers={}; column_mean={}; column_mass_per_area={}; air_mass_layers={}; air_mass={}; \
             air_mass_per_area={}; column_air_mass_per_area={}",
            if names.is_empty() { "none".into() } else { names.join(",") },
            self.layers.tag(),
            self.column_mean,
            self.column_mass_per_area,
            self.air_mass_layers.unwrap_or(self.layers).tag(),
            self.air_mass,
            self.air_mass_per_area,
            self.column_air_mass_per_area,
        );
        if self.column_fluxes {
            text += "; column_fluxes=true";
        }
        if self.interval_mean {
            text += "; interval_mean=true";
        }
        if !self.meteorology.is_empty() {
            let names: Vec<_> = self.meteorology.iter().map(|field| field.name()).collect();
            text += &format!("; meteorology={}", names.join(","));
        }
        if !self.levels.is_empty() {
            let levels: BTreeSet<_> = self.levels.iter().collect();
            let levels: Vec<_> = levels.iter().map(|l| l.to_string()).collect();
            text += &format!("; levels={}", levels.join(","));
        }
        for (name, special) in &self.per_tracer {
            text += &format!(
                "; {name}: layers={}, column_mean={}, column_mass_per_area={}",
                special.layers.unwrap_or(self.layers).tag(),
                special.column_mean.unwrap_or(self.column_mean),
                special.column_mass_per_area.unwrap_or(self.column_mass_per_area),
            );
            if let Some(fluxes) = special.column_fluxes {
                text += &format!(", column_fluxes={fluxes}");
            }
            if let Some(mean) = special.interval_mean {
                text += &format!(", interval_mean={mean}");
            }
        }
        text
    }
}

/// Name of the variable with the global total of a tracer.
pub(super) fn total_mass_name(tracer: &str) -> String {
    format!("{tracer}_total_mass")
}

/// The tracer a variable belongs to.
pub(super) fn tracer_of(quantity: Quantity) -> Option<usize> {
    match quantity {
        Quantity::MixingRatio(t)
        | Quantity::ColumnMean(t)
        | Quantity::ColumnMassPerArea(t)
        | Quantity::ColumnFluxEast(t)
        | Quantity::ColumnFluxNorth(t)
        | Quantity::ColumnFluxDivergence(t)
        | Quantity::IntervalMean(t) => Some(t),
        Quantity::AirMass | Quantity::AirMassPerArea | Quantity::ColumnAirMassPerArea | Quantity::Meteorology(_) => {
            None
        }
    }
}

fn extent_of(layers: LayerSelection) -> Option<Extent> {
    match layers {
        LayerSelection::Full => Some(Extent::Full),
        LayerSelection::Selected => Some(Extent::Selected),
        LayerSelection::None => None,
    }
}

/// The candidates most like `name`, best first; at most three.
pub(super) fn close_names<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut scored: Vec<_> = candidates.map(|c| (strsim::jaro_winkler(name, c), c)).filter(|s| s.0 > 0.7).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(3).map(|s| s.1).collect()
}

fn unknown_tracer(key: &str, name: &str, tracers: &[String]) -> String {
    let close = close_names(name, tracers.iter().map(String::as_str));
    match close.first() {
        Some(best) => format!("{key}: the run carries no tracer `{name}`; did you mean `{best}`?"),
        None => format!("{key}: the run carries no tracer `{name}`; it carries {}", tracers.join(", ")),
    }
}

#[cfg(test)]
#[path = "selection_tests.rs"]
mod tests;
