//! Rules of the header contract.

use decomposition::PanelConvention;
use serde_json::{Map, Value};

use super::error::{HeaderError, Violation};
use super::header::{FORMAT_VERSION, GeometryTags, Header, MAGIC};
use super::schema::{
    self, FloatType, FluxKind, FluxSampling, MassBasis, SourceFluxSampling, check_types, normalise, quote,
};
use super::section::{GROUPS, Section};

/// Allowed relative error of the stored balance scales.
const SCALE_TOLERANCE: f64 = 8.0 * f64::EPSILON;

/// Sections of other grids; named so that the message can say more than "unknown".
const FOREIGN_SECTIONS: &[&str] = &["kz", "qv", "qv_start", "qv_end", "hflux", "dam", "dbm", "dcm", "dhflux"];

struct Rules<'a> {
    map: &'a Map<String, Value>,
    violations: Vec<Violation>,
}

/// Sizes that other rules refer to.
struct Grid {
    nc: u64,
    nlevel: u64,
    nwindow: u64,
}

/// Flux contract that the balance keys follow from.
struct Timing {
    steps: Vec<u32>,
    kind: FluxKind,
}

/// Builds a header from its JSON object, or lists all broken rules. `json_bytes` is the length of the text.
pub(super) fn header(map: Map<String, Value>, json_bytes: usize) -> Result<Header, HeaderError> {
    let mut rules = Rules { map: &map, violations: Vec::new() };
    rules.identification();
    if !rules.violations.is_empty() {
        return Err(HeaderError::Contract(rules.violations));
    }
    check_types(&map, &mut rules.violations);
    let header = rules.all(json_bytes);
    let violations = rules.violations;
    match header {
        Some(header) if violations.is_empty() => Ok(Header { json: map, ..header }),
        _ => Err(HeaderError::Contract(violations)),
    }
}

/// Semantics sentence of the balance target.
pub(super) fn balance_semantics(kind: FluxKind, variable: bool) -> &'static str {
    match (kind, variable) {
        (FluxKind::FullWindowMassAmount, _) => "forward_window_mass_difference",
        (FluxKind::SubstepMassAmount, false) => "forward_window_mass_difference / (2 * steps_per_window)",
        (FluxKind::SubstepMassAmount, true) => "forward_window_mass_difference / (2 * steps_per_window_by_window[win])",
    }
}

/// Balance scale of a window with `steps` substeps.
pub(super) fn balance_scale(kind: FluxKind, steps: u32) -> f64 {
    match kind {
        FluxKind::FullWindowMassAmount => 1.0,
        FluxKind::SubstepMassAmount => 1.0 / (2.0 * f64::from(steps)),
    }
}

impl Rules<'_> {
    fn refuse(&mut self, key: &str, message: impl Into<String>) {
        self.violations.push(Violation { key: key.to_string(), message: message.into() });
    }

    // Getters answer `None` for values that the type check has already reported.
    fn int(&self, key: &str) -> Option<u64> {
        self.map.get(key)?.as_u64()
    }

    fn num(&self, key: &str) -> Option<f64> {
        self.map.get(key)?.as_f64().filter(|x| x.is_finite())
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.map.get(key)?.as_str()
    }

    fn flag(&self, key: &str) -> Option<bool> {
        self.map.get(key)?.as_bool()
    }

    fn list<T>(&self, key: &str, get: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
        self.map.get(key)?.as_array()?.iter().map(get).collect()
    }

    /// Requires an exact word.
    fn fixed(&mut self, key: &str, wanted: &str, matches: impl Fn(&str) -> bool) {
        if let Some(text) = self.text(key)
            && !matches(text)
        {
            let found = quote(&Value::from(text));
            self.refuse(key, format!("must be \"{wanted}\", found {found}"));
        }
    }

    /// Requires an exact integer.
    fn equal(&mut self, key: &str, wanted: u64, why: &str) {
        if let Some(found) = self.int(key)
            && found != wanted
        {
            self.refuse(key, format!("must be {wanted} ({why}), found {found}"));
        }
    }

    /// Requires a word of a vocabulary.
    fn word<T>(&mut self, key: &str, tags: &[&str], parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let text = self.text(key)?;
        let value = parse(text);
        if value.is_none() {
            let found = quote(&Value::from(text));
            self.refuse(key, format!("must be one of {}, found {found}", tags.join(", ")));
        }
        value
    }

    /// Nothing else is worth reporting about a file of another kind.
    fn identification(&mut self) {
        match self.map.get("magic") {
            Some(Value::String(s)) if s == MAGIC => {}
            Some(other) => {
                let found = quote(other);
                self.refuse("magic", format!("must be \"{MAGIC}\", found {found}; this is not a transport file"));
            }
            None => self.refuse("magic", format!("is missing; transport files hold \"{MAGIC}\"")),
        }
        match self.map.get("format_version") {
            Some(v) if v.as_u64() == Some(FORMAT_VERSION) => {}
            Some(other) => {
                let found = quote(other);
                self.refuse(
                    "format_version",
                    format!("must be the integer {FORMAT_VERSION}, found {found}; other versions are not read, write the file again"),
                );
            }
            None => self.refuse("format_version", format!("is missing; it holds {FORMAT_VERSION}")),
        }
        if let Some(text) = self.text("grid_type")
            && normalise(text) != "cubed_sphere"
        {
            let found = quote(&Value::from(text));
            self.refuse("grid_type", format!("must be \"cubed_sphere\", found {found}; other grids cannot be read"));
        }
    }

    fn all(&mut self, json_bytes: usize) -> Option<Header> {
        let header_bytes = self.int("header_bytes");
        if let Some(bytes) = header_bytes
            && bytes <= json_bytes as u64
        {
            self.refuse("header_bytes", format!("must exceed the {json_bytes} bytes of JSON text, found {bytes}"));
        }
        let float_type = self.float_type();
        self.fixed("horizontal_topology", "StructuredDirectional", |s| normalise(s) == "structureddirectional");
        self.fixed("vertical_coordinate_type", "hybrid_sigma_pressure", |s| normalise(s) == "hybrid_sigma_pressure");
        let grid = self.grid();
        let convention = self.geometry();
        self.levels(grid.as_ref());
        let sections = self.sections();
        let elems_per_window = self.layout(header_bytes, float_type, grid.as_ref(), sections.as_deref());
        let timing = self.timing(grid.as_ref());
        if let Some(timing) = &timing {
            self.balance(timing);
        }
        let mass_basis = self.word("mass_basis", MassBasis::TAGS, MassBasis::from_tag);
        let flux_sampling = self.word("flux_sampling", FluxSampling::TAGS, FluxSampling::from_tag);
        let source_flux_sampling =
            self.word("source_flux_sampling", SourceFluxSampling::TAGS, SourceFluxSampling::from_tag);
        self.fixed("air_mass_sampling", "window_start_endpoint", |s| normalise(s) == "window_start_endpoint");
        self.fixed("humidity_sampling", "none", |s| normalise(s) == "none");
        self.fixed("runtime_substep_contract", "binary_schedule", |s| normalise(s) == "binary_schedule");
        self.equal("n_qv_start", 0, "humidity is not stored on the cubed sphere");
        self.equal("n_qv_end", 0, "humidity is not stored on the cubed sphere");
        if self.flag("include_qv_endpoints") == Some(true) {
            self.refuse("include_qv_endpoints", "must be false; humidity is not stored on the cubed sphere");
        }
        if let Some(sections) = &sections {
            self.coupling(sections, mass_basis);
            self.flags(sections);
        }
        let start_time_utc = self.start_time();
        let crc32c = self.checksums(grid.as_ref());
        self.fixed("byte_order", "little", |s| normalise(s) == "little");

        let (grid, timing) = (grid?, timing?);
        Some(Header {
            header_bytes: header_bytes?,
            float_type: float_type?,
            radius_m: self.num("planet_radius_m"),
            nc: usize::try_from(grid.nc).ok()?,
            nlevel: usize::try_from(grid.nlevel).ok()?,
            nwindow: usize::try_from(grid.nwindow).ok()?,
            convention: convention?,
            longitude_offset_deg: self.num("longitude_offset_deg")?,
            a_ifc: self.list("A_ifc", Value::as_f64)?,
            b_ifc: self.list("B_ifc", Value::as_f64)?,
            sections: sections?,
            elems_per_window: elems_per_window?,
            dt_met_seconds: self.num("dt_met_seconds")?,
            half_dt_seconds: self.num("half_dt_seconds")?,
            steps: timing.steps,
            flux_kind: timing.kind,
            flux_sampling: flux_sampling?,
            source_flux_sampling: source_flux_sampling?,
            mass_basis: mass_basis?,
            binary_schedule: self.map.contains_key("runtime_substep_contract"),
            preprocessor_contract: self.text("preprocessor_contract").map(String::from),
            adaptive_substeps: self.flag("adaptive_substeps"),
            start_time_utc,
            crc32c,
            json: Map::new(),
        })
    }

    fn float_type(&mut self) -> Option<FloatType> {
        let float_type = match self.text("float_type")? {
            "Float32" => FloatType::Float32,
            "Float64" => FloatType::Float64,
            other => {
                let found = quote(&Value::from(other));
                self.refuse("float_type", format!("must be \"Float32\" or \"Float64\", found {found}"));
                return None;
            }
        };
        self.equal("float_bytes", float_type.bytes() as u64, "as float_type");
        Some(float_type)
    }

    fn grid(&mut self) -> Option<Grid> {
        self.equal("npanel", 6, "a cube has six panels");
        self.equal("Hp", 0, "halos are not stored");
        self.equal("n_geometry_elems", 0, "no geometry is stored");
        let grid = Grid { nc: self.int("Nc")?, nlevel: self.int("nlevel")?, nwindow: self.int("nwindow")? };
        let cells = grid.nc.checked_mul(grid.nc).and_then(|n| n.checked_mul(6));
        let faces = grid.nc.checked_add(1).and_then(|n| n.checked_mul(grid.nc)).and_then(|n| n.checked_mul(12));
        let (Some(cells), Some(faces)) = (cells, faces) else {
            self.refuse("Nc", format!("{} cells per panel edge are too many to count", grid.nc));
            return None;
        };
        self.equal("ncell", cells, "6·Nc²");
        self.equal("nface_h", faces, "12·Nc·(Nc+1)");
        Some(grid)
    }

    fn geometry(&mut self) -> Option<PanelConvention> {
        let text = self.text("panel_convention")?;
        let convention = match normalise(text).as_str() {
            "gnomonic" => PanelConvention::Gnomonic,
            "geos_native" => PanelConvention::GeosNative,
            _ => {
                let found = quote(&Value::from(text));
                self.refuse("panel_convention", format!("must be \"gnomonic\" or \"geos_native\", found {found}"));
                return None;
            }
        };
        let tags = GeometryTags::of(convention);
        for (key, wanted) in [
            ("cs_definition", tags.definition),
            ("cs_coordinate_law", tags.coordinate_law),
            ("cs_center_law", tags.center_law),
        ] {
            if let Some(text) = self.text(key)
                && normalise(text) != wanted
            {
                let found = quote(&Value::from(text));
                let convention = tags.panel_convention;
                self.refuse(key, format!("must be \"{wanted}\" with panel_convention {convention}, found {found}"));
            }
        }
        Some(convention)
    }

    fn levels(&mut self, grid: Option<&Grid>) {
        let Some(grid) = grid else { return };
        for key in ["A_ifc", "B_ifc"] {
            if let Some(found) = self.map.get(key).and_then(Value::as_array).map(Vec::len)
                && grid.nlevel.checked_add(1) != Some(found as u64)
            {
                self.refuse(key, format!("must hold nlevel+1 values (nlevel is {}), found {found}", grid.nlevel));
            }
        }
    }

    fn sections(&mut self) -> Option<Vec<Section>> {
        let names = self.list("payload_sections", |v| v.as_str().map(String::from))?;
        let key = "payload_sections";
        let before = self.violations.len();
        let mut sections = Vec::new();
        for name in &names {
            match Section::from_name(name) {
                Some(s) if sections.contains(&s) => self.refuse(key, format!("lists \"{s}\" twice")),
                Some(s) => sections.push(s),
                None => {
                    let found = quote(&Value::from(name.as_str()));
                    let kind = match FOREIGN_SECTIONS.contains(&name.to_lowercase().as_str()) {
                        true => "not legal on the cubed sphere",
                        false => "unknown, its size cannot be known",
                    };
                    self.refuse(key, format!("section {found} is {kind}"));
                }
            }
        }
        let missing: Vec<&str> = Section::CORE.iter().filter(|s| !sections.contains(s)).map(|s| s.name()).collect();
        if !missing.is_empty() {
            self.refuse(key, format!("must list m, am, bm, cm and ps; missing: {}", missing.join(", ")));
        }
        (self.violations.len() == before).then_some(sections)
    }

    fn layout(
        &mut self,
        header_bytes: Option<u64>,
        float_type: Option<FloatType>,
        grid: Option<&Grid>,
        sections: Option<&[Section]>,
    ) -> Option<u64> {
        let (grid, sections, found) = (grid?, sections?, self.int("elems_per_window")?);
        let total = sections.iter().try_fold(0u64, |sum, s| sum.checked_add(s.checked_elems(grid.nc, grid.nlevel)?));
        let Some(total) = total else {
            self.refuse(
                "nlevel",
                format!("a window of C{} with {} layers is too large to address", grid.nc, grid.nlevel),
            );
            return None;
        };
        if total != found {
            self.refuse(
                "elems_per_window",
                format!(
                    "must be {total}, the sum over payload_sections for C{} with {} layers, found {found}",
                    grid.nc, grid.nlevel
                ),
            );
            return None;
        }
        let bytes = total.checked_mul(float_type?.bytes() as u64).and_then(|n| n.checked_mul(grid.nwindow));
        if bytes.and_then(|n| n.checked_add(header_bytes?)).is_none_or(|n| n > i64::MAX as u64) {
            self.refuse("nwindow", format!("a file of {} such windows is too large to address", grid.nwindow));
            return None;
        }
        Some(total)
    }

    fn timing(&mut self, grid: Option<&Grid>) -> Option<Timing> {
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

    fn balance(&mut self, timing: &Timing) {
        let close = |found: f64, wanted: f64| (found - wanted).abs() <= SCALE_TOLERANCE * wanted;
        let (Some(max), Some(min)) = (timing.steps.iter().max(), timing.steps.iter().min()) else { return };
        let wanted = balance_scale(timing.kind, *max);
        if let Some(found) = self.num("poisson_balance_target_scale")
            && !close(found, wanted)
        {
            let message = format!("must be {wanted} with {} and steps_per_window {max}, found {found}", timing.kind);
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

    fn coupling(&mut self, sections: &[Section], basis: Option<MassBasis>) {
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
    fn flags(&mut self, sections: &[Section]) {
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

    fn start_time(&mut self) -> Option<jiff::Timestamp> {
        let text = self.text("start_time_utc")?;
        let parsed = text.parse::<jiff::Timestamp>().ok().filter(|_| text.ends_with(['Z', 'z']));
        if parsed.is_none() {
            let (found, meaning) = (quote(&Value::from(text)), schema::key("start_time_utc").map_or("", |k| k.meaning));
            self.refuse("start_time_utc", format!("must be the {meaning}, found {found}"));
        }
        parsed
    }

    fn checksums(&mut self, grid: Option<&Grid>) -> Option<Vec<u32>> {
        let key = "payload_crc32c_by_window";
        let stored = self.list(key, Value::as_u64)?;
        let Ok(words) = stored.iter().map(|n| u32::try_from(*n)).collect::<Result<Vec<u32>, _>>() else {
            self.refuse(key, format!("entries must not exceed {}", u32::MAX));
            return None;
        };
        let nwindow = grid?.nwindow;
        if words.len() as u64 != nwindow {
            self.refuse(key, format!("must hold one entry per window (nwindow is {nwindow}), found {}", words.len()));
        }
        Some(words)
    }
}

/// Keys describing the content of optional sections: key, word when stored, section.
pub(super) const PAYLOAD_WORDS: &[(&str, &str, Section)] = &[
    ("surface_payload", "pbl_raw_v2", Section::Pblh),
    ("gchp_vdiff_payload", "u_v_t_qv_layer_center_v1", Section::VdiffU),
    ("precomputed_dkg_payload", "tm5_bldiff_interface_dkg_dry_v1", Section::Dkg),
    ("cmfmc_cloud_base_payload", "top_down_layer_index_v1", Section::CmfmcCloudBase),
];
