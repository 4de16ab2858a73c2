//! What the fields of a file need to know of the cells of a tile.

use decomposition::Tile;

use crate::grid::CubedSphere;

/// Cells of a tile, i fastest.
#[derive(Clone, Debug)]
pub(super) struct TileCells {
    /// Areas, m².
    pub(super) areas: Vec<f64>,
    /// How fluxes through the sides become fluxes toward east and north.
    pub(super) fluxes: Vec<CellFlux>,
}

impl TileCells {
    pub(super) fn new(grid: &CubedSphere, tile: &Tile) -> Self {
        let places = || (tile.j0..tile.j0 + tile.nj).flat_map(|j| (tile.i0..tile.i0 + tile.ni).map(move |i| (i, j)));
        let areas = places().map(|(i, j)| grid.area(i, j)).collect();
        let fluxes = places().map(|(i, j)| CellFlux::new(grid, tile, i, j)).collect();
        Self { areas, fluxes }
    }
}

/// Factors (1/m) on the amounts through both sides along i and along j, for the flux per length toward east and north.
///
/// With the unit vectors e_i and e_j along the axes, at the angle α, a flux vector V = (f_i e_i + f_j e_j) / sin α has the
/// density f_i through sides that lie along j, and f_j through those along i. Both densities are taken at the centre as
/// what passes the two sides over the sum of their lengths.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellFlux {
    east: [f64; 2],
    north: [f64; 2],
}

impl CellFlux {
    fn new(grid: &CubedSphere, tile: &Tile, i: usize, j: usize) -> Self {
        let basis = grid.tangent_basis(tile.panel, i, j);
        let sine = (basis.x_east * basis.y_north - basis.x_north * basis.y_east).abs();
        let across_i = 1.0 / (sine * (grid.face_length_x(i, j) + grid.face_length_x(i + 1, j)));
        let across_j = 1.0 / (sine * (grid.face_length_y(i, j) + grid.face_length_y(i, j + 1)));
        Self {
            east: [basis.x_east * across_i, basis.y_east * across_j],
            north: [basis.x_north * across_i, basis.y_north * across_j],
        }
    }

    /// Flux toward east, kg/m, from the amounts through both sides along i and along j, kg.
    pub(super) fn east(&self, along_i: f64, along_j: f64) -> f64 {
        self.east[0] * along_i + self.east[1] * along_j
    }

    /// Flux toward north, kg/m.
    pub(super) fn north(&self, along_i: f64, along_j: f64) -> f64 {
        self.north[0] * along_i + self.north[1] * along_j
    }
}

#[cfg(test)]
mod tests {
    use decomposition::Panel;

    use super::*;
    use crate::grid::GeometryBundle;
    use crate::grid::vector::{cross, dot, east_north, normalise};

    /// A uniform flow around the axis of rotation: what passes a side follows from its end points, `V · (n × length)`.
    #[test]
    fn fluxes_through_sides_give_back_a_solid_rotation() {
        for bundle in GeometryBundle::ALL {
            let nc = 48;
            let grid = CubedSphere::new(nc, bundle, -10.0, 6.371e6).unwrap();
            let axis = normalise([0.3, -0.5, 0.8]);
            for panel in Panel::ALL {
                let tile = Tile { id: 0, panel, i0: 0, j0: 0, ni: nc, nj: nc, rank: 0 };
                let cells = TileCells::new(&grid, &tile);
                for (n, flux) in cells.fluxes.iter().enumerate() {
                    let (i, j) = (n % nc, n / nc);
                    // Stream function of V = axis × position is axis · position, larger to the right: what passes between two points on the
                    // unit sphere is its difference, times the radius.
                    let corner = |i, j| dot(axis, grid.corner(panel, i, j));
                    let radius = grid.radius_m();
                    let west = corner(i, j + 1) - corner(i, j);
                    let east = corner(i + 1, j + 1) - corner(i + 1, j);
                    let south = corner(i, j) - corner(i + 1, j);
                    let north = corner(i, j + 1) - corner(i + 1, j + 1);
                    let centre = grid.center(panel, i, j);
                    let wind = cross(axis, centre);
                    let (to_east, to_north) = east_north(centre);
                    let along_i = radius * (west + east);
                    let along_j = radius * (south + north);
                    let found = [flux.east(along_i, along_j), flux.north(along_i, along_j)];
                    let expected = [dot(wind, to_east), dot(wind, to_north)];
                    let error = (found[0] - expected[0]).hypot(found[1] - expected[1]);
                    assert!(error < 3e-3, "{bundle:?} {panel:?} ({i}, {j}): {found:?} {expected:?}");
                }
            }
        }
    }
}
