//! Choices of vertical physics, and what they need from a window.

use kernels::columns::convection::cmfmc::{CloudBase, CmfmcOptions};
use kernels::columns::convection::tm5::Tm5Options;

use crate::met::Section;

/// Where the exchange of air between layers comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum ExchangeSource {
    /// The same diffusivity everywhere, m² s⁻¹.
    Constant(f64),
    /// Diffusivity by layer or by height.
    Profile(DiffusivityProfile),
    /// Diffusivity of Beljaars and Viterbo from surface fields.
    BeljaarsViterbo,
    /// Local diffusivity of Holtslag and Boville from surface and upper-air fields.
    HoltslagBovilleLocal,
    /// Non-local scheme of Holtslag and Boville as in GEOS-Chem, which also lofts surface emissions.
    NonlocalVdiff,
    /// Exchange stored in the transport file.
    Dkg,
}

/// A prescribed diffusivity, m² s⁻¹.
#[derive(Clone, Debug, PartialEq)]
pub enum DiffusivityProfile {
    /// One value per layer, top first.
    Layers(Vec<f64>),
    /// Values at heights above the surface, m, increasing; linear in between, constant beyond both ends.
    Heights {
        /// The heights.
        z: Vec<f64>,
        /// The values.
        kz: Vec<f64>,
    },
}

/// Form of the vertical diffusion solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KzUpdate {
    /// Fluxes of the tridiagonal solution move tracer between layers.
    Flux,
    /// Directed transfers of tracer mass.
    MassSpace,
    /// The tridiagonal solution itself, written back: a diagnostic that does not conserve.
    Matrix,
}

/// Order of diffusion and emission in the middle of a substep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Centre {
    /// Half the diffusion, the emissions, the other half; all the diffusion at once where nothing is emitted.
    DiffuseEmitDiffuse,
    /// The emissions, then the diffusion.
    EmitThenDiffuse,
}

/// Vertical diffusion.
#[derive(Clone, Debug, PartialEq)]
pub struct Diffusion {
    /// Where the exchange comes from.
    pub source: ExchangeSource,
    /// Form of the solve.
    pub update: KzUpdate,
    /// Order of diffusion and emissions.
    pub centre: Centre,
}

impl Diffusion {
    /// Sections of a window it needs, each with the preprocessing switch that writes it.
    pub fn needs(&self) -> Vec<(Section, &'static str)> {
        const SURFACE: [Section; 4] = [Section::Pblh, Section::Ustar, Section::SensibleHeatFlux, Section::T2m];
        const LAYERS: [Section; 4] = [Section::VdiffU, Section::VdiffV, Section::VdiffT, Section::VdiffQv];
        let (surface, layers, latent, dkg) = match self.source {
            ExchangeSource::Constant(_) | ExchangeSource::Profile(_) => (false, false, false, false),
            ExchangeSource::BeljaarsViterbo => (true, false, false, false),
            ExchangeSource::HoltslagBovilleLocal => (true, true, false, false),
            ExchangeSource::NonlocalVdiff => (true, true, true, false),
            ExchangeSource::Dkg => (false, false, false, true),
        };
        let mut needs = Vec::new();
        let mut add = |wanted: bool, sections: &[Section], switch| {
            needs.extend(sections.iter().filter(|_| wanted).map(|section| (*section, switch)));
        };
        add(surface, &SURFACE, "include_surface");
        add(layers, &LAYERS, "include_vdiff_fields");
        add(latent, &[Section::LatentHeatFlux], "include_surface");
        add(dkg, &[Section::Dkg], "include_tm5_diffusion");
        needs
    }

    /// Whether it spreads surface emissions over the column.
    pub fn lofts(&self) -> bool {
        self.source == ExchangeSource::NonlocalVdiff
    }
}

/// Convective transport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Convection {
    /// Implicit mass fluxes from stored entrainment and detrainment.
    Tm5(ImplicitConvection),
    /// Explicit plume from the stored cloud mass flux.
    Cmfmc(CmfmcOptions),
    /// Implicit mass fluxes from the stored cloud mass flux.
    CmfmcMatrix(ImplicitConvection),
}

/// Choices of implicit convection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImplicitConvection {
    /// The scheme.
    pub options: Tm5Options,
    /// How a device factors the matrices.
    pub factors: DeviceFactors,
    /// GiB for matrices where a device factors them one by one, > 0.
    pub workspace_gib: f64,
}

/// How a device factors the matrices of implicit convection. The results are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceFactors {
    /// By a group of threads in their shared memory.
    Collaborative,
    /// By one thread each.
    OneByOne,
}

impl Convection {
    /// Sections of a window it needs, each with the preprocessing switch that writes it.
    pub fn needs(&self) -> Vec<(Section, &'static str)> {
        let convection = "include_convection";
        match self {
            Self::Tm5(_) => {
                [Section::Entu, Section::Detu, Section::Entd, Section::Detd].map(|s| (s, convection)).to_vec()
            }
            Self::Cmfmc(options) => {
                let mut needs = vec![(Section::Cmfmc, convection)];
                if options.cloud_base == CloudBase::Archived {
                    needs.push((Section::CmfmcCloudBase, "include_convective_cloud_base"));
                }
                needs
            }
            Self::CmfmcMatrix(_) => vec![(Section::Cmfmc, convection), (Section::Dtrain, convection)],
        }
    }
}
