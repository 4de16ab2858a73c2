//! `[output]`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::civil::DateTime;

use super::check::nearest;
use super::error::Problems;
use super::paths::Base;
use super::read::{Named, View};
use super::tracers::Tracer;
use crate::output::{
    Compression, FieldSelection, LayerSelection, MetField, OutputSpec, Split, TracerFields, TracerSelection, Writing,
};

/// `[output]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// File; with [`Split::Daily`] a pattern.
    pub path: PathBuf,
    /// How snapshots are spread over files.
    pub split: Split,
    /// When snapshots are taken.
    pub schedule: Schedule,
    /// Who writes.
    pub writer: Writing,
    /// Compression of the spatial variables.
    pub compression: Compression,
    /// Variables.
    pub fields: FieldSelection,
    /// Table of the budgets of all tracers, window by window; `None`: none is written.
    pub budget: Option<PathBuf>,
}

impl Output {
    /// Settings of the writer for a run that starts at `time_origin` (UTC).
    pub fn spec(&self, time_origin: Option<DateTime>) -> OutputSpec {
        OutputSpec {
            split: self.split,
            writer: self.writer,
            compression: self.compression,
            fields: self.fields.clone(),
            time_origin,
            ..OutputSpec::new(&self.path)
        }
    }
}

/// When snapshots are taken, in hours since the start of the run.
#[derive(Debug, Clone, PartialEq)]
pub enum Schedule {
    /// At these hours, ascending.
    Hours(Vec<f64>),
    /// At regular intervals.
    Every {
        /// Interval.
        hours: f64,
        /// First snapshot.
        start: f64,
        /// No snapshot after this hour; `None`: the end of the run.
        stop: Option<f64>,
    },
}

impl Schedule {
    /// The hours of all snapshots of a run of this many hours. Listed hours beyond the end are included.
    pub fn times(&self, run_hours: f64) -> Vec<f64> {
        match self {
            Schedule::Hours(hours) => hours.clone(),
            Schedule::Every { hours, start, stop } => {
                let last = stop.unwrap_or(run_hours).min(run_hours) + 1e-6;
                (0u64..).map(|n| start + n as f64 * hours).take_while(|t| *t <= last).collect()
            }
        }
    }
}

impl Named for LayerSelection {
    const ALL: &'static [(&'static str, Self)] =
        &[("full", Self::Full), ("selected", Self::Selected), ("none", Self::None)];
}

impl Named for Split {
    const ALL: &'static [(&'static str, Self)] = &[("single", Self::Single), ("daily", Self::Daily)];
}

/// Reads `[output]`; `None` if nothing is to be written (or after an error).
pub(super) fn read(root: &View<'_>, base: &Base, tracers: &[Tracer], problems: &mut Problems) -> Option<Output> {
    let view = root.table("output");
    if !view.present() {
        return None;
    }
    let split = view.choice_or_default("split");
    let path = path(&view, base, split, problems);
    let schedule = schedule(&view, problems);
    if view.bool_or_default("enabled") {
        let timed = SCHEDULE_KEYS.iter().any(|k| view.has(k));
        match (view.has("path"), timed) {
            (true, true) => {}
            (true, false) => problems.add(
                view.full("path"),
                view.text("path").map(|t| t.span).or_else(|| view.span()),
                "[output] has a path but no times",
                "give `hours` or `cadence_hours`, or remove the table",
            ),
            (false, true) => {
                problems.add(view.full("path"), view.span(), "[output] has times but no path", "give `path`");
            }
            (false, false) => problems.add(
                view.full("path"),
                view.span(),
                "[output] has neither a path nor times",
                "give `path` and `hours` or `cadence_hours`, or remove the table",
            ),
        }
    }
    let level = u8::try_from(view.int_or_default("deflate_level")).unwrap_or(0);
    let compression = Compression { level, shuffle: view.bool_or_default("shuffle") };
    let writer = writer(&view, problems);
    let fields = fields(&view.table("fields"), tracers, problems);
    let path = path?;
    let budget = view.bool_or_default("budget").then(|| budget_path(&path));
    let output = Output { path, split, schedule: schedule?, writer, compression, fields, budget };
    view.bool_or_default("enabled").then_some(output)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    Background,
    Collective,
    Grouped,
}

impl Named for Writer {
    const ALL: &'static [(&'static str, Self)] =
        &[("background", Self::Background), ("collective", Self::Collective), ("grouped", Self::Grouped)];
}

fn writer(view: &View<'_>, problems: &mut Problems) -> Writing {
    let writer = view.choice_or_default::<Writer>("writer");
    for (key, only, why) in [
        ("queue", Writer::Background, "nothing waits unless it is written in the background"),
        ("ranks_per_writer", Writer::Grouped, "ranks form groups only with `writer = \"grouped\"`"),
    ] {
        if let Some(given) = view.int(key).filter(|_| writer != only) {
            let message = format!("`{}` has no effect: {why}", given.key);
            problems.add(&given.key, Some(given.span), message, "remove it, or choose another `writer`");
        }
    }
    match writer {
        Writer::Background => Writing::Background { queue: usize::try_from(view.int_or_default("queue")).unwrap_or(1) },
        Writer::Collective => Writing::Collective,
        Writer::Grouped => {
            let ranks = view.int("ranks_per_writer").and_then(|ranks| usize::try_from(ranks.value).ok());
            Writing::Grouped { ranks }
        }
    }
}

const SCHEDULE_KEYS: [&str; 3] = ["hours", "cadence_hours", "cadence_seconds"];
const DATE_TOKENS: [&str; 3] = ["{date}", "{YYYYMMDD}", "{day}"];

/// File of the budgets of a run: beside its output, without a date.
fn budget_path(output: &Path) -> PathBuf {
    let mut stem = output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    DATE_TOKENS.iter().for_each(|token| stem = stem.replace(token, ""));
    let stem = stem.trim_matches(['_', '-', '.']);
    output.with_file_name(if stem.is_empty() { "budget.csv".into() } else { format!("{stem}.budget.csv") })
}

fn path(view: &View<'_>, base: &Base, split: Split, problems: &mut Problems) -> Option<PathBuf> {
    let text = view.text("path")?;
    let mut plain = text.value.replace("${", "");
    let dated = DATE_TOKENS.iter().any(|t| plain.contains(t));
    DATE_TOKENS.iter().for_each(|t| plain = plain.replace(t, ""));
    if plain.contains('{') {
        let message = format!("`{}` contains an unknown `{{…}}`", text.key);
        problems.add(&text.key, Some(text.span.clone()), message, format!("known are {}", DATE_TOKENS.join(", ")));
    }
    if dated && split == Split::Single {
        let message = format!("`{}` contains a date, but there is a single output file", text.key);
        let help = "write `split = \"daily\"`, or remove the braces";
        problems.add(&text.key, Some(text.span.clone()), message, help);
    }
    let path = base.resolve(&text, problems)?;
    if path.is_dir() || text.value.ends_with('/') {
        let message = format!("`{}`: {} is a folder", text.key, path.display());
        problems.add(&text.key, Some(text.span), message, "give the path of a file, e.g. \"run.nc\"");
    }
    Some(path)
}

fn schedule(view: &View<'_>, problems: &mut Problems) -> Option<Schedule> {
    let given: Vec<_> = view.given().filter(|(k, _)| SCHEDULE_KEYS.contains(&k.name)).collect();
    if let [(first, _), .., (last, at)] = given[..] {
        let message = format!("`{}` and `{}` are both given", view.full(first.name), view.full(last.name));
        problems.add(view.full(last.name), Some(at.span()), message, "keep one way of giving the times");
        return None;
    }
    let (start, stop) = (view.float("start_hour"), view.float("stop_hour"));
    if view.has("hours") {
        for at in [&start, &stop].into_iter().flatten() {
            let message = format!("`{}` has no meaning with a list of hours", at.key);
            problems.add(
                &at.key,
                Some(at.span.clone()),
                message,
                "remove it, or give `cadence_hours` instead of `hours`",
            );
        }
        let hours = view.floats("hours")?;
        let mut sorted = hours.value;
        sorted.sort_by(f64::total_cmp);
        if let Some(pair) = sorted.windows(2).find(|w| w[0] == w[1]) {
            let message = format!("`{}` lists hour {} twice", hours.key, pair[0]);
            problems.add(&hours.key, Some(hours.span), message, "list every hour once");
        }
        return Some(Schedule::Hours(sorted));
    }
    let seconds = view.float("cadence_seconds").map(|s| s.value / 3600.0);
    let interval = view.float("cadence_hours").map(|h| h.value).or(seconds);
    let first = start.map_or(0.0, |s| s.value);
    if let Some(stop) = stop.as_ref().filter(|s| s.value < first) {
        let message = format!("`{}` ({}) lies before the first snapshot (hour {first})", stop.key, stop.value);
        problems.add(&stop.key, Some(stop.span.clone()), message, "raise it or lower `start_hour`");
    }
    Some(Schedule::Every { hours: interval?, start: first, stop: stop.map(|s| s.value) })
}

fn fields(view: &View<'_>, tracers: &[Tracer], problems: &mut Problems) -> FieldSelection {
    let names: Vec<_> = tracers.iter().map(|t| t.name.as_str()).collect();
    let chosen = tracer_selection(view, &names, problems);
    let mut per_tracer = BTreeMap::new();
    for (name, span, one) in view.named("per_tracer") {
        let written = match &chosen {
            TracerSelection::All => names.contains(&name),
            TracerSelection::None => false,
            TracerSelection::Named(list) => list.iter().any(|n| n == name),
        };
        if !names.contains(&name) {
            unknown_tracer(&view.full("per_tracer"), name, span, &names, problems);
        } else if !written {
            let message = format!("`{}` is not among the tracers that are written", name);
            let help = format!("add it to `{}`, or remove this table", view.full("tracers"));
            problems.add(format!("{}.{name}", view.full("per_tracer")), Some(span), message, help);
        }
        let special = TracerFields {
            layers: one.choice("layers").map(|l| l.value),
            column_mean: one.bool("column_mean").map(|b| b.value),
            column_mass_per_area: one.bool("column_mass_per_area").map(|b| b.value),
            column_fluxes: one.bool("column_fluxes").map(|b| b.value),
            interval_mean: one.bool("interval_mean").map(|b| b.value),
        };
        per_tracer.insert(name.to_owned(), special);
    }
    let mut selection = FieldSelection {
        tracers: chosen,
        layers: view.choice_or_default("layers"),
        levels: Vec::new(),
        column_mean: view.bool_or_default("column_mean"),
        column_mass_per_area: view.bool_or_default("column_mass_per_area"),
        column_fluxes: view.bool_or_default("column_fluxes"),
        interval_mean: view.bool_or_default("interval_mean"),
        meteorology: meteorology(view, problems),
        air_mass_layers: view.choice("air_mass_layers").map(|l| l.value),
        air_mass: view.bool_or_default("air_mass"),
        air_mass_per_area: view.bool_or_default("air_mass_per_area"),
        column_air_mass_per_area: view.bool_or_default("column_air_mass_per_area"),
        per_tracer,
    };
    selection.levels = levels(view, &selection, problems);
    selection
}

fn meteorology(view: &View<'_>, problems: &mut Problems) -> Vec<MetField> {
    let list = view.names("meteorology").unwrap_or_default();
    match list.as_slice() {
        [one] if one.value == "all" => return MetField::ALL.to_vec(),
        [one] if one.value == "none" => return Vec::new(),
        _ => {}
    }
    let mut chosen = Vec::new();
    for name in list {
        match MetField::ALL.into_iter().find(|field| field.name() == name.value) {
            None => {
                let help = match nearest(name.value, MetField::ALL.iter().map(|field| field.name())) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the fields are {}", MetField::ALL.map(MetField::name).join(", ")),
                };
                let message = format!("`{}`: there is no field `{}`", name.key, name.value);
                problems.add(&name.key, Some(name.span), message, help);
            }
            Some(field) if chosen.contains(&field) => {
                let message = format!("`{}` names `{}` twice", name.key, name.value);
                problems.add(&name.key, Some(name.span), message, "list every field once");
            }
            Some(field) => chosen.push(field),
        }
    }
    chosen
}

fn tracer_selection(view: &View<'_>, names: &[&str], problems: &mut Problems) -> TracerSelection {
    let Some(list) = view.names("tracers") else { return TracerSelection::All };
    match list.as_slice() {
        [one] if one.value == "all" && !names.contains(&"all") => return TracerSelection::All,
        [one] if one.value == "none" && !names.contains(&"none") => return TracerSelection::None,
        [] => return TracerSelection::None,
        _ => {}
    }
    let mut chosen: Vec<String> = Vec::new();
    for name in list {
        if !names.contains(&name.value) {
            unknown_tracer(&name.key, name.value, name.span, names, problems);
        } else if chosen.iter().any(|c| c == name.value) {
            let message = format!("`{}` names `{}` twice", name.key, name.value);
            problems.add(&name.key, Some(name.span), message, "list every tracer once");
        } else {
            chosen.push(name.value.to_owned());
        }
    }
    TracerSelection::Named(chosen)
}

fn unknown_tracer(key: &str, name: &str, span: std::ops::Range<usize>, names: &[&str], problems: &mut Problems) {
    let help = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the tracers are {}", names.join(", ")),
    };
    problems.add(key, Some(span), format!("`{key}`: there is no tracer `{name}`"), help);
}

fn levels(view: &View<'_>, fields: &FieldSelection, problems: &mut Problems) -> Vec<usize> {
    let special = fields.per_tracer.values().filter_map(|t| t.layers);
    let used = special.chain([fields.layers]).chain(fields.air_mass_layers).any(|l| l == LayerSelection::Selected);
    let Some(given) = view.ints("levels") else {
        if used && !view.has("levels") {
            let key = view.full("levels");
            problems.add(&key, view.span(), format!("`{key}` is missing"), "`layers = \"selected\"` needs `levels`");
        }
        return Vec::new();
    };
    if !used {
        let message = format!("`{}` has no meaning: no field is written on selected layers", given.key);
        problems.add(&given.key, Some(given.span.clone()), message, "write `layers = \"selected\"`, or remove it");
    }
    if given.value.is_empty() {
        let message = format!("`{}` must not be empty", given.key);
        problems.add(
            &given.key,
            Some(given.span.clone()),
            message,
            "list at least one level, or write `layers = \"none\"`",
        );
    }
    let mut sorted: Vec<_> = given.value.iter().filter_map(|l| usize::try_from(*l).ok()).collect();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|w| w[0] == w[1]) {
        let message = format!("`{}` lists level {} twice", given.key, pair[0]);
        problems.add(&given.key, Some(given.span), message, "list every level once");
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_times_are_multiples_up_to_the_end() {
        let every = |hours, start, stop| Schedule::Every { hours, start, stop };
        assert_eq!(every(6.0, 0.0, None).times(24.0), [0.0, 6.0, 12.0, 18.0, 24.0]);
        assert_eq!(every(6.0, 3.0, Some(15.0)).times(24.0), [3.0, 9.0, 15.0]);
        assert_eq!(every(7.0, 0.0, Some(100.0)).times(10.0), [0.0, 7.0]);
        assert_eq!(Schedule::Hours(vec![1.0, 99.0]).times(24.0), [1.0, 99.0]);
    }

    #[test]
    fn budgets_lie_beside_the_output() {
        for (output, budget) in [
            ("a/run.nc", "a/run.budget.csv"),
            ("run_{date}.nc", "run.budget.csv"),
            ("out/{YYYYMMDD}.nc", "out/budget.csv"),
            ("{day}-x.nc4", "x.budget.csv"),
        ] {
            assert_eq!(budget_path(Path::new(output)), Path::new(budget), "{output}");
        }
    }
}
