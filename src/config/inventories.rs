//! Sources on longitude-latitude grids.

use super::emissions::{Kind, Surroundings, required};
use super::error::Problems;
use super::read::{Named, View};
use super::source_files;
use crate::sources::{Conversion, Gaps, Inventory, InventoryKind, Record, Stamp, TimeUse};

impl Named for Stamp {
    const ALL: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("start", Self::Start), ("centre", Self::Centre), ("end", Self::End)];
}

impl Named for Gaps {
    const ALL: &'static [(&'static str, Self)] = &[("refuse", Self::Refuse), ("zero", Self::Zero)];
}

/// When the records of an inventory act, in words.
pub(super) fn times(inventory: &Inventory) -> String {
    match inventory.time {
        TimeUse::Varying => inventory.scheme.name().into(),
        TimeUse::Cyclic => format!("{}, every year", inventory.scheme.name()),
        TimeUse::Constant(Record::Mean) => "mean of all records".into(),
        TimeUse::Constant(Record::Index(n)) => format!("record {n}"),
        TimeUse::Constant(Record::Month(n)) => format!("month {n}"),
    }
}

/// Reads the inventory whose table `view` is; `None` after an error.
pub(super) fn read(
    kind: InventoryKind,
    view: &View<'_>,
    tracer: &View<'_>,
    around: &Surroundings<'_>,
    conversion: Option<Conversion>,
    problems: &mut Problems,
) -> Option<Inventory> {
    let files = source_files::read(view, tracer, around, problems);
    let variables = variables(kind, view, tracer, problems);
    let time = time(kind, view, problems);
    if let (Some(TimeUse::Constant(Record::Index(_))), Some(index)) = (time, view.int("time_index"))
        && files.len() > 1
    {
        let message = format!("`{}` chooses a record of {} files", index.key, files.len());
        problems.add(index.key, Some(index.span), message, "give the one file that holds it");
    }
    let year = view.int("year").filter(|_| !view.has("file_pattern"));
    Some(Inventory {
        kind,
        files,
        variables: variables?,
        units: view.text("units").map(|units| units.value.to_owned()),
        time: time?,
        stamp: view.choice_or_default("time_stamp"),
        year: year.and_then(|year| i16::try_from(year.value).ok()),
        gaps: view.choice_or_default("missing"),
        cell_area: view.text("cell_area").map(|area| area.value.to_owned()),
        scheme: view.choice_or_default("temporal_scheme"),
        conversion: conversion?,
    })
}

/// Variables that are named; `None` after an error.
fn variables(kind: InventoryKind, view: &View<'_>, tracer: &View<'_>, problems: &mut Problems) -> Option<Vec<String>> {
    let several = view.texts("variables");
    // A list that was refused has been reported.
    if view.has("variables") && several.is_none() {
        return None;
    }
    if let (Some(one), Some(_)) = (view.text("variable"), &several) {
        let message = format!("`{}` and `{}` are both given", one.key, view.full("variables"));
        problems.add(one.key, Some(one.span), message, "keep one of them");
        return None;
    }
    let Some(several) = several else {
        if kind == InventoryKind::File {
            let one = required(view.text("variable"), view, "variable", Kind::Inventory(kind), tracer, problems)?;
            return Some(vec![one.to_owned()]);
        }
        return Some(view.text("variable").map(|one| one.value.to_owned()).into_iter().collect());
    };
    let names: Vec<String> = several.iter().map(|name| name.value.to_owned()).collect();
    if let Some(n) = (1..names.len()).find(|&n| names[..n].contains(&names[n])) {
        let twice = &several[n];
        let message = format!("`{}` names \"{}\" twice", twice.key, twice.value);
        problems.add(&twice.key, Some(twice.span.clone()), message, "list every variable once");
        return None;
    }
    Some(names)
}

/// Which records act when; `None` after an error.
fn time(kind: InventoryKind, view: &View<'_>, problems: &mut Problems) -> Option<TimeUse> {
    let (index, month) = (view.int("time_index"), view.int("month"));
    let (varying, cyclic) = (view.bool("time_varying"), view.bool("cyclic"));
    let mut clash = |key: &str, span: &std::ops::Range<usize>, other: &str| {
        let message = format!("`{key}` contradicts `{}`", view.full(other));
        problems.add(key, Some(span.clone()), message, "remove one of them");
        None
    };
    for (one, name) in [(&index, "time_index"), (&month, "month")] {
        let Some(one) = one else { continue };
        if name == "month" && index.is_some() {
            return clash(&one.key, &one.span, "time_index");
        }
        if varying.as_ref().is_some_and(|given| given.value) {
            return clash(&one.key, &one.span, "time_varying");
        }
        if cyclic.as_ref().is_some_and(|given| given.value) {
            return clash(&one.key, &one.span, "cyclic");
        }
    }
    let constant = index.is_some() || month.is_some() || varying.is_some_and(|given| !given.value);
    if let Some(given) = cyclic.as_ref().filter(|given| given.value && constant) {
        return clash(&given.key, &given.span, "time_varying");
    }
    if let Some((_, at)) = view.given().find(|(key, _)| constant && key.name == "temporal_scheme") {
        let key = view.full("temporal_scheme");
        problems.add(
            &key,
            Some(at.span()),
            format!("`{key}` has no meaning: the flux is the same always"),
            "remove it",
        );
        return None;
    }
    if let Some(index) = index {
        return Some(TimeUse::Constant(Record::Index(usize::try_from(index.value).unwrap_or(usize::MAX))));
    }
    if let Some(month) = month {
        return Some(TimeUse::Constant(Record::Month(i8::try_from(month.value).unwrap_or(1))));
    }
    if constant {
        return Some(TimeUse::Constant(Record::Mean));
    }
    if !cyclic.map_or(kind == InventoryKind::ZhangRn222, |given| given.value) {
        return Some(TimeUse::Varying);
    }
    if let Some(year) = view.int("year").filter(|_| !view.has("file_pattern")) {
        let message = format!("`{}` has no meaning: the months come back every year", year.key);
        problems.add(year.key, Some(year.span), message, "remove it");
        return None;
    }
    Some(TimeUse::Cyclic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::names_agree;

    #[test]
    fn every_name_stands_for_a_value() {
        const SECTION: &str = "tracers.<name>.surface_flux";
        names_agree::<Stamp>(SECTION, "time_stamp");
        names_agree::<Gaps>(SECTION, "missing");
    }
}
