//! Profiles of elevated sources.

use atmostr::sources::{Injection, loft_surface_part};

const THICKNESS: [f64; 4] = [1000.0, 400.0, 200.0, 100.0];

fn profile(injection: &Injection) -> [f64; 4] {
    let mut profile = [f64::NAN; 4];
    injection.fill_profile(&THICKNESS, &mut profile);
    assert!((profile.iter().sum::<f64>() - 1.0).abs() < 1e-15, "{profile:?}");
    profile
}

#[test]
fn heights_fill_the_layers_they_cross() {
    let by_heights = |bottom, top| profile(&Injection::by_heights(bottom, top).unwrap());
    assert_eq!(profile(&Injection::Surface), [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(by_heights(0.0, 100.0), [0.0, 0.0, 0.0, 1.0]);
    // 50 m of the lowest, all 200 m of the next, 150 m of the third layer.
    assert_eq!(by_heights(50.0, 450.0), [0.0, 0.375, 0.5, 0.125]);
    // The model top lies at 1700 m.
    assert_eq!(by_heights(1500.0, 2000.0), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(by_heights(5000.0, 6000.0), [1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn weights_are_scaled_once() {
    let by_levels = |weights: &[f64]| Injection::by_levels(weights, 4);
    assert_eq!(profile(&by_levels(&[0.0, 1.0, 2.0, 1.0]).unwrap()), [0.0, 0.25, 0.5, 0.25]);
    for (weights, word) in [
        (&[1.0, 1.0][..], "2 weights"),
        (&[0.0; 4], "zero"),
        (&[1.0, -1.0, 1.0, 1.0], "weight 2"),
        (&[1.0, 1.0, f64::NAN, 1.0], "weight 3"),
        (&[1e308; 4], "not finite"),
    ] {
        let problem = by_levels(weights).unwrap_err().to_string();
        assert!(problem.contains(word), "{problem}");
    }
    for (bottom, top) in [(-1.0, 5.0), (5.0, 5.0), (0.0, f64::INFINITY), (f64::NAN, 1.0)] {
        assert!(Injection::by_heights(bottom, top).is_err(), "{bottom} {top}");
    }
}

/// Only the surface part is lofted.
#[test]
fn lofting_acts_on_the_surface_part() {
    let mut profile = profile(&Injection::by_heights(50.0, 450.0).unwrap());
    loft_surface_part(&mut profile, &[0.0, 0.5, -0.25, 0.75]);
    assert_eq!(profile, [0.0, 0.375 + 0.0625, 0.5 - 0.03125, 0.09375]);
}
