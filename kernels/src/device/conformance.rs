//! The numerics on a device against the numerics in Rust, function by function.

use crate::numerics;
use crate::real::Real;

/// One public function of the numerics over flat numbers.
///
/// Kernel `conform_<name>` of [`conformance_source`] computes the same for many items. Tuples and arrays are flattened in
/// order; a mask enters as a number (positive is true) and leaves as 1 or 0.
#[derive(Clone, Copy, Debug)]
pub struct NumericsCase {
    /// Name of the function.
    pub name: &'static str,
    /// Numbers in the arguments.
    pub inputs: usize,
    /// Numbers in the result.
    pub outputs: usize,
    /// The function in single precision: `inputs` numbers to `outputs` numbers; panics if there are fewer.
    pub float32: fn(&[f32], &mut [f32]),
    /// The function in double precision: `inputs` numbers to `outputs` numbers; panics if there are fewer.
    pub float64: fn(&[f64], &mut [f64]),
}

impl NumericsCase {
    /// Name of the kernel.
    pub fn kernel(&self) -> String {
        format!("conform_{}", self.name)
    }
}

include!(concat!(env!("OUT_DIR"), "/conformance.rs"));

/// C text with kernel `conform_<name>(in, out, n)` for every case, to be put behind the
/// [`preamble`](super::preamble).
///
/// Item i < n takes its inputs from `in[i * inputs ..]` and leaves its outputs in `out[i * outputs ..]`; one thread per
/// item along axis 0.
pub fn conformance_source() -> &'static str {
    include_str!(concat!(env!("OUT_DIR"), "/conformance.h"))
}
