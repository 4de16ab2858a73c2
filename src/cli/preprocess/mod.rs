//! `atmostr preprocess`.

mod plan;
mod progress;
mod setup;

use std::path::{Path, PathBuf};

use clap::Args;
use jiff::civil::Date;

use self::plan::{Plan, agreed};
use self::progress::Windows;
use super::run::communicator;
use super::{CliError, Context, Exit};
use crate::comm::Communicator;
use crate::config::preprocess::PreprocessConfig;
use crate::files::regular_or_absent;
use crate::met::TransportFile;
use crate::preprocess::{
    Campaign, DayReport, DaySettings, LevelMap, MetReader, Pin, PreprocessError, Preprocessor, SOURCE_INPUTS, Target,
};

/// Turn archived meteorology into transport files, one per day
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr preprocess met.toml --day 2021-12-01
  atmostr preprocess met.toml --start 2021-12-01 --end 2021-12-31
  mpirun -n 4 atmostr preprocess met.toml --start 2021-12-01 --end 2021-12-31   days shared by the ranks
  atmostr preprocess --keys                                                     all keys of the configuration

A day that is already there, written from the same configuration and input, is left as it is; so a job that was stopped
is simply started again. Comments, folders and defaults written out make no other configuration. A file takes its place only when all windows have passed their checks.")]
pub(super) struct PreprocessArgs {
    /// Configuration file (TOML)
    #[arg(required_unless_present = "keys")]
    config: Option<PathBuf>,
    /// One day (YYYY-MM-DD, UTC)
    #[arg(long, conflicts_with_all = ["start", "end"], value_name = "DATE")]
    day: Option<Date>,
    /// First day
    #[arg(long, requires = "end", value_name = "DATE")]
    start: Option<Date>,
    /// Last day, inclusive
    #[arg(long, requires = "start", value_name = "DATE")]
    end: Option<Date>,
    /// Threads of each rank [default: all cores, shared equally by the ranks of a machine]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Write days again that are already there
    #[arg(long)]
    replace: bool,
    /// Print the reference of all keys (Markdown) and do nothing else
    #[arg(long)]
    keys: bool,
}

impl PreprocessArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        let Some(path) = self.config.as_deref().filter(|_| !self.keys) else {
            ctx.print(&crate::config::keys::preprocess_markdown())?;
            return Ok(Exit::Finished);
        };
        let days = self.days()?;
        let comm = communicator()?;
        self.start_threads(&*comm);
        let config = agreed(&*comm, PreprocessConfig::load(path).map_err(CliError::from));
        let outcome = config.and_then(|config| self.work(&config, &days, &*comm, ctx));
        let exit = outcome.unwrap_or_else(|error| error.report(ctx));
        // None leaves before the message is out: the first rank to end may take the others with it.
        comm.barrier();
        Ok(exit)
    }

    /// Makes the pool of threads before its first use.
    fn start_threads(&self, comm: &dyn Communicator) {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.map_or((cores / comm.ranks_here()).max(1), usize::from);
        // A pool that is already there (several command lines in one process) stays.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    }

    fn days(&self) -> Result<Vec<Date>, CliError> {
        let (first, last) = match (self.day, self.start, self.end) {
            (Some(day), _, _) => (day, day),
            (None, Some(start), Some(end)) => (start, end),
            _ => return Err(CliError::input("no day is named; give --day, or --start and --end")),
        };
        if last < first {
            return Err(CliError::input(format!("--end {last} lies before --start {first}; exchange them")));
        }
        Ok(first.series(jiff::Span::new().days(1)).take_while(|day| *day <= last).collect())
    }

    /// Prepares this rank's share of the days.
    fn work(
        &self,
        config: &PreprocessConfig,
        days: &[Date],
        comm: &dyn Communicator,
        ctx: &Context,
    ) -> Result<Exit, CliError> {
        let target = agreed(comm, setup::target(config))?;
        let mine: Vec<Date> = days.iter().copied().skip(comm.rank()).step_by(comm.size()).collect();
        let first = mine.iter().find(|day| !config.file_of(**day).exists()).unwrap_or(&days[0]);
        let mut reader = agreed(comm, setup::reader(config, &target, *first))?;
        let levels = LevelMap::new(&config.transform, reader.coordinate()).map_err(PreprocessError::from);
        let levels = agreed(comm, levels.map_err(CliError::from))?;
        let mut settings = setup::settings(config, &*reader);
        let plan = Plan { config, target: &target, levels: &levels };
        let (pin, mut campaign) = plan.pin(days, &settings, &mut *reader, comm)?;
        settings.pin = pin;
        let todo = agreed(comm, self.todo(config, &mine, &target, &settings, &*reader))?;
        agreed(comm, plan.announce(days, &settings, &mut *reader, comm, ctx))?;
        // A day that fails does not stop those of other ranks.
        let done = self.prepare(&plan, todo, &mut settings, &mut campaign, &mut *reader, comm, ctx);
        agreed(comm, done).map(|()| Exit::Finished)
    }

    /// Prepares days one after the other.
    fn prepare(
        &self,
        plan: &Plan<'_>,
        days: Vec<Date>,
        settings: &mut DaySettings,
        campaign: &mut Option<Campaign>,
        reader: &mut dyn MetReader,
        comm: &dyn Communicator,
        ctx: &Context,
    ) -> Result<(), CliError> {
        let config = plan.config;
        if !days.is_empty() {
            std::fs::create_dir_all(&config.directory).map_err(|e| {
                CliError::input(format!("{}: cannot make the folder ({e})", config.directory.display()))
            })?;
        }
        let mut windows = Windows::new(ctx, comm.rank(), days.len() * settings.windows);
        for day in days {
            let path = config.file_of(day);
            let report = loop {
                let mut publish = || match !self.replace && path.exists() {
                    true => Err(PreprocessError::Overtaken { path: path.clone() }),
                    false => plan.record(campaign.as_ref()),
                };
                let mut work = Preprocessor::new(plan.target, plan.levels, settings, reader);
                match work.day(day, &path, &mut publish, |done| windows.window(done)) {
                    // Days that are prepared at the same time keep one mass: that of the one that came first.
                    Err(PreprocessError::Superseded { path, recorded_pa }) => {
                        tracing::warn!(%day, file = %path.display(), pa = recorded_pa, "prepared again with the recorded mass");
                        settings.pin = Pin::Pressure(recorded_pa);
                        *campaign = Campaign::read(&path)?;
                    }
                    done => break done?,
                }
            };
            let mut printed = Ok(());
            windows.beside(|| printed = ctx.print(&summary(day, &path, &report)));
            printed?;
        }
        Ok(())
    }

    /// Days of this rank that are not there yet; the archive holds them, as far as can be told before work.
    fn todo(
        &self,
        config: &PreprocessConfig,
        days: &[Date],
        target: &Target,
        settings: &DaySettings,
        reader: &dyn MetReader,
    ) -> Result<Vec<Date>, CliError> {
        let mut todo = Vec::new();
        for &day in days {
            match self.standing(&config.file_of(day), &reader.inputs(day), settings, target)? {
                Standing::Done => {
                    tracing::info!(%day, file = %config.file_of(day).display(), "already there, left as it is")
                }
                Standing::Absent => todo.push(day),
            }
        }
        todo.iter().try_for_each(|day| reader.covers(*day))?;
        Ok(todo)
    }

    /// Whether a day is already there.
    fn standing(
        &self,
        path: &Path,
        inputs: &[String],
        settings: &DaySettings,
        target: &Target,
    ) -> Result<Standing, CliError> {
        if let Err(problem) = regular_or_absent(path) {
            return Err(CliError::input(format!("{}: {problem}, or move what is there", path.display())));
        }
        if self.replace || !path.exists() {
            return Ok(Standing::Absent);
        }
        let Ok(file) = TransportFile::open(path) else {
            let message =
                format!("{} is there, but is no complete transport file; remove it, or give --replace", path.display());
            return Err(CliError::input(message));
        };
        let stored = |name: &str| file.header().json().get(name).cloned().unwrap_or_default();
        let config = settings.provenance.get(setup::FINGERPRINT).cloned().unwrap_or_default();
        let mass = settings.pin.target_kg(target.grid().total_area());
        let same_mass = stored("global_mass_pin_target_kg").as_f64() == mass;
        let what = if stored(setup::FINGERPRINT) != config {
            "another configuration"
        } else if !same_mass {
            "another global mass"
        } else if stored(SOURCE_INPUTS) != serde_json::json!(inputs) {
            "other input files (names or sizes)"
        } else {
            return Ok(Standing::Done);
        };
        let message = format!("{} was written from {what}; give --replace to write it again", path.display());
        Err(CliError::input(message))
    }
}

enum Standing {
    Done,
    Absent,
}

/// One line for what was written, one for how well it fits, one for where the time went.
fn summary(day: Date, path: &Path, report: &DayReport) -> String {
    let (least, most) = report.steps.iter().fold((u32::MAX, 0), |(a, b), s| (a.min(*s), b.max(*s)));
    let substeps = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    let replay = report.replay.map_or(f64::NAN, |r| r.relative);
    let outflow = report.positivity.map_or(f64::NAN, |p| p.ratio);
    format!(
        "{day}: {}, {} windows, {substeps} substeps\n  replay {replay:.1e}, largest outflow {outflow:.3}, archive's dry air \
         from ground to model top {:.2} Pa on the mean\n  {:.1} s: {}\n",
        path.display(),
        report.steps.len(),
        report.archive_pressure_pa,
        report.stages.total(),
        report.stages.words(),
    )
}
