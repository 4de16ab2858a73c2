//! `[tracers.<name>.surface_flux]`.

use std::path::{Path, PathBuf};

use super::error::Problems;
use super::paths::Base;
use super::read::{At, Named, View};
use super::{inventories, source_files};
use crate::sources::{Conversion, Injection, Inventory, InventoryKind, NativeFiles, TimeScheme};

/// One source of a tracer.
#[derive(Debug, Clone, PartialEq)]
pub struct EmissionConfig {
    /// What is emitted.
    pub source: EmissionSource,
    /// Layers that it enters.
    pub injection: Injection,
}

/// What a source emits.
#[derive(Debug, Clone, PartialEq)]
pub enum EmissionSource {
    /// The same everywhere and always.
    Uniform {
        /// Flux before scaling, kg of the species m⁻² s⁻¹; negative: uptake.
        density: f64,
        /// Scale and molar mass.
        conversion: Conversion,
    },
    /// Files on the run's own grid.
    Native(NativeFiles),
    /// Files on a longitude-latitude grid.
    Inventory(Inventory),
}

impl EmissionSource {
    /// Molar mass of what is emitted, kg mol⁻¹.
    pub fn molar_mass(&self) -> f64 {
        match self {
            Self::Uniform { conversion, .. } => conversion.molar_mass(),
            Self::Native(native) => native.conversion.molar_mass(),
            Self::Inventory(inventory) => inventory.conversion.molar_mass(),
        }
    }

    /// Its files in the order of their times; none for a formula.
    pub fn files(&self) -> Vec<&Path> {
        match self {
            Self::Uniform { .. } => Vec::new(),
            Self::Native(native) => native.files.iter().map(PathBuf::as_path).collect(),
            Self::Inventory(inventory) => inventory.files.iter().map(|file| file.path.as_path()).collect(),
        }
    }
}

impl EmissionConfig {
    /// The source in words.
    pub fn summary(&self) -> String {
        let source = match &self.source {
            EmissionSource::Uniform { density, conversion } => {
                format!("uniform {:e} kg m-2 s-1", density * conversion.scale())
            }
            EmissionSource::Native(native) => {
                let what = format!("cs_native {}", native.variable);
                of_files(&what, native.files.iter(), &native.conversion, native.scheme.name())
            }
            EmissionSource::Inventory(inventory) => {
                let names = inventory.variables.join(" + ");
                let what = if names.is_empty() {
                    inventory.kind.name().to_owned()
                } else {
                    format!("{} {names}", inventory.kind.name())
                };
                let files = inventory.files.iter().map(|file| &file.path);
                of_files(&what, files, &inventory.conversion, &inventories::times(inventory))
            }
        };
        match &self.injection {
            Injection::Surface => source,
            Injection::Heights { bottom, top } => format!("{source}, from {bottom} to {top} m"),
            Injection::Levels(_) => format!("{source}, by weights of levels"),
        }
    }
}

/// A source in words: what of which files, times what, acting when.
fn of_files<'a>(
    what: &str,
    files: impl ExactSizeIterator<Item = &'a PathBuf>,
    conversion: &Conversion,
    when: &str,
) -> String {
    let more = if files.len() > 1 { format!(" and {} more", files.len() - 1) } else { String::new() };
    let name = files.take(1).filter_map(|file| file.file_name()).collect::<std::ffi::OsString>();
    let scale = conversion.scale();
    let scaled = if scale == 1.0 { String::new() } else { format!(" times {scale}") };
    format!("{what} of {}{more}{scaled}, {when}", name.display())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    None,
    Uniform,
    CsNative,
    Inventory(InventoryKind),
}

impl Named for Kind {
    const ALL: &'static [(&'static str, Self)] = &[
        ("none", Self::None),
        ("uniform", Self::Uniform),
        ("cs_native", Self::CsNative),
        ("file", Self::Inventory(InventoryKind::File)),
        ("lmdz_co2", Self::Inventory(InventoryKind::LmdzCo2)),
        ("gridfed_fossil_co2", Self::Inventory(InventoryKind::GridfedFossilCo2)),
        ("edgar_sf6", Self::Inventory(InventoryKind::EdgarSf6)),
        ("zhang_rn222", Self::Inventory(InventoryKind::ZhangRn222)),
        ("carbontracker", Self::Inventory(InventoryKind::CarbonTracker)),
    ];
}

impl Named for TimeScheme {
    const ALL: &'static [(&'static str, Self)] =
        &[("stepwise", Self::Stepwise), ("linear", Self::Linear), ("conservative", Self::Conservative)];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InjectionKind {
    Heights,
    Levels,
}

impl Named for InjectionKind {
    const ALL: &'static [(&'static str, Self)] = &[("heights", Self::Heights), ("levels", Self::Levels)];
}

const SECTION: &str = "tracers.<name>.surface_flux";
const FLAT: &str = "surface_flux_";

/// What sources of a tracer need to know besides their own tables.
pub(super) struct Surroundings<'a> {
    /// Folder of relative paths.
    pub(super) base: &'a Base,
    /// Year in which the run starts, where the configuration tells.
    pub(super) year: Option<i16>,
    /// Molar mass of the tracer in kg/mol, if it is known.
    pub(super) molar_mass: Option<f64>,
    /// What moves the tracers.
    pub(super) transport: Transport,
}

/// Whether a run has what sources act between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    /// There are sweeps.
    Sweeps,
    /// There are none.
    None,
}

/// Reads the sources of the tracer whose table `tracer` is.
pub(super) fn read(tracer: &View<'_>, around: &Surroundings<'_>, problems: &mut Problems) -> Vec<EmissionConfig> {
    let flat = tracer.prefixed(SECTION, FLAT);
    let mut tables = tracer.tables("surface_flux");
    if let Some((_, at)) = flat.given().next() {
        if tracer.has("surface_flux") {
            let written = tracer.full(at.get_ref());
            let message = format!("`{written}` and [{}] both describe a source", tracer.full("surface_flux"));
            problems.add(written, Some(at.span()), message, "move the key into the table, without `surface_flux_`");
        } else {
            tables.push(flat);
        }
    }
    tables.iter().filter_map(|view| one(view, tracer, around, problems)).collect()
}

/// The tables of the sources of the tracer whose table `tracer` is, those of kind none aside: in the order of
/// [`EmissionConfig`] once the configuration is accepted.
pub(super) fn acting<'a>(tracer: &View<'a>) -> Vec<View<'a>> {
    let mut tables = tracer.tables("surface_flux");
    tables.push(tracer.prefixed(SECTION, FLAT));
    tables.retain(|view| view.choice::<Kind>("kind").is_some_and(|kind| kind.value != Kind::None));
    tables
}

fn one(
    view: &View<'_>,
    tracer: &View<'_>,
    around: &Surroundings<'_>,
    problems: &mut Problems,
) -> Option<EmissionConfig> {
    let kind = view.choice::<Kind>("kind");
    // A kind that was refused has been reported; its keys are not judged.
    if view.has("kind") && kind.is_none() {
        return None;
    }
    let kind = kind.map_or(Kind::None, |kind| kind.value);
    view.misplaced("kind", kind.name(), problems);
    if kind == Kind::None {
        return None;
    }
    let span = || view.span().or_else(|| tracer.span());
    if around.transport == Transport::None {
        let key = view.full("kind");
        let message = format!("`{key}`: sources need advection, but `advection.scheme` is \"none\"");
        problems.add(key, span(), message, "choose another scheme, or remove the source");
    }
    let mass = view.float("molar_mass_kg_mol").map(|mass| mass.value).or(around.molar_mass);
    if mass.is_none() && !view.has("molar_mass_kg_mol") && !tracer.has("molar_mass_kg_mol") {
        let key = tracer.full("molar_mass_kg_mol");
        let message = format!("`{key}` is missing: sources need the molar mass, and that of this tracer is not known");
        problems.add(key, span(), message, "give it in kg/mol");
    }
    let conversion = Conversion::new(view.float_or_default("scale"), mass.unwrap_or(1.0));
    let injection = injection(&view.table("injection"), problems);
    let source = match kind {
        Kind::None => return None,
        Kind::Uniform => {
            let density = required(view.float("rate"), view, "rate", kind, tracer, problems);
            EmissionSource::Uniform { density: density?, conversion: conversion.ok()? }
        }
        Kind::CsNative => {
            let variable = required(view.text("variable"), view, "variable", kind, tracer, problems);
            let files = source_files::read(view, tracer, around, problems);
            source_files::refuse_year(view, problems);
            if let Some(given) = view.bool("time_varying").filter(|given| !given.value) {
                let message = format!("`{} = false` is not possible with kind \"{}\"", given.key, kind.name());
                problems.add(given.key, Some(given.span), message, "remove it; a file with one slice is constant");
            }
            let scheme = view.choice_or_default("temporal_scheme");
            let (variable, files) = (variable?.to_owned(), files.into_iter().map(|file| file.path).collect());
            EmissionSource::Native(NativeFiles { files, variable, scheme, conversion: conversion.ok()? })
        }
        Kind::Inventory(of) => {
            let inventory = inventories::read(of, view, tracer, around, conversion.ok(), problems);
            EmissionSource::Inventory(inventory?)
        }
    };
    Some(EmissionConfig { source, injection: injection? })
}

/// The value of a key that the kind needs; reports its absence.
pub(super) fn required<T>(
    value: Option<At<T>>,
    view: &View<'_>,
    name: &str,
    kind: Kind,
    tracer: &View<'_>,
    problems: &mut Problems,
) -> Option<T> {
    if !view.has(name) {
        let key = view.full(name);
        let span = view.span().or_else(|| tracer.span());
        let help = format!("kind \"{}\" needs `{name}`", kind.name());
        problems.add(&key, span, format!("`{key}` is missing"), help);
    }
    value.map(|value| value.value)
}

/// The layers of a source; `None` after an error.
fn injection(view: &View<'_>, problems: &mut Problems) -> Option<Injection> {
    if !view.present() {
        return Some(Injection::Surface);
    }
    let kind = view.choice::<InjectionKind>("kind")?.value;
    view.misplaced("kind", kind.name(), problems);
    let needed = match kind {
        InjectionKind::Heights => "z_top",
        InjectionKind::Levels => "weights",
    };
    if !view.has(needed) {
        let key = view.full(needed);
        let help = format!("kind \"{}\" needs `{needed}`", kind.name());
        problems.add(&key, view.span(), format!("`{key}` is missing"), help);
        return None;
    }
    let found = match kind {
        InjectionKind::Heights => Injection::by_heights(view.float_or_default("z_bottom"), view.float(needed)?.value),
        InjectionKind::Levels => {
            let weights = view.floats(needed)?.value;
            Injection::by_levels(&weights, weights.len())
        }
    };
    found
        .map_err(|error| {
            let help = match kind {
                InjectionKind::Heights => "heights above the surface in m, the lower one first",
                InjectionKind::Levels => "one weight per level, from the top down",
            };
            problems.add(view.full(needed), view.span(), format!("`{}`: {error}", view.full(needed)), help);
        })
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::names_agree;

    #[test]
    fn every_name_stands_for_a_value() {
        names_agree::<Kind>(SECTION, "kind");
        names_agree::<Kind>("tracers.<name>", "surface_flux_kind");
        names_agree::<TimeScheme>(SECTION, "temporal_scheme");
        names_agree::<TimeScheme>("tracers.<name>", "surface_flux_temporal_scheme");
        names_agree::<InjectionKind>("tracers.<name>.surface_flux.injection", "kind");
    }
}
