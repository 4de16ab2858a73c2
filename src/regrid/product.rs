//! Areas that two meshes of meridians and parallels share: products of shared longitudes and latitudes.

use super::latlon::sine_difference;
use super::strips::{Strips, Window};

/// Cuts cells of one strip mesh by those of another. Keeps its scratch memory.
pub(super) struct Product<'a> {
    cells: Strips<'a>,
    others: Strips<'a>,
    window: Window,
}

impl<'a> Product<'a> {
    pub fn new(cells: Strips<'a>, others: Strips<'a>) -> Self {
        Self { cells, others, window: Window::default() }
    }

    /// Adds to `out` every cell of the other mesh that cell `column` of row `row` intersects and the shared area,
    /// ascending.
    pub fn cut(&mut self, row: usize, column: usize, out: &mut Vec<(u32, f64)>) {
        let (lat, other_lat) = (self.cells.lat_edges(), self.others.lat_edges());
        let (south, north) = (lat[row], lat[row + 1]);
        let west = self.cells.lon_edge(row, column);
        let width = (self.cells.lon_edge(row, column + 1) - west).to_radians();
        let first = other_lat[1..].partition_point(|edge| *edge <= south);
        for other in first..self.others.rows() {
            if other_lat[other] >= north {
                return;
            }
            let height = sine_difference(south.max(other_lat[other]), north.min(other_lat[other + 1]));
            self.window.fill(&self.others, other, west, 0.0, width);
            let begin = out.len();
            for (column, edges) in self.window.columns.iter().zip(self.window.edges.windows(2)) {
                let shared = edges[1].min(width) - edges[0].max(0.0);
                if let (Some(column), true) = (column, shared > 0.0) {
                    out.push((self.others.first(other) as u32 + column, shared * height));
                }
            }
            super::cut::merge(begin, out);
        }
    }
}
