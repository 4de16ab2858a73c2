//! Names of the flows.

use super::SynthError;
use super::flows;
use super::recipe::Recipe;

/// An analytic flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SynthFlow {
    /// Solid-body rotation once in 12 days (Williamson et al. 1992, case 1); every layer alike.
    SolidBody {
        /// Angle in degrees between the axis of rotation and the pole; 0 is zonal, 90 passes over the poles.
        angle_deg: f64,
    },
    /// Non-divergent deformation with rotation, period 12 days (Lauritzen et al. 2012); every layer alike.
    Deformation,
    /// Divergent deformation with rotation, period 12 days (Lauritzen et al. 2012); every layer alike, density is carried
    /// along from 1.
    Divergent,
    /// Overturning cells in a zonal flow, period 1 day (DCMIP 2012 case 1-2).
    Hadley,
    /// Three-dimensional deformation, period 12 days (DCMIP 2012 case 1-1).
    Deformation3d,
    /// Jets, travelling waves, overturning cells and moving surface pressure of realistic size.
    Weather,
}

impl SynthFlow {
    /// Names as on the command line.
    pub const NAMES: [&'static str; 6] =
        ["solid-body", "deformation", "divergent", "hadley", "deformation-3d", "weather"];

    /// Flow of that name; solid-body rotation about the pole.
    ///
    /// # Errors
    /// [`SynthError::UnknownFlow`].
    pub fn from_name(name: &str) -> Result<Self, SynthError> {
        match name {
            "solid-body" => Ok(SynthFlow::SolidBody { angle_deg: 0.0 }),
            "deformation" => Ok(SynthFlow::Deformation),
            "divergent" => Ok(SynthFlow::Divergent),
            "hadley" => Ok(SynthFlow::Hadley),
            "deformation-3d" => Ok(SynthFlow::Deformation3d),
            "weather" => Ok(SynthFlow::Weather),
            _ => Err(SynthError::UnknownFlow { name: name.to_owned() }),
        }
    }

    /// Name as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            SynthFlow::SolidBody { .. } => "solid-body",
            SynthFlow::Deformation => "deformation",
            SynthFlow::Divergent => "divergent",
            SynthFlow::Hadley => "hadley",
            SynthFlow::Deformation3d => "deformation-3d",
            SynthFlow::Weather => "weather",
        }
    }

    /// Definition of the flow with `levels` layers.
    pub(super) fn recipe(self, levels: usize) -> Result<Recipe, SynthError> {
        if !(1..=1000).contains(&levels) {
            return Err(SynthError::Levels { levels });
        }
        Ok(match self {
            SynthFlow::SolidBody { angle_deg } if !angle_deg.is_finite() => {
                return Err(SynthError::Angle { angle_deg });
            }
            SynthFlow::SolidBody { angle_deg } => flows::solid_body(levels, angle_deg),
            SynthFlow::Deformation => flows::deformation(levels),
            SynthFlow::Divergent => flows::divergent(levels),
            SynthFlow::Hadley => flows::hadley(levels),
            SynthFlow::Deformation3d => flows::deformation_3d(levels),
            SynthFlow::Weather => flows::weather(levels),
        }?)
    }
}
