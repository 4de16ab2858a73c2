//! Rows of stored bytes to values of the run's precision.

use kernels::Scalar;

use super::schema::FloatType;
use super::section::Section;

/// What every value of a section must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ValueRule {
    /// A number.
    Finite,
    /// A number above 0.
    FiniteAndPositive,
    /// A number from the first to the second: beyond what any atmosphere has.
    Within(f64, f64),
}

/// Mass fluxes of clouds may be negative by the noise of their archives, kg m⁻² s⁻¹.
const FLUX_NOISE: f64 = -1e-6;
/// More than any cloud moves, kg m⁻² s⁻¹.
const LARGEST_FLUX: f64 = 100.0;

impl ValueRule {
    /// The rule of a section.
    pub(super) fn of(section: Section) -> Self {
        match section {
            Section::AirMass | Section::SurfacePressure => Self::FiniteAndPositive,
            Section::FluxX | Section::FluxY | Section::FluxZ | Section::AirMassTendency | Section::CmfmcCloudBase => {
                Self::Finite
            }
            Section::Pblh => Self::Within(0.0, 1e5),
            Section::Ustar => Self::Within(0.0, 100.0),
            Section::SensibleHeatFlux | Section::LatentHeatFlux => Self::Within(-1e5, 1e5),
            Section::T2m | Section::VdiffT => Self::Within(50.0, 500.0),
            Section::VdiffU | Section::VdiffV => Self::Within(-1e3, 1e3),
            Section::VdiffQv => Self::Within(-0.01, 0.5),
            Section::Cmfmc | Section::Dtrain => Self::Within(FLUX_NOISE, LARGEST_FLUX),
            Section::Entu | Section::Detu | Section::Entd | Section::Detd => Self::Within(0.0, LARGEST_FLUX),
            Section::Dkg => Self::Within(0.0, 1e25),
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            ValueRule::Finite => "finite".into(),
            ValueRule::FiniteAndPositive => "finite and above 0".into(),
            ValueRule::Within(low, high) => format!("from {low} to {high:e}"),
        }
    }

    fn holds<R: Scalar>(self, value: R) -> bool {
        match self {
            ValueRule::Finite => value.is_finite(),
            ValueRule::FiniteAndPositive => value.is_finite() & (value > R::default()),
            ValueRule::Within(low, high) => (value >= R::from_f64(low)) & (value <= R::from_f64(high)),
        }
    }

    /// Position of the first value of a row that breaks the rule.
    pub(super) fn first_broken<R: Scalar>(self, row: &[R]) -> Option<usize> {
        // Without an early exit, so that the usual case vectorises.
        let fine = match self {
            ValueRule::Finite => row.iter().fold(true, |ok, v| ok & v.is_finite()),
            ValueRule::FiniteAndPositive => row.iter().fold(true, |ok, v| ok & v.is_finite() & (*v > R::default())),
            ValueRule::Within(low, high) => {
                let (low, high) = (R::from_f64(low), R::from_f64(high));
                row.iter().fold(true, |ok, v| ok & (*v >= low) & (*v <= high))
            }
        };
        if fine { None } else { row.iter().position(|v| !self.holds(*v)) }
    }
}

/// Converts little-endian bytes to `out.len()` values, times `scale` in f64 if given, rounded once.
pub(super) fn convert_row<R: Scalar>(bytes: &[u8], float_type: FloatType, scale: Option<f64>, out: &mut [R]) {
    match (float_type, scale) {
        (FloatType::Float32, None) => each(bytes, out, |b| R::from_f64(f64::from(f32::from_le_bytes(b)))),
        (FloatType::Float64, None) => each(bytes, out, |b| R::from_f64(f64::from_le_bytes(b))),
        (FloatType::Float32, Some(s)) => each(bytes, out, |b| R::from_f64(f64::from(f32::from_le_bytes(b)) * s)),
        (FloatType::Float64, Some(s)) => each(bytes, out, |b| R::from_f64(f64::from_le_bytes(b) * s)),
    }
}

#[inline(always)]
fn each<const N: usize, R>(bytes: &[u8], out: &mut [R], value: impl Fn([u8; N]) -> R) {
    let (stored, rest) = bytes.as_chunks::<N>();
    debug_assert!(rest.is_empty() && stored.len() == out.len());
    for (out, bytes) in out.iter_mut().zip(stored) {
        *out = value(*bytes);
    }
}

/// The value at position `index`, in f64.
pub(super) fn value_at(bytes: &[u8], float_type: FloatType, index: usize) -> f64 {
    match float_type {
        FloatType::Float32 => f64::from(f32::from_le_bytes(bytes.as_chunks::<4>().0[index])),
        FloatType::Float64 => f64::from_le_bytes(bytes.as_chunks::<8>().0[index]),
    }
}

/// Appends all values, in f64.
pub(super) fn extend_f64(bytes: &[u8], float_type: FloatType, out: &mut Vec<f64>) {
    match float_type {
        FloatType::Float32 => out.extend(bytes.as_chunks().0.iter().map(|b| f64::from(f32::from_le_bytes(*b)))),
        FloatType::Float64 => out.extend(bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_no_atmosphere_has_break_the_rule_of_their_section() {
        for (section, good, bad) in [
            (Section::AirMass, 1e12, 0.0),
            (Section::Dkg, 0.0, -1.0),
            (Section::Cmfmc, -1e-9, -0.002),
            (Section::Dtrain, 0.0, -0.01),
            (Section::Entu, 0.1, 1e30),
            (Section::Detd, 0.0, -1e-9),
            (Section::Pblh, 0.0, -100.0),
            (Section::Ustar, 0.3, -1.0),
            (Section::T2m, 288.0, 0.0),
            (Section::VdiffT, 210.0, -5.0),
            (Section::VdiffQv, -1e-6, 1.5),
            (Section::VdiffU, -120.0, 1e300),
            (Section::SensibleHeatFlux, -300.0, f64::INFINITY),
            (Section::CmfmcCloudBase, 0.0, f64::NAN),
        ] {
            let rule = ValueRule::of(section);
            assert_eq!(rule.first_broken(&[good; 5]), None, "{section}");
            assert_eq!(rule.first_broken(&[good, good, bad, good]), Some(2), "{section}: {}", rule.text());
            assert_eq!(rule.first_broken(&[good as f32, bad as f32]), Some(1), "{section}");
        }
        for section in Section::ALL {
            assert_eq!(ValueRule::of(section).first_broken(&[f64::NAN]), Some(0), "{section}");
        }
    }
}
