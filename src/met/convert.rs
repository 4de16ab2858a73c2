//! Rows of stored bytes to values of the run's precision.

use kernels::Scalar;

use super::schema::FloatType;

/// What every value of a section must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueRule {
    Finite,
    FiniteAndPositive,
}

impl ValueRule {
    pub(super) fn text(self) -> &'static str {
        match self {
            ValueRule::Finite => "finite",
            ValueRule::FiniteAndPositive => "finite and above 0",
        }
    }

    fn holds<R: Scalar>(self, value: R) -> bool {
        match self {
            ValueRule::Finite => value.is_finite(),
            ValueRule::FiniteAndPositive => value.is_finite() & (value > R::default()),
        }
    }

    /// Position of the first value of a row that breaks the rule.
    pub(super) fn first_broken<R: Scalar>(self, row: &[R]) -> Option<usize> {
        // Without an early exit, so that the usual case vectorises.
        let fine = match self {
            ValueRule::Finite => row.iter().fold(true, |ok, v| ok & v.is_finite()),
            ValueRule::FiniteAndPositive => row.iter().fold(true, |ok, v| ok & v.is_finite() & (*v > R::default())),
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
