//! What happens at panel edges if the cells beyond are remapped: ghosts, and amounts that both panels agree on.

use decomposition::{Axis, CellStep, Edge, Layout};
use kernels::cpu::LinRoodPlanes;
use kernels::scheme::LinRood;
use kernels::{Scalar, TileShape};

use crate::grid::{CubedSphere, GeometryBundle};
use crate::state::TileSet;

/// The panel edges of the tiles of a rank.
pub(super) struct PanelEdges<R> {
    tiles: Vec<Vec<EdgeLine<R>>>,
    /// For each row beyond an edge, how the value at each cell along it follows from the row.
    ghosts: Vec<Vec<Stencil<R>>>,
}

/// The part of a panel edge at one tile.
struct EdgeLine<R> {
    /// Axis across the edge.
    axis: Axis,
    /// Position of the first cell beyond.
    beyond: usize,
    /// Position of the first face.
    face: usize,
    along: usize,
    across: isize,
    len: usize,
    /// Place of the first cell along the edge of the panel.
    first: usize,
    /// From an amount of the neighbour to one of this tile.
    sign: R,
}

/// Cubic interpolation between four cells of a row.
struct Stencil<R> {
    first: usize,
    weights: [R; 4],
}

impl<R: Scalar> Stencil<R> {
    /// At position `x` of a row of `nc` cells.
    fn new(x: f64, nc: usize) -> Self {
        let first = (x.floor() as usize).saturating_sub(1).min(nc - 4);
        let t = x - first as f64;
        let weight = |n: usize| {
            let others = (0..4).filter(|&m| m != n).map(|m| m as f64);
            others.map(|m| (t - m) / (n as f64 - m)).product::<f64>()
        };
        Self { first, weights: std::array::from_fn(|n| R::from_f64(weight(n))) }
    }

    fn of(&self, row: &[R]) -> R {
        let [a, b, c, d] = self.weights;
        (a * row[0] + b * row[1]) + (c * row[2] + d * row[3])
    }
}

impl<R: Scalar> PanelEdges<R> {
    pub(super) fn new(layout: &Layout, set: &TileSet) -> Self {
        let convention = layout.convention();
        let bundle = [GeometryBundle::Gnomonic, GeometryBundle::GeosNative]
            .into_iter()
            .find(|bundle| bundle.convention() == convention)
            .expect("every convention has its geometry");
        let nc = layout.nc();
        let grid = CubedSphere::new(nc, bundle, 0.0, 1.0).expect("the layout has cells");
        let row = |depth| (0..nc).map(|s| Stencil::new(grid.index_beyond_edge(depth, s), nc)).collect();
        let ghosts = (0..LinRood::HALO).map(row).collect();
        let of_tile = |(tile, shape): (&decomposition::Tile, &TileShape)| {
            let step = |s: CellStep| s.dj * shape.pitch as isize + s.di;
            let at_panel_edge = |edge: &Edge| layout.on_panel_edge(tile, *edge);
            let line = |edge: Edge| {
                let (i, j) = match edge {
                    Edge::North => (0, tile.nj as isize),
                    Edge::South => (0, -1),
                    Edge::East => (tile.ni as isize, 0),
                    Edge::West => (-1, 0),
                };
                let (first, len) = match edge.axis() {
                    Axis::X => (tile.j0, tile.nj),
                    Axis::Y => (tile.i0, tile.ni),
                };
                let (beyond, across) = (shape.index(i, j), step(edge.outward()));
                let face = if edge.is_outflow() { beyond } else { beyond.wrapping_add_signed(-across) };
                let sign = R::from_f64(convention.seam_at(tile.panel, edge).0.sign.factor());
                EdgeLine {
                    axis: edge.axis(),
                    beyond,
                    face,
                    along: step(edge.along()) as usize,
                    across,
                    len,
                    first,
                    sign,
                }
            };
            Edge::ALL.into_iter().filter(at_panel_edge).map(line).collect()
        };
        Self { tiles: set.tiles().iter().zip(set.shapes()).map(of_tile).collect(), ghosts }
    }

    /// Values that a remapped row needs room for.
    pub(super) fn room(layout: &Layout) -> usize {
        layout.nc() + 2 * layout.halo()
    }

    /// Gives contents beyond the panel edges of a tile the mixing ratios of the places where this panel's lines lead, with the
    /// air they have.
    pub(super) fn remap_contents(&self, tile: usize, content: &mut [R], air: &[R], row: &mut [R]) {
        for edge in &self.tiles[tile] {
            for (depth, stencils) in self.ghosts.iter().enumerate() {
                let start = edge.beyond.wrapping_add_signed(depth as isize * edge.across);
                edge.remap(stencils, start, row, |at| content[at] / air[at]);
                edge.write(start, row, |at, value| content[at] = value * air[at]);
            }
        }
    }

    /// The same for predictors, which are mixing ratios: each beyond the edges where it is needed.
    pub(super) fn remap_predictors(&self, tile: usize, after: &mut [&mut [R]; 2], row: &mut [R]) {
        for edge in &self.tiles[tile] {
            let field = &mut *after[usize::from(edge.axis == Axis::X)];
            for (depth, stencils) in self.ghosts.iter().enumerate() {
                let start = edge.beyond.wrapping_add_signed(depth as isize * edge.across);
                edge.remap(stencils, start, row, |at| field[at]);
                edge.write(start, row, |at, value| field[at] = value);
            }
        }
    }

    /// Gives the faces on panel edges the mean of what both panels find; the neighbour's amounts are beyond the edges, where parts
    /// that cells can afford come later.
    pub(super) fn agree(&self, tile: usize, planes: &mut LinRoodPlanes<'_, R>) {
        let half = R::lit(0.5);
        for edge in &self.tiles[tile] {
            let flux = &mut *planes.flux[usize::from(edge.axis == Axis::Y)];
            for s in 0..edge.len {
                let (face, beyond) = (edge.face + s * edge.along, edge.beyond + s * edge.along);
                flux[face] = half * (flux[face] + edge.sign * planes.after[1][beyond]);
            }
        }
    }
}

impl<R: Scalar> EdgeLine<R> {
    /// The remapped values of a row that begins at `start`, to the front of `row`.
    fn remap(&self, stencils: &[Stencil<R>], start: usize, row: &mut [R], value: impl Fn(usize) -> R) {
        let own = &stencils[self.first..self.first + self.len];
        let (low, high) = (own[0].first, own[self.len - 1].first + 4);
        let (remapped, cells) = row.split_at_mut(self.len);
        for (n, cell) in cells[..high - low].iter_mut().enumerate() {
            let steps = (low + n) as isize - self.first as isize;
            *cell = value(start.wrapping_add_signed(steps * self.along as isize));
        }
        for (out, stencil) in remapped.iter_mut().zip(own) {
            *out = stencil.of(&cells[stencil.first - low..stencil.first - low + 4]);
        }
    }

    fn write(&self, start: usize, row: &[R], mut to: impl FnMut(usize, R)) {
        for (s, &value) in row[..self.len].iter().enumerate() {
            to(start + s * self.along, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolation_is_exact_for_cubics_and_stays_within_reach() {
        let cubic = |x: f64| 1.0 + x * (2.0 + x * (-0.5 + 0.1 * x));
        for bundle in [GeometryBundle::Gnomonic, GeometryBundle::GeosNative] {
            for nc in [5, 6, 9, 48, 90] {
                let grid = CubedSphere::new(nc, bundle, 0.0, 1.0).unwrap();
                for depth in 0..LinRood::HALO {
                    for s in 0..nc {
                        let x = grid.index_beyond_edge(depth, s);
                        let stencil = Stencil::<f64>::new(x, nc);
                        assert!(stencil.first + 5 >= s && stencil.first + 3 <= s + 5, "{nc} {depth} {s} {x}");
                        let row: Vec<_> = (0..4).map(|n| cubic((stencil.first + n) as f64)).collect();
                        assert!((stencil.of(&row) / cubic(x) - 1.0).abs() < 1e-12);
                    }
                }
            }
        }
    }
}
