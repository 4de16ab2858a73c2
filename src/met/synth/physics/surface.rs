//! Surface of the weather flow.

use std::f64::consts::PI;

/// What happens at and near the ground.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surface {
    /// Boundary layer height in m.
    pub pblh: f64,
    /// Friction velocity in m/s.
    pub ustar: f64,
    /// Upward sensible heat flux in W/m².
    pub sensible_heat: f64,
    /// Upward latent heat flux in W/m².
    pub latent_heat: f64,
    /// Temperature at 2 m in K.
    pub t2m: f64,
    /// Sunshine on land in 0..1.
    pub heating: f64,
}

impl Surface {
    /// State at a point and time under a lowest-layer wind of `wind` m/s.
    pub fn new([x, y, z]: [f64; 3], time_s: f64, wind: f64) -> Self {
        // A smooth stand-in for continents, and the sun moving west from 180 degrees.
        let land = 0.5 + x * y + 0.25 * z * (1.0 - z * z);
        let (sin, cos) = (PI - 2.0 * PI * time_s / 86_400.0).sin_cos();
        let height = f64::max(0.0, x * cos + y * sin);
        let sun = height * height;
        let warm = 1.0 - z * z;
        Self {
            pblh: (1.0 - land) * (600.0 + 200.0 * warm) + land * (180.0 + 1600.0 * sun),
            ustar: 0.08 + 0.04 * wind * (1.0 + land),
            sensible_heat: (1.0 - land) * 12.0 + land * (220.0 * sun - 25.0),
            latent_heat: (1.0 - land) * (20.0 + 100.0 * warm) + land * (10.0 + 200.0 * sun * warm),
            t2m: 301.0 - 48.0 * z * z + land * (10.0 * sun - 4.0),
            heating: land * sun,
        }
    }
}
