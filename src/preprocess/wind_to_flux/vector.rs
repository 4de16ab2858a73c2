//! Wind vectors interpolated to the mid-points of the faces.

use decomposition::{Axis, Panel};

use super::super::faces::FaceLine;
use super::super::{FaceGeometry, FaceTable};
use super::FaceInterpolation;
use super::lines::{all_lines, shift, slope, smooth};
use crate::grid::vector::{add, angle, cross, dot, normalise, scale, subtract};

/// Interpolation to a face.
#[derive(Clone, Copy, Debug)]
struct ToFace {
    normal: [f64; 3],
    /// Share of the left cell; the right one has the rest.
    left: f64,
}

/// Interpolation along the edge, from the point between the two cells of a seam face to the mid-point of the face.
#[derive(Clone, Copy, Debug)]
struct AlongSeam {
    /// The next face of the seam on the side of the mid-point.
    partner: usize,
    /// Its share.
    share: f64,
}

/// Normal winds and thicknesses of faces from wind vectors and thicknesses of cells.
#[derive(Clone, Debug)]
pub(super) struct VectorWinds {
    interpolation: FaceInterpolation,
    to_face: Vec<ToFace>,
    /// For the faces of the seams, which are the last of the table.
    along_seam: Vec<AlongSeam>,
    /// Where along their lines the normal winds are taken, from the face itself, in faces.
    shifts: Vec<f64>,
}

impl VectorWinds {
    /// The operator, and the length of each face on the unit sphere that belongs to it.
    ///
    /// The interpolated wind of a face is that of a point near its mid-point and a little below the sphere. Shift and
    /// length (two numbers that differ from 0 and the length of the arc by the square of the spacing) are chosen so that
    /// the flux ∫ (Ω × x)·N ds of a rigid rotation, Ω·(a − b), is met for each of its axes.
    pub fn new(faces: &FaceTable, geometry: &FaceGeometry, interpolation: FaceInterpolation) -> (Self, Vec<f64>) {
        let centers = geometry.centers();
        let to_face = (geometry.arcs().iter().enumerate())
            .map(|(face, arc)| {
                let left = angle(centers[faces.left(face)], arc.midpoint());
                let right = angle(centers[faces.right(face)], arc.midpoint());
                ToFace { normal: arc.normal, left: right / (left + right) }
            })
            .collect();
        let along_seam = (faces.inside()..faces.faces()).map(|face| AlongSeam::new(faces, geometry, face)).collect();
        let mut winds = Self { interpolation, to_face, along_seam, shifts: vec![0.0; faces.faces()] };
        let rotations = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| {
            let wind: [Vec<f64>; 3] =
                std::array::from_fn(|c| centers.iter().map(|center| cross(axis, *center)[c]).collect());
            let mut out = vec![0.0; faces.faces()];
            winds.normal_winds(faces, [&wind[0], &wind[1], &wind[2]], &mut out);
            out
        });
        let mut lengths = vec![0.0; faces.faces()];
        for line in all_lines(faces) {
            for n in 0..faces.nc() {
                let face = line.first + n * line.step;
                let arc = geometry.arc(face);
                let sense = dot(cross(arc.a, arc.b), arc.normal).signum();
                let exact = scale(subtract(arc.a, arc.b), sense);
                let found = [0, 1, 2].map(|axis| rotations[axis][face]);
                let slope = [0, 1, 2].map(|axis| slope(&rotations[axis], line, n, faces.nc()));
                (lengths[face], winds.shifts[face]) = fit(exact, found, slope);
            }
        }
        (winds, lengths)
    }

    /// Normal winds of all faces, m/s.
    pub fn normal_winds(&self, faces: &FaceTable, wind: [&[f64]; 3], out: &mut [f64]) {
        let nc = faces.nc();
        for panel in Panel::ALL {
            for across in 1..nc {
                let wide = self.interpolation != FaceInterpolation::Linear && across > 1 && across + 1 < nc;
                for (axis, stride) in [(Axis::X, 1), (Axis::Y, nc)] {
                    let FaceLine { first, step } = faces.line(panel, axis, across);
                    for face in (first..).step_by(step).take(nc) {
                        out[face] = match wide {
                            true => self.cubic(faces, wind, face, stride),
                            false => self.across(faces, wind, face, face),
                        };
                    }
                }
            }
        }
        for (face, AlongSeam { partner, share }) in (faces.inside()..).zip(&self.along_seam) {
            let own = self.across(faces, wind, face, face);
            out[face] = (1.0 - share) * own + share * self.across(faces, wind, *partner, face);
        }
        if self.interpolation == FaceInterpolation::Fv3 {
            smooth(faces, out);
        }
        shift(faces, &self.shifts, out);
    }

    /// Multiplies `out` by the thickness of each face.
    pub fn times_thickness(&self, faces: &FaceTable, thickness: &[f64], out: &mut [f64]) {
        let across = |face: usize| {
            let left = self.to_face[face].left;
            left * thickness[faces.left(face)] + (1.0 - left) * thickness[faces.right(face)]
        };
        let (inside, seams) = out.split_at_mut(faces.inside());
        inside.iter_mut().enumerate().for_each(|(face, out)| *out *= across(face));
        for ((face, out), AlongSeam { partner, share }) in (faces.inside()..).zip(seams).zip(&self.along_seam) {
            *out *= (1.0 - share) * across(face) + share * across(*partner);
        }
    }

    #[cfg(test)]
    pub fn without_shifts(&mut self) {
        self.shifts.fill(0.0);
    }

    /// Partner of the `n`th seam face, and its share.
    #[cfg(test)]
    pub fn partner(&self, n: usize) -> (usize, f64) {
        (self.along_seam[n].partner, self.along_seam[n].share)
    }

    /// Wind between the two cells of a face, along the normal of face `to`.
    fn across(&self, faces: &FaceTable, wind: [&[f64]; 3], face: usize, to: usize) -> f64 {
        let (l, r, left) = (faces.left(face), faces.right(face), self.to_face[face].left);
        dot(wind.map(|w| left * w[l] + (1.0 - left) * w[r]), self.to_face[to].normal)
    }

    /// Cubic interpolation in two cells on each side, which are `stride` apart.
    fn cubic(&self, faces: &FaceTable, wind: [&[f64]; 3], face: usize, stride: usize) -> f64 {
        let (l, r) = (faces.left(face), faces.right(face));
        let value = |w: &[f64]| (9.0 * (w[l] + w[r]) - (w[l - stride] + w[r + stride])) / 16.0;
        dot(wind.map(value), self.to_face[face].normal)
    }
}

impl AlongSeam {
    fn new(faces: &FaceTable, geometry: &FaceGeometry, face: usize) -> Self {
        let between =
            |face: usize| normalise(add(geometry.centers()[faces.left(face)], geometry.centers()[faces.right(face)]));
        let (seam, s) = faces.seam(face).expect("the last faces lie on seams");
        let (arc, point) = (geometry.arc(face), between(face));
        let ahead = dot(subtract(arc.midpoint(), point), subtract(arc.b, arc.a)) > 0.0;
        let next = if ahead { Some(s + 1).filter(|s| *s < faces.nc()) } else { s.checked_sub(1) };
        let Some(next) = next else {
            return AlongSeam { partner: face, share: 0.0 };
        };
        let partner = faces.seam_line(seam).first + next;
        let (own, other) = (angle(point, arc.midpoint()), angle(between(partner), arc.midpoint()));
        AlongSeam { partner, share: own / (own + other) }
    }
}

/// The length L and the shift s with L·(found + s·slope) = exact; all three lie in the plane of the face. Without a slope
/// the length alone, as near as it gets.
fn fit(exact: [f64; 3], found: [f64; 3], slope: [f64; 3]) -> (f64, f64) {
    let (found_2, both, slope_2) = (dot(found, found), dot(found, slope), dot(slope, slope));
    let (e_found, e_slope) = (dot(found, exact), dot(slope, exact));
    let determinant = found_2 * slope_2 - both * both;
    if determinant <= 1e-12 * found_2 * found_2 {
        return (e_found / found_2, 0.0);
    }
    let length = (e_found * slope_2 - e_slope * both) / determinant;
    (length, (e_slope * found_2 - e_found * both) / determinant / length)
}
