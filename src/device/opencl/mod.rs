//! OpenCL 1.2 devices, CPUs among them.
//!
//! The library is loaded at run time. Objects are reached through the plain functions of `cl3`, which return every failure.

mod choice;
mod host;
mod program;

use cl3::command_queue as queue_calls;
use cl3::error_codes::{CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES};
use cl3::types::{CL_BLOCKING, CL_NON_BLOCKING};
use std::ffi::{CStr, c_void};
use std::ptr::{from_ref, null, null_mut};

use self::choice::Choice;
use self::host::HostBlock;
use self::program::Entry;
use super::arguments::{check_arguments, lanes_of_all_groups};
use super::bounds::{unknown, within};
use super::{
    Argument, Device, DeviceError, DeviceInfo, DeviceResult, Event, HostMemory, Kernel, Launch, Memory, Queue,
};

/// An OpenCL object. None belongs to a thread; all calls are thread-safe but the setting of kernel arguments, for which
/// the device is borrowed exclusively.
type Owned = super::owned::Owned<*mut c_void, i32>;

const DRIVER: &str = "OpenCL";

/// Division and square root rounded correctly in single precision; whatever contracts arithmetic is in the text. No warnings:
/// some drivers print them, and the text is checked by tests.
pub(super) const OPTIONS: &CStr = c"-w -cl-std=CL1.2 -cl-kernel-arg-info -cl-fp32-correctly-rounded-divide-sqrt";

/// For devices that do not know the option; the self-test finds those that round otherwise.
const OPTIONS_WITHOUT_ROUNDING: &CStr = c"-w -cl-std=CL1.2 -cl-kernel-arg-info";

/// Memory is filled and allocated in units of this many bytes.
const UNIT: usize = 16;

struct Buffer {
    object: Owned,
    bytes: usize,
}

/// A device reached through OpenCL.
pub struct OpenClDevice {
    choice: Choice,
    queues: [Owned; 2],
    program: Option<Owned>,
    kernels: Vec<Entry>,
    /// Kernels of earlier programs; handles count on, so that theirs stay invalid.
    retired: usize,
    buffers: Vec<Buffer>,
    hosts: Vec<HostBlock>,
    events: Vec<Option<Owned>>,
    context: Owned,
}

/// Words for an error code.
fn words(code: i32) -> String {
    format!("{} ({code})", cl3::error_codes::error_text(code))
}

impl OpenClDevice {
    /// Number of devices: GPUs if there is one, else accelerators, else CPUs, on all platforms.
    ///
    /// # Errors
    /// No driver or no device.
    pub fn count() -> DeviceResult<usize> {
        choice::devices().map(|found| found.len())
    }

    /// Opens the device of an index below [`OpenClDevice::count`].
    ///
    /// # Errors
    /// No driver, no such device, or the driver refuses to open it.
    pub fn open(index: usize) -> DeviceResult<Self> {
        let choice = choice::choose(index)?;
        let failed = |code| call_failed(&choice.info.name, "opening the device", code);
        let context = cl3::context::create_context(&[choice.id], null(), None, null_mut()).map_err(failed)?;
        // SAFETY: the context has just been created and is nobody else's.
        let context = unsafe { Owned::new(context, cl3::context::release_context) };
        let queue = || {
            // SAFETY: the device is of this context; no property means: in order.
            let queue = unsafe { queue_calls::create_command_queue(context.get(), choice.id, 0) }.map_err(failed)?;
            // SAFETY: the queue has just been created and is nobody else's.
            Ok(unsafe { Owned::new(queue, queue_calls::release_command_queue) })
        };
        let queues = [queue()?, queue()?];
        let (kernels, buffers, hosts, events) = Default::default();
        Ok(Self { choice, queues, program: None, kernels, retired: 0, buffers, hosts, events, context })
    }

    fn name(&self) -> &str {
        &self.choice.info.name
    }

    fn failed(&self, call: &'static str) -> impl Fn(i32) -> DeviceError {
        move |code| call_failed(self.name(), call, code)
    }

    fn queue(&self, queue: Queue) -> *mut c_void {
        self.queues[queue as usize].get()
    }

    fn buffer(&self, memory: Memory, call: &'static str, offset: usize, bytes: usize) -> DeviceResult<*mut c_void> {
        let buffer = self.buffers.get(memory.0).ok_or_else(|| unknown(self.name(), call))?;
        within(self.name(), call, offset, bytes, buffer.bytes)?;
        Ok(buffer.object.get())
    }

    fn host_pointer(
        &mut self,
        memory: HostMemory,
        call: &'static str,
        offset: usize,
        bytes: usize,
    ) -> DeviceResult<*mut c_void> {
        let name = &self.choice.info.name;
        let block = self.hosts.get_mut(memory.0).ok_or_else(|| unknown(name, call))?;
        within(name, call, offset, bytes, block.bytes)?;
        Ok(block.pointer(offset))
    }

    /// Takes over the event that a queued command returned.
    fn event_of(&self, call: &'static str, queued: Result<*mut c_void, i32>) -> DeviceResult<Owned> {
        let event = queued.map_err(self.failed(call))?;
        // SAFETY: the event of a new command belongs to the caller.
        Ok(unsafe { Owned::new(event, cl3::event::release_event) })
    }
}

fn call_failed(device: &str, call: &'static str, code: i32) -> DeviceError {
    DeviceError::Call { device: device.to_string(), call, reason: words(code) }
}

impl Drop for OpenClDevice {
    fn drop(&mut self) {
        if self.finish().is_err() {
            // Transfers may still be under way: their host memory has to stay.
            std::mem::forget(std::mem::take(&mut self.hosts));
        }
    }
}

impl Device for OpenClDevice {
    fn info(&self) -> &DeviceInfo {
        &self.choice.info
    }

    fn compile(&mut self, source: &str) -> DeviceResult<()> {
        const CALL: &str = "compiling";
        self.retired += self.kernels.len();
        self.kernels.clear();
        self.program = None;
        let program = cl3::program::create_program_with_source(self.context.get(), &[source]);
        let program = program.map_err(self.failed(CALL))?;
        // SAFETY: the program has just been created and is nobody else's.
        let program = unsafe { Owned::new(program, cl3::program::release_program) };
        let options = if self.choice.rounds { OPTIONS } else { OPTIONS_WITHOUT_ROUNDING };
        let built = cl3::program::build_program(program.get(), &[self.choice.id], options, None, null_mut());
        if let Err(code) = built {
            let log =
                cl3::program::get_program_build_data(program.get(), self.choice.id, cl3::program::CL_PROGRAM_BUILD_LOG);
            let log = Some(choice::text(log)).filter(|log| !log.is_empty()).unwrap_or_else(|| words(code));
            return Err(DeviceError::Compile { device: self.name().to_string(), log });
        }
        self.program = Some(program);
        Ok(())
    }

    fn kernel(&mut self, name: &str) -> DeviceResult<Kernel> {
        if let Some(known) = self.kernels.iter().position(|entry| entry.name == name) {
            return Ok(Kernel(self.retired + known));
        }
        let no_kernel = || DeviceError::NoKernel { name: name.to_string() };
        let program = self.program.as_ref().ok_or_else(no_kernel)?;
        let entry = Entry::find(program, name).map_err(|reason| DeviceError::Call {
            device: self.name().to_string(),
            call: "looking up a kernel",
            reason: format!("{name}: {reason}"),
        })?;
        self.kernels.push(entry.ok_or_else(no_kernel)?);
        Ok(Kernel(self.retired + self.kernels.len() - 1))
    }

    fn allocate(&mut self, bytes: usize) -> DeviceResult<Memory> {
        const CALL: &str = "allocating memory";
        let device = self.name().to_string();
        let no_room = DeviceError::OutOfMemory { device: device.clone(), bytes };
        let Some(size) = bytes.max(1).checked_next_multiple_of(UNIT) else { return Err(no_room) };
        if size > self.choice.largest {
            return Err(no_room);
        }
        let refused = |code| match code {
            CL_MEM_OBJECT_ALLOCATION_FAILURE | CL_OUT_OF_RESOURCES | CL_OUT_OF_HOST_MEMORY => no_room.clone(),
            code => call_failed(&device, CALL, code),
        };
        let flags = cl3::memory::CL_MEM_READ_WRITE;
        // SAFETY: no host pointer is given.
        let object = unsafe { cl3::memory::create_buffer(self.context.get(), flags, size, null_mut()) };
        // SAFETY: the buffer has just been created and is nobody else's.
        let object = unsafe { Owned::new(object.map_err(refused)?, cl3::memory::release_mem_object) };
        let (queue, zeros) = (self.queue(Queue::Compute), [0_u8; UNIT]);
        // SAFETY: the size of the buffer is a multiple of the pattern's; the pattern is copied by the call.
        let filled = unsafe {
            let pattern = from_ref(&zeros).cast();
            queue_calls::enqueue_fill_buffer(queue, object.get(), pattern, UNIT, 0, size, 0, null())
        };
        // SAFETY: the event of a new command belongs to the caller.
        let filled = unsafe { Owned::new(filled.map_err(refused)?, cl3::event::release_event) };
        cl3::event::wait_for_events(&[filled.get()]).map_err(refused)?;
        self.buffers.push(Buffer { object, bytes });
        Ok(Memory(self.buffers.len() - 1))
    }

    fn allocate_host(&mut self, bytes: usize) -> DeviceResult<HostMemory> {
        let block = HostBlock::new(bytes);
        self.hosts.push(block.ok_or_else(|| DeviceError::OutOfMemory { device: "the host".to_string(), bytes })?);
        Ok(HostMemory(self.hosts.len() - 1))
    }

    fn host(&self, memory: HostMemory) -> &[u8] {
        self.hosts.get(memory.0).map_or(&[], HostBlock::read)
    }

    fn host_mut(&mut self, memory: HostMemory) -> &mut [u8] {
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
        let pointer = self.host_pointer(from.0, CALL, from.1, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        let on = self.queue(queue);
        // SAFETY: both ranges are checked; the block waits for the event before it is lent out or freed.
        let queued =
            unsafe { queue_calls::enqueue_write_buffer(on, buffer, CL_NON_BLOCKING, to.1, bytes, pointer, 0, null()) };
        let event = self.event_of(CALL, queued)?;
        self.hosts[from.0.0].set_out_of(queue, event);
        queue_calls::flush(on).map_err(self.failed(CALL))
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
        let pointer = self.host_pointer(to.0, CALL, to.1, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        let on = self.queue(queue);
        // SAFETY: both ranges are checked; the block waits for the event before it is lent out or freed.
        let queued =
            unsafe { queue_calls::enqueue_read_buffer(on, buffer, CL_NON_BLOCKING, from.1, bytes, pointer, 0, null()) };
        let event = self.event_of(CALL, queued)?;
        self.hosts[to.0.0].set_into(queue, event);
        queue_calls::flush(on).map_err(self.failed(CALL))
    }

    fn write(&mut self, to: (Memory, usize), bytes: &[u8]) -> DeviceResult<()> {
        const CALL: &str = "write";
        let buffer = self.buffer(to.0, CALL, to.1, bytes.len())?;
        if bytes.is_empty() {
            return Ok(());
        }
        let (on, pointer) = (self.queue(Queue::Compute), bytes.as_ptr().cast());
        // SAFETY: the range is checked, and the call returns when it is done with the bytes.
        let queued = unsafe {
            queue_calls::enqueue_write_buffer(on, buffer, CL_BLOCKING, to.1, bytes.len(), pointer, 0, null())
        };
        self.event_of(CALL, queued).map(drop)
    }

    fn read(&mut self, from: (Memory, usize), bytes: &mut [u8]) -> DeviceResult<()> {
        const CALL: &str = "read";
        let buffer = self.buffer(from.0, CALL, from.1, bytes.len())?;
        if bytes.is_empty() {
            return Ok(());
        }
        let (on, pointer) = (self.queue(Queue::Compute), bytes.as_mut_ptr().cast());
        // SAFETY: the range is checked, and the call returns when it is done with the bytes.
        let queued = unsafe {
            queue_calls::enqueue_read_buffer(on, buffer, CL_BLOCKING, from.1, bytes.len(), pointer, 0, null())
        };
        self.event_of(CALL, queued).map(drop)
    }

    fn launch(&mut self, kernel: Kernel, launch: Launch, arguments: &[Argument]) -> DeviceResult<()> {
        let entry = kernel.0.checked_sub(self.retired).and_then(|n| self.kernels.get(n));
        let entry = entry.ok_or_else(|| unknown(self.name(), "launch"))?;
        let refused = |reason: String| DeviceError::Call {
            device: self.name().to_string(),
            call: "launch",
            reason: format!("{}: {reason}", entry.name),
        };
        check_arguments(&entry.kinds, arguments).map_err(refused)?;
        let width = lanes_of_all_groups(launch).map_err(refused)?;
        for (n, argument) in arguments.iter().enumerate() {
            let handle;
            let (size, pointer): (usize, *const c_void) = match argument {
                Argument::Memory(memory) => {
                    handle = self.buffer(*memory, "launch", 0, 0)?;
                    (size_of::<*mut c_void>(), from_ref(&handle).cast())
                }
                Argument::Int(value) => (size_of::<i32>(), from_ref(value).cast()),
                Argument::Single(value) => (size_of::<f32>(), from_ref(value).cast()),
                Argument::Double(value) => (size_of::<f64>(), from_ref(value).cast()),
            };
            // SAFETY: the kind of the argument was compared with the declaration; the value is copied by the call.
            unsafe { cl3::kernel::set_kernel_arg(entry.object.get(), n as u32, size, pointer) }
                .map_err(|code| refused(format!("argument {n}: {}", words(code))))?;
        }
        let (on, object) = (self.queue(Queue::Compute), entry.object.get());
        // SAFETY: all arguments are set; the sizes are arrays of three numbers. What the kernel reaches is the program's
        // own business.
        let queued = unsafe {
            queue_calls::enqueue_nd_range_kernel(
                on,
                object,
                3,
                null(),
                width.as_ptr(),
                launch.lanes.as_ptr(),
                0,
                null(),
            )
        };
        let event = queued.map_err(|code| refused(format!("{launch:?}: {}", words(code))))?;
        // SAFETY: the event of a new command belongs to the caller.
        drop(unsafe { Owned::new(event, cl3::event::release_event) });
        Ok(())
    }

    fn event(&mut self) -> DeviceResult<Event> {
        self.events.push(None);
        Ok(Event(self.events.len() - 1))
    }

    fn record(&mut self, event: Event, queue: Queue) -> DeviceResult<()> {
        const CALL: &str = "recording an event";
        let on = self.queue(queue);
        // SAFETY: the queue is valid, the list of events empty.
        let queued = unsafe { queue_calls::enqueue_marker_with_wait_list(on, 0, null()) };
        let marker = self.event_of(CALL, queued)?;
        // Other queues may wait only for what has been handed to the device.
        queue_calls::flush(on).map_err(self.failed(CALL))?;
        let name = &self.choice.info.name;
        *self.events.get_mut(event.0).ok_or_else(|| unknown(name, CALL))? = Some(marker);
        Ok(())
    }

    fn wait(&mut self, event: Event, queue: Queue) -> DeviceResult<()> {
        const CALL: &str = "waiting for an event";
        let Some(marker) = self.events.get(event.0).ok_or_else(|| unknown(self.name(), CALL))? else {
            return Ok(());
        };
        let list = [marker.get()];
        // SAFETY: the event is valid during the call, which takes a reference of its own.
        let queued = unsafe { queue_calls::enqueue_barrier_with_wait_list(self.queue(queue), 1, list.as_ptr()) };
        self.event_of(CALL, queued).map(drop)
    }

    fn host_wait(&mut self, event: Event) -> DeviceResult<()> {
        const CALL: &str = "waiting for an event";
        match self.events.get(event.0).ok_or_else(|| unknown(self.name(), CALL))? {
            Some(marker) => cl3::event::wait_for_events(&[marker.get()]).map_err(self.failed(CALL)),
            None => Ok(()),
        }
    }

    fn finish(&mut self) -> DeviceResult<()> {
        let compute = queue_calls::finish(self.queue(Queue::Compute));
        let transfer = queue_calls::finish(self.queue(Queue::Transfer));
        compute.and(transfer).map_err(self.failed("finish"))
    }

    fn address(&self, _memory: Memory) -> Option<usize> {
        None
    }
}
