//! A configuration with every default written out.

use std::fmt::Write as _;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::RunConfig;
use super::fluxes::{FluxConfig, RUN_ONLY};
use super::keys::{
    Availability, FLUX_SECTIONS, FLUXES, Fallback, Key, Kind, PREPROCESS, PREPROCESS_SECTIONS, SECTIONS, Section,
};
use super::preprocess::PreprocessConfig;

/// All usable keys of a checked configuration with the values in force and where they come from, as TOML:
/// `key = value  # line 12` or `# default`. Keys without a value appear as comments that say what that means.
pub fn explain(config: &RunConfig) -> String {
    written(&config.text, SECTIONS, Defaults::Keys)
}

/// The same for a configuration of `atmostr preprocess`. Defaults are remarks there: some of them have a meaning only beside
/// values of other keys.
pub fn explain_preprocessing(config: &PreprocessConfig) -> String {
    written(&config.text, PREPROCESS_SECTIONS, Defaults::Remarks)
}

/// The same for a configuration of `atmostr prepare-fluxes`.
pub fn explain_fluxes(config: &FluxConfig) -> String {
    written(&config.text, FLUX_SECTIONS, Defaults::Keys)
}

/// How defaults are written.
#[derive(Clone, Copy, PartialEq)]
enum Defaults {
    /// As keys.
    Keys,
    /// As comments.
    Remarks,
}

fn written(text: &str, sections: &[Section], defaults: Defaults) -> String {
    let (root, _) = DeTable::parse_recoverable(text);
    let mut out = String::new();
    // Tables inside a list are written with the element that they belong to.
    let separate = |s: &&Section| !s.name().is_empty() && !INLINE.contains(&s.path);
    for section in sections.iter().filter(separate) {
        for (path, table) in tables(root.get_ref(), section.name()) {
            let stated = table.is_some() || !is_left_out(section, &path, root.get_ref());
            if !stated && NONE.contains(&section.path) {
                let _ = writeln!(out, "# [{path}] is absent: none of it\n");
            }
            if stated && table.is_none() && section.path == INIT {
                // Without any of its keys a tracer starts from nothing, not from the default of `background`.
                let _ = writeln!(out, "[{path}]\nkind = \"uniform\"  # default\nbackground = 0  # default\n");
            } else if stated && (table.is_some() || !has_no_place(section, root.get_ref())) {
                write_table(&mut out, section, &path, table, text, defaults);
            }
        }
    }
    out
}

/// Whether a table that is absent could not be there: its key belongs to other choices than the one in force.
fn has_no_place(section: &Section, root: &DeTable<'_>) -> bool {
    let Some((outer, name)) = section.name().rsplit_once('.') else { return false };
    let prefix = [PREPROCESS, FLUXES].into_iter().find(|prefix| section.path.starts_with(prefix)).unwrap_or("");
    let Some(parent) = Section::at(&format!("{prefix}{outer}")) else { return false };
    let Some(key) = parent.find(name) else { return false };
    let found = tables(root, outer);
    !found.iter().any(|(_, table)| is_in_force(key, parent, *table))
}

/// Whether a key has a meaning beside the choices in force in its table.
fn is_in_force(key: &Key, section: &Section, table: Option<&DeTable<'_>>) -> bool {
    if key.only_with.is_empty() {
        return true;
    }
    let chosen = |other: &'static Key| {
        let given = table.and_then(|t| t.iter().find(|(k, _)| other.answers_to(k.get_ref())));
        selection(other, given)
    };
    let selector = section.all_keys().find(|other| ["kind", "scheme", "flow"].contains(&other.name));
    selector.and_then(chosen).is_some_and(|name| key.only_with.contains(&name))
}

/// Tables that are written as values.
const INLINE: [&str; 1] = ["tracers.<name>.surface_flux.injection"];

/// Tables of the document at a section's path, `<name>` standing for every name; an absent table of a fixed path
/// is present with its defaults, unless a sibling takes its place. Elements of a list of tables have its path in
/// brackets.
fn tables<'a>(root: &'a DeTable<'a>, path: &str) -> Vec<(String, Option<&'a DeTable<'a>>)> {
    let mut found = vec![(String::new(), Some(root))];
    for step in path.split('.') {
        found = found
            .into_iter()
            .flat_map(|(path, table)| {
                let children = table.into_iter().flat_map(DeTable::iter);
                let of = |k: &str| if path.is_empty() { k.to_owned() } else { format!("{path}.{k}") };
                let (mut next, mut given) = (Vec::new(), false);
                for (k, v) in children.filter(|(k, _)| step == "<name>" || k.get_ref() == step) {
                    match v.get_ref() {
                        DeValue::Table(t) => next.push((of(k.get_ref()), Some(t))),
                        DeValue::Array(list) => {
                            given = true;
                            let tables = list.iter().filter_map(|one| one.get_ref().as_table());
                            next.extend(tables.map(|t| (format!("[{}]", of(k.get_ref())), Some(t))));
                        }
                        _ => {}
                    }
                }
                if next.is_empty() && !given && step != "<name>" {
                    next.push((of(step), None));
                }
                next
            })
            .collect();
    }
    found
}

/// Tables whose absence is a statement of its own: their defaults are not in force.
const OPTIONAL: [&str; 9] = [
    "flux:catrine",
    "flux:flux",
    "input.synthetic",
    "diffusion",
    "convection",
    "chemistry",
    INIT,
    "tracers.<name>.surface_flux",
    "output",
];

/// The initial state of a tracer.
const INIT: &str = "tracers.<name>.init";

/// Those that say by their absence that there is none of it.
const NONE: [&str; 4] = ["diffusion", "convection", "chemistry", "output"];

/// Whether an absent table belongs to one whose absence is a statement of its own.
fn is_left_out(section: &Section, path: &str, root: &DeTable<'_>) -> bool {
    let depth = |path: &str| path.split('.').count();
    OPTIONAL.iter().filter(|outer| section.path == **outer || section.path.starts_with(&format!("{outer}."))).any(
        |outer| {
            let outer = outer.rsplit_once(':').map_or(*outer, |(_, name)| name);
            let own: Vec<&str> = path.split('.').take(depth(outer)).collect();
            let mut table = Some(root);
            for step in own {
                let next = table.and_then(|t| t.iter().find(|(k, _)| k.get_ref() == step));
                let inner = next.and_then(|(_, v)| v.get_ref().as_table());
                // Keys of `init` that are written in the tracer's table are completed there; without any, the defaults are in force.
                if step == "init" && inner.is_none() {
                    let flat = section.keys;
                    return table
                        .is_some_and(|t| t.iter().any(|(k, _)| flat.iter().any(|key| key.answers_to(k.get_ref()))));
                }
                table = inner;
            }
            table.is_none()
        },
    )
}

fn write_table(
    out: &mut String,
    section: &Section,
    path: &str,
    table: Option<&DeTable<'_>>,
    text: &str,
    defaults: Defaults,
) {
    if section.keys.is_empty() {
        return;
    }
    let given = |key: &Key| table.and_then(|t| t.iter().find(|(k, _)| key.answers_to(k.get_ref())));
    // Keys of `init` that are written directly in the tracer's table are completed there.
    let flat = section.flat.and_then(Section::at).map_or(&[][..], |s| s.keys);
    let flat = if flat.iter().any(|k| given(k).is_some()) { flat } else { &[] };
    let keys = || section.keys.iter().chain(flat);
    let _ = writeln!(out, "[{path}]");
    for key in keys() {
        let inline =
            matches!(key.kind, Kind::Table) && section.child(key.name).is_some_and(|s| INLINE.contains(&s.path));
        if key.availability != Availability::Now || (key.kind.is_table() && !inline) {
            continue;
        }
        if let Some((name, value)) = given(key) {
            let line = text[..name.span().start].matches('\n').count() + 1;
            let _ = writeln!(out, "{} = {}  # line {line}", key.name, toml_text(value.get_ref()));
            continue;
        }
        let elsewhere = section.path.starts_with(FLUXES) && RUN_ONLY.contains(&key.name);
        if elsewhere || !is_in_force(key, section, table) {
            continue;
        }
        let _ = match key.fallback {
            Fallback::Value(v) if defaults == Defaults::Remarks => writeln!(out, "# {}: {v} by default", key.name),
            Fallback::Value(v) if is_bare(key.kind) => writeln!(out, "{} = {v}  # default", key.name),
            Fallback::Value(v) => writeln!(out, "{} = \"{v}\"  # default", key.name),
            Fallback::Absent("") | Fallback::Required => Ok(()),
            Fallback::Absent(meaning) => writeln!(out, "# {}: {meaning}", key.name),
        };
    }
    out.push('\n');
}

/// Documented name of the choice in force for a selecting key.
fn selection(key: &Key, given: Option<(&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)>) -> Option<&'static str> {
    let Kind::Choice(choices) = key.kind else { return None };
    match (given, key.fallback) {
        (Some((_, value)), _) => {
            let written = value.get_ref().as_str()?;
            choices.iter().find(|c| c.answers_to(written)).map(|c| c.name)
        }
        (None, Fallback::Value(default)) => Some(default),
        (None, _) => None,
    }
}

/// Whether values of this kind are written without quotes.
fn is_bare(kind: Kind) -> bool {
    matches!(kind, Kind::Bool | Kind::Int(..) | Kind::Float(_))
}

/// A value as TOML text on one line.
fn toml_text(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(s) => toml::Value::String(s.to_string()).to_string(),
        DeValue::Integer(n) => n.to_string(),
        DeValue::Float(x) => x.to_string(),
        DeValue::Boolean(b) => b.to_string(),
        DeValue::Datetime(d) => d.to_string(),
        DeValue::Array(list) => {
            format!("[{}]", list.iter().map(|v| toml_text(v.get_ref())).collect::<Vec<_>>().join(", "))
        }
        DeValue::Table(table) => {
            let entry = |(name, value): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| {
                format!("{} = {}", toml::Value::String(name.get_ref().to_string()), toml_text(value.get_ref()))
            };
            format!("{{ {} }}", table.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}
