//! Outflow budget of a plane.

use kernels::TileShape;
use kernels::cpu::{LevelFluxes, outflow_budget};

#[test]
fn outflow_budget_finds_the_worst_cell() {
    let shape = TileShape::new(21, 6, 1);
    let zeros = vec![0.0_f32; shape.plane_len()];
    let mut m = zeros.clone();
    for j in 0..6 {
        m[shape.row_start(j)..][..21].fill(2.0);
    }
    let [mut west, mut south, mut top, mut bottom] = [(); 4].map(|()| zeros.clone());
    // Cell (20, 3) loses 0.1 west, 0.2 east, 0.05 south, 0.05 north, 0.1 up and 0.1 down; its neighbours gain.
    west[shape.index(20, 3)] = -0.1;
    west[shape.index(20, 3) + 1] = 0.2;
    south[shape.index(20, 3)] = -0.05;
    south[shape.index(20, 4)] = 0.05;
    top[shape.index(20, 3)] = -0.1;
    bottom[shape.index(20, 3)] = 0.1;
    let budget = |m: &[f32]| {
        let fluxes = LevelFluxes { west: &west, south: &south, top: &top, bottom: &bottom };
        outflow_budget(&shape, m, fluxes, 0.5)
    };
    let found = budget(&m);
    assert_eq!(found.cell, (20, 3));
    assert!((found.ratio - 2.0 * 0.5 * 0.6 / 2.0).abs() < 1e-6, "{found:?}");
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let mut m = m.clone();
        m[shape.index(4, 1)] = bad;
        assert_eq!(budget(&m).cell, (4, 1));
        assert_eq!(budget(&m).ratio, f64::INFINITY);
    }
    let mut m = m.clone();
    m[shape.index(-1, 1)] = f32::NAN;
    assert_eq!(budget(&m).cell, (20, 3), "halo cells are no cells of the plane");
}

#[test]
fn undefined_fluxes_break_the_budget() {
    let shape = TileShape::new(5, 4, 1);
    let (ones, zeros) = (vec![1.0_f64; shape.plane_len()], vec![0.0; shape.plane_len()]);
    for (which, i, j) in [(0, 2, 2), (0, 5, 2), (1, 2, 2), (1, 2, 4), (2, 4, 3), (3, 0, 0)] {
        let mut bad = zeros.clone();
        bad[shape.index(i, j)] = f64::NAN;
        let pick = |n| if n == which { &bad[..] } else { &zeros[..] };
        let fluxes = LevelFluxes { west: pick(0), south: pick(1), top: pick(2), bottom: pick(3) };
        assert_eq!(outflow_budget(&shape, &ones, fluxes, 1.0).ratio, f64::INFINITY, "flux {which}");
    }
}
