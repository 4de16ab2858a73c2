//! Opening the device that a configuration names.

use kernels::Scalar;
use std::fmt;
use std::str::FromStr;

use super::{CudaDevice, Device, DeviceError, DeviceInfo, DeviceResult, OpenClDevice};

/// A way to a device. The host itself is none: nothing here falls back to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accelerator {
    /// NVIDIA GPUs.
    Cuda,
    /// GPUs of Apple.
    Metal,
    /// Anything with an OpenCL driver, CPUs too.
    OpenCl,
    /// CUDA, else Metal.
    Auto,
}

impl Accelerator {
    /// All, with their names in configuration files.
    pub const NAMES: [(&str, Self); 4] =
        [("cuda", Self::Cuda), ("metal", Self::Metal), ("opencl", Self::OpenCl), ("auto", Self::Auto)];
}

impl fmt::Display for Accelerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, value)| value == self).map_or("", |(name, _)| name);
        f.pad(name)
    }
}

impl FromStr for Accelerator {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::NAMES.iter().find(|(known, _)| *known == name);
        let names = || Self::NAMES.map(|(name, _)| name).join(", ");
        known.map(|(_, value)| *value).ok_or_else(|| format!("no accelerator `{name}`; there are {}", names()))
    }
}

/// Number of devices that an accelerator offers; their indices count from 0.
///
/// # Errors
/// No driver or no device.
pub fn count(accelerator: Accelerator) -> DeviceResult<usize> {
    match accelerator {
        Accelerator::Cuda => CudaDevice::count(),
        Accelerator::Metal => count_metal(),
        Accelerator::OpenCl => OpenClDevice::count(),
        Accelerator::Auto => first_of(AUTO.map(|one| move || count(one))),
    }
}

/// Opens the device of an index below [`count`], which has to compute in the precision `R`.
///
/// # Errors
/// No driver, no device, another precision; for [`Accelerator::Auto`] what each driver says.
pub fn open<R: Scalar>(accelerator: Accelerator, index: usize) -> DeviceResult<Box<dyn Device>> {
    let device: Box<dyn Device> = match accelerator {
        Accelerator::Cuda => Box::new(CudaDevice::open(index)?),
        Accelerator::Metal => open_metal(index)?,
        Accelerator::OpenCl => Box::new(OpenClDevice::open(index)?),
        Accelerator::Auto => return first_of(AUTO.map(|one| move || open::<R>(one, index))),
    };
    require_precision::<R>(device.info())?;
    Ok(device)
}

/// What [`Accelerator::Auto`] looks for, the first first.
const AUTO: [Accelerator; 2] = [Accelerator::Cuda, Accelerator::Metal];

/// The first that is there; otherwise what all say. A device that is there and fails is not passed over.
fn first_of<T>(attempts: [impl Fn() -> DeviceResult<T>; 2]) -> DeviceResult<T> {
    let mut said = Vec::new();
    for attempt in attempts {
        match attempt() {
            Err(absent @ (DeviceError::NoDriver { .. } | DeviceError::NoDevice { .. })) => {
                said.push(absent.to_string())
            }
            answer => return answer,
        }
    }
    Err(DeviceError::NoDevice {
        driver: "`auto`",
        reason: format!(
            "{}. Use `architecture.backend = \"cpu\"`, or \"opencl\" where it has a driver",
            said.join("; ")
        ),
    })
}

#[cfg(target_os = "macos")]
fn count_metal() -> DeviceResult<usize> {
    super::MetalDevice::count()
}

#[cfg(target_os = "macos")]
fn open_metal(index: usize) -> DeviceResult<Box<dyn Device>> {
    Ok(Box::new(super::MetalDevice::open(index)?))
}

#[cfg(not(target_os = "macos"))]
fn count_metal() -> DeviceResult<usize> {
    Err(no_metal())
}

#[cfg(not(target_os = "macos"))]
fn open_metal(_index: usize) -> DeviceResult<Box<dyn Device>> {
    Err(no_metal())
}

#[cfg(not(target_os = "macos"))]
fn no_metal() -> DeviceError {
    DeviceError::NoDriver { driver: "Metal", reason: "Metal exists on macOS only".to_string() }
}

/// Fails where a device does not compute in a precision.
pub(super) fn require_precision<R: Scalar>(info: &DeviceInfo) -> DeviceResult<()> {
    if size_of::<R>() < 8 || info.has_double {
        return Ok(());
    }
    Err(DeviceError::Unsuitable {
        device: info.name.clone(),
        reason: format!(
            "it has no double precision. Use `numerics.float_type = \"{}\"`, or `architecture.backend = \"cpu\"`",
            f32::NAME
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_configuration_files() {
        for (name, value) in Accelerator::NAMES {
            assert_eq!((name.parse(), value.to_string()), (Ok(value), name.to_string()));
        }
        let unknown = "cpu".parse::<Accelerator>().unwrap_err();
        assert!(unknown.contains("cuda, metal, opencl, auto"), "{unknown}");
    }

    #[test]
    fn auto_takes_the_first_and_says_why_there_is_none() {
        let absent = |driver| DeviceError::NoDriver { driver, reason: "not here".to_string() };
        let broken = DeviceError::Unsuitable { device: "x".to_string(), reason: "y".to_string() };
        let first = |answers: [DeviceResult<i32>; 2]| first_of(answers.map(|answer| move || answer.clone()));
        assert_eq!(first([Ok(1), Ok(2)]), Ok(1));
        assert_eq!(first([Err(absent("CUDA")), Ok(2)]), Ok(2));
        assert_eq!(first([Err(broken.clone()), Ok(2)]), Err(broken));
        let words = first([Err(absent("CUDA")), Err(absent("Metal"))]).unwrap_err().to_string();
        for word in ["`auto` finds no device", "no CUDA on this machine: not here", "no Metal on this", "\"cpu\""] {
            assert!(words.contains(word), "{word}: {words}");
        }
    }

    #[test]
    fn precision_is_checked_and_the_remedy_named() {
        let mut info = DeviceInfo {
            dialect: kernels::device::Dialect::OpenCl,
            name: "small".to_string(),
            driver: String::new(),
            memory: 0,
            group_lanes: 0,
            group_bytes: 0,
            has_double: false,
        };
        assert_eq!(require_precision::<f32>(&info), Ok(()));
        let words = require_precision::<f64>(&info).unwrap_err().to_string();
        assert!(words.contains("small cannot be used: it has no double") && words.contains("Float32"), "{words}");
        info.has_double = true;
        assert_eq!(require_precision::<f64>(&info), Ok(()));
    }

    #[cfg(not(target_os = "macos"))]
    #[test]
    fn metal_is_refused_elsewhere() {
        let refused = open::<f32>(Accelerator::Metal, 0).err().map(|error| error.to_string());
        assert_eq!(refused.as_deref(), Some("no Metal on this machine: Metal exists on macOS only"));
        assert_eq!(count(Accelerator::Metal), Err(no_metal()));
    }
}
