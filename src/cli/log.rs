//! Log lines on standard error.

use std::ffi::OsString;

use clap::ValueEnum;

use super::{Context, Sink};

/// Form of log lines, errors and progress reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum LogFormat {
    /// Lines for people
    #[default]
    Text,
    /// One JSON object per line
    Json,
}

/// Starts logging. Events of severity "info" and above are shown.
pub(super) fn init(ctx: &Context) {
    let base = tracing_subscriber::fmt().with_writer(std::io::stderr).with_target(false);
    // A second start (several command lines in one process) leaves the first one in place.
    let _ = match ctx.log {
        LogFormat::Text => base.without_time().with_ansi(ctx.stderr == Sink::Fancy).try_init(),
        LogFormat::Json => base.json().flatten_event(true).try_init(),
    };
}

/// Whether the command line asks for JSON, looked up where it could not be parsed.
pub(super) fn asks_for_json(args: &[OsString]) -> bool {
    args.iter().any(|arg| arg == "--log=json") || args.windows(2).any(|pair| pair[0] == "--log" && pair[1] == "json")
}
