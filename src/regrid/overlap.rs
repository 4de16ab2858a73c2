//! Areas that the cells of two meshes share.

use std::f64::consts::PI;

/// Intersection areas of the cells of two meshes in steradian, by destination cell, with the areas of all cells.
///
/// The operator between equal meshes is the identity and carries areas like any other.
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

    /// Source cells, ascending, and the areas that they share with a destination cell, steradian.
    ///
    /// # Panics
    /// If there is no such cell.
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

    /// Area of each destination cell that source cells cover, steradian.
    pub fn covered(&self) -> Vec<f64> {
        (0..self.dst_area.len()).map(|cell| sum(self.row(cell).map(|(_, area)| area))).collect()
    }

    /// Whether both meshes cover the sphere, so that integrals over it are kept.
    pub fn is_global(&self) -> bool {
        (sum(self.areas.iter().copied()) / (4.0 * PI) - 1.0).abs() < 1e-9
    }
}

/// A sum with a second word for what rounding drops (Neumaier 1974): rows hold from one to many thousand areas.
pub(super) fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut dropped) = (0.0f64, 0.0f64);
    for term in terms {
        let next = sum + term;
        dropped += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    // Without this, a value that is not finite would turn into one that is not a number.
    if dropped.is_finite() { sum + dropped } else { sum }
}
