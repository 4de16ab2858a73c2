use std::f64::consts::FRAC_PI_2;

use proptest::prelude::*;

use super::*;
use crate::grid::vector::{dot, from_lonlat};

/// ∫ (cos θ − cos level) dλ along a great circle by Gauss–Legendre quadrature with many points (in Float64: no better
/// than rounding of values of order one).
fn by_quadrature(circle: &Circle, west: f64, east: f64, level: f64) -> f64 {
    let set = crate::regrid::GaussianLatitudes::new(64);
    let terms = set.centres().iter().zip(set.weights()).map(|(lat, weight)| {
        let x = lat.to_radians().sin();
        let lon = 0.5 * (west + east) + 0.5 * (east - west) * x;
        weight * (circle.at(lon).north.cos() - level.cos())
    });
    0.5 * (east - west) * terms.sum::<f64>()
}

fn vector(lon: f64, north: f64) -> [f64; 3] {
    [north.sin() * lon.cos(), north.sin() * lon.sin(), north.cos()]
}

#[test]
fn both_forms_of_the_remainder_meet() {
    for depth in [1e-9, 1e-3, 0.1, 0.5, 0.9, 1.0, 1.3] {
        // Just below and just above the change at tan(width/2) = 0.1.
        let width = 2.0 * 0.1f64.atan();
        let (a, b) = (third_order(width * (1.0 - 1e-12), depth), third_order(width * (1.0 + 1e-12), depth));
        assert!((a - b).abs() <= 1e-11 * b.abs() + 2e-16 * depth, "{depth}: {a} and {b}");
    }
}

/// An octant: three right angles.
#[test]
fn area_of_an_octant() {
    let circle = Circle::through([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
    assert_eq!(circle.at(0.3).north, FRAC_PI_2);
    // From the equator up to the pole: −∫ (cos θ − 1) dλ.
    let octant = -area_under_arc(FRAC_PI_2, FRAC_PI_2, 0.0, FRAC_PI_2);
    assert!((octant - FRAC_PI_2).abs() < 1e-15, "{octant}");
}

/// Between a parallel and the great circle through two of its points w apart: the circle rises sin φ cos φ (w²/8 − δ²/2)
/// above it (second order in w), so the area is sin φ cos² φ w³/12. For w = 1e-4 that is 1e-5 of what a difference of two
/// areas down to the equator could tell from rounding.
#[test]
fn slivers_keep_relative_accuracy() {
    for width in [1e-2, 1e-3, 1e-4] {
        let north = 40f64.to_radians();
        let sliver = area_under_arc(north, north, north, width);
        let (sin, cos) = (north.cos(), north.sin());
        let narrow = sin * cos * cos * width.powi(3) / 12.0;
        assert!((sliver / narrow - 1.0).abs() < 2.0 * width * width, "{width}: {sliver} and {narrow}");
    }
}

proptest! {
    /// The closed form against quadrature.
    #[test]
    fn closed_form_is_the_integral(
        lon in -0.7f64..0.7, a in 0.1f64..3.0, b in 0.1f64..3.0, width in 0.01f64..0.7, level in 0.1f64..3.0,
    ) {
        let east = lon + width;
        let circle = Circle::through(vector(lon, a), vector(east, b));
        let exact = by_quadrature(&circle, lon, east, level);
        // Steep circles vary too fast for the quadrature.
        prop_assume!(circle.extremes()[0].north > 0.3);
        let found = area_under_arc(a, b, level, width);
        prop_assert!((found - exact).abs() <= 3e-15, "{found} and {exact}");
        // Backwards is the negative, from the other pole the mirror image.
        prop_assert!((area_under_arc(b, a, level, -width) + found).abs() <= 1e-16);
        let mirrored = area_under_arc(PI - a, PI - b, PI - level, width);
        prop_assert!((mirrored + found).abs() <= 4e-15, "{mirrored} and {found}");
    }

    /// Points at longitudes and on parallels lie on the circle.
    #[test]
    fn cuts_lie_on_the_circle(
        lon in -180.0f64..180.0, lat in -89.0f64..89.0, step in 0.01f64..30.0, rise in -30.0f64..30.0, part in 0.0f64..1.0,
    ) {
        let (a, b) = (from_lonlat(lon, lat), from_lonlat(lon + step, (lat + rise).clamp(-89.5, 89.5)));
        let circle = Circle::through(a, b);
        let normal = crate::grid::vector::normalise(crate::grid::vector::cross(a, b));
        let rad = (lon + part * step).to_radians();
        let point = circle.at(rad);
        prop_assert!(dot(normal, vector(rad, point.north)).abs() < 1e-13);
        prop_assert!((point.north + point.south - PI).abs() < 1e-15);
        let near = if point.north <= point.south { (Pole::North, point.north) } else { (Pole::South, point.south) };
        let apart = circle.extremes()[0].lon;
        // Within the same half of the circle, and not where parallel and circle touch.
        let from_apex = wrapped(rad - apart).abs();
        prop_assume!(from_apex > 0.01 && from_apex < PI - 0.01);
        let again = circle.meets(near.0, near.1, rad);
        prop_assert!((again - rad).abs() < 1e-12, "{again} and {rad}");
    }
}
