//! The device on the calls of the crate `atmostr-metal`.

use atmostr_metal::{self as metal, Buffer, Gpu, Library, Mark};

use super::declared;
use crate::device::arguments::{Kind, check_arguments, lanes_of_all_groups};
use crate::device::bounds::{unknown, within};
use crate::device::{
    Argument, Device, DeviceError, DeviceInfo, DeviceResult, Event, HostMemory, Kernel, Launch, Memory, Queue,
};

const DRIVER: &str = "Metal";

/// Memory is allocated in units of this many bytes.
const UNIT: usize = 16;

/// A piece of device memory.
struct Piece {
    buffer: Buffer,
    bytes: usize,
}

/// Host memory and the latest copies of each queue.
struct HostBlock {
    piece: Piece,
    into: [Option<Mark>; 2],
    out_of: [Option<Mark>; 2],
}

/// A kernel of the program.
struct Entry {
    name: String,
    kernel: metal::Kernel,
    kinds: Vec<Kind>,
}

/// A compiled program and its text.
struct Program {
    library: Library,
    source: String,
}

/// A device reached through Metal.
pub struct MetalDevice {
    // Dropped first: they wait for their work.
    queues: [metal::Queue; 2],
    info: DeviceInfo,
    program: Option<Program>,
    kernels: Vec<Entry>,
    /// Kernels of earlier programs; handles count on, so that theirs stay invalid.
    retired: usize,
    pieces: Vec<Piece>,
    hosts: Vec<HostBlock>,
    events: Vec<metal::Event>,
    gpu: Gpu,
}

impl MetalDevice {
    /// Number of devices, in the order of the system.
    ///
    /// # Errors
    /// No device.
    pub fn count() -> DeviceResult<usize> {
        match metal::count() {
            0 => Err(DeviceError::NoDevice { driver: DRIVER, reason: "none on this machine".to_string() }),
            count => Ok(count),
        }
    }

    /// Opens the device of an index below [`MetalDevice::count`].
    ///
    /// # Errors
    /// No such device, or the driver refuses to open it.
    pub fn open(index: usize) -> DeviceResult<Self> {
        let devices = Self::count()?;
        let gpu = Gpu::open(index).ok_or_else(|| DeviceError::NoDevice {
            driver: DRIVER,
            reason: format!("no device {index}; there are {devices}, counted from 0"),
        })?;
        let facts = gpu.facts();
        let queue = || gpu.queue().ok_or_else(|| failed(&facts.name, "opening the device", "no queue".to_string()));
        let queues = [queue()?, queue()?];
        let info = DeviceInfo {
            driver: format!("{DRIVER} of macOS {}", facts.system),
            dialect: kernels::device::Dialect::Metal,
            name: facts.name,
            memory: facts.memory,
            group_lanes: facts.group_lanes,
            group_bytes: facts.group_bytes,
            has_double: false,
        };
        let (kernels, pieces, hosts, events) = Default::default();
        Ok(Self { queues, info, program: None, kernels, retired: 0, pieces, hosts, events, gpu })
    }

    /// A new piece of zeros.
    fn piece(&self, device: &str, bytes: usize) -> DeviceResult<Piece> {
        let no_room = || DeviceError::OutOfMemory { device: device.to_string(), bytes };
        let size = bytes.max(1).checked_next_multiple_of(UNIT).ok_or_else(no_room)?;
        Ok(Piece { buffer: self.gpu.buffer(size).ok_or_else(no_room)?, bytes })
    }

    /// Starts a copy between a piece of memory and one of the host, and returns its mark.
    fn copy(
        &mut self,
        call: &'static str,
        queue: Queue,
        memory: (Memory, usize),
        host: (HostMemory, usize),
        bytes: usize,
        up: bool,
    ) -> DeviceResult<Option<Mark>> {
        let name = &self.info.name;
        let piece = self.pieces.get(memory.0.0).ok_or_else(|| unknown(name, call))?;
        within(name, call, memory.1, bytes, piece.bytes)?;
        let block = &self.hosts.get(host.0.0).ok_or_else(|| unknown(name, call))?.piece;
        within(name, call, host.1, bytes, block.bytes)?;
        let (device, host) = ((&piece.buffer, memory.1), (&block.buffer, host.1));
        let (from, to) = if up { (host, device) } else { (device, host) };
        // SAFETY: the host reaches the block only after waiting for the mark, and the piece not at all until `finish`.
        unsafe { self.queues[queue as usize].copy(from, to, bytes) }.map_err(|reason| failed(name, call, reason))
    }
}

fn failed(device: &str, call: &'static str, reason: String) -> DeviceError {
    DeviceError::Call { device: device.to_string(), call, reason }
}

/// Waits for copies. One that failed does not touch the memory any more either; its failure shows at the next wait.
fn await_all(marks: &[Option<Mark>; 2]) {
    marks.iter().flatten().for_each(Mark::wait);
}

impl Device for MetalDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn compile(&mut self, source: &str) -> DeviceResult<()> {
        self.retired += self.kernels.len();
        self.kernels.clear();
        self.program = None;
        let refused = |log| DeviceError::Compile { device: self.info.name.clone(), log };
        let library = self.gpu.compile(source).map_err(refused)?;
        self.program = Some(Program { library, source: source.to_string() });
        Ok(())
    }

    fn kernel(&mut self, name: &str) -> DeviceResult<Kernel> {
        const CALL: &str = "looking up a kernel";
        if let Some(known) = self.kernels.iter().position(|entry| entry.name == name) {
            return Ok(Kernel(self.retired + known));
        }
        let no_kernel = || DeviceError::NoKernel { name: name.to_string() };
        let refused = |reason: String| failed(&self.info.name, CALL, format!("{name}: {reason}"));
        let program = self.program.as_ref().ok_or_else(no_kernel)?;
        let kinds = declared::kinds(&program.source, name).ok_or_else(no_kernel)?.map_err(refused)?;
        let kernel = self.gpu.kernel(&program.library, name).map_err(refused)?.ok_or_else(no_kernel)?;
        self.kernels.push(Entry { name: name.to_string(), kernel, kinds });
        Ok(Kernel(self.retired + self.kernels.len() - 1))
    }

    fn allocate(&mut self, bytes: usize) -> DeviceResult<Memory> {
        let piece = self.piece(&self.info.name, bytes)?;
        self.pieces.push(piece);
        Ok(Memory(self.pieces.len() - 1))
    }

    fn allocate_host(&mut self, bytes: usize) -> DeviceResult<HostMemory> {
        let piece = self.piece("the host", bytes)?;
        self.hosts.push(HostBlock { piece, into: [None, None], out_of: [None, None] });
        Ok(HostMemory(self.hosts.len() - 1))
    }

    fn host(&self, memory: HostMemory) -> &[u8] {
        let Some(block) = self.hosts.get(memory.0) else { return &[] };
        await_all(&block.into);
        let Piece { buffer, bytes } = &block.piece;
        // SAFETY: the buffer is as long and lives as long as the device; no copy into it is under way, and none can start
        // while the device is borrowed.
        unsafe { std::slice::from_raw_parts(buffer.contents().as_ptr(), *bytes) }
    }

    fn host_mut(&mut self, memory: HostMemory) -> &mut [u8] {
        let Some(block) = self.hosts.get_mut(memory.0) else { return &mut [] };
        await_all(&block.into);
        await_all(&block.out_of);
        (block.into, block.out_of) = ([None, None], [None, None]);
        let Piece { buffer, bytes } = &block.piece;
        // SAFETY: as above, and no copy out of it is under way either; the device is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(buffer.contents().as_ptr(), *bytes) }
    }

    fn upload(
        &mut self,
        queue: Queue,
        from: (HostMemory, usize),
        to: (Memory, usize),
        bytes: usize,
    ) -> DeviceResult<()> {
        if let Some(mark) = self.copy("upload", queue, to, from, bytes, true)? {
            self.hosts[from.0.0].out_of[queue as usize] = Some(mark);
        }
        Ok(())
    }

    fn download(
        &mut self,
        queue: Queue,
        from: (Memory, usize),
        to: (HostMemory, usize),
        bytes: usize,
    ) -> DeviceResult<()> {
        if let Some(mark) = self.copy("download", queue, from, to, bytes, false)? {
            self.hosts[to.0.0].into[queue as usize] = Some(mark);
        }
        Ok(())
    }

    fn write(&mut self, to: (Memory, usize), bytes: &[u8]) -> DeviceResult<()> {
        const CALL: &str = "write";
        let name = &self.info.name;
        let piece = self.pieces.get(to.0.0).ok_or_else(|| unknown(name, CALL))?;
        within(name, CALL, to.1, bytes.len(), piece.bytes)?;
        self.queues[Queue::Compute as usize].finish().map_err(|reason| failed(name, CALL, reason))?;
        // SAFETY: the range is checked, and the work that may use it is done.
        unsafe { piece.buffer.contents().add(to.1).as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }

    fn read(&mut self, from: (Memory, usize), bytes: &mut [u8]) -> DeviceResult<()> {
        const CALL: &str = "read";
        let name = &self.info.name;
        let piece = self.pieces.get(from.0.0).ok_or_else(|| unknown(name, CALL))?;
        within(name, CALL, from.1, bytes.len(), piece.bytes)?;
        self.queues[Queue::Compute as usize].finish().map_err(|reason| failed(name, CALL, reason))?;
        // SAFETY: the range is checked, and the work that may write it is done.
        unsafe { piece.buffer.contents().add(from.1).as_ptr().copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn launch(&mut self, kernel: Kernel, launch: Launch, arguments: &[Argument]) -> DeviceResult<()> {
        const CALL: &str = "launch";
        /// Most arguments of a kernel: Metal feature set tables, "Maximum number of entries in the buffer argument table".
        const MOST: usize = 31;
        let name = &self.info.name;
        let entry = kernel.0.checked_sub(self.retired).and_then(|n| self.kernels.get(n));
        let entry = entry.ok_or_else(|| unknown(name, CALL))?;
        let refused = |reason: String| failed(name, CALL, format!("{}: {reason}", entry.name));
        check_arguments(&entry.kinds, arguments).map_err(refused)?;
        lanes_of_all_groups(launch).map_err(refused)?;
        let (lanes, most) =
            (launch.lanes.iter().fold(1, |all: usize, n| all.saturating_mul(*n)), entry.kernel.group_lanes());
        if lanes > most {
            return Err(refused(format!("a group has at most {most} lanes here, not {lanes}")));
        }
        let mut bound = [metal::Argument::Number([0; 4]); MOST];
        let places = bound.get_mut(..arguments.len());
        let places = places.ok_or_else(|| refused(format!("at most {MOST} arguments, not {}", arguments.len())))?;
        for (place, argument) in places.iter_mut().zip(arguments) {
            *place = match argument {
                Argument::Memory(memory) => {
                    let piece = self.pieces.get(memory.0).ok_or_else(|| unknown(name, CALL))?;
                    metal::Argument::Buffer(&piece.buffer)
                }
                Argument::Int(value) => metal::Argument::Number(value.to_ne_bytes()),
                Argument::Single(value) => metal::Argument::Number(value.to_ne_bytes()),
                Argument::Double(_) => return Err(refused("it has no double precision".to_string())),
            };
        }
        let queue = &mut self.queues[Queue::Compute as usize];
        // SAFETY: arguments, groups and lanes are checked. The host reaches memory only after `finish`. What the kernel
        // reaches is the program's own business.
        unsafe { queue.launch(&entry.kernel, launch.groups, launch.lanes, places) }.map_err(refused)
    }

    fn event(&mut self) -> DeviceResult<Event> {
        self.events.push(self.gpu.event());
        Ok(Event(self.events.len() - 1))
    }

    fn record(&mut self, event: Event, queue: Queue) -> DeviceResult<()> {
        const CALL: &str = "recording an event";
        let name = &self.info.name;
        let event = self.events.get_mut(event.0).ok_or_else(|| unknown(name, CALL))?;
        self.queues[queue as usize].signal(event).map_err(|reason| failed(name, CALL, reason))
    }

    fn wait(&mut self, event: Event, queue: Queue) -> DeviceResult<()> {
        const CALL: &str = "waiting for an event";
        let name = &self.info.name;
        let event = self.events.get(event.0).ok_or_else(|| unknown(name, CALL))?;
        self.queues[queue as usize].wait(event).map_err(|reason| failed(name, CALL, reason))
    }

    fn host_wait(&mut self, event: Event) -> DeviceResult<()> {
        const CALL: &str = "waiting for an event";
        let name = &self.info.name;
        self.events.get(event.0).ok_or_else(|| unknown(name, CALL))?.wait();
        for queue in &mut self.queues {
            queue.check().map_err(|reason| failed(name, CALL, reason))?;
        }
        Ok(())
    }

    fn finish(&mut self) -> DeviceResult<()> {
        let [compute, transfer] = &mut self.queues;
        let (compute, transfer) = (compute.finish(), transfer.finish());
        compute.and(transfer).map_err(|reason| failed(&self.info.name, "finish", reason))
    }

    fn address(&self, _memory: Memory) -> Option<usize> {
        None
    }
}
