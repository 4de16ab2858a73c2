//! Vertical sweeps on a device.

use kernels::Scalar;
use kernels::device::KernelName;
use kernels::scheme::{Fusion, Sign, Vertical};

use super::launcher::{Launcher, real};
use super::sweeps::KernelSections;
use super::tables::int;
use super::{DeviceTransport, Shape};
use crate::device::{Argument, DeviceResult, Memory};
use crate::met::Section;
use crate::timers::{self, Timed};

/// What vertical sweeps need beside the state.
pub(super) struct DeviceVertical {
    spline: Option<DeviceSpline>,
    /// Which columns take two sweeps at once; not read without fusion.
    allowed: Memory,
}

/// Memory of sweeps with spline profiles.
struct DeviceSpline {
    vertical: Vertical,
    /// Rows of the tridiagonal systems.
    rows: [Memory; 3],
    edges: Memory,
    signs: Memory,
    /// Tracers of a launch.
    at_once: usize,
}

/// Most tracers of a launch, each of which needs a field of memory: enough for any device to be filled.
const AT_ONCE: usize = 4;

/// Which part of a pair of sweeps, as in `fusion.h`.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    NotPaired = 0,
    First = 1,
    Second = 2,
}

impl Part {
    fn argument(self) -> Argument {
        Argument::Int(self as i32)
    }
}

impl DeviceVertical {
    pub(super) fn new<R: Scalar>(shape: &Shape, launcher: &mut Launcher) -> DeviceResult<Self> {
        let choice = launcher.choice();
        let (field, tracers) = (shape.field_stride * shape.levels, shape.planes - 1);
        let spline = match choice.vertical {
            Vertical::Same => None,
            vertical => {
                let at_once = tracers.clamp(1, AT_ONCE);
                let row = |launcher: &mut Launcher| launcher.memory::<R>(field + shape.field_stride);
                let signs = vec![sign_number(vertical, Sign::default()); tracers.max(1)];
                Some(DeviceSpline {
                    vertical,
                    rows: [row(launcher)?, row(launcher)?, row(launcher)?],
                    edges: launcher.memory::<R>(field * at_once)?,
                    signs: launcher.table(&signs)?,
                    at_once,
                })
            }
        };
        Ok(Self { spline, allowed: launcher.memory::<R>(shape.field_stride)? })
    }
}

/// A sign as kernels take it.
fn sign_number(vertical: Vertical, tracer: Sign) -> i32 {
    i32::from(vertical.sign(tracer) == Sign::Any)
}

impl<R: Scalar> DeviceTransport<R> {
    /// The same for tracers of these signs, one for each; without it none is below 0.
    ///
    /// # Errors
    /// The device refuses it.
    ///
    /// # Panics
    /// If there is not one for each tracer.
    pub fn with_signs(mut self, signs: &[Sign]) -> DeviceResult<Self> {
        assert_eq!(signs.len() + 1, self.shape.planes, "a sign for each tracer");
        if let Some(spline) = &mut self.vertical.spline
            && !signs.is_empty()
        {
            let numbers: Vec<i32> = signs.iter().map(|sign| sign_number(spline.vertical, *sign)).collect();
            self.launcher.device.write((spline.signs, 0), bytemuck::cast_slice(&numbers))?;
        }
        Ok(self)
    }

    /// `passes` vertical sweeps of all columns and as many more, with nothing between them.
    pub(super) fn vertical_pairs(&mut self, scale: R, passes: usize) -> DeviceResult<()> {
        for _ in 0..passes {
            match self.launcher.choice().fusion {
                Fusion::Never => (0..2).try_for_each(|_| self.vertical(scale))?,
                Fusion::WherePossible => {
                    self.fuse(scale)?;
                    self.sweep_columns(scale, Part::First)?;
                    self.sweep_columns(scale, Part::Second)?;
                }
            }
        }
        Ok(())
    }

    /// One vertical sweep of all columns.
    pub(super) fn vertical(&mut self, scale: R) -> DeviceResult<()> {
        self.sweep_columns(scale, Part::NotPaired)
    }

    /// Finds the columns that take the next two sweeps at once.
    pub(crate) fn fuse(&mut self, scale: R) -> DeviceResult<()> {
        let Self { launcher, shape, tables, state, vertical, windows, .. } = self;
        let flux = windows.current().get(Section::FluxZ);
        let [state, flux, allowed, tiles, rows] =
            [*state, flux, vertical.allowed, tables.tiles, tables.rows].map(Argument::Memory);
        let [levels, stride, field_stride] =
            [shape.levels, shape.stride, shape.field_stride].map(|n| Argument::Int(int(n)));
        let _timed = timers::section(Timed::SweepZ);
        let arguments = [state, flux, allowed, tiles, rows, real(scale), levels, stride, field_stride];
        launcher.cover(KernelName::FuseColumns, shape.widest, [shape.rows, 1], &arguments)
    }

    fn sweep_columns(&mut self, scale: R, part: Part) -> DeviceResult<()> {
        let Self { launcher, shape, tables, state, clamped, windows, vertical, .. } = self;
        let flux = windows.current().get(Section::FluxZ);
        let [state, flux, tiles, rows, clamped, allowed] =
            [*state, flux, tables.tiles, tables.rows, *clamped, vertical.allowed].map(Argument::Memory);
        let (scale, part) = (real(scale), part.argument());
        let [levels, stride, field_stride] =
            [shape.levels, shape.stride, shape.field_stride].map(|n| Argument::Int(int(n)));
        let _timed = timers::section(Timed::SweepZ);
        let kernel = KernelSections::start([Timed::KernelLaunchZ, Timed::KernelSyncZ], launcher)?;
        let tracers = shape.planes - 1;
        if let Some(spline) = &vertical.spline {
            let [ratios, pivots, uppers] = spline.rows.map(Argument::Memory);
            let arguments = [state, ratios, pivots, uppers, tiles, rows, levels, stride, field_stride];
            launcher.cover(KernelName::SplineRows, shape.widest, [shape.rows, 1], &arguments)?;
            let [edges, signs] = [spline.edges, spline.signs].map(Argument::Memory);
            for first in (0..tracers).step_by(spline.at_once) {
                let (count, first) = (spline.at_once.min(tracers - first), Argument::Int(int(first)));
                let arguments = [
                    state,
                    flux,
                    ratios,
                    pivots,
                    uppers,
                    edges,
                    allowed,
                    signs,
                    tiles,
                    rows,
                    clamped,
                    scale,
                    part,
                    first,
                    levels,
                    stride,
                    field_stride,
                ];
                launcher.cover(KernelName::SweepSpline, shape.widest, [count, shape.rows], &arguments)?;
            }
        } else {
            let arguments = [state, flux, tiles, rows, clamped, scale, levels, stride, field_stride, allowed, part];
            launcher.cover(KernelName::SweepZ, shape.widest, [tracers, shape.rows], &arguments)?;
        }
        kernel.finish(launcher)?;
        let arguments = [state, flux, tiles, rows, levels, scale, stride, field_stride, allowed, part];
        launcher.cover(KernelName::AdvanceAirVertically, shape.widest, [shape.rows, shape.levels], &arguments)
    }
}
