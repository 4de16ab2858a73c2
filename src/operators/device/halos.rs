//! Halo exchange of a state that lives on a device: copies between tiles, packed messages staged through the host.

use std::ops::Range;

use decomposition::{Axis, Layout, Message};
use kernels::Scalar;
use kernels::device::KernelName;

use super::launcher::Launcher;
use super::tables::{MessageEnd, halo_pairs, halo_plan, int, message_cells};
use crate::comm::{Communicator, Exchange, MessageSpec};
use crate::device::{Argument, DeviceResult, Event, HostMemory, Memory, Queue};
use crate::state::Slabs;
use crate::timers::{self, Timed};

/// Halo exchange before sweeps along one axis.
pub(super) struct DeviceHalos {
    planes: usize,
    stride: usize,
    pairs: (Memory, usize),
    sends: Cells,
    receives: Cells,
    blocks: Vec<BlockMessages>,
}

/// Cells of all messages of one direction.
struct Cells {
    table: Memory,
    count: usize,
    /// Cells of each message.
    lengths: Vec<usize>,
}

/// Messages of a block of levels, on the device, on the host and under way.
struct BlockMessages {
    levels: Range<usize>,
    exchange: Box<dyn Exchange>,
    sent: Staged,
    received: Staged,
    packed: Event,
    on_host: Event,
    on_device: Event,
}

/// A buffer on the device and its double on the host.
#[derive(Clone, Copy)]
struct Staged {
    device: Memory,
    host: HostMemory,
    bytes: usize,
}

impl Cells {
    fn new<R: Scalar>(
        messages: &[Message],
        end: MessageEnd,
        state: &Slabs<R>,
        launcher: &mut Launcher,
    ) -> DeviceResult<Self> {
        let lengths: Vec<_> = messages.iter().map(Message::cells).collect();
        let table = launcher.table(&message_cells(messages, end, state))?;
        Ok(Self { table, count: lengths.iter().sum(), lengths })
    }
}

impl Staged {
    fn new(bytes: usize, launcher: &mut Launcher) -> DeviceResult<Self> {
        let (device, host) = (launcher.device.allocate(bytes)?, launcher.device.allocate_host(bytes)?);
        Ok(Self { device, host, bytes })
    }
}

impl DeviceHalos {
    /// Tables, buffers and messages for a state shaped like `state`, messages in blocks of levels. Collective.
    pub(super) fn new<R: Scalar>(
        layout: &Layout,
        axis: Axis,
        state: &Slabs<R>,
        blocks: &[Range<usize>],
        comm: &dyn Communicator,
        launcher: &mut Launcher,
    ) -> DeviceResult<Self> {
        let plan = halo_plan(layout, axis, comm.rank());
        let planes = state.planes();
        let specs = |messages: &[Message], block: usize, levels: usize| -> Vec<MessageSpec> {
            let tag = (axis as usize * blocks.len() + block) as i32;
            let bytes = |m: &Message| m.cells() * planes * levels * size_of::<R>();
            messages.iter().map(|m| MessageSpec { peer: m.peer, tag, bytes: bytes(m) }).collect()
        };
        let mut ready = Vec::new();
        for (n, levels) in blocks.iter().enumerate() {
            let (sends, receives) = (specs(&plan.sends, n, levels.len()), specs(&plan.receives, n, levels.len()));
            let total = |specs: &[MessageSpec]| specs.iter().map(|s| s.bytes).sum();
            ready.push(BlockMessages {
                levels: levels.clone(),
                sent: Staged::new(total(&sends), launcher)?,
                received: Staged::new(total(&receives), launcher)?,
                exchange: comm.exchange(&sends, &receives),
                packed: launcher.device.event()?,
                on_host: launcher.device.event()?,
                on_device: launcher.device.event()?,
            });
        }
        let pairs = halo_pairs(&plan, state);
        Ok(Self {
            planes,
            stride: state.level_stride(),
            pairs: (launcher.table(&pairs)?, pairs.len() / 4),
            sends: Cells::new(&plan.sends, MessageEnd::Source, state, launcher)?,
            receives: Cells::new(&plan.receives, MessageEnd::Target, state, launcher)?,
            blocks: ready,
        })
    }

    /// Whether this rank writes to or hears from another one.
    pub(super) fn any(&self) -> bool {
        self.sends.count + self.receives.count > 0
    }

    /// Copies between the tiles of the rank.
    pub(super) fn copy(&self, state: Memory, levels: &Range<usize>, launcher: &mut Launcher) -> DeviceResult<()> {
        let (table, count) = self.pairs;
        let arguments = [
            Argument::Memory(state),
            Argument::Memory(table),
            Argument::Int(int(count)),
            Argument::Int(int(self.stride)),
            Argument::Int(int(levels.start)),
        ];
        launcher.cover(KernelName::HaloCopy, count, [self.planes, levels.len()], &arguments)
    }

    /// Packs the messages of a block and starts to bring them to the host.
    pub(super) fn post(&mut self, block: usize, state: Memory, launcher: &mut Launcher) -> DeviceResult<()> {
        let _timed = timers::section(Timed::HaloPack);
        let messages = &self.blocks[block];
        let Staged { device, host, bytes } = messages.sent;
        self.move_cells(KernelName::HaloPack, [state, device], &self.sends, &messages.levels, launcher)?;
        let device_side = &mut launcher.device;
        device_side.record(messages.packed, Queue::Compute)?;
        device_side.wait(messages.packed, Queue::Transfer)?;
        device_side.download(Queue::Transfer, (device, 0), (host, 0), bytes)?;
        device_side.record(messages.on_host, Queue::Transfer)
    }

    /// Exchanges the messages of a block with the neighbours and unpacks what has come.
    pub(super) fn finish<R: Scalar>(
        &mut self,
        block: usize,
        state: Memory,
        launcher: &mut Launcher,
    ) -> DeviceResult<()> {
        let waiting = timers::section(Timed::MpiWait);
        let messages = &mut self.blocks[block];
        launcher.device.host_wait(messages.on_host)?;
        let cell = self.planes * messages.levels.len() * size_of::<R>();
        let mut rest = launcher.device.host(messages.sent.host);
        for (n, length) in self.sends.lengths.iter().enumerate() {
            let (message, after) = rest.split_at(length * cell);
            messages.exchange.send_buffer(n).copy_from_slice(message);
            rest = after;
        }
        messages.exchange.post();
        messages.exchange.wait();
        drop(waiting);
        let _timed = timers::section(Timed::HaloUnpack);
        let Staged { device, host, bytes } = messages.received;
        let mut rest = launcher.device.host_mut(host);
        for (n, length) in self.receives.lengths.iter().enumerate() {
            let (message, after) = rest.split_at_mut(length * cell);
            message.copy_from_slice(messages.exchange.receive_buffer(n));
            rest = after;
        }
        launcher.device.upload(Queue::Transfer, (host, 0), (device, 0), bytes)?;
        launcher.device.record(messages.on_device, Queue::Transfer)?;
        launcher.device.wait(messages.on_device, Queue::Compute)?;
        let levels = messages.levels.clone();
        self.move_cells(KernelName::HaloUnpack, [state, device], &self.receives, &levels, launcher)
    }

    fn move_cells(
        &self,
        kernel: KernelName,
        memories: [Memory; 2],
        cells: &Cells,
        levels: &Range<usize>,
        launcher: &mut Launcher,
    ) -> DeviceResult<()> {
        let arguments = [
            Argument::Memory(memories[0]),
            Argument::Memory(memories[1]),
            Argument::Memory(cells.table),
            Argument::Int(int(cells.count)),
            Argument::Int(int(self.planes)),
            Argument::Int(int(levels.len())),
            Argument::Int(int(self.stride)),
            Argument::Int(int(levels.start)),
        ];
        launcher.cover(kernel, cells.count, [self.planes, levels.len()], &arguments)
    }
}
