//! Finding devices and asking for their properties.

use cl3::device::{self as cl, get_device_data, get_device_ids};
use cl3::platform::{CL_PLATFORM_NAME, get_platform_data, get_platform_ids};
use kernels::device::Dialect;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use super::{DRIVER, words};
use crate::device::{DeviceError, DeviceInfo, DeviceResult};

/// Kinds of devices, the fastest first.
const KINDS: [u64; 3] = [cl::CL_DEVICE_TYPE_GPU, cl::CL_DEVICE_TYPE_ACCELERATOR, cl::CL_DEVICE_TYPE_CPU];

const NO_LIBRARY: i32 = -2000;
const NO_PLATFORM: i32 = -1001;

/// A device and what the driver needs to know of it.
pub(super) struct Choice {
    pub(super) id: *mut c_void,
    pub(super) info: DeviceInfo,
    /// Most bytes of one piece of memory.
    pub(super) largest: usize,
    /// Whether single precision division and square root can be rounded correctly.
    pub(super) rounds: bool,
}

// SAFETY: the identifier of a device is an address that lives as long as the library, valid on every thread.
unsafe impl Send for Choice {}

/// Drivers set themselves up when devices are first listed, and PoCL does so without a lock.
static LISTING: Mutex<()> = Mutex::new(());

/// Devices of the fastest kind that is present, of all platforms, each with its platform.
pub(super) fn devices() -> DeviceResult<Vec<(*mut c_void, *mut c_void)>> {
    let _one_at_a_time = LISTING.lock().unwrap_or_else(PoisonError::into_inner);
    let no_driver = |reason: &str| DeviceError::NoDriver { driver: DRIVER, reason: reason.to_string() };
    let platforms = match get_platform_ids() {
        Err(NO_LIBRARY) => Err(no_driver("the library libOpenCL is not found")),
        Err(NO_PLATFORM) => Err(no_driver("libOpenCL finds no platform; install the OpenCL driver of the device")),
        Err(code) => Err(no_driver(&format!("platforms cannot be listed: {}", words(code)))),
        Ok(none) if none.is_empty() => {
            Err(no_driver("libOpenCL finds no platform; install the OpenCL driver of the device"))
        }
        Ok(platforms) => Ok(platforms),
    }?;
    for kind in KINDS {
        // A platform without devices of a kind answers by an error: not found.
        let of_platform =
            |&platform| get_device_ids(platform, kind).unwrap_or_default().into_iter().map(move |id| (platform, id));
        let found: Vec<_> = platforms.iter().flat_map(of_platform).collect();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let reason = format!("none on {} platform(s)", platforms.len());
    Err(DeviceError::NoDevice { driver: DRIVER, reason })
}

/// The device of an index among [`devices`].
pub(super) fn choose(index: usize) -> DeviceResult<Choice> {
    let found = devices()?;
    let Some(&(platform, id)) = found.get(index) else {
        let names: Vec<_> = found.iter().map(|&(_, id)| text(get_device_data(id, cl::CL_DEVICE_NAME))).collect();
        let reason = format!("no device {index}; there are, from 0: {}", names.join(", "));
        return Err(DeviceError::NoDevice { driver: DRIVER, reason });
    };
    let number = |property| number(get_device_data(id, property));
    let version = text(get_device_data(id, cl::CL_DEVICE_VERSION));
    let is_processor = number(cl::CL_DEVICE_TYPE) as u64 & cl::CL_DEVICE_TYPE_CPU != 0;
    let info = DeviceInfo {
        dialect: if is_processor { Dialect::OpenClProcessor } else { Dialect::OpenCl },
        name: text(get_device_data(id, cl::CL_DEVICE_NAME)),
        driver: format!("{version}, {}", text(get_platform_data(platform, CL_PLATFORM_NAME))),
        memory: number(cl::CL_DEVICE_GLOBAL_MEM_SIZE),
        group_lanes: number(cl::CL_DEVICE_MAX_WORK_GROUP_SIZE),
        group_bytes: number(cl::CL_DEVICE_LOCAL_MEM_SIZE),
        has_double: number(cl::CL_DEVICE_DOUBLE_FP_CONFIG) != 0,
    };
    let rounds = number(cl::CL_DEVICE_SINGLE_FP_CONFIG) as u64 & cl::CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT != 0;
    Ok(Choice { id, info, largest: number(cl::CL_DEVICE_MAX_MEM_ALLOC_SIZE), rounds })
}

/// A number of 4 or 8 bytes; 0 where the driver does not know the property.
pub(super) fn number(data: Result<Vec<u8>, i32>) -> usize {
    let data = data.unwrap_or_default();
    if let Ok(eight) = <[u8; 8]>::try_from(&data[..]) {
        return u64::from_ne_bytes(eight) as usize;
    }
    <[u8; 4]>::try_from(&data[..]).map_or(0, |four| u32::from_ne_bytes(four) as usize)
}

/// A text without its closing zero; empty where the driver does not know the property.
pub(super) fn text(data: Result<Vec<u8>, i32>) -> String {
    let data = data.unwrap_or_default();
    let words = data.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(words).trim().to_string()
}
