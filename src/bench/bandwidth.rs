//! The yardsticks of memory-bound loops: the STREAM triad (McCalpin 1995) on the processor, a copy on a device.

use std::time::Instant;

use kernels::device::{Dialect, Precision, preamble};
use rayon::prelude::*;

use crate::device::{Argument, Device, DeviceResult, Launch};
use crate::operators::Threads;

/// Values per array: 64 MiB each, well beyond a core's share of the caches.
const LENGTH: usize = 8 << 20;

/// Bandwidth (bytes/s, best of eight) of `a = b + s·c` on 64-bit floats with all threads of the pool.
///
/// Counted as in STREAM: two reads and one write of 8 bytes per element.
pub fn triad_bytes_per_second(threads: &Threads) -> f64 {
    let mut a = vec![0.0_f64; LENGTH];
    let b = vec![1.0_f64; LENGTH];
    let c = vec![2.0_f64; LENGTH];
    let piece = LENGTH.div_ceil(threads.count());
    let best = (0..8)
        .map(|n| {
            let s = 3.0 + f64::from(n);
            let start = Instant::now();
            a.par_chunks_mut(piece).zip(b.par_chunks(piece)).zip(c.par_chunks(piece)).for_each(|((a, b), c)| {
                for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                    *a = b + s * c;
                }
            });
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    std::hint::black_box(&a);
    24.0 * LENGTH as f64 / best
}

/// Values per array of the copy: 128 MiB each.
const COPIED: usize = 32 << 20;

/// Bandwidth (bytes/s, best of eight) of a kernel that copies 32-bit floats; every byte is counted twice, as read and as
/// written. Replaces the program of the device, and its memory stays taken until the device is dropped.
///
/// # Errors
/// The device refuses something.
pub fn copy_bytes_per_second(device: &mut dyn Device) -> DeviceResult<f64> {
    device.compile(&format!("{}#line 1 \"copy.h\"\n{}", preamble(Precision::Float32), include_str!("copy.h")))?;
    let kernel = device.kernel("copy")?;
    let memory = [device.allocate(4 * COPIED)?, device.allocate(4 * COPIED)?];
    let lanes = match device.info().dialect {
        Dialect::OpenClProcessor => device.info().group_lanes.min(4096),
        Dialect::Cuda | Dialect::OpenCl | Dialect::Metal => 256,
    };
    let launch = Launch { groups: [COPIED.div_ceil(lanes), 1, 1], lanes: [lanes, 1, 1] };
    let n = i32::try_from(COPIED).expect("fewer than 2^31");
    let arguments = [Argument::Memory(memory[0]), Argument::Memory(memory[1]), Argument::Int(n)];
    let mut best = f64::INFINITY;
    for _ in 0..9 {
        let start = Instant::now();
        device.launch(kernel, launch, &arguments)?;
        device.finish()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(8.0 * COPIED as f64 / best)
}
