//! Host memory that the device reads and writes.

use cl3::event::wait_for_events;
use std::ffi::c_void;

use super::Owned;
use crate::device::Queue;

/// The unit of host memory; its alignment is that of the whole.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

// SAFETY: 64 bytes without padding, all zeros are a value.
unsafe impl bytemuck::Zeroable for Line {}
// SAFETY: as above; any bits are a value.
unsafe impl bytemuck::Pod for Line {}

/// Host memory and the latest transfers of each queue.
pub(super) struct HostBlock {
    lines: Vec<Line>,
    pub(super) bytes: usize,
    into: [Option<Owned>; 2],
    out_of: [Option<Owned>; 2],
}

impl HostBlock {
    /// `bytes` zeros; `None` if there is no room.
    pub(super) fn new(bytes: usize) -> Option<Self> {
        let count = bytes.div_ceil(64);
        let mut lines = Vec::new();
        lines.try_reserve_exact(count).ok()?;
        lines.resize(count, Line([0; 64]));
        Some(Self { lines, bytes, into: [None, None], out_of: [None, None] })
    }

    /// Address of a byte. The offset is within the block.
    pub(super) fn pointer(&mut self, offset: usize) -> *mut c_void {
        self.lines.as_mut_ptr().cast::<u8>().wrapping_add(offset).cast()
    }

    /// Remembers the latest transfer into the block.
    pub(super) fn set_into(&mut self, queue: Queue, event: Owned) {
        self.into[queue as usize] = Some(event);
    }

    /// Remembers the latest transfer out of the block.
    pub(super) fn set_out_of(&mut self, queue: Queue, event: Owned) {
        self.out_of[queue as usize] = Some(event);
    }

    /// The bytes, once no transfer writes them any more.
    pub(super) fn read(&self) -> &[u8] {
        await_all(&self.into);
        &bytemuck::cast_slice(&self.lines)[..self.bytes]
    }

    /// The bytes, once no transfer touches them any more.
    pub(super) fn write(&mut self) -> &mut [u8] {
        await_all(&self.into);
        await_all(&self.out_of);
        (self.into, self.out_of) = ([None, None], [None, None]);
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.bytes]
    }
}

/// Waits for transfers. One that failed does not touch the memory any more either; its failure shows at the next wait.
fn await_all(events: &[Option<Owned>; 2]) {
    for event in events.iter().flatten() {
        let _ = wait_for_events(&[event.get()]);
    }
}
