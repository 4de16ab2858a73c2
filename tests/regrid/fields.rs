//! Fields: constants, integrals, amounts, missing values, single precision.

use atmostr::grid::GeometryBundle;
use atmostr::regrid::{LatLonAxes, LatLonMesh, Mesh, Overlap, RingStart};
use proptest::prelude::*;

use super::meshes::{RADIUS, cube, even, exact_sum, geos, global, octahedral, turned_cube};

/// Numbers that look random, in 0..1.
fn scattered(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..n).map(|_| next()).collect()
}

fn integral(field: &[f64], areas: &[f64]) -> f64 {
    exact_sum(field.iter().zip(areas).map(|(value, area)| value * area))
}

/// All pairs of global meshes of the suite.
fn pairs() -> Vec<(Mesh, Mesh)> {
    let meshes = || {
        [
            Mesh::LatLon(geos(72, 46)),
            Mesh::LatLon(global(360, 180)),
            cube(24),
            turned_cube(9, GeometryBundle::Gnomonic, 0.0),
            octahedral(48, RingStart::Centre(0.0)),
        ]
    };
    meshes().into_iter().flat_map(|a| meshes().map(move |b| (a.clone(), b))).collect()
}

#[test]
fn constants_stay_constant_and_integrals_are_kept() {
    for (src, dst) in pairs() {
        let weights = Overlap::new(&src, &dst);
        let mut out = vec![0.0; dst.cells()];
        let coverage = weights.intensive(&vec![411.25; src.cells()], &mut out);
        assert_eq!((coverage.covered, coverage.uncovered), (dst.cells(), 0));
        assert!(out.iter().all(|value| (value / 411.25 - 1.0).abs() <= 1e-14), "{src} to {dst}");

        let field = scattered(src.cells(), 7);
        weights.intensive(&field, &mut out);
        let kept = integral(&out, weights.dst_areas()) / integral(&field, weights.src_areas());
        assert!((kept - 1.0).abs() <= 1e-14, "{src} to {dst}: {kept}");

        // After rounding to single precision.
        let rounded: Vec<f64> = out.iter().map(|value| f64::from(*value as f32)).collect();
        let kept = integral(&rounded, weights.dst_areas()) / integral(&field, weights.src_areas());
        assert!((kept - 1.0).abs() <= 2e-9, "{src} to {dst}: {kept}");
    }
}

#[test]
fn amounts_are_kept() {
    for (src, dst) in pairs() {
        let weights = Overlap::new(&src, &dst);
        let amounts = scattered(src.cells(), 11);
        let mut out = vec![0.0; dst.cells()];
        weights.extensive(&amounts, &mut out);
        let kept = exact_sum(out.iter().copied()) / exact_sum(amounts.iter().copied());
        assert!((kept - 1.0).abs() <= 1e-14, "{src} to {dst}: {kept}");

        weights.totals(&amounts, RADIUS, &mut out);
        let kept = exact_sum(out.iter().copied()) / (integral(&amounts, weights.src_areas()) * RADIUS * RADIUS);
        assert!((kept - 1.0).abs() <= 1e-14, "{src} to {dst}: {kept}");
        assert!(out.iter().all(|amount| *amount >= 0.0));
    }
}

/// An inventory of a tenth of a degree with axes in single precision: not a part of a thousand million is lost, where
/// spacing from the first difference loses 2e-6. Rates in single precision keep the total to 1e-9.
#[test]
fn an_inventory_with_axes_in_single_precision_keeps_its_total() {
    let single = |values: Vec<f64>| values.into_iter().map(|v| f64::from(v as f32)).collect::<Vec<_>>();
    let (lon, lat) = (single(even(-179.95, 0.1, 3600)), single(even(89.95, -0.1, 1800)));
    let axes = LatLonAxes::from_centres(&lon, &lat).unwrap();
    assert!(axes.mesh().covers_sphere());
    let mut flux = Vec::new();
    axes.reorder(&scattered(3600 * 1800, 3), &mut flux);
    let mesh = Mesh::LatLon(axes.mesh().clone());
    let weights = Overlap::new(&mesh, &cube(90));
    let mut rates = vec![0.0; 6 * 90 * 90];
    weights.totals(&flux, RADIUS, &mut rates);
    let expected = integral(&flux, &mesh.areas()) * RADIUS * RADIUS;
    let kept = exact_sum(rates.iter().copied()) / expected;
    assert!((kept - 1.0).abs() <= 1e-14, "{kept}");
    let kept = exact_sum(rates.iter().map(|rate| f64::from(*rate as f32))) / expected;
    assert!((kept - 1.0).abs() <= 1e-9, "{kept}");
}

#[test]
fn values_that_are_not_known_are_left_out_or_handed_on() {
    let (src, dst) = (Mesh::LatLon(global(36, 18)), cube(12));
    let weights = Overlap::new(&src, &dst);
    let mut field = vec![2.0; src.cells()];
    // The northern hemisphere but for a row next to the equator.
    field[36 * 10..].fill(f64::NAN);
    let mut out = vec![0.0; dst.cells()];
    let known = weights.intensive_of_known(&field, &mut out);
    assert!(out.iter().all(|value| value.is_nan() || *value == 2.0));
    assert_eq!(out.iter().filter(|value| value.is_nan()).count(), known.uncovered);
    let mut strict = vec![0.0; dst.cells()];
    assert_eq!(weights.intensive(&field, &mut strict).uncovered, 0);
    let (loose, strict) = [&out, &strict].map(|v| v.iter().filter(|value| value.is_nan()).count()).into();
    assert!(0 < loose && loose < strict && strict < dst.cells(), "{loose} and {strict}");
}

/// Polar cells of a ring mesh: every cell of the cube has a value, and that of the field at hand.
#[test]
fn cells_at_the_poles_are_covered() {
    let rings = octahedral(640, RingStart::Centre(0.0));
    for nc in [6, 7, 90] {
        let weights = Overlap::new(&rings, &cube(nc));
        let mut out = vec![0.0; 6 * nc * nc];
        assert_eq!(weights.intensive(&vec![1013.25; rings.cells()], &mut out).uncovered, 0);
        assert!(out.iter().all(|value| (value / 1013.25 - 1.0).abs() <= 1e-14));
        let covered = weights.covered();
        assert!(covered.iter().zip(weights.dst_areas()).all(|(c, a)| (c / a - 1.0).abs() < 1e-13));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn means_stay_within_their_sources(
        nlon in 1usize..40, nlat in 1usize..40, nc in 1usize..16, offset in -180.0f64..180.0, seed in 1u64..1000,
    ) {
        let src = Mesh::LatLon(global(nlon, nlat));
        let dst = turned_cube(nc, GeometryBundle::GeosNative, offset);
        let weights = Overlap::new(&src, &dst);
        let field = scattered(src.cells(), seed);
        let mut out = vec![0.0; dst.cells()];
        weights.intensive(&field, &mut out);
        for (cell, value) in out.iter().enumerate() {
            let (low, high) = weights.row(cell).fold((f64::MAX, f64::MIN), |(l, h), (at, _)| {
                (l.min(field[at]), h.max(field[at]))
            });
            prop_assert!(low - 1e-15 <= *value && *value <= high + 1e-15);
        }
        let kept = integral(&out, weights.dst_areas()) / integral(&field, weights.src_areas());
        prop_assert!((kept - 1.0).abs() <= 1e-14, "{}", kept);
    }

    /// A region: amounts of the covered part, and none from elsewhere.
    #[test]
    fn regions_hand_on_what_they_hold(
        west in -180.0f64..180.0, width in 1.0f64..300.0, south in -90.0f64..60.0, height in 1.0f64..30.0,
        nlon in 1usize..20, nlat in 1usize..20, nc in 1usize..16,
    ) {
        let part = |low: f64, size: f64, n: usize| (0..=n).map(move |k| low + size * k as f64 / n as f64).collect();
        let region = LatLonMesh::from_edges(part(west, width, nlon), part(south, height, nlat)).unwrap();
        let weights = Overlap::new(&Mesh::LatLon(region), &cube(nc));
        let amounts = scattered(nlon * nlat, 5);
        let mut out = vec![0.0; 6 * nc * nc];
        weights.extensive(&amounts, &mut out);
        let kept = exact_sum(out.iter().copied()) / exact_sum(amounts.iter().copied());
        prop_assert!((kept - 1.0).abs() <= 1e-13, "{}", kept);
    }
}
