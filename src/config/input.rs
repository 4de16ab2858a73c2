//! `[input]`: which transport files are run.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::error::Problems;
use super::paths::Base;
use super::read::{At, Named, View};
use crate::grid::GeometryBundle;
use crate::met::synth::{SynthFlow, SynthOptions, SynthPhysics};
use crate::met::{AtExit, StagingSettings};

/// `[input]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Where the meteorology comes from.
    pub source: Source,
    /// Whether the fluxes of every window are replayed before it is used.
    pub validate_replay: bool,
    /// What the first file must declare.
    pub expectations: Expectations,
    /// Copies on a disk of the machine.
    pub staging: Option<StagingSettings>,
}

/// Where the meteorology comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// Existing transport files.
    Files {
        /// Files in the order in which they are run; at least one.
        paths: Vec<PathBuf>,
        /// Date on which the run starts (00:00 UTC), if given.
        start_date: Option<Date>,
    },
    /// Winds made by the program.
    Synthetic(SynthOptions),
}

impl Input {
    /// Year in which the run starts, where the configuration tells.
    pub(super) fn start_year(&self) -> Option<i16> {
        match &self.source {
            Source::Files { start_date, .. } => start_date.map(Date::year),
            Source::Synthetic(options) => options.start_time.map(|time| TimeZone::UTC.to_datetime(time).year()),
        }
    }
}

/// What the first file must declare.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expectations {
    /// Number of layers.
    pub levels: Option<NonZeroUsize>,
    /// Value of `preprocessor_contract`.
    pub contract: Option<String>,
    /// Whether `adaptive_substeps = true` is demanded.
    pub adaptive_substeps: bool,
}

impl Named for SynthPhysics {
    const ALL: &'static [(&'static str, Self)] = &[("none", Self::None), ("all", Self::All)];
}

impl Named for GeometryBundle {
    const ALL: &'static [(&'static str, Self)] = &[("gnomonic", Self::Gnomonic), ("geos_native", Self::GeosNative)];
}

impl Named for SynthFlow {
    const ALL: &'static [(&'static str, Self)] = &[
        ("weather", Self::Weather),
        ("solid-body", Self::SolidBody { angle_deg: 0.0 }),
        ("deformation", Self::Deformation),
        ("divergent", Self::Divergent),
        ("hadley", Self::Hadley),
        ("deformation-3d", Self::Deformation3d),
    ];
}

/// Reads `[input]`. After an error the values returned mean nothing.
pub(super) fn read(root: &View<'_>, base: &Base, problems: &mut Problems) -> Input {
    let view = root.table("input");
    let levels = view.int("expected_nlevel").and_then(|n| usize::try_from(n.value).ok()).and_then(NonZeroUsize::new);
    Input {
        source: source(&view, base, problems),
        validate_replay: view.bool_or_default("validate_replay"),
        expectations: Expectations {
            levels,
            contract: view.text("required_preprocessor_contract").map(|t| t.value.to_owned()),
            adaptive_substeps: view.bool_or_default("require_adaptive_substeps"),
        },
        staging: staging(&view, base, problems),
    }
}

fn staging(input: &View<'_>, base: &Base, problems: &mut Problems) -> Option<StagingSettings> {
    let view = input.table("staging");
    if !view.present() {
        return None;
    }
    let enabled = view.bool_or_default("enabled");
    let folder = view.text("dir").and_then(|text| base.resolve(&text, problems));
    if enabled && !view.has("dir") {
        let key = view.full("dir");
        problems.add(&key, view.span(), format!("`{key}` is missing"), "give a folder on a disk of the machine");
    }
    if enabled && input.has("synthetic") {
        let message = "[input.staging] has no effect: winds made by the program need no copies";
        problems.add("input.staging", view.span(), message, "remove it");
    }
    let count = |key| usize::try_from(view.int_or_default(key)).unwrap_or(0);
    let at_exit = if view.bool_or_default("cleanup_on_exit") { AtExit::Remove } else { AtExit::Keep };
    let (ahead, behind) = (count("lookahead_days"), count("keep_behind_days"));
    let settings = StagingSettings { folder: folder?, ahead, behind, at_exit };
    enabled.then_some(settings)
}

const ONE_OF_THREE: &str = "give exactly one of `binary_paths`, `folder`, [input.synthetic]";

fn source(view: &View<'_>, base: &Base, problems: &mut Problems) -> Source {
    let synthetic = view.table("synthetic");
    let given: Vec<_> =
        view.given().filter(|(k, _)| ["binary_paths", "folder", "synthetic"].contains(&k.name)).collect();
    let nothing = Source::Files { paths: Vec::new(), start_date: None };
    match given[..] {
        [] => {
            if view.present() {
                problems.add("input", view.span(), "[input] names no meteorology", ONE_OF_THREE);
            }
            nothing
        }
        [(key, _)] => match key.name {
            "binary_paths" => listed(view, base, problems),
            "folder" => dated(view, base, problems),
            _ => {
                only_with(view, "start_date", "use `input.synthetic.start_time`", problems);
                only_with(view, "end_date", "use `input.synthetic.windows`", problems);
                only_with(view, "file_pattern", "remove it", problems);
                Source::Synthetic(synthetic_winds(&synthetic, problems))
            }
        },
        [(first, _), .., (last, name)] => {
            let message = format!("`{}` and `{}` are both given", view.full(first.name), view.full(last.name));
            problems.add(view.full(last.name), Some(name.span()), message, ONE_OF_THREE);
            nothing
        }
    }
}

/// Reports a key that has no meaning beside the chosen source.
fn only_with(view: &View<'_>, name: &str, help: &str, problems: &mut Problems) {
    if let Some((key, at)) = view.given().find(|(k, _)| k.name == name) {
        let message = format!("`{}` belongs to `input.folder`, which is not given", view.full(key.name));
        problems.add(view.full(key.name), Some(at.span()), message, help);
    }
}

fn listed(view: &View<'_>, base: &Base, problems: &mut Problems) -> Source {
    only_with(view, "end_date", "remove it: `binary_paths` lists the files of the run", problems);
    only_with(view, "file_pattern", "remove it: `binary_paths` lists the files of the run", problems);
    let mut paths = Vec::new();
    for text in view.texts("binary_paths").unwrap_or_default() {
        let Some(path) = base.existing_file(&text, problems) else { continue };
        if paths.contains(&path) {
            let message = format!("`{}` names {} twice", text.key, path.display());
            problems.add(text.key, Some(text.span), message, "list every file once");
        }
        paths.push(path);
    }
    Source::Files { paths, start_date: view.date("start_date").map(|d| d.value) }
}

fn dated(view: &View<'_>, base: &Base, problems: &mut Problems) -> Source {
    let folder = view.text("folder").and_then(|t| base.existing_folder(&t, problems));
    let dates = (view.date("start_date"), view.date("end_date"));
    for name in ["start_date", "end_date"] {
        if !view.given().any(|(k, _)| k.name == name) {
            let key = view.full(name);
            problems.add(
                &key,
                view.span(),
                format!("`{key}` is missing"),
                "`folder` needs `start_date` and `end_date`",
            );
        }
    }
    let pattern = view.text("file_pattern").map(|text| Pattern::new(&text, problems));
    let (Some(start), Some(end)) = dates else { return Source::Files { paths: Vec::new(), start_date: None } };
    if end.value < start.value {
        let message = format!("`{}` ({}) lies before `{}` ({})", end.key, end.value, start.key, start.value);
        problems.add(&end.key, Some(end.span.clone()), message, "exchange the two dates");
    }
    let pattern = pattern.unwrap_or(Some(Pattern::AnyRun));
    let paths = match (folder, pattern) {
        (Some(folder), Some(pattern)) => match one_per_date(&folder, start.value, end.value, &pattern) {
            Ok(paths) => paths,
            Err(found) => {
                let at = view.text("folder").map(|t| t.span);
                for message in found {
                    let help = "every date from `start_date` to `end_date` needs exactly one file; `file_pattern` \
                                narrows the choice";
                    problems.add(view.full("folder"), at.clone(), message, help);
                }
                Vec::new()
            }
        },
        _ => Vec::new(),
    };
    Source::Files { paths, start_date: Some(start.value) }
}

/// How a file name shows its date.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    /// Any run of exactly eight digits.
    AnyRun,
    /// Text before and after the eight digits.
    Around(String, String),
}

const TOKEN: &str = "{YYYYMMDD}";

impl Pattern {
    fn new(text: &At<&str>, problems: &mut Problems) -> Option<Self> {
        let parts: Vec<_> = text.value.split(TOKEN).collect();
        if let [before, after] = parts[..] {
            return Some(Pattern::Around(before.into(), after.into()));
        }
        let message = format!("`{}` must contain `{TOKEN}` exactly once", text.key);
        problems.add(&text.key, Some(text.span.clone()), message, "e.g. \"transport_{YYYYMMDD}.bin\"");
        None
    }

    /// Dates a name may stand for, as eight digits.
    fn dates<'n>(&self, name: &'n str) -> Vec<&'n str> {
        let eight = |s: &&str| s.len() == 8 && s.bytes().all(|b| b.is_ascii_digit());
        match self {
            Pattern::AnyRun => name.split(|c: char| !c.is_ascii_digit()).filter(eight).collect(),
            Pattern::Around(before, after) => {
                let inner = name.strip_prefix(before.as_str()).and_then(|n| n.strip_suffix(after.as_str()));
                inner.into_iter().filter(eight).collect()
            }
        }
    }
}

/// The file of every date, or messages about dates without or with several files.
fn one_per_date(folder: &Path, start: Date, end: Date, pattern: &Pattern) -> Result<Vec<PathBuf>, Vec<String>> {
    let mut by_date: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let entries = std::fs::read_dir(folder).map_err(|e| vec![format!("{} cannot be read: {e}", folder.display())])?;
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !entry.path().is_file() {
            continue;
        }
        for date in pattern.dates(&name) {
            by_date.entry(date.to_owned()).or_default().push(name.clone());
        }
    }
    let (mut paths, mut absent, mut messages) = (Vec::new(), Vec::new(), Vec::new());
    let mut date = start;
    while date <= end {
        match by_date.get(&date.strftime("%Y%m%d").to_string()).map(Vec::as_slice) {
            Some([one]) => paths.push(folder.join(one)),
            Some(several @ [_, ..]) => {
                let mut several = several.to_vec();
                several.sort_unstable();
                messages.push(format!(
                    "{} has {} files for {date}: {}",
                    folder.display(),
                    several.len(),
                    several.join(", ")
                ));
            }
            _ => absent.push(date.to_string()),
        }
        match date.checked_add(1.day()) {
            Ok(next) => date = next,
            Err(_) => break,
        }
    }
    if let [first, ..] = &absent[..] {
        let more = if absent.len() > 1 { format!(" and {} more dates", absent.len() - 1) } else { String::new() };
        messages.push(format!("{} has no file for {first}{more}", folder.display()));
    }
    if messages.is_empty() { Ok(paths) } else { Err(messages) }
}

fn synthetic_winds(view: &View<'_>, problems: &mut Problems) -> SynthOptions {
    let count = |name| usize::try_from(view.int_or_default(name)).unwrap_or(1);
    let mut flow: SynthFlow = view.choice_or_default("flow");
    view.misplaced("flow", flow.name(), problems);
    if let SynthFlow::SolidBody { angle_deg } = &mut flow {
        *angle_deg = view.float_or_default("angle_deg");
    }
    let physics = view.choice::<SynthPhysics>("physics");
    if let Some(all) = physics.as_ref().filter(|p| p.value == SynthPhysics::All && flow != SynthFlow::Weather) {
        let message = format!("`{} = \"all\"`: only the flow \"weather\" has fields for physics", all.key);
        problems.add(&all.key, Some(all.span.clone()), message, "choose flow \"weather\", or physics \"none\"");
    }
    SynthOptions {
        flow,
        nc: count("nc"),
        levels: count("levels"),
        windows: count("windows"),
        window_seconds: view.float_or_default("window_seconds"),
        float: view.choice_or_default("float_type"),
        bundle: view.choice_or_default("convention"),
        physics: physics.map_or_else(|| view.choice_or_default("physics"), |p| p.value),
        skip_windows: 0,
        start_time: view.time_or_default("start_time"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn dates_are_found_in_names() {
        let any = Pattern::AnyRun;
        assert_eq!(any.dates("geos_20211201_c90.bin"), ["20211201"]);
        assert_eq!(any.dates("geos_202112010.bin"), Vec::<&str>::new(), "nine digits are not a date");
        assert_eq!(any.dates("20211201-20211202.bin"), ["20211201", "20211202"]);
        let around = Pattern::Around("geos_".into(), ".bin".into());
        assert_eq!(around.dates("geos_20211201.bin"), ["20211201"]);
        assert_eq!(around.dates("xgeos_20211201.bin"), Vec::<&str>::new(), "the pattern is anchored");
        assert_eq!(around.dates("geos_2021120a.bin"), Vec::<&str>::new());
    }

    #[test]
    fn every_date_needs_exactly_one_file() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["m_20240228.bin", "m_20240229.bin", "m_20240301.bin", "n_20240301.bin"] {
            std::fs::write(dir.path().join(name), b"").unwrap();
        }
        let leap = one_per_date(dir.path(), date(2024, 2, 28), date(2024, 2, 29), &Pattern::AnyRun).unwrap();
        assert_eq!(leap, [dir.path().join("m_20240228.bin"), dir.path().join("m_20240229.bin")]);
        let around = Pattern::Around("m_".into(), ".bin".into());
        assert_eq!(one_per_date(dir.path(), date(2024, 2, 28), date(2024, 3, 1), &around).unwrap().len(), 3);
        let bad = one_per_date(dir.path(), date(2024, 2, 26), date(2024, 3, 1), &Pattern::AnyRun).unwrap_err();
        assert!(bad[0].contains("2 files for 2024-03-01: m_20240301.bin, n_20240301.bin"), "{bad:?}");
        assert!(bad[1].contains("no file for 2024-02-26 and 1 more date"), "{bad:?}");
    }
}
