//! Fluxes through faces as line integrals of winds on rings of points (spec 40 §1.6).

use rayon::prelude::*;

use super::FaceGeometry;
use crate::grid::constants::GRAVITY;
use crate::grid::vector::{add, dot, scale, to_lonlat};
use crate::spectral::Ring;

/// Points at which a face is sampled: the middles of equal parts.
const SAMPLES: usize = 16;

/// Air through the faces of the cube from winds on rings of points: reduced or full Gaussian grids, longitudes and latitudes.
///
/// The flux of a level through a face is (1/g) ∫ N·(V Δp) ds along its great-circle arc, by the middles of 16 equal parts.
/// V Δp, a vector in space, is interpolated linearly along the two rings around a point and then in latitude; beyond the
/// outermost rings towards the mean over the ring, taken at the pole. Rings have their points where their
/// [`first_longitude`](Ring::first_longitude) says: 0 for GRIB, half a spacing for centres of cells that begin at 0.
#[derive(Clone, Debug)]
pub struct LineIntegral {
    points: usize,
    /// First entry of each face; one more than faces.
    starts: Vec<usize>,
    columns: Vec<u32>,
    /// What eastward and northward m s⁻¹ Pa at a point bring through the face, kg s⁻¹.
    weights: Vec<[f64; 2]>,
}

/// Rings that cannot be interpolated on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("rings of the winds: {problem}")]
pub struct RingsError {
    /// What is wrong.
    problem: String,
}

impl RingsError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        "give two rings or more that cover the globe, in the order of their latitudes, each with a point or more"
    }
}

/// A source point and its part in an interpolated value.
type Part = (usize, f64);

/// Rings from south to north.
struct Source<'a> {
    rings: Vec<(&'a Ring, usize)>,
}

impl<'a> Source<'a> {
    fn new(rings: &'a [Ring]) -> Result<Self, RingsError> {
        let refuse = |problem: String| Err(RingsError { problem });
        if rings.len() < 2 {
            return refuse(format!("{} of them", rings.len()));
        }
        let mut first = 0;
        let mut sorted = Vec::with_capacity(rings.len());
        for (n, ring) in rings.iter().enumerate() {
            if ring.points == 0 || !ring.latitude.is_finite() || !ring.first_longitude.is_finite() {
                return refuse(format!("ring {} is {ring:?}", n + 1));
            }
            sorted.push((ring, first));
            first += ring.points;
        }
        if u32::try_from(first).is_err() {
            return refuse(format!("{first} points"));
        }
        if rings[0].latitude > rings[1].latitude {
            sorted.reverse();
        }
        let disordered = sorted.windows(2).find(|pair| pair[0].0.latitude >= pair[1].0.latitude);
        if let Some([(south, _), (north, _)]) = disordered {
            return refuse(format!("latitude {} next to {}", south.latitude, north.latitude));
        }
        let source = Self { rings: sorted };
        // Beyond the outermost rings there is one value, that of the pole.
        let (south, north) = (source.ring(0).latitude, source.ring(rings.len() - 1).latitude);
        let (spacing, gap) = ((north - south) / (rings.len() - 1) as f64, (south + 90.0).max(90.0 - north));
        if south < -90.0 || north > 90.0 || gap > 1.5 * spacing {
            return refuse(format!("they reach from {south} to {north} degrees"));
        }
        Ok(source)
    }

    fn ring(&self, r: usize) -> &Ring {
        self.rings[r].0
    }

    /// Linear interpolation along a ring.
    fn along(&self, r: usize, longitude: f64, factor: f64, parts: &mut Vec<Part>) {
        let (ring, first) = self.rings[r];
        let n = ring.points as f64;
        let place = ((longitude - ring.first_longitude) / 360.0).rem_euclid(1.0) * n;
        let i = (place as usize).min(ring.points - 1);
        let part = place - i as f64;
        parts.push((first + i, factor * (1.0 - part)));
        parts.push((first + (i + 1) % ring.points, factor * part));
    }

    /// Mean over a ring.
    fn mean(&self, r: usize, factor: f64, parts: &mut Vec<Part>) {
        let (ring, first) = self.rings[r];
        parts.extend((first..first + ring.points).map(|point| (point, factor / ring.points as f64)));
    }

    /// Source points of the value at a place, and their parts.
    fn parts(&self, longitude: f64, latitude: f64, factor: f64, parts: &mut Vec<Part>) {
        let last = self.rings.len() - 1;
        let above = self.rings.partition_point(|(ring, _)| ring.latitude <= latitude);
        if above == 0 || above > last {
            let (r, pole) = if above == 0 { (0, -90.0) } else { (last, 90.0) };
            let ring = self.ring(r).latitude;
            let beyond = if ring == pole { 0.0 } else { (latitude - ring) / (pole - ring) };
            self.along(r, longitude, factor * (1.0 - beyond), parts);
            if beyond > 0.0 {
                self.mean(r, factor * beyond, parts);
            }
            return;
        }
        let (south, north) = (self.ring(above - 1).latitude, self.ring(above).latitude);
        let part = (latitude - south) / (north - south);
        self.along(above - 1, longitude, factor * (1.0 - part), parts);
        self.along(above, longitude, factor * part, parts);
    }
}

/// East and north at every point of rings. At a pole they are those of the meridian of the point.
pub(super) fn axes(rings: &[Ring]) -> Vec<[[f64; 3]; 2]> {
    let of_ring = |ring: &Ring| {
        let (first, step) = (ring.first_longitude, 360.0 / ring.points as f64);
        let (sin_lat, cos_lat) = ring.latitude.to_radians().sin_cos();
        (0..ring.points).map(move |i| {
            let (sin, cos) = (first + i as f64 * step).to_radians().sin_cos();
            [[-sin, cos, 0.0], [-sin_lat * cos, -sin_lat * sin, cos_lat]]
        })
    };
    rings.iter().flat_map(of_ring).collect()
}

impl LineIntegral {
    /// Integrals along all faces of `geometry` of fields on `rings`, whose points follow each other ring by ring, as in
    /// [`Synthesis`](crate::spectral::Synthesis).
    ///
    /// # Errors
    /// [`RingsError`] for fewer than two rings, rings out of order and rings that leave out part of the globe.
    pub fn new(geometry: &FaceGeometry, rings: &[Ring]) -> Result<Self, RingsError> {
        let source = Source::new(rings)?;
        let axes = axes(rings);
        let of_face = |arc: &super::FaceArc| -> Vec<(u32, [f64; 2])> {
            let mut parts = Vec::new();
            for q in 0..SAMPLES {
                let t = (q as f64 + 0.5) / SAMPLES as f64;
                let along = add(scale(arc.a, ((1.0 - t) * arc.length).sin()), scale(arc.b, (t * arc.length).sin()));
                let (longitude, latitude) = to_lonlat(along);
                source.parts(longitude, latitude, 1.0 / SAMPLES as f64, &mut parts);
            }
            // Points used by several samples become one entry. The sort is stable: sums keep the order along the arc.
            parts.sort_by_key(|(point, _)| *point);
            let metres = arc.length * geometry.radius_m() / GRAVITY;
            parts
                .chunk_by(|a, b| a.0 == b.0)
                .map(|same| {
                    let part: f64 = same.iter().map(|(_, part)| part).sum();
                    let point = same[0].0;
                    (point as u32, axes[point].map(|axis| metres * part * dot(arc.normal, axis)))
                })
                .collect()
        };
        let entries: Vec<_> = geometry.arcs().par_iter().map(of_face).collect();
        let mut starts = vec![0];
        entries.iter().for_each(|face| starts.push(starts[starts.len() - 1] + face.len()));
        let (columns, weights) = entries.into_iter().flatten().unzip();
        Ok(Self { points: axes.len(), starts, columns, weights })
    }

    /// Points of the winds.
    pub fn points(&self) -> usize {
        self.points
    }

    /// Faces.
    pub fn faces(&self) -> usize {
        self.starts.len() - 1
    }

    /// Bytes that the weights take.
    pub fn bytes(&self) -> usize {
        self.columns.len() * (size_of::<u32>() + size_of::<[f64; 2]>()) + self.starts.len() * size_of::<usize>()
    }

    /// Air through every face of one level, kg s⁻¹, positive from left to right, from the winds `u` and `v` (m s⁻¹, towards
    /// east and north) and the `thickness` of the layer in Pa at all points.
    ///
    /// # Panics
    /// If lengths do not fit.
    pub fn fluxes(&self, u: &[f64], v: &[f64], thickness: &[f64], out: &mut [f64]) {
        assert!([u, v, thickness].iter().all(|field| field.len() == self.points), "winds on {} points", self.points);
        assert!(out.len() == self.faces(), "{} faces", self.faces());
        for (out, range) in out.iter_mut().zip(self.starts.windows(2)) {
            let entries = self.columns[range[0]..range[1]].iter().zip(&self.weights[range[0]..range[1]]);
            *out = entries
                .map(|(point, [east, north])| {
                    let point = *point as usize;
                    thickness[point] * (east * u[point] + north * v[point])
                })
                .sum();
        }
    }

    /// [`fluxes`](Self::fluxes) of all levels, `[level][point]` to `[level][face]`, in parallel.
    ///
    /// # Panics
    /// If lengths do not fit.
    pub fn levels(&self, u: &[f64], v: &[f64], thickness: &[f64]) -> Vec<f64> {
        assert!(u.len().is_multiple_of(self.points) && [v, thickness].iter().all(|f| f.len() == u.len()), "levels");
        let mut out = vec![0.0; u.len() / self.points * self.faces()];
        out.par_chunks_mut(self.faces()).enumerate().for_each(|(k, out)| {
            let level = k * self.points..(k + 1) * self.points;
            self.fluxes(&u[level.clone()], &v[level.clone()], &thickness[level], out);
        });
        out
    }
}

#[cfg(test)]
#[path = "line_integral_tests.rs"]
mod tests;
