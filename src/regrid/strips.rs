//! Meshes whose cells lie between meridians and parallels.

use super::arc::{Parallel, Pole};
use super::latlon::sine_difference;
use super::{LatLonMesh, ReducedMesh};

/// Rows of cells between parallels.
#[derive(Clone, Copy, Debug)]
pub(super) enum Strips<'a> {
    LatLon(&'a LatLonMesh),
    Reduced(&'a ReducedMesh),
}

/// Whether all rows have the same columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    Common,
    PerRow,
}

impl Strips<'_> {
    pub fn rows(&self) -> usize {
        self.lat_edges().len() - 1
    }

    /// Edges of the rows in degrees.
    pub fn lat_edges(&self) -> &[f64] {
        match self {
            Strips::LatLon(mesh) => mesh.lat_edges(),
            Strips::Reduced(mesh) => mesh.lat_edges(),
        }
    }

    /// First cell of a row.
    pub fn first(&self, row: usize) -> usize {
        match self {
            Strips::LatLon(mesh) => row * mesh.nlon(),
            Strips::Reduced(mesh) => mesh.offsets()[row],
        }
    }

    /// Cells of a row.
    pub fn columns(&self, row: usize) -> usize {
        match self {
            Strips::LatLon(mesh) => mesh.nlon(),
            Strips::Reduced(mesh) => mesh.points()[row],
        }
    }

    /// Western edge of column `i` in degrees; `i` may be the number of columns.
    pub fn lon_edge(&self, row: usize, i: usize) -> f64 {
        match self {
            Strips::LatLon(mesh) => mesh.lon_edges()[i],
            Strips::Reduced(mesh) => mesh.lon_edge(row, i),
        }
    }

    /// Width of a column in radian.
    pub fn width(&self, row: usize, i: usize) -> f64 {
        match self {
            Strips::LatLon(mesh) => (mesh.lon_edges()[i + 1] - mesh.lon_edges()[i]).to_radians(),
            Strips::Reduced(mesh) => std::f64::consts::TAU / mesh.points()[row] as f64,
        }
    }

    /// Areas of all cells in steradian.
    pub fn areas(&self) -> Vec<f64> {
        let rows = self.lat_edges().windows(2).map(|pair| sine_difference(pair[0], pair[1]));
        let cells = rows.enumerate().flat_map(|(row, height)| (0..self.columns(row)).map(move |i| (row, i, height)));
        cells.map(|(row, i, height)| height * self.width(row, i)).collect()
    }

    pub fn kind(&self) -> Columns {
        match self {
            Strips::LatLon(_) => Columns::Common,
            Strips::Reduced(_) => Columns::PerRow,
        }
    }

    /// Whether the columns of a row close around the sphere.
    fn closed(&self) -> bool {
        match self {
            Strips::LatLon(mesh) => mesh.lon_edges()[mesh.nlon()] - mesh.lon_edges()[0] == 360.0,
            Strips::Reduced(_) => true,
        }
    }

    /// First column of a row whose eastern edge lies beyond `lon` degrees.
    fn first_beyond(&self, row: usize, lon: f64) -> usize {
        let (mut low, mut high) = (0, self.columns(row));
        while low < high {
            let middle = (low + high) / 2;
            if self.lon_edge(row, middle + 1) > lon {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }
}

/// Parallels that bound the rows, with what areas need of them.
#[derive(Debug)]
pub(super) struct Lines {
    parallels: Vec<Parallel>,
    /// Area of each row per radian of longitude.
    heights: Vec<f64>,
    /// Pole of the hemisphere in which a row lies, if it lies in one.
    poles: Vec<Option<Pole>>,
}

impl Lines {
    pub fn new(lat_edges: &[f64]) -> Self {
        let pole = |pair: &[f64]| match (pair[0] >= 0.0, pair[1] <= 0.0) {
            (true, _) => Some(Pole::North),
            (_, true) => Some(Pole::South),
            _ => None,
        };
        Self {
            parallels: lat_edges.iter().map(|lat| Parallel::new(*lat)).collect(),
            heights: lat_edges.windows(2).map(|pair| sine_difference(pair[0], pair[1])).collect(),
            poles: lat_edges.windows(2).map(pole).collect(),
        }
    }

    pub fn all(&self) -> &[Parallel] {
        &self.parallels
    }

    pub fn height(&self, row: usize) -> f64 {
        self.heights[row]
    }

    /// Pole from which colatitudes in a row are best counted for a cell in the hemisphere of `other`.
    pub fn pole(&self, row: usize, other: Pole) -> Pole {
        self.poles[row].unwrap_or(other)
    }

    /// Colatitudes of the southern and the northern side of a row.
    pub fn sides(&self, row: usize, pole: Pole) -> (f64, f64) {
        (self.parallels[row].colatitude(pole), self.parallels[row + 1].colatitude(pole))
    }
}

/// Columns of a row within a range of longitudes: contiguous intervals, in radian east of a local meridian, that cover
/// all longitudes.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// Edges of the intervals, one more than intervals, from −∞ to ∞.
    pub edges: Vec<f64>,
    /// The same in degrees.
    pub degrees: Vec<f64>,
    /// Column of each interval; none where the mesh has a gap and beyond the range.
    pub columns: Vec<Option<u32>>,
}

impl Window {
    /// Columns of `row` between `west` and `east` radian of the meridian at `meridian` degrees.
    pub fn fill(&mut self, strips: &Strips, row: usize, meridian: f64, west: f64, east: f64) {
        const MARGIN: f64 = 1e-9;
        self.degrees.clear();
        self.columns.clear();
        self.degrees.push(f64::NEG_INFINITY);
        self.columns.push(None);
        let (west, east) = (meridian + west.to_degrees() - MARGIN, meridian + east.to_degrees() + MARGIN);
        let n = strips.columns(row);
        let last_turn = ((east - strips.lon_edge(row, 0)) / 360.0).ceil();
        let mut turn = ((west - strips.lon_edge(row, n)) / 360.0).floor();
        while turn <= last_turn {
            let shift = 360.0 * turn;
            // Differences of edge and meridian come first: they are exact.
            let degrees = |i: usize| (strips.lon_edge(row, i) - meridian) + shift;
            let mut i = strips.first_beyond(row, west - shift);
            while i < n && strips.lon_edge(row, i) < east - shift {
                if self.columns.len() == 1 {
                    self.degrees.push(degrees(i));
                } else if i == 0 && !strips.closed() {
                    self.columns.push(None);
                    self.degrees.push(degrees(i));
                }
                self.columns.push(Some(i as u32));
                self.degrees.push(degrees(i + 1));
                i += 1;
            }
            turn += 1.0;
        }
        self.columns.push(None);
        self.degrees.push(f64::INFINITY);
        self.edges.clear();
        self.edges.extend(self.degrees.iter().map(|edge| edge.to_radians()));
    }

    /// Interval that holds a finite longitude.
    pub fn interval(&self, lon: f64) -> usize {
        self.edges.partition_point(|edge| *edge <= lon) - 1
    }
}
