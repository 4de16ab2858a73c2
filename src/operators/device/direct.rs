//! Halo messages straight from device memory, for message libraries that take its addresses.

use crate::comm::{AddressedMessage, Communicator, DeviceMemory, MessageSpec};
use crate::device::{Device, DeviceError, DeviceResult, Memory};

/// How halos travel between ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HaloPath {
    /// From device memory, by the message library.
    Device,
    /// Through host memory.
    Staged,
}

/// How halos are to travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HaloChoice {
    /// From device memory where the library says that it takes it and a test confirms it, else staged.
    Auto,
    /// From device memory, or an error.
    Device,
    /// Through host memory.
    Staged,
}

/// Bytes that the test sends.
const BYTES: usize = 4096;
/// Tag of the test; halo exchanges use smaller ones.
const TAG: i32 = 20_000;

/// Settles how halos travel, the same way on all ranks. Collective.
///
/// # Errors
/// [`HaloChoice::Device`] without addresses, or where the library does not move the bytes of the device.
pub(super) fn settle(choice: HaloChoice, device: &mut dyn Device, comm: &dyn Communicator) -> DeviceResult<HaloPath> {
    if choice == HaloChoice::Staged || comm.size() == 1 {
        return Ok(HaloPath::Staged);
    }
    let claimed = choice == HaloChoice::Device || comm.device_memory() == DeviceMemory::Taken;
    let buffers = Buffers::filled(device, comm.rank());
    // All ranks test or none does, since each waits for its neighbours; a rank that has failed says so afterwards.
    let ready = claimed && buffers.as_ref().is_ok_and(|b| b.addresses.iter().all(Option::is_some));
    let mut unable = [if ready { 0.0 } else { 1.0 }];
    comm.max_f64(&mut unable);
    let moved = match &buffers {
        Ok(buffers) if unable[0] == 0.0 => buffers.move_around(device, comm),
        _ => Ok(false),
    };
    let mut failed = [if moved == Ok(true) { 0.0 } else { 1.0 }];
    comm.max_f64(&mut failed);
    buffers?;
    moved?;
    match (failed[0] == 0.0, choice) {
        (true, _) => Ok(HaloPath::Device),
        (false, HaloChoice::Device) => Err(DeviceError::Unsuitable {
            device: device.info().name.clone(),
            reason:
                "the message library does not move the bytes of its memory; use architecture.halo = \"staged\", or an \
                     MPI built for this device"
                    .into(),
        }),
        (false, _) => Ok(HaloPath::Staged),
    }
}

/// What a rank sends and what it receives.
struct Buffers {
    memories: [Memory; 2],
    addresses: [Option<usize>; 2],
}

fn pattern(rank: usize) -> Vec<u8> {
    (0..BYTES).map(|n| (n * 31 + rank * 7 + 1) as u8).collect()
}

impl Buffers {
    fn filled(device: &mut dyn Device, rank: usize) -> DeviceResult<Self> {
        let memories = [device.allocate(BYTES)?, device.allocate(BYTES)?];
        device.write((memories[0], 0), &pattern(rank))?;
        device.finish()?;
        Ok(Self { memories, addresses: memories.map(|memory| device.address(memory)) })
    }

    /// Sends the pattern around the ring of ranks, from device memory to device memory; whether it arrives. Collective.
    fn move_around(&self, device: &mut dyn Device, comm: &dyn Communicator) -> DeviceResult<bool> {
        let (rank, size) = (comm.rank(), comm.size());
        let before = (rank + size - 1) % size;
        let message = |peer: usize, address: Option<usize>| AddressedMessage {
            spec: MessageSpec { peer, tag: TAG, bytes: BYTES },
            address: address.unwrap_or_default(),
        };
        let sends = [message((rank + 1) % size, self.addresses[0])];
        let receives = [message(before, self.addresses[1])];
        // SAFETY: the buffers live as long as the device, and nothing is queued on them while messages are under way.
        let Some(mut transfer) = (unsafe { comm.exchange_at(&sends, &receives) }) else { return Ok(false) };
        transfer.post();
        transfer.wait();
        let mut received = vec![0; BYTES];
        device.read((self.memories[1], 0), &mut received)?;
        Ok(received == pattern(before))
    }
}
