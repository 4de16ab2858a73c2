//! The Lin–Rood operator as plain loops over whole panels: every face gathers its cells anew through the contact table.

use atmostr::grid::CubedSphere;
use decomposition::{Axis, Edge, Panel};
use kernels::Scalar;
use kernels::numerics::{
    affordable_amount, affordable_part, edge_one_sided, edge_two_sided, face_coefficients, leaving_amount, mean_amount,
    predicted_mass,
};
use kernels::scheme::{
    CellScheme, EdgeRule, Fv3Hord8, LinRood, LinRoodQuasi, LinRoodRule, PpmCw84, PpmHuynhPd, PpmNone, SeamGhost,
};

use crate::case::sphere;
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
    operator: LinRood,
    grid: CubedSphere,
    scale: R,
}

/// A cell around a face.
#[derive(Clone, Copy)]
struct Place<R> {
    cell: usize,
    beyond: Option<Beyond<R>>,
}

/// What matters of a cell on another panel.
#[derive(Clone, Copy)]
struct Beyond<R> {
    /// Axis across the edge over there.
    axis: Axis,
    /// Cells and weights from which its value is interpolated.
    row: Option<[(usize, R); 4]>,
}

impl<R: Scalar> Sphere<'_, R> {
    /// The edge of a panel beyond which (i, j) of its index plane lies, how far, and the place along it.
    fn beyond(&self, i: isize, j: isize) -> Option<(Edge, usize, usize)> {
        let n = self.state.dims.nc as isize;
        let (edge, depth, s) = match (i, j) {
            _ if i < 0 => (Edge::West, -1 - i, j),
            _ if i >= n => (Edge::East, i - n, j),
            _ if j < 0 => (Edge::South, -1 - j, i),
            _ if j >= n => (Edge::North, j - n, i),
            _ => return None,
        };
        Some((edge, depth as usize, s as usize))
    }

    /// The cell at (i, j) of a panel's index plane.
    fn resolve(&self, panel: Panel, k: usize, i: isize, j: isize) -> Place<R> {
        let dims = self.state.dims;
        let Some((edge, depth, s)) = self.beyond(i, j) else {
            return Place { cell: dims.cell(panel, k, j as usize, i as usize), beyond: None };
        };
        let there = self.state.convention.contact(panel, edge);
        let at = |s: usize| {
            let (j, i) = dims.inside(there.edge, there.along.map(s, dims.nc), depth);
            dims.cell(there.panel, k, j, i)
        };
        let row = (self.operator.ghost == SeamGhost::Remap).then(|| {
            // Lagrange's cubic on the four cells around.
            let x = self.grid.index_beyond_edge(depth, s);
            let first = ((x.floor() as isize - 1).max(0) as usize).min(dims.nc - 4);
            let t = x - first as f64;
            std::array::from_fn(|n| {
                let others = (0..4).filter(|&m| m != n).map(|m| m as f64);
                let weight: f64 = others.map(|m| (t - m) / (n as f64 - m)).product();
                (at(first + n), R::from_f64(weight))
            })
        });
        Place { cell: at(s), beyond: Some(Beyond { axis: there.edge.axis(), row }) }
    }

    /// The six cells around a face along `axis`.
    fn around(&self, axis: Axis, panel: Panel, k: usize, (i, j): (usize, usize)) -> [Place<R>; 6] {
        std::array::from_fn(|x| {
            let step = x as isize - 3;
            let (di, dj) = if axis == Axis::X { (step, 0) } else { (0, step) };
            self.resolve(panel, k, i as isize + di, j as isize + dj)
        })
    }

    /// The amount through a face on a panel edge in which both panels agree; other amounts as they are.
    fn agreed(&self, amounts: &[[Cells<R>; 2]; 2], axis: usize, side: usize) -> Cells<R> {
        let dims = self.state.dims;
        let of_cell = |(n, (panel, k, j, i)): (usize, (Panel, usize, usize, usize))| {
            let own = amounts[axis][side][n];
            let step = if side == 0 { -1 } else { 1 };
            let (di, dj) = if axis == 0 { (step, 0) } else { (0, step) };
            let Some((edge, depth, s)) = self.beyond(i as isize + di, j as isize + dj) else { return own };
            let there = self.state.convention.contact(panel, edge);
            let (j, i) = dims.inside(there.edge, there.along.map(s, dims.nc), depth);
            let other_axis = usize::from(there.edge.axis() == Axis::Y);
            let other = amounts[other_axis][usize::from(there.edge.is_outflow())][dims.cell(there.panel, k, j, i)];
            let sign = R::from_f64(self.state.convention.seam_at(panel, edge).0.sign.factor());
            R::lit(0.5) * (own + sign * other)
        };
        dims.each_cell().enumerate().map(of_cell).collect()
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
        let (low, high) = (self.state.air[cells[2].cell], self.state.air[cells[3].cell]);
        let one = R::lit(1.0);
        let (courant, carrier, _) =
            face_coefficients(self.air(axis, panel, k, place), low, high, one / low, one / high);
        let face = if axis == Axis::X { place.0 } else { place.1 } as isize;
        let edge = |x: usize| {
            let at = face + x as isize - 3;
            let nc = self.state.dims.nc as isize;
            let [aa, a, b, bb] = [q[x - 2], q[x - 1], q[x], q[x + 1]];
            match self.operator.edge {
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

    /// Amounts through the low faces of all cells and the high ones along an axis: `value` gives the mixing ratio at a place.
    fn amounts<S: CellScheme>(&self, axis: Axis, value: impl Fn(Place<R>) -> R) -> [Cells<R>; 2] {
        let dims = self.state.dims;
        let through = |face: usize| {
            let of_cell = |(panel, k, j, i): (Panel, usize, usize, usize)| {
                let place = if axis == Axis::X { (i + face, j) } else { (i, j + face) };
                let q = self.around(axis, panel, k, place).map(&value);
                self.amount::<S>(q, axis, panel, k, place)
            };
            dims.each_cell().map(of_cell).collect()
        };
        [through(0), through(1)]
    }
}

fn interpolated<R: Scalar>(row: [(usize, R); 4], value: impl Fn(usize) -> R) -> R {
    let [a, b, c, d] = row.map(|(cell, weight)| weight * value(cell));
    (a + b) + (c + d)
}

fn pass<S: CellScheme, R: Scalar>(
    state: &mut Global<R>,
    winds: &GlobalWinds<R>,
    operator: LinRood,
    scale: R,
    counts: &mut Counts,
) {
    let grid = sphere(state.convention, state.dims.nc);
    let sphere = Sphere { state, winds, operator, grid, scale };
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
            let (low, high) = (state.air[cells[2].cell], state.air[cells[3].cell]);
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
            let q = |place: Place<R>| {
                let cell = place.cell;
                let row = place.beyond.and_then(|beyond| beyond.row);
                let content =
                    row.map_or(rm[cell], |row| interpolated(row, |cell| rm[cell] / state.air[cell]) * state.air[cell]);
                content * (one / state.air[cell])
            };
            let inner = [sphere.amounts::<S>(Axis::X, q), sphere.amounts::<S>(Axis::Y, q)];
            let [after_i, after_j]: [Cells<R>; 2] = std::array::from_fn(|axis| {
                let [low, high] = &inner[axis];
                (0..rm.len()).map(|n| (rm[n] + (low[n] - high[n])) * predicted[axis][n]).collect()
            });
            // Beyond an edge: the field advected along it.
            let along = |across: Axis, cell: usize| if across == Axis::X { after_j[cell] } else { after_i[cell] };
            let outer = [Axis::X, Axis::Y].map(|axis| {
                sphere.amounts::<S>(axis, |place| match place.beyond {
                    None => along(axis, place.cell),
                    Some(Beyond { axis, row: None }) => along(axis, place.cell),
                    Some(Beyond { axis, row: Some(row) }) => interpolated(row, |cell| along(axis, cell)),
                })
            });
            let mut amounts: [[Cells<R>; 2]; 2] = std::array::from_fn(|axis| {
                std::array::from_fn(|side| {
                    let pairs = inner[axis][side].iter().zip(&outer[axis][side]);
                    pairs.map(|(inner, outer)| mean_amount(*inner, *outer)).collect()
                })
            });
            if operator.ghost == SeamGhost::Remap {
                amounts = std::array::from_fn(|axis| std::array::from_fn(|side| sphere.agreed(&amounts, axis, side)));
            }
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
                            of_side[n] = affordable_amount(of_side[n], parts[cells[2].cell], parts[cells[3].cell]);
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
