//! The palindrome of all tracers, on the processor and on a device.

use std::time::Instant;

use kernels::Scalar;
use serde::Serialize;

use super::case::Case;
use super::{BenchError, BenchSize, copy_bytes_per_second, triad_bytes_per_second};
use crate::comm::Communicator;
use crate::device::{Accelerator, count, open};
use crate::met::Section;
use crate::operators::Threads;
use crate::operators::advection::{Advection, Winds};
use crate::operators::device::{DeviceTransport, HaloChoice, Launcher, widest_row};

/// What to measure: six-sweep palindromes on six panels with real seams.
#[derive(Clone, Debug)]
pub struct AdvectionBench {
    /// Grid, tracers and scheme.
    pub size: BenchSize,
    /// Palindromes per repetition.
    pub steps: usize,
    /// Repetitions; the best and the median are reported.
    pub repetitions: usize,
}

/// Result of one measurement. One step is the palindrome X Y Z Z Y X.
#[derive(Clone, Debug, Serialize)]
pub struct AdvectionReport {
    /// `cpu`, or the driver of the device.
    pub backend: String,
    /// Name of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
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
    /// Ranks.
    pub ranks: usize,
    /// CPU threads of each rank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// Best wall time of a step (s), slowest rank.
    pub seconds_per_step: f64,
    /// Median wall time of a step (s), slowest rank.
    pub median_seconds_per_step: f64,
    /// Million cell·tracer·steps per second, best repetition.
    pub mega_updates_per_second: f64,
    /// Least memory traffic of a step (bytes): three read-and-write passes over the padded state, winds read twice.
    pub least_bytes_per_step: f64,
    /// That traffic over the best time (GB/s).
    pub gigabytes_per_second: f64,
    /// What the memory is measured by: `triad` on the processor, `copy` on a device.
    pub bandwidth: &'static str,
    /// That bandwidth, of all ranks in the same run (GB/s).
    pub bandwidth_gigabytes_per_second: f64,
    /// Share of the bandwidth.
    pub share_of_bandwidth: f64,
    /// Rate over that of the processor in the same run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_over_cpu: Option<f64>,
}

/// Where a measurement runs.
struct Place {
    backend: String,
    device: Option<String>,
    threads: Option<usize>,
    bandwidth: &'static str,
    bytes_per_second: f64,
}

impl AdvectionBench {
    /// Runs the measurement on the processor. Collective over `comm`.
    ///
    /// # Errors
    /// The layout is impossible for this number of ranks.
    pub fn run<R: Scalar>(&self, comm: &dyn Communicator, threads: &Threads) -> Result<AdvectionReport, BenchError> {
        let mut case = Case::<R>::new(&self.size, comm)?;
        let place = Place {
            backend: "cpu".to_owned(),
            device: None,
            threads: Some(threads.count()),
            bandwidth: "triad",
            bytes_per_second: total(comm, triad_bytes_per_second(threads)),
        };
        let mut state = case.state.clone();
        let field = |section| case.field(section);
        let winds = Winds { x: field(Section::FluxX), y: field(Section::FluxY), z: field(Section::FluxZ), scale: 1.0 };
        let mut advection = Advection::new(self.size.choice(), &case.layout, &state, threads, comm);
        let times = self.times(comm, |steps| {
            (0..steps).for_each(|_| {
                advection.substep(&mut state, winds, 1, None, None, threads);
            });
            Ok(())
        })?;
        case.state = state;
        Ok(self.report(&case, comm, place, &times))
    }

    /// Runs the measurement on devices, which the ranks of a machine share in turn. Collective over `comm`.
    ///
    /// # Errors
    /// The layout is impossible for this number of ranks; this rank's device cannot be used, which the other ranks must
    /// learn of elsewhere.
    pub fn run_on<R: Scalar>(
        &self,
        accelerator: Accelerator,
        comm: &dyn Communicator,
    ) -> Result<AdvectionReport, BenchError> {
        let case = Case::<R>::new(&self.size, comm)?;
        let index = comm.rank_here() % count(accelerator)?;
        let copy = copy_bytes_per_second(&mut *open::<R>(accelerator, index)?)?;
        let device = open::<R>(accelerator, index)?;
        let place = Place {
            backend: device.info().driver.clone(),
            device: Some(device.info().name.clone()),
            threads: None,
            bandwidth: "copy",
            bytes_per_second: total(comm, copy),
        };
        let mut transport = {
            let launcher = Launcher::new::<R>(device, self.size.choice(), widest_row(case.state.tile_set()))?;
            DeviceTransport::new(launcher, &case.layout, &case.state, &case.window, HaloChoice::Auto, comm)?
        };
        transport.begin_window(&case.window)?;
        let times = self.times(comm, |steps| {
            (0..steps).try_for_each(|_| transport.substep(1.0, 1))?;
            Ok(transport.finish()?)
        })?;
        Ok(self.report(&case, comm, place, &times))
    }

    /// Seconds per step of every repetition, sorted; the first steps, which compile and warm up, are not counted.
    fn times(
        &self,
        comm: &dyn Communicator,
        mut step: impl FnMut(usize) -> Result<(), BenchError>,
    ) -> Result<Vec<f64>, BenchError> {
        step(1)?;
        let steps = self.steps.max(1);
        let mut times = Vec::new();
        for _ in 0..self.repetitions.max(1) {
            comm.barrier();
            let start = Instant::now();
            step(steps)?;
            let mut seconds = [start.elapsed().as_secs_f64() / steps as f64];
            comm.max_f64(&mut seconds);
            times.push(seconds[0]);
        }
        times.sort_by(f64::total_cmp);
        Ok(times)
    }

    fn report<R: Scalar>(
        &self,
        case: &Case<R>,
        comm: &dyn Communicator,
        place: Place,
        times: &[f64],
    ) -> AdvectionReport {
        let BenchSize { nc, levels, tracers, .. } = self.size;
        let (best, median) = (times[0], times[times.len() / 2]);
        let (state, wind) = (case.state.slabs().data().len(), case.field(Section::FluxX).data().len());
        let bytes = total(comm, (3 * 2 * state + 2 * 3 * wind) as f64) * size_of::<R>() as f64;
        let updates = (6 * nc * nc * levels * tracers) as f64;
        AdvectionReport {
            backend: place.backend,
            device: place.device,
            scheme: self.size.choice().to_string(),
            float_type: R::NAME,
            nc,
            levels,
            tracers,
            ranks: comm.size(),
            threads: place.threads,
            seconds_per_step: best,
            median_seconds_per_step: median,
            mega_updates_per_second: updates / best * 1e-6,
            least_bytes_per_step: bytes,
            gigabytes_per_second: bytes / best * 1e-9,
            bandwidth: place.bandwidth,
            bandwidth_gigabytes_per_second: place.bytes_per_second * 1e-9,
            share_of_bandwidth: bytes / best / place.bytes_per_second,
            rate_over_cpu: None,
        }
    }
}

/// Sum over ranks of a figure that need not be exact.
fn total(comm: &dyn Communicator, value: f64) -> f64 {
    let mut sum = [value as i64];
    comm.sum_i64(&mut sum);
    sum[0] as f64
}
