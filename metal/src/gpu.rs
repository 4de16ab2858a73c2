//! Devices, what they compile, and their memory.

use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::{NSObjectProtocol, ProtocolObject};
use objc2::sel;
use objc2_foundation::{NSError, NSProcessInfo, NSString};
use objc2_metal::{
    MTLBuffer, MTLCompileOptions, MTLComputePipelineState, MTLCopyAllDevices, MTLDevice, MTLLibrary,
    MTLMathFloatingPointFunctions, MTLMathMode, MTLResourceOptions,
};
use std::ptr::NonNull;

use crate::queue::{Event, Queue};

// Metal finds its devices only in programs that are linked with this framework.
#[link(name = "CoreGraphics", kind = "framework")]
unsafe extern "C" {}

/// Number of devices of this machine.
pub fn count() -> usize {
    autoreleasepool(|_| MTLCopyAllDevices().len())
}

/// Facts about a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Name as the system states it.
    pub name: String,
    /// Version of the system, which brings the driver: `15.1`.
    pub system: String,
    /// Bytes of memory that the device uses at full speed.
    pub memory: usize,
    /// Most bytes of one buffer.
    pub largest_buffer: usize,
    /// Most lanes of a group along axis 0.
    pub group_lanes: usize,
    /// Bytes of memory that a group shares.
    pub group_bytes: usize,
}

/// A device.
pub struct Gpu {
    object: Retained<ProtocolObject<dyn MTLDevice>>,
}

/// A compiled program.
pub struct Library {
    object: Retained<ProtocolObject<dyn MTLLibrary>>,
}

/// A kernel, ready to run.
pub struct Kernel {
    pub(crate) object: Retained<ProtocolObject<dyn MTLComputePipelineState>>,
}

/// Memory that the device and the host share.
pub struct Buffer {
    pub(crate) object: Retained<ProtocolObject<dyn MTLBuffer>>,
    bytes: usize,
}

// SAFETY: a buffer belongs to no thread; its bytes are reached through unsafe calls only.
unsafe impl Send for Buffer {}

// SAFETY: a compiled kernel does not change and belongs to no thread.
unsafe impl Send for Kernel {}

impl Gpu {
    /// The device of an index below [`count`].
    pub fn open(index: usize) -> Option<Self> {
        autoreleasepool(|_| MTLCopyAllDevices().into_iter().nth(index)).map(|object| Self { object })
    }

    /// Facts about the device.
    pub fn facts(&self) -> Facts {
        let version = NSProcessInfo::processInfo().operatingSystemVersion();
        Facts {
            name: self.object.name().to_string(),
            system: format!("{}.{}", version.majorVersion, version.minorVersion),
            memory: usize::try_from(self.object.recommendedMaxWorkingSetSize()).unwrap_or(usize::MAX),
            largest_buffer: self.object.maxBufferLength(),
            group_lanes: self.object.maxThreadsPerThreadgroup().width,
            group_bytes: self.object.maxThreadgroupMemoryLength(),
        }
    }

    /// Compiles a program, with arithmetic as written.
    ///
    /// # Errors
    /// The compiler's messages.
    pub fn compile(&self, source: &str) -> Result<Library, String> {
        autoreleasepool(|_| {
            let options = exact_arithmetic();
            let compiled = self.object.newLibraryWithSource_options_error(&NSString::from_str(source), Some(&options));
            compiled.map(|object| Library { object }).map_err(|error| words(&error))
        })
    }

    /// A kernel of a program; `None` if it has none of this name.
    ///
    /// # Errors
    /// The driver cannot make it ready.
    pub fn kernel(&self, library: &Library, name: &str) -> Result<Option<Kernel>, String> {
        autoreleasepool(|_| {
            let Some(function) = library.object.newFunctionWithName(&NSString::from_str(name)) else { return Ok(None) };
            let ready = self.object.newComputePipelineStateWithFunction_error(&function);
            ready.map(|object| Some(Kernel { object })).map_err(|error| words(&error))
        })
    }

    /// New memory of `bytes` ≥ 1, filled with zeros, aligned to a page; `None` if there is no room.
    pub fn buffer(&self, bytes: usize) -> Option<Buffer> {
        if bytes > self.object.maxBufferLength() {
            return None;
        }
        let object = self.object.newBufferWithLength_options(bytes, MTLResourceOptions::StorageModeShared)?;
        // SAFETY: the buffer has this many bytes, and nobody else knows it yet.
        unsafe { object.contents().cast::<u8>().write_bytes(0, bytes) };
        Some(Buffer { object, bytes })
    }

    /// A new queue; `None` if the driver refuses it.
    pub fn queue(&self) -> Option<Queue> {
        self.object.newCommandQueue().map(Queue::new)
    }

    /// A new event, not signalled.
    pub fn event(&self) -> Event {
        Event::default()
    }
}

/// No contraction, no reordering, exact division and square root.
fn exact_arithmetic() -> Retained<MTLCompileOptions> {
    let options = MTLCompileOptions::new();
    if options.respondsToSelector(sel!(setMathMode:)) {
        options.setMathMode(MTLMathMode::Safe);
        options.setMathFloatingPointFunctions(MTLMathFloatingPointFunctions::Precise);
    } else {
        // Before macOS 15 this one switch stands for both.
        #[expect(deprecated)]
        options.setFastMathEnabled(false);
    }
    options
}

/// An error in words.
pub(crate) fn words(error: &NSError) -> String {
    error.localizedDescription().to_string()
}

impl Kernel {
    /// Most lanes of a group of this kernel, all axes together.
    pub fn group_lanes(&self) -> usize {
        self.object.maxTotalThreadsPerThreadgroup()
    }
}

impl Buffer {
    /// Its size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Address of its first byte on the host. It stays as long as the buffer, and so do its [`Buffer::bytes`].
    pub fn contents(&self) -> NonNull<u8> {
        self.object.contents().cast()
    }
}
