//! First pass over a document: unknown, misplaced and unavailable keys, types and ranges, all from its [`Section`]s.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::error::Problems;
use super::keys::{Availability, Choice, Fallback, Key, Kind, Section, list};
use super::read;

/// Checks a whole document against the table of keys; `top` is the section of its top level.
pub(super) fn document(top: &'static Section, root: &DeTable<'_>, problems: &mut Problems) {
    table(top, "", root, None, problems);
}

/// Checks the table `name` of the top level, which is present, and nothing else of a document.
pub(super) fn one_table(name: &'static str, root: &DeTable<'_>, problems: &mut Problems) {
    let section = Section::at(name).expect("tables that are checked have a section");
    let found = root.iter().find(|(key, _)| key.get_ref() == name);
    if let Some((at, value)) = found.and_then(|(_, value)| Some((value.span(), value.get_ref().as_table()?))) {
        table(section, name, value, Some(at), problems);
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn table(section: &'static Section, path: &str, t: &DeTable<'_>, span: Option<Range<usize>>, problems: &mut Problems) {
    for (name, value) in t {
        let full = join(path, name.get_ref());
        match section.find(name.get_ref()) {
            None => unknown(section, path, name, problems),
            Some(key) => known(section, key, &full, name, value, problems),
        }
    }
    for key in section.all_keys() {
        spelled_once(key, path, t, problems);
        if key.fallback == Fallback::Required && !t.keys().any(|k| key.answers_to(k.get_ref())) {
            missing(section, key, path, span.clone(), problems);
        }
    }
}

fn missing(section: &'static Section, key: &Key, path: &str, span: Option<Range<usize>>, problems: &mut Problems) {
    let full = join(path, key.name);
    match key.kind {
        // A required table that is absent: name the key inside that must be given, where there is one.
        Kind::Table | Kind::TableOrList | Kind::TableOf => {
            let section = section.child(key.name);
            let inner = section.and_then(|s| s.keys.iter().find(|k| k.fallback == Fallback::Required));
            let help = match inner {
                Some(k) => format!("add the table with `{}` = {}", k.name, k.kind.words()),
                None if full == "tracers" => "add at least one tracer, e.g. [tracers.co2]".into(),
                None => format!("add the table: {}", section.map_or("", |s| s.doc)),
            };
            problems.add(&full, span, format!("the table [{full}] is missing"), help);
        }
        kind => {
            problems.add(&full, span, format!("`{full}` is missing"), format!("give {}", kind.words()));
        }
    }
}

fn spelled_once(key: &Key, path: &str, t: &DeTable<'_>, problems: &mut Problems) {
    let mut given: Vec<_> = t.keys().filter(|k| key.answers_to(k.get_ref())).collect();
    given.sort_by_key(|k| k.span().start);
    if let [first, .., last] = given[..] {
        let message = format!("`{}` and `{}` are the same key", first.get_ref(), last.get_ref());
        problems.add(
            join(path, key.name),
            Some(last.span()),
            message,
            format!("keep one of them, best `{}`", key.name),
        );
    }
}

fn unknown(section: &'static Section, path: &str, name: &Spanned<DeString<'_>>, problems: &mut Problems) {
    let written = name.get_ref().as_ref();
    let full = join(path, written);
    let place = if path.is_empty() { "at the top level".to_owned() } else { format!("in [{path}]") };
    let help = match (suggest_key(section, written), homes(section, written).as_slice()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, [home]) => format!("`{written}` belongs in [{home}]"),
        (None, homes @ [_, ..]) => format!("`{written}` is a key of [{}]", homes.join("], [")),
        (None, []) => {
            let mut names: Vec<_> =
                section.all_keys().filter(|k| k.availability == Availability::Now).map(|k| k.name).collect();
            names.sort_unstable();
            if names.is_empty() { String::new() } else { format!("keys here: {}", names.join(", ")) }
        }
    };
    problems.add(full, Some(name.span()), format!("unknown key `{written}` {place}"), help);
}

/// Nearest name of a key usable in this section.
fn suggest_key(section: &'static Section, written: &str) -> Option<&'static str> {
    let usable = section.all_keys().filter(|k| !matches!(k.availability, Availability::Removed(_)));
    nearest(written, usable.flat_map(|k| std::iter::once(k.name).chain(k.aliases.iter().copied())))
}

/// Sections of the same kind of file that have a usable key of exactly this name.
fn homes(section: &Section, written: &str) -> Vec<&'static str> {
    let has = |s: &&Section| s.keys.iter().any(|k| k.availability == Availability::Now && k.answers_to(written));
    section.siblings().iter().filter(|s| !s.name().is_empty()).filter(has).map(Section::name).collect()
}

/// The candidate most similar to `written`, if it is similar enough to be a slip of the pen.
pub(super) fn nearest<'a>(written: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let written = written.to_lowercase();
    let distance = |c: &str| strsim::damerau_levenshtein(&written, &c.to_lowercase());
    let (d, best) = candidates.map(|c| (distance(c), c)).min_by_key(|(d, _)| *d)?;
    let length = best.chars().count().max(written.chars().count());
    (d * 3 <= length.max(3)).then_some(best)
}

fn known(
    section: &'static Section,
    key: &'static Key,
    full: &str,
    name: &Spanned<DeString<'_>>,
    value: &Spanned<DeValue<'_>>,
    problems: &mut Problems,
) {
    match key.availability {
        Availability::Now => {}
        Availability::Later => {
            let help = format!("remove it ({})", key.doc.trim_end_matches('.').to_lowercase());
            return problems.add(full, Some(name.span()), format!("`{full}` is not part of this version"), help);
        }
        Availability::Removed(instead) => {
            return problems.add(full, Some(name.span()), format!("`{full}` is not a valid key"), instead);
        }
    }
    match (key.kind, value.get_ref()) {
        (Kind::Table | Kind::TableOrList, DeValue::Table(t)) => {
            // Aliases of a table share its section.
            if let Some(child) = section.child(key.name) {
                table(child, full, t, Some(value.span()), problems);
            }
        }
        (Kind::TableOf, DeValue::Table(t)) => {
            if let Some(one) = section.child(key.name).and_then(|c| c.child("<name>")) {
                named_tables(one, full, t, problems);
            }
        }
        (Kind::TableOrList, DeValue::Array(list)) => {
            if let Some(child) = section.child(key.name) {
                list.iter().for_each(|one| listed_table(child, full, one, problems));
            }
        }
        (kind, v) => scalar(kind, full, v, value.span(), problems),
    }
}

fn listed_table(section: &'static Section, full: &str, value: &Spanned<DeValue<'_>>, problems: &mut Problems) {
    match value.get_ref() {
        DeValue::Table(t) => table(section, full, t, Some(value.span()), problems),
        other => problems.add(
            full,
            Some(value.span()),
            format!("`{full}` must be a list of tables, not of {}", article(other)),
            format!("write [[{full}]] on a line of its own, followed by its keys"),
        ),
    }
}

fn named_tables(one: &'static Section, path: &str, tables: &DeTable<'_>, problems: &mut Problems) {
    for (name, value) in tables {
        let full = join(path, name.get_ref());
        match value.get_ref() {
            DeValue::Table(t) => table(one, &full, t, Some(value.span()), problems),
            other => problems.add(
                &full,
                Some(value.span()),
                format!("`{full}` must be a table, not {}", article(other)),
                format!("write [{full}] on a line of its own, followed by its keys"),
            ),
        }
    }
}

/// Type of a TOML value with its article.
fn article(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Checks type and range of a value that is not a table.
fn scalar(kind: Kind, full: &str, value: &DeValue<'_>, span: Range<usize>, problems: &mut Problems) {
    let fits_type = match kind {
        Kind::Bool => value.is_bool(),
        Kind::Int(..) => value.is_integer(),
        Kind::Float(_) => value.is_float() || value.is_integer(),
        Kind::Text | Kind::Path => value.is_str(),
        Kind::Date | Kind::Time => value.is_str() || value.is_datetime(),
        Kind::Choice(choices) => value.is_str() || (value.is_bool() && takes_booleans(choices)),
        Kind::Paths | Kind::Texts => elements(value, |v| v.is_str()),
        Kind::Names => value.is_str() || elements(value, |v| v.is_str()),
        Kind::Ints(_) | Kind::IntPair => elements(value, |v| v.is_integer()),
        Kind::Floats(_) => elements(value, |v| v.is_float() || v.is_integer()),
        Kind::Numbers(_) => {
            value.as_table().is_some_and(|t| t.values().all(|v| v.get_ref().is_float() || v.get_ref().is_integer()))
        }
        Kind::Table | Kind::TableOrList | Kind::TableOf => false,
        Kind::Any => true,
    };
    if !fits_type {
        let message = format!("`{full}` must be {}, not {}", kind.words(), article(value));
        return problems.add(full, Some(span), message, remedy(kind, value));
    }
    if let Kind::Choice(choices) = kind {
        return choice(choices, full, value, span, problems);
    }
    let in_range = match kind {
        Kind::Int(min, max) => read::int(value).is_some_and(|n| (min..=max).contains(&n)),
        Kind::Float(range) => read::float(value).is_some_and(|x| range.contains(x)),
        Kind::Text | Kind::Path => value.as_str().is_some_and(|s| !s.is_empty()),
        Kind::Date => read::date(value).is_some(),
        Kind::Time => read::time(value).is_some(),
        Kind::Paths | Kind::Texts => {
            read::texts(value).is_some_and(|l| !l.is_empty() && l.iter().all(|s| !s.is_empty()))
        }
        Kind::Ints(min) => read::ints(value).is_some_and(|l| l.iter().all(|n| *n >= min)),
        Kind::IntPair => read::ints(value).is_some_and(|l| l.len() == 2 && l.iter().all(|n| (1..=5760).contains(n))),
        Kind::Floats(range) => read::floats(value).is_some_and(|l| l.iter().all(|x| range.contains(*x))),
        Kind::Numbers(range) => value
            .as_table()
            .is_some_and(|t| t.values().all(|v| read::float(v.get_ref()).is_some_and(|x| range.contains(x)))),
        _ => true,
    };
    if !in_range {
        let message = match kind {
            Kind::Text | Kind::Path => format!("`{full}` must not be empty"),
            Kind::Paths => format!("`{full}` must name at least one file, and no empty name"),
            Kind::Texts => format!("`{full}` must hold at least one name, and no empty one"),
            _ => format!("`{full}` must be {}", kind.words()),
        };
        let help = match kind {
            Kind::Float(super::keys::Range::MoleFraction) => "a dry mole fraction: 400 ppm is 4e-4, 1 ppb is 1e-9",
            _ => "",
        };
        problems.add(full, Some(span), message, help);
    }
}

/// Advice for the commonest slips of type.
fn remedy(kind: Kind, value: &DeValue<'_>) -> String {
    match (kind, value) {
        (Kind::Paths | Kind::Texts, DeValue::String(s)) => format!("write a list: [\"{s}\"]"),
        (Kind::Bool | Kind::Int(..) | Kind::Float(_), DeValue::String(s)) => format!("remove the quotes: {s}"),
        (Kind::Int(..), DeValue::Float(_)) => "write it without a decimal point or exponent".into(),
        (Kind::Ints(_) | Kind::Floats(_), DeValue::Integer(_) | DeValue::Float(_)) => {
            "put the number in brackets".into()
        }
        _ => String::new(),
    }
}

fn elements(value: &DeValue<'_>, is: impl Fn(&DeValue<'_>) -> bool) -> bool {
    value.as_array().is_some_and(|a| a.iter().all(|v| is(v.get_ref())))
}

fn takes_booleans(choices: &[Choice]) -> bool {
    choices.iter().any(|c| c.aliases.contains(&"true"))
}

fn choice(choices: &[Choice], full: &str, value: &DeValue<'_>, span: Range<usize>, problems: &mut Problems) {
    let written = read::choice_text(value).unwrap_or_default();
    match choices.iter().find(|c| c.answers_to(&written)) {
        Some(c) if c.availability == Availability::Now => {}
        Some(Choice { availability: Availability::Removed(instead), .. }) => {
            problems.add(full, Some(span), format!("`{full} = \"{written}\"` cannot be used"), *instead);
        }
        Some(_) => {
            let message = format!("`{full} = \"{written}\"` is not part of this version");
            problems.add(full, Some(span), message, format!("use {}", one_of(choices)));
        }
        None => {
            let names = choices.iter().flat_map(|c| std::iter::once(c.name).chain(c.aliases.iter().copied()));
            let near = nearest(&written, names).map(|n| format!("did you mean \"{n}\"? ")).unwrap_or_default();
            let message = format!("`{full}` has no value \"{written}\"");
            problems.add(full, Some(span), message, format!("{near}use {}", one_of(choices)));
        }
    }
}

fn one_of(choices: &[Choice]) -> String {
    let names = list(choices);
    if names.contains(',') { format!("one of {names}") } else { names }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_near_and_only_near() {
        let names = || ["scheme", "limiter", "cfl_limit"].into_iter();
        assert_eq!(nearest("sheme", names()), Some("scheme"));
        assert_eq!(nearest("limitr", names()), Some("limiter"));
        assert_eq!(nearest("Cfl_Limit", names()), Some("cfl_limit"));
        assert_eq!(nearest("colour", names()), None);
        assert_eq!(nearest("x", std::iter::empty()), None);
    }
}
