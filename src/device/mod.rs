//! Where kernels run: memory, transfers and launches of one device, whatever its driver.
//!
//! [`Device`] is all the program knows about a GPU. Memory and kernels are named by handles, so that a launch needs no
//! allocation. Work goes to two queues, [`Queue::Compute`] and [`Queue::Transfer`]; each runs in order, events order one
//! behind the other, and nothing waits for the host unless it asks. No file here knows what the kernels compute.

mod arguments;
mod bounds;
mod cuda;
mod error;
mod metal;
mod opencl;
mod options;
mod owned;
mod select;
mod self_test;

use kernels::device::Dialect;

pub use cuda::{Architecture, CudaDevice, compile_to_ptx};
pub use error::DeviceError;
#[cfg(target_os = "macos")]
pub use metal::MetalDevice;
pub use opencl::OpenClDevice;
pub use options::compiler_options;
pub use select::{Accelerator, count, open};
pub use self_test::self_test;

/// Result of a call to a device.
pub type DeviceResult<T> = Result<T, DeviceError>;

/// A piece of device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Memory(pub(crate) usize);

/// A piece of host memory that the device reads and writes at full speed (page-locked where the driver can).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostMemory(pub(crate) usize);

/// A kernel of the compiled program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel(pub(crate) usize);

/// A mark in a queue. Recording it again moves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event(pub(crate) usize);

/// An ordered sequence of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Queue {
    /// Kernels, and transfers that kernels wait for.
    Compute,
    /// Transfers beside the kernels.
    Transfer,
}

/// Numbers of groups and of lanes per group along three axes; all at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Launch {
    /// Groups along each axis.
    pub groups: [usize; 3],
    /// Lanes of a group along each axis.
    pub lanes: [usize; 3],
}

/// An argument of a kernel, in the order of its declaration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    /// A piece of memory, from its start.
    Memory(Memory),
    /// An `int`.
    Int(i32),
    /// A `REAL` of a single precision program.
    Single(f32),
    /// A `REAL` of a double precision program.
    Double(f64),
}

/// Facts about a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Name as the driver states it.
    pub name: String,
    /// `CUDA`, `OpenCL` or `Metal`, with the version.
    pub driver: String,
    /// Family of devices, which decides the shapes of groups.
    pub dialect: Dialect,
    /// Bytes of memory.
    pub memory: usize,
    /// Most lanes of a group.
    pub group_lanes: usize,
    /// Bytes of memory that a group shares.
    pub group_bytes: usize,
    /// Whether it computes in double precision.
    pub has_double: bool,
}

/// One device with one compiled program.
///
/// Memory, host memory and events live as long as the device. An unknown handle is an error, never undefined behaviour; one
/// of another device may name something else here.
/// Offsets and lengths are in bytes. A transfer beyond the end of either side is an error. Calls return once the work is
/// queued, except those that say they wait.
pub trait Device: Send {
    /// Facts about the device.
    fn info(&self) -> &DeviceInfo;

    /// Compiles a program, all of its kernels; replaces the one before. Arithmetic is exact as written: no contraction,
    /// no fast division, no flushing. Waits.
    ///
    /// # Errors
    /// The compiler's messages.
    fn compile(&mut self, source: &str) -> DeviceResult<()>;

    /// A kernel of the program, by its name. Handles of an earlier program are not valid any more.
    ///
    /// # Errors
    /// No kernel of this name.
    fn kernel(&mut self, name: &str) -> DeviceResult<Kernel>;

    /// New memory of `bytes` (at least 1 is allocated), filled with zeros. Waits.
    ///
    /// # Errors
    /// No room.
    fn allocate(&mut self, bytes: usize) -> DeviceResult<Memory>;

    /// New host memory of `bytes`, filled with zeros, aligned to 64 bytes.
    ///
    /// # Errors
    /// No room.
    fn allocate_host(&mut self, bytes: usize) -> DeviceResult<HostMemory>;

    /// Host memory to read. Waits for transfers into it that are under way; empty for a handle of another device.
    fn host(&self, memory: HostMemory) -> &[u8];

    /// Host memory to write. Waits for transfers into and out of it that are under way; empty for a handle of another
    /// device.
    fn host_mut(&mut self, memory: HostMemory) -> &mut [u8];

    /// Starts a copy of `bytes` from the host to the device.
    ///
    /// # Errors
    /// The driver refuses it.
    fn upload(
        &mut self,
        queue: Queue,
        from: (HostMemory, usize),
        to: (Memory, usize),
        bytes: usize,
    ) -> DeviceResult<()>;

    /// Starts a copy of `bytes` from the device to the host.
    ///
    /// # Errors
    /// The driver refuses it.
    fn download(
        &mut self,
        queue: Queue,
        from: (Memory, usize),
        to: (HostMemory, usize),
        bytes: usize,
    ) -> DeviceResult<()>;

    /// Copies bytes to the device through any host memory. Waits for all earlier work of the compute queue.
    ///
    /// # Errors
    /// The driver refuses it.
    fn write(&mut self, to: (Memory, usize), bytes: &[u8]) -> DeviceResult<()>;

    /// Copies bytes from the device to any host memory, after all earlier work of the compute queue. Waits.
    ///
    /// # Errors
    /// The driver refuses it, or work before it has failed.
    fn read(&mut self, from: (Memory, usize), bytes: &mut [u8]) -> DeviceResult<()>;

    /// Queues a kernel on the compute queue.
    ///
    /// # Errors
    /// Arguments whose number or kinds are not those of the kernel (at most 32 on CUDA, 31 on
    /// Metal), or a launch that does not fit the
    /// device (CUDA takes at most 65535 groups along the second and third axis).
    fn launch(&mut self, kernel: Kernel, launch: Launch, arguments: &[Argument]) -> DeviceResult<()>;

    /// A new event, not recorded: waiting for it returns at once.
    ///
    /// # Errors
    /// The driver refuses it.
    fn event(&mut self) -> DeviceResult<Event>;

    /// Records an event behind all work that is in a queue.
    ///
    /// # Errors
    /// The driver refuses it.
    fn record(&mut self, event: Event, queue: Queue) -> DeviceResult<()>;

    /// Makes later work of a queue wait for an event.
    ///
    /// # Errors
    /// The driver refuses it.
    fn wait(&mut self, event: Event, queue: Queue) -> DeviceResult<()>;

    /// Waits on the host for an event.
    ///
    /// # Errors
    /// Work before it has failed.
    fn host_wait(&mut self, event: Event) -> DeviceResult<()>;

    /// Waits on the host for all work of both queues.
    ///
    /// # Errors
    /// Work has failed.
    fn finish(&mut self) -> DeviceResult<()>;

    /// Address of device memory that an MPI library may use, if the driver has such addresses.
    fn address(&self, memory: Memory) -> Option<usize>;
}
