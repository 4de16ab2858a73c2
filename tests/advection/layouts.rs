//! No result depends on how the sphere is divided.

use decomposition::TileGrid;
use kernels::{Scalar, Scheme};

use crate::case::{CONVENTIONS, Flow, case};
use crate::run::{Outcome, Run, run};

fn grid(px: usize, py: usize) -> Option<TileGrid> {
    Some(TileGrid { px, py })
}

/// Ranks 1 to 24 with one and two threads, and forced tile shapes: fewer, as many and more tiles than ranks.
fn layouts() -> Vec<Run> {
    let mut layouts = Vec::new();
    for ranks in [1, 2, 3, 4, 5, 6, 7, 8, 12, 24] {
        for threads in [1, 2] {
            layouts.push(Run { ranks, threads, ..Run::default() });
        }
    }
    for (ranks, px, py) in [(1, 2, 1), (1, 3, 3), (2, 1, 3), (4, 3, 1), (5, 2, 3), (6, 3, 2), (9, 3, 3), (54, 3, 3)] {
        layouts.push(Run { ranks, threads: 1 + ranks % 2, grid: grid(px, py), ..Run::default() });
    }
    layouts.push(Run { ranks: 1, extra_halo: 2, ..Run::default() });
    layouts.push(Run { ranks: 5, extra_halo: 1, threads: 2, ..Run::default() });
    layouts
}

fn assert_same<R: Scalar>(found: &Outcome<R>, expected: &Outcome<R>, what: &str) {
    found.end.assert_same_bits(&expected.end, what);
    assert_eq!(found.totals, expected.totals, "{what}");
    assert_eq!(found.stats.max_courant, expected.stats.max_courant, "{what}");
}

/// Every scheme meets every layout; convention, precision and the other choices alternate so that all pairs occur.
fn same_bits_everywhere<R: Scalar>(precision: usize) {
    for (s, scheme) in Scheme::every().enumerate() {
        for (c, convention) in CONVENTIONS.into_iter().enumerate() {
            // One block of levels, and three.
            let nk = [5, 18][(s + c + precision) % 2];
            let passes = [1, 3][(s / 2 + c) % 2];
            // Panels that can be cut into three tiles as wide as the halo.
            let (start, winds) = case(convention, 3 * scheme.halo().max(3), nk, Flow::full(0.15));
            let (start, winds) = (start.cast::<R>(), winds.cast::<R>());
            let alone = Run { scheme, passes, steps: 2, scale: |n| [1.0, 0.8][n], ..Run::default() };
            let expected = run(&start, &winds, alone);
            for (l, layout) in layouts().into_iter().enumerate() {
                if ((l + s / 4) % 2, (l / 2 + s / 2) % 2) == (c, precision) {
                    let idle_midpoint = (l / 4 + s) % 2 == 1;
                    let how = Run { scheme, passes, steps: 2, scale: alone.scale, idle_midpoint, ..layout };
                    let what = format!("{convention:?} L{nk} {} {how:?}", R::NAME);
                    assert_same(&run(&start, &winds, how), &expected, &what);
                }
            }
        }
    }
}

#[test]
fn single_precision_has_the_same_bits_on_every_layout() {
    same_bits_everywhere::<f32>(0);
}

#[test]
fn double_precision_has_the_same_bits_on_every_layout() {
    same_bits_everywhere::<f64>(1);
}

#[test]
fn tiles_as_narrow_as_the_halo_work_with_any_number_of_levels() {
    for scheme in Scheme::every() {
        let halo = scheme.halo();
        for nk in 1..=6 {
            for convention in CONVENTIONS {
                // Whole panels of halo × halo cells, then strips and squares of that width cut from larger ones.
                for (factor, px, py) in [(1, 1, 1), (2, 2, 1), (2, 1, 2), (2, 2, 2)] {
                    let (start, winds) = case(convention, factor * halo, nk, Flow::full(0.15));
                    let expected = run(&start, &winds, Run { scheme, ..Run::default() });
                    for ranks in [1, 6 * px * py] {
                        let how = Run { scheme, ranks, grid: grid(px, py), ..Run::default() };
                        assert_same(&run(&start, &winds, how), &expected, &format!("{convention:?} L{nk} {how:?}"));
                    }
                }
            }
        }
    }
}

#[test]
fn more_levels_than_blocks_are_shared_out_completely() {
    let (start, winds) = case(CONVENTIONS[1], 6, 70, Flow::full(0.15));
    let expected = run(&start, &winds, Run::default());
    for (ranks, threads) in [(6, 2), (2, 1), (24, 1)] {
        let how = Run { ranks, threads, ..Run::default() };
        assert_same(&run(&start, &winds, how), &expected, &format!("{how:?}"));
    }
}

#[test]
fn tiles_of_unequal_width_report_the_same_courant_number() {
    for nc in [7, 11] {
        let (start, winds) = case(CONVENTIONS[0], nc, 5, Flow::steady(1.3));
        let expected = run(&start, &winds, Run::default());
        assert!(expected.stats.clamped > 0 && expected.stats.max_courant > 1.0);
        for ranks in [1, 6, 24] {
            let how = Run { ranks, grid: grid(2, 2), ..Run::default() };
            let found = run(&start, &winds, how);
            assert_same(&found, &expected, &format!("{how:?}"));
            assert!(found.stats.clamped > 0);
        }
    }
}

#[test]
fn tiles_report_the_same_number_of_clamps() {
    let (start, winds) = case(CONVENTIONS[0], 7, 5, Flow::steady(1.3));
    let expected = run(&start, &winds, Run::default());
    for ranks in [1, 6, 24] {
        let found = run(&start, &winds, Run { ranks, grid: grid(2, 2), ..Run::default() });
        assert_eq!(found.stats.clamped, expected.stats.clamped);
    }
}
