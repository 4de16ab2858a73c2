//! Report on a transport file: what it holds and which operators it can feed.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::header::GeometryTags;
use super::reader::TransportFile;
use super::schema::{FloatType, FluxKind, FluxSampling, MassBasis, SourceFluxSampling};
use super::section::Section;

/// Operators and checks a file can feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// Advection: m, am, bm, cm.
    pub advection: bool,
    /// End masses are stored, so that every window can be replayed.
    pub replay_gate: bool,
    /// Convection from entrainment and detrainment.
    pub tm5_convection: bool,
    /// Convection from the updraft mass flux.
    pub cmfmc_convection: bool,
    /// Boundary layer diffusion from surface fields.
    pub pbl_diffusion: bool,
    /// Boundary layer diffusion from stored exchange coefficients.
    pub precomputed_dkg: bool,
    /// Diffusion from winds, temperature and humidity of the layers.
    pub gchp_vdiff: bool,
    /// The same with the surface fluxes its non-local part needs.
    pub gchp_nonlocal_vdiff: bool,
    /// Convective cloud base.
    pub cmfmc_cloud_base: bool,
    /// Surface pressure.
    pub surface_pressure: bool,
    /// Humidity endpoints; never stored on the cubed sphere.
    pub humidity: bool,
}

/// What [`TransportFile::inspect`] finds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InspectReport {
    /// Path of the file.
    pub path: PathBuf,
    /// `cubed_sphere`.
    pub grid_type: &'static str,
    /// Cells per panel edge.
    pub nc: usize,
    /// Geometry words.
    pub geometry: GeometryTags,
    /// Rotation about the polar axis, degrees.
    pub longitude_offset_deg: f64,
    /// Layers.
    pub nlevel: usize,
    /// Planet radius, m.
    pub planet_radius_m: f64,
    /// Whether the file states the radius.
    pub planet_radius_stated: bool,
    /// Storage precision.
    pub float_type: FloatType,
    /// Size of the file, bytes.
    pub file_bytes: u64,
    /// What the air mass counts.
    pub mass_basis: MassBasis,
    /// Number of windows.
    pub nwindow: usize,
    /// Window length, s.
    pub window_seconds: f64,
    /// Largest number of substeps.
    pub steps_per_window: u32,
    /// Smallest number of substeps.
    pub min_steps_per_window: u32,
    /// Whether windows differ in their number of substeps.
    pub variable_step_schedule: bool,
    /// Whether the writer chose substeps per window, if stated.
    pub adaptive_substeps: Option<bool>,
    /// Whether physics runs once per window (`binary_schedule`).
    pub binary_schedule: bool,
    /// Name of the writer's contract, if stated.
    pub preprocessor_contract: Option<String>,
    /// `vertical_Nz_output` as stored, if stated.
    #[serde(rename = "vertical_Nz_output")]
    pub vertical_nz_output: Option<serde_json::Value>,
    /// Meaning of the fluxes.
    pub flux_kind: FluxKind,
    /// Variation of the fluxes within a window.
    pub flux_sampling: FluxSampling,
    /// Sampling of the fluxes in the source data.
    pub source_flux_sampling: SourceFluxSampling,
    /// Sections in payload order.
    pub payload_sections: Vec<Section>,
    /// Start of the first window in UTC, if stated.
    pub start_time_utc: Option<String>,
    /// Whether windows carry checksums.
    pub checksums: bool,
    /// Operators and checks the file can feed.
    pub capabilities: Capabilities,
    /// Reasons against driving a run; empty if there are none.
    pub not_runnable: Vec<String>,
    /// Keys without a rule; kept and ignored.
    pub extra_keys: Vec<String>,
}

impl TransportFile {
    /// Reports on the file. All header rules were checked when it was opened.
    pub fn inspect(&self) -> InspectReport {
        let h = self.header();
        let has = |s: Section| h.has(s);
        let vdiff = has(Section::VdiffU);
        InspectReport {
            path: self.path().to_path_buf(),
            grid_type: "cubed_sphere",
            nc: h.nc(),
            geometry: h.geometry(),
            longitude_offset_deg: h.longitude_offset_deg(),
            nlevel: h.nlevel(),
            planet_radius_m: h.radius_m(),
            planet_radius_stated: h.stated_radius_m().is_some(),
            float_type: h.float_type(),
            file_bytes: h.file_bytes(),
            mass_basis: h.mass_basis(),
            nwindow: h.nwindow(),
            window_seconds: h.dt_met_seconds(),
            steps_per_window: h.max_steps(),
            min_steps_per_window: h.min_steps(),
            variable_step_schedule: h.has_variable_schedule(),
            adaptive_substeps: h.adaptive_substeps(),
            binary_schedule: h.has_binary_schedule(),
            preprocessor_contract: h.preprocessor_contract().map(String::from),
            vertical_nz_output: h.json().get("vertical_Nz_output").cloned(),
            flux_kind: h.flux_kind(),
            flux_sampling: h.flux_sampling(),
            source_flux_sampling: h.source_flux_sampling(),
            payload_sections: h.sections().to_vec(),
            start_time_utc: h.start_time_utc().map(|t| t.to_string()),
            checksums: h.crc32c().is_some(),
            capabilities: Capabilities {
                advection: true,
                replay_gate: has(Section::AirMassTendency),
                tm5_convection: has(Section::Entu),
                cmfmc_convection: has(Section::Cmfmc),
                pbl_diffusion: has(Section::Pblh),
                precomputed_dkg: has(Section::Dkg),
                gchp_vdiff: vdiff,
                gchp_nonlocal_vdiff: vdiff && has(Section::Pblh) && has(Section::LatentHeatFlux),
                cmfmc_cloud_base: has(Section::CmfmcCloudBase),
                surface_pressure: has(Section::SurfacePressure),
                humidity: false,
            },
            not_runnable: h.check_runnable().iter().map(|v| v.to_string()).collect(),
            extra_keys: h.extra_keys().map(|(k, _)| k.to_string()).collect(),
        }
    }
}

impl InspectReport {
    /// Name, ingredients and presence of each capability.
    fn rows(&self) -> [(&'static str, &'static str, bool); 11] {
        let c = &self.capabilities;
        [
            ("advection", "m, am, bm, cm", c.advection),
            ("replay gate", "dm", c.replay_gate),
            ("TM5 convection", "entu, detu, entd, detd", c.tm5_convection),
            ("CMFMC convection", "cmfmc (dtrain)", c.cmfmc_convection),
            ("boundary layer diffusion", "pblh, ustar, pbl_hflux, t2m", c.pbl_diffusion),
            ("stored exchange", "dkg", c.precomputed_dkg),
            ("layer-state diffusion", "vdiff_u, vdiff_v, vdiff_t, vdiff_qv", c.gchp_vdiff),
            ("non-local diffusion", "the same with pblh … t2m, pbl_eflux", c.gchp_nonlocal_vdiff),
            ("convective cloud base", "cmfmc_cloud_base", c.cmfmc_cloud_base),
            ("surface pressure", "ps", c.surface_pressure),
            ("humidity", "not stored on the cubed sphere", c.humidity),
        ]
    }
}

impl fmt::Display for InspectReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.path.display())?;
        let stated = if self.planet_radius_stated { "" } else { " (not stated, default)" };
        let (nc, nz, r) = (self.nc, self.nlevel, self.planet_radius_m);
        writeln!(f, "  geometry    C{nc}, panels=6, {nz} levels, radius {r} m{stated}")?;
        let (convention, offset) = (self.geometry.panel_convention, self.longitude_offset_deg);
        writeln!(f, "  panels      {convention}, {}, offset {offset}°", self.geometry.coordinate_law)?;
        writeln!(f, "  storage     {} on disk, {} bytes", self.float_type, self.file_bytes)?;
        let steps = match self.variable_step_schedule {
            false => self.steps_per_window.to_string(),
            true => {
                format!("{1} max (per-window {0}:{1})", self.min_steps_per_window, self.steps_per_window)
            }
        };
        writeln!(f, "  timing      dt={} s, steps/window={steps}", self.window_seconds)?;
        writeln!(f, "  windows     {}", self.nwindow)?;
        if let Some(start) = &self.start_time_utc {
            writeln!(f, "  start       {start}")?;
        }
        let names: Vec<&str> = self.payload_sections.iter().map(|s| s.name()).collect();
        writeln!(f, "  payload     {}", names.join(", "))?;
        writeln!(f, "  checksums   {}", if self.checksums { "CRC-32C per window" } else { "none" })?;
        writeln!(f, "  semantics   {}, {}, source {}", self.flux_kind, self.flux_sampling, self.source_flux_sampling)?;
        let target = super::validate::balance_semantics(self.flux_kind, self.variable_step_schedule);
        writeln!(f, "  balance     {target}")?;
        writeln!(f, "  contract    {}", self.preprocessor_contract.as_deref().unwrap_or("not stated"))?;
        for (name, ingredients, present) in self.rows() {
            let sign = if present { '✓' } else { '✗' };
            writeln!(f, "  {sign} {name:<26}{ingredients}")?;
        }
        writeln!(f, "  mass_basis  {}", self.mass_basis)?;
        write!(f, "  grid_type   {}", self.grid_type)?;
        for reason in &self.not_runnable {
            write!(f, "\n  cannot be run: {reason}")?;
        }
        if !self.extra_keys.is_empty() {
            write!(f, "\n  other keys  {}", self.extra_keys.join(", "))?;
        }
        Ok(())
    }
}
