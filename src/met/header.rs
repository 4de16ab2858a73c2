//! The header of a transport file, parsed and checked.

use std::io::Read;

use decomposition::PanelConvention;
use serde_json::{Map, Value};

use super::error::{HeaderError, Violation};
use super::schema::{self, FloatType, FluxKind, FluxSampling, MassBasis, SourceFluxSampling};
use super::seal;
use super::section::Section;
use super::validate;
use crate::grid::{CubedSphere, GeometryBundle, GridError};

/// Value of `magic`.
pub const MAGIC: &str = "MFLX";
/// The one format version read and written.
pub const FORMAT_VERSION: u64 = 4;
/// Header size of files written here, unless the header needs more; a whole number of memory pages.
pub const DEFAULT_HEADER_BYTES: u64 = 131_072;
/// Planet radius of files that do not state one, m.
pub const DEFAULT_RADIUS_M: f64 = 6_371_000.0;
/// The JSON text must be shorter than this.
pub const MAX_JSON_BYTES: usize = 16 * 1024 * 1024;
/// The header is read in pieces of this size, up to the first zero byte.
const CHUNK: usize = 262_144;

/// A legal set of geometry words; two exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct GeometryTags {
    /// `panel_convention`.
    pub panel_convention: &'static str,
    /// `cs_definition`.
    pub definition: &'static str,
    /// `cs_coordinate_law`.
    pub coordinate_law: &'static str,
    /// `cs_center_law`.
    pub center_law: &'static str,
}

impl GeometryTags {
    /// The words belonging to a panel convention.
    pub fn of(convention: PanelConvention) -> Self {
        match convention {
            PanelConvention::Gnomonic => Self {
                panel_convention: "gnomonic",
                definition: "equiangular_gnomonic",
                coordinate_law: "equiangular_gnomonic",
                center_law: "angular_midpoint",
            },
            PanelConvention::GeosNative => Self {
                panel_convention: "geos_native",
                definition: "gmao_equal_distance",
                coordinate_law: "gmao_equal_distance_gnomonic",
                center_law: "four_corner_normalized",
            },
        }
    }
}

/// Contents of a valid header. All windows are counted from 0 here.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    pub(super) header_bytes: u64,
    pub(super) float_type: FloatType,
    pub(super) radius_m: Option<f64>,
    pub(super) nc: usize,
    pub(super) nlevel: usize,
    pub(super) nwindow: usize,
    pub(super) convention: PanelConvention,
    pub(super) longitude_offset_deg: f64,
    pub(super) a_ifc: Vec<f64>,
    pub(super) b_ifc: Vec<f64>,
    pub(super) sections: Vec<Section>,
    pub(super) elems_per_window: u64,
    pub(super) dt_met_seconds: f64,
    pub(super) half_dt_seconds: f64,
    pub(super) steps: Vec<u32>,
    pub(super) flux_kind: FluxKind,
    pub(super) flux_sampling: FluxSampling,
    pub(super) source_flux_sampling: SourceFluxSampling,
    pub(super) mass_basis: MassBasis,
    pub(super) binary_schedule: bool,
    pub(super) preprocessor_contract: Option<String>,
    pub(super) adaptive_substeps: Option<bool>,
    pub(super) start_time_utc: Option<jiff::Timestamp>,
    pub(super) crc32c: Option<Vec<u32>>,
    pub(super) json: Map<String, Value>,
}

impl Header {
    /// Bytes before the payload.
    pub fn header_bytes(&self) -> u64 {
        self.header_bytes
    }

    /// Storage precision.
    pub fn float_type(&self) -> FloatType {
        self.float_type
    }

    /// Planet radius in m behind areas and masses; [`DEFAULT_RADIUS_M`] where the file states none.
    pub fn radius_m(&self) -> f64 {
        self.radius_m.unwrap_or(DEFAULT_RADIUS_M)
    }

    /// Planet radius stated by the file, m.
    pub fn stated_radius_m(&self) -> Option<f64> {
        self.radius_m
    }

    /// The cells.
    ///
    /// # Errors
    /// [`GridError`] for tags that go together in no known geometry.
    pub fn cube(&self) -> Result<CubedSphere, GridError> {
        let tags = self.geometry();
        let bundle =
            GeometryBundle::from_tags(tags.panel_convention, tags.definition, tags.coordinate_law, tags.center_law)?;
        CubedSphere::new(self.nc, bundle, self.longitude_offset_deg(), self.radius_m())
    }

    /// Cells per panel edge.
    pub fn nc(&self) -> usize {
        self.nc
    }

    /// Layers.
    pub fn nlevel(&self) -> usize {
        self.nlevel
    }

    /// Windows in the file.
    pub fn nwindow(&self) -> usize {
        self.nwindow
    }

    /// Panel convention; it fixes the geometry words.
    pub fn panel_convention(&self) -> PanelConvention {
        self.convention
    }

    /// The geometry words of the file.
    pub fn geometry(&self) -> GeometryTags {
        GeometryTags::of(self.convention)
    }

    /// Rotation of the cube about the polar axis, degrees, finite.
    pub fn longitude_offset_deg(&self) -> f64 {
        self.longitude_offset_deg
    }

    /// Interface coefficients `A`, Pa, `nlevel + 1` values from the top: half pressure `A + B·ps`.
    pub fn a_ifc(&self) -> &[f64] {
        &self.a_ifc
    }

    /// Interface coefficients `B`, `nlevel + 1` values from the top.
    pub fn b_ifc(&self) -> &[f64] {
        &self.b_ifc
    }

    /// Sections in payload order.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Whether the file carries a section.
    pub fn has(&self, section: Section) -> bool {
        self.sections.contains(&section)
    }

    /// Values of one window.
    pub fn elems_per_window(&self) -> u64 {
        self.elems_per_window
    }

    /// Bytes of one window.
    pub fn window_bytes(&self) -> u64 {
        self.elems_per_window * self.float_type.bytes() as u64
    }

    /// Position of a section within its window, in values; `None` if the file lacks it.
    pub fn section_offset(&self, section: Section) -> Option<usize> {
        let position = self.sections.iter().position(|s| *s == section)?;
        Some(self.sections[..position].iter().map(|s| s.elems(self.nc, self.nlevel)).sum())
    }

    /// Size the file must have.
    pub fn file_bytes(&self) -> u64 {
        self.header_bytes + self.nwindow as u64 * self.window_bytes()
    }

    /// Window length, s.
    pub fn dt_met_seconds(&self) -> f64 {
        self.dt_met_seconds
    }

    /// `half_dt_seconds` as stored; informative.
    pub fn half_dt_seconds(&self) -> f64 {
        self.half_dt_seconds
    }

    /// Substeps of each window, at least 1.
    pub fn steps(&self) -> &[u32] {
        &self.steps
    }

    /// Largest number of substeps.
    pub fn max_steps(&self) -> u32 {
        self.steps.iter().copied().max().unwrap_or(1)
    }

    /// Smallest number of substeps.
    pub fn min_steps(&self) -> u32 {
        self.steps.iter().copied().min().unwrap_or(1)
    }

    /// Whether windows differ in their number of substeps.
    pub fn has_variable_schedule(&self) -> bool {
        self.min_steps() != self.max_steps()
    }

    /// Meaning of the stored fluxes.
    pub fn flux_kind(&self) -> FluxKind {
        self.flux_kind
    }

    /// Variation of the fluxes within a window.
    pub fn flux_sampling(&self) -> FluxSampling {
        self.flux_sampling
    }

    /// Sampling of the fluxes in the source data.
    pub fn source_flux_sampling(&self) -> SourceFluxSampling {
        self.source_flux_sampling
    }

    /// What the air mass counts.
    pub fn mass_basis(&self) -> MassBasis {
        self.mass_basis
    }

    /// Whether the file declares the `binary_schedule` substep contract (physics once per window).
    pub fn has_binary_schedule(&self) -> bool {
        self.binary_schedule
    }

    /// Name of the writer's contract, if stated.
    pub fn preprocessor_contract(&self) -> Option<&str> {
        self.preprocessor_contract.as_deref()
    }

    /// Whether the writer chose substeps per window, if stated.
    pub fn adaptive_substeps(&self) -> Option<bool> {
        self.adaptive_substeps
    }

    /// Start of the first window, if stated.
    pub fn start_time_utc(&self) -> Option<jiff::Timestamp> {
        self.start_time_utc
    }

    /// CRC-32C of each window's payload bytes, if stated.
    pub fn crc32c(&self) -> Option<&[u32]> {
        self.crc32c.as_deref()
    }

    /// Factor turning the stored face fluxes of a window into the amount of one of the two applications of a substep:
    /// 1, or `1/(2·steps)` for whole-window amounts. `window` is below [`Header::nwindow`].
    pub fn flux_scale(&self, window: usize) -> f64 {
        self.flux_kind.half_sweep_scale(self.steps[window])
    }

    /// Factor turning the stored face fluxes of a window into whole-window amounts: `2·steps`, or 1.
    pub fn window_scale(&self, window: usize) -> f64 {
        self.flux_kind.window_scale(self.steps[window])
    }

    /// The header as stored, all keys included, in file order.
    pub fn json(&self) -> &Map<String, Value> {
        &self.json
    }

    /// Keys this program has no rule for; kept and ignored.
    pub fn extra_keys(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.json.iter().filter(|(k, _)| schema::key(k).is_none()).map(|(k, v)| (k.as_str(), v))
    }

    /// Conditions a run adds to a readable file: constant fluxes within a window, dry air.
    /// Returns one entry per reason against running, none if the file can be run.
    pub fn check_runnable(&self) -> Vec<Violation> {
        let mut reasons = Vec::new();
        let mut refuse = |key: &str, message: &str| {
            reasons.push(Violation { key: key.to_string(), message: message.to_string() });
        };
        if self.flux_sampling != FluxSampling::WindowConstant {
            refuse("flux_sampling", "a run needs window_constant fluxes; write the file with constant fluxes");
        }
        if self.mass_basis == MassBasis::Moist {
            refuse(
                "mass_basis",
                "moist air mass needs humidity for the first mixing ratios, which these files do not carry; \
                 write the file on dry basis",
            );
        }
        reasons
    }
}

/// A JSON object whose keys are all different.
struct UniqueMap(Map<String, Value>);

impl<'de> serde::Deserialize<'de> for UniqueMap {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = UniqueMap;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut access: A) -> Result<UniqueMap, A::Error> {
                let mut map = Map::new();
                while let Some((key, value)) = access.next_entry::<String, Value>()? {
                    if map.contains_key(&key) {
                        return Err(serde::de::Error::custom(format!("key `{key}` appears twice")));
                    }
                    map.insert(key, value);
                }
                Ok(UniqueMap(map))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

/// Parses the first bytes of a transport file: JSON up to the first zero byte, which must be there.
/// Bytes after it are not looked at.
///
/// # Errors
/// [`HeaderError`]; all broken rules of the contract are reported together.
pub fn parse_header_bytes(bytes: &[u8]) -> Result<Header, HeaderError> {
    let end = match bytes.iter().position(|b| *b == 0) {
        Some(end) if end < MAX_JSON_BYTES => end,
        None if bytes.len() < MAX_JSON_BYTES => return Err(HeaderError::Unterminated { searched: bytes.len() }),
        _ => return Err(HeaderError::TooLong { limit: MAX_JSON_BYTES }),
    };
    let json = &bytes[..end];
    if json.iter().all(u8::is_ascii_whitespace) {
        return Err(HeaderError::Empty);
    }
    let UniqueMap(map) = serde_json::from_slice(json).map_err(|e| HeaderError::Json(e.to_string()))?;
    seal::check(json, &map)?;
    validate::header(map, json.len())
}

/// Reads from the start of a file until the first zero byte. The bytes may go beyond it.
pub(crate) fn read_header_bytes(reader: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let start = bytes.len();
        let read = reader.by_ref().take(CHUNK as u64).read_to_end(&mut bytes)?;
        if read == 0 || bytes[start..].contains(&0) || bytes.len() >= MAX_JSON_BYTES {
            return Ok(bytes);
        }
    }
}
