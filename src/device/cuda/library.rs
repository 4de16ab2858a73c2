//! Finding the libraries, the devices and their properties.

use cudarc::driver::result::{self as cuda, DriverError};
use cudarc::driver::sys::{self, CUdevice, CUdevice_attribute as Attribute, CUresult};

use super::{DRIVER, words};
use crate::device::{DeviceError, DeviceInfo, DeviceResult};

/// A device and its properties.
pub(super) struct Choice {
    pub(super) id: CUdevice,
    pub(super) info: DeviceInfo,
    /// Compute capability: ten times the major number plus the minor.
    pub(super) capability: i32,
}

fn no_driver(reason: String) -> DeviceError {
    DeviceError::NoDriver { driver: DRIVER, reason }
}

/// Number of devices. Nothing of the driver is called where this fails.
pub(super) fn count() -> DeviceResult<usize> {
    // SAFETY: looks for a library, whose initialisers run.
    if !unsafe { sys::is_culib_present() } {
        return Err(no_driver("the library libcuda, which comes with the driver of the GPU, is not found".to_string()));
    }
    let no_device = |reason: &str| DeviceError::NoDevice { driver: DRIVER, reason: reason.to_string() };
    match cuda::init() {
        Err(DriverError(CUresult::CUDA_ERROR_NO_DEVICE)) => return Err(no_device("none on this machine")),
        Err(error) => return Err(no_driver(format!("the driver does not start: {}", words(error)))),
        Ok(()) => {}
    }
    match cuda::device::get_count() {
        Ok(count) if count > 0 => Ok(count as usize),
        Ok(_) => Err(no_device("none on this machine")),
        Err(error) => Err(no_device(&words(error))),
    }
}

/// The device of an index.
pub(super) fn choose(index: usize) -> DeviceResult<Choice> {
    let devices = count()?;
    if index >= devices {
        let reason = format!("no device {index}; there are {devices}, counted from 0");
        return Err(DeviceError::NoDevice { driver: DRIVER, reason });
    }
    properties(index).map_err(|error| DeviceError::Call {
        device: format!("{DRIVER} device {index}"),
        call: "asking for its properties",
        reason: words(error),
    })
}

fn properties(index: usize) -> Result<Choice, DriverError> {
    let id = cuda::device::get(index as i32)?;
    // SAFETY: the device is one of the driver's.
    let number = |attribute| unsafe { cuda::device::get_attribute(id, attribute) };
    let mut version = 0;
    // SAFETY: the driver writes one number.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result()?;
    let major = number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    let (release, update) = (version / 1000, version % 1000 / 10);
    let info = DeviceInfo {
        dialect: kernels::device::Dialect::Cuda,
        name: cuda::device::get_name(id)?,
        driver: format!("{DRIVER} {release}.{update}, compute capability {major}.{minor}"),
        // SAFETY: the device is one of the driver's.
        memory: unsafe { cuda::device::total_mem(id) }?,
        group_lanes: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)? as usize,
        group_bytes: number(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)? as usize,
        has_double: true,
    };
    Ok(Choice { id, info, capability: 10 * major + minor })
}
