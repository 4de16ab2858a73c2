//! Message passing between ranks.
//!
//! [`Communicator`] is all the program knows about other processes. [`Solo`] is one process without MPI, [`threads`]
//! runs many ranks in one process (for tests), and `Mpi` (feature `mpi`) is the real thing.

use std::fmt;
use std::sync::OnceLock;

#[cfg(feature = "mpi")]
mod mpi;
mod solo;
pub mod threads;

#[cfg(feature = "mpi")]
pub use self::mpi::{Mpi, abort_all};
pub use solo::Solo;

/// One message of an exchange: peer rank, tag and length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageSpec {
    /// The other rank.
    pub peer: usize,
    /// Tag, equal on both sides; distinguishes exchanges that are under way at the same time.
    pub tag: i32,
    /// Length in bytes.
    pub bytes: usize,
}

/// A repeatable set of point-to-point messages with its own buffers: fill the send buffers, [`Exchange::post`],
/// compute, [`Exchange::wait`], read the receive buffers.
///
/// Buffers are aligned to 8 bytes, so they can be viewed as slices of any float type.
pub trait Exchange: Send {
    /// Buffer of the `n`-th send. Must not be called between `post` and `wait`.
    fn send_buffer(&mut self, n: usize) -> &mut [u8];
    /// Starts all sends and receives.
    fn post(&mut self);
    /// Completes all sends and receives.
    fn wait(&mut self);
    /// Buffer of the `n`-th receive, valid after `wait`.
    fn receive_buffer(&self, n: usize) -> &[u8];
}

/// A message between pieces of memory that only the message library touches, such as memory of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressedMessage {
    /// Peer, tag and length.
    pub spec: MessageSpec,
    /// Address of the first byte.
    pub address: usize,
}

/// A repeatable set of messages between addresses: [`Transfer::post`], compute, [`Transfer::wait`].
pub trait Transfer: Send {
    /// Starts all sends and receives.
    fn post(&mut self);
    /// Completes all sends and receives.
    fn wait(&mut self);
}

/// What a message library says about addresses in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceMemory {
    /// It takes them.
    Taken,
    /// It does not take them, or does not say.
    NotTaken,
}

/// The ranks of one run. All collective calls must be made by every rank in the same order.
pub trait Communicator: Send + Sync {
    /// This rank, from 0.
    fn rank(&self) -> usize;
    /// Number of ranks.
    fn size(&self) -> usize;
    /// Number of ranks on this machine, this one included.
    fn ranks_here(&self) -> usize {
        self.size()
    }
    /// This rank among those on this machine, from 0.
    fn rank_here(&self) -> usize {
        self.rank()
    }
    /// Waits for all ranks.
    fn barrier(&self);
    /// Element-wise integer sum over ranks, result on every rank: exact and independent of order.
    fn sum_i64(&self, values: &mut [i64]);
    /// Element-wise maximum over ranks, result on every rank. NaN must not be passed.
    fn max_f64(&self, values: &mut [f64]);
    /// Bytes of every rank, in rank order, on rank 0; `None` elsewhere.
    fn gather(&self, bytes: &[u8]) -> Option<Vec<Vec<u8>>>;
    /// Hands the bytes of every rank, in rank order, to `take` on rank 0, which knows their `lengths`; nothing elsewhere.
    /// What comes in is put into `room`, on rank 0 of several as long as the longest.
    fn gather_each(&self, bytes: &[u8], lengths: &[usize], room: &mut [u8], take: &mut dyn FnMut(usize, &[u8])) {
        for (rank, part) in self.gather(bytes).into_iter().flatten().enumerate() {
            let room = &mut room[..lengths[rank]];
            room.copy_from_slice(&part);
            take(rank, room);
        }
    }
    /// Bytes of rank 0 on every rank.
    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8>;
    /// Prepares a repeatable exchange.
    fn exchange(&self, sends: &[MessageSpec], receives: &[MessageSpec]) -> Box<dyn Exchange>;
    /// Prepares a repeatable exchange between addresses; `None` if messages cannot be sent from there.
    ///
    /// # Safety
    /// The memory at the addresses stays valid as long as the exchange, and while messages are under way nobody writes
    /// what is sent or touches what is received. Device memory needs a library that takes it.
    unsafe fn exchange_at(
        &self,
        _sends: &[AddressedMessage],
        _receives: &[AddressedMessage],
    ) -> Option<Box<dyn Transfer>> {
        None
    }
    /// Whether the message library says that it takes addresses in device memory.
    fn device_memory(&self) -> DeviceMemory {
        DeviceMemory::NotTaken
    }
    /// Name and version of the message library; `None` without one.
    fn library(&self) -> Option<String> {
        None
    }
    /// Ends all ranks at once with this exit code.
    fn abort(&self, code: i32) -> !;
    /// How files are shared by the ranks.
    fn file_access(&self) -> FileAccess {
        FileAccess::Gathered
    }
    /// Groups of ranks with one that writes for all: `ranks` consecutive ones each, or those of a machine. Collective; `None`
    /// where files are not written by several ranks.
    fn file_group(&self, _ranks: Option<usize>) -> Option<Box<dyn FileGroup>> {
        None
    }
}

/// Ranks that have one of them write for all.
pub trait FileGroup: Send {
    /// Whether this rank is the one.
    fn writes(&self) -> bool;
    /// Number of ranks of the group.
    fn size(&self) -> usize;
    /// Bytes of every rank of the group, in rank order, on the one that writes; `None` elsewhere.
    fn gather(&self, bytes: &[u8]) -> Option<Vec<Vec<u8>>>;
    /// How the ranks that write share a file; asked by them only.
    fn file_access(&self) -> FileAccess;
}

/// How several ranks write one file.
#[derive(Clone, Copy)]
pub enum FileAccess {
    /// Rank 0 writes what it gathers.
    Gathered,
    /// All ranks write their part through MPI.
    #[cfg(feature = "mpi")]
    Parallel(::mpi::ffi::MPI_Comm),
}

impl fmt::Debug for FileAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileAccess::Gathered => f.write_str("Gathered"),
            #[cfg(feature = "mpi")]
            FileAccess::Parallel(_) => f.write_str("Parallel"),
        }
    }
}

/// Tells a message and ends all ranks.
type EndAll = Box<dyn Fn(&str) + Send + Sync>;

/// What ends a job from one rank.
static LONE_FAILURE: OnceLock<EndAll> = OnceLock::new();

/// Chooses what [`fail_alone`] does: it tells the message and ends all ranks. The first call counts.
pub fn on_lone_failure(end: impl Fn(&str) + Send + Sync + 'static) {
    let _ = LONE_FAILURE.set(Box::new(end));
}

/// To be called by a rank that fails while others may wait for it inside a library, where they cannot be told. Returns where
/// nothing was chosen.
pub fn fail_alone(message: &str) {
    if let Some(end) = LONE_FAILURE.get() {
        end(message);
    }
}

/// Message of a failure found by some rank, agreed on by all: every rank learns of it before the next collective call.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
#[error("{}{message}", if *ranks > 1 { format!("rank {rank}: ") } else { String::new() })]
pub struct RankError {
    /// Lowest rank that failed.
    pub rank: usize,
    /// Number of ranks of the run.
    pub ranks: usize,
    /// Its message.
    pub message: String,
}

/// Collective: `Ok` on every rank if it is `Ok` on all, else the error of the lowest failing rank on every rank.
pub fn agree<T, E: fmt::Display>(comm: &dyn Communicator, result: Result<T, E>) -> Result<T, RankError> {
    let ranks = comm.size();
    let (value, message) = match result {
        Ok(value) => (Some(value), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let mut first = [if message.is_some() { -(comm.rank() as f64) } else { f64::NEG_INFINITY }];
    comm.max_f64(&mut first);
    match value {
        Some(value) if first[0] == f64::NEG_INFINITY => return Ok(value),
        _ => {}
    }
    let rank = -first[0] as usize;
    let gathered = comm.gather(message.as_deref().unwrap_or_default().as_bytes());
    let chosen = gathered.map(|all| all[rank].clone()).unwrap_or_default();
    let message = String::from_utf8_lossy(&comm.broadcast(chosen)).into_owned();
    Err(RankError { rank, ranks, message })
}

/// 8-byte aligned byte buffers of one side of an exchange.
#[derive(Debug)]
struct Buffers(Vec<(usize, Vec<u64>)>);

impl Buffers {
    fn new(specs: &[MessageSpec]) -> Self {
        Self(specs.iter().map(|s| (s.bytes, vec![0; s.bytes.div_ceil(8)])).collect())
    }

    fn get(&self, n: usize) -> &[u8] {
        let (bytes, words) = &self.0[n];
        &bytemuck::cast_slice(words)[..*bytes]
    }

    fn get_mut(&mut self, n: usize) -> &mut [u8] {
        let (bytes, words) = &mut self.0[n];
        &mut bytemuck::cast_slice_mut(words)[..*bytes]
    }
}
