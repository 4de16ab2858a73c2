//! `atmostr config-keys`.

use clap::Args;

use super::{CliError, Context, Exit};
use crate::config::keys;

/// Print the reference of all configuration keys (Markdown)
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr config-keys | less
  atmostr config-keys > configuration.md")]
pub(super) struct ConfigKeysArgs {}

impl ConfigKeysArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        ctx.print(&keys::markdown())?;
        Ok(Exit::Finished)
    }
}
