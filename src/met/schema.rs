//! Keys of a transport header: which must exist, of what type, and the words they may hold.

use serde_json::{Map, Value};

use super::error::Violation;

/// Declares a closed vocabulary of a header key.
macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $tag:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $tag)] $variant,)+ }

        impl $name {
            /// All words, as written in headers.
            pub const TAGS: &'static [&'static str] = &[$($tag),+];

            /// Word written in headers.
            pub fn tag(self) -> &'static str {
                match self { $($name::$variant => $tag),+ }
            }

            /// Value of a word, after normalisation of case, blanks and hyphens.
            pub fn from_tag(text: &str) -> Option<Self> {
                match normalise(text).as_str() { $($tag => Some($name::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.tag())
            }
        }
    };
}

vocabulary! {
    /// Meaning of the stored face fluxes.
    FluxKind {
        /// Amount of one of the two applications of a substep; a window moves `2·steps` times as much.
        SubstepMassAmount = "substep_mass_amount",
        /// Amount of the whole window.
        FullWindowMassAmount = "full_window_mass_amount",
    }
}

impl FluxKind {
    /// Factor from fluxes of this kind to the amount of one of the two applications of a substep, for a window of
    /// `steps ≥ 1` substeps: 1, or `1/(2·steps)`.
    pub fn half_sweep_scale(self, steps: u32) -> f64 {
        match self {
            FluxKind::SubstepMassAmount => 1.0,
            FluxKind::FullWindowMassAmount => 1.0 / (2.0 * f64::from(steps)),
        }
    }

    /// Factor from fluxes of this kind to whole-window amounts: `2·steps`, or 1.
    pub fn window_scale(self, steps: u32) -> f64 {
        match self {
            FluxKind::SubstepMassAmount => 2.0 * f64::from(steps),
            FluxKind::FullWindowMassAmount => 1.0,
        }
    }
}

vocabulary! {
    /// How the stored fluxes vary within a window.
    FluxSampling {
        /// Constant over the window.
        WindowConstant = "window_constant",
        /// Values at the start of the window.
        WindowStartEndpoint = "window_start_endpoint",
        /// Mean of the window.
        WindowMean = "window_mean",
    }
}

vocabulary! {
    /// How the fluxes of the source data were sampled.
    SourceFluxSampling {
        /// At the start of the window.
        WindowStartEndpoint = "window_start_endpoint",
        /// At the end of the window.
        WindowEndEndpoint = "window_end_endpoint",
        /// Mean of the window.
        WindowMean = "window_mean",
        /// Integrated over the window.
        IntervalIntegrated = "interval_integrated",
    }
}

vocabulary! {
    /// What the stored air mass counts.
    MassBasis {
        /// Dry air.
        Dry = "dry",
        /// Air with its water vapour.
        Moist = "moist",
    }
}

/// Storage precision of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub enum FloatType {
    /// IEEE single precision.
    Float32,
    /// IEEE double precision.
    Float64,
}

impl FloatType {
    /// Word written in headers.
    pub fn tag(self) -> &'static str {
        match self {
            FloatType::Float32 => "Float32",
            FloatType::Float64 => "Float64",
        }
    }

    /// Bytes of one value.
    pub fn bytes(self) -> usize {
        match self {
            FloatType::Float32 => 4,
            FloatType::Float64 => 8,
        }
    }

    /// The value as it will be read back.
    pub fn round(self, value: f64) -> f64 {
        match self {
            FloatType::Float32 => f64::from(value as f32),
            FloatType::Float64 => value,
        }
    }
}

impl std::fmt::Display for FloatType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.tag())
    }
}

/// Lower case, with blanks and hyphens as underscores.
pub(crate) fn normalise(text: &str) -> String {
    text.to_lowercase().replace(['-', ' '], "_")
}

/// JSON type of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Integer, 0 or more.
    Count,
    /// Integer, 1 or more.
    Positive,
    /// Finite number.
    Number,
    /// Finite number above 0.
    PositiveNumber,
    /// String.
    Text,
    /// `true` or `false`.
    Flag,
    /// List of integers, 1 or more.
    Positives,
    /// List of 32-bit unsigned integers.
    Words,
    /// List of finite numbers.
    Numbers,
    /// List of strings.
    Texts,
}

/// Whether a key must be present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Refused without it.
    Required,
    /// Checked when present.
    Optional,
}

/// Whether extra metadata given to the writer may set a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Follows from the content; never overridden.
    Structural,
    /// Free description.
    Descriptive,
}

/// One key of the header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub presence: Presence,
    pub role: Role,
    /// What it holds, for messages.
    pub meaning: &'static str,
}

const fn req(name: &'static str, kind: Kind, meaning: &'static str) -> Key {
    Key { name, kind, presence: Presence::Required, role: Role::Structural, meaning }
}

const fn opt(name: &'static str, kind: Kind, meaning: &'static str) -> Key {
    Key { name, kind, presence: Presence::Optional, role: Role::Structural, meaning }
}

const fn note(name: &'static str, kind: Kind, meaning: &'static str) -> Key {
    Key { name, kind, presence: Presence::Optional, role: Role::Descriptive, meaning }
}

/// All keys with rules. Other keys are kept and ignored.
pub(crate) const KEYS: &[Key] = &[
    req("magic", Kind::Text, "the word MFLX"),
    req("format_version", Kind::Positive, "4"),
    req("header_bytes", Kind::Positive, "bytes before the payload"),
    req("float_type", Kind::Text, "Float32 or Float64"),
    req("float_bytes", Kind::Positive, "4 or 8, as float_type"),
    req("grid_type", Kind::Text, "cubed_sphere"),
    req("horizontal_topology", Kind::Text, "StructuredDirectional"),
    opt("planet_radius_m", Kind::PositiveNumber, "planet radius in m"),
    req("ncell", Kind::Positive, "6·Nc²"),
    req("nface_h", Kind::Positive, "12·Nc·(Nc+1)"),
    req("nlevel", Kind::Positive, "number of layers"),
    req("nwindow", Kind::Positive, "number of windows"),
    req("Nc", Kind::Positive, "cells per panel edge"),
    req("npanel", Kind::Positive, "6"),
    opt("Hp", Kind::Count, "0, halos are not stored"),
    req("panel_convention", Kind::Text, "gnomonic or geos_native"),
    req("cs_definition", Kind::Text, "definition tag of the panel convention"),
    req("cs_coordinate_law", Kind::Text, "coordinate law of the panel convention"),
    req("cs_center_law", Kind::Text, "centre law of the panel convention"),
    req("longitude_offset_deg", Kind::Number, "rotation about the pole in degrees"),
    opt("vertical_coordinate_type", Kind::Text, "hybrid_sigma_pressure"),
    req("A_ifc", Kind::Numbers, "nlevel+1 interface pressures in Pa, top first"),
    req("B_ifc", Kind::Numbers, "nlevel+1 interface fractions of surface pressure, top first"),
    req("payload_sections", Kind::Texts, "section names in payload order"),
    req("elems_per_window", Kind::Positive, "sum of the section sizes"),
    req("n_geometry_elems", Kind::Count, "0"),
    req("dt_met_seconds", Kind::PositiveNumber, "window length in s"),
    req("half_dt_seconds", Kind::PositiveNumber, "half the window length in s"),
    req("steps_per_window", Kind::Positive, "largest entry of steps_per_window_by_window"),
    req("steps_per_window_by_window", Kind::Positives, "substeps of each window"),
    req("time_step_schedule", Kind::Text, "constant or per_window"),
    req("flux_kind", Kind::Text, "substep_mass_amount or full_window_mass_amount"),
    req("flux_sampling", Kind::Text, "window_constant, window_start_endpoint or window_mean"),
    req(
        "source_flux_sampling",
        Kind::Text,
        "window_start_endpoint, window_end_endpoint, window_mean or interval_integrated",
    ),
    req("air_mass_sampling", Kind::Text, "window_start_endpoint"),
    req("humidity_sampling", Kind::Text, "none"),
    req("delta_semantics", Kind::Text, "forward_window_endpoint_difference with a dm section, else none"),
    req("poisson_balance_target_scale", Kind::Number, "1 or 1/(2·steps_per_window), as flux_kind"),
    req("poisson_balance_target_scale_by_window", Kind::Numbers, "1 or 1/(2·steps) of each window, as flux_kind"),
    req("poisson_balance_target_semantics", Kind::Text, "the sentence belonging to flux_kind and schedule"),
    req("mass_basis", Kind::Text, "dry or moist"),
    opt("runtime_substep_contract", Kind::Text, "binary_schedule"),
    note("preprocessor_contract", Kind::Text, "name of the writer's contract"),
    opt("adaptive_substeps", Kind::Flag, "whether the writer chose substeps per window"),
    req("include_qv_endpoints", Kind::Flag, "false, humidity endpoints are not stored on the cubed sphere"),
    req("include_flux_delta", Kind::Flag, "whether payload_sections lists dm"),
    req("n_qv_start", Kind::Count, "0"),
    req("n_qv_end", Kind::Count, "0"),
    opt("include_surface", Kind::Flag, "whether pblh, ustar, pbl_hflux and t2m are stored"),
    opt("surface_payload", Kind::Text, "pbl_raw_v2 or none"),
    opt("include_cmfmc", Kind::Flag, "whether cmfmc is stored"),
    opt("include_dtrain", Kind::Flag, "whether dtrain is stored"),
    opt("include_tm5conv", Kind::Flag, "whether entu, detu, entd and detd are stored"),
    opt("include_gchp_vdiff", Kind::Flag, "whether vdiff_u, vdiff_v, vdiff_t and vdiff_qv are stored"),
    opt("gchp_vdiff_payload", Kind::Text, "u_v_t_qv_layer_center_v1 or none"),
    opt("include_precomputed_dkg", Kind::Flag, "whether dkg is stored"),
    opt("precomputed_dkg_payload", Kind::Text, "tm5_bldiff_interface_dkg_dry_v1 or none"),
    opt("cmfmc_cloud_base_payload", Kind::Text, "top_down_layer_index_v1 or none"),
    opt("n_dm", Kind::Count, "values of dm per window"),
    opt("n_dkg", Kind::Count, "values of dkg per window"),
    opt("n_pblh", Kind::Count, "values of pblh per window"),
    opt("n_ustar", Kind::Count, "values of ustar per window"),
    opt("n_pbl_hflux", Kind::Count, "values of pbl_hflux per window"),
    opt("n_t2m", Kind::Count, "values of t2m per window"),
    opt("n_cmfmc", Kind::Count, "values of cmfmc per window"),
    opt("n_dtrain", Kind::Count, "values of dtrain per window"),
    opt("n_entu", Kind::Count, "values of entu per window"),
    opt("n_detu", Kind::Count, "values of detu per window"),
    opt("n_entd", Kind::Count, "values of entd per window"),
    opt("n_detd", Kind::Count, "values of detd per window"),
    opt("n_vdiff_u", Kind::Count, "values of vdiff_u per window"),
    opt("n_vdiff_v", Kind::Count, "values of vdiff_v per window"),
    opt("n_vdiff_t", Kind::Count, "values of vdiff_t per window"),
    opt("n_vdiff_qv", Kind::Count, "values of vdiff_qv per window"),
    opt("n_pbl_eflux", Kind::Count, "values of pbl_eflux per window"),
    opt("n_cmfmc_cloud_base", Kind::Count, "values of cmfmc_cloud_base per window"),
    note("poisson_balance_method", Kind::Text, "how the fluxes were balanced"),
    note("git_commit", Kind::Text, "revision of the writer"),
    note("git_dirty", Kind::Flag, "whether the writer's sources were modified"),
    opt("byte_order", Kind::Text, "little"),
    opt("start_time_utc", Kind::Text, "start of the first window as RFC 3339 in UTC, like 2021-12-01T00:00:00Z"),
    opt("payload_crc32c_by_window", Kind::Words, "CRC-32C of each window's payload bytes"),
    opt(
        "header_crc32c",
        Kind::Text,
        "CRC-32C of the header's JSON text, with zeros as its own eight hexadecimal digits",
    ),
];

/// Rules of a key, if it has any.
pub(crate) fn key(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|k| k.name == name)
}

/// Name of a JSON value's type, for messages.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(n) if n.is_u64() || n.is_i64() => "an integer",
        Value::Number(_) => "a floating-point number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// At most this much of a value is quoted in a message.
const QUOTE: usize = 60;

/// The value as text, shortened.
pub(crate) fn quote(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(QUOTE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Why a value does not fit a kind, or `None` if it does.
fn misfit(kind: Kind, value: &Value) -> Option<String> {
    let (wanted, fits): (&str, bool) = match kind {
        Kind::Count => ("an integer of 0 or more", value.is_u64()),
        Kind::Positive => ("an integer of 1 or more", value.as_u64().is_some_and(|n| n > 0)),
        Kind::Number => ("a finite number", value.as_f64().is_some_and(f64::is_finite)),
        Kind::PositiveNumber => ("a finite number above 0", value.as_f64().is_some_and(|x| x.is_finite() && x > 0.0)),
        Kind::Text => ("a string", value.is_string()),
        Kind::Flag => ("true or false", value.is_boolean()),
        Kind::Positives => return misfit_list(value, Kind::Positive),
        Kind::Words => return misfit_list(value, Kind::Count),
        Kind::Numbers => return misfit_list(value, Kind::Number),
        Kind::Texts => return misfit_list(value, Kind::Text),
    };
    (!fits).then(|| format!("must be {wanted}, found {} {}", type_name(value), quote(value)))
}

fn misfit_list(value: &Value, element: Kind) -> Option<String> {
    let Some(list) = value.as_array() else {
        return Some(format!("must be a list, found {} {}", type_name(value), quote(value)));
    };
    list.iter().enumerate().find_map(|(n, v)| misfit(element, v).map(|why| format!("entry {} {why}", n + 1)))
}

/// Checks presence and type of every known key.
pub(crate) fn check_types(map: &Map<String, Value>, violations: &mut Vec<Violation>) {
    for key in KEYS {
        let problem = match map.get(key.name) {
            None if key.presence == Presence::Required => Some("is missing".to_string()),
            None => None,
            Some(value) => misfit(key.kind, value),
        };
        if let Some(problem) = problem {
            let message = format!("{problem}; it holds {}", key.meaning);
            violations.push(Violation { key: key.name.to_string(), message });
        }
    }
}
