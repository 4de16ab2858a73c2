//! Shared areas against each other: sums, refinement, two methods for the same sides, poles, seams.

use std::f64::consts::PI;

use atmostr::grid::GeometryBundle;
use atmostr::regrid::{GaussianLatitudes, LatLonMesh, Mesh, Overlap, ReducedMesh, RingStart};
use proptest::prelude::*;

use super::meshes::{cube, even, exact_sum, geos, global, great_circles, octahedral, turned_cube, worst_row};

/// Relative rounding of sums over a cell of the size of `mesh`'s smallest: its sides are known to some 1e-16.
fn rounding(mesh: &Mesh) -> f64 {
    let smallest = mesh.areas().into_iter().fold(f64::MAX, f64::min);
    2e-15 + 1.2e-15 / smallest.sqrt()
}

/// Both meshes cover the sphere: cells add up, both ways.
fn assert_sums(src: &Mesh, dst: &Mesh) {
    let weights = Overlap::new(src, dst);
    for (weights, mesh) in [(&weights, dst), (&weights.transposed(), src)] {
        let (worst, bound) = (worst_row(weights), rounding(mesh));
        assert!(worst <= bound, "{src} to {dst}: {mesh} off by {worst:.1e}, over {bound:.1e}");
    }
    let total = exact_sum((0..dst.cells()).flat_map(|cell| weights.row(cell).map(|(_, area)| area)));
    assert!((total / (4.0 * PI) - 1.0).abs() < 1e-14, "{src} to {dst}: {total}");
    assert!(weights.is_global());
}

#[test]
fn cells_add_up_on_the_sphere() {
    for latlon in [geos(72, 46), geos(144, 91), global(360, 180), global(7, 3), global(1, 1), global(2, 90)] {
        for nc in [1, 2, 5, 12, 24, 48] {
            assert_sums(&Mesh::LatLon(latlon.clone()), &cube(nc));
            assert_sums(&turned_cube(nc, GeometryBundle::Gnomonic, 0.0), &Mesh::LatLon(latlon.clone()));
        }
    }
}

#[test]
fn cells_of_rings_add_up() {
    for start in [RingStart::Centre(0.0), RingStart::Edge(0.0), RingStart::Edge(-17.25)] {
        for rings in [4, 31, 64] {
            let rings = octahedral(rings, start);
            assert_sums(&rings, &cube(24));
            assert_sums(&cube(7), &rings);
            assert_sums(&rings, &Mesh::LatLon(geos(72, 46)));
            assert_sums(&Mesh::LatLon(global(90, 45)), &rings);
            assert_sums(&rings, &octahedral(20, RingStart::Edge(3.0)));
        }
    }
    // A regular Gaussian grid is both a lat-lon mesh and rings.
    let set = GaussianLatitudes::new(32);
    let lon = (0..=64).map(|i| 360.0 / 64.0 * (f64::from(i) - 0.5)).collect();
    let latlon = Mesh::LatLon(LatLonMesh::from_edges(lon, set.edges().to_vec()).unwrap());
    let rings = Mesh::Reduced(ReducedMesh::gaussian(vec![64; 32], RingStart::Centre(0.0)).unwrap());
    let [a, b] = [latlon, rings].map(|mesh| Overlap::new(&mesh, &cube(24)));
    assert_eq!(a.len(), b.len());
    for cell in 0..6 * 24 * 24 {
        for ((s, x), (t, y)) in a.row(cell).zip(b.row(cell)) {
            assert!(s == t && (x - y).abs() < 1e-17, "{cell}: {x} and {y}");
        }
    }
}

#[test]
fn cells_with_great_circle_sides_add_up() {
    for latlon in [geos(72, 46), global(36, 18), global(7, 5)] {
        let mesh = great_circles(latlon);
        assert_sums(&mesh, &cube(24));
        assert_sums(&cube(5), &mesh);
        assert_sums(&mesh, &Mesh::LatLon(global(36, 19)));
        assert_sums(&mesh, &great_circles(global(19, 11)));
    }
    assert_sums(&cube(24), &cube(48));
    assert_sums(&cube(7), &turned_cube(12, GeometryBundle::Gnomonic, 3.7));
}

/// Great-circle sides along the equator and the meridians are parallels too: the two methods, which have nothing in
/// common, must agree on hemispheres.
#[test]
fn both_methods_agree_where_the_sides_are_the_same() {
    for nc in [1, 6, 13] {
        for nlon in [3, 12, 36] {
            let latlon = global(nlon, 2);
            let cut = Overlap::new(&Mesh::LatLon(latlon.clone()), &cube(nc));
            let clipped = Overlap::new(&great_circles(latlon), &cube(nc));
            assert_eq!(cut.len(), clipped.len(), "C{nc}, {nlon} columns");
            for cell in 0..6 * nc * nc {
                for ((s, a), (t, b)) in cut.row(cell).zip(clipped.row(cell)) {
                    assert!(s == t && (a - b).abs() <= 1e-15, "C{nc}, {nlon} columns, cell {cell}: {a} and {b}");
                }
            }
        }
    }
}

/// Cells of C48 are quarters of those of C24 with the same sides.
#[test]
fn nested_cubes_share_whole_cells() {
    let weights = Overlap::new(&cube(48), &cube(24));
    assert_eq!(weights.len(), 6 * 48 * 48);
    for cell in 0..6 * 24 * 24 {
        let parts: Vec<(usize, f64)> = weights.row(cell).collect();
        assert_eq!(parts.len(), 4, "cell {cell}");
        for (at, area) in parts {
            assert!((area / weights.src_areas()[at] - 1.0).abs() < 1e-13);
        }
    }
}

#[test]
fn equal_meshes_give_the_identity_with_areas() {
    let radius = atmostr::grid::CubedSphere::new(12, GeometryBundle::GeosNative, -10.0, 1.0).unwrap();
    for (a, b) in [
        (cube(12), Mesh::Cube(radius)),
        (Mesh::LatLon(geos(72, 46)), Mesh::LatLon(geos(72, 46))),
        (octahedral(16, RingStart::Centre(0.0)), octahedral(16, RingStart::Centre(0.0))),
    ] {
        let weights = Overlap::new(&a, &b);
        for cell in 0..a.cells() {
            assert_eq!(weights.row(cell).collect::<Vec<_>>(), [(cell, weights.src_areas()[cell])]);
        }
        assert_eq!((weights.src_areas(), weights.dst_areas()), (&a.areas()[..], &b.areas()[..]));
    }
}

#[test]
fn a_region_covers_what_lies_in_it() {
    let region = Mesh::LatLon(LatLonMesh::from_edges(even(170.0, 4.0, 11), even(50.0, 5.0, 9)).unwrap());
    let weights = Overlap::new(&region, &cube(24));
    let shared = exact_sum((0..6 * 24 * 24).flat_map(|cell| weights.row(cell).map(|(_, area)| area)));
    assert!((shared / exact_sum(region.areas()) - 1.0).abs() < 1e-14);
    let worst = worst_row(&weights.transposed());
    assert!(worst < 1e-14 && !weights.is_global(), "{worst:e}");
    let mut means = vec![0.0; 6 * 24 * 24];
    let coverage = weights.intensive(&vec![3.25; region.cells()], &mut means);
    let half = weights.covered().iter().zip(weights.dst_areas()).filter(|(c, a)| **c > 0.5 * **a).count();
    assert_eq!((coverage.covered, coverage.uncovered), (half, 6 * 24 * 24 - half));
    assert!(half > 20 && means.iter().filter(|m| m.is_nan()).count() == coverage.uncovered);
    assert!(means.iter().all(|m| m.is_nan() || (m / 3.25 - 1.0).abs() < 1e-15));
}

/// The area north of 89.9 degrees is in the cells at the pole: rings of a thousandth of a degree.
#[test]
fn polar_caps_keep_their_accuracy() {
    let lat: Vec<f64> =
        even(-90.0, 0.001, 101).into_iter().chain(even(89.9, 0.001, 101)).map(|l| l.min(90.0)).collect();
    let mesh = Mesh::LatLon(LatLonMesh::from_edges(even(0.0, 30.0, 13), lat).unwrap());
    for nc in [4, 5] {
        let weights = Overlap::new(&mesh, &cube(nc)).transposed();
        let worst = worst_row(&weights);
        assert!(worst < 2e-14, "C{nc}: {worst:e}");
    }
}

fn bundle() -> impl Strategy<Value = GeometryBundle> {
    prop_oneof![Just(GeometryBundle::Gnomonic), Just(GeometryBundle::GeosNative)]
}

/// Edges with uneven steps from `low` to `high`.
fn uneven(low: f64, high: f64, cells: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.05f64..1.0, cells).prop_map(move |steps| {
        let total: f64 = steps.iter().sum();
        let inner = steps.iter().scan(0.0, |sum, step| {
            *sum += step;
            Some(low + (high - low) * *sum / total)
        });
        let mut edges: Vec<f64> = std::iter::once(low).chain(inner).collect();
        *edges.last_mut().unwrap() = high;
        edges
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any cube on any lat-lon mesh of the whole sphere.
    #[test]
    fn cells_add_up_for_any_offset_and_edges(
        nc in 1usize..20,
        bundle in bundle(),
        offset in -180.0f64..180.0,
        west in -360.0f64..360.0,
        lon in uneven(0.0, 360.0, 1..30),
        lat in uneven(-90.0, 90.0, 1..30),
    ) {
        let lon = lon.iter().map(|edge| west + edge).collect();
        let mesh = Mesh::LatLon(LatLonMesh::from_edges(lon, lat).unwrap());
        let weights = Overlap::new(&mesh, &turned_cube(nc, bundle, offset));
        prop_assert!(worst_row(&weights) < 5e-14, "{:e}", worst_row(&weights));
        prop_assert!(worst_row(&weights.transposed()) < 2e-13, "{:e}", worst_row(&weights.transposed()));
    }

    /// Cells cut in two share what the whole ones share.
    #[test]
    fn refinement_changes_no_area(
        nc in 1usize..12,
        offset in -180.0f64..180.0,
        lon in uneven(-30.0, 330.0, 2..12),
        lat in uneven(-90.0, 90.0, 2..12),
        part in 0.1f64..0.9,
    ) {
        let halves = |edges: &[f64]| -> Vec<f64> {
            let inner = edges.windows(2).flat_map(|pair| [pair[0], pair[0] + part * (pair[1] - pair[0])]);
            inner.chain([edges[edges.len() - 1]]).collect()
        };
        let cube = turned_cube(nc, GeometryBundle::GeosNative, offset);
        let fine = LatLonMesh::from_edges(halves(&lon), halves(&lat)).unwrap();
        let columns = fine.nlon();
        let coarse = LatLonMesh::from_edges(lon, lat).unwrap();
        let whole = Overlap::new(&Mesh::LatLon(coarse.clone()), &cube);
        let parts = Overlap::new(&Mesh::LatLon(fine), &cube);
        for cell in 0..cube.cells() {
            let mut sums = vec![0.0; coarse.nlon() * coarse.nlat()];
            for (at, area) in parts.row(cell) {
                sums[(at / columns / 2) * coarse.nlon() + at % columns / 2] += area;
            }
            whole.row(cell).for_each(|(at, area)| sums[at] -= area);
            prop_assert!(sums.iter().all(|difference| difference.abs() < 2e-15), "cell {cell}: {sums:?}");
        }
    }

    /// Rings of any number of cells.
    #[test]
    fn cells_of_any_rings_add_up(
        points in prop::collection::vec(1usize..40, 1..20),
        west in -180.0f64..180.0,
        nc in 1usize..16,
        offset in -180.0f64..180.0,
    ) {
        let rings = Mesh::Reduced(ReducedMesh::gaussian(points, RingStart::Edge(west)).unwrap());
        let weights = Overlap::new(&rings, &turned_cube(nc, GeometryBundle::Gnomonic, offset));
        prop_assert!(worst_row(&weights) < 5e-14, "{:e}", worst_row(&weights));
        prop_assert!(worst_row(&weights.transposed()) < 2e-13, "{:e}", worst_row(&weights.transposed()));
    }
}
