use super::*;
use crate::grid::vector::{cross, from_lonlat, normalise, subtract};
use crate::grid::{CubedSphere, GeometryBundle};
use crate::preprocess::FaceTable;
use crate::regrid::GaussianLatitudes;

const RADIUS: f64 = 6_371_229.0;

/// Rings of a reduced Gaussian grid, north to south as GRIB has them: a number of points that grows by 4 with each ring (an
/// octahedral grid), made odd on every third.
fn reduced(pairs: usize) -> Vec<Ring> {
    let latitudes = GaussianLatitudes::new(2 * pairs);
    let ring = |(n, latitude): (usize, &f64)| {
        let from_pole = n.min(2 * pairs - 1 - n);
        Ring { latitude: *latitude, points: 20 + 4 * from_pole + usize::from(n % 3 == 0), first_longitude: 0.0 }
    };
    latitudes.centres().iter().rev().enumerate().map(ring).collect()
}

/// Longitudes and latitudes from pole to pole, south to north.
fn lat_lon(rows: usize) -> Vec<Ring> {
    let latitude = |n: usize| -90.0 + 180.0 * n as f64 / (rows - 1) as f64;
    (0..rows).map(|n| Ring { latitude: latitude(n), points: 2 * rows, first_longitude: -180.0 }).collect()
}

fn cube(nc: usize) -> (FaceTable, FaceGeometry) {
    let bundle = GeometryBundle::ALL[0];
    let grid = CubedSphere::new(nc, bundle, bundle.default_offset_deg(), RADIUS).unwrap();
    let faces = FaceTable::new(nc, grid.convention());
    let geometry = FaceGeometry::new(&grid, &faces);
    (faces, geometry)
}

/// Places of all points.
fn places(rings: &[Ring]) -> Vec<[f64; 3]> {
    let of_ring = |ring: &Ring| {
        let (first, step, latitude) = (ring.first_longitude, 360.0 / ring.points as f64, ring.latitude);
        (0..ring.points).map(move |i| from_lonlat(first + i as f64 * step, latitude))
    };
    rings.iter().flat_map(of_ring).collect()
}

/// Eastward and northward parts of a rotation with a speed of 1 m/s at most, about `axis`.
fn rotation(rings: &[Ring], axis: [f64; 3]) -> [Vec<f64>; 2] {
    let velocities: Vec<[f64; 3]> = places(rings).into_iter().map(|x| cross(axis, x)).collect();
    let axes = axes(rings);
    [0, 1].map(|part| velocities.iter().zip(&axes).map(|(v, axes)| dot(*v, axes[part])).collect())
}

/// Largest difference of fluxes of a rotation with a thickness of 1 Pa from their exact values, relative to the largest.
fn error(nc: usize, rings: &[Ring], axis: [f64; 3], moved: impl Fn(&Ring) -> Ring) -> f64 {
    let (_, geometry) = cube(nc);
    let [u, v] = rotation(rings, axis);
    let assumed: Vec<Ring> = rings.iter().map(moved).collect();
    let integral = LineIntegral::new(&geometry, &assumed).unwrap();
    let mut fluxes = vec![0.0; integral.faces()];
    integral.fluxes(&u, &v, &vec![1.0; u.len()], &mut fluxes);
    // ∫ N·(axis × x) ds = axis·(a − b) along the arc from a to b if N is along a × b.
    let exact = |arc: &crate::preprocess::FaceArc| {
        let sense = dot(cross(arc.a, arc.b), arc.normal).signum();
        sense * dot(axis, subtract(arc.a, arc.b)) * RADIUS / GRAVITY
    };
    let exact: Vec<f64> = geometry.arcs().iter().map(exact).collect();
    let largest = exact.iter().fold(0.0f64, |a, b| a.max(b.abs()));
    fluxes.iter().zip(&exact).fold(0.0f64, |a, (f, e)| a.max((f - e).abs())) / largest
}

#[test]
fn fluxes_of_rotations_converge_with_the_square_of_the_spacing() {
    // About the earth's axis, across the poles, and aslant.
    for axis in [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], normalise([0.4, -0.7, 0.6])] {
        for make in [reduced as fn(usize) -> Vec<Ring>, lat_lon] {
            let [coarse, fine] = [32, 64].map(|n| error(12, &make(n), axis, |ring| *ring));
            assert!(fine < 2e-3, "{axis:?}: {fine}");
            assert!((2.5..6.0).contains(&(coarse / fine)), "{axis:?}: {coarse} {fine}");
        }
    }
}

/// Points half a spacing from where they are said to be: the fault is of first order.
#[test]
fn rings_shifted_by_half_a_spacing_are_conspicuous() {
    let (rings, axis) = (reduced(64), normalise([0.4, -0.7, 0.6]));
    let right = error(12, &rings, axis, |ring| *ring);
    let shifted = |ring: &Ring| Ring { first_longitude: 180.0 / ring.points as f64, ..*ring };
    let wrong = error(12, &rings, axis, shifted);
    assert!(wrong > 10.0 * right, "{right} {wrong}");
}

#[test]
fn rotations_hardly_diverge_also_at_the_poles() {
    let (faces, geometry) = cube(12);
    let rings = reduced(96);
    let integral = LineIntegral::new(&geometry, &rings).unwrap();
    for axis in [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]] {
        let [u, v] = rotation(&rings, axis);
        let fluxes = integral.levels(&u, &v, &vec![1000.0; u.len()]);
        let mut outflow = vec![0.0; faces.cells()];
        faces.divergence(&fluxes, &mut outflow);
        let largest = fluxes.iter().fold(0.0f64, |a, b| a.max(b.abs()));
        let worst = outflow.iter().fold(0.0f64, |a, b| a.max(b.abs()));
        assert!(worst < 1e-3 * largest, "{}", worst / largest);
    }
}

#[test]
fn parts_add_up_and_find_their_place() {
    for rings in [reduced(8), lat_lon(9)] {
        let source = Source::new(&rings).unwrap();
        let places: Vec<(f64, f64)> = rings
            .iter()
            .flat_map(|ring| {
                let (first, step, latitude) = (ring.first_longitude, 360.0 / ring.points as f64, ring.latitude);
                (0..ring.points).map(move |i| (first + i as f64 * step, latitude))
            })
            .collect();
        for (lon, lat) in [(0.0, 0.0), (17.3, -41.0), (359.9, 80.0), (3.0, 89.9), (200.0, -90.0), (123.0, 90.0)] {
            let mut parts = Vec::new();
            source.parts(lon, lat, 1.0, &mut parts);
            assert!((parts.iter().map(|p| p.1).sum::<f64>() - 1.0).abs() < 1e-14, "{lon} {lat}");
            assert!(parts.iter().all(|p| p.1 >= 0.0));
            let outermost = rings.iter().fold(0.0f64, |a, r| a.max(r.latitude.abs()));
            if f64::abs(lat) <= outermost && f64::abs(lat) < 90.0 {
                // Latitude is linear, and longitude within half a turn of the place.
                let latitude: f64 = parts.iter().map(|p| p.1 * places[p.0].1).sum();
                let offset = |p: &Part| (places[p.0].0 - lon + 180.0).rem_euclid(360.0) - 180.0;
                let longitude: f64 = parts.iter().map(|p| p.1 * offset(p)).sum();
                assert!(
                    (latitude - lat).abs() < 1e-12 && longitude.abs() < 1e-12,
                    "{lon} {lat}: {longitude} {latitude}"
                );
            }
        }
    }
}

#[test]
fn rings_that_cannot_be_used_are_refused() {
    let (_, geometry) = cube(2);
    let ring = |latitude| Ring { latitude, points: 4, first_longitude: 0.0 };
    let refused = |rings: &[Ring]| LineIntegral::new(&geometry, rings).unwrap_err().to_string();
    assert!(refused(&[ring(0.0)]).contains("1 of them"));
    assert!(refused(&[ring(-60.0), ring(60.0), ring(20.0)]).contains("latitude 60 next to 20"));
    assert!(refused(&[ring(-60.0), ring(f64::NAN)]).contains("ring 2"));
    assert!(refused(&[ring(-60.0), Ring { points: 0, ..ring(60.0) }]).contains("ring 2"));
    assert!(refused(&[ring(-85.0), ring(-75.0), ring(-65.0)]).contains("from -85 to -65"));
}
