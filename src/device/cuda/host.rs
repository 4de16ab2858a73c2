//! Page-locked host memory.

use cudarc::driver::result::{self as cuda, DriverError};
use cudarc::driver::sys::{CUevent, CUevent_flags};
use std::ffi::c_void;

use crate::device::Queue;
use crate::device::owned::Owned;

/// A new event, not recorded.
pub(super) fn new_event() -> Result<Owned<CUevent, DriverError>, DriverError> {
    let event = cuda::event::create(CUevent_flags::CU_EVENT_DISABLE_TIMING)?;
    // SAFETY: the event has just been created and is nobody else's; events belong to no thread.
    Ok(unsafe { Owned::new(event, cuda::event::destroy) })
}

/// Host memory and marks behind the latest transfers of each queue.
pub(super) struct HostBlock {
    memory: Owned<*mut c_void, DriverError>,
    pub(super) bytes: usize,
    into: [Owned<CUevent, DriverError>; 2],
    out_of: [Owned<CUevent, DriverError>; 2],
}

impl HostBlock {
    /// `bytes` zeros, aligned to a page. The context is current.
    pub(super) fn new(bytes: usize) -> Result<Self, DriverError> {
        // SAFETY: the memory is filled before it is read. No flag: cached, so that reading it is fast.
        let memory = unsafe { cuda::malloc_host(bytes.max(1), 0) }?;
        // SAFETY: the memory has just been created and is nobody else's; memory belongs to no thread.
        let memory = unsafe { Owned::new(memory, cuda::free_host) };
        // SAFETY: the memory has at least `bytes` bytes.
        unsafe { memory.get().cast::<u8>().write_bytes(0, bytes) };
        Ok(Self { memory, bytes, into: [new_event()?, new_event()?], out_of: [new_event()?, new_event()?] })
    }

    /// Address of a byte. The offset is within the block.
    pub(super) fn pointer(&self, offset: usize) -> *mut c_void {
        self.memory.get().cast::<u8>().wrapping_add(offset).cast()
    }

    /// The mark behind the latest transfer into the block.
    pub(super) fn into(&self, queue: Queue) -> CUevent {
        self.into[queue as usize].get()
    }

    /// The mark behind the latest transfer out of the block.
    pub(super) fn out_of(&self, queue: Queue) -> CUevent {
        self.out_of[queue as usize].get()
    }

    /// The bytes, once no transfer writes them any more. The context is current.
    pub(super) fn read(&self) -> &[u8] {
        await_all(&self.into);
        // SAFETY: the memory has `bytes` bytes, all filled, and nothing writes them while `self` is borrowed: a transfer
        // needs the device exclusively.
        unsafe { std::slice::from_raw_parts(self.memory.get().cast(), self.bytes) }
    }

    /// The bytes, once no transfer touches them any more. The context is current.
    pub(super) fn write(&mut self) -> &mut [u8] {
        await_all(&self.into);
        await_all(&self.out_of);
        // SAFETY: as above, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.memory.get().cast(), self.bytes) }
    }
}

/// Waits for transfers. A failure ends all work of the device; it shows at the next wait.
fn await_all(events: &[Owned<CUevent, DriverError>; 2]) {
    for event in events {
        // SAFETY: the event is valid.
        let _ = unsafe { cuda::event::synchronize(event.get()) };
    }
}
