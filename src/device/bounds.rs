//! Limits of transfers, the same for every driver.

use super::{DeviceError, DeviceResult};

/// Checks that `bytes` from `offset` lie within a piece of `length` bytes.
pub(super) fn within(device: &str, call: &'static str, offset: usize, bytes: usize, length: usize) -> DeviceResult<()> {
    match offset.checked_add(bytes) {
        Some(end) if end <= length => Ok(()),
        _ => Err(DeviceError::Call {
            device: device.to_string(),
            call,
            reason: format!("{bytes} bytes from byte {offset} do not fit a piece of {length} bytes"),
        }),
    }
}

/// A handle that this device has not given out, or of an earlier program.
pub(super) fn unknown(device: &str, call: &'static str) -> DeviceError {
    DeviceError::Call { device: device.to_string(), call, reason: "the handle is not of this device".to_string() }
}
