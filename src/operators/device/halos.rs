//! Halo exchange of a state that lives on a device: copies between tiles, packed messages.

use std::ops::Range;

use decomposition::{Axis, Layout, Message};
use kernels::Scalar;
use kernels::device::KernelName;

use super::direct::HaloPath;
use super::launcher::Launcher;
use super::tables::{MessageEnd, halo_pairs, halo_plan, int, message_cells};
use crate::comm::{AddressedMessage, Communicator, Exchange, MessageSpec, Transfer};
use crate::device::{Argument, Device, DeviceResult, Event, HostMemory, Memory, Queue};
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

/// Messages of a block of levels: packed on the device, and how they travel.
struct BlockMessages {
    levels: Range<usize>,
    sent: Memory,
    received: Memory,
    packed: Event,
    wire: Wire,
}

/// How the messages of a block travel.
enum Wire {
    /// Straight from device memory.
    Device(Box<dyn Transfer>),
    /// Through host memory.
    Staged(Staging),
}

/// Doubles of the messages on the host.
struct Staging {
    exchange: Box<dyn Exchange>,
    sent: (HostMemory, usize),
    received: (HostMemory, usize),
    on_host: Event,
    on_device: Event,
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

/// Bytes of all messages.
fn total(specs: &[MessageSpec]) -> usize {
    specs.iter().map(|spec| spec.bytes).sum()
}

impl Wire {
    /// Messages from and to buffers in which they lie one behind the other. Collective.
    fn new(
        path: HaloPath,
        [sent, received]: [Memory; 2],
        [sends, receives]: [&[MessageSpec]; 2],
        comm: &dyn Communicator,
        device: &mut dyn Device,
    ) -> DeviceResult<Self> {
        if path == HaloPath::Device {
            let addressed = |memory: Memory, specs: &[MessageSpec]| -> Vec<AddressedMessage> {
                let mut address = device.address(memory).expect("the test of this path has found addresses");
                let at = |spec: &MessageSpec| {
                    let message = AddressedMessage { spec: *spec, address };
                    address += spec.bytes;
                    message
                };
                specs.iter().map(at).collect()
            };
            let (sends, receives) = (addressed(sent, sends), addressed(received, receives));
            // SAFETY: the buffers live as long as the device, which outlives the halos; they are packed before a message
            // is posted and unpacked after it is complete.
            let transfer = unsafe { comm.exchange_at(&sends, &receives) };
            return Ok(Wire::Device(transfer.expect("the test of this path has sent messages")));
        }
        Ok(Wire::Staged(Staging {
            exchange: comm.exchange(sends, receives),
            sent: (device.allocate_host(total(sends))?, total(sends)),
            received: (device.allocate_host(total(receives))?, total(receives)),
            on_host: device.event()?,
            on_device: device.event()?,
        }))
    }
}

impl Staging {
    /// Exchanges what has been packed, messages of so many cells of `cell` bytes, and brings what came to the device, in
    /// front of later kernels.
    fn exchange(
        &mut self,
        received: Memory,
        cells: [&[usize]; 2],
        cell: usize,
        device: &mut dyn Device,
    ) -> DeviceResult<()> {
        device.host_wait(self.on_host)?;
        let mut rest = device.host(self.sent.0);
        for (n, cells) in cells[0].iter().enumerate() {
            let (message, after) = rest.split_at(cells * cell);
            self.exchange.send_buffer(n).copy_from_slice(message);
            rest = after;
        }
        self.exchange.post();
        self.exchange.wait();
        let (host, bytes) = self.received;
        let mut rest = device.host_mut(host);
        for (n, cells) in cells[1].iter().enumerate() {
            let (message, after) = rest.split_at_mut(cells * cell);
            message.copy_from_slice(self.exchange.receive_buffer(n));
            rest = after;
        }
        device.upload(Queue::Transfer, (host, 0), (received, 0), bytes)?;
        device.record(self.on_device, Queue::Transfer)?;
        device.wait(self.on_device, Queue::Compute)
    }
}

impl DeviceHalos {
    /// Tables, buffers and messages for a state shaped like `state`, messages in blocks of levels. Collective.
    pub(super) fn new<R: Scalar>(
        layout: &Layout,
        axis: Axis,
        state: &Slabs<R>,
        blocks: &[Range<usize>],
        path: HaloPath,
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
            let device = &mut *launcher.device;
            let buffers = [device.allocate(total(&sends))?, device.allocate(total(&receives))?];
            ready.push(BlockMessages {
                levels: levels.clone(),
                sent: buffers[0],
                received: buffers[1],
                packed: device.event()?,
                wire: Wire::new(path, buffers, [&sends, &receives], comm, device)?,
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

    /// Packs the messages of a block and starts to bring them to where they are sent from.
    pub(super) fn post(&mut self, block: usize, state: Memory, launcher: &mut Launcher) -> DeviceResult<()> {
        let _timed = timers::section(Timed::HaloPack);
        let messages = &self.blocks[block];
        self.move_cells(KernelName::HaloPack, [state, messages.sent], &self.sends, &messages.levels, launcher)?;
        let device = &mut *launcher.device;
        device.record(messages.packed, Queue::Compute)?;
        match &messages.wire {
            Wire::Device(_) => Ok(()),
            Wire::Staged(staging) => {
                let (host, bytes) = staging.sent;
                device.wait(messages.packed, Queue::Transfer)?;
                device.download(Queue::Transfer, (messages.sent, 0), (host, 0), bytes)?;
                device.record(staging.on_host, Queue::Transfer)
            }
        }
    }

    /// Exchanges the messages of a block with the neighbours and unpacks what has come.
    pub(super) fn finish<R: Scalar>(
        &mut self,
        block: usize,
        state: Memory,
        launcher: &mut Launcher,
    ) -> DeviceResult<()> {
        let BlockMessages { levels, received, packed, wire, .. } = &mut self.blocks[block];
        let device = &mut *launcher.device;
        let waiting = timers::section(Timed::MpiWait);
        match wire {
            Wire::Device(transfer) => {
                device.host_wait(*packed)?;
                transfer.post();
                transfer.wait();
            }
            Wire::Staged(staging) => {
                let cell = self.planes * levels.len() * size_of::<R>();
                staging.exchange(*received, [&self.sends.lengths, &self.receives.lengths], cell, device)?;
            }
        }
        drop(waiting);
        let _timed = timers::section(Timed::HaloUnpack);
        let (memories, levels) = ([state, *received], levels.clone());
        self.move_cells(KernelName::HaloUnpack, memories, &self.receives, &levels, launcher)
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
