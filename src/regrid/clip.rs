//! Intersections of convex cells with great-circle sides.

use super::polygons::Polygons;
use super::tree::{Ball, Tree};
use crate::grid::vector::{add, cross, dot, normalise, scale, solid_angle, subtract};

/// Distance in radian that can only be rounding.
const ROUNDING: f64 = 1e-15;

/// Clips cells of one mesh by those of the other. Keeps its scratch memory.
pub(super) struct Clipper<'a> {
    subjects: Polygons<'a>,
    clips: Polygons<'a>,
    tree: &'a Tree,
    found: Vec<u32>,
    shape: Vec<[f64; 3]>,
    next: Vec<[f64; 3]>,
    depths: Vec<f64>,
}

impl<'a> Clipper<'a> {
    /// Cells of `subjects` against those of `clips`, which `tree` holds.
    pub fn new(subjects: Polygons<'a>, clips: Polygons<'a>, tree: &'a Tree) -> Self {
        let (found, shape, next, depths) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { subjects, clips, tree, found, shape, next, depths }
    }

    /// Adds to `out` every clipping cell that `cell` intersects and the shared area, ascending.
    pub fn cut(&mut self, cell: usize, out: &mut Vec<(u32, f64)>) {
        let corners = self.subjects.corners(cell);
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        self.tree.near(&Ball::around(&corners), &mut found);
        found.sort_unstable();
        for other in &found {
            self.shape.clear();
            self.shape.extend_from_slice(&corners);
            self.shape.dedup();
            let area = self.shared(&self.clips.corners(*other as usize));
            if area > 0.0 {
                out.push((*other, area));
            }
        }
        self.found = found;
    }

    /// Area of what is left of the shape within a ring.
    fn shared(&mut self, ring: &[[f64; 3]; 4]) -> f64 {
        for k in 0..ring.len() {
            let (a, b) = (ring[k], ring[(k + 1) % ring.len()]);
            if a != b {
                self.keep_left_of(a, b);
            }
            if self.shape.len() < 3 {
                return 0.0;
            }
        }
        let first = self.shape[0];
        self.shape[1..].windows(2).map(|pair| solid_angle(first, pair[0], pair[1])).sum()
    }

    /// Keeps the part of the shape to the left of the great circle from `a` to `b` (Sutherland & Hodgman 1974).
    fn keep_left_of(&mut self, a: [f64; 3], b: [f64; 3]) {
        // (a − b) × (a + b) = 2 a × b, and distances from a, so that nothing cancels for small cells.
        let normal = cross(subtract(a, b), add(a, b));
        self.depths.clear();
        // Corners that can only be off by rounding lie on the circle.
        let least = ROUNDING * dot(normal, normal).sqrt();
        let depth = |v: &[f64; 3]| Some(dot(normal, subtract(*v, a))).filter(|d| d.abs() > least).unwrap_or(0.0);
        self.depths.extend(self.shape.iter().map(depth));
        self.next.clear();
        for k in 0..self.shape.len() {
            let l = (k + 1) % self.shape.len();
            let (p, q, dp, dq) = (self.shape[k], self.shape[l], self.depths[k], self.depths[l]);
            if dp >= 0.0 {
                self.next.push(p);
            }
            if dp * dq < 0.0 {
                self.next.push(normalise(add(scale(p, dq.abs()), scale(q, dp.abs()))));
            }
        }
        std::mem::swap(&mut self.shape, &mut self.next);
    }
}
