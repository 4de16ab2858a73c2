//! Checks that need the headers of the transport files, made before any work.

mod columns;
mod totals;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use decomposition::{Layout, LayoutError, PanelConvention, TileGrid};
use toml::de::DeTable;

use super::error::{ConfigErrors, Problems};
use super::input::Source;
use super::output::Schedule;
use super::read::View;
use super::{Output, RunConfig, keys, targets};
use crate::files::lacks_room;
use crate::met::TransportFile;
use crate::met::gates::check_chain;
use crate::met::synth::SynthOptions;
use crate::output::{OutputError, Split};

/// What a run needs to know before it starts, checked against its meteorology.
#[derive(Debug)]
pub struct Preflight {
    /// The transport files in order; empty if the winds have yet to be made.
    pub files: Vec<Arc<TransportFile>>,
    /// Label of each file in daily output: the date in its name, else its number with three digits.
    pub labels: Vec<String>,
    /// Windows of each file that are run.
    pub windows: Vec<usize>,
    /// Length of the run, h.
    pub hours: f64,
    /// Tiles and their ranks.
    pub layout: Layout,
    /// Layers.
    pub levels: usize,
    /// Hours of the snapshots that will be written, ascending.
    pub snapshot_hours: Vec<f64>,
    /// What is odd but harmless.
    pub warnings: Vec<String>,
}

/// Shape of one transport file, existing or to be made.
struct Winds {
    nc: usize,
    convention: PanelConvention,
    levels: usize,
    windows: usize,
    window_seconds: f64,
    path: PathBuf,
}

impl Winds {
    fn of_file(file: &TransportFile) -> Self {
        let h = file.header();
        Self {
            nc: h.nc(),
            convention: h.panel_convention(),
            levels: h.nlevel(),
            windows: h.nwindow(),
            window_seconds: h.dt_met_seconds(),
            path: file.path().to_path_buf(),
        }
    }

    fn of_options(o: &SynthOptions) -> Self {
        Self {
            nc: o.nc,
            convention: o.bundle.convention(),
            levels: o.levels,
            windows: o.windows,
            window_seconds: o.window_seconds,
            path: PathBuf::new(),
        }
    }
}

/// Two times this close, in h, are the same.
const SAME_HOUR: f64 = 1e-6;

impl RunConfig {
    /// Checks the configuration against its transport files and a number of ranks (at least 1): headers, the chain of
    /// files, expectations, windows, tiles, sections and levels of vertical physics, files of sources, output levels,
    /// snapshot hours. Reads headers only.
    ///
    /// # Errors
    /// Everything that does not fit, each with the key it comes from.
    pub fn preflight(&self, ranks: usize) -> Result<Preflight, ConfigErrors> {
        let (root, _) = DeTable::parse_recoverable(&self.text);
        let mut check = Check {
            config: self,
            root: View::root(keys::Section::at("").expect("the top level is a section"), root.get_ref()),
            problems: Problems::default(),
            warnings: Vec::new(),
        };
        let found = check.run(ranks);
        let problems = check.problems.into_vec();
        match found {
            Some(mut found) if problems.is_empty() => {
                found.warnings = check.warnings;
                Ok(found)
            }
            _ => Err(ConfigErrors::new(&self.path, &self.text, problems)),
        }
    }
}

struct Check<'a> {
    config: &'a RunConfig,
    root: View<'a>,
    problems: Problems,
    warnings: Vec<String>,
}

impl Check<'_> {
    fn run(&mut self, ranks: usize) -> Option<Preflight> {
        let (files, winds) = match &self.config.input.source {
            Source::Synthetic(options) => (Vec::new(), vec![Winds::of_options(options)]),
            Source::Files { paths, .. } => {
                let files = self.open(paths)?;
                self.files(&files);
                let winds = files.iter().map(|f| Winds::of_file(f)).collect();
                (files, winds)
            }
        };
        let windows = self.windows(&winds);
        let hours = winds.iter().zip(&windows).map(|(f, n)| *n as f64 * f.window_seconds / 3600.0).sum();
        let labels: Vec<_> = winds.iter().enumerate().map(|(n, f)| label_of(&f.path, n)).collect();
        let snapshot_hours = match &self.config.output {
            Some(output) => self.output(output, &winds, &windows, &labels),
            None => Vec::new(),
        };
        self.restart(&winds, &windows);
        let layout = self.layout(&winds[0], ranks);
        self.columns(&files, &winds[0], hours);
        let levels = winds[0].levels;
        Some(Preflight { files, labels, windows, hours, layout: layout?, levels, snapshot_hours, warnings: Vec::new() })
    }

    /// Full key and place of a key in the file; the place of its table if only that is there.
    fn place(&self, tables: &[&str], key: &str) -> (String, Option<Range<usize>>) {
        let view = tables.iter().fold(self.root.clone(), |v, t| v.table(t));
        match view.given().find(|(k, _)| k.name == key) {
            Some((_, name)) => (view.full(name.get_ref()), Some(name.span())),
            None => (view.full(key), view.span()),
        }
    }

    fn add(&mut self, tables: &[&str], key: &str, message: impl Into<String>, help: &str) {
        let (key, span) = self.place(tables, key);
        self.problems.add(key, span, message, help);
    }

    fn open(&mut self, paths: &[PathBuf]) -> Option<Vec<Arc<TransportFile>>> {
        let input = self.root.table("input");
        let listed = input.texts("binary_paths").unwrap_or_default();
        let mut files = Vec::new();
        for (n, path) in paths.iter().enumerate() {
            let opened = TransportFile::open(path).and_then(|file| file.check_runnable().map(|()| file));
            match opened {
                Ok(file) => {
                    let copies = self.config.input.staging.as_ref().map(|staging| staging.folder.clone());
                    files.push(Arc::new(file.with_copies_in(copies)));
                }
                Err(error) => {
                    let (key, folder) = self.place(&["input"], "folder");
                    let (key, span) = listed.get(n).map_or((key, folder), |t| (t.key.clone(), Some(t.span.clone())));
                    self.problems.add(key, span, error.to_string(), "`atmostr inspect FILE` tells more");
                }
            }
        }
        (files.len() == paths.len() && !files.is_empty()).then_some(files)
    }

    fn files(&mut self, files: &[Arc<TransportFile>]) {
        let source = if self.root.table("input").has("folder") { "folder" } else { "binary_paths" };
        if let Err(error) = check_chain(files) {
            self.add(&["input"], source, error.to_string(), "the files of a run must continue one another");
        }
        let first = files[0].header();
        let expected = &self.config.input.expectations;
        if let Some(levels) = expected.levels.filter(|n| n.get() != first.nlevel()) {
            let message = format!("`input.expected_nlevel` is {levels}, but the first file has {}", first.nlevel());
            self.add(&["input"], "expected_nlevel", message, "choose other files, or correct the number");
        }
        if let Some(contract) = expected.contract.as_deref().filter(|c| Some(*c) != first.preprocessor_contract()) {
            let found = first.preprocessor_contract().map_or("states none".into(), |c| format!("states \"{c}\""));
            let message = format!("the contract \"{contract}\" is required, but the first file {found}");
            self.add(&["input"], "required_preprocessor_contract", message, "choose other files, or correct the name");
        }
        if expected.adaptive_substeps && first.adaptive_substeps() != Some(true) {
            let message = "the first file does not declare `adaptive_substeps = true`";
            self.add(&["input"], "require_adaptive_substeps", message, "choose other files, or remove the key");
        }
        let Source::Files { start_date: Some(date), .. } = &self.config.input.source else { return };
        let stated = first.start_time_utc().map(|t| jiff::tz::TimeZone::UTC.to_datetime(t));
        if let Some(stated) = stated.filter(|s| *s != date.to_datetime(jiff::civil::Time::midnight())) {
            let message = format!("`input.start_date` is {date}, but the first file starts at {stated} UTC");
            self.add(&["input"], "start_date", message, "correct the date");
        }
    }

    /// Windows of each file that are run.
    fn windows(&mut self, winds: &[Winds]) -> Vec<usize> {
        let Some(stop) = self.config.settings.stop_window.map(usize::from) else {
            return winds.iter().map(|f| f.windows).collect();
        };
        for file in winds {
            let (has, name) = (file.windows, file.path.display());
            if stop > has {
                let message = format!("`run.stop_window` is {stop}, but {name} has {has} windows");
                self.add(&["run"], "stop_window", message, "lower it or remove it");
            } else if winds.len() > 1 && stop < has {
                let message =
                    format!("`run.stop_window` is {stop}, but {name} has {has} windows and other files follow");
                self.add(&["run"], "stop_window", message, "run a single file, or remove it");
            }
        }
        winds.iter().map(|f| stop.min(f.windows)).collect()
    }

    fn layout(&mut self, winds: &Winds, ranks: usize) -> Option<Layout> {
        let grid = self.config.settings.tiles.map(|[px, py]| TileGrid { px: px.get(), py: py.get() });
        match Layout::new(winds.nc, winds.convention, ranks, self.config.settings.halo, grid) {
            Ok(layout) => Some(layout),
            Err(error) => {
                let (table, key) = match error {
                    LayoutError::HaloWiderThanPanel { .. } => ("run", "Hp"),
                    _ => ("decomposition", "tiles"),
                };
                self.add(&[table], key, error.to_string(), "`atmostr decompose` shows the layouts of a grid");
                None
            }
        }
    }

    fn output(&mut self, output: &Output, winds: &[Winds], windows: &[usize], labels: &[String]) -> Vec<f64> {
        if let Some(problem) = targets::problem(self.config, output, labels) {
            self.add(&["output"], "path", problem, "choose another path");
        }
        let names: Vec<_> = self.config.tracers.iter().map(|t| t.name.clone()).collect();
        let plan = output.fields.plan(&names, winds[0].levels);
        if let Err(OutputError::Selection(found)) = &plan {
            for message in found {
                self.add(&["output", "fields"], "levels", message, "");
            }
        }
        if output.split == Split::Daily {
            for (n, label) in labels.iter().enumerate() {
                if labels[..n].contains(label) {
                    let message = format!("two transport files would write the same output file (\"{label}\")");
                    self.add(&["output"], "split", message, "rename one of them, or write `split = \"single\"`");
                }
            }
        }
        let hours = self.snapshot_hours(output, winds, windows);
        let (nc, count) = (winds[0].nc, windows.iter().sum());
        let needed = plan.ok().and_then(|p| targets::too_large(self.config, output, &p, nc, hours.len(), count));
        if let Some(problem) = needed {
            self.add(&["output"], "path", problem, "choose another disk, fewer fields or snapshots, or compress them");
        }
        hours
    }

    /// Restart files are written between windows, and must fit.
    fn restart(&mut self, winds: &[Winds], windows: &[usize]) {
        let Some(restart) = &self.config.restart else { return };
        let window = winds[0].window_seconds / 3600.0;
        if let Some(every) = restart.every_hours
            && (every < window - SAME_HOUR || (every / window - (every / window).round()).abs() * window > SAME_HOUR)
        {
            let message = format!("a restart file every {every} h does not fall on the end of windows of {window} h");
            self.add(&["restart"], "every", message, "give a multiple of the length of a window");
        }
        let hours: f64 = windows.iter().map(|n| *n as f64 * window).sum();
        let files = restart.every_hours.map_or(1.0, |every| (hours / every).ceil()).min(restart.keep as f64 + 1.0);
        let planes = (self.config.tracers.len() + 1) * winds[0].levels;
        let cells = 6 * winds[0].nc * winds[0].nc;
        let one = (cells * planes * self.config.settings.float_type.bytes()) as u64;
        if let Some(sizes) = lacks_room(restart.folder.path(), one.saturating_mul(files as u64)) {
            let message =
                format!("the restart files do not fit on the disk of {}: {sizes}", restart.folder.path().display());
            self.add(&["restart"], "dir", message, "choose another disk, or lower `keep`");
        }
    }

    /// Hours of the snapshots within the run; each must be 0 or the end of a window.
    fn snapshot_hours(&mut self, output: &Output, winds: &[Winds], windows: &[usize]) -> Vec<f64> {
        let mut ends = vec![0.0];
        for (file, count) in winds.iter().zip(windows) {
            let start = ends[ends.len() - 1];
            ends.extend((1..=*count).map(|w| start + w as f64 * file.window_seconds / 3600.0));
        }
        let total = ends[ends.len() - 1];
        let (listed, key) = match output.schedule {
            Schedule::Hours(_) => (true, "hours"),
            Schedule::Every { .. } => (false, self.interval_key()),
        };
        // Checked before the snapshots are listed: a tiny interval would list without end.
        let shortest = winds.iter().map(|f| f.window_seconds / 3600.0).fold(f64::INFINITY, f64::min);
        if let Schedule::Every { hours, .. } = output.schedule
            && hours < shortest - SAME_HOUR
        {
            let message =
                format!("snapshots every {hours} h do not all fall on the end of a window of {shortest} h or more");
            self.add(&["output"], key, message, "windows are the shortest time between snapshots");
            return Vec::new();
        }
        let (inside, late): (Vec<f64>, Vec<f64>) =
            output.schedule.times(total).into_iter().partition(|t| *t <= total + SAME_HOUR);
        if listed && !late.is_empty() {
            self.warnings.push(format!("output.hours: {late:?} lie after the end of the run (hour {total})"));
        }
        // The nearest window end is exact; the hour as written need not be.
        let nearest = |t: f64| {
            let n = ends.partition_point(|e| *e < t);
            let near = |n: usize| ends.get(n).copied().unwrap_or(f64::INFINITY);
            let below = if n == 0 { f64::NEG_INFINITY } else { ends[n - 1] };
            if t - below <= near(n) - t { below } else { near(n) }
        };
        if let Some(off) = inside.iter().find(|t| (nearest(**t) - **t).abs() > SAME_HOUR) {
            let message =
                format!("the snapshot at hour {off} does not fall on the end of a window (nearest: {})", nearest(*off));
            self.add(&["output"], key, message, "windows are the shortest time between snapshots");
        }
        inside.into_iter().map(nearest).collect()
    }

    fn interval_key(&self) -> &'static str {
        if self.root.table("output").has("cadence_hours") { "cadence_hours" } else { "cadence_seconds" }
    }
}

/// Label of a file in daily output: the first run of eight digits in its name, else its number with three digits.
fn label_of(path: &Path, index: usize) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let date = name.split(|c: char| !c.is_ascii_digit()).find(|digits| digits.len() == 8);
    date.map_or_else(|| format!("{:03}", index + 1), str::to_owned)
}

#[cfg(test)]
mod tests;
