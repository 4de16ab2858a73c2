//! Fields of the archive.

use jiff::Timestamp;

use crate::preprocess::grib::{GribTime, GribWanted};

/// A field of the archive: number over all tables of ECMWF, short name, believable values in its units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Parameter {
    id: u32,
    pub(super) name: &'static str,
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Parameter {
    const fn new(id: u32, name: &'static str, least: f64, most: f64) -> Self {
        Self { id, name, least, most }
    }

    /// The field on a level (`None`: it has one only) at a time.
    pub(super) fn at(self, level: Option<u32>, time: Timestamp) -> GribWanted {
        GribWanted { parameter: self.id, name: self.name, level, time: GribTime::Valid(time) }
    }

    /// The field on a level, `step` hours after the start of a forecast.
    pub(super) fn after(self, level: u32, base: Timestamp, step: u32) -> GribWanted {
        let time = GribTime::Forecast { base, step };
        GribWanted { parameter: self.id, name: self.name, level: Some(level), time }
    }
}

/// Vorticity, s⁻¹; spectral, like the next three.
pub(super) const VORTICITY: Parameter = Parameter::new(138, "vo", -1.0, 1.0);
/// Divergence, s⁻¹.
pub(super) const DIVERGENCE: Parameter = Parameter::new(155, "d", -1.0, 1.0);
/// Temperature, K.
pub(super) const TEMPERATURE: Parameter = Parameter::new(130, "t", 100.0, 400.0);
/// Logarithm of the surface pressure in Pa; believed as a pressure.
pub(super) const LOG_PRESSURE: Parameter = Parameter::new(152, "lnsp", 3e4, 1.2e5);
/// Specific humidity, kg kg⁻¹. Packing may leave it below zero.
pub(super) const HUMIDITY: Parameter = Parameter::new(133, "q", -0.01, 0.2);

/// Mean updraught, kg m⁻² s⁻¹.
pub(super) const UPDRAUGHT: Parameter = Parameter::new(235_009, "avg_umf", -1.0, 100.0);
/// Mean downdraught, kg m⁻² s⁻¹, negative.
pub(super) const DOWNDRAUGHT: Parameter = Parameter::new(235_010, "avg_dmf", -100.0, 1.0);
/// Mean detrainment from updraughts, kg m⁻³ s⁻¹.
pub(super) const UPDRAUGHT_DETRAINMENT: Parameter = Parameter::new(235_011, "avg_udr", -1.0, 1.0);
/// Mean detrainment from downdraughts, kg m⁻³ s⁻¹.
pub(super) const DOWNDRAUGHT_DETRAINMENT: Parameter = Parameter::new(235_012, "avg_ddr", -1.0, 1.0);

/// Height of the boundary layer, m.
pub(super) const PBL_HEIGHT: Parameter = Parameter::new(159, "blh", f64::MIN_POSITIVE, 2e4);
/// Friction velocity, m s⁻¹.
pub(super) const FRICTION: Parameter = Parameter::new(228_003, "zust", 0.0, 50.0);
/// Sensible heat of an hour, J m⁻², downward; as a mean of 5000 W m⁻² at most.
pub(super) const SENSIBLE_HEAT: Parameter = Parameter::new(146, "sshf", -1.8e7, 1.8e7);
/// Latent heat of an hour, J m⁻², downward.
pub(super) const LATENT_HEAT: Parameter = Parameter::new(147, "slhf", -1.8e7, 1.8e7);
/// Temperature at 2 m, K.
pub(super) const TEMPERATURE_2M: Parameter = Parameter::new(167, "2t", 150.0, 350.0);
