//! The split step as plain loops over whole panels, every face gathered anew through the contact table.

use decomposition::{Axis, Edge, Panel, PanelConvention};
use kernels::numerics::face_coefficients;
use kernels::scheme::{
    CellScheme, FluxKind, PpmCw84, PpmHuynhPd, PpmLimiter, PpmMonotone, PpmNone, SlopesLimiter, SlopesMonotone,
    SlopesNone, SlopesPositivity, SweptMpPd, SweptUniversal, Upwind,
};
use kernels::{Scalar, Scheme};

use crate::sphere::{Dims, Global, GlobalWinds};

/// One substep of the reference; the operator under test is not involved.
pub fn substep<R: Scalar>(
    state: &mut Global<R>,
    winds: &GlobalWinds<R>,
    scheme: Scheme,
    scale: f64,
    passes: usize,
) -> Counts {
    let of = match scheme {
        Scheme::Upwind => palindrome::<Upwind, R>,
        Scheme::Slopes(SlopesLimiter::None) => palindrome::<SlopesNone, R>,
        Scheme::Slopes(SlopesLimiter::Monotone) => palindrome::<SlopesMonotone, R>,
        Scheme::Slopes(SlopesLimiter::Positivity) => palindrome::<SlopesPositivity, R>,
        Scheme::Ppm(PpmLimiter::None) => palindrome::<PpmNone, R>,
        Scheme::Ppm(PpmLimiter::Monotone) => palindrome::<PpmMonotone, R>,
        Scheme::Ppm(PpmLimiter::Cw84) => palindrome::<PpmCw84, R>,
        Scheme::Ppm(PpmLimiter::HuynhPd) => palindrome::<PpmHuynhPd, R>,
        Scheme::Ppm(PpmLimiter::Universal) => palindrome::<SweptUniversal, R>,
        Scheme::Ppm(PpmLimiter::MpPd) => palindrome::<SweptMpPd, R>,
    };
    of(state, winds, R::from_f64(scale / passes as f64), passes)
}

/// What the sweeps saw of the air flux.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub clamped: u64,
    pub max_courant: f64,
}

fn palindrome<S: CellScheme, R: Scalar>(
    state: &mut Global<R>,
    winds: &GlobalWinds<R>,
    scale: R,
    passes: usize,
) -> Counts {
    let mut counts = Counts::default();
    let legs =
        [Leg::Along(Axis::X), Leg::Along(Axis::Y), Leg::Down, Leg::Down, Leg::Along(Axis::Y), Leg::Along(Axis::X)];
    for leg in legs {
        for _ in 0..passes {
            match leg {
                Leg::Along(axis) => horizontal::<S, R>(state, winds, axis, scale, &mut counts),
                Leg::Down => vertical::<S, R>(state, winds, scale, &mut counts),
            }
        }
    }
    counts
}

#[derive(Clone, Copy)]
enum Leg {
    Along(Axis),
    Down,
}

/// The cell at (i, j) of a panel's index plane, on the neighbouring panel if it lies beyond one edge.
fn resolve(convention: PanelConvention, dims: Dims, panel: Panel, i: isize, j: isize) -> (Panel, usize, usize) {
    let n = dims.nc as isize;
    let (edge, depth, s) = match (i, j) {
        _ if i < 0 => (Edge::West, -1 - i, j),
        _ if i >= n => (Edge::East, i - n, j),
        _ if j < 0 => (Edge::South, -1 - j, i),
        _ if j >= n => (Edge::North, j - n, i),
        _ => return (panel, j as usize, i as usize),
    };
    let there = convention.contact(panel, edge);
    let (j, i) = dims.inside(there.edge, there.along.map(s as usize, dims.nc), depth as usize);
    (there.panel, j, i)
}

struct Face<R> {
    air: R,
    tracers: Vec<R>,
}

/// Amounts through a face whose six cells are at `cells`; flat cells have no profile.
fn face<S: CellScheme, R: Scalar>(
    state: &Global<R>,
    cells: [Option<usize>; 6],
    flat: [bool; 2],
    air: R,
    counts: &mut Counts,
) -> Face<R> {
    let one = R::lit(1.0);
    let mass = |x: usize| cells[x].map_or(one, |cell| state.air[cell]);
    let (carried_part, carrier, fraction) = face_coefficients(air, mass(2), mass(3), one / mass(2), one / mass(3));
    counts.clamped += u64::from(fraction > one);
    counts.max_courant = counts.max_courant.max(fraction.to_f64());
    let tracers = state
        .tracers
        .iter()
        .map(|rm| {
            let q = cells.map(|cell| cell.map_or(R::lit(0.0), |cell| rm[cell] * (one / state.air[cell])));
            if S::FLUX == FluxKind::Swept && !flat[0] && !flat[1] {
                return S::face(carrier, carried_part, q[0], [q[1], q[2], q[3], q[4], q[5]]);
            }
            let profile = |window: [R; 5], flat: bool| {
                if flat { (R::lit(0.0), R::lit(0.0)) } else { S::profile(window) }
            };
            let left = profile([q[0], q[1], q[2], q[3], q[4]], flat[0]);
            let right = profile([q[1], q[2], q[3], q[4], q[5]], flat[1]);
            S::flux(carrier, carried_part, q[2], left, q[3], right)
        })
        .collect();
    Face { air, tracers }
}

/// Face between (i − 1, j) and (i, j) along X, (i, j − 1) and (i, j) along Y.
fn face_of_panel<S: CellScheme, R: Scalar>(
    state: &Global<R>,
    panel: Panel,
    axis: Axis,
    k: usize,
    (i, j): (usize, usize),
    air: R,
    counts: &mut Counts,
) -> Face<R> {
    let cells = std::array::from_fn(|x| {
        let step = x as isize - 3;
        let (di, dj) = if axis == Axis::X { (step, 0) } else { (0, step) };
        let (panel, j, i) = resolve(state.convention, state.dims, panel, i as isize + di, j as isize + dj);
        Some(state.dims.cell(panel, k, j, i))
    });
    face::<S, R>(state, cells, [false; 2], air, counts)
}

fn horizontal<S: CellScheme, R: Scalar>(
    state: &mut Global<R>,
    winds: &GlobalWinds<R>,
    axis: Axis,
    scale: R,
    counts: &mut Counts,
) {
    let dims = state.dims;
    let nc = dims.nc;
    let stored = |panel, k, i, j| match axis {
        Axis::X => winds.am[dims.face_x(panel, k, j, i)],
        Axis::Y => winds.bm[dims.face_y(panel, k, j, i)],
    };
    let mut transfers = Vec::new();
    for seam in state.convention.seams().into_iter().filter(|seam| seam.axis == axis) {
        let (panel, edge) = seam.owner;
        let sign = if edge.is_outflow() { R::lit(1.0) } else { R::lit(-1.0) };
        for k in 0..dims.nk {
            for s in 0..nc {
                let (i, j) = match edge {
                    Edge::East => (nc, s),
                    Edge::West => (0, s),
                    Edge::North => (s, nc),
                    Edge::South => (s, 0),
                };
                let amounts =
                    face_of_panel::<S, R>(state, panel, axis, k, (i, j), scale * stored(panel, k, i, j), counts);
                let (from_j, from_i) = dims.inside(edge, s, 0);
                let (to_j, to_i) = dims.inside(seam.other.1, seam.along.map(s, nc), 0);
                let from = dims.cell(panel, k, from_j, from_i);
                let to = dims.cell(seam.other.0, k, to_j, to_i);
                transfers.push((from, to, sign, amounts));
            }
        }
    }
    let mut end = state.clone();
    for (panel, k, j, i) in dims.each_cell() {
        let at = if axis == Axis::X { i } else { j };
        let cell = dims.cell(panel, k, j, i);
        let mut ignored = Counts::default();
        let mut face_at = |face: usize| {
            let place = if axis == Axis::X { (face, j) } else { (i, face) };
            let at_edge = face == 0 || face == nc;
            let air = if at_edge { R::lit(0.0) } else { scale * stored(panel, k, place.0, place.1) };
            // Both cells of a face form it; one of them counts it.
            let counts = if face == at { &mut *counts } else { &mut ignored };
            face_of_panel::<S, R>(state, panel, axis, k, place, air, counts)
        };
        let (low, high) = (face_at(at), face_at(at + 1));
        end.air[cell] = state.air[cell] + (low.air - high.air);
        for (t, rm) in end.tracers.iter_mut().enumerate() {
            rm[cell] = state.tracers[t][cell] + (low.tracers[t] - high.tracers[t]);
        }
    }
    for (from, to, sign, amounts) in transfers {
        end.air[from] -= sign * amounts.air;
        end.air[to] += sign * amounts.air;
        for (t, rm) in end.tracers.iter_mut().enumerate() {
            rm[from] -= sign * amounts.tracers[t];
            rm[to] += sign * amounts.tracers[t];
        }
    }
    *state = end;
}

fn vertical<S: CellScheme, R: Scalar>(state: &mut Global<R>, winds: &GlobalWinds<R>, scale: R, counts: &mut Counts) {
    let dims = state.dims;
    let reach = S::HALO - 1;
    let flat = |k: isize| k < reach as isize || k + reach as isize >= dims.nk as isize;
    let mut end = state.clone();
    for (panel, k, j, i) in dims.each_cell() {
        let mut ignored = Counts::default();
        let mut through = |top: usize| {
            let layer = |offset: isize| {
                usize::try_from(top as isize + offset).ok().filter(|&k| k < dims.nk).map(|k| dims.cell(panel, k, j, i))
            };
            let cells = std::array::from_fn(|x| layer(x as isize - 3));
            let closed = top == 0 || top == dims.nk;
            let air = if closed { R::lit(0.0) } else { scale * winds.cm[dims.face_z(panel, top, j, i)] };
            let counts = if top == k { &mut *counts } else { &mut ignored };
            face::<S, R>(state, cells, [flat(top as isize - 1), flat(top as isize)], air, counts)
        };
        let (above, below) = (through(k), through(k + 1));
        let cell = dims.cell(panel, k, j, i);
        end.air[cell] = state.air[cell] + (above.air - below.air);
        for (t, rm) in end.tracers.iter_mut().enumerate() {
            rm[cell] = state.tracers[t][cell] + (above.tracers[t] - below.tracers[t]);
        }
    }
    *state = end;
}
