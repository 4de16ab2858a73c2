//! What compilers of device texts are told.

use kernels::device::Dialect;

use super::{cuda, opencl};

/// Options that a device text is compiled with, so that arithmetic is as written: nothing contracted, nothing flushed,
/// division and square root rounded correctly.
pub fn compiler_options(dialect: Dialect) -> String {
    match dialect {
        Dialect::Cuda => cuda::OPTIONS.join(" "),
        Dialect::OpenCl | Dialect::OpenClProcessor => opencl::OPTIONS.to_string_lossy().into_owned(),
        Dialect::Metal => {
            "mathMode = safe, mathFloatingPointFunctions = precise; before macOS 15: fastMathEnabled = NO".to_string()
        }
    }
}
