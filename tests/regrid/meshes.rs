//! Meshes of the suite.

use atmostr::grid::{CubedSphere, GeometryBundle};
use atmostr::regrid::{LatLonAxes, LatLonMesh, LatLonSides, Mesh, Overlap, ReducedMesh, RingStart};

/// Earth radius of the suite in m.
pub const RADIUS: f64 = 6.371e6;

/// Cubed sphere as GEOS has it.
pub fn cube(nc: usize) -> Mesh {
    turned_cube(nc, GeometryBundle::GeosNative, -10.0)
}

pub fn turned_cube(nc: usize, bundle: GeometryBundle, offset: f64) -> Mesh {
    Mesh::Cube(CubedSphere::new(nc, bundle, offset, RADIUS).unwrap())
}

/// Evenly spaced values.
pub fn even(first: f64, step: f64, n: usize) -> Vec<f64> {
    (0..n).map(|k| first + step * k as f64).collect()
}

/// Whole sphere, first edge at −180, even rows.
pub fn global(nlon: usize, nlat: usize) -> LatLonMesh {
    let fraction = |k: usize, n: usize| k as f64 / n as f64;
    let lon = (0..=nlon).map(|k| -180.0 + 360.0 * fraction(k, nlon)).collect();
    let lat = (0..=nlat).map(|k| -90.0 + 180.0 * fraction(k, nlat)).collect();
    LatLonMesh::from_edges(lon, lat).unwrap()
}

/// Whole sphere, first centre at −180, polar rows of half height: `nlat` rows of 180/(nlat − 1) degrees.
pub fn geos(nlon: usize, nlat: usize) -> LatLonMesh {
    let (width, height) = (360.0 / nlon as f64, 180.0 / (nlat - 1) as f64);
    LatLonAxes::from_centres(&even(-180.0, width, nlon), &even(-90.0, height, nlat)).unwrap().mesh().clone()
}

/// The same edges with great-circle sides.
pub fn great_circles(mesh: LatLonMesh) -> Mesh {
    Mesh::LatLon(mesh.with_sides(LatLonSides::GreatCircles).unwrap())
}

/// Rings as an octahedral Gaussian grid has them: 20 points next to the poles, four more per ring.
pub fn octahedral(rings: usize, start: RingStart) -> Mesh {
    let points = (0..rings).map(|ring| 20 + 4 * ring.min(rings - 1 - ring)).collect();
    Mesh::Reduced(ReducedMesh::gaussian(points, start).unwrap())
}

/// A sum with a second word for what rounding drops.
pub fn exact_sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut dropped) = (0.0f64, 0.0f64);
    for term in terms {
        let next = sum + term;
        dropped += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    sum + dropped
}

/// Largest relative difference between the areas that a destination cell shares and its own.
pub fn worst_row(weights: &Overlap) -> f64 {
    let covered = weights.covered();
    covered.iter().zip(weights.dst_areas()).map(|(c, a)| (c / a - 1.0).abs()).fold(0.0, f64::max)
}
