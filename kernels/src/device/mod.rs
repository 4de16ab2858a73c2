//! Device text: portable C for CUDA, OpenCL and Metal.
//!
//! [`portable.h`](PORTABLE) holds the words in which the languages differ. The numerics in C are generated from
//! [`numerics`](crate::numerics) when this crate is built (crate `device-form`); no formula is written twice.

pub mod conformance;

/// The words in which the device languages differ.
pub const PORTABLE: &str = include_str!("portable.h");

/// Precision a device program is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// `f32`, C `float`.
    Float32,
    /// `f64`, C `double`. Metal has none.
    Float64,
}

impl Precision {
    /// Both.
    pub const ALL: [Precision; 2] = [Precision::Float32, Precision::Float64];
}

/// C text of the numerics: `nm_<name>` per function, structs `value_<code>` with constructors `make_<code>`, where
/// `t2rr` is `(R, R)` and `a5r` is `[R; 5]`. It needs [`PORTABLE`] before it.
pub fn numerics_source() -> &'static str {
    include_str!(concat!(env!("OUT_DIR"), "/numerics.h"))
}

/// Everything that precedes the kernels of a program: `REAL`, the portable words and the numerics.
///
/// Lines are numbered after the file they come from; text put behind should begin with its own `#line`.
pub fn preamble(precision: Precision) -> String {
    let real = match precision {
        Precision::Float32 => "#define REAL float\n",
        Precision::Float64 => {
            "#define REAL double\n#define REAL_IS_FLOAT64\n\
             #if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)\n\
             #pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#endif\n"
        }
    };
    format!("{real}#line 1 \"portable.h\"\n{PORTABLE}{}", numerics_source())
}
