//! From winds to fluxes: the choices that all archives of winds share.

use serde_json::{Map, Value, json};

use super::WindRegrid;
use super::wind_to_flux::{FaceFluxes, FaceInterpolation, FaceLengths};

/// Air that the winds carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thickness {
    /// Dry air.
    Dry,
    /// All air.
    Moist,
}

/// Winds that stand for a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FluxTime {
    /// Their mean over the window.
    WindowMean,
    /// Those at its start.
    WindowStart,
}

/// How winds become fluxes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FluxSettings {
    /// How winds get to the cube.
    pub wind_regrid: WindRegrid,
    /// How winds at cell centres become fluxes through faces.
    pub faces: FaceFluxes,
    /// Air that they carry.
    pub thickness: Thickness,
    /// When they are taken.
    pub time: FluxTime,
}

impl FluxSettings {
    /// Header keys that tell these choices (names as in spec 40 §1.2).
    pub fn provenance(&self) -> Map<String, Value> {
        let (fluxes, detail) = match self.faces {
            FaceFluxes::Vector(interpolation) => {
                let name = match interpolation {
                    FaceInterpolation::Linear => "linear",
                    FaceInterpolation::Cubic => "cubic",
                    FaceInterpolation::Fv3 => "fv3",
                };
                ("vector", ("face_interpolation", name))
            }
            FaceFluxes::PanelAverage(lengths) => {
                let name = match lengths {
                    FaceLengths::CellCenterline => "cell_centerline",
                    FaceLengths::Edge => "edge",
                };
                ("panel_average", ("flux_face_lengths", name))
            }
        };
        let regrid = match self.wind_regrid {
            WindRegrid::Cartesian => "cartesian",
            WindRegrid::Scalar => "scalar",
        };
        let thickness = match self.thickness {
            Thickness::Dry => "dry_mass",
            Thickness::Moist => "moist",
        };
        let time = match self.time {
            FluxTime::WindowMean => "window_mean",
            FluxTime::WindowStart => "window_start",
        };
        let keys = [
            ("face_fluxes", fluxes),
            detail,
            ("wind_regrid", regrid),
            ("flux_thickness", thickness),
            ("flux_time_sampling", time),
        ];
        keys.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect()
    }
}
