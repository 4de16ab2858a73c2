//! Areas that the cells of two meshes share.

use super::Mesh;

/// Destination cells by how much of them source cells cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Cells covered by more than half, which have a value.
    pub covered: usize,
    /// Cells covered by half or less, which have none.
    pub uncovered: usize,
}

/// Intersection areas of the cells of two meshes in steradian, by destination cell, with the areas of all cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlap {
    /// First entry of each destination cell, and the number of entries.
    pub(super) rows: Vec<usize>,
    /// Source cell of each entry, ascending within a destination cell.
    pub(super) sources: Vec<u32>,
    /// Area of each entry.
    pub(super) areas: Vec<f64>,
    pub(super) src_area: Vec<f64>,
    pub(super) dst_area: Vec<f64>,
}

impl Overlap {
    /// Intersections of all cells of `src` with all cells of `dst`.
    pub fn new(src: &Mesh, dst: &Mesh) -> Self {
        let _ = (src, dst);
        todo!("intersections of cells")
    }

    /// The same areas with source and destination exchanged.
    pub fn transposed(&self) -> Self {
        let cells = self.src_area.len();
        let mut rows = vec![0usize; cells + 1];
        self.sources.iter().for_each(|s| rows[*s as usize + 1] += 1);
        (0..cells).for_each(|c| rows[c + 1] += rows[c]);
        let mut next = rows.clone();
        let (mut sources, mut areas) = (vec![0u32; self.sources.len()], vec![0.0; self.areas.len()]);
        for dst in 0..self.dst_area.len() {
            for entry in self.rows[dst]..self.rows[dst + 1] {
                let at = &mut next[self.sources[entry] as usize];
                (sources[*at], areas[*at]) = (dst as u32, self.areas[entry]);
                *at += 1;
            }
        }
        let (src_area, dst_area) = (self.dst_area.clone(), self.src_area.clone());
        Self { rows, sources, areas, src_area, dst_area }
    }

    /// Source cells and shared areas (steradian) of a destination cell.
    pub fn row(&self, dst: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.rows[dst]..self.rows[dst + 1];
        self.sources[range.clone()].iter().zip(&self.areas[range]).map(|(s, a)| (*s as usize, *a))
    }

    /// Number of intersections.
    pub fn len(&self) -> usize {
        self.areas.len()
    }

    /// Whether no cells intersect.
    pub fn is_empty(&self) -> bool {
        self.areas.is_empty()
    }

    /// Areas of the source cells in steradian.
    pub fn src_areas(&self) -> &[f64] {
        &self.src_area
    }

    /// Areas of the destination cells in steradian.
    pub fn dst_areas(&self) -> &[f64] {
        &self.dst_area
    }

    /// Means of the destination cells from means of the source cells (mixing ratios, temperatures): the mean over the
    /// covered part where that is more than half of the cell, else NaN.
    ///
    /// # Panics
    /// Unless `src` and `dst` have one value per cell.
    pub fn intensive(&self, src: &[f64], dst: &mut [f64]) -> Coverage {
        let _ = (src, dst);
        todo!("means")
    }

    /// Amounts per destination cell (kg s⁻¹) of a density per area (kg m⁻² s⁻¹) on a sphere of `radius_m`. Their sum is
    /// that of the source over the part that destination cells cover.
    ///
    /// # Panics
    /// Unless `density` and `dst` have one value per cell.
    pub fn totals(&self, density: &[f64], radius_m: f64, dst: &mut [f64]) {
        let _ = (density, radius_m, dst);
        todo!("totals")
    }

    /// Amounts per destination cell from amounts per source cell, each spread evenly over its cell.
    ///
    /// # Panics
    /// Unless `src` and `dst` have one value per cell.
    pub fn extensive(&self, src: &[f64], dst: &mut [f64]) {
        let _ = (src, dst);
        todo!("amounts")
    }
}
