//! Winds and air mass of the current and the next window on a device.

use kernels::Scalar;

use super::launcher::Launcher;
use crate::device::{DeviceResult, Event, HostMemory, Memory, Queue};
use crate::met::{Section, WindowBuffer};
use crate::operators::columns::WindowField;
use crate::state::Slabs;
use crate::timers::{self, Timed};

/// Sections that go to the device, if a window holds them. What derived fields are made of stays on the host.
const SECTIONS: [Section; 13] = [
    Section::FluxX,
    Section::FluxY,
    Section::FluxZ,
    Section::AirMass,
    Section::AirMassTendency,
    Section::Cmfmc,
    Section::Dtrain,
    Section::CmfmcCloudBase,
    Section::Entu,
    Section::Detu,
    Section::Entd,
    Section::Detd,
    Section::Dkg,
];

/// Fields of one window on the device.
pub(super) struct WindowFields {
    fields: Vec<(WindowField, Memory)>,
}

impl WindowFields {
    /// The field of a section.
    ///
    /// # Panics
    /// If windows of this run do not hold the section.
    pub(super) fn get(&self, section: Section) -> Memory {
        self.field(WindowField::Stored(section))
    }

    /// A field.
    ///
    /// # Panics
    /// If windows of this run do not hold it.
    pub(super) fn field(&self, field: WindowField) -> Memory {
        self.find(field).expect("the run reads every field it uses")
    }

    /// A field, if windows of this run hold it.
    pub(super) fn find(&self, field: WindowField) -> Option<Memory> {
        self.fields.iter().find(|(f, _)| *f == field).map(|(_, memory)| *memory)
    }
}

/// Two windows on the device and one on its way.
pub(super) struct DeviceWindows {
    windows: [WindowFields; 2],
    current: usize,
    staging: HostMemory,
    on_device: Event,
    ahead: Ahead,
}

/// Whether the next window has been sent ahead.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ahead {
    No,
    Sent,
}

/// Fields of a window that go to the device, always in the same order.
fn held<R: Scalar>(window: &WindowBuffer<R>) -> impl Iterator<Item = (WindowField, &Slabs<R>)> {
    let stored = SECTIONS.iter().filter_map(|s| window.get(*s).map(|values| (WindowField::Stored(*s), values)));
    stored.chain(window.derived_fields().map(|(field, values)| (WindowField::Derived(field), values)))
}

impl DeviceWindows {
    /// Memory for windows like this one.
    pub(super) fn new<R: Scalar>(window: &WindowBuffer<R>, launcher: &mut Launcher) -> DeviceResult<Self> {
        let mut allocate = || {
            let mut fields = Vec::new();
            for (field, values) in held(window) {
                fields.push((field, launcher.memory::<R>(values.data().len())?));
            }
            DeviceResult::Ok(WindowFields { fields })
        };
        let windows = [allocate()?, allocate()?];
        let bytes = held(window).map(|(_, field)| size_of_val(field.data())).sum();
        Ok(Self {
            windows,
            current: 0,
            staging: launcher.device.allocate_host(bytes)?,
            on_device: launcher.device.event()?,
            ahead: Ahead::No,
        })
    }

    /// Starts to send the next window while kernels use the current one. The window before the current one must be done
    /// with.
    pub(super) fn send_ahead<R: Scalar>(
        &mut self,
        window: &WindowBuffer<R>,
        launcher: &mut Launcher,
    ) -> DeviceResult<()> {
        let _timed = timers::section(Timed::WindowBackendCopy);
        launcher.device.host_wait(self.on_device)?;
        let mut at = 0;
        let target = &self.windows[1 - self.current];
        for (field, values) in held(window) {
            let bytes: &[u8] = bytemuck::cast_slice(values.data());
            launcher.device.host_mut(self.staging)[at..at + bytes.len()].copy_from_slice(bytes);
            let memory = target.field(field);
            launcher.device.upload(Queue::Transfer, (self.staging, at), (memory, 0), bytes.len())?;
            at += bytes.len();
        }
        self.ahead = Ahead::Sent;
        launcher.device.record(self.on_device, Queue::Transfer)
    }

    /// Makes `window` the current one, sending it now unless it was sent ahead.
    pub(super) fn begin<R: Scalar>(&mut self, window: &WindowBuffer<R>, launcher: &mut Launcher) -> DeviceResult<()> {
        if self.ahead == Ahead::No {
            self.send_ahead(window, launcher)?;
        }
        self.ahead = Ahead::No;
        self.current = 1 - self.current;
        launcher.device.wait(self.on_device, Queue::Compute)
    }

    /// The current window.
    pub(super) fn current(&self) -> &WindowFields {
        &self.windows[self.current]
    }
}
