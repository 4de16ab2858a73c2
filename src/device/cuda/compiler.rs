//! NVRTC, the compiler of kernels at run time. It needs no GPU.

use bytemuck::cast_slice;
use cudarc::nvrtc::result::{self as nvrtc, NvrtcError};
use cudarc::nvrtc::sys::{self, nvrtcProgram};
use std::ffi::CString;

use super::DRIVER;
use crate::device::arguments::Kind;
use crate::device::owned::Owned;
use crate::device::{DeviceError, DeviceResult};

/// Arithmetic as written, subnormal numbers kept.
pub(in crate::device) const OPTIONS: [&str; 5] =
    ["--std=c++14", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true"];

/// Oldest compiler with all calls made here.
const OLDEST: (i32, i32) = (11, 2);

/// A family of GPUs to compile for without having one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Architecture {
    /// Volta.
    Compute70,
    /// Ampere.
    Compute80,
    /// Hopper.
    Compute90,
}

/// Compiles a program to PTX text, as [`super::CudaDevice`] does. Needs the library NVRTC, no GPU and no driver.
///
/// # Errors
/// No such library, or the compiler's messages.
pub fn compile_to_ptx(source: &str, architecture: Architecture) -> DeviceResult<String> {
    present()?;
    let number = match architecture {
        Architecture::Compute70 => 70,
        Architecture::Compute80 => 80,
        Architecture::Compute90 => 90,
    };
    let name = format!("compute_{number}");
    Compiled::new(source, &name, &name).map(|compiled| compiled.ptx)
}

/// Fails where there is no NVRTC or an old one. Nothing of it is called before.
pub(super) fn present() -> DeviceResult<()> {
    let no_driver = |reason| DeviceError::NoDriver { driver: DRIVER, reason };
    // SAFETY: looks for a library, whose initialisers run.
    if !unsafe { sys::is_culib_present() } {
        return Err(no_driver(
            "the library libnvrtc of the CUDA toolkit, which compiles the kernels, is not found".to_string(),
        ));
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the library writes two numbers.
    let asked = unsafe { sys::nvrtcVersion(&mut major, &mut minor) }.result();
    asked.map_err(|error| no_driver(format!("the library libnvrtc does not start: {error}")))?;
    if (major, minor) < OLDEST {
        let (oldest, update) = OLDEST;
        return Err(no_driver(format!("libnvrtc is of version {major}.{minor}, {oldest}.{update} or later is needed")));
    }
    Ok(())
}

/// A compiled program.
pub(super) struct Compiled {
    /// The text of the virtual machine; it states the kernels' arguments.
    pub(super) ptx: String,
    /// Machine code, where compiled for one device.
    pub(super) cubin: Option<Vec<u8>>,
}

impl Compiled {
    /// Compiles for a device of a compute capability: to machine code where the compiler knows the device, which spares
    /// the driver a PTX version that it may not know, else to PTX for the latest older one.
    pub(super) fn for_device(source: &str, capability: i32, device: &str) -> DeviceResult<Self> {
        present()?;
        let call = |error: NvrtcError| DeviceError::Call {
            device: device.to_string(),
            call: "asking NVRTC for its architectures",
            reason: error.to_string(),
        };
        let mut count = 0;
        // SAFETY: the library writes one number.
        unsafe { sys::nvrtcGetNumSupportedArchs(&mut count) }.result().map_err(call)?;
        let mut known = vec![0; count.max(0) as usize];
        // SAFETY: there is room for as many numbers as the library has just stated.
        unsafe { sys::nvrtcGetSupportedArchs(known.as_mut_ptr()) }.result().map_err(call)?;
        match known.into_iter().filter(|&known| known <= capability).max() {
            Some(latest) if latest == capability => Self::new(source, &format!("sm_{latest}"), device),
            Some(older) => Self::new(source, &format!("compute_{older}"), device),
            None => Err(DeviceError::Unsuitable {
                device: device.to_string(),
                reason: format!(
                    "NVRTC on this machine knows no compute capability as low as {}.{}; use that of an older toolkit",
                    capability / 10,
                    capability % 10
                ),
            }),
        }
    }

    fn new(source: &str, architecture: &str, device: &str) -> DeviceResult<Self> {
        let refused = |log: String| DeviceError::Compile { device: device.to_string(), log };
        let failed = |error: NvrtcError| refused(error.to_string());
        let text = CString::new(source).map_err(|_| refused("the source has a zero byte".to_string()))?;
        let program = nvrtc::create_program(&text, Some(c"kernels")).map_err(failed)?;
        // SAFETY: the program has just been created and is nobody else's; programs belong to no thread.
        let program: Owned<nvrtcProgram, NvrtcError> = unsafe { Owned::new(program, nvrtc::destroy_program) };
        let options = OPTIONS.map(str::to_string).into_iter().chain([format!("--gpu-architecture={architecture}")]);
        // SAFETY: the program is valid, and no option has a zero byte.
        if let Err(error) = unsafe { nvrtc::compile_program(program.get(), &options.collect::<Vec<_>>()) } {
            // SAFETY: the program is valid.
            let log = unsafe { nvrtc::get_program_log(program.get()) };
            let log = log.map(|log| text_of(cast_slice(&log))).unwrap_or_default();
            return Err(refused(if log.is_empty() { error.to_string() } else { log }));
        }
        // SAFETY: the program is valid and compiled.
        let ptx = unsafe { nvrtc::get_ptx(program.get()) }.map_err(failed)?;
        let cubin = if architecture.starts_with("sm_") { Some(machine_code(&program).map_err(failed)?) } else { None };
        Ok(Self { ptx: text_of(cast_slice(&ptx)), cubin })
    }
}

fn machine_code(program: &Owned<nvrtcProgram, NvrtcError>) -> Result<Vec<u8>, NvrtcError> {
    let mut size = 0;
    // SAFETY: the program is valid and compiled; the library writes one number.
    unsafe { sys::nvrtcGetCUBINSize(program.get(), &mut size) }.result()?;
    let mut code = vec![0_u8; size];
    // SAFETY: there is room for as many bytes as the library has just stated.
    unsafe { sys::nvrtcGetCUBIN(program.get(), code.as_mut_ptr().cast()) }.result()?;
    Ok(code)
}

/// A text up to its closing zero.
fn text_of(bytes: &[u8]) -> String {
    let words = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(words).trim_end().to_string()
}

/// Kinds of a kernel's arguments as PTX declares them; `None` if it has no such kernel.
pub(super) fn kinds(ptx: &str, name: &str) -> Option<Result<Vec<Kind>, String>> {
    let (_, after) = ptx.split_once(&format!(".entry {name}("))?;
    let declared = after.split(')').next().unwrap_or_default();
    let types = declared.split(".param").skip(1).map(|one| one.split_whitespace().next().unwrap_or_default());
    let kind = |word| match word {
        ".u64" | ".b64" => Ok(Kind::Memory),
        ".u32" | ".s32" | ".b32" => Ok(Kind::Int),
        ".f32" => Ok(Kind::Single),
        ".f64" => Ok(Kind::Double),
        other => Err(format!("an argument is of type {other}; arguments are pointers, int, float and double")),
    };
    Some(types.map(kind).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Form of declarations: PTX ISA 8.8, "Kernel Function Parameters" and its attribute .ptr.
    const PTX: &str = "
.visible .entry first(
\t.param .u64 .ptr .global .align 4 first_param_0,
\t.param .u32 first_param_1,
\t.param .f32 first_param_2
)
{ }
.visible .entry first_of_all()
{ }
.visible .entry second(.param .f64 second_param_0, .param .u64 second_param_1)
.visible .entry third(\n\t.param .u8 third_param_0\n)
";

    #[test]
    fn ptx_states_the_kinds_of_arguments() {
        assert_eq!(kinds(PTX, "first"), Some(Ok(vec![Kind::Memory, Kind::Int, Kind::Single])));
        assert_eq!(kinds(PTX, "first_of_all"), Some(Ok(vec![])));
        assert_eq!(kinds(PTX, "second"), Some(Ok(vec![Kind::Double, Kind::Memory])));
        assert!(matches!(kinds(PTX, "third"), Some(Err(_))));
        assert_eq!(kinds(PTX, "fir"), None);
    }

    #[test]
    fn machine_code_comes_with_ptx_that_states_the_arguments() {
        let source = "extern \"C\" __global__ void k(float *x, const int n, const double y) { x[n] = (float)y; }";
        // 123.4 is no capability of any GPU: the latest older one is compiled for, to PTX.
        for (capability, machine) in [(80, true), (1234, false)] {
            let compiled = match Compiled::for_device(source, capability, "a GPU") {
                Ok(compiled) => compiled,
                Err(reason @ DeviceError::NoDriver { .. }) => return println!("skipped: {reason}"),
                Err(other) => panic!("{other}"),
            };
            assert_eq!(kinds(&compiled.ptx, "k"), Some(Ok(vec![Kind::Memory, Kind::Int, Kind::Double])));
            assert_eq!(compiled.cubin.is_some_and(|code| code.starts_with(b"\x7fELF")), machine);
        }
        assert!(matches!(Compiled::for_device(source, 10, "a GPU"), Err(DeviceError::Unsuitable { .. })));
    }
}
