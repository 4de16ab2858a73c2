//! Meshes whose cells are bounded by great circles.

use decomposition::Panel;

use super::{LatLonMesh, Mesh};
use crate::grid::CubedSphere;
use crate::grid::vector::solid_angle;

/// Convex cells with great-circle sides.
#[derive(Clone, Copy, Debug)]
pub(super) enum Polygons<'a> {
    Cube(&'a CubedSphere),
    LatLon(&'a LatLonMesh),
}

impl Polygons<'_> {
    pub fn cells(&self) -> usize {
        match self {
            Polygons::Cube(grid) => 6 * grid.nc() * grid.nc(),
            Polygons::LatLon(mesh) => mesh.nlon() * mesh.nlat(),
        }
    }

    /// Corners of a cell as unit vectors, counter-clockwise seen from outside. At a pole two of them are the same.
    pub fn corners(&self, cell: usize) -> [[f64; 3]; 4] {
        match self {
            Polygons::Cube(grid) => {
                let nc = grid.nc();
                let (panel, j, i) = (Panel::ALL[cell / (nc * nc)], cell / nc % nc, cell % nc);
                [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| grid.corner(panel, i, j))
            }
            Polygons::LatLon(mesh) => {
                let (j, i) = (cell / mesh.nlon(), cell % mesh.nlon());
                [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| mesh.corner(i, j))
            }
        }
    }
}

impl LatLonMesh {
    /// Unit vector of the corner at edge `i` in longitude and edge `j` in latitude.
    pub(super) fn corner(&self, i: usize, j: usize) -> [f64; 3] {
        let (lon, lat) = (self.lon_edges(), self.lat_edges()[j]);
        // The meridian that closes the circle is the first one, to the bit.
        let i = if i == self.nlon() && lon[i] - lon[0] == 360.0 { 0 } else { i };
        let (sin_lon, cos_lon) = lon[i].to_radians().sin_cos();
        // From the distance to the pole, so that nothing is lost there.
        let (level, height) = (90.0 - lat.abs()).to_radians().sin_cos();
        [level * cos_lon, level * sin_lon, height.copysign(lat)]
    }

    /// Area in steradian of the cell with great-circle sides.
    pub(super) fn polygon_area(&self, i: usize, j: usize) -> f64 {
        let [sw, se, ne, nw] = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| self.corner(i, j));
        solid_angle(sw, se, ne) + solid_angle(sw, ne, nw)
    }
}

impl Mesh {
    /// The mesh seen as polygons, if all its sides are great circles.
    pub(super) fn polygons(&self) -> Option<Polygons<'_>> {
        use super::LatLonSides::GreatCircles;
        match self {
            Mesh::Cube(grid) => Some(Polygons::Cube(grid)),
            Mesh::LatLon(mesh) if mesh.sides() == GreatCircles => Some(Polygons::LatLon(mesh)),
            _ => None,
        }
    }
}
