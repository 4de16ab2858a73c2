//! The Lin–Rood operator as plain loops over whole panels: every face gathers its cells anew through the contact table.

use decomposition::{Axis, Edge, Panel};
use kernels::Scalar;
use kernels::numerics::{
    affordable_amount, affordable_part, edge_one_sided, edge_two_sided, face_coefficients, leaving_amount, mean_amount,
    predicted_mass,
};
use kernels::scheme::{
    CellScheme, EdgeRule, Fv3Hord8, LinRood, LinRoodQuasi, LinRoodRule, PpmCw84, PpmHuynhPd, PpmNone,
};

use crate::naive::{Counts, vertical};
use crate::sphere::{Global, GlobalWinds};

/// One substep of the reference.
pub fn substep<R: Scalar>(
    state: &mut Global<R>,
    winds: &GlobalWinds<R>,
    operator: LinRood,
    scale: f64,
    passes: usize,
) -> Counts {
    let of = match operator.rule {
        LinRoodRule::None => palindrome::<PpmNone, R>,
        LinRoodRule::Quasi => palindrome::<LinRoodQuasi, R>,
        LinRoodRule::Mono => palindrome::<Fv3Hord8, R>,
        LinRoodRule::Cw84 => palindrome::<PpmCw84, R>,
        LinRoodRule::HuynhPd => palindrome::<PpmHuynhPd, R>,
    };
    of(state, winds, operator, R::from_f64(scale / passes as f64), passes)
}

fn palindrome<S: CellScheme, R: Scalar>(
    state: &mut Global<R>,
    winds: &GlobalWinds<R>,
    operator: LinRood,
    scale: R,
    passes: usize,
) -> Counts {
    let mut counts = Counts::default();
    (0..passes).for_each(|_| pass::<S, R>(state, winds, operator, scale, &mut counts));
    (0..2 * passes).for_each(|_| vertical::<S, R>(state, winds, scale, &mut counts));
    (0..passes).for_each(|_| pass::<S, R>(state, winds, operator, scale, &mut counts));
    counts
}

/// Values of all cells.
type Cells<R> = Vec<R>;

/// The sphere before a pass.
struct Sphere<'a, R> {
    state: &'a Global<R>,
    winds: &'a GlobalWinds<R>,
    edge: EdgeRule,
    scale: R,
}

impl<R: Scalar> Sphere<'_, R> {
    /// The cell at (i, j) of a panel's index plane, and the axis across the edge of the panel beyond which it lies there.
    fn resolve(&self, panel: Panel, k: usize, i: isize, j: isize) -> (usize, Option<Axis>) {
        let (dims, n) = (self.state.dims, self.state.dims.nc as isize);
        let (edge, depth, s) = match (i, j) {
            _ if i < 0 => (Edge::West, -1 - i, j),
            _ if i >= n => (Edge::East, i - n, j),
            _ if j < 0 => (Edge::South, -1 - j, i),
            _ if j >= n => (Edge::North, j - n, i),
            _ => return (dims.cell(panel, k, j as usize, i as usize), None),
        };
        let there = self.state.convention.contact(panel, edge);
        let (j, i) = dims.inside(there.edge, there.along.map(s as usize, dims.nc), depth as usize);
        (dims.cell(there.panel, k, j, i), Some(there.edge.axis()))
    }

    /// The six cells around a face along `axis`.
    fn around(&self, axis: Axis, panel: Panel, k: usize, (i, j): (usize, usize)) -> [(usize, Option<Axis>); 6] {
        std::array::from_fn(|x| {
            let step = x as isize - 3;
            let (di, dj) = if axis == Axis::X { (step, 0) } else { (0, step) };
            self.resolve(panel, k, i as isize + di, j as isize + dj)
        })
    }

    fn air(&self, axis: Axis, panel: Panel, k: usize, (i, j): (usize, usize)) -> R {
        let dims = self.state.dims;
        self.scale
            * match axis {
                Axis::X => self.winds.am[dims.face_x(panel, k, j, i)],
                Axis::Y => self.winds.bm[dims.face_y(panel, k, j, i)],
            }
    }

    /// Amount through a face, from the mixing ratios of its six cells.
    fn amount<S: CellScheme>(&self, q: [R; 6], axis: Axis, panel: Panel, k: usize, place: (usize, usize)) -> R {
        let cells = self.around(axis, panel, k, place);
        let (low, high) = (self.state.air[cells[2].0], self.state.air[cells[3].0]);
        let one = R::lit(1.0);
        let (courant, carrier, _) =
            face_coefficients(self.air(axis, panel, k, place), low, high, one / low, one / high);
        let face = if axis == Axis::X { place.0 } else { place.1 } as isize;
        let edge = |x: usize| {
            let at = face + x as isize - 3;
            let nc = self.state.dims.nc as isize;
            let [aa, a, b, bb] = [q[x - 2], q[x - 1], q[x], q[x + 1]];
            match self.edge {
                EdgeRule::TwoSided | EdgeRule::Fv3 if at == 0 || at == nc => edge_two_sided(aa, a, b, bb),
                EdgeRule::Fv3 if at == 1 || at == nc + 1 => edge_one_sided(a, b, bb),
                EdgeRule::Fv3 if at == -1 || at == nc - 1 => edge_one_sided(b, a, aa),
                _ => S::edge(aa, a, b, bb, S::slope(aa, a, b), S::slope(a, b, bb)),
            }
        };
        let left = S::limit([q[0], q[1], q[2], q[3], q[4]], edge(2), edge(3));
        let right = S::limit([q[1], q[2], q[3], q[4], q[5]], edge(3), edge(4));
        S::flux(carrier, courant, q[2], left, q[3], right)
    }

    /// Amounts through the low faces of all cells and the high ones, along X and along Y: `value` gives the mixing ratio of a
    /// cell, told beyond an edge across which axis it is.
    fn amounts<S: CellScheme>(&self, axis: Axis, value: impl Fn(usize, Option<Axis>) -> R) -> [Cells<R>; 2] {
        let dims = self.state.dims;
        let through = |face: usize| {
            let of_cell = |(panel, k, j, i): (Panel, usize, usize, usize)| {
                let place = if axis == Axis::X { (i + face, j) } else { (i, j + face) };
                let q = self.around(axis, panel, k, place).map(|(cell, beyond)| value(cell, beyond));
                self.amount::<S>(q, axis, panel, k, place)
            };
            dims.each_cell().map(of_cell).collect()
        };
        [through(0), through(1)]
    }
}

fn pass<S: CellScheme, R: Scalar>(
    state: &mut Global<R>,
    winds: &GlobalWinds<R>,
    operator: LinRood,
    scale: R,
    counts: &mut Counts,
) {
    let sphere = Sphere { state, winds, edge: operator.edge, scale };
    let dims = state.dims;
    let one = R::lit(1.0);
    let mut air = state.air.clone();
    let mut predicted = [air.clone(), air.clone()];
    for (n, (panel, k, j, i)) in dims.each_cell().enumerate() {
        assert_eq!(n, dims.cell(panel, k, j, i));
        let faces = [(Axis::X, (i, j)), (Axis::X, (i + 1, j)), (Axis::Y, (i, j)), (Axis::Y, (i, j + 1))];
        let [west, east, south, north] = faces.map(|(axis, place)| sphere.air(axis, panel, k, place));
        predicted[0][n] = one / predicted_mass(state.air[n], west, east);
        predicted[1][n] = one / predicted_mass(state.air[n], south, north);
        air[n] = state.air[n] + ((west - east) + (south - north));
        for (face, (axis, place)) in faces.into_iter().enumerate() {
            let cells = sphere.around(axis, panel, k, place);
            let (low, high) = (state.air[cells[2].0], state.air[cells[3].0]);
            let flux = sphere.air(axis, panel, k, place);
            let (_, _, fraction) = face_coefficients(flux, low, high, one / low, one / high);
            counts.max_courant = counts.max_courant.max(fraction.to_f64());
            // Counted where the air comes from.
            let leaves = if face % 2 == 1 { flux >= R::lit(0.0) } else { flux < R::lit(0.0) };
            counts.clamped += u64::from(leaves && fraction > one);
        }
    }
    let tracers = state
        .tracers
        .iter()
        .map(|rm| {
            let q = |cell: usize, _: Option<Axis>| rm[cell] * (one / state.air[cell]);
            let inner = [sphere.amounts::<S>(Axis::X, q), sphere.amounts::<S>(Axis::Y, q)];
            let [after_i, after_j]: [Cells<R>; 2] = std::array::from_fn(|axis| {
                let [low, high] = &inner[axis];
                (0..rm.len()).map(|n| (rm[n] + (low[n] - high[n])) * predicted[axis][n]).collect()
            });
            // Beyond an edge: the field advected along it.
            let along = |across: Axis, cell: usize| if across == Axis::X { after_j[cell] } else { after_i[cell] };
            let outer = [Axis::X, Axis::Y]
                .map(|axis| sphere.amounts::<S>(axis, |cell, beyond| along(beyond.unwrap_or(axis), cell)));
            let mut amounts: [[Cells<R>; 2]; 2] = std::array::from_fn(|axis| {
                std::array::from_fn(|side| {
                    let pairs = inner[axis][side].iter().zip(&outer[axis][side]);
                    pairs.map(|(inner, outer)| mean_amount(*inner, *outer)).collect()
                })
            });
            if operator.rule.is_positive() {
                let kept = R::from_f64(1.0 - 8.0 * R::EPSILON.to_f64());
                let smallest = if size_of::<R>() == 4 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
                let smallest = R::from_f64(smallest / R::EPSILON.to_f64());
                let part = |n: usize| {
                    let [[west, east], [south, north]] = &amounts;
                    affordable_part(rm[n], leaving_amount(west[n], east[n], south[n], north[n]), kept, smallest)
                };
                let parts: Cells<R> = (0..rm.len()).map(part).collect();
                for (axis, of_axis) in [Axis::X, Axis::Y].into_iter().zip(&mut amounts) {
                    for (side, of_side) in of_axis.iter_mut().enumerate() {
                        for (n, (panel, k, j, i)) in dims.each_cell().enumerate() {
                            let place = if axis == Axis::X { (i + side, j) } else { (i, j + side) };
                            let cells = sphere.around(axis, panel, k, place);
                            of_side[n] = affordable_amount(of_side[n], parts[cells[2].0], parts[cells[3].0]);
                        }
                    }
                }
            }
            let [[west, east], [south, north]] = &amounts;
            (0..rm.len()).map(|n| rm[n] + ((west[n] - east[n]) + (south[n] - north[n]))).collect()
        })
        .collect();
    *state = Global { air, tracers, ..state.clone() };
}
