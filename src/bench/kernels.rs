//! Single kernels of a device.

use std::time::Instant;

use kernels::Scalar;
use kernels::device::{GroupShapes, KernelName};
use serde::Serialize;

use super::case::Case;
use super::{BenchError, BenchSize, copy_bytes_per_second};
use crate::comm::Solo;
use crate::device::{Accelerator, DeviceResult, open};
use crate::diagnostics::ColumnSums;
use crate::operators::device::{DeviceTransport, HaloChoice, Launcher, NotedLaunch, widest_row};
use crate::operators::{Decaying, TracersAtReset, WindowEnd};
use crate::sources::Decay;
use crate::state::{AIR, Slabs};

/// What to measure: every kernel of a run on one device, launched again and again with the arguments it has in a run.
#[derive(Clone, Debug)]
pub struct KernelBench {
    /// Grid, tracers and scheme.
    pub size: BenchSize,
    /// Numbers of lanes other than the usual ones.
    pub lanes: Vec<(KernelName, usize)>,
    /// Repetitions; the best and the median are reported.
    pub repetitions: usize,
}

/// Result of a measurement.
#[derive(Clone, Debug, Serialize)]
pub struct KernelReport {
    /// Driver of the device.
    pub backend: String,
    /// Name of the device.
    pub device: String,
    /// Scheme and limiter, vertical scheme.
    pub scheme: String,
    /// `Float32` or `Float64`.
    pub float_type: &'static str,
    /// Cells per panel edge.
    pub nc: usize,
    /// Layers.
    pub levels: usize,
    /// Tracers.
    pub tracers: usize,
    /// Bandwidth of a copy, read and written bytes, in the same run (GB/s).
    pub copy_gigabytes_per_second: f64,
    /// Best wall time of a whole substep (s).
    pub seconds_per_substep: f64,
    /// The kernels.
    pub kernels: Vec<KernelTiming>,
}

/// One kernel. Where it is launched for several axes, figures are means over them.
#[derive(Clone, Debug, Serialize)]
pub struct KernelTiming {
    /// Name.
    pub kernel: &'static str,
    /// Items or rows that a group takes along its first axis.
    pub items_per_group: usize,
    /// Threads of a group along three axes.
    pub group: [usize; 3],
    /// Launches in a substep; 0 for kernels that run between windows.
    pub launches_per_substep: usize,
    /// Best time of a launch (s).
    pub seconds_per_launch: f64,
    /// Median time of a launch (s).
    pub median_seconds_per_launch: f64,
    /// Bytes a launch has to move: every value read once and written once.
    pub least_bytes_per_launch: f64,
    /// Those bytes over the best time (GB/s).
    pub gigabytes_per_second: f64,
    /// Share of the bandwidth of the copy.
    pub share_of_copy: f64,
    /// Its part of the time that all kernels of a substep take.
    pub share_of_substep: f64,
}

/// A batch takes at least this long (s), so that waiting for its end does not count.
const BATCH_SECONDS: f64 = 0.02;

/// Part of the winds that the measurement uses. A sweep that is repeated moves the same air again and again; weak winds
/// keep the state sound. No kernel branches on them.
const WEAK: f64 = 1e-5;

impl KernelBench {
    /// Runs the measurement on the first device of an accelerator.
    ///
    /// # Errors
    /// The device cannot be used, or has no groups as large as asked for.
    pub fn run<R: Scalar>(&self, accelerator: Accelerator) -> Result<KernelReport, BenchError> {
        let case = Case::<R>::new(&self.size, &Solo)?;
        let copy = copy_bytes_per_second(&mut *open::<R>(accelerator, 0)?)?;
        let device = open::<R>(accelerator, 0)?;
        let (backend, name) = (device.info().driver.clone(), device.info().name.clone());
        let BenchSize { nc, levels, tracers, .. } = self.size;
        let (state, window) = (&case.state, &case.window);
        let mut shapes = GroupShapes::usual(device.info().dialect, widest_row(state.tile_set()));
        self.lanes.iter().for_each(|(kernel, lanes)| shapes.set(*kernel, *lanes));
        let launcher = Launcher::with_shapes::<R>(device, self.size.choice(), shapes)?;
        let mut transport =
            DeviceTransport::<R>::new(launcher, &case.layout, state, window, HaloChoice::Staged, &Solo)?;
        transport.begin_window(window)?;
        let substep = transport.noting(|t| t.substep(WEAK, 1))?;
        let mut field = Slabs::zeros(state.tile_set().clone(), levels, 1);
        let mut columns = ColumnSums::zeros(state.tile_set().clone(), state.slabs().planes());
        let decay = Decay::from_rate(1e-6).expect("a rate above 0");
        let mut others = transport.noting(|t| {
            t.reset_air(WindowEnd::Start, TracersAtReset::KeepMass)?;
            t.fuse(R::from_f64(WEAK))?;
            t.largest_budget(WEAK, &Solo)?;
            t.first_unusable()?;
            t.sums(|_, _| ())?;
            t.decay(&[Decaying { tracer: 0, decay }], 1.0)?;
            t.columns(columns.parts_mut())?;
            t.plane(AIR, &mut field)
        })?;
        let mut whole = self.times(&mut transport, |t| t.substep(WEAK, 1))?;
        // Launched only where column-integrated fluxes are written.
        transport.book_transfers()?;
        let booked = transport.noting(|t| t.substep(WEAK, 1))?;
        others.extend(booked.into_iter().filter(|launch| launch.kernel() == KernelName::BookSeams));
        let mut timings = Vec::new();
        for kernel in KernelName::ALL {
            let of_kernel = |list: &[NotedLaunch]| -> Vec<_> {
                list.iter().filter(|launch| launch.kernel() == *kernel).cloned().collect()
            };
            let (inside, between) = (of_kernel(&substep), of_kernel(&others));
            let launches = if inside.is_empty() { &between } else { &inside };
            if launches.is_empty() {
                continue;
            }
            let count = launches.len() as f64;
            let times = self.times(&mut transport, |t| launches.iter().try_for_each(|launch| t.repeat(launch)))?;
            let (best, median) = (times[0] / count, times[times.len() / 2] / count);
            let bytes = launches.iter().map(|launch| transport.least_bytes(launch)).sum::<f64>() / count;
            timings.push(KernelTiming {
                kernel: kernel.name(),
                items_per_group: transport.shapes().items(*kernel),
                group: transport.shapes().group(*kernel),
                launches_per_substep: inside.len(),
                seconds_per_launch: best,
                median_seconds_per_launch: median,
                least_bytes_per_launch: bytes,
                gigabytes_per_second: bytes / best * 1e-9,
                share_of_copy: bytes / best / copy,
                share_of_substep: 0.0,
            });
        }
        let time = |t: &KernelTiming| t.seconds_per_launch * t.launches_per_substep as f64;
        let sum: f64 = timings.iter().map(time).sum();
        timings.iter_mut().for_each(|t| t.share_of_substep = time(t) / sum);
        Ok(KernelReport {
            backend,
            device: name,
            scheme: self.size.choice().to_string(),
            float_type: R::NAME,
            nc,
            levels,
            tracers,
            copy_gigabytes_per_second: copy * 1e-9,
            seconds_per_substep: whole.swap_remove(0),
            kernels: timings,
        })
    }

    /// Seconds of one `work` in every repetition, sorted. The first, which compiles and warms up, is not counted; the
    /// second tells how often to do it between two waits.
    fn times<R: Scalar>(
        &self,
        transport: &mut DeviceTransport<R>,
        mut work: impl FnMut(&mut DeviceTransport<R>) -> DeviceResult<()>,
    ) -> DeviceResult<Vec<f64>> {
        let mut batch = |times: usize| {
            let start = Instant::now();
            (0..times).try_for_each(|_| work(transport))?;
            transport.finish()?;
            DeviceResult::Ok(start.elapsed().as_secs_f64() / times as f64)
        };
        batch(1)?;
        let once = batch(1)?;
        let length = (BATCH_SECONDS / once).ceil().clamp(1.0, 1000.0) as usize;
        let mut times = (0..self.repetitions.max(1)).map(|_| batch(length)).collect::<DeviceResult<Vec<_>>>()?;
        times.sort_by(f64::total_cmp);
        Ok(times)
    }
}
