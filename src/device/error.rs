//! Failures of devices and their drivers.

use thiserror::Error;

/// What went wrong with a device.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DeviceError {
    /// The library of the driver is not on this machine.
    #[error("no {driver} on this machine: {reason}")]
    NoDriver {
        /// `CUDA`, `OpenCL` or `Metal`.
        driver: &'static str,
        /// What was looked for and not found.
        reason: String,
    },
    /// The driver is there, but no device.
    #[error("{driver} finds no device: {reason}")]
    NoDevice {
        /// `CUDA`, `OpenCL` or `Metal`.
        driver: &'static str,
        /// Further words of the driver.
        reason: String,
    },
    /// The device cannot do what the run needs.
    #[error("{device} cannot be used: {reason}")]
    Unsuitable {
        /// Name of the device.
        device: String,
        /// What is missing, and the remedy.
        reason: String,
    },
    /// The kernels do not compile.
    #[error("the kernels do not compile on {device}:\n{log}")]
    Compile {
        /// Name of the device.
        device: String,
        /// Messages of the compiler.
        log: String,
    },
    /// A kernel that the program does not have.
    #[error("the program has no kernel {name}")]
    NoKernel {
        /// Name asked for.
        name: String,
    },
    /// Not enough memory on the device.
    #[error(
        "{device} has no room for {bytes} more bytes: use more ranks or devices, fewer tracers, or \
         `numerics.float_type = \"Float32\"`"
    )]
    OutOfMemory {
        /// Name of the device.
        device: String,
        /// Bytes asked for.
        bytes: usize,
    },
    /// Any other call that failed.
    #[error("{device}: {call}: {reason}")]
    Call {
        /// Name of the device.
        device: String,
        /// What was being done.
        call: &'static str,
        /// The driver's words.
        reason: String,
    },
    /// The device computes other bits than the host.
    #[error(
        "{device} does not compute what the host computes: {what}; results would depend on the backend. \
         Use another driver version, or `architecture.backend = \"cpu\"`"
    )]
    Arithmetic {
        /// Name of the device.
        device: String,
        /// The operation and an example.
        what: String,
    },
}
