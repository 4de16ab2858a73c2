//! Every key of a run configuration with its type, default and meaning.
//!
//! [`SECTIONS`] is the single source for parsing, for the defaults, for error messages and for the printed
//! reference (`atmostr config-keys`).

mod fluxes;
mod input;
mod output;
mod physics;
mod preprocess;
mod reference;
mod restart;
mod run;
mod sources;
mod tracers;

pub use reference::{fluxes_markdown, markdown, preprocess_markdown};

/// One value of a key that takes one of a list of names.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// Name as documented.
    pub name: &'static str,
    /// Other spellings that mean the same. `"true"` and `"false"` also stand for the TOML booleans.
    pub aliases: &'static [&'static str],
    /// Whether this version has it.
    pub availability: Availability,
    /// Meaning.
    pub doc: &'static str,
}

/// Whether this version of the program knows what to do with a key or a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Availability {
    /// Usable.
    Now,
    /// Known, refused as not part of this version.
    Later,
    /// No longer (or never) valid; the text tells what to write instead.
    Removed(&'static str),
}

/// Type and range of a key's value.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// Integer within inclusive bounds.
    Int(i64, i64),
    /// Finite number; integers are accepted.
    Float(Range),
    /// Any string.
    Text,
    /// Path of a file or folder; see the reference for what is expanded.
    Path,
    /// Calendar date `YYYY-MM-DD`, as a string or a TOML date.
    Date,
    /// UTC time `YYYY-MM-DDThh:mm:ssZ`, as a string or a TOML date-time.
    Time,
    /// One of a list of names.
    Choice(&'static [Choice]),
    /// Non-empty list of paths.
    Paths,
    /// Non-empty list of strings.
    Texts,
    /// `"all"`, `"none"`, one name or a list of names.
    Names,
    /// List of integers, each at least this large.
    Ints(i64),
    /// Exactly two integers, each at least 1.
    IntPair,
    /// List of finite numbers.
    Floats(Range),
    /// A table of numbers, one for each name.
    Numbers(Range),
    /// A table described by the section of the same path.
    Table,
    /// A table described by the section of the same path, or a list of such tables.
    TableOrList,
    /// A table of named tables, each described by the section `<path>.<name>`.
    TableOf,
    /// A value of any type; only for keys that are refused.
    Any,
}

/// Range of a finite number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// At least.
    From(f64),
    /// Greater than.
    Above(f64),
    /// From (inclusive) to (inclusive).
    Within(f64, f64),
    /// Greater than the first, at most the second.
    AboveTo(f64, f64),
    /// Greater than the first, less than the second.
    Between(f64, f64),
    /// A dry mole fraction, mol/mol, or a difference of two.
    MoleFraction,
}

impl Range {
    /// Whether `x` lies in the range.
    pub fn contains(self, x: f64) -> bool {
        x.is_finite()
            && match self {
                Range::From(a) => x >= a,
                Range::Above(a) => x > a,
                Range::Within(a, b) => (a..=b).contains(&x),
                Range::AboveTo(a, b) => x > a && x <= b,
                Range::Between(a, b) => x > a && x < b,
                Range::MoleFraction => x.abs() <= 1.0,
            }
    }

    /// The range in words, to follow "a number".
    pub fn words(self) -> String {
        match self {
            Range::From(a) => format!(" ≥ {}", short(a)),
            Range::Above(a) => format!(" > {}", short(a)),
            Range::Within(a, b) => format!(" from {} to {}", short(a), short(b)),
            Range::AboveTo(a, b) => format!(" > {} and ≤ {}", short(a), short(b)),
            Range::Between(a, b) => format!(" > {} and < {}", short(a), short(b)),
            Range::MoleFraction => " from -1 to 1 (mol/mol)".into(),
        }
    }
}

/// A bound without a long row of zeros.
fn short(x: f64) -> String {
    if x.abs() < 1e6 { x.to_string() } else { format!("{x:e}") }
}

impl Kind {
    /// The type in words, e.g. "an integer ≥ 1".
    pub fn words(self) -> String {
        match self {
            Kind::Bool => "true or false".into(),
            Kind::Int(min, i64::MAX) => format!("an integer ≥ {min}"),
            Kind::Int(min, max) => format!("an integer from {min} to {max}"),
            Kind::Float(range) => format!("a number{}", range.words()),
            Kind::Text => "a string".into(),
            Kind::Path => "a path (string)".into(),
            Kind::Date => "a date `YYYY-MM-DD`".into(),
            Kind::Time => "a UTC time `YYYY-MM-DDThh:mm:ssZ`".into(),
            Kind::Choice(choices) => format!("one of {}", list(choices)),
            Kind::Paths => "a list of paths (strings)".into(),
            Kind::Texts => "a list of strings".into(),
            Kind::Names => "\"all\", \"none\", a name or a list of names".into(),
            Kind::Ints(min) => format!("a list of integers ≥ {min}"),
            Kind::IntPair => "two integers ≥ 1, e.g. [2, 2]".into(),
            Kind::Floats(range) => format!("a list of numbers{}", range.words()),
            Kind::Numbers(range) => format!("a table of numbers{}, one for each name", range.words()),
            Kind::Table => "a table".into(),
            Kind::TableOrList => "a table or a list of tables".into(),
            Kind::TableOf => "a table of tables".into(),
            Kind::Any => "a value".into(),
        }
    }
}

/// The available names, quoted and separated by commas.
pub(super) fn list(choices: &[Choice]) -> String {
    let usable = choices.iter().filter(|c| c.availability == Availability::Now);
    usable.map(|c| format!("\"{}\"", c.name)).collect::<Vec<_>>().join(", ")
}

/// What happens when a key is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// The key must be given.
    Required,
    /// This value, as TOML text without quotes.
    Value(&'static str),
    /// No value; the text says what that means (empty: nothing to say).
    Absent(&'static str),
}

/// One key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Name.
    pub name: &'static str,
    /// Other names of the same key.
    pub aliases: &'static [&'static str],
    /// Type and range.
    pub kind: Kind,
    /// What its absence means.
    pub fallback: Fallback,
    /// Whether this version has it.
    pub availability: Availability,
    /// If not empty: valid only with one of these values of the section's selecting key (`kind`, or `scheme`).
    pub only_with: &'static [&'static str],
    /// Meaning, in one or two sentences.
    pub doc: &'static str,
}

impl Key {
    /// Key with a default value.
    const fn new(name: &'static str, kind: Kind, default: &'static str, doc: &'static str) -> Self {
        Self::with(name, kind, Fallback::Value(default), doc)
    }

    /// Key that must be given.
    const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self::with(name, kind, Fallback::Required, doc)
    }

    /// Key without a value when absent.
    const fn optional(name: &'static str, kind: Kind, absent: &'static str, doc: &'static str) -> Self {
        Self::with(name, kind, Fallback::Absent(absent), doc)
    }

    /// Key of a feature that is not part of this version.
    const fn later(name: &'static str, doc: &'static str) -> Self {
        let mut key = Self::with(name, Kind::Any, Fallback::Absent(""), doc);
        key.availability = Availability::Later;
        key
    }

    /// Key that is never valid, with what to write instead.
    const fn removed(name: &'static str, instead: &'static str) -> Self {
        let mut key = Self::with(name, Kind::Any, Fallback::Absent(""), "");
        key.availability = Availability::Removed(instead);
        key
    }

    const fn with(name: &'static str, kind: Kind, fallback: Fallback, doc: &'static str) -> Self {
        Self { name, aliases: &[], kind, fallback, availability: Availability::Now, only_with: &[], doc }
    }

    const fn alias(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    const fn only(mut self, values: &'static [&'static str]) -> Self {
        self.only_with = values;
        self
    }

    /// Whether `name` is this key or one of its aliases.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

impl Choice {
    const fn new(name: &'static str, doc: &'static str) -> Self {
        Self { name, aliases: &[], availability: Availability::Now, doc }
    }

    const fn later(name: &'static str, doc: &'static str) -> Self {
        Self { name, aliases: &[], availability: Availability::Later, doc }
    }

    /// Value that is never valid, with the reason and what to write instead.
    const fn removed(name: &'static str, instead: &'static str) -> Self {
        Self { name, aliases: &[], availability: Availability::Removed(instead), doc: instead }
    }

    const fn alias(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Whether `name` is this choice or one of its aliases, ignoring case.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name) || self.aliases.iter().any(|a| a.eq_ignore_ascii_case(name))
    }
}

/// A table of the configuration.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// Dotted path; `<name>` stands for a name chosen by the user. Empty for the top level. Paths of preprocessing
    /// configurations begin with [`PREPROCESS`], those of flux preparation with [`FLUXES`].
    pub path: &'static str,
    /// What the table is for.
    pub doc: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
    /// Section whose keys may also be written directly in this one.
    pub flat: Option<&'static str>,
}

impl Kind {
    /// Whether values are tables with a section of their own.
    pub(super) fn is_table(self) -> bool {
        matches!(self, Kind::Table | Kind::TableOrList | Kind::TableOf)
    }
}

impl Section {
    const fn new(path: &'static str, doc: &'static str, keys: &'static [Key]) -> Self {
        Self { path, doc, keys, flat: None }
    }

    /// Section with this path.
    pub fn at(path: &str) -> Option<&'static Section> {
        SECTIONS.iter().chain(PREPROCESS_SECTIONS).chain(FLUX_SECTIONS).find(|s| s.path == path)
    }

    /// All sections of the kind of file to which this one belongs.
    pub(super) fn siblings(&self) -> &'static [Section] {
        match self.path {
            path if path.starts_with(PREPROCESS) => PREPROCESS_SECTIONS,
            path if path.starts_with(FLUXES) => FLUX_SECTIONS,
            _ => SECTIONS,
        }
    }

    /// Dotted path in the file.
    pub fn name(&self) -> &'static str {
        [PREPROCESS, FLUXES].iter().find_map(|prefix| self.path.strip_prefix(prefix)).unwrap_or(self.path)
    }

    /// Section of the table `name` inside this one.
    pub(super) fn child(&self, name: &str) -> Option<&'static Section> {
        let dot = if self.name().is_empty() { "" } else { "." };
        Section::at(&format!("{}{dot}{name}", self.path))
    }

    /// Keys that may be written in this table, own ones first.
    pub fn all_keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        let flat = self.flat.and_then(Section::at).map_or(&[][..], |s| s.keys);
        self.keys.iter().chain(flat)
    }

    /// Key with this name or alias.
    pub fn find(&self, name: &str) -> Option<&'static Key> {
        self.all_keys().find(|k| k.answers_to(name))
    }
}

/// All tables of a run configuration, in the order of the printed reference.
pub static SECTIONS: &[Section] = &[
    Section::new("", "Top level: tables only.", TOP),
    input::INPUT,
    input::SYNTHETIC,
    input::STAGING,
    run::ARCHITECTURE,
    run::NUMERICS,
    run::RUN,
    run::DECOMPOSITION,
    run::ADVECTION,
    physics::DIFFUSION,
    physics::CONVECTION,
    physics::CHEMISTRY,
    tracers::TRACERS,
    tracers::TRACER,
    tracers::INIT,
    sources::SURFACE_FLUX,
    sources::INJECTION,
    output::OUTPUT,
    output::FIELDS,
    output::PER_TRACER,
    output::ONE_TRACER,
    restart::RESTART,
];

/// What the paths of sections of preprocessing configurations begin with.
pub const PREPROCESS: &str = "met:";

/// All tables of a configuration of `atmostr preprocess`, in the order of the printed reference.
pub static PREPROCESS_SECTIONS: &[Section] = preprocess::SECTIONS;

/// What the paths of sections of flux preparation begin with.
pub const FLUXES: &str = "flux:";

/// All tables of a configuration of `atmostr prepare-fluxes`, in the order of the printed reference.
pub static FLUX_SECTIONS: &[Section] = fluxes::SECTIONS;

const TOP: &[Key] = &[
    Key::required("input", Kind::Table, "Meteorology: transport files, or winds made by the program."),
    Key::optional("architecture", Kind::Table, "", "Where the run is computed."),
    Key::optional("numerics", Kind::Table, "", "Precision."),
    Key::optional("run", Kind::Table, "", "Windows, air-mass policy, halo width."),
    Key::optional("decomposition", Kind::Table, "", "How panels are cut into tiles for the ranks."),
    Key::required("advection", Kind::Table, "Advection scheme and its options."),
    Key::optional("diffusion", Kind::Table, "", "Vertical diffusion."),
    Key::optional("convection", Kind::Table, "", "Convective transport."),
    Key::optional("chemistry", Kind::Table, "", "Decay."),
    Key::required("tracers", Kind::TableOf, "One table per tracer."),
    Key::optional("output", Kind::Table, "without the table nothing is written", "Snapshots."),
    Key::optional("restart", Kind::Table, "without the table none are written", "Restart files."),
    Key::removed("grid", "remove the table: the transport file decides the grid"),
    Key::removed("init", "write the initial state as [tracers.<name>.init], one table per tracer"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_key_has_its_section_and_every_section_its_key() {
        for section in SECTIONS.iter().chain(PREPROCESS_SECTIONS).chain(FLUX_SECTIONS) {
            for key in section.keys {
                match key.kind {
                    Kind::Table | Kind::TableOrList => {
                        assert!(section.child(key.name).is_some(), "{}.{}", section.path, key.name)
                    }
                    Kind::TableOf => {
                        let table = section.child(key.name).expect("section of the table of tables");
                        assert!(table.child("<name>").is_some(), "{}.<name>", table.path);
                    }
                    _ => {}
                }
            }
            if let Some((parent, last)) = section.path.rsplit_once('.')
                && last != "<name>"
            {
                let parent = Section::at(parent).expect("parent section");
                assert!(parent.find(last).is_some(), "{} is not a key of its parent", section.path);
            }
        }
    }

    #[test]
    fn names_are_unique_within_a_section_and_keys_are_documented() {
        for section in SECTIONS.iter().chain(PREPROCESS_SECTIONS).chain(FLUX_SECTIONS) {
            let mut seen = Vec::new();
            for key in section.all_keys() {
                for name in std::iter::once(&key.name).chain(key.aliases) {
                    assert!(!seen.contains(name), "{}.{name} twice", section.path);
                    seen.push(name);
                }
                if key.availability == Availability::Now {
                    assert!(key.doc.ends_with('.'), "{}.{}: {:?}", section.path, key.name, key.doc);
                }
                if let Kind::Choice(choices) = key.kind {
                    assert!(choices.iter().all(|c| !c.doc.is_empty()));
                    if let Fallback::Value(v) = key.fallback {
                        assert!(choices.iter().any(|c| c.name == v && c.availability == Availability::Now), "{v}");
                    }
                }
            }
        }
    }
}
