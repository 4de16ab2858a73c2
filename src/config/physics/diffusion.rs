//! `[diffusion]`.

use super::place;
use crate::config::error::Problems;
use crate::config::read::{Named, View};
use crate::operators::columns::{Centre, Diffusion, DiffusivityProfile, ExchangeSource, KzUpdate};

/// Where the exchange comes from, without the values that go with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    None,
    Constant,
    Profile,
    BeljaarsViterbo,
    HoltslagBovilleLocal,
    NonlocalVdiff,
    Dkg,
}

impl Named for Kind {
    const ALL: &'static [(&'static str, Self)] = &[
        ("none", Self::None),
        ("constant", Self::Constant),
        ("profile", Self::Profile),
        ("tm5_beljaars_viterbo_local_kz", Self::BeljaarsViterbo),
        ("geoschem_holtslag_boville_vdiff", Self::HoltslagBovilleLocal),
        ("geoschem_nonlocal_vdiff", Self::NonlocalVdiff),
        ("tm5_dkg", Self::Dkg),
    ];
}

impl Named for KzUpdate {
    const ALL: &'static [(&'static str, Self)] =
        &[("flux", Self::Flux), ("mass_space", Self::MassSpace), ("matrix", Self::Matrix)];
}

/// The kind of a source of exchange.
pub(super) fn kind_of(source: &ExchangeSource) -> Kind {
    match source {
        ExchangeSource::Constant(_) => Kind::Constant,
        ExchangeSource::Profile(_) => Kind::Profile,
        ExchangeSource::BeljaarsViterbo => Kind::BeljaarsViterbo,
        ExchangeSource::HoltslagBovilleLocal => Kind::HoltslagBovilleLocal,
        ExchangeSource::NonlocalVdiff => Kind::NonlocalVdiff,
        ExchangeSource::Dkg => Kind::Dkg,
    }
}

pub(super) fn summary(diffusion: &Diffusion) -> String {
    let values = match &diffusion.source {
        ExchangeSource::Constant(value) => format!(" {value} m2 s-1"),
        ExchangeSource::Profile(DiffusivityProfile::Layers(kz)) => format!(" {kz:?} m2 s-1 by level"),
        ExchangeSource::Profile(DiffusivityProfile::Heights { z, kz }) => format!(" {kz:?} m2 s-1 at {z:?} m"),
        _ => String::new(),
    };
    let centre = match diffusion.centre {
        Centre::DiffuseEmitDiffuse => "half before and half after emissions",
        Centre::EmitThenDiffuse => "after emissions",
    };
    format!("{}{values}; {}; {centre}", kind_of(&diffusion.source).name(), diffusion.update.name())
}

pub(super) fn read(view: &View<'_>, problems: &mut Problems) -> Option<Diffusion> {
    // A kind that is absent or refused has been reported; its keys are not judged.
    let kind = view.choice::<Kind>("kind")?.value;
    view.misplaced("kind", kind.name(), problems);
    let source = match kind {
        Kind::None => return None,
        Kind::Constant => ExchangeSource::Constant(view.float_or_default("value")),
        Kind::Profile => ExchangeSource::Profile(profile(view, problems)),
        Kind::BeljaarsViterbo => ExchangeSource::BeljaarsViterbo,
        Kind::HoltslagBovilleLocal => ExchangeSource::HoltslagBovilleLocal,
        Kind::NonlocalVdiff => ExchangeSource::NonlocalVdiff,
        Kind::Dkg => ExchangeSource::Dkg,
    };
    Some(Diffusion { source, update: update(view, kind, problems), centre: centre(view, kind, problems) })
}

fn profile(view: &View<'_>, problems: &mut Problems) -> DiffusivityProfile {
    let (kz, z) = (view.floats("kz"), view.floats("z"));
    let Some(kz) = kz else {
        if !view.has("kz") {
            let key = view.full("kz");
            let help = "kind \"profile\" needs `kz`: one diffusivity per level, or per height of `z`";
            problems.add(&key, view.span(), format!("`{key}` is missing"), help);
        }
        return DiffusivityProfile::Layers(Vec::new());
    };
    if kz.value.is_empty() {
        let help = "give one diffusivity per level, or per height of `z`";
        problems.add(&kz.key, Some(kz.span.clone()), format!("`{}` must not be empty", kz.key), help);
    }
    let Some(z) = z else { return DiffusivityProfile::Layers(kz.value) };
    if z.value.len() != kz.value.len() {
        let message = format!("`{}` has {} values, but `{}` has {}", z.key, z.value.len(), kz.key, kz.value.len());
        problems.add(&z.key, Some(z.span.clone()), message, "give one height for every diffusivity");
    }
    if let Some(pair) = z.value.windows(2).find(|pair| pair[1] <= pair[0]) {
        let message = format!("`{}` must increase, but {} follows {}", z.key, pair[1], pair[0]);
        problems.add(&z.key, Some(z.span), message, "list heights from the surface up, each once");
    }
    DiffusivityProfile::Heights { z: z.value, kz: kz.value }
}

/// `kz_update`; exchange that is not made of a diffusivity has a single form.
fn update(view: &View<'_>, kind: Kind, problems: &mut Problems) -> KzUpdate {
    let Some(update) = view.choice::<KzUpdate>("kz_update") else { return KzUpdate::MassSpace };
    if matches!(kind, Kind::NonlocalVdiff | Kind::Dkg) && update.value != KzUpdate::MassSpace {
        let message =
            format!("`{} = \"{}\"` does not exist for kind \"{}\"", update.key, update.value.name(), kind.name());
        problems.add(&update.key, Some(update.span), message, "remove it, or write \"mass_space\"");
    }
    update.value
}

fn centre(view: &View<'_>, kind: Kind, problems: &mut Problems) -> Centre {
    let boundary = view.bool("surface_flux_boundary");
    if kind == Kind::NonlocalVdiff {
        if let Some(given) = boundary.filter(|given| !given.value) {
            let message = format!("`{} = false` is not possible with kind \"{}\"", given.key, kind.name());
            let help = "remove it: the scheme lofts what was emitted just before";
            problems.add(given.key, place(view, "surface_flux_boundary"), message, help);
        }
        return Centre::EmitThenDiffuse;
    }
    match boundary {
        Some(given) if given.value => Centre::EmitThenDiffuse,
        _ => Centre::DiffuseEmitDiffuse,
    }
}
