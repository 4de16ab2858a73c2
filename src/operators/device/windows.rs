//! Winds and air mass of the current and the next window on a device.

use kernels::Scalar;

use super::launcher::Launcher;
use crate::device::{DeviceResult, Event, HostMemory, Memory, Queue};
use crate::met::{Section, WindowBuffer};
use crate::state::Slabs;
use crate::timers::{self, Timed};

/// Sections that go to the device, if a window holds them.
const SECTIONS: [Section; 5] =
    [Section::FluxX, Section::FluxY, Section::FluxZ, Section::AirMass, Section::AirMassTendency];

/// Fields of one window on the device, in the order of [`SECTIONS`].
pub(super) struct WindowFields {
    fields: [Option<Memory>; SECTIONS.len()],
}

impl WindowFields {
    /// The field of a section.
    ///
    /// # Panics
    /// If windows of this run do not hold the section.
    pub(super) fn get(&self, section: Section) -> Memory {
        let n = SECTIONS.iter().position(|s| *s == section).expect("a section that goes to the device");
        self.fields[n].expect("the run reads every section it uses")
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

fn held<R: Scalar>(window: &WindowBuffer<R>) -> impl Iterator<Item = (usize, &Slabs<R>)> {
    SECTIONS.iter().enumerate().filter_map(|(n, s)| window.get(*s).map(|field| (n, field)))
}

impl DeviceWindows {
    /// Memory for windows like this one.
    pub(super) fn new<R: Scalar>(window: &WindowBuffer<R>, launcher: &mut Launcher) -> DeviceResult<Self> {
        let mut allocate = || {
            let mut fields = [None; SECTIONS.len()];
            for (n, field) in held(window) {
                fields[n] = Some(launcher.memory::<R>(field.data().len())?);
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
        for (n, field) in held(window) {
            let bytes: &[u8] = bytemuck::cast_slice(field.data());
            launcher.device.host_mut(self.staging)[at..at + bytes.len()].copy_from_slice(bytes);
            let memory = target.fields[n].expect("made for such windows");
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
