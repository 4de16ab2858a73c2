//! Totals, uniform tracers and offsets.

use kernels::scheme::{LinRoodRule, PpmLimiter, SlopesLimiter};
use kernels::{Scalar, Scheme};

use crate::case::{CONVENTIONS, Flow, case};
use crate::run::{Run, run};
use crate::sphere::{Global, GlobalWinds};

/// Planes whose total is not a difference of large numbers: air and all tracers but the waves.
const SIGNLESS: [usize; 5] = [0, 1, 2, 4, 5];
/// Air, the uniform tracer and the gradient. The total of a spot is rounded like the few cells it fills.
const SPREAD_OUT: [usize; 3] = [0, 1, 2];

/// Largest relative change of the totals of these planes.
fn drift<R: Scalar>(start: &Global<f64>, winds: &GlobalWinds<f64>, how: Run, planes: &[usize]) -> f64 {
    let found = run(&start.cast::<R>(), &winds.cast::<R>(), how);
    assert!(found.end.planes().flatten().all(|v| Scalar::is_finite(*v)));
    assert_eq!(found.stats.clamped, 0);
    largest(planes.iter().map(|&plane| found.drifts()[plane]))
}

fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, f64::max)
}

#[test]
fn one_step_keeps_air_and_tracer_totals() {
    let mut worst = [0.0_f64; 2];
    for scheme in Scheme::every() {
        for convention in CONVENTIONS {
            let (start, winds) = case(convention, 12, 4, Flow::full(0.15));
            let how = Run { scheme, ..Run::default() };
            worst[0] = worst[0].max(drift::<f64>(&start, &winds, how, &SIGNLESS));
            worst[1] = worst[1].max(drift::<f32>(&start, &winds, how, &SPREAD_OUT));
        }
    }
    println!("one step: f64 {:.1e}, f32 {:.1e}", worst[0], worst[1]);
    assert!(worst[0] < 1e-13 && worst[1] < 5e-8, "{worst:?}");
}

#[test]
fn four_steps_keep_the_totals_of_gradients() {
    let mut worst = [0.0_f64; 2];
    for scheme in Scheme::every() {
        for convention in CONVENTIONS {
            let (start, winds) = case(convention, 12, 4, Flow::full(0.15));
            let how = Run { scheme, steps: 4, ..Run::default() };
            worst[0] = worst[0].max(drift::<f64>(&start, &winds, how, &SIGNLESS));
            worst[1] = worst[1].max(drift::<f32>(&start, &winds, how, &SPREAD_OUT));
        }
    }
    println!("four steps: f64 {:.1e}, f32 {:.1e}", worst[0], worst[1]);
    assert!(worst[0] < 1e-12 && worst[1] < 4.0 * 5e-8, "{worst:?}");
}

#[test]
fn hundred_steps_keep_double_precision_totals_to_their_rounding() {
    let mut worst = 0.0_f64;
    for scheme in Scheme::every() {
        for convention in CONVENTIONS {
            let (start, winds) = case(convention, 12, 4, Flow::steady(0.15));
            let how = Run { scheme, steps: 100, ..Run::default() };
            worst = worst.max(drift::<f64>(&start, &winds, how, &SIGNLESS));
        }
    }
    println!("hundred steps: {worst:.1e}");
    assert!(worst <= 1e-15, "{worst:e}");
}

#[test]
fn closed_panels_keep_their_totals() {
    for scheme in Scheme::every() {
        let (start, mut winds) = case(CONVENTIONS[0], 8, 4, Flow::full(0.15));
        // Only fluxes between cells of the same panel.
        for panel in decomposition::Panel::ALL {
            for edge in decomposition::Edge::ALL {
                for k in 0..4 {
                    for s in 0..8 {
                        *winds.at_edge(panel, edge, k, s) = 0.0;
                    }
                }
            }
        }
        crate::case::close_columns(&start, &mut winds);
        let found = run(&start, &winds, Run { scheme, ..Run::default() });
        assert!(found.worst_drift() < 1e-13);
        let per_panel = start.dims.cells() / 6;
        for (before, after) in start.planes().zip(found.end.planes()).take(3) {
            for (before, after) in before.chunks(per_panel).zip(after.chunks(per_panel)) {
                let (before, after): (f64, f64) = (before.iter().sum(), after.iter().sum());
                assert!((after / before - 1.0).abs() < 1e-13, "{scheme:?}");
            }
        }
    }
}

#[test]
fn tiny_and_ordinary_seam_fluxes_close() {
    for (courant, limit) in [(1e-3, [2e-14, 3e-7]), (0.1, [2e-14, 3e-7])] {
        for scheme in Scheme::every() {
            for convention in CONVENTIONS {
                let (start, winds) = case(convention, 8, 4, Flow::full(courant));
                let how = Run { scheme, ranks: 6, ..Run::default() };
                assert!(drift::<f64>(&start, &winds, how, &SIGNLESS) < limit[0]);
                assert!(drift::<f32>(&start, &winds, how, &SPREAD_OUT) < limit[1]);
            }
        }
    }
}

/// Largest relative departure of the uniform tracer from 411.
fn uniform<R: Scalar>(scheme: Scheme, nc: usize, courant: f64, steps: usize) -> f64 {
    let mut worst = 0.0_f64;
    for convention in CONVENTIONS {
        let (start, winds) = case(convention, nc, 4, Flow::steady(courant));
        let start = start.with_tracers(vec![start.tracers[0].clone()]);
        let how = Run { scheme, steps, ..Run::default() };
        worst = worst.max(run(&start.cast::<R>(), &winds.cast::<R>(), how).end.departure(0, 411.0));
    }
    worst
}

#[test]
fn a_uniform_tracer_stays_uniform() {
    for scheme in Scheme::every() {
        let once = [uniform::<f64>(scheme, 12, 0.05, 1), uniform::<f32>(scheme, 12, 0.05, 1)];
        println!("uniform, one step, {}: {:.1e} {:.1e}", scheme.name(), once[0], once[1]);
        assert!(once[0] * 411.0 < 1e-10 && once[1] <= 16.0 * f64::from(f32::EPSILON), "{once:?}");
    }
}

#[test]
fn a_negative_uniform_tracer_stays_uniform() {
    for scheme in Scheme::every() {
        let (start, winds) = case(CONVENTIONS[0], 8, 4, Flow::full(0.15));
        let start = start.with_tracers(vec![start.air.iter().map(|m| -400.0e-6 * m).collect()]);
        let found = run(&start, &winds, Run { scheme, steps: 4, ..Run::default() });
        let departure = found.end.departure(0, -400.0e-6);
        assert!(departure < 2e-13, "{scheme:?} {departure:e}");
    }
}

/// Schemes that treat every offset alike: all but those that know where zero is, and those whose profile of a cell jumps
/// where its edge reaches its mean.
fn invariant() -> impl Iterator<Item = Scheme> {
    Scheme::every().filter(|scheme| match scheme {
        Scheme::Slopes(limiter) => *limiter != SlopesLimiter::Positivity,
        Scheme::Ppm(limiter) => ![PpmLimiter::HuynhPd, PpmLimiter::Pd, PpmLimiter::MpPd].contains(limiter),
        Scheme::LinRood(operator) => operator.rule == LinRoodRule::None,
        Scheme::Upwind => true,
    })
}

fn offset<R: Scalar>(epsilon: f64) -> f64 {
    let mut worst = 0.0_f64;
    for scheme in invariant() {
        for convention in CONVENTIONS {
            let (start, winds) = case(convention, 8, 4, Flow::full(0.15));
            let shifted = start.tracers.iter().map(|t| t.iter().zip(&start.air).map(|(rm, m)| rm + 5.0 * m).collect());
            let shifted = start.with_tracers(shifted.collect()).cast::<R>();
            let (start, winds) = (start.cast::<R>(), winds.cast::<R>());
            let how = Run { scheme, steps: 2, ..Run::default() };
            let (plain, moved) = (run(&start, &winds, how).end, run(&shifted, &winds, how).end);
            assert_eq!(plain.air, moved.air, "air does not feel the tracers");
            for (plain_rm, moved_rm) in plain.tracers.iter().zip(&moved.tracers) {
                let scale = largest(moved_rm.iter().map(|rm| rm.to_f64().abs()));
                let difference = plain_rm
                    .iter()
                    .zip(moved_rm)
                    .zip(&plain.air)
                    .map(|((a, b), m)| (a.to_f64() + 5.0 * m.to_f64() - b.to_f64()).abs());
                worst = worst.max(largest(difference) / (scale * epsilon));
            }
        }
    }
    worst
}

#[test]
fn an_offset_is_carried_along() {
    let worst = [offset::<f64>(f64::EPSILON), offset::<f32>(f32::EPSILON.into())];
    println!("offset: {worst:.1?} epsilon of the maximum");
    assert!(worst.iter().all(|w| *w <= 512.0), "{worst:?}");
}

#[test]
fn tracers_travel_alone_as_they_do_together() {
    fn check<R: Scalar>(scheme: Scheme) {
        let (start, winds) = case(CONVENTIONS[1], 8, 5, Flow::full(0.15));
        let (start, winds) = (start.cast::<R>(), winds.cast::<R>());
        let how = Run { scheme, steps: 4, ..Run::default() };
        let together = run(&start, &winds, how).end;
        for (t, tracer) in start.tracers.iter().enumerate() {
            let alone = run(&start.with_tracers(vec![tracer.clone()]), &winds, how).end;
            alone.assert_same_bits(&together.with_tracers(vec![together.tracers[t].clone()]), scheme.name());
        }
    }
    for scheme in Scheme::every() {
        check::<f64>(scheme);
        check::<f32>(scheme);
    }
}

#[test]
fn air_alone_moves_like_air_with_tracers() {
    let (start, winds) = case(CONVENTIONS[1], 8, 5, Flow::full(0.15));
    let how = Run { steps: 2, ranks: 6, ..Run::default() };
    let alone = run(&start.with_tracers(Vec::new()), &winds, how).end;
    assert_eq!(alone.air, run(&start, &winds, how).end.air);
}

#[test]
fn air_follows_the_divergence_of_its_amounts() {
    // Each array acts twice: m' = m + 2·scale·convergence, whatever the order of the sweeps.
    let (start, winds) = case(CONVENTIONS[0], 8, 5, Flow::full(0.15));
    let dims = start.dims;
    let found = run(&start, &winds, Run { scale: |_| 0.5, ..Run::default() }).end;
    let mut moved = 0.0_f64;
    for (p, k, j, i) in dims.each_cell() {
        let convergence = winds.am[dims.face_x(p, k, j, i)] - winds.am[dims.face_x(p, k, j, i + 1)]
            + (winds.bm[dims.face_y(p, k, j, i)] - winds.bm[dims.face_y(p, k, j + 1, i)])
            + (winds.cm[dims.face_z(p, k, j, i)] - winds.cm[dims.face_z(p, k + 1, j, i)]);
        let cell = dims.cell(p, k, j, i);
        let expected = start.air[cell] + convergence;
        moved = moved.max((convergence / start.air[cell]).abs());
        assert!((found.air[cell] / expected - 1.0).abs() < 1e-14, "{p} {k} {j} {i}");
    }
    assert!(moved > 1e-3, "mass moves between columns");
}
