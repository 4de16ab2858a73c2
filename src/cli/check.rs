//! `atmostr check`.

use std::path::PathBuf;

use clap::Args;

use super::{CliError, Context, Exit};
use crate::config::{self, RunConfig};

/// Check a run configuration: all errors at once, each with its line and a remedy
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr check run.toml              exit code 0: the configuration is valid; 2: it is not
  atmostr check run.toml --explain    also print every key in force and where it comes from")]
pub(super) struct CheckArgs {
    /// Run configuration (TOML)
    config: PathBuf,
    /// Print the whole configuration with its defaults
    #[arg(long)]
    explain: bool,
}

impl CheckArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        let config = RunConfig::load(&self.config)?;
        if self.explain {
            ctx.print(&config::explain(&config))?;
        } else {
            ctx.print(&format!("{}: the configuration is valid\n", self.config.display()))?;
        }
        Ok(Exit::Finished)
    }
}
