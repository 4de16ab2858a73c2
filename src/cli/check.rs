//! `atmostr check`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::{CliError, Context, Exit, prepare_fluxes};
use crate::config::fluxes::FluxConfig;
use crate::config::preprocess::{Layers, PreprocessConfig, SourceConfig};
use crate::config::{self, Preflight, RunConfig};
use crate::preprocess::readers::gridded::GriddedArchive;
use crate::sources::EmissionTotal;

/// Check a configuration of any kind: every error with its line and a remedy
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr check run.toml              exit code 0: the configuration is valid; 2: it is not
  atmostr check run.toml --explain    also print every key in force and where it comes from")]
pub(super) struct CheckArgs {
    /// Configuration (TOML)
    config: PathBuf,
    /// Number of ranks of the run, to check the tiles
    #[arg(long, default_value = "1", value_name = "N")]
    ranks: NonZeroUsize,
    /// Print every key in force with its value, also of preprocessing and of flux preparation; absent tables that mean none are
    /// remarks
    #[arg(long)]
    explain: bool,
}

impl CheckArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        let text = std::fs::read_to_string(&self.config).unwrap_or_default();
        if is_meant_for_fluxes(&text) {
            if self.explain {
                ctx.print(&config::explain_fluxes(&FluxConfig::load(&self.config)?))?;
                return Ok(Exit::Finished);
            }
            ctx.print(&prepare_fluxes::checked(&FluxConfig::load(&self.config)?)?)?;
            return Ok(Exit::Finished);
        }
        if PreprocessConfig::is_meant(&text) {
            let config = PreprocessConfig::load(&self.config)?;
            if let SourceConfig::Gridded(source) = &config.source {
                let archive = GriddedArchive::open(source)?;
                if config.layers == Layers::Native && archive.levels().coordinate().is_none() {
                    return Err(config.without_interfaces().into());
                }
            }
            if self.explain {
                ctx.print(&config::explain_preprocessing(&config))?;
                return Ok(Exit::Finished);
            }
            let path = self.config.display();
            ctx.print(&format!("{path}: the preprocessing configuration is valid\n{}", config.summary()))?;
            return Ok(Exit::Finished);
        }
        let config = RunConfig::load(&self.config)?;
        let plan = config.preflight(self.ranks.get())?;
        plan.warnings.iter().for_each(|w| tracing::warn!("{w}"));
        let listed = files_and_sources(&config, &config.source_totals(&plan)?);
        if self.explain {
            let remarks: String = listed.iter().map(|(label, text)| format!("# {label:<10} {text}\n")).collect();
            ctx.print(&format!("{}{remarks}", config::explain(&config)))?;
        } else {
            let text = summary(&config, &plan, &listed);
            ctx.print(&format!("{}: the configuration is valid\n{text}", self.config.display()))?;
        }
        Ok(Exit::Finished)
    }
}

/// Whether a text configures `atmostr prepare-fluxes`.
fn is_meant_for_fluxes(text: &str) -> bool {
    toml::de::DeTable::parse(text).is_ok_and(|root| {
        let has = |key: &str| root.get_ref().contains_key(key);
        (has("flux") || has("catrine")) && !has("input") && !has("source")
    })
}

/// Files of initial states, and every source with its total and its files: label and text.
fn files_and_sources(config: &RunConfig, totals: &[EmissionTotal]) -> Vec<(&'static str, String)> {
    let mut lines: Vec<_> = config.initial_records().into_iter().map(|record| ("initial", record)).collect();
    let sources = config.source_summaries().into_iter().zip(config.source_records()).zip(totals);
    for ((source, files), total) in sources {
        lines.push(("source", format!("{source}: {total}")));
        lines.extend((!files.is_empty()).then_some(("", files)));
    }
    if totals.is_empty() {
        lines.push(("sources", "none".into()));
    }
    lines
}

/// The run in a few lines.
fn summary(config: &RunConfig, plan: &Preflight, listed: &[(&'static str, String)]) -> String {
    let listed: String = listed.iter().map(|(label, text)| format!("  {label:<10} {text}\n")).collect();
    let names: Vec<_> = config.tracers.iter().map(|t| t.name.as_str()).collect();
    let files = match plan.files.len() {
        0 => "winds made by the program".to_owned(),
        1 => "1 transport file".to_owned(),
        n => format!("{n} transport files"),
    };
    let windows: usize = plan.windows.iter().sum();
    let output = match &config.output {
        Some(o) => format!("{} snapshots to {}", plan.snapshot_hours.len(), o.path.display()),
        None => "nothing is written".to_owned(),
    };
    let (layout, advection) = (&plan.layout, &config.advection);
    format!(
        "  input      {files}, {windows} windows, {} h\n  grid       C{}, {} levels, halo {}\n  \
         advection  {}\n  diffusion  {}\n  convection {}\n{listed}  decay      {}\n  precision  {}\n  tiles      {} per panel, {} ranks\n  tracers    {}\n  output     {output}\n",
        plan.hours,
        layout.nc(),
        plan.levels,
        layout.halo(),
        advection.summary(&config.tracers),
        config.physics.diffusion_summary(),
        config.physics.convection_summary(),
        config.chemistry.summary(&config.tracers),
        config.settings.float_type.tag(),
        layout.tile_grid(),
        layout.ranks(),
        names.join(", ")
    )
}
