//! Reduced Gaussian and other ring meshes.

use super::latlon::ascending;
use super::{GaussianLatitudes, RegridError};

/// Where a ring of cells begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RingStart {
    /// The centre of the first cell of every ring lies at this longitude, degrees (0 in GRIB).
    Centre(f64),
    /// The western edge of the first cell of every ring lies at this longitude, degrees.
    Edge(f64),
}

/// Rings of equal cells all around, ring by ring from south to north, each from its first cell eastwards. The sides are
/// parallels and meridians.
#[derive(Clone, Debug, PartialEq)]
pub struct ReducedMesh {
    points: Vec<usize>,
    /// First cell of each ring, and the number of cells.
    offsets: Vec<usize>,
    lat: Vec<f64>,
    start: RingStart,
}

impl ReducedMesh {
    /// Mesh with `points[r]` cells in ring r between the latitudes `lat_edges[r]` and `lat_edges[r + 1]`, degrees,
    /// ascending within −90..=90.
    ///
    /// # Errors
    /// [`RegridError::Axis`] for wrong counts, latitudes or an empty ring, [`RegridError::Cells`] for too many cells.
    pub fn new(points: Vec<usize>, lat_edges: Vec<f64>, start: RingStart) -> Result<Self, RegridError> {
        ascending("latitude", &lat_edges)?;
        if lat_edges.len() != points.len() + 1 {
            return RegridError::axis("rings", format!("{} rings with {} edges", points.len(), lat_edges.len()));
        }
        if let Some(ring) = points.iter().position(|n| *n == 0) {
            return RegridError::axis("rings", format!("ring {} has no cell", ring + 1));
        }
        if lat_edges[0] < -90.0 || lat_edges[points.len()] > 90.0 {
            let (south, north) = (lat_edges[0], lat_edges[points.len()]);
            return RegridError::axis("latitude", format!("edges from {south} to {north} degrees"));
        }
        let (RingStart::Centre(lon) | RingStart::Edge(lon)) = start;
        if !(-360.0..=360.0).contains(&lon) {
            return RegridError::axis("longitude", format!("rings start at {lon} degrees"));
        }
        let offsets: Vec<usize> = std::iter::once(0)
            .chain(points.iter().scan(0usize, |sum, n| {
                *sum = sum.saturating_add(*n);
                Some(*sum)
            }))
            .collect();
        super::mesh::countable(offsets[points.len()])?;
        Ok(Self { points, offsets, lat: lat_edges, start })
    }

    /// Gaussian mesh with as many rings as `points` has entries, south to north.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn gaussian(points: Vec<usize>, start: RingStart) -> Result<Self, RegridError> {
        if points.is_empty() {
            return RegridError::axis("rings", "no ring".into());
        }
        let edges = GaussianLatitudes::new(points.len()).edges().to_vec();
        Self::new(points, edges, start)
    }

    /// Cells of each ring.
    pub fn points(&self) -> &[usize] {
        &self.points
    }

    /// Edges of the rings in degrees.
    pub fn lat_edges(&self) -> &[f64] {
        &self.lat
    }

    /// Where rings begin.
    pub fn start(&self) -> RingStart {
        self.start
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.offsets[self.points.len()]
    }

    /// First cell of each ring, and the number of cells at the end.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Longitude in degrees of the western edge of cell `i` of a ring; `i` may be the number of its cells.
    pub fn lon_edge(&self, ring: usize, i: usize) -> f64 {
        let n = self.points[ring] as f64;
        let west = match self.start {
            RingStart::Edge(lon) => lon,
            RingStart::Centre(lon) => lon - 180.0 / n,
        };
        west + 360.0 * i as f64 / n
    }

    /// Puts values stored from the northern ring southwards, as in GRIB, into the order of the mesh.
    ///
    /// # Panics
    /// If `stored` has not one value per cell.
    pub fn reorder_from_north(&self, stored: &[f64], out: &mut Vec<f64>) {
        assert_eq!(stored.len(), self.cells(), "one value per cell");
        out.clear();
        let cells = self.cells();
        for ring in 0..self.points.len() {
            let (first, end) = (self.offsets[ring], self.offsets[ring + 1]);
            out.extend_from_slice(&stored[cells - end..cells - first]);
        }
    }
}
