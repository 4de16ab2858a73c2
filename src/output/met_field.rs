//! Column fields of the meteorology.

use crate::met::Section;

/// A column field of the meteorology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetField {
    /// `dry_surface_pressure`: weight of the dry air that the run carries, Pa.
    DrySurfacePressure,
    /// `surface_pressure`: the same with the water vapour of the meteorology, Pa.
    SurfacePressure,
    /// `boundary_layer_height`: as the meteorology has it, m above the surface.
    BoundaryLayerHeight,
    /// `tropopause_height`: of the lapse-rate tropopause, m above the surface.
    TropopauseHeight,
    /// `tropopause_pressure`: of the lapse-rate tropopause, Pa.
    TropopausePressure,
}

impl MetField {
    /// All of them, in the order of their planes in [`MetColumns`](super::MetColumns).
    pub const ALL: [MetField; 5] = [
        MetField::DrySurfacePressure,
        MetField::SurfacePressure,
        MetField::BoundaryLayerHeight,
        MetField::TropopauseHeight,
        MetField::TropopausePressure,
    ];

    /// Name in configurations and files.
    pub fn name(self) -> &'static str {
        match self {
            MetField::DrySurfacePressure => "dry_surface_pressure",
            MetField::SurfacePressure => "surface_pressure",
            MetField::BoundaryLayerHeight => "boundary_layer_height",
            MetField::TropopauseHeight => "tropopause_height",
            MetField::TropopausePressure => "tropopause_pressure",
        }
    }

    /// Sections of the transport files it takes beside the air mass, each with the key that includes it in them.
    pub fn needs(self) -> &'static [(Section, &'static str)] {
        const TEMPERATURE: (Section, &str) = (Section::VdiffT, "include_vdiff_fields");
        const HUMIDITY: (Section, &str) = (Section::VdiffQv, "include_vdiff_fields");
        match self {
            MetField::DrySurfacePressure => &[],
            MetField::SurfacePressure => &[HUMIDITY],
            MetField::BoundaryLayerHeight => &[(Section::Pblh, "include_surface")],
            MetField::TropopauseHeight | MetField::TropopausePressure => &[TEMPERATURE, HUMIDITY],
        }
    }
}
