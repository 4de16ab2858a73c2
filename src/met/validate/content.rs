//! Substep schedule, flux balance, and the agreement of flags and sections.

use serde_json::Value;

use super::Rules;
use super::layout::Grid;
use crate::met::schema::{FluxKind, MassBasis, normalise};
use crate::met::section::{GROUPS, Section};

/// Allowed relative error of the stored balance scales.
const SCALE_TOLERANCE: f64 = 8.0 * f64::EPSILON;

/// Flux contract that the balance keys follow from.
pub(super) struct Timing {
    pub(super) steps: Vec<u32>,
    pub(super) kind: FluxKind,
}

/// Semantics sentence of the balance target.
pub(in crate::met) fn balance_semantics(kind: FluxKind, variable: bool) -> &'static str {
    match (kind, variable) {
        (FluxKind::FullWindowMassAmount, _) => "forward_window_mass_difference",
        (FluxKind::SubstepMassAmount, false) => "forward_window_mass_difference / (2 * steps_per_window)",
        (FluxKind::SubstepMassAmount, true) => "forward_window_mass_difference / (2 * steps_per_window_by_window[win])",
    }
}

/// Balance scale of a window with `steps` substeps.
pub(in crate::met) fn balance_scale(kind: FluxKind, steps: u32) -> f64 {
    match kind {
        FluxKind::FullWindowMassAmount => 1.0,
        FluxKind::SubstepMassAmount => 1.0 / (2.0 * f64::from(steps)),
    }
}

/// Keys describing the content of optional sections: key, word when stored, section.
pub(in crate::met) const PAYLOAD_WORDS: &[(&str, &str, Section)] = &[
    ("surface_payload", "pbl_raw_v2", Section::Pblh),
    ("gchp_vdiff_payload", "u_v_t_qv_layer_center_v1", Section::VdiffU),
    ("precomputed_dkg_payload", "tm5_bldiff_interface_dkg_dry_v1", Section::Dkg),
    ("cmfmc_cloud_base_payload", "top_down_layer_index_v1", Section::CmfmcCloudBase),
];

impl Rules<'_> {
    pub(super) fn timing(&mut self, grid: Option<&Grid>) -> Option<Timing> {
        let kind = self.word("flux_kind", FluxKind::TAGS, FluxKind::from_tag);
        let key = "steps_per_window_by_window";
        let stored = self.list(key, |v| v.as_u64().filter(|n| *n > 0))?;
        let Ok(steps) = stored.iter().map(|n| u32::try_from(*n)).collect::<Result<Vec<u32>, _>>() else {
            self.refuse(key, format!("entries must not exceed {}", u32::MAX));
            return None;
        };
        let nwindow = grid?.nwindow;
        if steps.len() as u64 != nwindow {
            self.refuse(key, format!("must hold one entry per window (nwindow is {nwindow}), found {}", steps.len()));
            return None;
        }
        let (min, max) = (*steps.iter().min()?, *steps.iter().max()?);
        self.equal("steps_per_window", u64::from(max), "the largest entry of steps_per_window_by_window");
        let schedule = if min == max { "constant" } else { "per_window" };
        self.fixed("time_step_schedule", schedule, |s| normalise(s) == schedule);
        Some(Timing { steps, kind: kind? })
    }

    pub(super) fn balance(&mut self, timing: &Timing) {
        let close = |found: f64, wanted: f64| (found - wanted).abs() <= SCALE_TOLERANCE * wanted;
        let (Some(max), Some(min)) = (timing.steps.iter().max(), timing.steps.iter().min()) else { return };
        let wanted = balance_scale(timing.kind, *max);
        if let Some(found) = self.num("poisson_balance_target_scale")
            && !close(found, wanted)
        {
            let message =
                format!("must be {wanted} with flux_kind {} and steps_per_window {max}, found {found}", timing.kind);
            self.refuse("poisson_balance_target_scale", message);
        }
        let key = "poisson_balance_target_scale_by_window";
        if let Some(stored) = self.list(key, Value::as_f64) {
            if stored.len() != timing.steps.len() {
                self.refuse(
                    key,
                    format!("must hold one entry per window ({}), found {}", timing.steps.len(), stored.len()),
                );
            }
            let pairs = stored.iter().zip(&timing.steps).enumerate();
            let bad = pairs.map(|(w, (x, n))| (w, *x, balance_scale(timing.kind, *n))).find(|(_, x, y)| !close(*x, *y));
            if let Some((w, found, wanted)) = bad {
                self.refuse(key, format!("entry {} must be {wanted}, found {found}", w + 1));
            }
        }
        let semantics = balance_semantics(timing.kind, min != max);
        self.fixed("poisson_balance_target_semantics", semantics, |s| s == semantics);
    }

    pub(super) fn coupling(&mut self, sections: &[Section], basis: Option<MassBasis>) {
        let key = "payload_sections";
        let has = |s: &Section| sections.contains(s);
        for group in GROUPS {
            if group.iter().any(has) && !group.iter().all(has) {
                let names: Vec<&str> = group.iter().map(|s| s.name()).collect();
                let missing: Vec<&str> = group.iter().filter(|s| !has(s)).map(|s| s.name()).collect();
                let message = format!("{} come together; missing: {}", names.join(", "), missing.join(", "));
                self.refuse(key, message);
            }
        }
        for s in [Section::Dtrain, Section::CmfmcCloudBase, Section::LatentHeatFlux] {
            let missing: Vec<&str> = s.needs().iter().filter(|n| !has(n)).map(|n| n.name()).collect();
            if has(&s) && !missing.is_empty() {
                self.refuse(key, format!("section \"{s}\" needs {}", missing.join(", ")));
            }
        }
        if has(&Section::Dkg) && basis == Some(MassBasis::Moist) {
            self.refuse("mass_basis", "must be dry with a dkg section, which holds dry-air exchange");
        }
        let semantics = match has(&Section::AirMassTendency) {
            true => "forward_window_endpoint_difference",
            false => "none",
        };
        self.fixed("delta_semantics", semantics, |s| normalise(s) == semantics);
    }

    /// Flags and payload words must tell what `payload_sections` tells.
    pub(super) fn flags(&mut self, sections: &[Section]) {
        let flags = [
            ("include_flux_delta", Section::AirMassTendency),
            ("include_surface", Section::Pblh),
            ("include_cmfmc", Section::Cmfmc),
            ("include_dtrain", Section::Dtrain),
            ("include_tm5conv", Section::Entu),
            ("include_gchp_vdiff", Section::VdiffU),
            ("include_precomputed_dkg", Section::Dkg),
        ];
        for (key, section) in flags {
            let wanted = sections.contains(&section);
            if self.flag(key).is_some_and(|found| found != wanted) {
                let verb = if wanted { "lists" } else { "does not list" };
                self.refuse(key, format!("must be {wanted}, payload_sections {verb} \"{section}\""));
            }
        }
        for (key, tag, section) in PAYLOAD_WORDS {
            let wanted = if sections.contains(section) { tag } else { "none" };
            self.fixed(key, wanted, |s| normalise(s) == wanted);
        }
    }
}
