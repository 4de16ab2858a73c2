//! The printed reference of all keys.

use std::fmt::Write as _;

use super::{Availability, Choice, FLUX_SECTIONS, Fallback, Key, Kind, PREPROCESS_SECTIONS, SECTIONS, Section};

/// All keys of a run configuration of this version as Markdown: one heading per table, one row per key.
pub fn markdown() -> String {
    page(INTRO, SECTIONS)
}

/// The same for configurations of `atmostr preprocess`.
pub fn preprocess_markdown() -> String {
    page(PREPROCESS_INTRO, PREPROCESS_SECTIONS)
}

/// The same for configurations of `atmostr prepare-fluxes`.
pub fn fluxes_markdown() -> String {
    page(FLUXES_INTRO, FLUX_SECTIONS)
}

fn page(intro: &str, sections: &[Section]) -> String {
    let mut out = String::from(intro);
    for section in sections.iter().filter(|s| !s.name().is_empty()) {
        write_section(&mut out, section);
    }
    out
}

const PREPROCESS_INTRO: &str = "# Preprocessing configuration

One TOML file tells `atmostr preprocess` which archive to read and what to write. Rules for keys, errors and paths are those of
[run configurations](configuration.md).
";

const FLUXES_INTRO: &str = "# Configuration of flux preparation

One TOML file tells `atmostr prepare-fluxes` which archives to put on which cells. Rules for keys, errors and paths are those of
[run configurations](configuration.md).
";

const INTRO: &str = "# Run configuration

A run is described by one TOML file. Unknown keys are errors, and so are keys that have no effect; all errors of a file
are reported together. Paths may contain `~`, `$NAME` and `${NAME}`; relative paths are taken from the folder of the
configuration file. Names of schemes and kinds may be written in upper or lower case.
";

fn write_section(out: &mut String, section: &Section) {
    let _ = write!(out, "\n## `[{}]`\n\n{}\n", section.name(), section.doc);
    let usable: Vec<_> = section.keys.iter().filter(|k| k.availability == Availability::Now).collect();
    let scalars: Vec<_> = usable.into_iter().filter(|k| !k.kind.is_table()).collect();
    if scalars.is_empty() {
        return;
    }
    out.push_str("\n| key | value | default | meaning |\n|---|---|---|---|\n");
    for key in scalars {
        let _ = writeln!(out, "| {} | {} | {} | {} |", names(key), value(key), default(key), meaning(key));
    }
}

fn names(key: &Key) -> String {
    let aliases: String = key.aliases.iter().map(|a| format!(" (or `{a}`)")).collect();
    format!("`{}`{aliases}", key.name)
}

fn value(key: &Key) -> String {
    match key.kind {
        Kind::Choice(_) => "a name".into(),
        other => other.words(),
    }
}

fn default(key: &Key) -> String {
    match key.fallback {
        Fallback::Required => "required".into(),
        Fallback::Value(text) => format!("`{text}`"),
        Fallback::Absent("") => "–".into(),
        Fallback::Absent(text) => text.into(),
    }
}

fn meaning(key: &Key) -> String {
    let mut text = key.doc.to_owned();
    if let Kind::Choice(choices) = key.kind {
        let usable = choices.iter().filter(|c| c.availability == Availability::Now);
        for choice in usable {
            let _ = write!(text, "<br>`{}`{}: {}", choice.name, also(choice), choice.doc);
        }
    }
    if !key.only_with.is_empty() {
        let _ = write!(
            text,
            " Only with {}.",
            key.only_with.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
        );
    }
    text
}

fn also(choice: &Choice) -> String {
    choice.aliases.iter().map(|a| format!(" (or `{a}`)")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_names_every_usable_key_and_value_and_no_other() {
        let text = markdown();
        for section in SECTIONS.iter().filter(|s| !s.path.is_empty()) {
            assert!(text.contains(&format!("## `[{}]`", section.path)));
            for key in section.keys.iter().filter(|k| !k.kind.is_table()) {
                let usable = key.availability == Availability::Now;
                assert_eq!(text.contains(&format!("\n| {} |", names(key))), usable || twin(key), "{}", key.name);
                if let (true, Kind::Choice(choices)) = (usable, key.kind) {
                    for c in choices {
                        let now = c.availability == Availability::Now;
                        assert_eq!(meaning(key).contains(&format!("`{}`", c.name)), now, "{}", c.name);
                    }
                }
            }
        }
        for line in text.lines().filter(|l| l.starts_with('|')) {
            assert_eq!(line.matches('|').count(), 5, "{line}");
        }
    }

    /// Whether a key of the same name is usable in another table.
    fn twin(key: &Key) -> bool {
        SECTIONS.iter().flat_map(|s| s.keys).any(|k| names(k) == names(key) && k.availability == Availability::Now)
    }
}
