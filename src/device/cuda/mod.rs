//! NVIDIA GPUs.
//!
//! The libraries of the driver and of the compiler are loaded at run time. The order of work is that of the two queues and
//! their events, so that the plain calls of the driver are made, without the bookkeeping of `cudarc`'s own types.

mod compiler;
mod host;
mod library;

use cudarc::driver::result::{self as cuda, DriverError};
use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdeviceptr, CUevent, CUevent_wait_flags, CUfunction, CUmodule, CUresult, CUstream,
    cuMemcpyDtoHAsync_v2, cuMemcpyHtoDAsync_v2,
};
use std::ffi::{CString, c_void};
use std::ptr::{from_ref, null_mut};

pub(super) use self::compiler::OPTIONS;
pub use self::compiler::{Architecture, compile_to_ptx};

use self::compiler::Compiled;
use self::host::HostBlock;
use self::library::Choice;
use super::arguments::{Kind, check_arguments, lanes_of_all_groups};
use super::bounds::{unknown, within};
use super::{
    Argument, Device, DeviceError, DeviceInfo, DeviceResult, Event, HostMemory, Kernel, Launch, Memory, Queue,
};

/// A CUDA object. None belongs to a thread.
type Owned<T> = super::owned::Owned<T, DriverError>;

const DRIVER: &str = "CUDA";

/// Most arguments of a kernel.
const MOST_ARGUMENTS: usize = 32;

struct Buffer {
    object: Owned<CUdeviceptr>,
    bytes: usize,
}

struct Entry {
    name: String,
    function: CUfunction,
    kinds: Vec<Kind>,
}

/// A GPU reached through CUDA.
pub struct CudaDevice {
    choice: Choice,
    context: CUcontext,
    kernels: Vec<Entry>,
    /// Kernels of earlier programs; handles count on, so that theirs stay invalid.
    retired: usize,
    /// The program, and its PTX.
    module: Option<(Owned<CUmodule>, String)>,
    buffers: Vec<Buffer>,
    hosts: Vec<HostBlock>,
    events: Vec<Owned<CUevent>>,
    queues: [Owned<CUstream>; 2],
    /// The reference to the context, given back last.
    _primary: Owned<CUdevice>,
}

// SAFETY: contexts and functions belong to no thread; every call makes the context current on its own.
unsafe impl Send for CudaDevice {}

/// Words for an error code.
fn words(error: DriverError) -> String {
    let text = |words: Result<&std::ffi::CStr, _>| words.map(|words| words.to_string_lossy().into_owned());
    let (name, meaning) = (text(error.error_name()), text(error.error_string()));
    match (name, meaning) {
        (Ok(name), Ok(meaning)) => format!("{meaning} ({name})"),
        _ => format!("error {}", error.0 as u32),
    }
}

fn call_failed(device: &str, call: &'static str, error: DriverError) -> DeviceError {
    DeviceError::Call { device: device.to_string(), call, reason: words(error) }
}

impl CudaDevice {
    /// Number of devices.
    ///
    /// # Errors
    /// No driver or no device.
    pub fn count() -> DeviceResult<usize> {
        library::count()
    }

    /// Opens the device of an index below [`CudaDevice::count`].
    ///
    /// # Errors
    /// No driver, no compiler, no such device, or the driver refuses to open it.
    pub fn open(index: usize) -> DeviceResult<Self> {
        let choice = library::choose(index)?;
        compiler::present()?;
        let failed = |error| call_failed(&choice.info.name, "opening the device", error);
        // SAFETY: the device is one of the driver's.
        let context = unsafe { cuda::primary_ctx::retain(choice.id) }.map_err(failed)?;
        // SAFETY: the reference has just been taken and is nobody else's.
        let primary = unsafe { Owned::new(choice.id, cuda::primary_ctx::release) };
        // SAFETY: the context is valid.
        unsafe { cuda::ctx::set_current(context) }.map_err(failed)?;
        let queue = || {
            let queue = cuda::stream::create(cuda::stream::StreamKind::NonBlocking).map_err(failed)?;
            // SAFETY: the stream has just been created and is nobody else's.
            Ok(unsafe { Owned::new(queue, cuda::stream::destroy) })
        };
        let queues = [queue()?, queue()?];
        let (kernels, buffers, hosts, events) = Default::default();
        let (retired, module) = (0, None);
        Ok(Self { choice, context, kernels, retired, module, buffers, hosts, events, queues, _primary: primary })
    }

    fn name(&self) -> &str {
        &self.choice.info.name
    }

    fn failed(&self, call: &'static str) -> impl Fn(DriverError) -> DeviceError {
        move |error| call_failed(self.name(), call, error)
    }

    /// Makes the context current on this thread; returns a queue.
    fn queue(&self, queue: Queue, call: &'static str) -> DeviceResult<CUstream> {
        // SAFETY: the context lives as long as `self`.
        unsafe { cuda::ctx::set_current(self.context) }.map_err(self.failed(call))?;
        Ok(self.queues[queue as usize].get())
    }

    fn buffer(&self, memory: Memory, call: &'static str, offset: usize, bytes: usize) -> DeviceResult<CUdeviceptr> {
        let buffer = self.buffers.get(memory.0).ok_or_else(|| unknown(self.name(), call))?;
        within(self.name(), call, offset, bytes, buffer.bytes)?;
        Ok(buffer.object.get() + offset as CUdeviceptr)
    }

    fn block(&self, memory: HostMemory, call: &'static str, offset: usize, bytes: usize) -> DeviceResult<&HostBlock> {
        let block = self.hosts.get(memory.0).ok_or_else(|| unknown(self.name(), call))?;
        within(self.name(), call, offset, bytes, block.bytes)?;
        Ok(block)
    }

    fn recorded(&self, event: Event, call: &'static str) -> DeviceResult<CUevent> {
        self.events.get(event.0).map(Owned::get).ok_or_else(|| unknown(self.name(), call))
    }

    /// New memory, filled with zeros.
    fn zeros(&self, bytes: usize) -> DeviceResult<Buffer> {
        const CALL: &str = "allocating memory";
        let queue = self.queue(Queue::Compute, CALL)?;
        let refused = self.no_room(CALL, self.name(), bytes);
        // SAFETY: the memory is filled before it is used.
        let object = unsafe { cuda::malloc_sync(bytes.max(1)) }.map_err(&refused)?;
        // SAFETY: the memory has just been created and is nobody else's.
        let object = unsafe { Owned::new(object, cuda::free_sync) };
        // SAFETY: the memory has that many bytes.
        unsafe { cuda::memset_d8_async(object.get(), 0, bytes.max(1), queue) }.map_err(&refused)?;
        // SAFETY: the stream is valid.
        unsafe { cuda::stream::synchronize(queue) }.map_err(&refused)?;
        Ok(Buffer { object, bytes })
    }

    fn no_room(&self, call: &'static str, device: &str, bytes: usize) -> impl Fn(DriverError) -> DeviceError {
        move |error| match error {
            DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY) => {
                DeviceError::OutOfMemory { device: device.to_string(), bytes }
            }
            error => call_failed(self.name(), call, error),
        }
    }
}

impl Drop for CudaDevice {
    fn drop(&mut self) {
        if self.finish().is_err() {
            // Transfers may still be under way: their host memory has to stay.
            std::mem::forget(std::mem::take(&mut self.hosts));
        }
    }
}

impl Device for CudaDevice {
    fn info(&self) -> &DeviceInfo {
        &self.choice.info
    }

    fn compile(&mut self, source: &str) -> DeviceResult<()> {
        self.finish()?;
        self.retired += self.kernels.len();
        self.kernels.clear();
        self.module = None;
        let compiled = Compiled::for_device(source, self.choice.capability, self.name())?;
        let ptx = CString::new(compiled.ptx.as_str()).unwrap_or_default();
        let image = compiled.cubin.as_ref().map_or(ptx.as_ptr().cast(), |code| code.as_ptr().cast::<c_void>());
        // SAFETY: the image is machine code or PTX with a closing zero, and lives through the call.
        let module = unsafe { cuda::module::load_data(image) }.map_err(self.failed("loading the program"))?;
        // SAFETY: the module has just been created and is nobody else's.
        self.module = Some((unsafe { Owned::new(module, cuda::module::unload) }, compiled.ptx));
        Ok(())
    }

    fn kernel(&mut self, name: &str) -> DeviceResult<Kernel> {
        const CALL: &str = "looking up a kernel";
        if let Some(known) = self.kernels.iter().position(|entry| entry.name == name) {
            return Ok(Kernel(self.retired + known));
        }
        self.queue(Queue::Compute, CALL)?;
        let no_kernel = || DeviceError::NoKernel { name: name.to_string() };
        let (module, ptx) = self.module.as_ref().ok_or_else(no_kernel)?;
        let refused = |reason| {
            let reason = format!("{name}: {reason}");
            DeviceError::Call { device: self.name().to_string(), call: CALL, reason }
        };
        let kinds = compiler::kinds(ptx, name).ok_or_else(no_kernel)?.map_err(refused)?;
        if kinds.len() > MOST_ARGUMENTS {
            return Err(refused(format!("{} arguments; at most {MOST_ARGUMENTS}", kinds.len())));
        }
        let c_name = CString::new(name).map_err(|_| no_kernel())?;
        // SAFETY: the module is loaded.
        let function = unsafe { cuda::module::get_function(module.get(), c_name) };
        let function = function.map_err(|error| refused(words(error)))?;
        self.kernels.push(Entry { name: name.to_string(), function, kinds });
        Ok(Kernel(self.retired + self.kernels.len() - 1))
    }

    fn allocate(&mut self, bytes: usize) -> DeviceResult<Memory> {
        let buffer = self.zeros(bytes)?;
        self.buffers.push(buffer);
        Ok(Memory(self.buffers.len() - 1))
    }

    fn allocate_host(&mut self, bytes: usize) -> DeviceResult<HostMemory> {
        const CALL: &str = "allocating page-locked host memory";
        self.queue(Queue::Transfer, CALL)?;
        let block = HostBlock::new(bytes).map_err(self.no_room(CALL, "page-locked host memory", bytes))?;
        self.hosts.push(block);
        Ok(HostMemory(self.hosts.len() - 1))
    }

    fn host(&self, memory: HostMemory) -> &[u8] {
        // Without a context the device is lost, and nothing runs on it.
        let _ = self.queue(Queue::Transfer, "reading host memory");
        self.hosts.get(memory.0).map_or(&[], HostBlock::read)
    }

    fn host_mut(&mut self, memory: HostMemory) -> &mut [u8] {
        // Without a context the device is lost, and nothing runs on it.
        let _ = self.queue(Queue::Transfer, "writing host memory");
        self.hosts.get_mut(memory.0).map_or(&mut [], HostBlock::write)
    }

    fn upload(
        &mut self,
        queue: Queue,
        from: (HostMemory, usize),
        to: (Memory, usize),
        bytes: usize,
    ) -> DeviceResult<()> {
        const CALL: &str = "upload";
        let buffer = self.buffer(to.0, CALL, to.1, bytes)?;
        let block = self.block(from.0, CALL, from.1, bytes)?;
        let on = self.queue(queue, CALL)?;
        // SAFETY: both ranges are checked; the block waits for the event behind the copy before it is lent out or freed.
        let copied = unsafe { cuMemcpyHtoDAsync_v2(buffer, block.pointer(from.1), bytes, on) }.result();
        // SAFETY: event and stream are valid.
        let recorded = unsafe { cuda::event::record(block.out_of(queue), on) };
        copied.and(recorded).map_err(self.failed(CALL))
    }

    fn download(
        &mut self,
        queue: Queue,
        from: (Memory, usize),
        to: (HostMemory, usize),
        bytes: usize,
    ) -> DeviceResult<()> {
        const CALL: &str = "download";
        let buffer = self.buffer(from.0, CALL, from.1, bytes)?;
        let block = self.block(to.0, CALL, to.1, bytes)?;
        let on = self.queue(queue, CALL)?;
        // SAFETY: both ranges are checked; the block waits for the event behind the copy before it is lent out or freed.
        let copied = unsafe { cuMemcpyDtoHAsync_v2(block.pointer(to.1), buffer, bytes, on) }.result();
        // SAFETY: event and stream are valid.
        let recorded = unsafe { cuda::event::record(block.into(queue), on) };
        copied.and(recorded).map_err(self.failed(CALL))
    }

    fn write(&mut self, to: (Memory, usize), bytes: &[u8]) -> DeviceResult<()> {
        const CALL: &str = "write";
        let buffer = self.buffer(to.0, CALL, to.1, bytes.len())?;
        let on = self.queue(Queue::Compute, CALL)?;
        // SAFETY: the range is checked, and the bytes stay until the stream is done.
        let copied = unsafe { cuda::memcpy_htod_async(buffer, bytes, on) };
        // SAFETY: the stream is valid.
        let done = unsafe { cuda::stream::synchronize(on) };
        copied.and(done).map_err(self.failed(CALL))
    }

    fn read(&mut self, from: (Memory, usize), bytes: &mut [u8]) -> DeviceResult<()> {
        const CALL: &str = "read";
        let buffer = self.buffer(from.0, CALL, from.1, bytes.len())?;
        let on = self.queue(Queue::Compute, CALL)?;
        // SAFETY: the range is checked, and the bytes stay until the stream is done.
        let copied = unsafe { cuda::memcpy_dtoh_async(bytes, buffer, on) };
        // SAFETY: the stream is valid.
        let done = unsafe { cuda::stream::synchronize(on) };
        copied.and(done).map_err(self.failed(CALL))
    }

    fn launch(&mut self, kernel: Kernel, launch: Launch, arguments: &[Argument]) -> DeviceResult<()> {
        const CALL: &str = "launch";
        let on = self.queue(Queue::Compute, CALL)?;
        let entry = kernel.0.checked_sub(self.retired).and_then(|n| self.kernels.get(n));
        let entry = entry.ok_or_else(|| unknown(self.name(), CALL))?;
        let refused = |reason: String| {
            let reason = format!("{}: {reason}", entry.name);
            DeviceError::Call { device: self.name().to_string(), call: CALL, reason }
        };
        check_arguments(&entry.kinds, arguments).map_err(refused)?;
        lanes_of_all_groups(launch).map_err(refused)?;
        let narrow = |number: usize| u32::try_from(number).map_err(|_| refused(format!("{launch:?} is too large")));
        let [gx, gy, gz] = launch.groups;
        let [lx, ly, lz] = launch.lanes;
        let groups = (narrow(gx)?, narrow(gy)?, narrow(gz)?);
        let lanes = (narrow(lx)?, narrow(ly)?, narrow(lz)?);
        let mut addresses = [0; MOST_ARGUMENTS];
        let mut pointers: [*mut c_void; MOST_ARGUMENTS] = [null_mut(); MOST_ARGUMENTS];
        for (n, argument) in arguments.iter().enumerate() {
            let pointer: *const c_void = match argument {
                Argument::Memory(memory) => {
                    addresses[n] = self.buffer(*memory, CALL, 0, 0)?;
                    from_ref(&addresses[n]).cast()
                }
                Argument::Int(value) => from_ref(value).cast(),
                Argument::Single(value) => from_ref(value).cast(),
                Argument::Double(value) => from_ref(value).cast(),
            };
            pointers[n] = pointer.cast_mut();
        }
        // SAFETY: number and kinds of the arguments were compared with the declaration; the values are copied by the
        // call. What the kernel reaches is the program's own business.
        unsafe { cuda::launch_kernel(entry.function, groups, lanes, 0, on, &mut pointers) }
            .map_err(|error| refused(format!("{launch:?}: {}", words(error))))
    }

    fn event(&mut self) -> DeviceResult<Event> {
        const CALL: &str = "making an event";
        self.queue(Queue::Compute, CALL)?;
        let event = host::new_event().map_err(self.failed(CALL))?;
        self.events.push(event);
        Ok(Event(self.events.len() - 1))
    }

    fn record(&mut self, event: Event, queue: Queue) -> DeviceResult<()> {
        const CALL: &str = "recording an event";
        let (on, event) = (self.queue(queue, CALL)?, self.recorded(event, CALL)?);
        // SAFETY: event and stream are valid.
        unsafe { cuda::event::record(event, on) }.map_err(self.failed(CALL))
    }

    fn wait(&mut self, event: Event, queue: Queue) -> DeviceResult<()> {
        const CALL: &str = "waiting for an event";
        let (on, event) = (self.queue(queue, CALL)?, self.recorded(event, CALL)?);
        // SAFETY: event and stream are valid.
        unsafe { cuda::stream::wait_event(on, event, CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT) }
            .map_err(self.failed(CALL))
    }

    fn host_wait(&mut self, event: Event) -> DeviceResult<()> {
        const CALL: &str = "waiting for an event";
        self.queue(Queue::Compute, CALL)?;
        let event = self.recorded(event, CALL)?;
        // SAFETY: the event is valid.
        unsafe { cuda::event::synchronize(event) }.map_err(self.failed(CALL))
    }

    fn finish(&mut self) -> DeviceResult<()> {
        const CALL: &str = "finish";
        // SAFETY: the stream is valid.
        let done = |queue| unsafe { cuda::stream::synchronize(queue) }.map_err(self.failed(CALL));
        let compute = done(self.queue(Queue::Compute, CALL)?);
        compute.and(done(self.queue(Queue::Transfer, CALL)?))
    }

    fn address(&self, memory: Memory) -> Option<usize> {
        self.buffers.get(memory.0).map(|buffer| buffer.object.get() as usize)
    }
}
