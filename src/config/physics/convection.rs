//! `[convection]`.

use kernels::columns::convection::cmfmc::{BaseExchange, CloudBase, CmfmcOptions, Negative, Update};
use kernels::columns::convection::tm5::{Solve, Tm5Options};

use super::place;
use crate::config::error::Problems;
use crate::config::read::{Named, View};
use crate::operators::columns::{Convection, DeviceFactors, ImplicitConvection};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    None,
    Tm5,
    Cmfmc,
    CmfmcMatrix,
}

impl Named for Kind {
    const ALL: &'static [(&'static str, Self)] =
        &[("none", Self::None), ("tm5", Self::Tm5), ("cmfmc", Self::Cmfmc), ("cmfmc_matrix", Self::CmfmcMatrix)];
}

impl Named for CloudBase {
    const ALL: &'static [(&'static str, Self)] =
        &[("cmfmc", Self::CloudFlux), ("dqrcu", Self::Archived), ("none", Self::None)];
}

impl Named for BaseExchange {
    const ALL: &'static [(&'static str, Self)] = &[("conservative", Self::BeforePlume), ("geoschem", Self::WithPlume)];
}

impl Named for Update {
    const ALL: &'static [(&'static str, Self)] = &[("mass_flux", Self::MassFlux), ("mixing_ratio", Self::MixingRatio)];
}

impl Named for Solve {
    const ALL: &'static [(&'static str, Self)] = &[("delta", Self::Delta), ("plain", Self::Plain)];
}

pub(super) fn kind_of(convection: &Convection) -> Kind {
    match convection {
        Convection::Tm5(_) => Kind::Tm5,
        Convection::Cmfmc(_) => Kind::Cmfmc,
        Convection::CmfmcMatrix(_) => Kind::CmfmcMatrix,
    }
}

pub(super) fn summary(convection: &Convection) -> String {
    let kind = kind_of(convection).name();
    match convection {
        Convection::Cmfmc(options) => {
            let clamp = match options.negative {
                Negative::Kept => "",
                Negative::Clamped => "; clamped",
            };
            let (base, exchange) = (options.cloud_base.name(), options.exchange.name());
            format!("{kind}; cloud base {base}, exchange {exchange}; {}{clamp}", options.update.name())
        }
        Convection::Tm5(implicit) | Convection::CmfmcMatrix(implicit) => {
            let Tm5Options { solve, lmax_conv, n_merge } = implicit.options;
            let lowest = if lmax_conv == 0 { String::new() } else { format!("; lowest {lmax_conv} levels") };
            let merged = if n_merge == 1 { String::new() } else { format!("; {n_merge} levels merged") };
            format!("{kind}; {}{lowest}{merged}", solve.name())
        }
    }
}

pub(super) fn read(view: &View<'_>, problems: &mut Problems) -> Option<Convection> {
    // A kind that is absent or refused has been reported; its keys are not judged.
    let kind = view.choice::<Kind>("kind")?.value;
    view.misplaced("kind", kind.name(), problems);
    match kind {
        Kind::None => None,
        Kind::Tm5 => Some(Convection::Tm5(implicit(view, problems))),
        Kind::CmfmcMatrix => Some(Convection::CmfmcMatrix(implicit(view, problems))),
        Kind::Cmfmc => Some(Convection::Cmfmc(CmfmcOptions {
            cloud_base: view.choice_or_default("cloud_base"),
            exchange: view.choice_or_default("cloud_base_exchange"),
            update: view.choice_or_default("update"),
            negative: if view.bool_or_default("clamp") { Negative::Clamped } else { Negative::Kept },
        })),
    }
}

fn implicit(view: &View<'_>, problems: &mut Problems) -> ImplicitConvection {
    let collaborative = view.bool("use_collab_lu").map(|flag| flag.value);
    if collaborative != Some(true) {
        for (name, neutral) in [("lmax_conv", 0), ("n_merge", 1)] {
            if let Some(given) = view.int(name).filter(|given| given.value != neutral) {
                let message = format!("`{} = {}` needs `use_collab_lu = true`", given.key, given.value);
                let help = "it leaves out detail of the scheme: remove it, or write `use_collab_lu = true`";
                problems.add(given.key, place(view, name), message, help);
            }
        }
    }
    let count = |name| usize::try_from(view.int_or_default(name)).unwrap_or(usize::MAX);
    ImplicitConvection {
        options: Tm5Options {
            solve: view.choice_or_default("solve"),
            lmax_conv: count("lmax_conv"),
            n_merge: count("n_merge"),
        },
        factors: match collaborative {
            Some(false) => DeviceFactors::OneByOne,
            Some(true) | None => DeviceFactors::Collaborative,
        },
        workspace_gib: view.float_or_default("tile_workspace_gib"),
    }
}
