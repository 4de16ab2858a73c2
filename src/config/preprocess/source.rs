//! `[source]`.

use super::super::error::Problems;
use super::super::paths::Base;
use super::super::read::{Named, View};
use super::{SourceConfig, archives};
use crate::gridded::AxisNames;
use crate::preprocess::readers::geos::GeosProduct;
use crate::preprocess::readers::gridded::{
    Extension, GriddedSource, LevelOrder, LevelSource, PressureName, StateTimes, VariableNames,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Gridded,
    Merra2,
    GeosIt,
    GeosFp,
    Era5,
}

impl Named for Kind {
    const ALL: &'static [(&'static str, Self)] = &[
        ("gridded", Self::Gridded),
        ("merra2", Self::Merra2),
        ("geos_it", Self::GeosIt),
        ("geos_fp", Self::GeosFp),
        ("era5", Self::Era5),
    ];
}

impl Named for LevelOrder {
    const ALL: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("surface_first", Self::SurfaceFirst), ("toa_first", Self::TopFirst)];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Times {
    Series,
    Steady,
}

impl Named for Times {
    const ALL: &'static [(&'static str, Self)] = &[("series", Self::Series), ("steady", Self::Steady)];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Levels {
    Pressure,
    Sigma,
    Hybrid,
}

impl Named for Levels {
    const ALL: &'static [(&'static str, Self)] =
        &[("pressure", Self::Pressure), ("sigma", Self::Sigma), ("hybrid", Self::Hybrid)];
}

impl Named for Extension {
    const ALL: &'static [(&'static str, Self)] = &[("constant", Self::Constant), ("zero", Self::Zero)];
}

/// Reads `[source]`; `None` after an error.
pub(super) fn read(root: &View<'_>, base: &Base, problems: &mut Problems) -> Option<SourceConfig> {
    let view = root.table("source");
    let kind = view.choice::<Kind>("kind")?.value;
    view.misplaced("kind", kind.name(), problems);
    match kind {
        Kind::Gridded => gridded(&view, base, problems).map(|source| SourceConfig::Gridded(Box::new(source))),
        Kind::Merra2 => archives::merra2(&view, base, problems).map(SourceConfig::Merra2),
        Kind::GeosIt => archives::geos(&view, GeosProduct::It, base, problems).map(SourceConfig::Geos),
        Kind::GeosFp => archives::geos(&view, GeosProduct::Fp, base, problems).map(SourceConfig::Geos),
        Kind::Era5 => archives::era5(&view, base, problems).map(SourceConfig::Era5),
    }
}

fn gridded(view: &View<'_>, base: &Base, problems: &mut Problems) -> Option<GriddedSource> {
    let Some(texts) = view.texts("files") else {
        if !view.has("files") {
            let key = view.full("files");
            problems.add(&key, view.span(), format!("`{key}` is missing"), "kind \"gridded\" needs `files`");
        }
        return None;
    };
    let mut files = Vec::new();
    for text in &texts {
        let path = base.existing_file(text, problems)?;
        if files.contains(&path) {
            let message = format!("`{}` names {} twice", text.key, path.display());
            problems.add(&text.key, Some(text.span.clone()), message, "list every file once");
        }
        files.push(path);
    }
    let time = match view.choice_or_default("time") {
        Times::Series => {
            refuse_with(view, "time_index", "time = \"series\"", problems);
            StateTimes::Series { first_day: view.date("first_day").map(|d| d.value) }
        }
        Times::Steady => {
            refuse_with(view, "first_day", "time = \"steady\"", problems);
            StateTimes::Steady { record: usize::try_from(view.int_or_default("time_index") - 1).unwrap_or(0) }
        }
    };
    let levels = view.table("levels");
    Some(GriddedSource {
        files,
        time,
        variables: variables(&view.table("variables"), problems)?,
        axes: axes(&view.table("dimensions")),
        order: view.choice_or_default("level_order"),
        above: levels.choice_or_default("above"),
        below: levels.choice_or_default("below"),
        levels: level_source(&levels, problems)?,
    })
}

/// Reports a key that has no meaning beside another choice.
fn refuse_with(view: &View<'_>, name: &str, choice: &str, problems: &mut Problems) {
    if let Some((_, at)) = view.given().find(|(key, _)| key.name == name) {
        let key = view.full(name);
        problems.add(&key, Some(at.span()), format!("`{key}` has no meaning with {choice}"), "remove it");
    }
}

fn text(view: &View<'_>, name: &str) -> Option<String> {
    view.text(name).map(|t| t.value.to_owned())
}

fn variables(view: &View<'_>, problems: &mut Problems) -> Option<VariableNames> {
    let or_default = |name: &str| text(view, name).unwrap_or_else(|| view.default_text(name).to_owned());
    let surface_pressure = match text(view, "log_surface_pressure") {
        Some(_) if view.has("surface_pressure") => {
            let key = view.full("log_surface_pressure");
            let message = format!("`{key}` and `{}` are both given", view.full("surface_pressure"));
            problems.add(&key, view.span(), message, "keep the one that the files hold");
            return None;
        }
        Some(name) => PressureName::Logarithm(name),
        None => PressureName::Plain(or_default("surface_pressure")),
    };
    let names = VariableNames {
        u: or_default("u"),
        v: or_default("v"),
        surface_pressure,
        humidity: text(view, "humidity"),
        temperature: text(view, "temperature"),
        time: text(view, "time"),
    };
    refuse_shared(view, &names, problems)?;
    Some(names)
}

/// Reports the same variable given for two fields; `None` if there is one.
fn refuse_shared(view: &View<'_>, names: &VariableNames, problems: &mut Problems) -> Option<()> {
    let pressure = match &names.surface_pressure {
        PressureName::Plain(name) => ("surface_pressure", Some(name)),
        PressureName::Logarithm(name) => ("log_surface_pressure", Some(name)),
    };
    let fields = [
        ("u", Some(&names.u)),
        ("v", Some(&names.v)),
        pressure,
        ("humidity", names.humidity.as_ref()),
        ("temperature", names.temperature.as_ref()),
        ("time", names.time.as_ref()),
    ];
    let mut sound = Some(());
    for (n, (field, name)) in fields.iter().enumerate().filter(|(_, (_, name))| name.is_some()) {
        let Some((earlier, _)) = fields[..n].iter().find(|(_, other)| other == name) else { continue };
        // The key that is in the file, of two that are there the later one.
        let key = if view.has(field) { field } else { earlier };
        let span = view.given().find(|(given, _)| given.name == *key).map(|(_, at)| at.span()).or(view.span());
        let (one, other) = (view.full(earlier), view.full(field));
        let message = format!("`{one}` and `{other}` are both the variable \"{}\"", name.map_or("", |name| name));
        problems.add(view.full(key), span, message, "name a variable of its own for each field");
        sound = None;
    }
    sound
}

fn axes(view: &View<'_>) -> AxisNames {
    let mut axes = AxisNames::default();
    for (name, with) in [
        ("longitude", AxisNames::with_lon as fn(AxisNames, &str) -> AxisNames),
        ("latitude", AxisNames::with_lat),
        ("level", AxisNames::with_level),
        ("time", AxisNames::with_time),
    ] {
        if let Some(given) = text(view, name) {
            axes = with(axes, &given);
        }
    }
    axes
}

fn level_source(view: &View<'_>, problems: &mut Problems) -> Option<LevelSource> {
    let kind = view.choice_or_default::<Levels>("kind");
    view.misplaced("kind", kind.name(), problems);
    let mut pair = |a: &str, b: &str| match (text(view, a), text(view, b)) {
        (Some(one), Some(other)) if one == other => {
            let (first, second) = (view.full(a), view.full(b));
            let message = format!("`{first}` and `{second}` are both the variable \"{one}\"");
            problems.add(second, view.span(), message, "name a variable of its own for each");
            None
        }
        (Some(a), Some(b)) => Some([a, b]),
        (None, None) => None,
        (given, _) => {
            let (there, absent) = if given.is_some() { (a, b) } else { (b, a) };
            let key = view.full(absent);
            problems.add(&key, view.span(), format!("`{key}` is missing beside `{there}`"), "give both or none");
            None
        }
    };
    Some(match kind {
        Levels::Pressure => LevelSource::Pressure { variable: text(view, "variable"), units: text(view, "units") },
        Levels::Sigma => {
            LevelSource::Sigma { variable: text(view, "variable"), interfaces: text(view, "b_interfaces") }
        }
        Levels::Hybrid => {
            let (mid, interfaces) = (pair("a", "b"), pair("a_interfaces", "b_interfaces"));
            if mid.is_none() && interfaces.is_none() {
                if ["a", "b", "a_interfaces", "b_interfaces"].iter().any(|key| view.has(key)) {
                    return None;
                }
                let help = "name the variables of A and B: `a` and `b`, or `a_interfaces` and `b_interfaces`";
                problems.add(view.full("a"), view.span(), format!("`{}` is missing", view.full("a")), help);
                return None;
            }
            let reference_pa = view.float_or_default("reference_pressure_pa");
            LevelSource::Hybrid { mid, interfaces, units: text(view, "units"), reference_pa }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::names_agree;

    #[test]
    fn every_name_stands_for_a_value() {
        names_agree::<Kind>("met:source", "kind");
        names_agree::<LevelOrder>("met:source", "level_order");
        names_agree::<Times>("met:source", "time");
        names_agree::<Levels>("met:source.levels", "kind");
        names_agree::<Extension>("met:source.levels", "above");
        names_agree::<Extension>("met:source.levels", "below");
    }
}
