//! Areas and lengths of one panel; by symmetry they serve all six.

use super::GeometryBundle;
use super::vector::{add, angle, normalise, solid_angle};

/// Unit-sphere metrics of a panel, symmetric to the last bit under exchange of the axes and reflection.
#[derive(Clone, Debug)]
pub(super) struct Metrics {
    /// Cell solid angles in steradian, `[j * nc + i]`.
    pub area: Vec<f64>,
    /// Width along i at the cell centre line in radian, `[j * nc + i]`; width along j is its transpose.
    pub width: Vec<f64>,
    /// Length of the sides across i in radian, `[j * (nc + 1) + i]`; sides across j are its transpose.
    pub face: Vec<f64>,
}

impl Metrics {
    /// Metrics for the edge coordinates `nodes` (nc + 1 values, odd about the middle).
    pub fn new(nodes: &[f64]) -> Self {
        let nc = nodes.len() - 1;
        let point = |i: usize, j: usize| point(nodes[i], nodes[j]);
        let mut area = vec![0.0; nc * nc];
        let mut width = vec![0.0; nc * nc];
        let mut face = vec![0.0; (nc + 1) * nc];
        let half = nc.div_ceil(2);
        for j in 0..half {
            let j_mirror = nc - 1 - j;
            for i in 0..half {
                let i_mirror = nc - 1 - i;
                let (sw, se) = (point(i, j), point(i + 1, j));
                let (ne, nw) = (point(i + 1, j + 1), point(i, j + 1));
                let w = angle(normalise(add(sw, nw)), normalise(add(se, ne)));
                // Only one triangle of the octant is computed, so that area(i, j) = area(j, i) holds exactly.
                if j <= i {
                    let omega = solid_angle(sw, se, ne) + solid_angle(sw, ne, nw);
                    for (a, b) in [(i, j), (i_mirror, j), (i, j_mirror), (i_mirror, j_mirror)] {
                        area[b * nc + a] = omega;
                        area[a * nc + b] = omega;
                    }
                }
                for (a, b) in [(i, j), (i_mirror, j), (i, j_mirror), (i_mirror, j_mirror)] {
                    width[b * nc + a] = w;
                }
            }
            for i in 0..=nc / 2 {
                let length = angle(point(i, j), point(i, j + 1));
                for (a, b) in [(i, j), (nc - i, j), (i, j_mirror), (nc - i, j_mirror)] {
                    face[b * (nc + 1) + a] = length;
                }
            }
        }
        Self { area, width, face }
    }

    /// Sum of the six panels' solid angles.
    pub fn total_area(&self, nc: usize) -> f64 {
        let rows: f64 = self.area.chunks(nc).map(|row| row.iter().sum::<f64>()).sum();
        6.0 * rows
    }
}

/// Point of the first panel's frame.
fn point(xi: f64, eta: f64) -> [f64; 3] {
    super::frame::frames(GeometryBundle::Gnomonic.convention())[0].point(xi, eta)
}
