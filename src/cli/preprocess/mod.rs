//! `atmostr preprocess`.

mod progress;

use std::path::{Path, PathBuf};

use clap::Args;
use jiff::civil::Date;
use serde_json::{Map, json};

use self::progress::Windows;
use super::run::communicator;
use super::{CliError, Context, Exit};
use crate::comm::Communicator;
use crate::config::preprocess::{Layers, PinConfig, PreprocessConfig, RADIUS_M, SourceConfig};
use crate::files::size_words;
use crate::grid::{CubedSphere, HybridCoordinate};
use crate::met::TransportFile;
use crate::preprocess::readers::geos::GeosReader;
use crate::preprocess::readers::gridded::{GriddedArchive, GriddedReader};
use crate::preprocess::readers::merra2::Merra2Reader;
use crate::preprocess::{
    Campaign, DayReport, DaySettings, LevelMap, MetReader, Pin, PreprocessError, Preprocessor, Target,
};
use crate::regrid::WeightCache;

/// Turn archived meteorology into transport files, one per day
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr preprocess met.toml --day 2021-12-01
  atmostr preprocess met.toml --start 2021-12-01 --end 2021-12-31
  mpirun -n 4 atmostr preprocess met.toml --start 2021-12-01 --end 2021-12-31   days shared by the ranks
  atmostr preprocess --keys                                                     all keys of the configuration

A day that is already there, written from the same configuration, is left as it is; so a job that was stopped is simply
started again. A file takes its place only when all windows have passed their checks.")]
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
        let outcome = PreprocessConfig::load(path)
            .map_err(CliError::from)
            .and_then(|config| self.work(&config, &days, &*comm, ctx));
        let failed = outcome.is_err();
        let exit = outcome.unwrap_or_else(|error| error.report(ctx));
        // All ranks end with the worst exit code; none stops the days of the others.
        let mut worst = [f64::from(exit.code()), f64::from(u8::from(failed))];
        comm.max_f64(&mut worst);
        Ok(match worst[0] as u8 {
            0 => Exit::Finished,
            2 => Exit::BadInput,
            _ => Exit::Failed,
        })
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
        let radius = RADIUS_M;
        let grid = CubedSphere::new(config.nc, config.bundle, config.bundle.default_offset_deg(), radius)
            .map_err(PreprocessError::from)?;
        std::fs::create_dir_all(&config.directory)
            .map_err(|e| CliError::input(format!("{}: cannot make the folder ({e})", config.directory.display())))?;
        let weights = match &config.cache {
            Some(dir) => WeightCache::at(dir),
            None => WeightCache::none(),
        };
        let target = Target::new(grid, weights);
        let mine: Vec<Date> = days.iter().copied().skip(comm.rank()).step_by(comm.size()).collect();
        let first = mine.iter().find(|day| !config.file_of(**day).exists()).unwrap_or(&days[0]);
        let mut reader = reader(config, &target, *first)?;
        let levels = LevelMap::new(&config.transform, reader.coordinate()).map_err(PreprocessError::from)?;
        let mut settings = settings(config, &*reader)?;
        let plan = Plan { config, target: &target, levels: &levels };
        settings.pin = plan.pin(days, &settings, &mut *reader, comm)?;
        plan.announce(days, &settings, &mut *reader, comm, ctx)?;
        let mut todo = Vec::new();
        for day in mine {
            match self.standing(&config.file_of(day), &settings)? {
                Standing::Done => {
                    tracing::info!(%day, file = %config.file_of(day).display(), "already there, left as it is")
                }
                Standing::Absent => todo.push(day),
            }
        }
        let mut windows = Windows::new(ctx, comm.rank(), todo.len() * settings.windows);
        for day in todo {
            let path = config.file_of(day);
            let mut work = Preprocessor::new(&target, &levels, &settings, &mut *reader);
            let report = work.day(day, &path, |done| windows.window(done))?;
            let mut printed = Ok(());
            windows.beside(|| printed = ctx.print(&summary(day, &path, &report)));
            printed?;
        }
        Ok(Exit::Finished)
    }

    /// Whether a day is already there.
    fn standing(&self, path: &Path, settings: &DaySettings) -> Result<Standing, CliError> {
        if self.replace || !path.exists() {
            return Ok(Standing::Absent);
        }
        let Ok(file) = TransportFile::open(path) else {
            let message =
                format!("{} is there, but is no complete transport file; remove it, or give --replace", path.display());
            return Err(CliError::input(message));
        };
        let key = "preprocessor_config_crc32c";
        if file.header().extra_keys().any(|(name, value)| name == key && Some(value) == settings.provenance.get(key)) {
            return Ok(Standing::Done);
        }
        let message =
            format!("{} was written from another configuration; give --replace to write it again", path.display());
        Err(CliError::input(message))
    }
}

enum Standing {
    Done,
    Absent,
}

/// The reader of the archive; `first` is the first day that is wanted of it.
fn reader<'a>(config: &PreprocessConfig, target: &'a Target, first: Date) -> Result<Box<dyn MetReader + 'a>, CliError> {
    let seconds = 86_400.0 / config.windows as f64;
    let layers_of_geos = || match &config.layers {
        Layers::Given(coordinate) => coordinate.clone(),
        Layers::Native => HybridCoordinate::geos_l72(),
    };
    match &config.source {
        SourceConfig::Gridded(source) => {
            let archive = GriddedArchive::open(source)?;
            let coordinate = match &config.layers {
                Layers::Given(coordinate) => coordinate.clone(),
                Layers::Native => archive.levels().coordinate().cloned().ok_or_else(|| {
                    CliError::input(format!(
                        "{}: `vertical.levels = \"native\"` needs the interfaces of the archive's layers; name their variables in \
                         [source.levels], or choose other layers, e.g. levels = \"smooth\"",
                        config.path.display()
                    ))
                })?,
            };
            Ok(Box::new(GriddedReader::new(target, archive, coordinate, config.fluxes, seconds)?))
        }
        SourceConfig::Merra2(source) => {
            let (source, layers) = (source.clone(), layers_of_geos());
            Ok(Box::new(Merra2Reader::new(target, source, layers, config.fluxes, config.windows, first)?))
        }
        SourceConfig::Geos(source) => Ok(Box::new(GeosReader::new(target, source.clone(), layers_of_geos(), first)?)),
    }
}

fn settings(config: &PreprocessConfig, reader: &dyn MetReader) -> Result<DaySettings, CliError> {
    let mut provenance = Map::new();
    provenance.insert("preprocessor_config_crc32c".into(), json!(crc32c::crc32c(config.text.as_bytes())));
    provenance.insert("atmostr_version".into(), json!(env!("CARGO_PKG_VERSION")));
    provenance.insert("vertical_transform".into(), json!(transform_name(config)));
    if matches!(config.source, SourceConfig::Geos(_)) {
        let endpoint = match config.pin {
            PinConfig::Off => "raw_dry_endpoint",
            _ => "dry_endpoint_global_mean_pinned",
        };
        provenance.insert("geos_mass_endpoint".into(), json!(endpoint));
    }
    Ok(DaySettings {
        float: config.float,
        windows: config.windows,
        balance: config.balance,
        steps: config.steps,
        positivity_limit: config.positivity_limit,
        on_positivity: config.on_positivity,
        pin: Pin::Off,
        physics: reader.physics(),
        provenance,
    })
}

fn transform_name(config: &PreprocessConfig) -> String {
    use crate::preprocess::Transform::{Identity, MergeAbove, MergeByIndex, MergeThinnerThan, Preset};
    match &config.transform {
        Identity => "identity".into(),
        MergeByIndex(_) => "merge_by_index".into(),
        MergeThinnerThan(pa) => format!("merge_layers_thinner_than {pa} Pa"),
        MergeAbove { threshold_pa, .. } => format!("merge_above_pressure {threshold_pa} Pa"),
        Preset(preset) => format!("level_selection {}", preset.name()),
    }
}

/// What all days share.
struct Plan<'a> {
    config: &'a PreprocessConfig,
    target: &'a Target,
    levels: &'a LevelMap,
}

impl Plan<'_> {
    /// The global mass of all days. A measured one is recorded by the first rank before any day begins.
    fn pin(
        &self,
        days: &[Date],
        settings: &DaySettings,
        reader: &mut dyn MetReader,
        comm: &dyn Communicator,
    ) -> Result<Pin, CliError> {
        let path = match &self.config.pin {
            PinConfig::Off => return Ok(Pin::Off),
            PinConfig::Pressure(pressure) => return Ok(Pin::Pressure(*pressure)),
            PinConfig::Mass(mass) => return Ok(Pin::Mass(*mass)),
            PinConfig::Measured(path) => path,
        };
        let measured = if comm.rank() == 0 { self.measured(path, days[0], settings, reader) } else { Ok(()) };
        let mut failed = [f64::from(u8::from(measured.is_err()))];
        comm.max_f64(&mut failed);
        measured?;
        match Campaign::read(path)? {
            Some(campaign) => Ok(Pin::Pressure(campaign.mean_dry_surface_pressure_pa)),
            None if failed[0] > 0.0 => Err(CliError::Elsewhere(crate::model::Blame::Input)),
            None => Err(CliError::failed(format!("{}: the record of the campaign is not there", path.display()))),
        }
    }

    /// Records the mean surface pressure of the first day, unless there is a record.
    fn measured(
        &self,
        path: &Path,
        day: Date,
        settings: &DaySettings,
        reader: &mut dyn MetReader,
    ) -> Result<(), CliError> {
        if Campaign::read(path)?.is_some() {
            return Ok(());
        }
        let pressure = Preprocessor::new(self.target, self.levels, settings, reader).archive_pressure(day)?;
        let campaign = Campaign::measured(pressure, format!("{day}T00:00:00Z"), self.config.source.kind().to_owned());
        campaign.write(path)?;
        tracing::info!(
            pa = campaign.mean_dry_surface_pressure_pa,
            file = %path.display(),
            "mean surface pressure of dry air measured and recorded"
        );
        Ok(())
    }

    /// Says what will be done and what it takes.
    fn announce(
        &self,
        days: &[Date],
        settings: &DaySettings,
        reader: &mut dyn MetReader,
        comm: &dyn Communicator,
        ctx: &Context,
    ) -> Result<(), CliError> {
        let work = Preprocessor::new(self.target, self.levels, settings, reader);
        let (memory, file) = (work.memory_bytes(), work.payload_bytes());
        if comm.rank() != 0 {
            return Ok(());
        }
        let ranks = comm.size();
        ctx.print(&format!(
            "{} to C{} with {} of {} layers, {} days of {} windows, {} each; at most {} of memory for {ranks} rank{}\n",
            self.config.source.kind(),
            self.config.nc,
            self.levels.levels(),
            self.levels.native_levels(),
            days.len(),
            settings.windows,
            size_words(file),
            size_words(memory * ranks as u64),
            if ranks == 1 { "" } else { "s" },
        ))
    }
}

/// One line for what was written, one for how well it fits, one for where the time went.
fn summary(day: Date, path: &Path, report: &DayReport) -> String {
    let (least, most) = report.steps.iter().fold((u32::MAX, 0), |(a, b), s| (a.min(*s), b.max(*s)));
    let substeps = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    let replay = report.replay.map_or(f64::NAN, |r| r.relative);
    let outflow = report.positivity.map_or(f64::NAN, |p| p.ratio);
    format!(
        "{day}: {}, {} windows, {substeps} substeps\n  replay {replay:.1e}, largest outflow {outflow:.3}, archive's mean dry \
         surface pressure {:.2} Pa\n  {:.1} s: {}\n",
        path.display(),
        report.steps.len(),
        report.archive_pressure_pa,
        report.stages.total(),
        report.stages.words(),
    )
}
