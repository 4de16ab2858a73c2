//! Choices in the evaluation of face fluxes.

/// How the wind of a face is made from those of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaceFluxes {
    /// Wind vector interpolated to the mid-point of the face, projected on its normal.
    Vector(FaceInterpolation),
    /// Mean of the wind components across the panel's grid lines; only the panel's cell at panel edges. What older models
    /// do.
    PanelAverage(FaceLengths),
}

/// Interpolation of the wind vector across a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaceInterpolation {
    /// Between the two cells beside the face, by distance.
    Linear,
    /// Cubic in four cells where a panel has two on each side.
    Cubic,
    /// Cubic, then smoothed along the grid lines as winds are on their way through the D grid of FV3.
    Fv3,
}

/// Length of the faces of [`FaceFluxes::PanelAverage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaceLengths {
    /// Centre-line width of the cell on the high side (at the last face of a row, of the last cell).
    CellCenterline,
    /// Great-circle length of the face.
    Edge,
}

impl Default for FaceFluxes {
    /// Vectors, as on the D grid of FV3.
    fn default() -> Self {
        FaceFluxes::Vector(FaceInterpolation::Fv3)
    }
}

impl FaceFluxes {
    /// All choices.
    pub const ALL: [FaceFluxes; 5] = [
        FaceFluxes::Vector(FaceInterpolation::Linear),
        FaceFluxes::Vector(FaceInterpolation::Cubic),
        FaceFluxes::Vector(FaceInterpolation::Fv3),
        FaceFluxes::PanelAverage(FaceLengths::CellCenterline),
        FaceFluxes::PanelAverage(FaceLengths::Edge),
    ];

    /// Name in configurations and headers, without the choice within.
    pub fn name(self) -> &'static str {
        match self {
            FaceFluxes::Vector(_) => "vector",
            FaceFluxes::PanelAverage(_) => "panel_average",
        }
    }
}

macro_rules! named {
    ($kind:ident: $($variant:ident = $name:literal),+) => {
        impl $kind {
            /// All choices.
            pub const ALL: &'static [$kind] = &[$($kind::$variant),+];

            /// Name in configurations and headers.
            pub fn name(self) -> &'static str {
                match self { $($kind::$variant => $name),+ }
            }

            /// Choice of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|choice| choice.name() == name)
            }
        }
    };
}

named!(FaceInterpolation: Linear = "linear", Cubic = "cubic", Fv3 = "fv3");
named!(FaceLengths: CellCenterline = "cell_centerline", Edge = "edge");

impl FaceInterpolation {
    /// Cells that are at least this many rows away from the panel edges have the same formula on opposite faces; nearer
    /// ones, at the rows where the formula changes, see a divergence of the order of its error.
    pub fn uniform_depth(self) -> usize {
        match self {
            FaceInterpolation::Linear => 1,
            FaceInterpolation::Cubic => 2,
            FaceInterpolation::Fv3 => 4,
        }
    }
}
