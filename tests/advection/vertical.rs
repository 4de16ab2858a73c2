//! Vertical sweeps with spline profiles, and two sweeps in one.

use decomposition::TileGrid;
use kernels::scheme::{Fusion, LinRood, LinRoodRule, PpmLimiter, Vertical};
use kernels::{Scalar, Scheme};

use crate::case::{CONVENTIONS, Flow, case};
use crate::run::{Run, run};
use crate::sphere::{Global, GlobalWinds};

const PPM: Scheme = Scheme::Ppm(PpmLimiter::HuynhPd);
const SPLINES: [Vertical; 2] = [Vertical::Fv3Kord8, Vertical::Fv3Kord8Signed];
const FUSIONS: [Fusion; 2] = [Fusion::Never, Fusion::WherePossible];

fn grid(px: usize, py: usize) -> Option<TileGrid> {
    Some(TileGrid { px, py })
}

fn same_bits_everywhere<R: Scalar>() {
    for (n, convention) in CONVENTIONS.into_iter().enumerate() {
        for vertical in SPLINES {
            for fusion in FUSIONS {
                let (start, winds) = case(convention, 12, [7, 18][n], Flow::full(0.15));
                let (start, winds) = (start.cast::<R>(), winds.cast::<R>());
                let alone = Run { scheme: PPM, vertical, fusion, passes: 1 + n, steps: 2, ..Run::default() };
                let expected = run(&start, &winds, alone);
                for (ranks, threads, grid) in [
                    (1, 2, None),
                    (3, 1, None),
                    (6, 2, grid(3, 2)),
                    (12, 1, None),
                    (24, 1, grid(2, 2)),
                    (5, 1, grid(2, 3)),
                ] {
                    let how = Run { ranks, threads, grid, ..alone };
                    let found = run(&start, &winds, how);
                    found.end.assert_same_bits(&expected.end, &format!("{how:?}"));
                    assert_eq!(
                        (found.totals, found.stats.max_courant),
                        (expected.totals.clone(), expected.stats.max_courant)
                    );
                }
            }
        }
    }
}

#[test]
fn splines_and_fused_sweeps_have_the_same_bits_on_every_layout() {
    same_bits_everywhere::<f64>();
    same_bits_everywhere::<f32>();
}

/// Totals: 100 eps; a uniform tracer: 16 eps of its value in single precision.
fn kept<R: Scalar>(fusion: Fusion) {
    let eps = R::EPSILON.to_f64();
    for convention in CONVENTIONS {
        for vertical in SPLINES {
            let (start, winds) = case(convention, 12, 6, Flow::full(0.15));
            let (start, winds) = (start.cast::<R>(), winds.cast::<R>());
            let found = run(&start, &winds, Run { scheme: PPM, vertical, fusion, ..Run::default() });
            assert_eq!(found.stats.clamped, 0);
            // Air, the uniform tracer and the gradient; spots and waves are rounded like the few cells they fill.
            for plane in [0, 1, 2] {
                assert!(found.drifts()[plane] < 100.0 * eps, "{vertical:?}: {:?}", found.drifts());
            }
            let ratio = |global: &Global<R>, cell: usize| global.tracers[0][cell].to_f64() / global.air[cell].to_f64();
            let uniform = ratio(&start, 0);
            for cell in 0..start.air.len() {
                let change = (ratio(&found.end, cell) / uniform - 1.0).abs();
                assert!(change <= 16.0 * eps, "{vertical:?}: {change:e} in cell {cell}");
            }
        }
    }
}

#[test]
fn splines_keep_totals_and_uniform_tracers() {
    for fusion in FUSIONS {
        kept::<f64>(fusion);
        kept::<f32>(fusion);
    }
}

/// The same winds without anything horizontal.
fn columns_only(winds: &GlobalWinds<f64>) -> GlobalWinds<f64> {
    let still = |values: &[f64]| vec![0.0; values.len()];
    GlobalWinds { am: still(&winds.am), bm: still(&winds.bm), cm: winds.cm.clone(), ..*winds }
}

#[test]
fn without_horizontal_winds_the_horizontal_scheme_does_not_matter() {
    let (start, winds) = case(CONVENTIONS[0], 9, 6, Flow::full(0.15));
    let winds = columns_only(&winds);
    let linrood = Scheme::LinRood(LinRood::new(LinRoodRule::Quasi));
    for vertical in SPLINES {
        let of = |scheme| run(&start, &winds, Run { scheme, vertical, ..Run::default() });
        of(linrood).end.assert_same_bits(&of(PPM).end, vertical.name());
    }
}

#[test]
fn two_sweeps_in_one_move_as_much_as_two() {
    let (start, winds) = case(CONVENTIONS[0], 9, 6, Flow::full(0.15));
    let winds = columns_only(&winds);
    for vertical in Vertical::ALL {
        let of = |fusion, idle_midpoint| {
            run(&start, &winds, Run { scheme: PPM, vertical, fusion, idle_midpoint, ..Run::default() })
        };
        let (two, one) = (of(Fusion::Never, false), of(Fusion::WherePossible, false));
        // Air moves by the same amounts, rounded once less.
        for (a, b) in two.end.air.iter().zip(&one.end.air) {
            assert!((a / b - 1.0).abs() < 4.0 * f64::EPSILON, "{vertical:?}");
        }
        assert!(one.worst_drift() < 1e-13, "{vertical:?}");
        assert!(one.stats.max_courant > 1.5 * two.stats.max_courant, "{vertical:?}: something was fused");
        assert!(two.end.tracers[1] != one.end.tracers[1], "{vertical:?}: profiles are formed once, not twice");
        // Something acts in the middle: no fusion.
        of(Fusion::WherePossible, true).end.assert_same_bits(&two.end, vertical.name());
    }
}
