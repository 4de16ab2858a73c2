//! What tells schemes and precisions apart.

use atmostr::comm::Solo;
use atmostr::operators::Threads;
use atmostr::operators::advection::Advection;
use decomposition::Layout;
use kernels::scheme::{PpmLimiter, SlopesLimiter};
use kernels::{Scalar, Scheme};

use crate::case::{CONVENTIONS, Flow, case};
use crate::run::{Run, run, scatter};

#[test]
fn single_precision_follows_double_precision() {
    let (mut field, mut bias) = (0.0_f64, 0.0_f64);
    for scheme in Scheme::every() {
        for convention in CONVENTIONS {
            let (start, winds) = case(convention, 8, 4, Flow::full(0.15));
            let how = Run { scheme, steps: 4, ..Run::default() };
            let double = run(&start, &winds, how);
            let single = run(&start.cast::<f32>(), &winds.cast::<f32>(), how);
            for t in 0..start.tracers.len() {
                let scale = double.end.ratios(t).map(f64::abs).fold(0.0, f64::max);
                for (a, b) in double.end.ratios(t).zip(single.end.ratios(t)) {
                    field = field.max((a - b).abs() / scale);
                }
            }
            for plane in [0, 1, 2, 4] {
                bias = bias.max((single.totals[1][plane] / double.totals[1][plane] - 1.0).abs());
            }
        }
    }
    println!("f32 against f64: field {field:.1e}, totals {bias:.1e}");
    assert!(field < 1e-4 && bias < 1e-6, "{field:e} {bias:e}");
}

#[test]
fn schemes_differ_on_a_gradient() {
    let (start, winds) = case(CONVENTIONS[0], 8, 5, Flow::full(0.15));
    let ends: Vec<_> =
        Scheme::ALL.into_iter().map(|scheme| run(&start, &winds, Run { scheme, ..Run::default() })).collect();
    for (n, a) in ends.iter().enumerate() {
        for b in &ends[..n] {
            assert_eq!(a.end.air, b.end.air, "air is the same for all");
            assert_ne!(a.end.tracers, b.end.tracers);
        }
    }
}

/// Schemes whose cells stay non-negative, and those that stay within the bounds of the start as well in flows that do
/// not squeeze.
#[test]
fn positive_schemes_create_no_negative_cells() {
    fn lowest<R: Scalar>(scheme: Scheme) -> f64 {
        let (start, winds) = case(CONVENTIONS[1], 10, 6, Flow::full(0.12));
        let start = start.with_tracers(vec![start.tracers[3].clone(), start.tracers[4].clone()]);
        let found = run(&start.cast::<R>(), &winds.cast::<R>(), Run { scheme, steps: 10, ..Run::default() }).end;
        (0..2).flat_map(|t| found.ratios(t).collect::<Vec<_>>()).fold(f64::INFINITY, f64::min)
    }
    let positive = [
        Scheme::Upwind,
        Scheme::Slopes(SlopesLimiter::Monotone),
        Scheme::Slopes(SlopesLimiter::Positivity),
        Scheme::Ppm(PpmLimiter::Cw84),
        Scheme::Ppm(PpmLimiter::HuynhPd),
    ];
    for scheme in Scheme::every() {
        let lowest = [lowest::<f64>(scheme), lowest::<f32>(scheme)];
        println!("lowest mixing ratio, {}: {:.1e} {:.1e}", scheme.name(), lowest[0], lowest[1]);
        match scheme {
            Scheme::LinRood(operator) if operator.rule.is_positive() => {
                assert!(lowest.iter().all(|lowest| *lowest >= 0.0), "{scheme:?} {lowest:?}");
            }
            _ if positive.contains(&scheme) => {
                assert!(lowest[0] >= -1e-18 && lowest[1] >= -1e-9, "{scheme:?} {lowest:?}");
            }
            _ => {}
        }
    }
}

#[test]
fn equal_panels_stay_equal_far_from_their_edges() {
    // Two sweeps along each axis reach six cells: the middle of 16 sees nothing but its own panel.
    let (nc, nk) = (16, 4);
    let (mut start, mut winds) = case(CONVENTIONS[0], nc, nk, Flow::steady(0.15));
    let spread = |values: &mut Vec<f64>| {
        let n = values.len() / 6;
        let (first, rest) = values.split_at_mut(n);
        rest.chunks_mut(n).for_each(|panel| panel.copy_from_slice(first));
    };
    spread(&mut start.air);
    start.tracers.iter_mut().for_each(spread);
    [&mut winds.am, &mut winds.bm, &mut winds.cm].into_iter().for_each(spread);
    for scheme in Scheme::ALL {
        let end = run(&start, &winds, Run { scheme, ranks: 6, ..Run::default() }).end;
        for plane in end.planes() {
            let panels: Vec<_> = plane.chunks(plane.len() / 6).collect();
            for k in 0..nk {
                for (j, i) in (6..nc - 6).flat_map(|j| (6..nc - 6).map(move |i| (j, i))) {
                    let cell = (k * nc + j) * nc + i;
                    assert!(panels.iter().all(|panel| panel[cell] == panels[0][cell]), "{scheme:?} {k} {j} {i}");
                }
            }
        }
    }
}

#[test]
fn a_halo_narrower_than_the_stencil_is_refused() {
    let (start, winds) = case(CONVENTIONS[0], 8, 2, Flow::steady(0.1));
    for scheme in Scheme::ALL {
        for halo in 1..=3 {
            let attempt = std::thread::spawn({
                let (start, winds) = (start.clone(), winds.clone());
                move || {
                    let layout = Layout::new(8, start.convention, 1, halo, None).expect("whole panels");
                    let state = scatter(&layout, 0, &start, &winds).state;
                    let threads = Threads::new(1).expect("a thread of its own");
                    Advection::new(scheme, &layout, &state, &threads, &Solo);
                }
            });
            assert_eq!(attempt.join().is_err(), halo < scheme.halo(), "{scheme:?} {halo}");
        }
    }
}
