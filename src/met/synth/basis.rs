//! Fields that stay fixed while their amplitudes change: stream functions at corners and fluxes through cell sides.

use decomposition::{Edge, Panel, PanelConvention};

use super::quadrature::unit_interval;
use crate::grid::CubedSphere;
use crate::grid::vector::{add, cross, dot, east_north, normalise, scale, subtract};

/// Scalar function on the unit sphere.
pub(super) type ScalarField = Box<dyn Fn([f64; 3]) -> f64 + Send + Sync>;
/// Tangential vector field on the unit sphere.
pub(super) type VectorField = Box<dyn Fn([f64; 3]) -> [f64; 3] + Send + Sync>;

/// Values at the corners of all panels, `[(panel * (nc + 1) + j) * (nc + 1) + i]`. Shared corners hold the same bits.
pub(super) fn corner_values(grid: &CubedSphere, field: &ScalarField) -> Vec<f64> {
    let n = grid.nc() + 1;
    let mut values = Vec::with_capacity(6 * n * n);
    for panel in Panel::ALL {
        for (j, i) in (0..n * n).map(|c| (c / n, c % n)) {
            // A corner may carry −0 on one panel and +0 on the other.
            values.push(field(grid.corner(panel, i, j).map(|c| c + 0.0)));
        }
    }
    values
}

/// Values at the cell centres of all panels, `[(panel * nc + j) * nc + i]`.
pub(super) fn center_values<T>(grid: &CubedSphere, field: impl Fn([f64; 3]) -> T) -> Vec<T> {
    let n = grid.nc();
    let cell = |panel| (0..n * n).map(move |c| (panel, c % n, c / n));
    Panel::ALL.into_iter().flat_map(cell).map(|(panel, i, j)| field(grid.center(panel, i, j))).collect()
}

/// Fluxes through the sides of the cells of all panels, positive towards larger i and j.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FaceField {
    nc: usize,
    /// Sides across i, `[(panel * nc + j) * (nc + 1) + i]`.
    pub x: Vec<f64>,
    /// Sides across j, `[(panel * (nc + 1) + j) * nc + i]`.
    pub y: Vec<f64>,
}

impl FaceField {
    /// Field of zeros.
    pub fn zeros(nc: usize) -> Self {
        Self { nc, x: vec![0.0; 6 * nc * (nc + 1)], y: vec![0.0; 6 * nc * (nc + 1)] }
    }

    /// Fluxes of a stream function given at the corners: zero net flow out of every cell.
    pub fn from_corners(nc: usize, psi: &[f64]) -> Self {
        let mut faces = Self::zeros(nc);
        for panel in 0..6 {
            let corners = &psi[panel * (nc + 1) * (nc + 1)..(panel + 1) * (nc + 1) * (nc + 1)];
            let sides = panel * nc * (nc + 1)..(panel + 1) * nc * (nc + 1);
            add_stream_fluxes(nc, corners, &mut faces.x[sides.clone()], &mut faces.y[sides]);
        }
        faces
    }

    /// Fluxes of a vector field through the great-circle sides on the unit sphere.
    pub fn through_sides(grid: &CubedSphere, field: &VectorField) -> Self {
        let nc = grid.nc();
        let mut faces = Self::zeros(nc);
        for panel in Panel::ALL {
            for (j, i) in (0..nc * (nc + 1)).map(|c| (c / (nc + 1), c % (nc + 1))) {
                let [low, high] = [grid.corner(panel, i, j), grid.corner(panel, i, j + 1)];
                faces.x[(panel.index() * nc + j) * (nc + 1) + i] = flux_to_the_right(low, high, field);
                // The same pair of loops runs over the sides across j with the axes exchanged.
                let [low, high] = [grid.corner(panel, j, i), grid.corner(panel, j + 1, i)];
                faces.y[(panel.index() * (nc + 1) + i) * nc + j] = -flux_to_the_right(low, high, field);
            }
        }
        faces.mirror_seams(grid.convention());
        faces
    }

    /// Outflow minus inflow of every cell.
    pub fn divergence(&self) -> Vec<f64> {
        let nc = self.nc;
        let mut out = Vec::with_capacity(6 * nc * nc);
        for (row, x) in self.x.chunks(nc + 1).enumerate() {
            let (panel, j) = (row / nc, row % nc);
            let south = (panel * (nc + 1) + j) * nc;
            for i in 0..nc {
                out.push((x[i + 1] - x[i]) + (self.y[south + nc + i] - self.y[south + i]));
            }
        }
        out
    }

    /// Copies seam fluxes from the lower-numbered panel to the other side, in that side's own sense.
    pub fn mirror_seams(&mut self, convention: PanelConvention) {
        for seam in convention.seams() {
            for s in 0..self.nc {
                let value = *self.side(seam.owner.0, seam.owner.1, s);
                let along = seam.along.map(s, self.nc);
                *self.side(seam.other.0, seam.other.1, along) = seam.sign.factor() * value;
            }
        }
    }

    /// Flux through side `s` of a panel edge.
    pub fn side(&mut self, panel: Panel, edge: Edge, s: usize) -> &mut f64 {
        let (nc, p) = (self.nc, panel.index());
        match edge {
            Edge::West => &mut self.x[(p * nc + s) * (nc + 1)],
            Edge::East => &mut self.x[(p * nc + s) * (nc + 1) + nc],
            Edge::South => &mut self.y[p * (nc + 1) * nc + s],
            Edge::North => &mut self.y[(p * (nc + 1) + nc) * nc + s],
        }
    }
}

/// Adds the fluxes of a stream function at the corners of one panel, `[j * (nc + 1) + i]`: air flows with the larger
/// values on its left, −(ψ(i, j+1) − ψ(i, j)) across i and ψ(i+1, j) − ψ(i, j) across j.
pub(super) fn add_stream_fluxes(nc: usize, psi: &[f64], x: &mut [f64], y: &mut [f64]) {
    let n = nc + 1;
    for (at, flux) in x.iter_mut().enumerate() {
        *flux += psi[at] - psi[at + n];
    }
    for (j, row) in y.chunks_mut(nc).enumerate() {
        let psi = &psi[j * n..(j + 1) * n];
        for (i, flux) in row.iter_mut().enumerate() {
            *flux += psi[i + 1] - psi[i];
        }
    }
}

/// Flux of `field` across the great circle from `a` to `b`, positive to the right seen from outside.
///
/// With q = a + s(b − a) and p = q/|q| the flux is ∫ (b − a)·(p × V)/|q| ds.
fn flux_to_the_right(a: [f64; 3], b: [f64; 3], field: &VectorField) -> f64 {
    let chord = subtract(b, a);
    let at = |(s, weight): (f64, f64)| {
        let q = add(a, scale(chord, s));
        let length = dot(q, q).sqrt();
        let p = scale(q, 1.0 / length);
        weight * dot(chord, cross(p, field(p))) / length
    };
    unit_interval().into_iter().map(at).sum()
}

/// Eastward and northward components at `p` of the flow of a stream function: (−∂ψ/∂θ, ∂ψ/∂λ / cosθ), by central
/// differences.
pub(super) fn stream_velocity(field: &ScalarField, p: [f64; 3]) -> [f64; 2] {
    const STEP: f64 = 1e-5;
    let (east, north) = east_north(p);
    let slope = |axis: [f64; 3]| {
        let at = |h: f64| field(normalise(add(p, scale(axis, h))));
        (at(STEP) - at(-STEP)) / (2.0 * STEP)
    };
    [-slope(north), slope(east)]
}

/// Eastward and northward components of a vector field at `p`.
pub(super) fn vector_velocity(field: &VectorField, p: [f64; 3]) -> [f64; 2] {
    let (east, north) = east_north(p);
    let v = field(p);
    [dot(v, east), dot(v, north)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::GeometryBundle;

    fn grid(bundle: GeometryBundle, nc: usize) -> CubedSphere {
        CubedSphere::new(nc, bundle, bundle.default_offset_deg(), 1.0).unwrap()
    }

    /// Solid-body rotation (−y, x, 0) has the stream function −z: both ways give the same fluxes.
    #[test]
    fn side_fluxes_agree_with_the_stream_function() {
        for bundle in GeometryBundle::ALL {
            let grid = grid(bundle, 7);
            let rotation: VectorField = Box::new(|p| [-p[1], p[0], 0.0]);
            let faces = FaceField::through_sides(&grid, &rotation);
            let stream: ScalarField = Box::new(|p| -p[2]);
            let mut expected = FaceField::from_corners(7, &corner_values(&grid, &stream));
            for (found, expected) in faces.x.iter().chain(&faces.y).zip(expected.x.iter().chain(&expected.y)) {
                // Four-point quadrature over sides of 13 degrees.
                assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
            // Shared corners have the same bits, so seam copies already agree.
            let before = expected.clone();
            expected.mirror_seams(grid.convention());
            assert_eq!(before, expected);
            let [u, v] = stream_velocity(&stream, normalise([0.4, 0.5, 0.6]));
            assert!((u - (0.41f64 / 0.77).sqrt()).abs() < 1e-9 && v.abs() < 1e-9);
        }
    }

    /// Gradient of z: its divergence is −2z, whose cell integral is −2 × the area integral of z.
    #[test]
    fn divergence_integrates_the_source() {
        for bundle in GeometryBundle::ALL {
            let grid = grid(bundle, 24);
            let slope: VectorField = Box::new(|p| [-p[2] * p[0], -p[2] * p[1], 1.0 - p[2] * p[2]]);
            let divergence = FaceField::through_sides(&grid, &slope).divergence();
            let z = center_values(&grid, |p| p[2]);
            assert!(divergence.iter().sum::<f64>().abs() < 1e-13);
            for (c, d) in divergence.iter().enumerate() {
                let area = grid.area(c % 24, c / 24 % 24);
                assert!((d + 2.0 * z[c] * area).abs() < 2e-3 * area, "cell {c}");
            }
        }
    }
}
