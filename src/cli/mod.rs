//! Command line: subcommands, reports, exit codes.
//!
//! [`main`] is the whole program. Every subcommand is a struct of arguments with an `execute` method that returns the
//! exit code or a [`CliError`]; [`exit`] alone turns errors into messages and codes.

mod bare;
mod bench;
mod check;
mod config_keys;
mod decompose;
mod diff;
pub mod exit;
mod inspect;
mod kernels;
mod log;
mod plan;
mod plot;
mod prepare_fluxes;
mod preprocess;
pub mod progress;
mod regrid;
mod run;
mod synth;
mod values;
mod verify;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

use clap::{Parser, Subcommand};

pub use bare::with_run;
pub use exit::{CliError, Exit};
pub use log::LogFormat;

/// Global trace-gas transport on the cubed sphere, driven by archived winds.
#[derive(Debug, Parser)]
#[command(name = "atmostr", version, max_term_width = 100, after_help = AFTER_HELP, propagate_version = true)]
struct Cli {
    /// Form of messages and progress reports on standard error
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT")]
    log: LogFormat,
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  atmostr run.toml                            a run (short for: atmostr run run.toml)
  mpirun -n 24 atmostr run.toml               the same on 24 ranks, with the same bits
  atmostr preprocess met.toml --day 2021-12-01    a day of archived winds to a transport file
  atmostr check run.toml                      every error of a configuration, with its line
  atmostr synth winds.bin --nc 24             a transport file of analytic winds, no data needed
  atmostr prepare-fluxes fluxes.toml          archives of surface fluxes on the cells of a run
  atmostr inspect winds.bin                   what a transport file holds
  atmostr plan run.toml --nodes 4             memory, disk, messages and time that a run would take
  atmostr decompose --nc 90 --ranks 24        tiles and predicted cost of a rank layout
  atmostr plot run.nc --var co2 -o co2.png    a map of a variable
  atmostr regrid run.nc --to latlon:1x1 -o ll.nc    the variables of a file on another grid
  atmostr diff a.nc b.nc                      bit-for-bit comparison of two outputs
  atmostr verify lauritzen --scheme ppm       standard test suites of transport
  atmostr kernels --emit opencl               the text that devices compile

Exit codes:
  0  finished (diff: no differences)
  1  failed (diff: the files differ)
  2  bad command line, configuration or input
  3  stopped on request

Colour is used on terminals unless NO_COLOR is set.";

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::RunArgs),
    Preprocess(preprocess::PreprocessArgs),
    Check(check::CheckArgs),
    Inspect(inspect::InspectArgs),
    Synth(synth::SynthArgs),
    Decompose(decompose::DecomposeArgs),
    Plan(plan::PlanArgs),
    Diff(diff::DiffArgs),
    Plot(plot::PlotArgs),
    PrepareFluxes(prepare_fluxes::PrepareFluxesArgs),
    Regrid(regrid::RegridArgs),
    Weights(regrid::WeightsArgs),
    Bench(bench::BenchArgs),
    Verify(verify::VerifyArgs),
    Kernels(kernels::KernelsArgs),
    ConfigKeys(config_keys::ConfigKeysArgs),
}

/// How a command talks to its user.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    /// Form of messages and progress reports.
    pub log: LogFormat,
    /// Where standard error goes.
    pub stderr: Sink,
}

/// Where a stream goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sink {
    /// A terminal that takes colours and cursor movements.
    Fancy,
    /// A terminal without colours.
    Terminal,
    /// A file or a pipe: plain lines.
    Plain,
}

impl Sink {
    /// The kind of standard error. Colours are off if `NO_COLOR` is set and not empty, or `TERM` is `dumb` or unset.
    fn of_stderr() -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|v| !v.is_empty());
        let dumb = std::env::var_os("TERM").is_none_or(|t| t.is_empty() || t == "dumb");
        match (io::stderr().is_terminal(), set("NO_COLOR") || dumb) {
            (true, false) => Sink::Fancy,
            (true, true) => Sink::Terminal,
            (false, _) => Sink::Plain,
        }
    }
}

impl Context {
    /// Writes a result to standard output. A reader that has gone away (`| head`) is not an error.
    fn print(&self, text: &str) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(CliError::failed(format!("standard output: {e}"))),
            _ => Ok(()),
        }
    }

    /// Writes a value as indented JSON to standard output.
    fn print_json(&self, value: &impl serde::Serialize) -> Result<(), CliError> {
        let text = serde_json::to_string_pretty(value).map_err(|e| CliError::failed(format!("JSON: {e}")))?;
        self.print(&format!("{text}\n"))
    }
}

/// Runs the program with the process's arguments.
pub fn main() -> std::process::ExitCode {
    exit::install_panic_hook();
    if let Err(error) = crate::interrupt::listen() {
        // Signals then end the program at once, and may leave temporary files.
        eprintln!("warning: cannot listen for signals ({error})");
    }
    let exit = execute(with_run(std::env::args_os()));
    if crate::output::left_files_open() {
        exit.leave_at_once();
    }
    exit.into()
}

/// Runs the program with these arguments, the first being its name.
fn execute(args: impl IntoIterator<Item = OsString>) -> Exit {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(e) if e.use_stderr() && log::asks_for_json(&args) => {
            let ctx = Context { log: LogFormat::Json, stderr: Sink::of_stderr() };
            let text = e.to_string();
            return CliError::input(text.strip_prefix("error: ").unwrap_or(&text).trim_end()).report(&ctx);
        }
        // Help and version are answers, not errors; what clap prints goes to the right stream.
        Err(e) => {
            let _ = e.print();
            return if e.use_stderr() { Exit::BadInput } else { Exit::Finished };
        }
    };
    let ctx = Context { log: cli.log, stderr: Sink::of_stderr() };
    log::init(&ctx);
    let result = match cli.command {
        Command::Run(args) => args.execute(&ctx),
        Command::Preprocess(args) => args.execute(&ctx),
        Command::Check(args) => args.execute(&ctx),
        Command::Inspect(args) => args.execute(&ctx),
        Command::Synth(args) => args.execute(&ctx),
        Command::Decompose(args) => args.execute(&ctx),
        Command::Plan(args) => args.execute(&ctx),
        Command::Diff(args) => args.execute(&ctx),
        Command::Plot(args) => args.execute(&ctx),
        Command::PrepareFluxes(args) => args.execute(&ctx),
        Command::Regrid(args) => args.execute(&ctx),
        Command::Weights(args) => args.execute(&ctx),
        Command::Bench(args) => args.execute(&ctx),
        Command::Verify(args) => args.execute(&ctx),
        Command::Kernels(args) => args.execute(&ctx),
        Command::ConfigKeys(args) => args.execute(&ctx),
    };
    result.unwrap_or_else(|error| error.report(&ctx))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_and_option_is_documented() {
        for command in Cli::command().get_subcommands() {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(!about.is_empty(), "{}", command.get_name());
            assert!(command.get_after_help().is_some(), "{} shows no example", command.get_name());
            for arg in command.get_arguments() {
                assert!(arg.get_help().is_some(), "{} {}", command.get_name(), arg.get_id());
            }
        }
    }
}
