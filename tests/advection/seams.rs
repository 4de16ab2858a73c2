//! What crosses the seams.

use decomposition::{AlongEdge, Edge, Panel, PanelConvention, Seam, SeamSide, SeamSign};
use kernels::scheme::SeamGhost;
use kernels::{Scalar, Scheme};

use crate::case::{CONVENTIONS, Flow, case};
use crate::run::{Run, run};
use crate::sphere::{Dims, Global, GlobalWinds};

/// Cells of equal mass and no tracers.
fn even(convention: PanelConvention, dims: Dims, mass: f64) -> Global<f64> {
    Global { dims, convention, air: vec![mass; dims.cells()], tracers: Vec::new() }
}

fn edge_cell(dims: Dims, (panel, edge): (Panel, Edge), k: usize, s: usize) -> usize {
    let (j, i) = dims.inside(edge, s, 0);
    dims.cell(panel, k, j, i)
}

/// Edge cells that meet at along-edge index `s` of the owner: the one on `from`'s side, then the one across.
fn pair(dims: Dims, seam: &Seam, from: SeamSide, k: usize, s: usize) -> [usize; 2] {
    let owner = edge_cell(dims, seam.owner, k, s);
    let other = edge_cell(dims, seam.other, k, seam.along.map(s, dims.nc));
    match from {
        SeamSide::Owner => [owner, other],
        SeamSide::Other => [other, owner],
    }
}

/// One tracer for each seam: all of it in one edge cell, with an air amount of a quarter cell through that cell's seam
/// face and nothing anywhere else. Half of the cell's air crosses in the two sweeps of a substep.
fn spots_cross<R: Scalar>(convention: PanelConvention, s: usize, from: SeamSide, scheme: Scheme, how: Run) {
    let dims = Dims { nc: 6, nk: 2 };
    let mass = 1024.0;
    let mut start = even(convention, dims, mass);
    let mut winds = GlobalWinds::<f64>::zeros(dims, convention);
    let seams = convention.seams();
    for seam in &seams {
        let leaving = if seam.owner.1.is_outflow() { 1.0 } else { -1.0 };
        let toward = if from == SeamSide::Owner { 1.0 } else { -1.0 };
        *winds.at_edge(seam.owner.0, seam.owner.1, 1, s) = 0.25 * mass * leaving * toward;
        let mut tracer = vec![0.0; dims.cells()];
        tracer[pair(dims, seam, from, 1, s)[0]] = mass;
        start.tracers.push(tracer);
    }
    winds.mirror_seams();
    let found = run(&start.cast::<R>(), &winds.cast::<R>(), Run { scheme, ..how });
    // Interpolated neighbours see a spot from the cells beside it, and other spots' winds blow there.
    let spread = matches!(scheme, Scheme::LinRood(operator) if operator.ghost == SeamGhost::Remap);
    for (seam, tracer) in seams.iter().zip(&found.end.tracers) {
        let what = format!("{convention:?} seam {} from {from:?} at {s}, {}", seam.number + 1, scheme.name());
        let [source, target] = pair(dims, seam, from, 1, s);
        for (cell, value) in tracer.iter().enumerate() {
            let value = value.to_f64() / mass;
            if cell == target {
                assert!(value > 0.2 && value < 0.8, "{what}: {value}");
            } else if cell != source && !spread {
                assert_eq!(value, 0.0, "{what}: cell {cell}");
            }
        }
        let whole: f64 = tracer.iter().map(|rm| rm.to_f64()).sum();
        let roundings = if spread { 16.0 } else { 1.0 };
        assert!((whole / mass - 1.0).abs() <= roundings * R::EPSILON.to_f64(), "{what}: {whole}");
        if scheme == Scheme::Upwind {
            assert_eq!(tracer[target].to_f64(), 0.5 * mass, "{what}");
        }
    }
    for seam in &seams {
        let [source, target] = pair(dims, seam, from, 1, s).map(|cell| found.end.air[cell].to_f64());
        assert_eq!([source, target], [0.5 * mass, 1.5 * mass]);
    }
    let start = found.totals[0].iter().zip(&found.totals[1]);
    assert!(start.into_iter().all(|(a, b)| (b / a - 1.0).abs() <= R::EPSILON.to_f64()));
}

#[test]
fn spots_arrive_in_the_cell_across_every_seam_in_both_directions() {
    for convention in CONVENTIONS {
        for scheme in Scheme::every() {
            for from in [SeamSide::Owner, SeamSide::Other] {
                // Away from the middle, so that a wrong sense of the along-edge index shows.
                for s in [1, 4] {
                    spots_cross::<f64>(convention, s, from, scheme, Run::default());
                    spots_cross::<f32>(convention, s, from, scheme, Run { ranks: 6, ..Run::default() });
                }
            }
        }
    }
}

#[test]
fn seams_of_every_kind_occur() {
    let count =
        |convention: PanelConvention, kind: fn(&Seam) -> bool| convention.seams().into_iter().filter(kind).count();
    let reversed = |seam: &Seam| seam.along == AlongEdge::Reversed;
    let turned = |seam: &Seam| seam.axis != seam.other.1.axis();
    let opposite = |seam: &Seam| seam.sign == SeamSign::Opposite;
    let counts = |convention| [count(convention, reversed), count(convention, turned), count(convention, opposite)];
    assert_eq!(counts(PanelConvention::Gnomonic), [4, 4, 4]);
    assert_eq!(counts(PanelConvention::GeosNative), [6, 6, 0]);
}

/// Adds a constant amount along the closed belt of four panels that leaves `panel` through `edge`.
fn add_belt(winds: &mut GlobalWinds<f64>, mut panel: Panel, mut edge: Edge, k: usize, amount: f64) -> Vec<usize> {
    let dims = winds.dims;
    let mut crossed = Vec::new();
    for _ in 0..4 {
        let signed = if edge.is_outflow() { amount } else { -amount };
        // All faces normal to the belt on this panel; the mirror rule makes the seam copies agree.
        for a in 0..dims.nc {
            for b in 1..=dims.nc {
                let b = if edge.is_outflow() { b } else { b - 1 };
                match edge.axis() {
                    decomposition::Axis::X => winds.am[dims.face_x(panel, k, a, b)] += signed,
                    decomposition::Axis::Y => winds.bm[dims.face_y(panel, k, b, a)] += signed,
                }
            }
        }
        let (seam, _) = winds.convention.seam_at(panel, edge);
        crossed.push(seam.number);
        let contact = winds.convention.contact(panel, edge);
        let entry = if contact.edge.is_outflow() { -amount } else { amount };
        for s in 0..dims.nc {
            *winds.at_edge(contact.panel, contact.edge, k, s) += entry;
        }
        (panel, edge) = (contact.panel, contact.edge.opposite());
    }
    crossed
}

#[test]
fn belts_around_the_cube_bring_the_air_back_exactly() {
    for convention in CONVENTIONS {
        let dims = Dims { nc: 6, nk: 3 };
        let mass = 4096.0;
        let mut start = even(convention, dims, mass);
        let mut winds = GlobalWinds::<f64>::zeros(dims, convention);
        // One belt in each layer; together they cross every seam, and a panel takes part in two of them.
        let mut crossed = Vec::new();
        for (k, (panel, edge)) in [(0, Edge::East), (0, Edge::North), (1, Edge::North)].into_iter().enumerate() {
            crossed.extend(add_belt(&mut winds, Panel::ALL[panel], edge, k, 0.125 * mass));
        }
        crossed.sort_unstable();
        assert_eq!(crossed, (0..12).collect::<Vec<_>>());
        let stored = winds.clone();
        winds.mirror_seams();
        assert_eq!((&stored.am, &stored.bm), (&winds.am, &winds.bm), "a belt keeps its sense across seams");
        start.tracers =
            vec![vec![2.0 * mass; dims.cells()], case(convention, 6, 3, Flow::steady(0.1)).0.tracers[3].clone()];
        for scheme in Scheme::every() {
            for ranks in [1, 6] {
                let found = run(&start, &winds, Run { scheme, ranks, steps: 3, ..Run::default() });
                assert_eq!(found.end.air, start.air, "{convention:?} {scheme:?}");
                assert!(found.end.departure(0, 2.0) < 4e-15, "{}", found.end.departure(0, 2.0));
                assert!(found.worst_drift() < 1e-15);
                assert_ne!(found.end.tracers[1], start.tracers[1]);
            }
        }
    }
}
