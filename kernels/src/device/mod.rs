//! Device text: portable C for CUDA, OpenCL and Metal.
//!
//! [`portable.h`](PORTABLE) holds the words in which the languages differ. The numerics in C are generated from
//! [`numerics`](crate::numerics) when this crate is built (crate `device-form`); no formula is written twice.

pub mod conformance;
mod launch;
mod program;
mod scheme;
mod set;
mod tm5;

pub use launch::{Dialect, GroupShapes, KernelName};
pub use program::program;
pub use scheme::scheme_defines;
pub use set::{KernelPart, KernelSet};
pub use tm5::Tm5Room;

/// The words in which the device languages differ.
pub const PORTABLE: &str = include_str!("portable.h");

/// Names of the structs the kernels handle.
const STRUCTS: &str = r#"#line 1 "structs.h"
#define PAIR value_t2rr
#define TRIPLE value_t3rrr
#define WINDOW value_a5r
#define make_pair(a, b) make_t2rr(a, b)
#define make_triple(a, b, c) make_t3rrr(a, b, c)
#define make_window(a, b, c, d, e) make_a5r(a, b, c, d, e)
"#;

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

/// Everything that precedes the kernels of a program: `REAL`, the portable words, the numerics, and names for their
/// structs: `PAIR` with fields `m0`, `m1`, `TRIPLE` with `m0` to `m2`, `WINDOW` with `v[5]`, made by `make_pair(a, b)`,
/// `make_triple(a, b, c)`, `make_window(a, b, c, d, e)`.
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
    format!("{real}#line 1 \"portable.h\"\n{PORTABLE}{}{STRUCTS}", numerics_source())
}
