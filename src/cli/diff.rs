//! `atmostr diff`.

use std::path::PathBuf;

use clap::Args;

use super::{CliError, Context, Exit};
use crate::output;

/// Compare two NetCDF files bit by bit
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr diff one_rank.nc six_ranks.nc && echo identical

Attributes that tell when and where a file was written are not compared.
Exit code 0: no differences; 1: the files differ; 2: a file cannot be read.")]
pub(super) struct DiffArgs {
    /// First file
    a: PathBuf,
    /// Second file
    b: PathBuf,
}

impl DiffArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        let report = output::diff(&self.a, &self.b).map_err(CliError::input)?;
        ctx.print(&format!("{report}\n"))?;
        Ok(if report.is_empty() { Exit::Finished } else { Exit::Failed })
    }
}
