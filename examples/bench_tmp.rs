//! tmp
use atmostr::bench::*;
use atmostr::comm::Solo;
use atmostr::operators::Threads;
use kernels::scheme::*;
fn main() {
    let t: usize = std::env::args().nth(1).map_or(1, |a| a.parse().unwrap());
    let threads = Threads::new(t).unwrap();
    for scheme in [Scheme::Ppm(PpmLimiter::Cw84), Scheme::Ppm(PpmLimiter::HuynhPd), Scheme::Upwind] {
        let b = AdvectionBench { nc: 90, levels: 66, tracers: 10, scheme, threads: t, steps: 2, repetitions: 5 };
        let (r4, r8) =
            threads.install(|| (b.run::<f32>(&Solo, &threads).unwrap(), b.run::<f64>(&Solo, &threads).unwrap()));
        for r in [r4, r8] {
            println!(
                "{} {} {:.1} M/s  {:.1} GB/s triad {:.1}",
                r.scheme, r.float_type, r.mega_updates_per_second, r.gigabytes_per_second, r.triad_gigabytes_per_second
            );
        }
    }
}
