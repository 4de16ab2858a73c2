//! Values of a document that has passed the first check.
//!
//! Readers return `None` for absent and for mistyped values, and for numbers out of range; all but the first have been
//! reported already.

use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use toml::Spanned;
use toml::de::{DeArray, DeString, DeTable, DeValue};

use super::error::Problems;
use super::keys::{Availability, Fallback, Key, Kind, Section};

/// Value of an integer.
pub(super) fn int(value: &DeValue<'_>) -> Option<i64> {
    let n = value.as_integer()?;
    i64::from_str_radix(n.as_str(), n.radix()).ok()
}

/// Value of a number.
pub(super) fn float(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(x) => x.as_str().parse().ok(),
        other => int(other).map(|n| n as f64),
    }
}

/// Value of a date, written as a string or as a TOML date.
pub(super) fn date(value: &DeValue<'_>) -> Option<Date> {
    let text = match value {
        DeValue::Datetime(d) => d.to_string(),
        other => other.as_str()?.to_owned(),
    };
    // Exactly YYYY-MM-DD: the general parser would also accept a date with a time.
    (text.len() == 10).then(|| text.parse().ok())?
}

/// Value of a time, written as a string or as a TOML date-time.
pub(super) fn time(value: &DeValue<'_>) -> Option<Timestamp> {
    match value {
        DeValue::Datetime(d) => parse_utc(&d.to_string()),
        other => parse_utc(other.as_str()?),
    }
}

/// A UTC time: `2000-01-01T00:00:00Z`, the same without `Z`, or a date alone (00:00). An offset other than `Z` is
/// converted.
pub fn parse_utc(text: &str) -> Option<Timestamp> {
    if let Ok(t) = text.parse::<Timestamp>() {
        return Some(t);
    }
    let civil: DateTime = text.parse().ok()?;
    jiff::tz::TimeZone::UTC.to_timestamp(civil).ok()
}

/// Strings of a list.
pub(super) fn texts<'a>(value: &'a DeValue<'_>) -> Option<Vec<&'a str>> {
    value.as_array()?.iter().map(|v| v.get_ref().as_str()).collect()
}

/// Integers of a list.
pub(super) fn ints(value: &DeValue<'_>) -> Option<Vec<i64>> {
    value.as_array()?.iter().map(|v| int(v.get_ref())).collect()
}

/// Numbers of a list.
pub(super) fn floats(value: &DeValue<'_>) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(|v| float(v.get_ref())).collect()
}

/// Text of a named choice; booleans become `"true"` and `"false"`.
pub(super) fn choice_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::Boolean(b) => Some(b.to_string()),
        other => other.as_str().map(str::to_owned),
    }
}

/// A type whose values are the named choices of a key.
pub trait Named: Copy + 'static {
    /// All values with the names used in configuration files.
    const ALL: &'static [(&'static str, Self)];

    /// Value of a documented name (not of an alias).
    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(n, _)| *n == name).map(|(_, v)| *v)
    }

    /// Documented name of a value.
    fn name(self) -> &'static str
    where
        Self: PartialEq,
    {
        Self::ALL.iter().find(|(_, v)| *v == self).map_or("", |(n, _)| n)
    }
}

/// A value with its key and place.
#[derive(Debug, Clone)]
pub(super) struct At<T> {
    /// The value.
    pub(super) value: T,
    /// Full dotted key as written.
    pub(super) key: String,
    /// Bytes of the value.
    pub(super) span: Range<usize>,
}

/// One table of the document, present or absent, seen through its section of the key table.
#[derive(Debug, Clone)]
pub(super) struct View<'a> {
    section: &'static Section,
    path: String,
    table: Option<&'a DeTable<'a>>,
    span: Option<Range<usize>>,
    /// What the names of its keys begin with in the file.
    prefix: &'static str,
}

impl<'a> View<'a> {
    /// The top level, described by `section`.
    pub(super) fn root(section: &'static Section, table: &'a DeTable<'a>) -> Self {
        Self { section, path: String::new(), table: Some(table), span: None, prefix: "" }
    }

    /// Whether the table is in the file.
    pub(super) fn present(&self) -> bool {
        self.table.is_some()
    }

    /// Place of the table, if it is in the file.
    pub(super) fn span(&self) -> Option<Range<usize>> {
        self.span.clone()
    }

    /// Full dotted name of a key of this table.
    pub(super) fn full(&self, name: &str) -> String {
        let name = format!("{}{name}", self.prefix);
        if self.path.is_empty() { name } else { format!("{}.{name}", self.path) }
    }

    /// The table `name` inside this one, present or absent.
    pub(super) fn table(&self, name: &str) -> View<'a> {
        let section = self.section.child(name).expect("tables that are read have a section");
        let found = self.raw(name).and_then(|(k, v)| Some((k, v.get_ref().as_table()?, v.span())));
        let path = self.full(found.as_ref().map_or(name, |(k, ..)| k.get_ref()));
        View { section, path, table: found.as_ref().map(|f| f.1), span: found.map(|f| f.2), prefix: "" }
    }

    /// The tables `name` inside this one: none, one, or those of a list.
    pub(super) fn tables(&self, name: &str) -> Vec<View<'a>> {
        let Some((_, value)) = self.raw(name) else { return Vec::new() };
        let whole = self.table(name);
        let of_list = |list: &'a DeArray<'a>| {
            let one = |v: &'a Spanned<DeValue<'a>>| {
                Some(View { table: Some(v.get_ref().as_table()?), span: Some(v.span()), ..whole.clone() })
            };
            list.iter().filter_map(one).collect()
        };
        value.get_ref().as_array().map_or_else(|| vec![whole.clone()], of_list)
    }

    /// The named tables of a table of tables, sorted by name, with the place of each name.
    pub(super) fn named(&self, name: &str) -> Vec<(&'a str, Range<usize>, View<'a>)> {
        let outer = self.table(name);
        let section = outer.section.child("<name>").expect("tables of tables have a section for one");
        let mut all: Vec<_> = outer
            .table
            .into_iter()
            .flat_map(DeTable::iter)
            .filter_map(|(k, v)| {
                let table = v.get_ref().as_table()?;
                let path = outer.full(k.get_ref());
                let view = View { section, path, table: Some(table), span: Some(v.span()), prefix: "" };
                Some((k.get_ref().as_ref(), k.span(), view))
            })
            .collect();
        all.sort_by_key(|(n, ..)| *n);
        all
    }

    /// The same table seen through another section, for keys that may be written in either.
    pub(super) fn through(&self, path: &str) -> View<'a> {
        let section = Section::at(path).expect("sections that are read exist");
        View { section, ..self.clone() }
    }

    /// The keys of another section as they are written in this table, where their names begin with `prefix`.
    pub(super) fn prefixed(&self, path: &str, prefix: &'static str) -> View<'a> {
        View { prefix, ..self.through(path) }
    }

    fn raw(&self, name: &str) -> Option<(&'a Spanned<DeString<'a>>, &'a Spanned<DeValue<'a>>)> {
        let key = self.key(name);
        let is_key = |written: &str| written.strip_prefix(self.prefix).is_some_and(|rest| key.answers_to(rest));
        self.table?.iter().find(|(k, _)| is_key(k.get_ref()))
    }

    /// Full dotted name of a key as it is written.
    fn written(&self, name: &Spanned<DeString<'_>>) -> String {
        let name = name.get_ref();
        self.full(name.strip_prefix(self.prefix).unwrap_or(name))
    }

    fn key(&self, name: &str) -> &'static Key {
        self.section.find(name).expect("keys that are read are in the table of keys")
    }

    /// Whether this table's own section has a key of this name.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.section.keys.iter().any(|k| k.answers_to(name))
    }

    /// Whether the key is written in this table, with whatever value.
    pub(super) fn has(&self, name: &str) -> bool {
        self.raw(name).is_some()
    }

    /// Keys written in this table that the section knows and this version has, in the order of the file, with the
    /// place of each name.
    pub(super) fn given(&self) -> impl Iterator<Item = (&'static Key, &'a Spanned<DeString<'a>>)> + use<'a> {
        let mut names: Vec<_> = self.table.into_iter().flat_map(DeTable::keys).collect();
        names.sort_by_key(|n| n.span().start);
        let (section, prefix) = (self.section, self.prefix);
        names.into_iter().filter_map(move |name| {
            let key = section.find(name.get_ref().strip_prefix(prefix)?)?;
            (key.availability == Availability::Now).then_some((key, name))
        })
    }

    /// Reports the keys of this table that have no meaning when the key `selector` has this value.
    pub(super) fn misplaced(&self, selector: &str, value: &str, problems: &mut Problems) {
        for (key, at) in self.given().filter(|(k, _)| !k.only_with.is_empty() && !k.only_with.contains(&value)) {
            let full = self.written(at);
            let message = format!("`{full}` has no meaning with {selector} \"{value}\"");
            let others: Vec<_> = key.only_with.iter().map(|n| format!("\"{n}\"")).collect();
            let help = format!("remove it, or choose {selector} {}", others.join(" or "));
            problems.add(full, Some(at.span()), message, help);
        }
    }

    /// Text of the default value of a key.
    pub(super) fn default_text(&self, name: &str) -> &'static str {
        match self.key(name).fallback {
            Fallback::Value(text) => text,
            _ => panic!("keys read with a default have one"),
        }
    }

    fn read<T>(&self, name: &str, reader: impl FnOnce(&'a DeValue<'a>) -> Option<T>) -> Option<At<T>> {
        let (k, v) = self.raw(name)?;
        let value = reader(v.get_ref())?;
        Some(At { value, key: self.written(k), span: v.span() })
    }

    /// Integer that is present.
    pub(super) fn int(&self, name: &str) -> Option<At<i64>> {
        let Kind::Int(min, max) = self.key(name).kind else { panic!("keys read as integers are integers") };
        self.read(name, |v| int(v).filter(|n| (min..=max).contains(n)))
    }

    /// Number that is present.
    pub(super) fn float(&self, name: &str) -> Option<At<f64>> {
        let Kind::Float(range) = self.key(name).kind else { panic!("keys read as numbers are numbers") };
        self.read(name, |v| float(v).filter(|x| range.contains(*x)))
    }

    /// Boolean that is present.
    pub(super) fn bool(&self, name: &str) -> Option<At<bool>> {
        self.read(name, DeValue::as_bool)
    }

    /// Date that is present.
    pub(super) fn date(&self, name: &str) -> Option<At<Date>> {
        self.read(name, date)
    }

    /// Time that is present.
    pub(super) fn time(&self, name: &str) -> Option<At<Timestamp>> {
        self.read(name, time)
    }

    /// String that is present.
    pub(super) fn text(&self, name: &str) -> Option<At<&'a str>> {
        self.read(name, DeValue::as_str)
    }

    /// Strings of a list, with the place of each.
    pub(super) fn texts(&self, name: &str) -> Option<Vec<At<&'a str>>> {
        let (k, v) = self.raw(name)?;
        let key = self.written(k);
        let at =
            |v: &'a Spanned<DeValue<'a>>| Some(At { value: v.get_ref().as_str()?, key: key.clone(), span: v.span() });
        v.get_ref().as_array()?.iter().map(at).collect()
    }

    /// Like [`View::texts`], also for a single string.
    pub(super) fn names(&self, name: &str) -> Option<Vec<At<&'a str>>> {
        self.text(name).map(|one| vec![one]).or_else(|| self.texts(name))
    }

    /// Integers that are present.
    pub(super) fn ints(&self, name: &str) -> Option<At<Vec<i64>>> {
        self.read(name, ints)
    }

    /// Numbers that are present.
    pub(super) fn floats(&self, name: &str) -> Option<At<Vec<f64>>> {
        let Kind::Floats(range) = self.key(name).kind else { panic!("keys read as lists of numbers are such lists") };
        self.read(name, |v| floats(v).filter(|list| list.iter().all(|x| range.contains(*x))))
    }

    /// Numbers of a table with their names, ascending; empty if it is absent.
    pub(super) fn numbers(&self, name: &str) -> Vec<At<(&'a str, f64)>> {
        let Some((k, v)) = self.raw(name) else { return Vec::new() };
        let key = self.written(k);
        let entries = v.get_ref().as_table().into_iter().flatten();
        let at = |(n, v): (&'a Spanned<DeString<'a>>, &'a Spanned<DeValue<'a>>)| {
            let value = (n.get_ref().as_ref(), float(v.get_ref())?);
            Some(At { value, key: format!("{key}.{}", n.get_ref()), span: n.span() })
        };
        entries.filter_map(at).collect()
    }

    /// Named choice that is present and part of this version.
    pub(super) fn choice<T: Named>(&self, name: &str) -> Option<At<T>> {
        let Kind::Choice(choices) = self.key(name).kind else { panic!("keys read as choices are choices") };
        self.read(name, |v| {
            let written = choice_text(v)?;
            T::from_name(choices.iter().find(|c| c.answers_to(&written))?.name)
        })
    }

    /// Named choice, or its default.
    pub(super) fn choice_or_default<T: Named>(&self, name: &str) -> T {
        let default = || T::from_name(self.default_text(name)).expect("defaults are values");
        self.choice(name).map_or_else(default, |c| c.value)
    }

    /// Integer, or its default.
    pub(super) fn int_or_default(&self, name: &str) -> i64 {
        self.int(name).map_or_else(|| self.default_text(name).parse().expect("defaults are values"), |n| n.value)
    }

    /// Number, or its default.
    pub(super) fn float_or_default(&self, name: &str) -> f64 {
        self.float(name).map_or_else(|| self.default_text(name).parse().expect("defaults are values"), |x| x.value)
    }

    /// Time, or its default.
    pub(super) fn time_or_default(&self, name: &str) -> Option<Timestamp> {
        self.time(name).map(|t| t.value).or_else(|| parse_utc(self.default_text(name)))
    }

    /// Boolean, or its default.
    pub(super) fn bool_or_default(&self, name: &str) -> bool {
        self.bool(name).map_or_else(|| self.default_text(name) == "true", |b| b.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utc_times_are_read_in_every_documented_form() {
        let midnight = Timestamp::from_second(946_684_800).unwrap(); // 2000-01-01T00:00:00Z
        for text in ["2000-01-01T00:00:00Z", "2000-01-01T00:00:00", "2000-01-01", "2000-01-01T01:00:00+01:00"] {
            assert_eq!(parse_utc(text), Some(midnight), "{text}");
        }
        assert_eq!(parse_utc("January"), None);
        assert_eq!(parse_utc("2000-13-01"), None);
    }
}
