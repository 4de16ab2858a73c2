//! What a writer decides about a file; the whole header follows from it.

use decomposition::PanelConvention;
use serde_json::{Map, Value, json};

use super::error::{HeaderError, Violation};
use super::header::{DEFAULT_HEADER_BYTES, FORMAT_VERSION, GeometryTags, Header, MAGIC, parse_header_bytes};
use super::schema::{self, FloatType, FluxKind, FluxSampling, MassBasis, Role, SourceFluxSampling};
use super::seal;
use super::section::Section;
use super::validate::{PAYLOAD_WORDS, balance_scale, balance_semantics};

/// Description of a file to be written. [`HeaderSpec::new`] fills in the usual choices.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderSpec {
    /// Cells per panel edge, at least 1.
    pub nc: usize,
    /// Panel convention; it fixes the geometry words.
    pub convention: PanelConvention,
    /// Rotation of the cube about the polar axis, degrees, finite.
    pub longitude_offset_deg: f64,
    /// Planet radius, m, above 0.
    pub radius_m: f64,
    /// Interface coefficients `A`, Pa, one more than layers, from the top.
    pub a_ifc: Vec<f64>,
    /// Interface coefficients `B`, as many as `a_ifc`.
    pub b_ifc: Vec<f64>,
    /// Storage precision.
    pub float_type: FloatType,
    /// Window length, s, above 0.
    pub dt_met_seconds: f64,
    /// Substeps of each window, at least 1; its length is the number of windows. The writer replaces the entries by
    /// the substeps of the windows it is given.
    pub steps: Vec<u32>,
    /// Sections in payload order.
    pub sections: Vec<Section>,
    /// Meaning of the face fluxes.
    pub flux_kind: FluxKind,
    /// Variation of the fluxes within a window; a run needs constant ones.
    pub flux_sampling: FluxSampling,
    /// Sampling of the fluxes in the source data.
    pub source_flux_sampling: SourceFluxSampling,
    /// What the air mass counts.
    pub mass_basis: MassBasis,
    /// Name of the writer's contract.
    pub preprocessor_contract: String,
    /// Whether the substeps were chosen per window.
    pub adaptive_substeps: bool,
    /// Start of the first window.
    pub start_time_utc: Option<jiff::Timestamp>,
    /// Least number of bytes before the payload; raised to whole multiples of the default where the header is longer.
    pub header_bytes: u64,
    /// Further keys. They may replace descriptive keys, never those that follow from the fields above.
    pub extra: Map<String, Value>,
}

impl HeaderSpec {
    /// A dry Float32 file of `nwindow` windows of one hour with one substep each, core sections and `dm`,
    /// default longitude offset of the convention (0° or −10°) and a radius of 6 371 229 m.
    pub fn new(nc: usize, convention: PanelConvention, a_ifc: Vec<f64>, b_ifc: Vec<f64>, nwindow: usize) -> Self {
        Self {
            nc,
            convention,
            longitude_offset_deg: match convention {
                PanelConvention::Gnomonic => 0.0,
                PanelConvention::GeosNative => -10.0,
            },
            radius_m: 6_371_229.0,
            a_ifc,
            b_ifc,
            float_type: FloatType::Float32,
            dt_met_seconds: 3600.0,
            steps: vec![1; nwindow],
            sections: Section::CORE.into_iter().chain([Section::AirMassTendency]).collect(),
            flux_kind: FluxKind::SubstepMassAmount,
            flux_sampling: FluxSampling::WindowConstant,
            source_flux_sampling: SourceFluxSampling::IntervalIntegrated,
            mass_basis: MassBasis::Dry,
            preprocessor_contract: "streaming_cs_v4".to_string(),
            adaptive_substeps: false,
            start_time_utc: None,
            header_bytes: DEFAULT_HEADER_BYTES,
            extra: Map::new(),
        }
    }

    /// Layers, one less than interface coefficients.
    pub fn nlevel(&self) -> usize {
        self.a_ifc.len().saturating_sub(1)
    }

    /// The header this description leads to.
    ///
    /// # Errors
    /// All contract violations of the description, named by header key.
    pub fn header(&self) -> Result<Header, HeaderError> {
        self.encode(None).map(|(header, _)| header)
    }

    /// The header with its bytes: JSON, zero padded to `header_bytes`.
    pub(super) fn encode(&self, crc32c: Option<&[u32]>) -> Result<(Header, Vec<u8>), HeaderError> {
        let taken: Vec<Violation> = self
            .extra
            .keys()
            .filter(|k| schema::key(k).is_some_and(|k| k.role == Role::Structural))
            .map(|k| Violation {
                key: k.clone(),
                message: "follows from the content of the file; remove it from the extra keys".to_string(),
            })
            .collect();
        if !taken.is_empty() {
            return Err(HeaderError::Contract(taken));
        }
        let mut map = self.json(crc32c);
        for (key, value) in &self.extra {
            map.insert(key.clone(), value.clone());
        }
        let blank = Value::Object(map.clone()).to_string();
        if let Some(sum) = seal::of(blank.as_bytes()) {
            map.insert(seal::KEY.to_string(), json!(sum));
        }
        let mut bytes = Value::Object(map).to_string().into_bytes();
        bytes.push(0);
        let header = parse_header_bytes(&bytes)?;
        bytes.resize(header.header_bytes() as usize, 0);
        Ok((header, bytes))
    }

    /// Enlarges `header_bytes` until the header fits for any schedule and any checksums.
    pub(super) fn reserve_header_bytes(&mut self) {
        let mut widest = self.clone();
        widest.steps = (0..self.steps.len()).map(|w| u32::MAX - (w % 2) as u32).collect();
        let mut map = widest.json(Some(&vec![u32::MAX; self.steps.len()]));
        map.extend(self.extra.clone());
        let needed = Value::Object(map).to_string().len() as u64 + 1;
        if self.header_bytes < needed {
            self.header_bytes = needed.next_multiple_of(DEFAULT_HEADER_BYTES);
        }
    }

    fn json(&self, crc32c: Option<&[u32]>) -> Map<String, Value> {
        let (nc, nz) = (self.nc as u64, self.nlevel());
        let has = |s: Section| self.sections.contains(&s);
        let max = self.steps.iter().copied().max().unwrap_or(1);
        let variable = self.steps.iter().any(|n| *n != max);
        let tags = GeometryTags::of(self.convention);
        let sizes = self.sections.iter().map(|s| s.checked_elems(nc, nz as u64).unwrap_or(0));
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| {
            map.insert(key.to_string(), value);
        };
        put("magic", json!(MAGIC));
        put("format_version", json!(FORMAT_VERSION));
        put("header_bytes", json!(self.header_bytes));
        put("float_type", json!(self.float_type.tag()));
        put("float_bytes", json!(self.float_type.bytes()));
        put("byte_order", json!("little"));
        put("grid_type", json!("cubed_sphere"));
        put("horizontal_topology", json!("StructuredDirectional"));
        put("planet_radius_m", json!(self.radius_m));
        put("ncell", json!(nc.wrapping_mul(nc).wrapping_mul(6)));
        put("nface_h", json!(nc.wrapping_add(1).wrapping_mul(nc).wrapping_mul(12)));
        put("nlevel", json!(nz));
        put("nwindow", json!(self.steps.len()));
        put("Nc", json!(nc));
        put("npanel", json!(6));
        put("Hp", json!(0));
        put("panel_convention", json!(tags.panel_convention));
        put("cs_definition", json!(tags.definition));
        put("cs_coordinate_law", json!(tags.coordinate_law));
        put("cs_center_law", json!(tags.center_law));
        put("longitude_offset_deg", json!(self.longitude_offset_deg));
        put("vertical_coordinate_type", json!("hybrid_sigma_pressure"));
        put("A_ifc", json!(self.a_ifc));
        put("B_ifc", json!(self.b_ifc));
        put("payload_sections", json!(self.sections));
        put("elems_per_window", json!(sizes.fold(0u64, u64::wrapping_add)));
        put("n_geometry_elems", json!(0));
        put("dt_met_seconds", json!(self.dt_met_seconds));
        put("half_dt_seconds", json!(self.dt_met_seconds / 2.0));
        put("steps_per_window", json!(max));
        put("steps_per_window_by_window", json!(self.steps));
        put("time_step_schedule", json!(if variable { "per_window" } else { "constant" }));
        put("flux_kind", json!(self.flux_kind.tag()));
        if self.flux_kind == FluxKind::FullWindowMassAmount {
            put("runtime_flux_scaling", json!("full_window_flux_divided_by_2x_steps_per_window"));
        }
        put("flux_sampling", json!(self.flux_sampling.tag()));
        put("source_flux_sampling", json!(self.source_flux_sampling.tag()));
        put("air_mass_sampling", json!("window_start_endpoint"));
        put("humidity_sampling", json!("none"));
        let delta = if has(Section::AirMassTendency) { "forward_window_endpoint_difference" } else { "none" };
        put("delta_semantics", json!(delta));
        put("poisson_balance_method", json!("global_cg_graph_laplacian"));
        put("poisson_balance_target_scale", json!(balance_scale(self.flux_kind, max)));
        let scales: Vec<f64> = self.steps.iter().map(|n| balance_scale(self.flux_kind, *n)).collect();
        put("poisson_balance_target_scale_by_window", json!(scales));
        put("poisson_balance_target_semantics", json!(balance_semantics(self.flux_kind, variable)));
        put("mass_basis", json!(self.mass_basis.tag()));
        put("runtime_substep_contract", json!("binary_schedule"));
        put("preprocessor_contract", json!(self.preprocessor_contract));
        put("adaptive_substeps", json!(self.adaptive_substeps));
        put("include_qv_endpoints", json!(false));
        put("n_qv_start", json!(0));
        put("n_qv_end", json!(0));
        put("include_flux_delta", json!(has(Section::AirMassTendency)));
        put("include_surface", json!(has(Section::Pblh)));
        put("include_cmfmc", json!(has(Section::Cmfmc)));
        put("include_dtrain", json!(has(Section::Dtrain)));
        put("include_tm5conv", json!(has(Section::Entu)));
        put("include_gchp_vdiff", json!(has(Section::VdiffU)));
        put("include_precomputed_dkg", json!(has(Section::Dkg)));
        for (key, word, section) in PAYLOAD_WORDS {
            put(key, json!(if has(*section) { word } else { "none" }));
        }
        for section in Section::ALL.into_iter().filter(|s| !Section::CORE.contains(s)) {
            let elems = section.checked_elems(nc, nz as u64).filter(|_| has(section)).unwrap_or(0);
            put(&format!("n_{section}"), json!(elems));
        }
        put("git_commit", json!("unknown"));
        put("git_dirty", json!(false));
        if let Some(start) = self.start_time_utc {
            put("start_time_utc", json!(start.to_string()));
        }
        if let Some(words) = crc32c {
            put("payload_crc32c_by_window", json!(words));
        }
        put(seal::KEY, json!(seal::BLANK));
        map
    }
}
