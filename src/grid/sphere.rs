//! The cubed sphere.

use decomposition::{Panel, PanelConvention};

use super::frame::{Frame, dominant_panel, frames};
use super::metrics::Metrics;
use super::vector::{add, dot, from_lonlat, normalise, to_lonlat};
use super::{GeometryBundle, GridError, TangentBasis};

/// A cell of the cubed sphere; indices count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellIndex {
    /// Panel.
    pub panel: Panel,
    /// Index along i.
    pub i: usize,
    /// Index along j.
    pub j: usize,
}

impl std::fmt::Display for CellIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}, {})", self.panel, self.i + 1, self.j + 1)
    }
}

/// Geometry of a cubed sphere with `nc` × `nc` cells per panel.
///
/// Points are unit vectors (x towards longitude 0, z towards the north pole) after the longitude offset. Methods that
/// take cell indices panic outside 0..nc (corners: 0..=nc).
#[derive(Clone, Debug)]
pub struct CubedSphere {
    nc: usize,
    bundle: GeometryBundle,
    offset_deg: f64,
    radius_m: f64,
    /// Cosine and sine of the offset.
    turn: (f64, f64),
    /// Gnomonic coordinates of the nc + 1 cell edges.
    nodes: Vec<f64>,
    /// Gnomonic coordinates half-way in index between edges.
    middles: Vec<f64>,
    metrics: Metrics,
}

impl CubedSphere {
    /// Largest accepted number of cells per panel edge.
    pub const MAX_NC: usize = 8192;

    /// Grid with `nc` cells per panel edge, turned eastwards by `longitude_offset_deg`, on a sphere of `radius_m`.
    ///
    /// # Errors
    /// If `nc` is outside 1..=[`MAX_NC`](Self::MAX_NC), the offset is not finite or the radius is not positive and finite.
    pub fn new(nc: usize, bundle: GeometryBundle, longitude_offset_deg: f64, radius_m: f64) -> Result<Self, GridError> {
        if !(1..=Self::MAX_NC).contains(&nc) {
            return Err(GridError::CellCount { nc, max: Self::MAX_NC });
        }
        if !longitude_offset_deg.is_finite() {
            return Err(GridError::Offset { offset_deg: longitude_offset_deg });
        }
        if !(radius_m.is_finite() && radius_m > 0.0) {
            return Err(GridError::Radius { radius_m });
        }
        // Position of half index h in -1..=1; numerators are exact, so the laws stay odd.
        let position = |h: usize| (h as f64 - nc as f64) / nc as f64;
        let nodes: Vec<f64> = (0..=nc).map(|i| bundle.coordinate(position(2 * i))).collect();
        let middles = (0..nc).map(|i| bundle.coordinate(position(2 * i + 1))).collect();
        let (sin, cos) = longitude_offset_deg.to_radians().sin_cos();
        let metrics = Metrics::new(&nodes);
        Ok(Self { nc, bundle, offset_deg: longitude_offset_deg, radius_m, turn: (cos, sin), nodes, middles, metrics })
    }

    /// Where the grid line of cell `s` along an edge, continued over it, meets row `depth` of the cells beyond (both from 0):
    /// position in that row in cells, whole numbers at the middles of cells, counted as `s` is.
    ///
    /// Lines across the edge continue as the rows of the neighbouring panel; along them a line at gnomonic coordinate ξ meets the
    /// row whose own coordinate is η at ξ·η.
    pub fn index_beyond_edge(&self, depth: usize, s: usize) -> f64 {
        let row = self.middles[self.nc - 1 - depth].abs();
        let nc = self.nc as f64;
        (self.bundle.position(self.middles[s] * row) * nc + nc - 1.0) / 2.0
    }

    /// Cells per panel edge.
    pub fn nc(&self) -> usize {
        self.nc
    }

    /// Edge law, centre law and panel convention.
    pub fn bundle(&self) -> GeometryBundle {
        self.bundle
    }

    /// Numbering and orientation of the panels.
    pub fn convention(&self) -> PanelConvention {
        self.bundle.convention()
    }

    /// Eastward turn of the whole grid in degrees.
    pub fn longitude_offset_deg(&self) -> f64 {
        self.offset_deg
    }

    /// Radius in m.
    pub fn radius_m(&self) -> f64 {
        self.radius_m
    }

    /// Unit vector of the lower-left corner of cell (i, j); `i`, `j` in 0..=nc. Corners shared by panels are the
    /// same to the last bit from each of them.
    pub fn corner(&self, panel: Panel, i: usize, j: usize) -> [f64; 3] {
        self.turned(self.frame(panel).point(self.nodes[i], self.nodes[j]))
    }

    /// Unit vector of the centre of cell (i, j).
    pub fn center(&self, panel: Panel, i: usize, j: usize) -> [f64; 3] {
        match self.bundle {
            GeometryBundle::Gnomonic => self.turned(self.frame(panel).point(self.middles[i], self.middles[j])),
            GeometryBundle::GeosNative => {
                let west = add(self.corner(panel, i, j), self.corner(panel, i, j + 1));
                let east = add(self.corner(panel, i + 1, j), self.corner(panel, i + 1, j + 1));
                normalise(add(west, east))
            }
        }
    }

    /// Longitude in [0, 360) and latitude of a corner, degrees.
    pub fn corner_lonlat(&self, panel: Panel, i: usize, j: usize) -> (f64, f64) {
        to_lonlat(self.corner(panel, i, j))
    }

    /// Longitude in [0, 360) and latitude of a cell centre, degrees.
    pub fn center_lonlat(&self, panel: Panel, i: usize, j: usize) -> (f64, f64) {
        to_lonlat(self.center(panel, i, j))
    }

    /// Cell area in m²: the great-circle quadrilateral of its corners. The same on all panels.
    pub fn area(&self, i: usize, j: usize) -> f64 {
        assert!(i < self.nc && j < self.nc, "cell ({i}, {j}) outside the panel");
        self.metrics.area[j * self.nc + i] * (self.radius_m * self.radius_m)
    }

    /// Solid angle of a cell in steradian: [`area`](Self::area) on a sphere of radius 1.
    pub fn solid_angle(&self, i: usize, j: usize) -> f64 {
        assert!(i < self.nc && j < self.nc, "cell ({i}, {j}) outside the panel");
        self.metrics.area[j * self.nc + i]
    }

    /// Cell width along i in m: great-circle distance between the mid-points of the west and east sides.
    pub fn dx(&self, i: usize, j: usize) -> f64 {
        assert!(i < self.nc && j < self.nc, "cell ({i}, {j}) outside the panel");
        self.metrics.width[j * self.nc + i] * self.radius_m
    }

    /// Cell width along j in m: great-circle distance between the mid-points of the south and north sides.
    pub fn dy(&self, i: usize, j: usize) -> f64 {
        self.dx(j, i)
    }

    /// Length in m of the west side of cell (i, j); `i` in 0..=nc, `j` in 0..nc.
    pub fn face_length_x(&self, i: usize, j: usize) -> f64 {
        assert!(i <= self.nc && j < self.nc, "side ({i}, {j}) outside the panel");
        self.metrics.face[j * (self.nc + 1) + i] * self.radius_m
    }

    /// Length in m of the south side of cell (i, j); `i` in 0..nc, `j` in 0..=nc.
    pub fn face_length_y(&self, i: usize, j: usize) -> f64 {
        self.face_length_x(j, i)
    }

    /// Sum of all cell areas in m².
    pub fn total_area(&self) -> f64 {
        self.metrics.total_area(self.nc) * (self.radius_m * self.radius_m)
    }

    /// Directions of growing i and j at the centre of cell (i, j), towards east and north.
    pub fn tangent_basis(&self, panel: Panel, i: usize, j: usize) -> TangentBasis {
        let frame = self.frame(panel);
        let turned = Frame { normal: self.turned(frame.normal), x: self.turned(frame.x), y: self.turned(frame.y) };
        TangentBasis::new(&turned, self.middles[i], self.middles[j], self.center(panel, i, j))
    }

    /// Cell that contains a point; points on a side belong to one of the cells that share it.
    ///
    /// # Errors
    /// [`GridError::Location`] unless both angles are finite, |lat| ≤ 90 and |lon| ≤ 720.
    pub fn locate(&self, lon_deg: f64, lat_deg: f64) -> Result<CellIndex, GridError> {
        if !(lon_deg.abs() <= 720.0 && lat_deg.abs() <= 90.0) {
            return Err(GridError::Location { lon_deg, lat_deg });
        }
        Ok(self.locate_vector(from_lonlat(lon_deg, lat_deg)))
    }

    /// Cell in the direction of a finite vector that is not zero.
    pub fn locate_vector(&self, v: [f64; 3]) -> CellIndex {
        let (cos, sin) = self.turn;
        let v = [cos * v[0] + sin * v[1], cos * v[1] - sin * v[0], v[2]];
        let panel = dominant_panel(self.convention(), v);
        let frame = self.frame(panel);
        let depth = dot(frame.normal, v);
        CellIndex { panel, i: self.interval(dot(frame.x, v) / depth), j: self.interval(dot(frame.y, v) / depth) }
    }

    /// Index of the cell row that contains the gnomonic coordinate `xi`.
    fn interval(&self, xi: f64) -> usize {
        let s = 0.5 * self.nc as f64 * (self.bundle.position(xi) + 1.0);
        let guess = (s.max(0.0) as usize).min(self.nc - 1);
        // The inverse law may round across an edge; the edges themselves decide.
        if guess > 0 && xi < self.nodes[guess] {
            guess - 1
        } else if guess + 1 < self.nc && xi >= self.nodes[guess + 1] {
            guess + 1
        } else {
            guess
        }
    }

    fn frame(&self, panel: Panel) -> &'static Frame {
        &frames(self.convention())[panel.index()]
    }

    /// `v` turned about the polar axis by the offset.
    fn turned(&self, v: [f64; 3]) -> [f64; 3] {
        let (cos, sin) = self.turn;
        [cos * v[0] - sin * v[1], sin * v[0] + cos * v[1], v[2]]
    }
}

#[cfg(test)]
#[path = "sphere_tests.rs"]
mod tests;
