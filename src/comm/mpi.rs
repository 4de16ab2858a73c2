//! MPI through rsmpi, with persistent requests for the repeated exchanges.

use std::os::raw::c_void;

use ::mpi::environment::Universe;
use ::mpi::ffi;
use ::mpi::topology::{AsCommunicator, Communicator as _, SimpleCommunicator};
use ::mpi::traits::*;

use super::{Buffers, Communicator, Exchange, FileAccess, MessageSpec};

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
        let (universe, level) = ::mpi::initialize_with_threading(::mpi::Threading::Funneled)?;
        (level >= ::mpi::Threading::Funneled).then(|| {
            let world = universe.world().as_communicator().duplicate();
            let here = world.split_shared(0);
            let (ranks_here, rank_here) = (here.size() as usize, here.rank() as usize);
            Self { world, ranks_here, rank_here, _universe: universe }
        })
    }
}

/// Ends all ranks at once. For panics, when no communicator is at hand.
pub fn abort_all(code: i32) -> ! {
    // SAFETY: aborting is allowed at any time between initialisation and the end of the process.
    unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, code) };
    std::process::exit(code)
}

struct PersistentExchange {
    outgoing: Buffers,
    incoming: Buffers,
    requests: Vec<ffi::MPI_Request>,
    state: State,
}

#[derive(PartialEq)]
enum State {
    Idle,
    UnderWay,
}

// SAFETY: used from the main thread only (THREAD_FUNNELED); requests are opaque handles.
unsafe impl Send for PersistentExchange {}

impl PersistentExchange {
    fn new(comm: ffi::MPI_Comm, sends: &[MessageSpec], receives: &[MessageSpec]) -> Self {
        let mut outgoing = Buffers::new(sends);
        let mut incoming = Buffers::new(receives);
        let mut requests = Vec::with_capacity(sends.len() + receives.len());
        let count = |bytes: usize| i32::try_from(bytes).expect("a halo message stays below 2 GiB");
        for (n, spec) in receives.iter().enumerate() {
            let buffer = incoming.get_mut(n).as_mut_ptr().cast::<c_void>();
            // SAFETY: the buffer is heap memory owned by the exchange; it outlives the request, freed in drop.
            unsafe {
                let mut request = ffi::RSMPI_REQUEST_NULL;
                let (n, peer) = (count(spec.bytes), spec.peer as i32);
                ffi::MPI_Recv_init(buffer, n, ffi::RSMPI_UINT8_T, peer, spec.tag, comm, &mut request);
                requests.push(request);
            }
        }
        for (n, spec) in sends.iter().enumerate() {
            let buffer = outgoing.get_mut(n).as_mut_ptr().cast::<c_void>();
            // SAFETY: as above.
            unsafe {
                let mut request = ffi::RSMPI_REQUEST_NULL;
                let (n, peer) = (count(spec.bytes), spec.peer as i32);
                ffi::MPI_Send_init(buffer, n, ffi::RSMPI_UINT8_T, peer, spec.tag, comm, &mut request);
                requests.push(request);
            }
        }
        Self { outgoing, incoming, requests, state: State::Idle }
    }
}

impl Exchange for PersistentExchange {
    fn send_buffer(&mut self, n: usize) -> &mut [u8] {
        assert!(self.state == State::Idle, "send buffers belong to MPI until the exchange is complete");
        self.outgoing.get_mut(n)
    }
    fn post(&mut self) {
        assert!(self.state == State::Idle, "an exchange is posted once before it is waited for");
        self.state = State::UnderWay;
        // SAFETY: the requests are persistent, inactive and own their buffers.
        unsafe { ffi::MPI_Startall(self.requests.len() as i32, self.requests.as_mut_ptr()) };
    }
    fn wait(&mut self) {
        // SAFETY: the requests are valid; inactive ones complete at once.
        unsafe { ffi::MPI_Waitall(self.requests.len() as i32, self.requests.as_mut_ptr(), ffi::RSMPI_STATUSES_IGNORE) };
        self.state = State::Idle;
    }
    fn receive_buffer(&self, n: usize) -> &[u8] {
        assert!(self.state == State::Idle, "receive buffers belong to MPI until the exchange is complete");
        self.incoming.get(n)
    }
}

impl Drop for PersistentExchange {
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
        let root = self.world.process_at_rank(0);
        let mine = bytes.len() as i64;
        if self.rank() != 0 {
            root.gather_into(&mine);
            // Length first, payload as a plain message: counts of any size, no displacement arithmetic.
            if !bytes.is_empty() {
                root.send_with_tag(bytes, GATHER_TAG);
            }
            return None;
        }
        let mut lengths = vec![0_i64; self.size()];
        root.gather_into_root(&mine, &mut lengths[..]);
        Some(
            lengths
                .iter()
                .enumerate()
                .map(|(rank, &length)| {
                    let mut part = vec![0_u8; length as usize];
                    if rank == 0 {
                        part.copy_from_slice(bytes);
                    } else if length > 0 {
                        self.world.process_at_rank(rank as i32).receive_into_with_tag(&mut part[..], GATHER_TAG);
                    }
                    part
                })
                .collect(),
        )
    }
    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8> {
        let root = self.world.process_at_rank(0);
        let mut length = bytes.len() as i64;
        root.broadcast_into(&mut length);
        let mut bytes = if self.rank() == 0 { bytes } else { vec![0; length as usize] };
        root.broadcast_into(&mut bytes[..]);
        bytes
    }
    fn exchange(&self, sends: &[MessageSpec], receives: &[MessageSpec]) -> Box<dyn Exchange> {
        Box::new(PersistentExchange::new(self.world.as_raw(), sends, receives))
    }
    fn abort(&self, code: i32) -> ! {
        self.world.abort(code)
    }
    fn file_access(&self) -> FileAccess {
        FileAccess::Parallel(self.world.as_raw())
    }
}

/// Tag of gathered payloads; halo exchanges use small tags.
const GATHER_TAG: i32 = 30_000;
