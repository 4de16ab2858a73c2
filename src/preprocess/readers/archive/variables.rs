//! What is known of the variables of the archives of GEOS: units and believable values.

use std::path::Path;

use super::super::super::PreprocessError;
use super::super::{Quantity, factor};
use crate::met::Section;

/// A variable of the archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Variable {
    /// Surface pressure.
    Ps,
    /// Specific humidity.
    Qv,
    /// Temperature.
    T,
    /// Wind towards east.
    U,
    /// Wind towards north.
    V,
    /// Thickness of the layers.
    Delp,
    /// Transport through the eastern faces.
    Mfxc,
    /// Transport through the northern faces.
    Mfyc,
    /// Convective updraft at the interfaces.
    Cmfmc,
    /// Convective detrainment.
    Dtrain,
    /// Tendency of convective condensate.
    Dqrcu,
    /// Height of the boundary layer.
    Pblh,
    /// Friction velocity.
    Ustar,
    /// Sensible heat flux, upward.
    Hflux,
    /// Latent heat flux, upward.
    Eflux,
    /// Temperature at 2 m.
    T2m,
}

impl Variable {
    /// Name in the files.
    pub(in super::super) fn name(self) -> &'static str {
        match self {
            Self::Ps => "PS",
            Self::Qv => "QV",
            Self::T => "T",
            Self::U => "U",
            Self::V => "V",
            Self::Delp => "DELP",
            Self::Mfxc => "MFXC",
            Self::Mfyc => "MFYC",
            Self::Cmfmc => "CMFMC",
            Self::Dtrain => "DTRAIN",
            Self::Dqrcu => "DQRCU",
            Self::Pblh => "PBLH",
            Self::Ustar => "USTAR",
            Self::Hflux => "HFLUX",
            Self::Eflux => "EFLUX",
            Self::T2m => "T2M",
        }
    }

    /// Variable of a section that has one value per column and is taken as it is.
    pub(in super::super) fn of_ground(section: Section) -> Option<Self> {
        match section {
            Section::Pblh => Some(Self::Pblh),
            Section::Ustar => Some(Self::Ustar),
            Section::SensibleHeatFlux => Some(Self::Hflux),
            Section::LatentHeatFlux => Some(Self::Eflux),
            Section::T2m => Some(Self::T2m),
            _ => None,
        }
    }

    fn quantity(self) -> Quantity {
        match self {
            Self::Ps | Self::Delp => Quantity::Pressure,
            Self::Qv => Quantity::SpecificHumidity,
            Self::T | Self::T2m => Quantity::Temperature,
            Self::U | Self::V | Self::Ustar => Quantity::Wind,
            Self::Mfxc | Self::Mfyc => Quantity::PressureArea,
            Self::Cmfmc | Self::Dtrain => Quantity::MassFlux,
            Self::Dqrcu => Quantity::SpecificHumidityRate,
            Self::Pblh => Quantity::Length,
            Self::Hflux | Self::Eflux => Quantity::EnergyFlux,
        }
    }

    /// Least and largest believable value in SI units, and the rule in words.
    fn believed(self) -> (f64, f64, &'static str) {
        match self {
            Self::Ps => (3e4, 1.2e5, "surface pressures lie from 300 to 1200 hPa"),
            Self::Qv => (-1e-6, 0.2, "specific humidity lies from 0 to 0.2 kg/kg"),
            Self::T => (100.0, 400.0, "temperatures lie from 100 to 400 K"),
            Self::U | Self::V => (-500.0, 500.0, "winds lie within 500 m/s"),
            Self::Delp => (f64::MIN_POSITIVE, 2e4, "layers are thicker than 0 and thinner than 200 hPa"),
            // 450 s of 150 m/s through 25 hPa × 56 km (C180, 72 layers) are 1e13; fill values are 1e15.
            Self::Mfxc | Self::Mfyc => (-5e14, 5e14, "transports of one step lie within 5e14 Pa m2"),
            Self::Cmfmc | Self::Dtrain => (-1e-9, 100.0, "convective fluxes are not negative and below 100 kg m-2 s-1"),
            Self::Dqrcu => (-1.0, 1.0, "tendencies of condensate lie within 1 kg kg-1 s-1"),
            Self::Pblh => (f64::MIN_POSITIVE, 2e4, "heights of the boundary layer lie above 0 and below 20 km"),
            Self::Ustar => (0.0, 50.0, "friction velocities lie from 0 to 50 m/s"),
            Self::Hflux | Self::Eflux => (-5000.0, 5000.0, "heat fluxes lie within 5000 W m-2"),
            Self::T2m => (150.0, 350.0, "temperatures at 2 m lie from 150 to 350 K"),
        }
    }
}

/// Factor of the values of a variable with the attribute `units`.
pub(in super::super) fn check_units(
    path: &Path,
    variable: Variable,
    units: Option<&str>,
) -> Result<f64, PreprocessError> {
    factor(variable.quantity(), units).map_err(|problem| {
        PreprocessError::file(
            path,
            format!("'{}' {problem}", variable.name()),
            "mend the attribute, or convert the values",
        )
    })
}

/// Brings values to SI units and refuses those that no atmosphere has; `place` tells where a value lies.
pub(in super::super) fn check_values(
    path: &Path,
    variable: Variable,
    by: f64,
    values: &mut [f64],
    place: impl Fn(usize) -> String,
) -> Result<(), PreprocessError> {
    let (least, most, rule) = variable.believed();
    for n in 0..values.len() {
        let value = values[n] * by;
        if !(value >= least && value <= most) {
            let problem = format!("'{}' is {value} at {}", variable.name(), place(n));
            return Err(PreprocessError::file(path, problem, rule));
        }
        // Rounding just below zero is zero.
        values[n] = if least > -1e-5 && value < 0.0 { 0.0 } else { value };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Variable; 16] = [
        Variable::Ps,
        Variable::Qv,
        Variable::T,
        Variable::U,
        Variable::V,
        Variable::Delp,
        Variable::Mfxc,
        Variable::Mfyc,
        Variable::Cmfmc,
        Variable::Dtrain,
        Variable::Dqrcu,
        Variable::Pblh,
        Variable::Ustar,
        Variable::Hflux,
        Variable::Eflux,
        Variable::T2m,
    ];

    /// Fill values of GEOS files are 1e15; no variable takes them, nor what is not finite (pitfall T40-24).
    #[test]
    fn fill_values_and_non_finite_ones_are_refused() {
        for variable in ALL {
            for bad in [1e15, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let mut values = [bad];
                let error = check_values(Path::new("a.nc"), variable, 1.0, &mut values, |n| format!("cell {n}"));
                let text = error.unwrap_err().to_string();
                assert!(text.contains(variable.name()) && text.contains("cell 0"), "{text}");
            }
        }
    }

    /// Spec 40 §1.3 rule 1 and pitfall T40-5.
    #[test]
    fn surface_pressure_in_both_units() {
        let path = Path::new("CTM_I1.nc");
        for (units, stored) in [("Pa", 98_000.0), ("hPa", 980.0), ("mbar", 980.0), ("millibars", 980.0)] {
            let by = check_units(path, Variable::Ps, Some(units)).unwrap();
            let mut values = [stored];
            check_values(path, Variable::Ps, by, &mut values, |_| String::new()).unwrap();
            assert!((values[0] / 98_000.0 - 1.0f64).abs() < 1e-15);
        }
        for units in [None, Some("atm"), Some("1")] {
            let error = check_units(path, Variable::Ps, units).unwrap_err().to_string();
            assert!(error.contains("CTM_I1.nc") && error.contains("'PS'"), "{error}");
        }
        // Wrongly labelled pressures are seen by their size.
        let mut values = [980.0];
        assert!(check_values(path, Variable::Ps, 1.0, &mut values, |_| String::new()).is_err());
    }

    #[test]
    fn rounding_below_zero_is_zero() {
        let mut values = [-1e-12, 0.5];
        check_values(Path::new("a"), Variable::Cmfmc, 1.0, &mut values, |_| String::new()).unwrap();
        assert_eq!(values, [0.0, 0.5]);
        let mut winds = [-1e-12];
        check_values(Path::new("a"), Variable::U, 1.0, &mut winds, |_| String::new()).unwrap();
        assert_eq!(winds, [-1e-12]);
    }
}
