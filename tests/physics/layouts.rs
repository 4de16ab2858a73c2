//! The same bits on any number of ranks, tiles and threads with all vertical physics on.

use atmostr::device::{Accelerator, count};
use atmostr::met::FloatType;

use crate::case::{GEOS, How, LOCAL, Operators, PLAIN, TM5, assert_same, make_winds};

const fn how(ranks: usize, threads: usize, tiles: Option<[usize; 2]>) -> How {
    How { ranks, threads, tiles, backend: "cpu" }
}

fn compare(operators: &Operators, float: FloatType, nc: usize, layouts: &[How]) {
    let dir = tempfile::tempdir().unwrap();
    make_winds(dir.path(), "winds.bin", nc, 20, 3, 2.0, float);
    operators.run(dir.path(), float, How::default(), "one", 2.0);
    for layout in layouts {
        operators.run(dir.path(), float, *layout, "other", 2.0);
        let what = format!("{} {float:?} {layout:?}", operators.name);
        assert_same(dir.path(), "one", "other", &what);
    }
}

#[test]
fn both_protocol_sets_are_the_same_on_every_number_of_ranks() {
    let layouts = [2, 5, 6, 8, 24].map(|ranks| how(ranks, 1, None));
    for float in [FloatType::Float32, FloatType::Float64] {
        for operators in [TM5, GEOS] {
            compare(&operators, float, 24, &layouts);
        }
    }
}

/// The state on a device, here OpenCL on the processor: the bits of the processor itself.
#[test]
fn every_kind_is_the_same_on_a_device() {
    if let Err(reason) = count(Accelerator::OpenCl) {
        println!("skipped: {reason}");
        return;
    }
    let on_device = |ranks, tiles| How { ranks, threads: 1, tiles, backend: "opencl" };
    let layouts = [on_device(1, None), on_device(6, None)];
    for float in [FloatType::Float32, FloatType::Float64] {
        for operators in [TM5, GEOS] {
            compare(&operators, float, 12, &layouts);
        }
        for operators in [PLAIN, LOCAL] {
            compare(&operators, float, 9, &[on_device(1, Some([2, 1]))]);
        }
    }
}

#[test]
fn every_kind_is_the_same_on_odd_tiles_and_threads() {
    let layouts = [how(1, 2, None), how(1, 2, Some([5, 3])), how(7, 1, Some([2, 3]))];
    for float in [FloatType::Float32, FloatType::Float64] {
        for operators in [PLAIN, LOCAL, TM5] {
            compare(&operators, float, 18, &layouts);
        }
    }
}
