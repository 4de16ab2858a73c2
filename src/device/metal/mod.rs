//! GPUs of Apple, through Metal. They compute in single precision only.

#[cfg(any(target_os = "macos", test))]
mod declared;
#[cfg(target_os = "macos")]
mod driver;

#[cfg(target_os = "macos")]
pub use driver::MetalDevice;
