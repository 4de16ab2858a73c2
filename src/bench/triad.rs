//! The STREAM triad, the yardstick of memory-bound loops (McCalpin 1995).

use std::time::Instant;

use rayon::prelude::*;

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
