//! What the sources of a run emit, by the values of their files.

use toml::de::DeTable;

use super::columns::file_key;
use super::{Check, Preflight};
use crate::config::emissions::{self, EmissionSource};
use crate::config::error::{ConfigErrors, Problems};
use crate::config::input::Source;
use crate::config::read::View;
use crate::config::{RunConfig, keys};
use crate::grid::CubedSphere;
use crate::sources::{EmissionTotal, RunSpan, SourceError, SourceTotals};

impl RunConfig {
    /// What every source emits in the run, in their order: tracer by tracer, as they are written. Reads and judges the values
    /// of their files, on the grids of the files.
    ///
    /// # Errors
    /// Files whose values are no fluxes of their species, each with the key that names it.
    pub fn source_totals(&self, plan: &Preflight) -> Result<Vec<EmissionTotal>, ConfigErrors> {
        let (root, _) = DeTable::parse_recoverable(&self.text);
        let root = View::root(keys::Section::at("").expect("the top level is a section"), root.get_ref());
        let mut check = Check { config: self, root, problems: Problems::default(), warnings: Vec::new() };
        let totals = check.totals(plan);
        let problems = check.problems.into_vec();
        if problems.is_empty() { Ok(totals) } else { Err(ConfigErrors::new(&self.path, &self.text, problems)) }
    }
}

impl Check<'_> {
    fn totals(&mut self, plan: &Preflight) -> Vec<EmissionTotal> {
        let mut totals = Vec::new();
        if self.config.tracers.iter().all(|tracer| tracer.emissions.is_empty()) {
            return totals;
        }
        let grid = match &self.config.input.source {
            Source::Synthetic(options) => options.grid().map_err(|error| error.to_string()),
            Source::Files { .. } => plan.files[0].header().cube().map_err(|error| error.to_string()),
        };
        let grid = match grid {
            Ok(grid) => grid,
            Err(problem) => {
                self.add(&["input"], "synthetic", problem, "choose another grid");
                return totals;
            }
        };
        let start = self.start(&plan.files).unwrap_or_default();
        let run = RunSpan { start, seconds: plan.hours * 3600.0 };
        // Both are sorted by name.
        for (tracer, (_, _, table)) in self.config.tracers.iter().zip(self.root.named("tracers")) {
            for (emission, view) in tracer.emissions.iter().zip(&emissions::acting(&table)) {
                match of_source(&emission.source, &run, &grid) {
                    Ok(found) => totals.push(found.over(run.seconds, emission.source.molar_mass())),
                    Err(error) => {
                        let (key, span) = file_key(view);
                        self.problems.add(&key, span, format!("`{key}`: {error}"), error.help());
                    }
                }
            }
        }
        totals
    }
}

fn of_source(source: &EmissionSource, run: &RunSpan, grid: &CubedSphere) -> Result<SourceTotals, SourceError> {
    match source {
        EmissionSource::Uniform { density, conversion } => {
            let sphere = 4.0 * std::f64::consts::PI * grid.radius_m() * grid.radius_m();
            Ok(SourceTotals::constant(density * conversion.scale() * sphere))
        }
        EmissionSource::Native(files) => files.totals(run, grid),
        EmissionSource::Inventory(inventory) => inventory.totals(run, grid.radius_m()),
    }
}
