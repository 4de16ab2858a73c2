//! FV3's operators put together from the numerics: rows of faces of one line of cells, and the two-dimensional operator.
#![allow(dead_code)]

use kernels::numerics as nm;

/// Halo cells of a line on each side.
pub const HALO: usize = 3;

/// What lies beyond the ends of a line.
#[derive(Clone, Copy)]
pub enum Ends<'a> {
    /// More of the same.
    Plain,
    /// Edges of a cube's face; widths of all cells with their halos.
    FaceEdges(&'a [f64]),
}

#[derive(Clone, Copy, Default)]
struct Cell {
    q: f64,
    low: f64,
    high: f64,
}

impl Cell {
    fn profile(self) -> (f64, f64) {
        (self.low, self.high)
    }

    fn from_edges(q: f64, low: f64, high: f64) -> Self {
        Self { q, low: low - q, high: high - q }
    }
}

/// Mixing ratios of what passes the faces of a line of cells `q` (with [`HALO`] on each side), one for each Courant number.
///
/// # Panics
/// If `hord` is none of 2 to 13 and −5.
pub fn faces(hord: i32, q: &[f64], courant: &[f64], ends: Ends) -> Vec<f64> {
    // Cell `x` of these is cell `x + 2` of `q`: one halo cell on each side.
    let mut cells: Vec<Cell> = q.windows(5).map(|w| cell(hord, w.try_into().unwrap())).collect();
    let mut at_face_edge = vec![false; cells.len()];
    if let Ends::FaceEdges(dx) = ends {
        for side in 0..2 {
            // The line as seen from either end: the first cell of the halo is at the edge.
            if side == 1 {
                cells.reverse();
                cells.iter_mut().for_each(|cell| std::mem::swap(&mut cell.low, &mut cell.high));
            }
            let turned = |values: &[f64]| -> Vec<f64> {
                if side == 0 { values.to_vec() } else { values.iter().rev().copied().collect() }
            };
            beside_face_edge(hord, &turned(q), &turned(dx), &mut cells);
        }
        cells.reverse();
        cells.iter_mut().for_each(|cell| std::mem::swap(&mut cell.low, &mut cell.high));
        let n = cells.len();
        [0, 1, n - 2, n - 1].into_iter().for_each(|x| at_face_edge[x] = true);
    }
    courant
        .iter()
        .enumerate()
        .map(|(face, c)| {
            let (left, right) = (cells[face], cells[face + 1]);
            let (donor, other) = if *c > 0.0 { (face, face + 1) } else { (face + 1, face) };
            let between = |x: usize| nm::lies_between(cells[x].low, cells[x].high);
            let little = |x: usize, factor: f64| nm::bends_little(factor, cells[x].low, cells[x].high);
            let six = |x: usize| if at_face_edge[x] { between(x) } else { little(x, 3.0) };
            let curved = match hord {
                3 => little(donor, 1.0) || little(other, 3.0),
                4 => (little(donor, 1.0) && little(other, 1.0)) || little(donor, 3.0) || little(other, 3.0),
                // The switch of −5 comes before its limiter, which keeps what lies between and flattens the rest.
                5 | -5 | 7 => between(donor) || between(other),
                6 => six(donor) || six(other),
                _ => true,
            };
            nm::face_value(*c, curved, left.q, left.profile(), right.q, right.profile())
        })
        .collect()
}

fn cell(hord: i32, w: [f64; 5]) -> Cell {
    let (low, high) = match hord {
        2..=6 => nm::profile_ppm_none(w),
        -5 => nm::profile_fv3_hord_minus5(w),
        7 | 12 => nm::profile_fv3_hord12(w),
        8 => nm::profile_fv3_hord8(w),
        9 | 13 => nm::profile_fv3_hord13(w),
        10 => nm::profile_fv3_hord10(w),
        11 => nm::profile_fv3_hord11(w),
        other => panic!("no operator {other}"),
    };
    Cell { q: w[2], low, high }
}

/// The three cells at the low end of a line whose first interior cell is at the edge of a cube's face.
fn beside_face_edge(hord: i32, q: &[f64], dx: &[f64], cells: &mut [Cell]) {
    let around = |values: &[f64]| -> [f64; 4] { std::array::from_fn(|x| values[HALO - 2 + x]) };
    if hord < 7 {
        let clip = |edge: f64| if hord < 0 { edge.max(0.0) } else { edge };
        let outside = clip(nm::edge_one_sided(q[2], q[1], q[0]));
        let middle = clip(nm::edge_two_sided_spaced(around(q), around(dx)));
        let inside = clip(nm::edge_one_sided(q[3], q[4], q[5]));
        let next = clip(nm::edge_fourth_order(q[3], q[4], q[5], q[6]));
        for (x, [low, high]) in [[outside, middle], [middle, inside], [inside, next]].into_iter().enumerate() {
            let edges = Cell::from_edges(q[x + 2], low, high);
            let limited =
                if hord < 0 { nm::cell_positive_between(edges.q, edges.low, edges.high) } else { edges.profile() };
            cells[x] = Cell { q: edges.q, low: limited.0, high: limited.1 };
        }
        return;
    }
    let slope = |x: usize| nm::half_slope_monotone(q[x - 1], q[x], q[x + 1]);
    let outside = nm::edge_beside_face_edge(q[2], q[1], -slope(1));
    let middle = nm::edge_two_sided_within(around(q), around(dx));
    let inside = nm::edge_beside_face_edge(q[3], q[4], slope(4));
    let next = nm::edge_colella_woodward(q[4], q[5], slope(4), slope(5));
    for (x, [low, high]) in [[outside, middle], [middle, inside], [inside, next]].into_iter().enumerate() {
        let edges = Cell::from_edges(q[x + 2], low, high);
        let limited = nm::cell_colella_woodward(edges.low, edges.high);
        cells[x] = Cell { q: edges.q, low: limited.0, high: limited.1 };
    }
}

/// A field of `width × height` values, the first index slowest.
#[derive(Clone)]
pub struct Field {
    pub width: usize,
    pub height: usize,
    pub values: Vec<f64>,
}

impl Field {
    pub fn new(width: usize, height: usize, values: Vec<f64>) -> Self {
        assert_eq!(values.len(), width * height);
        Self { width, height, values }
    }

    pub fn at(&self, x: usize, y: usize) -> f64 {
        self.values[x * self.height + y]
    }

    /// The same with its axes exchanged.
    pub fn turned(&self) -> Self {
        let values = (0..self.height).flat_map(|y| (0..self.width).map(move |x| self.at(x, y)));
        Self::new(self.height, self.width, values.collect())
    }

    /// The values along the first axis.
    pub fn line(&self, y: usize) -> Vec<f64> {
        (0..self.width).map(|x| self.at(x, y)).collect()
    }
}

/// Courant numbers, area fluxes and areas after them along the first axis of a field.
pub struct Along<'a> {
    pub courant: &'a Field,
    pub flux: &'a Field,
    pub area_after: &'a Field,
    /// Widths of cells along the axis.
    pub width: &'a Field,
}

impl Along<'_> {
    fn ends<'w>(line: &'w [f64], cube_face: bool) -> Ends<'w> {
        if cube_face { Ends::FaceEdges(line) } else { Ends::Plain }
    }

    /// Values at the faces of line `y` of a field with halos along the first axis.
    fn faces(&self, hord: i32, q: &[f64], courant_line: usize, width_line: usize, cube_face: bool) -> Vec<f64> {
        let width = self.width.line(width_line);
        faces(hord, q, &self.courant.line(courant_line), Self::ends(&width, cube_face))
    }
}

/// Corners of a cube's face filled by the halo along the first axis, seen as FV3's `copy_corners` does for sweeps along it.
fn with_corners(q: &Field) -> Field {
    let (mut copy, n) = (q.clone(), q.width - 2 * HALO);
    let last = n + 2 * HALO - 1;
    for a in 0..HALO {
        for b in 0..HALO {
            // Depth a beyond the side, depth b beyond the end; cells next to the corner have depth 0.
            let (out_a, out_b) = (HALO - 1 - a, HALO - 1 - b);
            let in_a = HALO + a;
            let mut set = |x: usize, y: usize, from_x: usize, from_y: usize| {
                copy.values[x * q.height + y] = q.at(from_x, from_y);
            };
            set(out_a, out_b, out_b, in_a);
            set(last - out_a, out_b, last - out_b, in_a);
            set(last - out_a, last - out_b, last - out_b, last - in_a);
            set(out_a, last - out_b, out_b, last - in_a);
        }
    }
    copy
}

/// One direction of the two-dimensional operator: mean of the faces of `q` (inner operator, interior lines) and of the field
/// swept across first (outer operator), both along the first axis.
fn one_direction(hord: i32, q: &Field, area: &Field, along: &Along, across: &Along, cube_face: bool) -> Field {
    let inner = if hord == 10 { 8 } else { hord };
    let n = q.width - 2 * HALO;
    // Across: along the second axis of `q`, in all lines with their halos.
    let turned = if cube_face { with_corners(&q.turned()) } else { q.turned() };
    let (turned_area, m) = (area.turned(), turned.width - 2 * HALO);
    let mut swept = vec![0.0; turned.height * m];
    for x in 0..turned.height {
        let value = across.faces(inner, &turned.line(x), x, x, cube_face);
        for y in 0..m {
            let flux = |face: usize| across.flux.at(face, x) * value[face];
            let before = turned.at(y + HALO, x) * turned_area.at(y + HALO, x);
            swept[x * m + y] = (before + flux(y) - flux(y + 1)) / across.area_after.at(y, x);
        }
    }
    let swept = Field::new(turned.height, m, swept);
    let own = if cube_face { with_corners(q) } else { q.clone() };
    let mut mean = vec![0.0; (n + 1) * m];
    for y in 0..m {
        let outer = along.faces(hord, &swept.line(y), y + HALO, y + HALO, cube_face);
        let first = along.faces(inner, &own.line(y + HALO), y + HALO, y + HALO, cube_face);
        for x in 0..=n {
            mean[x * m + y] = 0.5 * (outer[x] + first[x]);
        }
    }
    Field::new(n + 1, m, mean)
}

/// Means of what passes the faces across the two axes: FV3's `fv_tp_2d` without damping. `x` lies along the first axis of the
/// fields, `y` along the second one, its fields turned.
pub fn two_dimensional(hord: i32, q: &Field, area: &Field, x: &Along, y: &Along, cube_face: bool) -> [Field; 2] {
    let along_x = one_direction(hord, q, area, x, y, cube_face);
    let along_y = one_direction(hord, &q.turned(), &area.turned(), y, x, cube_face);
    [along_x, along_y.turned()]
}
