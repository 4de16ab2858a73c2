//! The Courant budget of a window.

use atmostr::comm::{Communicator, threads};
use atmostr::operators::advection::{CellBudget, MAX_PASSES, Winds, largest_budget};
use decomposition::{Layout, Panel, PanelConvention, TileGrid};
use kernels::scheme::{LinRood, LinRoodRule};
use kernels::{Scalar, Scheme};

use crate::case::{CONVENTIONS, Flow, case};
use crate::run::{Pieces, Run, run, scatter};
use crate::sphere::{Dims, Global, GlobalWinds};

/// Budget on a layout; equal on all ranks.
fn budget<R: Scalar>(
    start: &Global<R>,
    winds: &GlobalWinds<R>,
    scale: f64,
    ranks: usize,
    grid: Option<TileGrid>,
) -> CellBudget {
    let layout = Layout::new(start.dims.nc, start.convention, ranks, 3, grid).expect("a usable layout");
    let found = threads::run(ranks, |comm| {
        let Pieces { state, x, y, z } = scatter(&layout, comm.rank(), start, winds);
        largest_budget(state.slabs(), Winds { x: &x, y: &y, z: &z, scale }, &comm)
    });
    assert!(found.iter().all(|b| *b == found[0]), "{found:?}");
    found[0]
}

/// Even masses, one amount out of one cell.
fn one_outflow(convention: PanelConvention, part: f64) -> (Global<f64>, GlobalWinds<f64>) {
    let dims = Dims { nc: 6, nk: 3 };
    let start = Global { dims, convention, air: vec![512.0; dims.cells()], tracers: Vec::new() };
    let mut winds = GlobalWinds::zeros(dims, convention);
    winds.am[dims.face_x(Panel::ALL[3], 1, 4, 3)] = 512.0 * part;
    (start, winds)
}

#[test]
fn half_a_cell_per_sweep_is_a_budget_of_one() {
    let (start, winds) = one_outflow(CONVENTIONS[0], 0.5);
    let found = budget(&start, &winds, 1.0, 1, None);
    assert_eq!(found, CellBudget { ratio: 1.0, cell: [2, 4, 3, 5] });
    assert_eq!((found.passes(1.0), found.passes(0.95)), (Some(1), Some(2)));
    let found = budget(&start, &winds, 1.0 + f64::EPSILON, 1, None);
    assert_eq!(found.passes(1.0), Some(2));
    assert_eq!(found.to_string(), "1.0000 in layer 2, panel 4, cell (3, 5)");
}

#[test]
fn at_most_4096_passes_are_made() {
    let (start, winds) = one_outflow(CONVENTIONS[1], 2048.0);
    let found = budget(&start, &winds, 1.0, 6, None);
    assert_eq!((found.ratio, found.passes(1.0), found.passes(0.999)), (4096.0, Some(MAX_PASSES), None));
    let found = budget(&start.cast::<f32>(), &winds.cast::<f32>(), 1.0, 1, None);
    assert_eq!(found.passes(1.0), Some(MAX_PASSES));
}

#[test]
fn every_direction_counts_once_and_only_outflow() {
    let (start, mut winds) = one_outflow(CONVENTIONS[0], 0.0625);
    let dims = start.dims;
    let (p, k, j, i) = (Panel::ALL[3], 1, 4, 2);
    winds.am[dims.face_x(p, k, j, i)] = -32.0;
    winds.bm[dims.face_y(p, k, j, i)] = -32.0;
    winds.bm[dims.face_y(p, k, j + 1, i)] = 32.0;
    winds.cm[dims.face_z(p, k, j, i)] = -32.0;
    winds.cm[dims.face_z(p, k + 1, j, i)] = 32.0;
    assert_eq!(budget(&start, &winds, 1.0, 1, None), CellBudget { ratio: 0.75, cell: [2, 4, 3, 5] });
    winds.am[dims.face_x(p, k, j, i)] = 32.0;
    assert_eq!(budget(&start, &winds, 1.0, 1, None).ratio, 0.625);
}

#[test]
fn the_budget_and_its_cell_are_the_same_on_every_layout() {
    for convention in CONVENTIONS {
        let (start, winds) = case(convention, 9, 5, Flow::full(0.2));
        let expected = budget(&start, &winds, 1.0, 1, None);
        assert!(expected.ratio > 0.2 && expected.ratio < 6.0 * 2.0 * 0.2);
        for ranks in [2, 3, 5, 6, 7, 24] {
            assert_eq!(budget(&start, &winds, 1.0, ranks, None), expected);
        }
        assert_eq!(budget(&start, &winds, 1.0, 9, Some(TileGrid { px: 3, py: 1 })), expected);
        // Equal everywhere: the first cell in the order layer, panel, j, i.
        let even = Global { air: vec![1.0; start.dims.cells()], ..start.clone() };
        let calm = GlobalWinds::zeros(start.dims, convention);
        for ranks in [1, 4, 24] {
            let found = budget(&even, &calm, 1.0, ranks, None);
            assert_eq!(found, CellBudget { ratio: 0.0, cell: [1, 1, 1, 1] });
        }
        let mut tied = GlobalWinds::zeros(start.dims, convention);
        for (panel, k, j, i) in [(4, 1, 2, 7), (2, 1, 7, 1), (2, 1, 2, 8), (5, 0, 8, 8), (1, 3, 0, 0)] {
            tied.cm[start.dims.face_z(Panel::ALL[panel], k + 1, j, i)] = if k == 0 { 0.1 } else { 0.2 };
        }
        for ranks in [1, 4, 6, 24] {
            assert_eq!(budget(&even, &tied, 1.0, ranks, None).cell, [2, 3, 9, 3]);
        }
    }
}

#[test]
fn unusable_cells_have_an_infinite_budget() {
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let (mut start, winds) = one_outflow(CONVENTIONS[0], 0.1);
        start.air[start.dims.cell(Panel::ALL[5], 2, 1, 0)] = value;
        let found = budget(&start, &winds, 1.0, 24, None);
        assert_eq!((found.ratio, found.cell, found.passes(1.0)), (f64::INFINITY, [3, 6, 1, 2], None), "{value}");
    }
    let (start, mut winds) = one_outflow(CONVENTIONS[0], 0.1);
    winds.bm[start.dims.face_y(Panel::ALL[0], 0, 3, 2)] = f64::NAN;
    let found = budget(&start, &winds, 1.0, 6, None);
    assert_eq!((found.ratio, found.cell), (f64::INFINITY, [1, 1, 3, 3]));
}

/// Reports for all seam faces of one layer that are not numbers, one at a time.
fn unusable_seams(convention: PanelConvention) {
    for seam in convention.seams() {
        for s in [0, 2, 5] {
            let (start, mut winds) = one_outflow(convention, 0.1);
            *winds.at_edge(seam.owner.0, seam.owner.1, 2, s) = f64::NAN;
            winds.mirror_seams();
            let found = budget(&start, &winds, 1.0, 6, None);
            let panels = [seam.owner.0.number(), seam.other.0.number()];
            assert!(found.ratio.is_infinite() && panels.contains(&found.cell[1]), "{convention:?} {seam:?} {found:?}");
        }
    }
}

#[test]
fn unusable_seam_fluxes_have_an_infinite_budget_on_geos_panels() {
    unusable_seams(PanelConvention::GeosNative);
}

#[test]
fn unusable_seam_fluxes_have_an_infinite_budget_on_gnomonic_panels() {
    unusable_seams(PanelConvention::Gnomonic);
}

#[test]
fn passes_that_keep_the_budget_clamp_nothing() {
    for convention in CONVENTIONS {
        // Up to 1.9: twice the half-sweep amounts then leave something in each cell, so that no leg alone empties one.
        for (ratio, passes) in [(0.9, 1), (1.0, 2), (1.85, 2)] {
            let (start, mut winds) = case(convention, 8, 5, Flow::full(0.2));
            let factor = ratio / budget(&start, &winds, 1.0, 1, None).ratio;
            for amounts in [&mut winds.am, &mut winds.bm, &mut winds.cm] {
                amounts.iter_mut().for_each(|f| *f *= factor);
            }
            assert_eq!(budget(&start, &winds, 1.0, 6, None).passes(0.95), Some(passes));
            let stats = run(&start, &winds, Run { passes, ..Run::default() }).stats;
            println!("budget {ratio} in {passes} passes: {stats:?}");
            assert!(stats.clamped == 0 && stats.max_courant < 1.0, "{stats:?}");
        }
    }
}

/// Levels without vertical winds go their own way: each has the result of as many passes as it needs.
#[test]
fn levels_are_taken_through_as_many_passes_as_they_need() {
    let (start, mut winds) = case(CONVENTIONS[0], 8, 4, Flow::steady(0.3));
    let dims = start.dims;
    winds.cm.fill(0.0);
    // One level needs all passes, the next a quarter of them, and so on.
    let per_level = [1.0, 0.25, 0.5, 0.0];
    for (panel, k, j, i) in dims.each_cell() {
        let scale = |values: &mut [f64], face: usize| values[face] *= per_level[k];
        scale(&mut winds.am, dims.face_x(panel, k, j, i));
        scale(&mut winds.bm, dims.face_y(panel, k, j, i));
        if i + 1 == dims.nc {
            scale(&mut winds.am, dims.face_x(panel, k, j, dims.nc));
        }
        if j + 1 == dims.nc {
            scale(&mut winds.bm, dims.face_y(panel, k, dims.nc, i));
        }
    }
    for rule in [LinRoodRule::Quasi, LinRoodRule::HuynhPd] {
        let scheme = Scheme::LinRood(LinRood::new(rule));
        for (ranks, threads) in [(1, 1), (6, 2), (24, 1)] {
            let how = Run { scheme, passes: 8, ..Run::default() };
            let found = run(&start, &winds, Run { levels_differ: true, ranks, threads, ..how });
            let needed = |needs: usize| {
                let strongest = largest_in(&start, &winds, 0);
                let of_level = largest_in(&start, &winds, needs);
                ((8.0 * (of_level / strongest)).ceil() as usize).max(1)
            };
            assert!(needed(1) < needed(2) && needed(2) < 8);
            for k in 0..dims.nk {
                let expected = run(&start, &winds, Run { passes: needed(k), ..how }).end;
                for (panel, level, j, i) in dims.each_cell().filter(|cell| cell.1 == k) {
                    let cell = dims.cell(panel, level, j, i);
                    for (found, expected) in found.end.planes().zip(expected.planes()) {
                        assert_eq!(found[cell].to_bits(), expected[cell].to_bits(), "{rule:?} {ranks} {k}");
                    }
                }
            }
        }
    }
}

/// Largest `2 (out_x + out_y)/m` of a level.
fn largest_in(start: &Global<f64>, winds: &GlobalWinds<f64>, level: usize) -> f64 {
    let dims = start.dims;
    let of_cell = |(p, k, j, i): (Panel, usize, usize, usize)| {
        let [west, east] = [0, 1].map(|d| winds.am[dims.face_x(p, k, j, i + d)]);
        let [south, north] = [0, 1].map(|d| winds.bm[dims.face_y(p, k, j + d, i)]);
        let outflow = (-west).max(0.0) + east.max(0.0) + (-south).max(0.0) + north.max(0.0);
        2.0 * outflow / start.air[dims.cell(p, k, j, i)]
    };
    dims.each_cell().filter(|cell| cell.1 == level).map(of_cell).fold(0.0, f64::max)
}
