//! Payload sections of a transport file: names, shapes, units and mutual needs.

use serde::{Serialize, Serializer};

/// One section of a window. The order of the variants is the canonical order of a file.
///
/// Sizes below are per panel, `Nc` cells per panel edge and `Nz` layers; `k` counts downward from the model top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    /// `m`: air mass per cell at the start of the window, kg, on the mass basis of the file.
    AirMass,
    /// `am`: air mass through the west side of a cell, kg, positive toward larger i.
    FluxX,
    /// `bm`: air mass through the south side of a cell, kg, positive toward larger j.
    FluxY,
    /// `cm`: air mass through the top of a layer, kg, positive downward; zero at both ends of a column.
    FluxZ,
    /// `ps`: surface pressure at the start of the window, Pa (dry pressure on dry basis).
    SurfacePressure,
    /// `dm`: air mass at the end of the window minus that at its start, kg.
    AirMassTendency,
    /// `pblh`: boundary layer height, m.
    Pblh,
    /// `ustar`: friction velocity, m/s.
    Ustar,
    /// `pbl_hflux`: upward sensible heat flux, W/m².
    SensibleHeatFlux,
    /// `t2m`: temperature at 2 m, K.
    T2m,
    /// `cmfmc`: convective updraft mass flux at interfaces, kg m⁻² s⁻¹, dry air.
    Cmfmc,
    /// `dtrain`: convective detrainment, kg m⁻² s⁻¹, dry air.
    Dtrain,
    /// `entu`: updraft entrainment, kg m⁻² s⁻¹, dry air.
    Entu,
    /// `detu`: updraft detrainment, kg m⁻² s⁻¹, dry air.
    Detu,
    /// `entd`: downdraft entrainment, kg m⁻² s⁻¹, dry air.
    Entd,
    /// `detd`: downdraft detrainment, kg m⁻² s⁻¹, dry air.
    Detd,
    /// `vdiff_u`: eastward wind at layer centres, m/s.
    VdiffU,
    /// `vdiff_v`: northward wind at layer centres, m/s.
    VdiffV,
    /// `vdiff_t`: temperature at layer centres, K.
    VdiffT,
    /// `vdiff_qv`: specific humidity at layer centres, kg/kg.
    VdiffQv,
    /// `dkg`: dry-air exchange between layers k and k+1, kg/s; zero in the lowest layer.
    Dkg,
    /// `pbl_eflux`: upward latent heat flux, W/m².
    LatentHeatFlux,
    /// `cmfmc_cloud_base`: layer index of the convective cloud base counted from the top, stored as a number.
    CmfmcCloudBase,
}

/// Where the values of a section sit within a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Cell centres: `Nc × Nc × Nz`.
    Cells,
    /// Sides normal to i: `(Nc+1) × Nc × Nz`.
    FacesX,
    /// Sides normal to j: `Nc × (Nc+1) × Nz`.
    FacesY,
    /// Layer interfaces: `Nc × Nc × (Nz+1)`.
    Interfaces,
    /// One value per column: `Nc × Nc`.
    Columns,
}

/// Extent of a section on one panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionShape {
    /// Values along i.
    pub ni: usize,
    /// Values along j.
    pub nj: usize,
    /// Levels.
    pub nk: usize,
}

impl SectionShape {
    /// Values of one level of one panel.
    pub fn level_len(&self) -> usize {
        self.ni * self.nj
    }

    /// Values of one panel.
    pub fn panel_len(&self) -> usize {
        self.level_len() * self.nk
    }
}

/// Sections that come together or not at all.
pub(crate) const GROUPS: &[&[Section]] = &[
    &[Section::Pblh, Section::Ustar, Section::SensibleHeatFlux, Section::T2m],
    &[Section::Entu, Section::Detu, Section::Entd, Section::Detd],
    &[Section::VdiffU, Section::VdiffV, Section::VdiffT, Section::VdiffQv],
];

impl Section {
    /// All sections in canonical order.
    pub const ALL: [Section; 23] = [
        Section::AirMass,
        Section::FluxX,
        Section::FluxY,
        Section::FluxZ,
        Section::SurfacePressure,
        Section::AirMassTendency,
        Section::Pblh,
        Section::Ustar,
        Section::SensibleHeatFlux,
        Section::T2m,
        Section::Cmfmc,
        Section::Dtrain,
        Section::Entu,
        Section::Detu,
        Section::Entd,
        Section::Detd,
        Section::VdiffU,
        Section::VdiffV,
        Section::VdiffT,
        Section::VdiffQv,
        Section::Dkg,
        Section::LatentHeatFlux,
        Section::CmfmcCloudBase,
    ];

    /// Sections every file carries.
    pub const CORE: [Section; 5] =
        [Section::AirMass, Section::FluxX, Section::FluxY, Section::FluxZ, Section::SurfacePressure];

    /// Name in `payload_sections`.
    pub fn name(self) -> &'static str {
        match self {
            Section::AirMass => "m",
            Section::FluxX => "am",
            Section::FluxY => "bm",
            Section::FluxZ => "cm",
            Section::SurfacePressure => "ps",
            Section::AirMassTendency => "dm",
            Section::Pblh => "pblh",
            Section::Ustar => "ustar",
            Section::SensibleHeatFlux => "pbl_hflux",
            Section::T2m => "t2m",
            Section::Cmfmc => "cmfmc",
            Section::Dtrain => "dtrain",
            Section::Entu => "entu",
            Section::Detu => "detu",
            Section::Entd => "entd",
            Section::Detd => "detd",
            Section::VdiffU => "vdiff_u",
            Section::VdiffV => "vdiff_v",
            Section::VdiffT => "vdiff_t",
            Section::VdiffQv => "vdiff_qv",
            Section::Dkg => "dkg",
            Section::LatentHeatFlux => "pbl_eflux",
            Section::CmfmcCloudBase => "cmfmc_cloud_base",
        }
    }

    /// Section of that name, compared without regard to case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.name().eq_ignore_ascii_case(name))
    }

    /// Position in the canonical order, from 0.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Unit of the stored values.
    pub fn units(self) -> &'static str {
        match self {
            Section::AirMass | Section::FluxX | Section::FluxY | Section::FluxZ | Section::AirMassTendency => "kg",
            Section::SurfacePressure => "Pa",
            Section::Pblh => "m",
            Section::Ustar | Section::VdiffU | Section::VdiffV => "m s-1",
            Section::SensibleHeatFlux | Section::LatentHeatFlux => "W m-2",
            Section::T2m | Section::VdiffT => "K",
            Section::Cmfmc | Section::Dtrain | Section::Entu | Section::Detu | Section::Entd | Section::Detd => {
                "kg m-2 s-1"
            }
            Section::VdiffQv => "kg kg-1",
            Section::Dkg => "kg s-1",
            Section::CmfmcCloudBase => "1",
        }
    }

    /// Where the values sit.
    pub fn placement(self) -> Placement {
        match self {
            Section::FluxX => Placement::FacesX,
            Section::FluxY => Placement::FacesY,
            Section::FluxZ | Section::Cmfmc => Placement::Interfaces,
            Section::SurfacePressure
            | Section::Pblh
            | Section::Ustar
            | Section::SensibleHeatFlux
            | Section::T2m
            | Section::LatentHeatFlux
            | Section::CmfmcCloudBase => Placement::Columns,
            _ => Placement::Cells,
        }
    }

    /// Whether the values are air mass fluxes, scaled with the flux kind of the file.
    pub fn is_air_flux(self) -> bool {
        matches!(self, Section::FluxX | Section::FluxY | Section::FluxZ)
    }

    /// Extent on one panel of `nc × nc` cells and `nz` layers.
    pub fn shape(self, nc: usize, nz: usize) -> SectionShape {
        let (ni, nj, nk) = match self.placement() {
            Placement::Cells => (nc, nc, nz),
            Placement::FacesX => (nc + 1, nc, nz),
            Placement::FacesY => (nc, nc + 1, nz),
            Placement::Interfaces => (nc, nc, nz + 1),
            Placement::Columns => (nc, nc, 1),
        };
        SectionShape { ni, nj, nk }
    }

    /// Values of the section in one window (six panels).
    pub fn elems(self, nc: usize, nz: usize) -> usize {
        6 * self.shape(nc, nz).panel_len()
    }

    /// As [`Section::elems`], `None` where the number does not fit.
    pub fn checked_elems(self, nc: u64, nz: u64) -> Option<u64> {
        let more = |n: u64, one: bool| n.checked_add(u64::from(one));
        let (ni, nj, nk) = match self.placement() {
            Placement::Cells => (Some(nc), Some(nc), Some(nz)),
            Placement::FacesX => (more(nc, true), Some(nc), Some(nz)),
            Placement::FacesY => (Some(nc), more(nc, true), Some(nz)),
            Placement::Interfaces => (Some(nc), Some(nc), more(nz, true)),
            Placement::Columns => (Some(nc), Some(nc), Some(1)),
        };
        ni?.checked_mul(nj?)?.checked_mul(nk?)?.checked_mul(6)
    }

    /// Sections this one cannot be used without.
    pub fn needs(self) -> &'static [Section] {
        match self {
            Section::Dtrain | Section::CmfmcCloudBase => &[Section::Cmfmc],
            Section::LatentHeatFlux => GROUPS[0],
            _ => GROUPS.iter().find(|g| g.contains(&self)).copied().unwrap_or(&[]),
        }
    }
}

impl std::fmt::Display for Section {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Section {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked sizes of the format: core sections plus `dm`, values per window.
    #[test]
    fn core_sizes() {
        let with_dm = |nc, nz| -> usize {
            Section::CORE.iter().chain(&[Section::AirMassTendency]).map(|s| s.elems(nc, nz)).sum()
        };
        assert_eq!(with_dm(24, 34), 604_224);
        assert_eq!(with_dm(90, 66), 16_206_480);
        assert_eq!(with_dm(180, 72), 70_528_320);
    }

    #[test]
    fn names_round_trip_and_order_is_canonical() {
        for (n, s) in Section::ALL.into_iter().enumerate() {
            assert_eq!(s.index(), n);
            assert_eq!(Section::from_name(&s.name().to_uppercase()), Some(s));
            assert_eq!(s.checked_elems(7, 5), Some(s.elems(7, 5) as u64));
        }
        assert_eq!(Section::from_name("kz"), None);
    }

    #[test]
    fn huge_extents_do_not_wrap() {
        for s in Section::ALL {
            assert_eq!(s.checked_elems(u64::MAX, u64::MAX), None, "{s}");
        }
        assert_eq!(Section::AirMass.checked_elems(1 << 31, 1 << 10), None);
    }
}
