//! The palindrome on a device.

use std::ops::Range;

use decomposition::Axis;
use kernels::Scalar;
use kernels::device::KernelName;

use super::DeviceTransport;
use super::launcher::{Launcher, real};
use super::tables::int;
use crate::device::{Argument, DeviceError, DeviceResult, Memory};
use crate::met::Section;
use crate::operators::advection::wave::{Stages, wave_front};
use crate::operators::advection::{halo_section, sweep_section};
use crate::operators::columns::CentreStep;
use crate::timers::{self, KernelTimes, Running, Timed};

/// Seam faces and edge cells of the sweeps along one axis.
pub(super) struct DeviceSeams {
    pub(super) faces: (Memory, usize),
    pub(super) edges: (Memory, usize),
    pub(super) amounts: Memory,
    /// Where the flux of each face is booked.
    pub(super) books: Memory,
}

/// Times of one sweep kernel, if they are asked for: queueing it, then waiting for it.
pub(super) struct KernelSections(Option<(Running, Timed)>);

impl KernelSections {
    /// What is queued before does not count: it is waited for.
    pub(super) fn start([launch, wait]: [Timed; 2], launcher: &mut Launcher) -> DeviceResult<Self> {
        Ok(Self(match timers::kernel_times() {
            KernelTimes::Off => None,
            KernelTimes::Synchronised => {
                launcher.device.finish()?;
                Some((timers::section(launch), wait))
            }
        }))
    }

    pub(super) fn finish(self, launcher: &mut Launcher) -> DeviceResult<()> {
        let Some((launching, wait)) = self.0 else { return Ok(()) };
        drop(launching);
        let _timed = timers::section(wait);
        launcher.device.finish()
    }
}

fn launch_sections(axis: Axis) -> [Timed; 2] {
    match axis {
        Axis::X => [Timed::KernelLaunchX, Timed::KernelSyncX],
        Axis::Y => [Timed::KernelLaunchY, Timed::KernelSyncY],
    }
}

/// Stages of the wave front on a device.
struct DeviceStages<'a, R: Scalar> {
    transport: &'a mut DeviceTransport<R>,
    scale: R,
}

impl<R: Scalar> Stages for DeviceStages<'_, R> {
    type Error = DeviceError;

    fn has_messages(&self) -> bool {
        self.transport.halos.x.any() || self.transport.halos.y.any()
    }

    fn post(&mut self, axis: Axis, block: usize) -> DeviceResult<()> {
        let DeviceTransport { halos, state, launcher, .. } = &mut *self.transport;
        halos.get_mut(axis).post(block, *state, launcher)
    }

    fn finish(&mut self, axis: Axis, block: usize) -> DeviceResult<()> {
        let DeviceTransport { halos, state, launcher, .. } = &mut *self.transport;
        halos.get_mut(axis).finish::<R>(block, *state, launcher)
    }

    fn sweep(&mut self, axes: &[Axis], levels: Range<usize>) -> DeviceResult<()> {
        for first in levels.clone().step_by(self.transport.shape.levels_at_once) {
            let some = first..(first + self.transport.shape.levels_at_once).min(levels.end);
            axes.iter().try_for_each(|axis| self.transport.sweep(*axis, self.scale, &some))?;
        }
        Ok(())
    }
}

impl<R: Scalar> DeviceTransport<R> {
    /// One substep of transport alone: the palindrome, each leg in `passes` equal parts. Returns once the work is queued,
    /// unless messages have to be waited for.
    ///
    /// # Errors
    /// The device refuses something.
    pub fn substep(&mut self, scale: f64, passes: usize) -> DeviceResult<()> {
        self.palindrome(scale, passes, None)
    }

    /// As [`DeviceTransport::substep`], with the diffusion and the emissions of `step` in the middle.
    ///
    /// # Errors
    /// The device refuses something.
    pub fn substep_with_physics(&mut self, scale: f64, passes: usize, step: CentreStep) -> DeviceResult<()> {
        self.palindrome(scale, passes, Some(step))
    }

    fn palindrome(&mut self, scale: f64, passes: usize, step: Option<CentreStep>) -> DeviceResult<()> {
        let scale = R::from_f64(scale / passes as f64);
        self.horizontal([Axis::X, Axis::Y], scale, passes)?;
        match step.filter(|_| self.acts_at_midpoint()) {
            None => self.vertical_pairs(scale, passes)?,
            Some(step) => {
                (0..passes).try_for_each(|_| self.vertical(scale))?;
                self.act(step)?;
                (0..passes).try_for_each(|_| self.vertical(scale))?;
            }
        }
        self.horizontal([Axis::Y, Axis::X], scale, passes)
    }

    fn horizontal(&mut self, axes: [Axis; 2], scale: R, passes: usize) -> DeviceResult<()> {
        let mut sequence = std::mem::take(&mut self.sequence);
        let blocks = std::mem::take(&mut self.blocks);
        sequence.clear();
        axes.iter().for_each(|axis| sequence.extend(std::iter::repeat_n(*axis, passes)));
        let done = wave_front(&mut DeviceStages { transport: self, scale }, &sequence, &blocks);
        (self.sequence, self.blocks) = (sequence, blocks);
        done
    }

    /// Local halo copies and one sweep of a range of levels; the halos from other ranks are in place.
    fn sweep(&mut self, axis: Axis, scale: R, levels: &Range<usize>) -> DeviceResult<()> {
        let Self { launcher, shape, tables, state, clamped, halos, seams, windows, transfers, .. } = self;
        let window = windows.current();
        let (x, y) = (window.get(Section::FluxX), window.get(Section::FluxY));
        let (along, number) = match axis {
            Axis::X => (x, 0),
            Axis::Y => (y, 1),
        };
        let timed = timers::section(halo_section(axis));
        halos.get(axis).copy(*state, levels, launcher)?;
        drop(timed);
        let timed = timers::section(Timed::SeamFlux);
        let DeviceSeams { faces, edges, amounts, books } = seams.get(axis);
        let scale = real(scale);
        let planes = Argument::Int(int(shape.planes));
        let (stride, field_stride) = (Argument::Int(int(shape.stride)), Argument::Int(int(shape.field_stride)));
        let first = Argument::Int(int(levels.start));
        let memory = Argument::Memory;
        launcher.cover(
            KernelName::SeamAmounts,
            faces.1,
            [shape.seam_groups, levels.len()],
            &[
                memory(*state),
                memory(x),
                memory(y),
                memory(faces.0),
                memory(*amounts),
                memory(*clamped),
                Argument::Int(int(faces.1)),
                scale,
                planes,
                Argument::Int(int(shape.seam_groups)),
                stride,
                field_stride,
                first,
            ],
        )?;
        drop(timed);
        let shared = [memory(*state), memory(along), memory(tables.tiles)];
        // Without books the kernels do not touch what stands in for them.
        let booked = transfers.as_ref().map_or([*state; 2], |t| [t.gain, *t.through.get(axis)]).map(memory);
        let books_kept = Argument::Int(i32::from(transfers.is_some()));
        let timed = timers::section(sweep_section(axis));
        let kernel = KernelSections::start(launch_sections(axis), launcher)?;
        match axis {
            Axis::X => {
                let rows = shape.rows;
                launcher.cover(
                    KernelName::SweepX,
                    rows,
                    [levels.len(), 1],
                    &[
                        shared[0],
                        shared[1],
                        shared[2],
                        memory(tables.rows),
                        memory(*clamped),
                        Argument::Int(int(rows)),
                        scale,
                        planes,
                        stride,
                        field_stride,
                        first,
                        booked[0],
                        booked[1],
                        books_kept,
                    ],
                )?;
            }
            Axis::Y => launcher.launch(
                KernelName::SweepY,
                [shape.blocks, shape.planes - 1, levels.len()],
                &[
                    shared[0],
                    shared[1],
                    shared[2],
                    memory(tables.blocks),
                    memory(*clamped),
                    scale,
                    stride,
                    field_stride,
                    first,
                    booked[0],
                    booked[1],
                    books_kept,
                ],
            )?,
        }
        kernel.finish(launcher)?;
        launcher.cover(
            KernelName::AdvanceAir,
            shape.widest,
            [shape.rows, levels.len()],
            &[
                shared[0],
                shared[1],
                shared[2],
                memory(tables.rows),
                Argument::Int(number),
                scale,
                stride,
                field_stride,
                first,
            ],
        )?;
        drop(timed);
        let _timed = timers::section(Timed::SeamFlux);
        let counts = [edges.1, faces.1].map(|n| Argument::Int(int(n)));
        let to_cells = |launcher: &mut Launcher, target| {
            let arguments = [target, memory(*amounts), memory(edges.0), counts[0], counts[1], planes, stride, first];
            launcher.cover(KernelName::SeamApply, edges.1, [shape.planes, levels.len()], &arguments)
        };
        to_cells(launcher, shared[0])?;
        let Some(transfers) = transfers else { return Ok(()) };
        to_cells(launcher, booked[0])?;
        let [along_i, along_j] = [transfers.through.x, transfers.through.y].map(memory);
        let arguments = [along_i, along_j, memory(*amounts), memory(*books), counts[1], planes, stride, first];
        launcher.cover(KernelName::BookSeams, faces.1, [shape.planes - 1, levels.len()], &arguments)
    }
}
