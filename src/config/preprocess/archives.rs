//! `[source]` of archives in folders by date, and what they ask of the other tables.

use std::path::PathBuf;

use super::super::error::Problems;
use super::super::paths::Base;
use super::super::read::{Named, View};
use super::SourceConfig;
use super::work::{Faces, Work};
use crate::grid::GeometryBundle;
use crate::preprocess::FluxTime;
use crate::preprocess::readers::era5::{Era5Faces, Era5Source};
use crate::preprocess::readers::geos::{GeosProduct, GeosSource};
use crate::preprocess::readers::merra2::{Merra2Layout, Merra2Source};
use crate::preprocess::readers::{NextDay, PhysicsGroup};

impl Named for Merra2Layout {
    const ALL: &'static [(&'static str, Self)] = &[("geoschem", Self::GeosChem), ("nasa", Self::Nasa)];
}

/// Keys of `[fluxes]` that tell how winds become fluxes.
const WIND_KEYS: [&str; 6] =
    ["wind_regrid", "face_fluxes", "face_interpolation", "face_lengths", "flux_thickness", "flux_time_sampling"];

/// Keys of `[source]` that ask for physics, with their groups.
const PHYSICS_KEYS: [(&str, PhysicsGroup); 4] = [
    ("include_surface", PhysicsGroup::Surface),
    ("include_convection", PhysicsGroup::Convection),
    ("include_vdiff_fields", PhysicsGroup::Vdiff),
    ("include_tm5_diffusion", PhysicsGroup::Tm5Exchange),
];

/// The folder of the archive.
fn directory(view: &View<'_>, kind: &str, base: &Base, problems: &mut Problems) -> Option<PathBuf> {
    match view.text("directory") {
        Some(text) => base.existing_folder(&text, problems),
        None => {
            let key = view.full("directory");
            let help = format!("kind \"{kind}\" needs the folder of the archive");
            problems.add(&key, view.span(), format!("`{key}` is missing"), help);
            None
        }
    }
}

fn physics(view: &View<'_>) -> Vec<PhysicsGroup> {
    PHYSICS_KEYS.into_iter().filter(|(key, _)| view.bool_or_default(key)).map(|(_, group)| group).collect()
}

fn next_day(view: &View<'_>) -> NextDay {
    match view.bool_or_default("allow_terminal_zero_tendency") {
        true => NextDay::ZeroTendency,
        false => NextDay::Required,
    }
}

/// Reads `[source]` of MERRA-2.
pub(super) fn merra2(view: &View<'_>, base: &Base, problems: &mut Problems) -> Option<Merra2Source> {
    let layout = view.choice_or_default::<Merra2Layout>("layout");
    let root = directory(view, "merra2", base, problems);
    if layout == Merra2Layout::Nasa {
        for (name, _) in PHYSICS_KEYS.into_iter().filter(|(name, _)| view.bool_or_default(name)) {
            let key = view.full(name);
            let message = format!("`{key}`: the files of layout = \"nasa\" have winds only");
            problems.add(&key, view.bool(name).map(|b| b.span), message, "choose layout = \"geoschem\", or remove it");
        }
    }
    Some(Merra2Source {
        root: root?,
        layout,
        order: view.choice_or_default("level_order"),
        physics: physics(view),
        next_day: next_day(view),
    })
}

/// Reads `[source]` of GEOS-IT or GEOS-FP.
pub(super) fn geos(view: &View<'_>, product: GeosProduct, base: &Base, problems: &mut Problems) -> Option<GeosSource> {
    let root = directory(view, product.name(), base, problems);
    let physics_root = match view.text("physics_directory") {
        Some(text) => base.existing_folder(&text, problems),
        None => root.clone(),
    };
    let nc = view.int("source_nc").map_or(Some(product.usual_nc()), |nc| usize::try_from(nc.value).ok());
    Some(GeosSource {
        product,
        root: root?,
        physics_root: physics_root?,
        nc: nc?,
        order: view.choice_or_default("level_order"),
        physics: physics(view),
    })
}

/// Reads `[source]` of ERA5.
pub(super) fn era5(view: &View<'_>, base: &Base, problems: &mut Problems) -> Option<Era5Source> {
    let root = directory(view, "era5", base, problems);
    let physics_root = match view.text("physics_directory") {
        Some(text) => base.existing_folder(&text, problems),
        None => root.clone(),
    };
    Some(Era5Source {
        root: root?,
        physics_root: physics_root?,
        faces: Era5Faces::LineIntegral,
        physics: physics(view),
        next_day: next_day(view),
    })
}

/// How winds of ERA5 become fluxes.
pub(super) fn era5_faces(work: &Work) -> Era5Faces {
    match work.faces {
        None | Some(Faces::LineIntegral) => Era5Faces::LineIntegral,
        Some(Faces::Vector | Faces::PanelAverage) => Era5Faces::CellMeans,
    }
}

/// What an archive asks of the other tables.
pub(super) fn check(source: &SourceConfig, work: &Work, root: &View<'_>, problems: &mut Problems) {
    let (numerics, fluxes) = (root.table("numerics"), root.table("fluxes"));
    if work.faces == Some(Faces::LineIntegral) && !matches!(source, SourceConfig::Era5(_)) {
        let key = fluxes.full("face_fluxes");
        let message = format!("`{key}` = \"line_integral\" does not fit kind \"{}\"", source.kind());
        problems.add(&key, fluxes.span(), message, "choose \"vector\", or kind \"era5\"");
    }
    let mut windows = |allowed: &[usize]| {
        if !allowed.contains(&work.windows) {
            let key = numerics.full("dt_met_seconds");
            let lengths: Vec<_> = allowed.iter().map(|n| (86_400 / n).to_string()).collect();
            let message =
                format!("`{key}` = {} does not fit kind \"{}\"", 86_400.0 / work.windows as f64, source.kind());
            let span = numerics.float("dt_met_seconds").map(|x| x.span);
            problems.add(&key, span, message, format!("its windows are {} s long", lengths.join(" or ")));
        }
    };
    match source {
        SourceConfig::Gridded(_) => {}
        SourceConfig::Era5(_) => windows(&[1, 2, 3, 4, 6, 8, 12, 24]),
        SourceConfig::Merra2(_) => {
            windows(&[8, 24]);
            if work.fluxes.time == FluxTime::WindowStart {
                let key = fluxes.full("flux_time_sampling");
                let message =
                    format!("`{key}` = \"window_start\" does not fit: the winds of MERRA-2 are means over 3 h");
                problems.add(&key, fluxes.span(), message, "remove it");
            }
        }
        SourceConfig::Geos(geos) => {
            windows(&[24]);
            for name in WIND_KEYS.into_iter().filter(|name| fluxes.has(name)) {
                let key = fluxes.full(name);
                let message = format!("`{key}` has no meaning with kind \"{}\", which holds fluxes", source.kind());
                problems.add(&key, fluxes.span(), message, "remove it");
            }
            let grid = root.table("grid");
            if work.bundle != GeometryBundle::GeosNative {
                let key = grid.full("panel_convention");
                let message = format!("`{key}`: the cells of kind \"{}\" are those of GEOS", source.kind());
                problems.add(&key, grid.span(), message, "write panel_convention = \"geos_native\"");
            }
            if !geos.nc.is_multiple_of(work.nc) {
                let key = grid.full("nc");
                let message = format!("`{key}` = {}: cells of C{} cannot be put together to C{0}", work.nc, geos.nc);
                let divisors: Vec<_> =
                    (1..=16).filter(|r| geos.nc.is_multiple_of(*r)).map(|r| (geos.nc / r).to_string()).collect();
                problems.add(&key, grid.int("nc").map(|n| n.span), message, format!("e.g. {}", divisors.join(", ")));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::names_agree;

    #[test]
    fn every_name_stands_for_a_value() {
        names_agree::<Merra2Layout>("met:source", "layout");
    }
}
