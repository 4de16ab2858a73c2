//! The operator agrees with plain loops over whole panels, bit for bit.

use kernels::{Scalar, Scheme};

use crate::case::{CONVENTIONS, Flow, case};
use crate::naive;
use crate::run::{Run, run};

fn agrees<R: Scalar>(nc: usize, nk: usize, how: Run, flow: Flow) {
    for convention in CONVENTIONS {
        let (start, winds) = case(convention, nc, nk, flow);
        let (start, winds) = (start.cast::<R>(), winds.cast::<R>());
        let mut expected = start.clone();
        let mut counts = naive::Counts::default();
        for step in 0..how.steps {
            let of_step = naive::substep(&mut expected, &winds, how.scheme, (how.scale)(step), how.passes);
            counts.clamped += of_step.clamped;
            counts.max_courant = counts.max_courant.max(of_step.max_courant);
        }
        let found = run(&start, &winds, how);
        found.end.assert_same_bits(&expected, &format!("{convention:?} C{nc} L{nk} {} {}", how.scheme.name(), R::NAME));
        assert_ne!(start, expected, "the case moves something");
        assert_eq!(found.stats.max_courant, counts.max_courant);
        assert_eq!(found.stats.clamped, counts.clamped);
        assert_eq!(counts.clamped > 0, flow.courant > 1.0);
    }
}

#[test]
fn every_scheme_has_the_bits_of_plain_loops() {
    for scheme in Scheme::every() {
        agrees::<f64>(6, 6, Run { scheme, steps: 2, ..Run::default() }, Flow::full(0.15));
        agrees::<f32>(7, 4, Run { scheme, steps: 2, scale: |n| [1.0, -0.7][n], ..Run::default() }, Flow::full(0.15));
        agrees::<f32>(8, 5, Run { scheme, steps: 1, passes: 3, ..Run::default() }, Flow::full(0.3));
    }
}

#[test]
fn clamped_faces_have_the_bits_of_plain_loops() {
    // One substep only: what follows a clamp may hold cells without mass.
    for scheme in Scheme::every() {
        agrees::<f64>(6, 6, Run { scheme, ..Run::default() }, Flow::steady(1.3));
        agrees::<f32>(6, 6, Run { scheme, ..Run::default() }, Flow::steady(1.3));
    }
}

#[test]
fn few_levels_have_the_bits_of_plain_loops() {
    for scheme in Scheme::every() {
        for nk in 1..=6 {
            agrees::<f64>(6, nk, Run { scheme, ..Run::default() }, Flow::full(0.15));
        }
    }
}
