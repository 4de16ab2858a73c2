//! `atmostr plot`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::{CliError, Context, Exit};
use crate::output::{self, OutputError, PlotRequest};

/// Draw a map of a variable of a file
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr plot run.nc --var co2 -o co2.png                      last snapshot, lowest level
  atmostr plot run.nc --var co2 --time 1 --level 10 -o co2.png
  atmostr plot run.nc --var co2_column_mean -o column.png
  atmostr plot co2_c90.nc --var co2 --time 1 -o flux.png        fluxes of `atmostr prepare-fluxes`
  atmostr plot latlon.nc --var co2 -o latlon.png                of `atmostr regrid --to latlon:1x1`, or an inventory")]
pub(super) struct PlotArgs {
    /// File (NetCDF)
    file: PathBuf,
    /// Variable
    #[arg(long, value_name = "NAME")]
    var: String,
    /// Record, counted from 1 [default: the last one]
    #[arg(long, value_name = "N")]
    time: Option<NonZeroUsize>,
    /// Level, counted from 1 at the model top [default: the lowest one, or the last one in the file]
    #[arg(long, value_name = "N")]
    level: Option<NonZeroUsize>,
    /// Picture to write (PNG)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

impl PlotArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        if !self.file.is_file() {
            return Err(CliError::input(format!("{}: no such file", self.file.display())));
        }
        let time = self.time.map(NonZeroUsize::get);
        let request = PlotRequest { variable: &self.var, time, level: self.level.map(NonZeroUsize::get) };
        output::plot(&self.file, &request, &self.output).map_err(|error| match error {
            // The library only reads here.
            OutputError::NetCdf { .. } => CliError::input(error),
            other => other.into(),
        })?;
        ctx.print(&format!("{}\n", self.output.display()))?;
        Ok(Exit::Finished)
    }
}
