//! Faces along j: a register march over one cache line of columns.

use crate::cpu::linrood::panel_faces::PanelFaces;
use crate::cpu::linrood::{LinRoodCoefficients, LinRoodPlanes};
use crate::lanes::Lanes;
use crate::numerics::mean_amount;
use crate::real::{Real, Scalar};
use crate::scheme::CellScheme;
use crate::shape::TileShape;

/// Mean and profile of one cell.
#[derive(Clone, Copy)]
struct Cell<V> {
    q: V,
    profile: (V, V),
}

/// One cache line of the columns of a plane cut into lines: row `row` is at `row · stride + line`.
#[derive(Clone, Copy)]
struct Line {
    line: usize,
    stride: usize,
}

impl Line {
    #[inline(always)]
    fn at(self, row: usize) -> usize {
        row * self.stride + self.line
    }
}

/// Face coefficients along j, cut into lines.
#[derive(Clone, Copy)]
struct Faces<'a, R, const W: usize> {
    courant: &'a [[R; W]],
    flux: &'a [[R; W]],
}

/// Calls `take` with the position and the amount of every face of the tile, from low to high; `ratio` gives the mixing ratio
/// at a position.
#[inline(always)]
fn march<S: CellScheme, R: Scalar, const W: usize>(
    shape: &TileShape,
    panel: &PanelFaces,
    line: Line,
    faces: Faces<'_, R, W>,
    ratio: impl Fn(usize) -> Lanes<R, W>,
    mut take: impl FnMut(usize, Lanes<R, W>),
) {
    let first = shape.halo - 1;
    // Edge `row + 1` lies above cell `row`, between `w[2]` and `w[3]`.
    let edge_above = |row: usize, w: &[Lanes<R, W>; 5], slopes: [Lanes<R, W>; 2]| {
        let mut edge = S::edge(w[1], w[2], w[3], w[4], slopes[0], slopes[1]);
        for stencil in panel.along_j() {
            if stencil.face == row + 1 {
                edge = stencil.value.of(w[1], w[2], w[3], w[4]);
            }
        }
        edge
    };
    let at = |row: usize| ratio(line.at(row));
    // Around the cell below the first one; the farthest value of the window is not used.
    let mut w = [at(first - 2), at(first - 2), at(first - 1), at(first), at(first + 1)];
    let mut slope = S::slope(w[2], w[3], w[4]);
    let mut edge = edge_above(first - 1, &w, [S::slope(w[1], w[2], w[3]), slope]);
    let mut step = |row: usize| {
        w = [w[1], w[2], w[3], w[4], at(row + 2)];
        let slope_above = S::slope(w[2], w[3], w[4]);
        let above = edge_above(row, &w, [slope, slope_above]);
        let cell = Cell { q: w[2], profile: S::limit(w, edge, above) };
        (slope, edge) = (slope_above, above);
        cell
    };
    let mut low = step(first);
    for row in first + 1..=shape.halo + shape.nj {
        let high = step(row);
        let at = line.at(row);
        let (flux, courant) = (Lanes(faces.flux[at]), Lanes(faces.courant[at]));
        take(row, S::flux(flux, courant, low.q, low.profile, high.q, high.profile));
        low = high;
    }
}

/// The cache lines that hold interior columns.
#[inline(always)]
fn lines<const W: usize>(shape: &TileShape) -> impl Iterator<Item = Line> {
    let stride = shape.pitch / W;
    (shape.halo / W..=(shape.halo + shape.ni - 1) / W).map(move |line| Line { line, stride })
}

#[inline(always)]
pub(super) fn inner<S: CellScheme, R: Scalar, const W: usize>(
    shape: &TileShape,
    panel: &PanelFaces,
    content: &[R],
    coefficients: &LinRoodCoefficients<R>,
    planes: &mut LinRoodPlanes<'_, R>,
) {
    let len = shape.plane_len();
    let content = content[..len].as_chunks::<W>().0;
    let reciprocal = coefficients.reciprocal[..len].as_chunks::<W>().0;
    let predicted = coefficients.predicted[1][..len].as_chunks::<W>().0;
    let faces = Faces {
        courant: coefficients.courant[1][..len].as_chunks::<W>().0,
        flux: coefficients.flux[1][..len].as_chunks::<W>().0,
    };
    let (flux, after) = (planes.flux[1][..len].as_chunks_mut::<W>().0, planes.after[1][..len].as_chunks_mut::<W>().0);
    for line in lines::<W>(shape) {
        let mut inflow = Lanes::lit(0.0);
        let ratio = |at: usize| Lanes(content[at]) * Lanes(reciprocal[at]);
        march::<S, R, W>(shape, panel, line, faces, ratio, |row, amount| {
            flux[line.at(row)] = amount.0;
            if row > shape.halo {
                let below = line.at(row - 1);
                let left = Lanes(content[below]) + (inflow - amount);
                after[below] = (left * Lanes(predicted[below])).0;
            }
            inflow = amount;
        });
    }
}

#[inline(always)]
pub(super) fn outer<S: CellScheme, R: Scalar, const W: usize>(
    shape: &TileShape,
    panel: &PanelFaces,
    coefficients: &LinRoodCoefficients<R>,
    planes: &mut LinRoodPlanes<'_, R>,
) {
    let len = shape.plane_len();
    let faces = Faces {
        courant: coefficients.courant[1][..len].as_chunks::<W>().0,
        flux: coefficients.flux[1][..len].as_chunks::<W>().0,
    };
    let (flux, after) = (planes.flux[1][..len].as_chunks_mut::<W>().0, planes.after[0][..len].as_chunks::<W>().0);
    for line in lines::<W>(shape) {
        march::<S, R, W>(
            shape,
            panel,
            line,
            faces,
            |at| Lanes(after[at]),
            |row, amount| {
                let at = line.at(row);
                flux[at] = mean_amount(Lanes(flux[at]), amount).0;
            },
        );
    }
}
