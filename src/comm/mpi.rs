//! MPI through rsmpi, with persistent requests for the repeated exchanges.

use std::ffi::{c_int, c_void};

use ::mpi::environment::Universe;
use ::mpi::ffi;
use ::mpi::topology::{AsCommunicator, Color, Communicator as _, SimpleCommunicator};
use ::mpi::traits::*;

use super::{
    AddressedMessage, Buffers, Communicator, DeviceMemory, Exchange, FileAccess, FileGroup, MessageSpec, Transfer,
};

/// The ranks of `MPI_COMM_WORLD`. Only the main thread of each rank communicates (`MPI_THREAD_FUNNELED`).
pub struct Mpi {
    world: SimpleCommunicator,
    ranks_here: usize,
    rank_here: usize,
    // Dropping the universe finalises MPI.
    _universe: Universe,
}

// SAFETY: all calls are made from the main thread (THREAD_FUNNELED); the handle itself is an address or an integer.
unsafe impl Send for Mpi {}
// SAFETY: as above.
unsafe impl Sync for Mpi {}

impl Mpi {
    /// Initialises MPI; `None` if it was initialised before or offers no thread support.
    pub fn initialize() -> Option<Self> {
        without_named_semaphores();
        let (universe, level) = ::mpi::initialize_with_threading(::mpi::Threading::Funneled)?;
        (level >= ::mpi::Threading::Funneled).then(|| {
            let world = universe.world().as_communicator().duplicate();
            let here = world.split_shared(0);
            let (ranks_here, rank_here) = (here.size() as usize, here.rank() as usize);
            Self { world, ranks_here, rank_here, _universe: universe }
        })
    }
}

/// Open MPI (4.1 and 5.0) opens every shared file with a semaphore of the machine that is named after the file, for pointers that
/// several ranks share and nobody here uses. A job that is killed in that moment leaves it taken, and each later job that
/// writes a file of that name, of whatever user, waits for ever. What the user has chosen stays.
fn without_named_semaphores() {
    // SAFETY: two texts that end with zero; no other thread of the program reads or changes the environment at this time.
    unsafe { libc::setenv(c"OMPI_MCA_sharedfp".as_ptr(), c"^sm,lockedfile".as_ptr(), 0) };
}

/// Ends all ranks at once. For panics, when no communicator is at hand.
pub fn abort_all(code: i32) -> ! {
    // SAFETY: aborting is allowed at any time between initialisation and the end of the process.
    unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, code) };
    std::process::exit(code)
}

/// Persistent requests of one exchange.
struct Requests {
    requests: Vec<ffi::MPI_Request>,
    state: State,
}

#[derive(PartialEq)]
enum State {
    Idle,
    UnderWay,
}

// SAFETY: used from the main thread only (THREAD_FUNNELED); requests are opaque handles.
unsafe impl Send for Requests {}

impl Requests {
    /// Prepares receives, then sends, each from or to an address.
    ///
    /// # Safety
    /// The memory outlives the requests, and nobody touches it while they are active.
    unsafe fn new(comm: ffi::MPI_Comm, sends: &[AddressedMessage], receives: &[AddressedMessage]) -> Self {
        let mut requests = Vec::with_capacity(sends.len() + receives.len());
        let bytes = |m: &AddressedMessage| i32::try_from(m.spec.bytes).expect("a halo message stays below 2 GiB");
        for message in receives {
            let (peer, buffer) = (message.spec.peer as i32, message.address as *mut c_void);
            // SAFETY: a constant of the library.
            let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
            // SAFETY: the caller's promise.
            unsafe {
                let (n, tag) = (bytes(message), message.spec.tag);
                ffi::MPI_Recv_init(buffer, n, ffi::RSMPI_UINT8_T, peer, tag, comm, &mut request);
            }
            requests.push(request);
        }
        for message in sends {
            let (peer, buffer) = (message.spec.peer as i32, message.address as *const c_void);
            // SAFETY: a constant of the library.
            let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
            // SAFETY: the caller's promise.
            unsafe {
                let (n, tag) = (bytes(message), message.spec.tag);
                ffi::MPI_Send_init(buffer, n, ffi::RSMPI_UINT8_T, peer, tag, comm, &mut request);
            }
            requests.push(request);
        }
        Self { requests, state: State::Idle }
    }
}

impl Transfer for Requests {
    fn post(&mut self) {
        assert!(self.state == State::Idle, "an exchange is posted once before it is waited for");
        self.state = State::UnderWay;
        // SAFETY: the requests are persistent and inactive, their memory is valid.
        unsafe { ffi::MPI_Startall(self.requests.len() as i32, self.requests.as_mut_ptr()) };
    }

    fn wait(&mut self) {
        // SAFETY: the requests are valid; inactive ones complete at once.
        unsafe { ffi::MPI_Waitall(self.requests.len() as i32, self.requests.as_mut_ptr(), ffi::RSMPI_STATUSES_IGNORE) };
        self.state = State::Idle;
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The job is about to be aborted; waiting for peers could hang.
            return;
        }
        if self.state == State::UnderWay {
            self.wait();
        }
        for request in &mut self.requests {
            // SAFETY: the request is valid and inactive.
            unsafe { ffi::MPI_Request_free(request) };
        }
    }
}

/// An exchange with buffers of its own. The requests come first: they end before their memory does.
struct PersistentExchange {
    requests: Requests,
    outgoing: Buffers,
    incoming: Buffers,
}

impl PersistentExchange {
    fn new(comm: ffi::MPI_Comm, sends: &[MessageSpec], receives: &[MessageSpec]) -> Self {
        let mut outgoing = Buffers::new(sends);
        let mut incoming = Buffers::new(receives);
        let addressed = |specs: &[MessageSpec], buffers: &mut Buffers| -> Vec<AddressedMessage> {
            let at = |(n, spec): (usize, &MessageSpec)| AddressedMessage {
                spec: *spec,
                address: buffers.get_mut(n).as_mut_ptr() as usize,
            };
            specs.iter().enumerate().map(at).collect()
        };
        let (sends, receives) = (addressed(sends, &mut outgoing), addressed(receives, &mut incoming));
        // SAFETY: the buffers are heap memory owned by the exchange and are touched only while no message is under way.
        let requests = unsafe { Requests::new(comm, &sends, &receives) };
        Self { requests, outgoing, incoming }
    }
}

impl Exchange for PersistentExchange {
    fn send_buffer(&mut self, n: usize) -> &mut [u8] {
        assert!(self.requests.state == State::Idle, "send buffers belong to MPI until the exchange is complete");
        self.outgoing.get_mut(n)
    }
    fn post(&mut self) {
        self.requests.post();
    }
    fn wait(&mut self) {
        self.requests.wait();
    }
    fn receive_buffer(&self, n: usize) -> &[u8] {
        assert!(self.requests.state == State::Idle, "receive buffers belong to MPI until the exchange is complete");
        self.incoming.get(n)
    }
}

/// What the MPI library answers when it is asked for CUDA support; libraries without the question have no support.
fn claims_device_memory() -> bool {
    type OpenMpiQuery = unsafe extern "C" fn() -> c_int;
    type MpichQuery = unsafe extern "C" fn(c_int, *mut c_int) -> c_int;
    const CUDA: c_int = 0;
    // SAFETY: looks up a name among the loaded libraries.
    let open_mpi = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"MPIX_Query_cuda_support".as_ptr()) };
    if !open_mpi.is_null() {
        // SAFETY: the documented signature of this extension.
        return unsafe { std::mem::transmute::<*mut c_void, OpenMpiQuery>(open_mpi)() } == 1;
    }
    // SAFETY: as above.
    let mpich = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"MPIX_GPU_query_support".as_ptr()) };
    let mut supported = 0;
    if !mpich.is_null() {
        // SAFETY: the documented signature of this extension.
        unsafe { std::mem::transmute::<*mut c_void, MpichQuery>(mpich)(CUDA, &mut supported) };
    }
    supported == 1
}

impl Communicator for Mpi {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }
    fn size(&self) -> usize {
        self.world.size() as usize
    }
    fn ranks_here(&self) -> usize {
        self.ranks_here
    }

    fn rank_here(&self) -> usize {
        self.rank_here
    }
    fn barrier(&self) {
        self.world.barrier();
    }
    fn sum_i64(&self, values: &mut [i64]) {
        let mine = values.to_vec();
        self.world.all_reduce_into(&mine[..], values, ::mpi::collective::SystemOperation::sum());
    }
    fn max_f64(&self, values: &mut [f64]) {
        let mine = values.to_vec();
        self.world.all_reduce_into(&mine[..], values, ::mpi::collective::SystemOperation::max());
    }
    fn gather(&self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        gather(&self.world, bytes)
    }
    fn gather_each(&self, bytes: &[u8], lengths: &[usize], room: &mut [u8], take: &mut dyn FnMut(usize, &[u8])) {
        if self.rank() != 0 {
            if !bytes.is_empty() {
                self.world.process_at_rank(0).send_with_tag(bytes, GATHER_TAG);
            }
            return;
        }
        take(0, bytes);
        for (rank, &length) in lengths.iter().enumerate().skip(1).filter(|(_, length)| **length > 0) {
            let room = &mut room[..length];
            self.world.process_at_rank(rank as i32).receive_into_with_tag(room, GATHER_TAG);
            take(rank, room);
        }
    }
    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8> {
        let root = self.world.process_at_rank(0);
        let mut length = bytes.len() as i64;
        root.broadcast_into(&mut length);
        let mut bytes = if self.rank() == 0 { bytes } else { vec![0; length as usize] };
        // An empty buffer has no address, which the library refuses.
        if length > 0 {
            root.broadcast_into(&mut bytes[..]);
        }
        bytes
    }
    fn exchange(&self, sends: &[MessageSpec], receives: &[MessageSpec]) -> Box<dyn Exchange> {
        Box::new(PersistentExchange::new(self.world.as_raw(), sends, receives))
    }
    unsafe fn exchange_at(
        &self,
        sends: &[AddressedMessage],
        receives: &[AddressedMessage],
    ) -> Option<Box<dyn Transfer>> {
        // SAFETY: the caller's promise.
        Some(Box::new(unsafe { Requests::new(self.world.as_raw(), sends, receives) }))
    }
    fn device_memory(&self) -> DeviceMemory {
        if claims_device_memory() { DeviceMemory::Taken } else { DeviceMemory::NotTaken }
    }
    fn library(&self) -> Option<String> {
        let text = ::mpi::environment::library_version().ok()?;
        let line = text.lines().next()?.trim_matches(['\0', ' ']).to_owned();
        (!line.is_empty()).then_some(line)
    }
    fn abort(&self, code: i32) -> ! {
        self.world.abort(code)
    }
    fn file_access(&self) -> FileAccess {
        FileAccess::Parallel(self.world.as_raw())
    }
    fn file_group(&self, ranks: Option<usize>) -> Option<Box<dyn FileGroup>> {
        let rank = self.rank();
        let group = match ranks {
            Some(ranks) => self.world.split_by_color(Color::with_value((rank / ranks.max(1)) as i32)),
            None => Some(self.world.split_shared(0)),
        }?;
        let writes = if group.rank() == 0 { Color::with_value(0) } else { Color::undefined() };
        Some(Box::new(Group { writers: self.world.split_by_color(writes), group }))
    }
}

/// Ranks whose first one writes for all.
struct Group {
    group: SimpleCommunicator,
    /// The first ranks of all groups; on those only.
    writers: Option<SimpleCommunicator>,
}

// SAFETY: used from the main thread only (THREAD_FUNNELED); the handles are addresses or integers.
unsafe impl Send for Group {}

impl FileGroup for Group {
    fn writes(&self) -> bool {
        self.writers.is_some()
    }
    fn size(&self) -> usize {
        self.group.size() as usize
    }
    fn gather(&self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        gather(&self.group, bytes)
    }
    fn file_access(&self) -> FileAccess {
        self.writers.as_ref().map_or(FileAccess::Gathered, |writers| FileAccess::Parallel(writers.as_raw()))
    }
}

/// Bytes of every rank of a communicator, in rank order, on its first one.
fn gather(ranks: &SimpleCommunicator, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let root = ranks.process_at_rank(0);
    let mine = bytes.len() as i64;
    if ranks.rank() != 0 {
        root.gather_into(&mine);
        // Length first, payload as a plain message: counts of any size, no displacement arithmetic.
        if !bytes.is_empty() {
            root.send_with_tag(bytes, GATHER_TAG);
        }
        return None;
    }
    let mut lengths = vec![0_i64; ranks.size() as usize];
    root.gather_into_root(&mine, &mut lengths[..]);
    let part = |(rank, &length): (usize, &i64)| {
        let mut part = vec![0_u8; length as usize];
        if rank == 0 {
            part.copy_from_slice(bytes);
        } else if length > 0 {
            ranks.process_at_rank(rank as i32).receive_into_with_tag(&mut part[..], GATHER_TAG);
        }
        part
    };
    Some(lengths.iter().enumerate().map(part).collect())
}

/// Tag of gathered payloads; halo exchanges use small tags.
const GATHER_TAG: i32 = 30_000;
