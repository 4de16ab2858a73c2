//! Queues: launches, copies, and their order.

use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::ProtocolObject;
use objc2_metal::{
    MTLBlitCommandEncoder, MTLCommandBuffer, MTLCommandBufferStatus, MTLCommandEncoder, MTLCommandQueue,
    MTLComputeCommandEncoder, MTLDevice, MTLEvent, MTLSize,
};
use std::collections::VecDeque;
use std::ptr::NonNull;

use crate::gpu::{Buffer, Kernel, words};

type Commands = Retained<ProtocolObject<dyn MTLCommandBuffer>>;

/// Launches that are collected before they are handed to the device.
const COLLECTED: usize = 32;

/// Copies of other sizes and offsets than multiples of this are not for the device.
const UNIT: usize = 4;

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub enum Argument<'a> {
    /// Memory, from its start.
    Buffer(&'a Buffer),
    /// A number of four bytes.
    Number([u8; 4]),
}

/// Work that was handed to the device.
pub struct Mark(Commands);

// SAFETY: a command buffer that is handed over belongs to no thread: it is only waited for and asked for its state.
unsafe impl Send for Mark {}

impl Mark {
    /// Waits until the work is done or has failed. The failure is told by its queue.
    pub fn wait(&self) {
        self.0.waitUntilCompleted();
    }
}

/// A point in a queue that other queues and the host wait for.
#[derive(Default)]
pub struct Event {
    signal: Option<Signal>,
}

/// The latest signal of an event.
struct Signal {
    object: Retained<ProtocolObject<dyn MTLEvent>>,
    value: u64,
    queue: Retained<ProtocolObject<dyn MTLCommandQueue>>,
    mark: Mark,
}

impl Event {
    /// Waits until the event is signalled; returns at once if no signal was ever queued.
    pub fn wait(&self) {
        if let Some(signal) = &self.signal {
            signal.mark.wait();
        }
    }
}

/// Commands that are being collected.
struct Collected {
    commands: Commands,
    launches: Option<Retained<ProtocolObject<dyn MTLComputeCommandEncoder>>>,
    count: usize,
}

/// A sequence of launches and copies, run in order.
pub struct Queue {
    object: Retained<ProtocolObject<dyn MTLCommandQueue>>,
    collected: Option<Collected>,
    /// Handed over and not yet known to be done, oldest first.
    handed_over: VecDeque<Mark>,
    failure: Option<String>,
}

// SAFETY: the objects belong to no thread, and an exclusive borrow keeps two threads from using them at once.
unsafe impl Send for Queue {}

impl Queue {
    pub(crate) fn new(object: Retained<ProtocolObject<dyn MTLCommandQueue>>) -> Self {
        Self { object, collected: None, handed_over: VecDeque::new(), failure: None }
    }

    /// Queues a kernel over `groups` of `lanes` along three axes. It may start later, at the latest when something waits.
    ///
    /// # Errors
    /// The driver has no room for commands.
    ///
    /// # Safety
    /// The arguments are those that the kernel declares, groups and lanes are at least 1, a group is not larger than
    /// [`Kernel::group_lanes`], and the kernel keeps within its buffers. Nobody reads or writes these on the host until
    /// the work is done.
    pub unsafe fn launch(
        &mut self,
        kernel: &Kernel,
        groups: [usize; 3],
        lanes: [usize; 3],
        arguments: &[Argument],
    ) -> Result<(), String> {
        let launches = self.launches()?;
        launches.setComputePipelineState(&kernel.object);
        for (index, argument) in arguments.iter().enumerate() {
            match argument {
                // SAFETY: the kernel declares a buffer at this index; 0 is within it.
                Argument::Buffer(buffer) => unsafe {
                    launches.setBuffer_offset_atIndex(Some(&buffer.object), 0, index);
                },
                // SAFETY: the kernel declares a number at this index; the four bytes are copied by the call.
                Argument::Number(bytes) => unsafe {
                    launches.setBytes_length_atIndex(NonNull::from(bytes).cast(), bytes.len(), index);
                },
            }
        }
        launches.dispatchThreadgroups_threadsPerThreadgroup(size(groups), size(lanes));
        let collected = self.collected.as_mut().map_or(0, |collected| {
            collected.count += 1;
            collected.count
        });
        if collected >= COLLECTED {
            self.hand_over()?;
        }
        Ok(())
    }

    /// Starts a copy. The mark is that of the copy; `None`: it is done.
    ///
    /// # Errors
    /// The driver has no room for commands, or work before a copy of odd bytes has failed.
    ///
    /// # Panics
    /// `bytes` from an offset go beyond the end of a buffer.
    ///
    /// # Safety
    /// Nobody writes the one and reads or writes the other on the host until the copy is done.
    pub unsafe fn copy(
        &mut self,
        from: (&Buffer, usize),
        to: (&Buffer, usize),
        bytes: usize,
    ) -> Result<Option<Mark>, String> {
        for (buffer, offset) in [from, to] {
            assert!(offset.checked_add(bytes).is_some_and(|end| end <= buffer.bytes()), "a copy beyond an end");
        }
        if bytes == 0 {
            return Ok(None);
        }
        if [from.1, to.1, bytes].iter().any(|number| number % UNIT != 0) {
            self.finish()?;
            // SAFETY: both ranges are within their buffers, and the work before is done. Ranges may overlap.
            unsafe { to.0.contents().add(to.1).copy_from(from.0.contents().add(from.1), bytes) };
            return Ok(None);
        }
        self.end_launches();
        autoreleasepool(|_| {
            let copies = self.commands()?.commands.blitCommandEncoder().ok_or_else(no_room)?;
            // SAFETY: both ranges are within their buffers and multiples of what the device copies.
            unsafe {
                copies.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size(
                    &from.0.object,
                    from.1,
                    &to.0.object,
                    to.1,
                    bytes,
                );
            }
            copies.endEncoding();
            self.hand_over().map(Some)
        })
    }

    /// Signals an event behind all work so far.
    ///
    /// # Errors
    /// The driver has no room for commands or events.
    pub fn signal(&mut self, event: &mut Event) -> Result<(), String> {
        self.end_launches();
        // A later value means all earlier ones too. Two queues reach theirs in any order, so each has an object of its own.
        let (object, value) = match event.signal.take() {
            Some(Signal { object, value, queue, .. }) if queue == self.object => (object, value + 1),
            _ => (self.object.device().newEvent().ok_or_else(no_room)?, 1),
        };
        self.commands()?.commands.encodeSignalEvent_value(&object, value);
        let mark = self.hand_over()?;
        event.signal = Some(Signal { object, value, queue: self.object.clone(), mark });
        Ok(())
    }

    /// Makes later work wait for the latest signal of an event.
    ///
    /// # Errors
    /// The driver has no room for commands.
    pub fn wait(&mut self, event: &Event) -> Result<(), String> {
        if let Some(Signal { object, value, .. }) = &event.signal {
            self.end_launches();
            self.commands()?.commands.encodeWaitForEvent_value(object, *value);
        }
        Ok(())
    }

    /// Waits for all work.
    ///
    /// # Errors
    /// Some of it, or of the work before, has failed.
    pub fn finish(&mut self) -> Result<(), String> {
        if self.collected.is_some() {
            self.hand_over()?;
        }
        if let Some(last) = self.handed_over.back() {
            last.wait();
        }
        self.check()
    }

    /// Fails if work that has ended has failed. Does not wait.
    ///
    /// # Errors
    /// The driver's words.
    pub fn check(&mut self) -> Result<(), String> {
        while let Some(oldest) = self.handed_over.front() {
            match oldest.0.status() {
                MTLCommandBufferStatus::Completed => {}
                MTLCommandBufferStatus::Error => {
                    let said = oldest.0.error().map_or("no reason given".to_string(), |error| words(&error));
                    self.failure.get_or_insert(said);
                }
                _ => break,
            }
            self.handed_over.pop_front();
        }
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// The commands that are being collected.
    fn commands(&mut self) -> Result<&mut Collected, String> {
        if self.collected.is_none() {
            let commands = autoreleasepool(|_| self.object.commandBuffer()).ok_or_else(no_room)?;
            self.collected = Some(Collected { commands, launches: None, count: 0 });
        }
        self.collected.as_mut().ok_or_else(no_room)
    }

    /// Takes launches; they run one after the other.
    fn launches(&mut self) -> Result<Retained<ProtocolObject<dyn MTLComputeCommandEncoder>>, String> {
        let collected = self.commands()?;
        if collected.launches.is_none() {
            collected.launches = autoreleasepool(|_| collected.commands.computeCommandEncoder());
        }
        collected.launches.clone().ok_or_else(no_room)
    }

    /// Commands of another kind follow.
    fn end_launches(&mut self) {
        if let Some(launches) = self.collected.as_mut().and_then(|collected| collected.launches.take()) {
            launches.endEncoding();
        }
    }

    /// Hands the collected commands to the device.
    fn hand_over(&mut self) -> Result<Mark, String> {
        self.end_launches();
        self.commands()?;
        let commands = self.collected.take().ok_or_else(no_room)?.commands;
        autoreleasepool(|_| commands.commit());
        // Those that are done are let go; a failure is kept and told at the next wait.
        let _ = self.check();
        self.handed_over.push_back(Mark(commands.clone()));
        Ok(Mark(commands))
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // A failure has nobody to be told to.
        let _ = self.finish();
    }
}

fn no_room() -> String {
    "the driver has no room for further commands".to_string()
}

fn size([width, height, depth]: [usize; 3]) -> MTLSize {
    MTLSize { width, height, depth }
}
