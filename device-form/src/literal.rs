//! Constants as decimals.

/// Why a constant cannot be used in both precisions; `None` if it can.
///
/// It has to be +0, or normal in single precision: denormal numbers are flushed on some devices, and compilers order −0
/// below +0 where the text says they are equal.
pub fn fault(value: f64) -> Option<&'static str> {
    let single = value as f32;
    if value == 0.0 && value.is_sign_negative() {
        Some("-0.0 is not a constant: compilers order it below 0.0; write 0.0")
    } else if value == 0.0 || single.is_normal() {
        None
    } else {
        Some("this constant is neither 0 nor a normal number in single precision")
    }
}

/// The constant as `LITERAL(single, double)`: the shortest decimals that read back exactly in each precision, each with a
/// point or an exponent.
pub fn text(value: f64) -> String {
    format!("LITERAL({:?}f, {value:?})", value as f32)
}
