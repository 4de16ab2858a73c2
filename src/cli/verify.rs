//! `atmostr verify`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};

use super::run::communicator;
use super::values::Float;
use super::{CliError, Context, Exit, LogFormat, Sink};
use crate::config::Advection;
use crate::files::staged;
use crate::grid::GeometryBundle;
use crate::operators::Threads;
use crate::verify::{
    CaseReport, Maps, Sampling, StoredNorms, Suite, Unwatched, Verification, VerifyError, Watcher, draw, table,
};

/// Run the standard test suites of tracer transport
///
/// Through the production operator. Prints error norms, what other programs reach on a grid of the same size, and limits that
/// are kept or not. The scheme is chosen as in [advection] of a run. No figure depends on ranks or threads.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr verify                                       every two-dimensional suite, C30, ppm huynh_pd
  atmostr verify lauritzen --nc 30,60 --scheme ppm --limiter cw84
  atmostr verify lauritzen --grid geos_native --nc 48 --steps-per-nc 15 --reference reference
  atmostr verify solid-body --json norms.json --plot pictures
  mpirun -n 6 atmostr verify lauritzen --nc 120        with the same norms (program built with feature mpi)

Exit code 1 if a limit is not kept.")]
pub(super) struct VerifyArgs {
    /// Suites [default: lauritzen, solid-body, vortices, terminator, divergent]
    #[arg(value_name = "SUITE", value_parser = PossibleValuesParser::new(Suite::ALL.map(|(name, _)| name)))]
    suites: Vec<String>,
    /// Cells per panel edge, one or several
    #[arg(long, value_delimiter = ',', default_value = "30", value_name = "N", value_parser = clap::value_parser!(u32).range(4..=2048))]
    nc: Vec<u32>,
    /// `scheme` of [advection]
    #[arg(long, default_value = "ppm", value_name = "SCHEME")]
    scheme: String,
    /// `limiter` of [advection] [default: huynh_pd with ppm, else that of a run]
    #[arg(long, value_name = "LIMITER")]
    limiter: Option<String>,
    /// `vertical` of [advection]
    #[arg(long, value_name = "SCHEME")]
    vertical: Option<String>,
    /// Another key of [advection], e.g. --set cfl_limit=0.9
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Steps of a period per cell of a panel edge [default: that of the stored norms of the suite and grid]
    #[arg(long, value_name = "X", value_parser = super::values::seconds)]
    steps_per_nc: Option<f64>,
    /// Geometry
    #[arg(long, value_enum, default_value = "equiangular", value_name = "GRID")]
    grid: Grid,
    /// Initial values of cells [default: means on equiangular, centres on geos_native]
    #[arg(long, value_enum, value_name = "KIND")]
    initial: Option<Initial>,
    /// Layers of three-dimensional suites [default: two for three cells of a panel edge]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    levels: Option<u32>,
    /// Precision
    #[arg(long, value_enum, ignore_case = true, default_value = "Float64", value_name = "TYPE")]
    float: Float,
    /// CPU threads of each rank
    #[arg(long, default_value_t = 1, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Folder with advection_suite_fv3 and advection_suite_compose, whose norms stand beside ours [default: a built-in selection]
    #[arg(long, value_name = "DIR")]
    reference: Option<PathBuf>,
    /// File for all figures (JSON); `-` for standard output instead of tables
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Folder for pictures
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
}

/// Geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Grid {
    /// Equal angles along panel edges
    #[value(name = "equiangular")]
    Equiangular,
    /// Equal distances along panel edges, turned by -10 degrees, as in GEOS and FV3
    #[value(name = "geos_native", alias = "fv3")]
    GeosNative,
}

/// Initial values of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Initial {
    /// Means over cells
    Means,
    /// Values at centres
    Centres,
}

impl VerifyArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        let verification = self.verification()?;
        let comm = communicator()?;
        if let Some(folder) = &self.plot {
            std::fs::create_dir_all(folder).map_err(|e| CliError::input(format!("{}: {e}", folder.display())))?;
        }
        let threads = Threads::new(self.threads.into()).map_err(CliError::failed)?;
        let mut watcher = watcher(ctx, comm.rank());
        let reports = threads.install(|| verification.run(&*comm, &threads, &mut *watcher))?;
        drop(watcher);
        let exit = if reports.iter().all(CaseReport::passed) { Exit::Finished } else { Exit::Failed };
        if comm.rank() > 0 {
            return Ok(exit);
        }
        if let Some(folder) = &self.plot {
            draw(&reports, verification.bundle, folder)?;
        }
        match self.json.as_deref() {
            Some(path) if path == Path::new("-") => ctx.print_json(&reports)?,
            json => {
                ctx.print(&table(&reports))?;
                if let Some(path) = json {
                    write_json(path, &reports)?;
                }
            }
        }
        Ok(exit)
    }

    fn verification(&self) -> Result<Verification, CliError> {
        let known = |name: &String| Suite::from_name(name).expect("the parser knows the names");
        let suites = match self.suites.as_slice() {
            [] => Suite::USUAL.to_vec(),
            named => named.iter().map(known).collect(),
        };
        let advection = Advection::parse(&self.advection_table()?, Path::new("command line"))?;
        let stored = self.reference.as_deref().map(StoredNorms::read).transpose()?.unwrap_or_default();
        Ok(Verification {
            nc: self.nc.iter().map(|n| *n as usize).collect(),
            steps_per_nc: self.steps_per_nc,
            bundle: match self.grid {
                Grid::Equiangular => GeometryBundle::Gnomonic,
                Grid::GeosNative => GeometryBundle::GeosNative,
            },
            sampling: self.initial.map(|initial| match initial {
                Initial::Means => Sampling::Means,
                Initial::Centres => Sampling::Centres,
            }),
            float: self.float.into(),
            levels: self.levels.map(|n| n as usize),
            maps: if self.plot.is_some() { Maps::Kept } else { Maps::Dropped },
            stored,
            ..Verification::new(suites, advection)
        })
    }

    /// The options as the table of a configuration file.
    fn advection_table(&self) -> Result<String, CliError> {
        let quoted = |text: &str| toml::Value::from(text).to_string();
        let limiter = self.limiter.as_deref().or((self.scheme == "ppm").then_some("huynh_pd"));
        let mut text = format!("[advection]\nscheme = {}\n", quoted(&self.scheme));
        for (key, value) in [("limiter", limiter), ("vertical", self.vertical.as_deref())] {
            if let Some(value) = value {
                text += &format!("{key} = {}\n", quoted(value));
            }
        }
        for pair in &self.set {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(CliError::input(format!(
                    "--set {pair}: give a key of [advection] and its value, KEY=VALUE"
                )));
            };
            // Numbers and booleans as they are, anything else as a text.
            let plain = value.parse::<f64>().is_ok() || ["true", "false"].contains(&value) || value.starts_with('"');
            text += &format!("{} = {}\n", key.trim(), if plain { value.to_owned() } else { quoted(value) });
        }
        Ok(text)
    }
}

fn write_json(path: &Path, reports: &[CaseReport]) -> Result<(), CliError> {
    let failed = |error: std::io::Error| CliError::failed(format!("{}: {error}", path.display()));
    let mut file = staged(path).map_err(failed)?;
    serde_json::to_writer_pretty(file.as_file_mut(), reports).map_err(|error| failed(error.into()))?;
    file.publish(path).map_err(failed)
}

impl From<VerifyError> for CliError {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::NotFinite { .. } => CliError::failed(error),
            VerifyError::Picture(error) => error.into(),
            _ => CliError::input(error),
        }
    }
}

/// Tells of progress in the form that suits the context.
fn watcher(ctx: &Context, rank: usize) -> Box<dyn Watcher + Send> {
    match (rank, ctx.log, ctx.stderr) {
        (0, LogFormat::Json, _) => Box::new(Lines::new(Form::Json)),
        (0, LogFormat::Text, Sink::Plain) => Box::new(Lines::new(Form::Text)),
        (0, LogFormat::Text, _) => Box::new(Bar(ProgressBar::no_length())),
        _ => Box::new(Unwatched),
    }
}

fn name_of(case: &CaseReport) -> String {
    format!("{} {} C{}", case.suite, case.case, case.nc)
}

/// A bar for each case.
struct Bar(ProgressBar);

impl Watcher for Bar {
    fn begin(&mut self, case: &CaseReport, steps: usize) {
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}");
        self.0.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        self.0.set_message(name_of(case));
        self.0.set_length(steps as u64);
        self.0.reset();
    }

    fn step(&mut self, done: usize) {
        self.0.set_position(done as u64);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Json,
}

/// A line at the start of each case and every so often.
struct Lines {
    form: Form,
    case: String,
    steps: usize,
    told: Instant,
}

/// Shortest time between two lines of a case.
const INTERVAL: Duration = Duration::from_secs(10);

impl Lines {
    fn new(form: Form) -> Self {
        Self { form, case: String::new(), steps: 0, told: Instant::now() }
    }

    fn tell(&mut self, done: usize) {
        self.told = Instant::now();
        match self.form {
            Form::Text => eprintln!("{}: {done} of {} steps", self.case, self.steps),
            Form::Json => {
                let line = serde_json::json!({"event": "verify", "case": self.case, "steps": self.steps, "done": done});
                eprintln!("{line}");
            }
        }
    }
}

impl Watcher for Lines {
    fn begin(&mut self, case: &CaseReport, steps: usize) {
        (self.case, self.steps) = (name_of(case), steps);
        self.tell(0);
    }

    fn step(&mut self, done: usize) {
        if self.told.elapsed() >= INTERVAL {
            self.tell(done);
        }
    }
}
