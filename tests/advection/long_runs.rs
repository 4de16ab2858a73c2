//! Drift over many substeps.

use kernels::scheme::{PpmLimiter, SlopesLimiter};
use kernels::{Scalar, Scheme};

use crate::case::{CONVENTIONS, Flow, Random, case};
use crate::run::{Outcome, Run, run};

/// The uniform tracer alone, in one of many similar flows.
fn uniform<R: Scalar>(flow: usize, nc: usize, nk: usize, how: Run) -> Outcome<R> {
    let (start, winds) = case(CONVENTIONS[flow % 2], nc, nk, Flow::steady(0.15 + 1e-3 * flow as f64));
    let start = start.with_tracers(vec![start.tracers[0].clone()]);
    run(&start.cast::<R>(), &winds.cast::<R>(), how)
}

/// Winds of another strength in each window of four substeps.
fn hourly(step: usize) -> f64 {
    0.75 + 0.5 * Random(977 * (step as u64 / 4)).unit()
}

/// Winds of another strength in each substep.
fn restless(step: usize) -> f64 {
    hourly(4 * step)
}

const USUAL: [Scheme; 3] = [Scheme::Upwind, Scheme::Slopes(SlopesLimiter::Monotone), Scheme::Ppm(PpmLimiter::Monotone)];

/// In single precision each cell update is rounded. The rounding error of m + (F − F') depends on F and F' but not on m,
/// so in a steady flow it is the same in every step and adds up; in a changing flow it grows with the square root.
#[test]
fn a_uniform_tracer_stays_uniform_over_a_thousand_substeps() {
    for (n, scheme) in USUAL.into_iter().enumerate() {
        let departure = |scale: fn(usize) -> f64| {
            let how = Run { scheme, steps: 1000, scale, ..Run::default() };
            let double = uniform::<f64>(n, 8, 4, how).end.departure(0, 411.0);
            let single = uniform::<f32>(n, 8, 4, how).end.departure(0, 411.0);
            println!("uniform, 1000 substeps, {}: f64 {double:.1e}, f32 {single:.1e}", scheme.name());
            [double, single]
        };
        let (steady, changing) = (departure(|_| 1.0), departure(restless));
        assert!(steady[0] <= 1e-12 && changing[0] <= 1e-12, "{scheme:?} {steady:?} {changing:?}");
        assert!(steady[1] <= 3e-5 && changing[1] <= 4e-6, "{scheme:?} {steady:?} {changing:?}");
    }
}

/// Relative changes of the totals of air and tracer over substeps of a quarter of an hour with hourly winds.
fn changes(flow: usize, nc: usize, nk: usize, scheme: Scheme, steps: usize) -> [f64; 2] {
    let found = uniform::<f32>(flow, nc, nk, Run { scheme, steps, ranks: 2, scale: hourly, ..Run::default() });
    let changes = [0, 1].map(|plane| found.totals[1][plane] / found.totals[0][plane] - 1.0);
    println!("{} C{nc} L{nk}, {steps} substeps: air {:+.1e}, tracer {:+.1e}", scheme.name(), changes[0], changes[1]);
    changes
}

/// Standard deviation of such a change: in each cell three sweeps round with a relative error of 2.4e-8, equally all
/// eight times they are made in an hour.
fn rounding(nc: usize, nk: usize, steps: usize) -> f64 {
    2.4e-8 * (3.0 * 64.0 * steps as f64 / 4.0).sqrt() / ((6 * nc * nc * nk) as f64).sqrt()
}

const TEN_DAYS: usize = 960;

#[test]
fn ten_days_change_the_totals_by_rounding_only() {
    for (flow, scheme) in [Scheme::Ppm(PpmLimiter::Cw84), Scheme::Ppm(PpmLimiter::HuynhPd)].into_iter().enumerate() {
        let limit = 3.0 * rounding(16, 8, TEN_DAYS);
        assert!(changes(flow, 16, 8, scheme, TEN_DAYS).iter().all(|c| c.abs() <= limit), "{limit:e}");
    }
}

#[test]
fn rounding_has_no_bias() {
    let flows = 24;
    let all: Vec<_> = (0..flows).map(|flow| changes(flow, 16, 8, Scheme::Upwind, 120)).collect();
    for plane in [0, 1] {
        let mean = all.iter().map(|c| c[plane]).sum::<f64>() / flows as f64;
        let spread = (all.iter().map(|c| (c[plane] - mean).powi(2)).sum::<f64>() / (flows - 1) as f64).sqrt();
        let expected = rounding(16, 8, 120);
        println!("plane {plane}: mean {mean:+.1e}, spread {spread:.1e}, expected {expected:.1e}");
        assert!(mean.abs() <= 3.0 * spread / (flows as f64).sqrt(), "{mean:e} {spread:e}");
        assert!(spread <= 1.5 * expected, "{spread:e} {expected:e}");
    }
}

#[test]
#[ignore = "slow: ten days on 1.2 million cells"]
fn ten_days_change_the_totals_by_less_than_a_hundred_millionth() {
    // Twice the standard deviation on this grid.
    let found = changes(0, 90, 24, Scheme::Ppm(PpmLimiter::Cw84), TEN_DAYS);
    assert!(found.iter().all(|c| c.abs() <= 1e-8), "{found:?}");
}
