//! Rules of the header contract.

mod content;
mod layout;

use serde_json::{Map, Value};

use super::error::{HeaderError, Violation};
use super::header::{FORMAT_VERSION, Header, MAGIC};
use super::schema::{self, FluxSampling, MassBasis, SourceFluxSampling, check_types, normalise, quote};
pub(super) use content::{PAYLOAD_WORDS, balance_scale, balance_semantics};
use layout::Grid;

struct Rules<'a> {
    map: &'a Map<String, Value>,
    violations: Vec<Violation>,
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
