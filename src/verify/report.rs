//! What a verification found.

use serde::{Serialize, Serializer};

use super::norms::{Filament, Mixing, Norms};

/// Results of one case on one grid.
#[derive(Clone, Debug, Serialize)]
pub struct CaseReport {
    /// Suite.
    pub suite: &'static str,
    /// Flow within the suite.
    pub case: String,
    /// Cells per panel edge; 0 for the ring.
    pub nc: usize,
    /// Layers.
    pub levels: usize,
    /// `equiangular` or `geos_native`.
    pub grid: &'static str,
    /// How initial values were laid onto cells.
    pub initial: &'static str,
    /// Scheme of the run in words.
    pub scheme: String,
    /// Precision.
    pub float_type: &'static str,
    /// Steps of the run, each a palindrome of sweeps.
    pub steps: usize,
    /// Steps per period divided by `nc`.
    pub steps_per_nc: f64,
    /// Largest part of its air that a cell gave away along one axis in a step.
    pub max_directional_courant: f64,
    /// Largest outflow budget of a step.
    pub max_budget: f64,
    /// Norms of the tracers at the end.
    #[serde(serialize_with = "as_map")]
    pub norms: Vec<(String, Norms)>,
    /// Largest difference of the uniform tracer from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constant_max_abs_error: Option<f64>,
    /// Mixing at half a period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixing_half_period: Option<Mixing>,
    /// Mixing at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixing_final: Option<Mixing>,
    /// Filament at half a period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filament_half_period: Option<Filament>,
    /// Further figures by name.
    #[serde(serialize_with = "as_map", skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<(String, f64)>,
    /// Norms of other programs and earlier figures for the same flow and grid size.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<Comparison>,
    /// What the case had to fulfil.
    pub checks: Vec<Check>,
    /// Fields of all panels for pictures, on rank 0 where they were asked for.
    #[serde(skip)]
    pub maps: Vec<Map>,
}

/// A list of pairs as a table.
fn as_map<T: Serialize, S: Serializer>(pairs: &[(String, T)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

impl CaseReport {
    /// Norms of a tracer.
    pub fn norms_of(&self, tracer: &str) -> Option<&Norms> {
        self.norms.iter().find(|(name, _)| name == tracer).map(|(_, norms)| norms)
    }

    /// A further figure.
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// A figure by its name in [`Check::quantity`]: `tracer norm`, `mixing …`, `filament …` or a further figure.
    pub fn quantity(&self, name: &str) -> Option<f64> {
        if let Some((tracer, norm)) = name.rsplit_once(' ')
            && let Some(norms) = self.norms_of(tracer)
        {
            return norms.by_name(norm);
        }
        let mixing = self.mixing_half_period.as_ref();
        let filament = |level: &str| {
            let (filament, level) = (self.filament_half_period.as_ref()?, level.parse::<f64>().ok()?);
            let at = filament.threshold.iter().position(|t| (t - level).abs() < 1e-9)?;
            Some(filament.percent[at])
        };
        match name {
            "constant" => self.constant_max_abs_error,
            "mixing l_r" => mixing.map(|m| m.real_mixing),
            "mixing l_u" => mixing.map(|m| m.range_preserving_unmixing),
            "mixing l_o" => mixing.map(|m| m.overshooting),
            _ => name.strip_prefix("filament ").and_then(filament).or_else(|| self.figure(name)),
        }
    }

    /// Whether every check is passed.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.passed)
    }
}

impl Norms {
    /// The norm of that name.
    pub fn by_name(&self, name: &str) -> Option<f64> {
        Some(match name {
            "l1" => self.l1,
            "l2" => self.l2,
            "linf" => self.linf,
            "phi_max" => self.phi_max,
            "phi_min" => self.phi_min,
            "minimum" => self.minimum,
            "maximum" => self.maximum,
            "mass" => self.mass_rel_error,
            _ => return None,
        })
    }
}

/// Norms of a tracer from elsewhere; what is not known is absent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Program or table, with its scheme and steps.
    pub source: String,
    /// Tracer.
    pub tracer: String,
    /// First norm.
    pub l1: Option<f64>,
    /// Second norm.
    pub l2: Option<f64>,
    /// Largest error.
    pub linf: Option<f64>,
    /// Undershoot.
    pub phi_min: Option<f64>,
    /// Overshoot.
    pub phi_max: Option<f64>,
}

/// A figure against its limits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// What is looked at.
    pub quantity: String,
    /// Its value.
    pub value: f64,
    /// Least value that passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// Largest value that passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Where the limits come from.
    pub source: String,
    /// Whether the value lies within them.
    pub passed: bool,
}

impl Check {
    /// A value against limits; what is no number does not pass.
    pub(super) fn new(quantity: impl Into<String>, value: f64, limits: [Option<f64>; 2], source: &str) -> Self {
        let [at_least, at_most] = limits;
        let passed = at_least.is_none_or(|low| value >= low) && at_most.is_none_or(|high| value <= high);
        let passed = passed && !value.is_nan();
        Self { quantity: quantity.into(), value, at_least, at_most, source: source.to_owned(), passed }
    }
}

/// A field on all panels for a picture.
#[derive(Clone, Debug)]
pub struct Map {
    /// Tracer.
    pub tracer: String,
    /// `initial`, `half` or `final`.
    pub stage: &'static str,
    /// Values, `[panel][j][i]`.
    pub values: Vec<f64>,
}
