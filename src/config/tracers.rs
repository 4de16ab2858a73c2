//! `[tracers.<name>]`.

use std::ops::Range;

use kernels::scheme::Sign;

use super::advection::{self, Advection};
use super::emissions::{self, EmissionConfig, Surroundings, Transport};
use super::error::Problems;
use super::input::Input;
use super::paths::Base;
use super::read::{Named, View};
use crate::initial::{
    FieldFile, InitialState, LayerChoice, Negatives, RecordChoice, SurfacePressure, VerticalMapping, VerticalOrder,
};
use crate::output::RESERVED_NAMES;
use crate::sources::known_molar_mass;

/// One tracer.
#[derive(Debug, Clone, PartialEq)]
pub struct Tracer {
    /// Name, also of its variable in the output.
    pub name: String,
    /// Initial dry-air mole fraction.
    pub initial: InitialState,
    /// Molar mass in kg/mol: as given, or of a known gas.
    pub molar_mass_kg_mol: Option<f64>,
    /// Whether it may be negative.
    pub sign: Sign,
    /// Its sources, in the order in which they act.
    pub emissions: Vec<EmissionConfig>,
}

impl Named for VerticalMapping {
    const ALL: &'static [(&'static str, Self)] =
        &[("log_pressure", Self::LogPressure), ("conservative", Self::Conservative)];
}

impl Named for VerticalOrder {
    const ALL: &'static [(&'static str, Self)] =
        &[("surface_first", Self::SurfaceFirst), ("toa_first", Self::TopFirst)];
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Uniform,
    LatitudeStep,
    GaussianBlob,
    PressureLayer,
    CsNative,
    File,
    CatrineCo2,
    BoundaryLayer,
}

impl Named for Kind {
    const ALL: &'static [(&'static str, Self)] = &[
        ("uniform", Kind::Uniform),
        ("latitude_step", Kind::LatitudeStep),
        ("gaussian_blob", Kind::GaussianBlob),
        ("pressure_layer", Kind::PressureLayer),
        ("cs_native", Kind::CsNative),
        ("file", Kind::File),
        ("catrine_co2", Kind::CatrineCo2),
        ("bl_enhanced", Kind::BoundaryLayer),
    ];
}

/// Endings of variables derived from a tracer.
const DERIVED: [&str; 8] = [
    "_column_mean",
    "_column_mass_per_area",
    "_total_mass",
    "_emitted_mass",
    "_decayed_mass",
    "_residual_mass",
    "_ledger_returned_kg",
    "_carry_outstanding_kg",
];

/// Reads `[tracers]`, sorted by name.
pub(super) fn read(
    root: &View<'_>,
    base: &Base,
    input: &Input,
    advection: &Advection,
    problems: &mut Problems,
) -> Vec<Tracer> {
    let all = root.named("tracers");
    let outer = root.table("tracers");
    if all.is_empty() && outer.present() {
        problems.add("tracers", outer.span(), "[tracers] holds no tracer", "add one, e.g. [tracers.co2]");
    }
    let names: Vec<_> = all.iter().map(|(n, ..)| *n).collect();
    for (name, span, _) in &all {
        check_name(name, span, &names, problems);
    }
    // Without a scheme that was refused, sources are not judged by it.
    let none = advection.scheme.is_none() && root.table("advection").choice::<advection::Family>("scheme").is_some();
    let transport = if none { Transport::None } else { Transport::Sweeps };
    all.into_iter()
        .map(|(name, _, view)| {
            let molar_mass = molar_mass(name, &view);
            let around = Surroundings { base, year: input.start_year(), molar_mass, transport };
            Tracer {
                name: name.into(),
                initial: initial_state(&view, base, problems),
                molar_mass_kg_mol: molar_mass,
                sign: if view.bool_or_default("signed") { Sign::Any } else { Sign::NonNegative },
                emissions: emissions::read(&view, &around, problems),
            }
        })
        .collect()
}

fn check_name(name: &str, span: &Range<usize>, all: &[&str], problems: &mut Problems) {
    let key = format!("tracers.{name}");
    let valid = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !valid {
        let message = format!("\"{name}\" cannot be the name of a variable");
        let help = "use a letter followed by letters, digits and underscores";
        return problems.add(key, Some(span.clone()), message, help);
    }
    if RESERVED_NAMES.contains(&name) {
        let message = format!("a tracer cannot be called `{name}`: output files use that name themselves");
        return problems.add(key, Some(span.clone()), message, "rename the tracer");
    }
    if let Some(stem) = DERIVED.iter().find_map(|end| name.strip_suffix(end).filter(|stem| all.contains(stem))) {
        let message = format!("a tracer cannot be called `{name}`: that is an output variable of tracer `{stem}`");
        problems.add(key, Some(span.clone()), message, "rename the tracer");
    }
}

fn initial_state(view: &View<'_>, base: &Base, problems: &mut Problems) -> InitialState {
    let flat = view.through(INIT);
    let table = view.table("init");
    let in_table = |key: &super::keys::Key| flat.knows(key.name);
    let flat_key = view.given().find(|(k, _)| in_table(k));
    let init = match (table.present(), flat_key) {
        (true, Some((key, at))) => {
            let message =
                format!("`{}` and [{}] both describe the initial state", view.full(key.name), view.full("init"));
            problems.add(view.full(key.name), Some(at.span()), message, "move the key into the `init` table");
            table
        }
        (true, None) => table,
        (false, Some(_)) => flat,
        (false, None) => return InitialState::Uniform { background: 0.0 },
    };
    initial(&init, view, base, problems)
}

const INIT: &str = "tracers.<name>.init";

fn molar_mass(name: &str, view: &View<'_>) -> Option<f64> {
    view.float("molar_mass_kg_mol").map(|m| m.value).or_else(|| known_molar_mass(name))
}

fn initial(init: &View<'_>, tracer: &View<'_>, base: &Base, problems: &mut Problems) -> InitialState {
    let kind = init.choice::<Kind>("kind");
    // A kind that was refused has been reported; its keys are not judged.
    if init.has("kind") && kind.is_none() {
        return InitialState::Uniform { background: 0.0 };
    }
    let kind = kind.map_or(Kind::Uniform, |k| k.value);
    let name = Kind::ALL[kind as usize].0;
    init.misplaced("kind", name, problems);
    let background = || init.float_or_default("background");
    match kind {
        Kind::Uniform => InitialState::Uniform { background: background() },
        Kind::LatitudeStep => InitialState::LatitudeStep {
            south: init.float("south_value").map_or_else(background, |x| x.value),
            north: init.float_or_default("north_value"),
            split_lat_deg: init.float_or_default("split_lat_deg"),
        },
        Kind::GaussianBlob => InitialState::GaussianBlob {
            background: background(),
            amplitude: init.float("amplitude").map_or_else(background, |x| x.value),
            lon0_deg: init.float_or_default("lon0_deg"),
            lat0_deg: init.float_or_default("lat0_deg"),
            sigma_lon_deg: init.float_or_default("sigma_lon_deg"),
            sigma_lat_deg: init.float_or_default("sigma_lat_deg"),
        },
        Kind::PressureLayer => InitialState::PressureLayer {
            layer: layer_choice(init, problems),
            total_molecules: init.float_or_default("total_molecules"),
        },
        Kind::CsNative => cs_native(init, tracer, base, problems),
        Kind::File => InitialState::Field(field(init, tracer, name, None, base, problems)),
        Kind::CatrineCo2 => InitialState::Field(field(init, tracer, name, Some("CO2"), base, problems)),
        Kind::BoundaryLayer => InitialState::BoundaryLayer {
            background: background(),
            enhancement: init.float_or_default("enhancement"),
            layers: usize::try_from(init.int_or_default("n_layers")).unwrap_or(usize::MAX),
        },
    }
}

fn layer_choice(init: &View<'_>, problems: &mut Problems) -> LayerChoice {
    let fraction = init.float("psurf_fraction");
    if !init.bool_or_default("lowest_layer") {
        return LayerChoice::NearestFraction(fraction.map_or(0.5, |f| f.value));
    }
    if let Some(f) = fraction {
        let message = format!("`{}` has no meaning with `lowest_layer = true`", f.key);
        problems.add(f.key, Some(f.span), message, "keep one of them");
    }
    LayerChoice::Lowest
}

fn cs_native(init: &View<'_>, tracer: &View<'_>, base: &Base, problems: &mut Problems) -> InitialState {
    require(init, tracer, "cs_native", &["file", "variable", "vertical_order"], problems);
    InitialState::CsNative {
        file: init.text("file").and_then(|t| base.existing_file(&t, problems)).unwrap_or_default(),
        variable: init.text("variable").map(|t| t.value.to_owned()).unwrap_or_default(),
        units: init.text("units").map(|t| t.value.to_owned()),
        record: record(init, problems),
        vertical_order: init.choice("vertical_order").map_or(VerticalOrder::TopFirst, |v| v.value),
        negatives: negatives(init),
    }
}

/// The record of a file.
fn record(init: &View<'_>, problems: &mut Problems) -> RecordChoice {
    match (init.int("time_index"), init.time("time")) {
        (None, None) => RecordChoice::Only,
        (Some(index), None) => RecordChoice::Index(usize::try_from(index.value).unwrap_or(usize::MAX)),
        (None, Some(time)) => RecordChoice::Time(time.value),
        (Some(index), Some(time)) => {
            let message = format!("`{}` and `{}` are both given", index.key, time.key);
            problems.add(time.key, Some(time.span), message, "keep one of them");
            RecordChoice::Only
        }
    }
}

/// Reports keys that the kind needs and that are absent.
fn require(init: &View<'_>, tracer: &View<'_>, kind: &str, names: &[&str], problems: &mut Problems) {
    for name in names.iter().filter(|name| !init.has(name)) {
        let key = init.full(name);
        let span = init.span().or_else(|| tracer.span());
        problems.add(&key, span, format!("`{key}` is missing"), format!("kind \"{kind}\" needs `{name}`"));
    }
}

/// A field on a longitude-latitude grid; `variable` is the one read where none is named.
fn field(
    init: &View<'_>,
    tracer: &View<'_>,
    kind: &str,
    variable: Option<&str>,
    base: &Base,
    problems: &mut Problems,
) -> FieldFile {
    let needed: &[&str] = if variable.is_some() { &["file"] } else { &["file", "variable"] };
    require(init, tracer, kind, needed, problems);
    let named = init.text("variable").map(|t| t.value).or(variable);
    let surface_pressure = match init.text("surface_pressure").map(|t| t.value) {
        None => SurfacePressure::Known,
        Some(word) if word.eq_ignore_ascii_case("model") => SurfacePressure::Model,
        Some(name) => SurfacePressure::Variable(name.to_owned()),
    };
    FieldFile {
        file: init.text("file").and_then(|t| base.existing_file(&t, problems)).unwrap_or_default(),
        variable: named.unwrap_or_default().to_owned(),
        units: init.text("units").map(|t| t.value.to_owned()),
        record: record(init, problems),
        surface_pressure,
        vertical: init.choice_or_default("vertical"),
        vertical_order: init.choice("vertical_order").map(|order| order.value),
        negatives: negatives(init),
    }
}

fn negatives(init: &View<'_>) -> Negatives {
    if init.bool_or_default("clamp_negative") { Negatives::Clamp } else { Negatives::Keep }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::names_agree;

    #[test]
    fn every_name_stands_for_a_value() {
        names_agree::<Kind>("tracers.<name>.init", "kind");
    }
}
