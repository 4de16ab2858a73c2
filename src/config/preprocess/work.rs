//! What is done with an archive: `[grid]`, `[vertical]`, `[numerics]`, `[fluxes]`, `[mass_fix]`, `[output]`.

use std::path::PathBuf;

use serde::Deserialize;

use super::super::error::Problems;
use super::super::paths::Base;
use super::super::read::{Named, View};
use super::{DATE, Layers, PinConfig};
use crate::grid::{GeometryBundle, HybridCoordinate};
use crate::met::{FloatType, GateAction};
use crate::preprocess::{
    BalanceMode, ColumnWeights, FaceFluxes, FaceInterpolation, FaceLengths, FluxSettings, FluxTime, Preset, StepRule,
    Thickness, Transform, WindRegrid,
};

/// All tables but `[source]`.
pub(super) struct Work {
    pub nc: usize,
    pub bundle: GeometryBundle,
    pub cache: Option<PathBuf>,
    pub layers: Layers,
    pub transform: Transform,
    pub float: FloatType,
    pub windows: usize,
    pub steps: StepRule,
    pub positivity_limit: f64,
    pub on_positivity: GateAction,
    pub fluxes: FluxSettings,
    /// `face_fluxes`, if it is given.
    pub faces: Option<Faces>,
    pub balance: BalanceMode,
    pub pin: PinConfig,
    pub directory: PathBuf,
    pub pattern: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    Native,
    GeosL72,
    IfsL137,
    Smooth,
    File,
}

impl Named for Set {
    const ALL: &'static [(&'static str, Self)] = &[
        ("native", Self::Native),
        ("geos_l72", Self::GeosL72),
        ("ifs_l137", Self::IfsL137),
        ("smooth", Self::Smooth),
        ("file", Self::File),
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Merging {
    Identity,
    ByIndex,
    ThinnerThan,
    Above,
    Selection,
}

impl Named for Merging {
    const ALL: &'static [(&'static str, Self)] = &[
        ("identity", Self::Identity),
        ("merge_by_index", Self::ByIndex),
        ("merge_layers_thinner_than", Self::ThinnerThan),
        ("merge_above_pressure", Self::Above),
        ("level_selection", Self::Selection),
    ];
}

impl Named for Preset {
    const ALL: &'static [(&'static str, Self)] = &Preset::ALL;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Schedule {
    Adaptive,
    Constant,
}

impl Named for Schedule {
    const ALL: &'static [(&'static str, Self)] = &[("adaptive_cfl", Self::Adaptive), ("constant", Self::Constant)];
}

impl Named for WindRegrid {
    const ALL: &'static [(&'static str, Self)] = &[("cartesian", Self::Cartesian), ("scalar", Self::Scalar)];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Faces {
    Vector,
    PanelAverage,
    LineIntegral,
}

impl Named for Faces {
    const ALL: &'static [(&'static str, Self)] =
        &[("vector", Self::Vector), ("panel_average", Self::PanelAverage), ("line_integral", Self::LineIntegral)];
}

impl Named for FaceInterpolation {
    const ALL: &'static [(&'static str, Self)] =
        &[("fv3", Self::Fv3), ("cubic", Self::Cubic), ("linear", Self::Linear)];
}

impl Named for FaceLengths {
    const ALL: &'static [(&'static str, Self)] = &[("cell_centerline", Self::CellCenterline), ("edge", Self::Edge)];
}

impl Named for Thickness {
    const ALL: &'static [(&'static str, Self)] = &[("dry_mass", Self::Dry), ("moist", Self::Moist)];
}

impl Named for FluxTime {
    const ALL: &'static [(&'static str, Self)] =
        &[("window_mean", Self::WindowMean), ("window_start", Self::WindowStart)];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Balancing {
    Column,
    PerLayer,
    None,
}

impl Named for Balancing {
    const ALL: &'static [(&'static str, Self)] =
        &[("column", Self::Column), ("per_layer", Self::PerLayer), ("none", Self::None)];
}

impl Named for ColumnWeights {
    const ALL: &'static [(&'static str, Self)] =
        &[("hybrid_mass", Self::HybridMass), ("hybrid_b", Self::HybridB), ("mass", Self::Mass)];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pinning {
    Measured,
    Target,
    None,
}

impl Named for Pinning {
    const ALL: &'static [(&'static str, Self)] =
        &[("measured", Self::Measured), ("target_ps_dry", Self::Target), ("none", Self::None)];
}

/// Reads the tables; `None` after an error.
pub(super) fn read(root: &View<'_>, base: &Base, problems: &mut Problems) -> Option<Work> {
    let grid = root.table("grid");
    let output = root.table("output");
    let directory = output.text("directory").and_then(|text| base.resolve(&text, problems));
    let pattern = pattern(&output, problems);
    let layers = layers(&root.table("vertical"), base, problems);
    let transform = transform(&root.table("vertical"), problems);
    let numerics = root.table("numerics");
    let windows = windows(&numerics, problems);
    let steps = steps(&numerics, problems);
    let fluxes = fluxes(&root.table("fluxes"), problems);
    let balance = balance(&root.table("fluxes"), problems);
    let pin = pin(&root.table("mass_fix"), base, directory.as_ref(), problems);
    let cache = match grid.text("regridder_cache_dir") {
        Some(text) => Some(base.resolve(&text, problems)?),
        None => None,
    };
    Some(Work {
        nc: usize::try_from(grid.int("nc")?.value).ok()?,
        bundle: grid.choice_or_default("panel_convention"),
        cache,
        layers: layers?,
        transform: transform?,
        float: numerics.choice_or_default("float_type"),
        windows: windows?,
        steps: steps?,
        positivity_limit: numerics.float_or_default("positivity_cfl_limit"),
        on_positivity: match numerics.bool_or_default("require_substep_positivity") {
            true => GateAction::Refuse,
            false => GateAction::Warn,
        },
        fluxes,
        faces: root.table("fluxes").choice("face_fluxes").map(|f| f.value),
        balance,
        pin: pin?,
        directory: directory?,
        pattern: pattern?,
    })
}

/// Reports keys of the table that have no meaning with a choice.
fn only_with(view: &View<'_>, names: &[&str], meant: &str, problems: &mut Problems) {
    for (key, at) in view.given().filter(|(key, _)| names.contains(&key.name)) {
        let key = view.full(key.name);
        problems.add(&key, Some(at.span()), format!("`{key}` only has a meaning with {meant}"), "remove it");
    }
}

/// Reports the absence of a key that a choice needs.
fn needed<T>(value: Option<T>, view: &View<'_>, name: &str, choice: &str, problems: &mut Problems) -> Option<T> {
    if !view.has(name) {
        let key = view.full(name);
        problems.add(&key, view.span(), format!("`{key}` is missing"), format!("{choice} needs `{name}`"));
    }
    value
}

fn layers(view: &View<'_>, base: &Base, problems: &mut Problems) -> Option<Layers> {
    let set = view.choice_or_default::<Set>("levels");
    if set != Set::Smooth {
        only_with(view, &["n_levels", "top_pa"], "levels = \"smooth\"", problems);
    }
    if set != Set::File {
        only_with(view, &["coefficients_file"], "levels = \"file\"", problems);
    }
    Some(match set {
        Set::Native => Layers::Native,
        Set::GeosL72 => Layers::Given(HybridCoordinate::geos_l72()),
        Set::IfsL137 => Layers::Given(HybridCoordinate::ifs_l137()),
        Set::Smooth => {
            let levels = usize::try_from(view.int_or_default("n_levels")).ok()?;
            Layers::Given(HybridCoordinate::smooth(levels, view.float_or_default("top_pa")).ok()?)
        }
        Set::File => {
            let text =
                needed(view.text("coefficients_file"), view, "coefficients_file", "levels = \"file\"", problems)?;
            let path = base.existing_file(&text, problems)?;
            match coefficients(&path) {
                Ok(found) => Layers::Given(found),
                Err(problem) => {
                    let message = format!("`{}`: {}: {problem}", text.key, path.display());
                    let help = "[coefficients] holds the lists a (Pa) and b, from the model top down";
                    problems.add(&text.key, Some(text.span), message, help);
                    return None;
                }
            }
        }
    })
}

/// Coefficients of a file `[coefficients]` with `a` in Pa and `b`.
fn coefficients(path: &std::path::Path) -> Result<HybridCoordinate, String> {
    #[derive(Deserialize)]
    struct File {
        coefficients: Lists,
    }
    #[derive(Deserialize)]
    struct Lists {
        a: Vec<f64>,
        b: Vec<f64>,
    }
    let text = std::fs::read_to_string(path).map_err(|e| format!("cannot be read ({e})"))?;
    let File { coefficients: Lists { a, b } } = toml::from_str(&text).map_err(|e| e.message().to_owned())?;
    HybridCoordinate::new(a, b).map_err(|e| e.to_string())
}

fn transform(view: &View<'_>, problems: &mut Problems) -> Option<Transform> {
    let merging = view.choice_or_default::<Merging>("transform");
    let choice = format!("transform = \"{}\"", merging.name());
    let keys: [(Merging, &[&str]); 4] = [
        (Merging::ByIndex, &["merge_ends"]),
        (Merging::ThinnerThan, &["min_thickness_pa"]),
        (Merging::Above, &["threshold_pa", "merged_thickness_pa"]),
        (Merging::Selection, &["preset"]),
    ];
    for (other, names) in keys.into_iter().filter(|(other, _)| *other != merging) {
        only_with(view, names, &format!("transform = \"{}\"", other.name()), problems);
    }
    Some(match merging {
        Merging::Identity => Transform::Identity,
        Merging::ByIndex => {
            let ends = needed(view.ints("merge_ends"), view, "merge_ends", &choice, problems)?;
            let ends: Vec<usize> = ends.value.iter().map(|e| *e as usize).collect();
            let firsts = std::iter::once(1).chain(ends.iter().map(|e| e + 1));
            Transform::MergeByIndex(firsts.zip(ends.iter().copied()).collect())
        }
        Merging::ThinnerThan => {
            let least = needed(view.float("min_thickness_pa"), view, "min_thickness_pa", &choice, problems)?;
            Transform::MergeThinnerThan(least.value)
        }
        Merging::Above => {
            let threshold = needed(view.float("threshold_pa"), view, "threshold_pa", &choice, problems)?;
            let thickness = view.float("merged_thickness_pa").map_or(f64::INFINITY, |t| t.value);
            Transform::MergeAbove { threshold_pa: threshold.value, thickness_pa: thickness }
        }
        Merging::Selection => {
            Transform::Preset(needed(view.choice::<Preset>("preset"), view, "preset", &choice, problems)?.value)
        }
    })
}

fn windows(view: &View<'_>, problems: &mut Problems) -> Option<usize> {
    let seconds = view.float_or_default("dt_met_seconds");
    let windows = 86_400.0 / seconds;
    if windows.fract() == 0.0 && (1.0..=86_400.0).contains(&windows) {
        return Some(windows as usize);
    }
    let key = view.full("dt_met_seconds");
    let message = format!("`{key}`: a day is not a whole number of windows of {seconds} s");
    problems.add(&key, view.float("dt_met_seconds").map(|s| s.span), message, "e.g. 3600, 10800 or 21600");
    None
}

fn steps(view: &View<'_>, problems: &mut Problems) -> Option<StepRule> {
    let least = u32::try_from(view.int_or_default("min_steps_per_window")).ok()?;
    let most = u32::try_from(view.int_or_default("max_steps_per_window")).ok()?;
    let target = view.float_or_default("substep_cfl_target");
    if view.choice_or_default::<Schedule>("substep_schedule") == Schedule::Constant {
        only_with(
            view,
            &["max_steps_per_window", "substep_cfl_target"],
            "substep_schedule = \"adaptive_cfl\"",
            problems,
        );
        needed(
            view.int("min_steps_per_window"),
            view,
            "min_steps_per_window",
            "substep_schedule = \"constant\"",
            problems,
        )?;
        return Some(StepRule { least, most: least, target: 1.0 });
    }
    if most < least {
        let key = view.full("max_steps_per_window");
        let message = format!("`{key}` = {most} is below `{}` = {least}", view.full("min_steps_per_window"));
        problems.add(&key, view.int("max_steps_per_window").map(|n| n.span), message, "exchange them");
        return None;
    }
    let limit = view.float_or_default("positivity_cfl_limit");
    if target > limit {
        let key = view.full("substep_cfl_target");
        let message = format!("`{key}` = {target} lies above `{}` = {limit}", view.full("positivity_cfl_limit"));
        problems.add(&key, view.float("substep_cfl_target").map(|n| n.span), message, "lower it");
        return None;
    }
    Some(StepRule { least, most, target })
}

fn fluxes(view: &View<'_>, problems: &mut Problems) -> FluxSettings {
    let faces = match view.choice_or_default::<Faces>("face_fluxes") {
        Faces::Vector => {
            only_with(view, &["face_lengths"], "face_fluxes = \"panel_average\"", problems);
            FaceFluxes::Vector(view.choice_or_default("face_interpolation"))
        }
        Faces::PanelAverage => {
            only_with(view, &["face_interpolation"], "face_fluxes = \"vector\"", problems);
            FaceFluxes::PanelAverage(view.choice_or_default("face_lengths"))
        }
        Faces::LineIntegral => {
            only_with(view, &["face_interpolation"], "face_fluxes = \"vector\"", problems);
            only_with(view, &["face_lengths"], "face_fluxes = \"panel_average\"", problems);
            FaceFluxes::Vector(view.choice_or_default("face_interpolation"))
        }
    };
    FluxSettings {
        wind_regrid: view.choice_or_default("wind_regrid"),
        faces,
        thickness: view.choice_or_default("flux_thickness"),
        time: view.choice_or_default("flux_time_sampling"),
    }
}

fn balance(view: &View<'_>, problems: &mut Problems) -> BalanceMode {
    let mode = view.choice_or_default::<Balancing>("balance_mode");
    if mode != Balancing::Column {
        only_with(view, &["column_balance_weights"], "balance_mode = \"column\"", problems);
    }
    match mode {
        Balancing::Column => BalanceMode::Column(view.choice_or_default("column_balance_weights")),
        Balancing::PerLayer => BalanceMode::PerLayer,
        Balancing::None => BalanceMode::None,
    }
}

fn pin(view: &View<'_>, base: &Base, directory: Option<&PathBuf>, problems: &mut Problems) -> Option<PinConfig> {
    let mode = view.choice_or_default::<Pinning>("mode");
    if mode != Pinning::Measured {
        only_with(view, &["campaign_file"], "mode = \"measured\"", problems);
    }
    if mode != Pinning::Target {
        only_with(view, &["target_ps_dry_pa", "target_total_kg"], "mode = \"target_ps_dry\"", problems);
    }
    Some(match mode {
        Pinning::None => PinConfig::Off,
        Pinning::Measured => PinConfig::Measured(match view.text("campaign_file") {
            Some(text) => base.resolve(&text, problems)?,
            None => directory?.join("campaign.toml"),
        }),
        Pinning::Target => match (view.float("target_ps_dry_pa"), view.float("target_total_kg")) {
            (Some(pressure), None) => PinConfig::Pressure(pressure.value),
            (None, Some(mass)) => PinConfig::Mass(mass.value),
            (given, _) => {
                let key = view.full("target_ps_dry_pa");
                let both = format!("`{key}` and `{}` are both given", view.full("target_total_kg"));
                let message = if given.is_some() { both } else { format!("`{key}` is missing") };
                problems.add(&key, view.span(), message, "give one of `target_ps_dry_pa` and `target_total_kg`");
                return None;
            }
        },
    })
}

/// Name of a day's file: absent, or with the date once.
fn pattern(view: &View<'_>, problems: &mut Problems) -> Option<Option<String>> {
    let Some(text) = view.text("file_pattern") else { return Some(None) };
    let name = text.value;
    if name.matches(DATE).count() == 1 && !name.contains(['/', '\\']) {
        return Some(Some(name.to_owned()));
    }
    let message = format!("`{}` must be the name of a file with `{DATE}` exactly once", text.key);
    problems.add(&text.key, Some(text.span), message, format!("e.g. \"winds_{DATE}.bin\""));
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::names_agree;

    #[test]
    fn every_name_stands_for_a_value() {
        names_agree::<Set>("met:vertical", "levels");
        names_agree::<Merging>("met:vertical", "transform");
        names_agree::<Preset>("met:vertical", "preset");
        names_agree::<FloatType>("met:numerics", "float_type");
        names_agree::<Schedule>("met:numerics", "substep_schedule");
        names_agree::<GeometryBundle>("met:grid", "panel_convention");
        names_agree::<WindRegrid>("met:fluxes", "wind_regrid");
        names_agree::<Faces>("met:fluxes", "face_fluxes");
        names_agree::<FaceInterpolation>("met:fluxes", "face_interpolation");
        names_agree::<FaceLengths>("met:fluxes", "face_lengths");
        names_agree::<Thickness>("met:fluxes", "flux_thickness");
        names_agree::<FluxTime>("met:fluxes", "flux_time_sampling");
        names_agree::<Balancing>("met:fluxes", "balance_mode");
        names_agree::<ColumnWeights>("met:fluxes", "column_balance_weights");
        names_agree::<Pinning>("met:mass_fix", "mode");
    }
}
