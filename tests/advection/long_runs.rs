//! Drift over many substeps.

use kernels::scheme::{PpmLimiter, SlopesLimiter};
use kernels::{Scalar, Scheme};

use crate::case::{CONVENTIONS, Flow, case};
use crate::run::{Outcome, Run, run};

/// The uniform tracer alone in a steady flow.
fn uniform<R: Scalar>(convention: usize, nc: usize, nk: usize, how: Run) -> Outcome<R> {
    let (start, winds) = case(CONVENTIONS[convention], nc, nk, Flow::steady(0.15));
    let start = start.with_tracers(vec![start.tracers[0].clone()]);
    run(&start.cast::<R>(), &winds.cast::<R>(), how)
}

const USUAL: [Scheme; 5] = [
    Scheme::Upwind,
    Scheme::Slopes(SlopesLimiter::Monotone),
    Scheme::Ppm(PpmLimiter::Monotone),
    Scheme::Ppm(PpmLimiter::Cw84),
    Scheme::Ppm(PpmLimiter::HuynhPd),
];

#[test]
fn a_uniform_tracer_stays_uniform_over_a_thousand_substeps() {
    for (n, scheme) in USUAL.into_iter().enumerate() {
        let how = Run { scheme, steps: 1000, ..Run::default() };
        let double = uniform::<f64>(n % 2, 8, 4, how).end.departure(0, 411.0);
        let single = uniform::<f32>(n % 2, 8, 4, how).end.departure(0, 411.0);
        println!("uniform, 1000 substeps, {}: f64 {double:.1e}, f32 {single:.1e}", scheme.name());
        assert!(double <= 1e-12, "{scheme:?} {double:e}");
        assert!(single <= 2e-6, "{scheme:?} {single:e}");
    }
}

/// Ten days of quarter-hour substeps.
#[test]
fn the_total_of_a_uniform_tracer_drifts_by_less_than_a_hundred_millionth_in_ten_days() {
    for (n, scheme) in [Scheme::Ppm(PpmLimiter::Cw84), Scheme::Ppm(PpmLimiter::HuynhPd)].into_iter().enumerate() {
        let found = uniform::<f32>(n % 2, 16, 8, Run { scheme, steps: 960, ranks: 2, ..Run::default() });
        let signed = |plane: usize| found.totals[1][plane] / found.totals[0][plane] - 1.0;
        println!("ten days, {}: air {:+.1e}, tracer {:+.1e}", scheme.name(), signed(0), signed(1));
        assert!(signed(0).abs() <= 1e-8 && signed(1).abs() <= 1e-8, "{scheme:?} {:e} {:e}", signed(0), signed(1));
    }
}
