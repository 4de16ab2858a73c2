//! Winds that are known: rigid rotation and flow across the poles.

use atmostr::grid::vector::dot;
use atmostr::grid::{CubedSphere, GeometryBundle};
use atmostr::met::{Section, TransportFile};
use decomposition::Panel;

use crate::support::{alone, atmostr};
use crate::winds::{Winds, prepare};

/// Rotation about an axis in the plane of the equator at 30 degrees east: the flow crosses both poles.
fn across_the_poles(lon: f64, lat: f64, _: f64, _: f64) -> [f64; 2] {
    let (lon, lat) = ((lon - 30.0).to_radians(), lat.to_radians());
    // u = ω × r with ω along the axis, 20 m/s.
    [-20.0 * lat.sin() * lon.cos(), 20.0 * lon.sin()]
}

/// Fluxes of a rigid rotation through all faces against ω × r at the mid-points: within 1 % of the largest, poles included.
/// The archive's 5 degree cells smooth the rotation by some 0.1 %.
#[test]
fn rotation_is_carried_over_the_poles() {
    let winds = Winds {
        lon: (0..72).map(|i| 5.0 * f64::from(i)).collect(),
        lat: (0..37).map(|j| -90.0 + 5.0 * f64::from(j)).collect(),
        wind: across_the_poles,
        ..Winds::default()
    };
    let (_guard, dir) = alone();
    prepare(dir.path(), &winds, "", "[mass_fix]\nmode = \"none\"\n");
    atmostr(dir.path(), &["preprocess", "met.toml", "--day", "2000-01-01"]).succeed();
    let file = TransportFile::open(dir.path().join("out/20000101.bin")).unwrap();
    let header = file.header();
    let grid = CubedSphere::new(12, GeometryBundle::GeosNative, -10.0, header.radius_m()).unwrap();
    let axis = atmostr::grid::vector::from_lonlat(30.0, 0.0);
    let (k, levels) = (3, header.nlevel());
    let thickness =
        |k: usize| header.a_ifc()[k + 1] - header.a_ifc()[k] + (header.b_ifc()[k + 1] - header.b_ifc()[k]) * 1e5;
    assert_eq!(levels, 6);
    let seconds = 3600.0 / (2.0 * f64::from(header.steps()[0]));
    let all = file.section_values(0, Section::FluxX).unwrap();
    let (mut largest, mut worst) = (0.0f64, 0.0f64);
    for panel in Panel::ALL {
        let am = &all[(panel.index() * levels + k) * 12 * 13..][..12 * 13];
        for j in 0..12 {
            for i in 0..=12 {
                let (a, b) = (grid.corner(panel, i, j), grid.corner(panel, i, j + 1));
                // Through the arc from a to b: R V · (difference of the potential axis·r), exact for a rotation.
                let through = 20.0 * header.radius_m() * (dot(axis, b) - dot(axis, a));
                let expected = through * thickness(k) / 9.80665 * seconds;
                let found = am[j * 13 + i];
                largest = largest.max(expected.abs());
                worst = worst.max((found - expected).abs());
            }
        }
    }
    assert!(worst < 0.01 * largest, "{worst:e} of {largest:e}");
}
