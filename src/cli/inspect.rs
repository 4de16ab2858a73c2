//! `atmostr inspect`.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::{CliError, Context, Exit};
use crate::met::{SectionStats, TransportFile};

/// Report what a transport file holds and which operators it can drive
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr inspect winds.bin
  atmostr inspect winds.bin --stats            also read every value
  atmostr inspect winds.bin --json | jq .nc

A file that breaks a rule of the format is refused with exit code 2.")]
pub(super) struct InspectArgs {
    /// Transport file
    file: PathBuf,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
    /// Add minimum, maximum and sum of every section of every window; verifies checksums
    #[arg(long)]
    stats: bool,
}

impl InspectArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        let file = TransportFile::open(&self.file)?;
        let report = file.inspect();
        let stats = if self.stats { Some(file.stats()?) } else { None };
        if self.json {
            let mut value = json!(report);
            if let (Some(stats), Some(object)) = (stats, value.as_object_mut()) {
                object.insert("stats".into(), json!(stats));
            }
            ctx.print_json(&value)?;
        } else {
            let table = stats.map(|s| table(&s)).unwrap_or_default();
            ctx.print(&format!("{report}\n{table}"))?;
        }
        Ok(Exit::Finished)
    }
}

fn table(stats: &[SectionStats]) -> String {
    let mut text = format!("\n  window  {:<18}{:>15}{:>15}{:>24}\n", "section", "min", "max", "sum");
    for s in stats {
        let name = s.section.name();
        let _ = write!(text, "  {:>6}  {name:<18}{:>15.6e}{:>15.6e}{:>24.15e}", s.window + 1, s.min, s.max, s.sum);
        if s.not_finite > 0 {
            let _ = write!(text, "  {} values are not finite", s.not_finite);
        }
        text.push('\n');
    }
    text
}
