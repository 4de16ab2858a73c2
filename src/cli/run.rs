//! `atmostr run`.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;

use super::{CliError, Context, Exit, LogFormat, Sink, progress};
use crate::comm::Communicator;
use crate::config::{OnSignal, RunConfig};
use crate::files::regular_or_absent;
use crate::interrupt;
use crate::model::report::Ended;
use crate::model::{self, Accepted, RunControl, RunError, Stall, StartFrom};
use crate::output::{OutputError, left_files_open};

/// Run a configuration
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr run run.toml                  one process
  atmostr run.toml                      the same
  mpirun -n 24 atmostr run run.toml     24 ranks (program built with feature mpi); the same bits
  atmostr run run.toml --events run.events.jsonl    every event in a file for machines, lines for people as usual
  atmostr run run.toml --restart auto --wall-limit 3:55:00
                                        goes on where an earlier job stopped, and stops itself in time

With a table [restart] a run writes restart files. It ends with exit code 3 if it was stopped, by a signal or the wall limit,
after it has written one.

All errors of the configuration and of the headers of its input files are reported together, before any work.
Relative paths are taken from the folder of the configuration.")]
pub(super) struct RunArgs {
    /// Configuration file (TOML)
    config: PathBuf,
    /// Where to start: a restart file; `latest`: the latest of the run; `auto`: that, or the beginning where there is none;
    /// `none`: the beginning, replacing what an earlier run left
    #[arg(long, value_name = "FILE|latest|auto|none")]
    restart: Option<String>,
    /// Differences between restart file and configuration that are accepted
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = aspects(), requires = "restart")]
    allow: Vec<String>,
    /// Stop with a restart file before the job has run for so long: [[H:]M:]S
    #[arg(long, value_name = "H:M:S", value_parser = duration)]
    wall_limit: Option<Duration>,
    /// End the job, with exit code 1, when it makes no progress for so long: [[H:]M:]S
    #[arg(long, value_name = "H:M:S", value_parser = stall_timeout)]
    stall_timeout: Option<Duration>,
    /// Write every event (start, windows, snapshots, restart files, warnings, end) as a line of JSON to a file, whatever --log says;
    /// a run that goes on adds to it
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
}

/// A duration above zero.
fn stall_timeout(text: &str) -> Result<Duration, String> {
    duration(text).and_then(|time| if time.is_zero() { Err("give a time above 0".into()) } else { Ok(time) })
}

/// Tells that a run stands still.
fn tell(log: LogFormat, message: &str) {
    CliError::failed(message).report(&Context { log, stderr: Sink::Plain });
}

/// Names that `--allow` takes.
fn aspects() -> clap::builder::PossibleValuesParser {
    Accepted::ALL.map(|(name, _)| name).into()
}

/// Seconds, or minutes and seconds, or hours, minutes and seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("\"{text}\" is no time; write [[H:]M:]S, e.g. 3:55:00");
    let parts: Vec<u32> = text.split(':').map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
    match parts[..] {
        [] | [_, _, _, _, ..] => Err(wrong()),
        [_, ref rest @ ..] if rest.iter().any(|part| *part > 59) => Err(wrong()),
        _ => Ok(Duration::from_secs(parts.iter().fold(0, |all, part| all * 60 + u64::from(*part)))),
    }
}

impl RunArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        let comm = communicator()?;
        end_others(&*comm, *ctx);
        let events = if comm.rank() == 0 { self.events_file().map_err(RunError::from) } else { Ok(None) };
        let events = match model::agree_on(&*comm, events) {
            Ok(events) => events,
            Err(error) => return Ok(CliError::from(error).report(ctx)),
        };
        let mut progress = progress::reporter(ctx, comm.rank(), events);
        let config = model::agree_on(&*comm, RunConfig::load(&self.config).map_err(RunError::from));
        let control = self.control(ctx);
        let outcome = config.and_then(|config| {
            if config.restart.as_ref().is_some_and(|restart| restart.on_signal == OnSignal::Save) {
                interrupt::defer();
            }
            model::run_under(&control, &config, &*comm, &mut *progress)
        });
        match outcome {
            Ok(report) if matches!(report.ended, Ended::Stopped { .. }) => Ok(Exit::Stopped),
            Ok(_) => Ok(Exit::Finished),
            Err(error) => {
                progress.fail(&error.to_string());
                let alone = error.is_alone() && comm.size() > 1;
                let exit = CliError::from(error).report(ctx);
                if alone {
                    comm.abort(exit.code().into());
                }
                // The first rank to end takes the others with it: none leaves before the message is out. MPI's end would make
                // HDF5 finish files that could not be written, which it does not survive.
                let mut open = [f64::from(u8::from(left_files_open()))];
                comm.max_f64(&mut open);
                if open[0] > 0.0 {
                    exit.leave_at_once();
                }
                Ok(exit)
            }
        }
    }
}

impl RunArgs {
    /// The file of events, if one is asked for.
    fn events_file(&self) -> Result<Option<File>, OutputError> {
        let Some(path) = &self.events else { return Ok(None) };
        let goes_on = self.restart.as_deref().is_some_and(|from| from != "none");
        let io = |source| OutputError::Io { path: path.clone(), source };
        regular_or_absent(path).map_err(io)?;
        let mut options = OpenOptions::new();
        options.create(true).write(true).append(goes_on).truncate(!goes_on);
        options.open(path).map(Some).map_err(io)
    }

    fn control(&self, ctx: &Context) -> RunControl {
        let from = match self.restart.as_deref() {
            None => StartFrom::Beginning,
            Some("none") => StartFrom::Anew,
            Some("latest") => StartFrom::Latest,
            Some("auto") => StartFrom::LatestIfAny,
            Some(file) => StartFrom::File(file.into()),
        };
        let accepted = Accepted::ALL.into_iter().filter(|(name, _)| self.allow.iter().any(|given| given == name));
        RunControl {
            from,
            accepted: accepted.map(|(_, one)| one).collect(),
            wall_limit: self.wall_limit,
            stall: self.stall_timeout.map(|limit| Stall {
                limit,
                tell: match ctx.log {
                    LogFormat::Text => |message| tell(LogFormat::Text, message),
                    LogFormat::Json => |message| tell(LogFormat::Json, message),
                },
            }),
            started: Instant::now(),
            stop_request: interrupt::requested,
        }
    }
}

/// Lets a rank that fails where no other can be told of it end all of them.
fn end_others(comm: &dyn Communicator, ctx: Context) {
    let rank = comm.rank();
    #[cfg(feature = "mpi")]
    if comm.size() > 1 {
        crate::comm::on_lone_failure(move |message| {
            let exit = CliError::failed(format!("rank {rank}: {message}")).report(&ctx);
            crate::comm::abort_all(exit.code().into());
        });
    }
    #[cfg(not(feature = "mpi"))]
    let _ = (rank, ctx);
}

/// The ranks of this run. Without feature `mpi`, or if MPI cannot start, there is one.
pub(super) fn communicator() -> Result<Box<dyn Communicator>, CliError> {
    #[cfg(feature = "mpi")]
    {
        let mpi = crate::comm::Mpi::initialize().ok_or_else(|| CliError::failed("MPI offers no thread support"))?;
        if mpi.size() > 1 {
            // One rank's panic must not leave the others waiting.
            super::exit::on_panic(|| crate::comm::abort_all(Exit::Failed.code().into()));
        }
        Ok(Box::new(mpi))
    }
    #[cfg(not(feature = "mpi"))]
    match launched_ranks() {
        1 => Ok(Box::new(crate::comm::Solo)),
        ranks => Err(CliError::input(format!(
            "started as one of {ranks} ranks, but this program was built without MPI: every rank would do the whole run \
             and write the same files; build it with --features mpi, or start it without mpirun"
        ))),
    }
}

/// Ranks of the MPI job that this process was started in, as its launcher says; 1 outside of one.
#[cfg(not(feature = "mpi"))]
fn launched_ranks() -> usize {
    let size = |name| std::env::var(name).ok().and_then(|v| v.parse().ok());
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"].into_iter().filter_map(size).max().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_hours_minutes_seconds() {
        for (text, seconds) in [("90", 90), ("2:30", 150), ("3:55:00", 14_100), ("100:00:01", 360_001)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)));
        }
        for text in ["", "x", "1:60", "1:2:3:4", "-1", "1:99:00"] {
            assert!(duration(text).unwrap_err().contains("[[H:]M:]S"), "{text}");
        }
    }
}
