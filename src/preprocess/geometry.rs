//! Corners, directions and lengths of the faces between cells.

use decomposition::Axis;

use super::{FacePlace, FaceTable};
use crate::grid::CubedSphere;
use crate::grid::vector::{add, angle, cross, dot, normalise, scale, subtract};

/// A face on the unit sphere: the great-circle arc between two cell corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaceArc {
    /// End with the smaller index along the face, on the panel or seam owner that numbers the face.
    pub a: [f64; 3],
    /// The other end.
    pub b: [f64; 3],
    /// Unit vector normal to the plane of the arc, from the left to the right cell: the sense of a positive flux.
    pub normal: [f64; 3],
    /// Length in radian.
    pub length: f64,
}

impl FaceArc {
    /// Mid-point of the arc.
    pub fn midpoint(&self) -> [f64; 3] {
        normalise(add(self.a, self.b))
    }
}

/// Arcs of all faces of a [`FaceTable`] and centres of all cells, on the unit sphere.
#[derive(Clone, Debug)]
pub struct FaceGeometry {
    arcs: Vec<FaceArc>,
    centers: Vec<[f64; 3]>,
    radius_m: f64,
}

impl FaceGeometry {
    /// Geometry of `faces` on `grid`, which must agree in cells per panel edge and panel convention.
    pub fn new(grid: &CubedSphere, faces: &FaceTable) -> Self {
        assert!(grid.nc() == faces.nc() && grid.convention() == faces.convention(), "grid and faces differ");
        let nc = grid.nc();
        let centers: Vec<[f64; 3]> = decomposition::Panel::ALL
            .into_iter()
            .flat_map(|panel| (0..nc * nc).map(move |c| grid.center(panel, c % nc, c / nc)))
            .collect();
        let arcs = (0..faces.faces())
            .map(|face| {
                let FacePlace { panel, axis, i, j } = faces.place(face);
                let a = grid.corner(panel, i, j);
                let b = match axis {
                    Axis::X => grid.corner(panel, i, j + 1),
                    Axis::Y => grid.corner(panel, i + 1, j),
                };
                // The difference of near points is exact, a plain a × b would lose digits.
                let normal = normalise(cross(a, subtract(b, a)));
                let across = subtract(centers[faces.right(face)], centers[faces.left(face)]);
                let sense = if dot(normal, across) < 0.0 { -1.0 } else { 1.0 };
                FaceArc { a, b, normal: scale(normal, sense), length: angle(a, b) }
            })
            .collect();
        Self { arcs, centers, radius_m: grid.radius_m() }
    }

    /// Arc of a face.
    pub fn arc(&self, face: usize) -> &FaceArc {
        &self.arcs[face]
    }

    /// Arcs of all faces.
    pub fn arcs(&self) -> &[FaceArc] {
        &self.arcs
    }

    /// Unit vectors of the cell centres.
    pub fn centers(&self) -> &[[f64; 3]] {
        &self.centers
    }

    /// Radius of the sphere in m.
    pub fn radius_m(&self) -> f64 {
        self.radius_m
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::GeometryBundle;

    fn both(nc: usize) -> impl Iterator<Item = (CubedSphere, FaceTable, FaceGeometry)> {
        GeometryBundle::ALL.into_iter().map(move |bundle| {
            let grid = CubedSphere::new(nc, bundle, bundle.default_offset_deg(), 6_371_229.0).unwrap();
            let faces = FaceTable::new(nc, grid.convention());
            let geometry = FaceGeometry::new(&grid, &faces);
            (grid, faces, geometry)
        })
    }

    #[test]
    fn arcs_agree_with_the_lengths_of_the_grid() {
        for (grid, faces, geometry) in both(6) {
            for (face, arc) in geometry.arcs().iter().enumerate() {
                for FacePlace { axis, i, j, .. } in
                    [Some(faces.place(face)), faces.mirror(face).map(|(p, _)| p)].into_iter().flatten()
                {
                    let length = match axis {
                        Axis::X => grid.face_length_x(i, j),
                        Axis::Y => grid.face_length_y(i, j),
                    };
                    assert!((arc.length * grid.radius_m() / length - 1.0).abs() < 1e-14, "face {face}");
                }
            }
        }
    }

    #[test]
    fn normals_point_from_left_to_right() {
        for (_, faces, geometry) in both(5) {
            for (face, arc) in geometry.arcs().iter().enumerate() {
                assert!(dot(arc.normal, arc.a).abs() < 1e-15 && dot(arc.normal, arc.b).abs() < 1e-15);
                assert!((dot(arc.normal, arc.normal) - 1.0).abs() < 1e-15);
                let middle = arc.midpoint();
                let (left, right) = (geometry.centers()[faces.left(face)], geometry.centers()[faces.right(face)]);
                assert!(dot(arc.normal, subtract(right, middle)) > 0.0, "face {face}");
                assert!(dot(arc.normal, subtract(left, middle)) < 0.0, "face {face}");
            }
        }
    }

    /// ∮ (Ω × x)·n ds around a closed cell is zero, since the integral over an arc is Ω·(b − a) up to its sense.
    #[test]
    fn arcs_of_a_cell_close() {
        let omega = normalise([0.3, -0.8, 0.5]);
        for (_, faces, geometry) in both(7) {
            let flux: Vec<f64> = (geometry.arcs().iter())
                .map(|arc| dot(cross(arc.a, arc.b), arc.normal).signum() * dot(omega, subtract(arc.a, arc.b)))
                .collect();
            let mut out = vec![0.0; faces.cells()];
            faces.divergence(&flux, &mut out);
            for (flux, arc) in flux.iter().zip(geometry.arcs()) {
                let middle = dot(cross(omega, arc.midpoint()), arc.normal) * 2.0 * (0.5 * arc.length).sin();
                assert!((flux - middle).abs() < 1e-15);
            }
            let largest = flux.iter().fold(0.0f64, |a, f| a.max(f.abs()));
            assert!(out.iter().all(|d| d.abs() < 4e-15 * largest));
        }
    }
}
