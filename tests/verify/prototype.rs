//! Norms, mixing and filament within five percent of an independent prototype. The figures are in
//! `src/verify/published/prototype.rs`; the limits check that each is met.

use atmostr::verify::Suite;

use crate::{SCHEMES, assert_kept, run, verification};

#[test]
fn deformational_flow_at_three_degrees() {
    for (scheme, limiter) in SCHEMES {
        let reports = run(&verification(&[Suite::Lauritzen], &[30], scheme, limiter));
        let of_prototype = reports[0].checks.iter().filter(|check| check.source.starts_with("prototype")).count();
        assert_eq!(of_prototype, 6, "{scheme} {limiter}");
        assert_kept(&reports, 10);
    }
}

/// l2 of the hills and the bells as the prototype prints them to four digits.
#[test]
fn controls_at_three_degrees() {
    let expected = [("huynh_pd", [0.1976, 0.3583]), ("cw84", [0.3101, 0.4315]), ("none", [0.2527, 0.3924])];
    for (limiter, [hills, bells]) in expected {
        let report = &run(&verification(&[Suite::Lauritzen], &[30], "ppm", limiter))[0];
        let found = ["gaussian_hills l2", "cosine_bells l2"].map(|name| report.quantity(name).unwrap());
        println!("{limiter}: {found:.4?}, expected {hills} {bells}");
        assert!((found[0] / hills - 1.0).abs() < 0.01 && (found[1] / bells - 1.0).abs() < 0.01, "{limiter} {found:?}");
    }
}

#[test]
fn rotations_at_three_degrees() {
    for (scheme, limiter) in SCHEMES.into_iter().filter(|(_, limiter)| *limiter != "none") {
        let reports = run(&verification(&[Suite::SolidBody], &[30], scheme, limiter));
        let of_prototype = |case: &str| {
            let report = reports.iter().find(|report| report.case == case).unwrap();
            report.checks.iter().filter(|check| check.source.starts_with("prototype")).count()
        };
        assert_eq!(of_prototype("solid_body_45"), 4);
        assert_kept(&reports, 24);
    }
}

/// Filament figures exist at 1.5 and 0.75 degrees only.
#[test]
#[ignore = "a minute of computation"]
fn deformational_flow_and_rotations_at_one_and_a_half_degrees() {
    for (scheme, limiter) in SCHEMES {
        assert_kept(&run(&verification(&[Suite::Lauritzen], &[60], scheme, limiter)), 10);
        if limiter != "none" {
            assert_kept(&run(&verification(&[Suite::SolidBody], &[60], scheme, limiter)), 24);
        }
    }
}

#[test]
#[ignore = "minutes of computation"]
fn deformational_flow_at_three_quarters_of_a_degree() {
    for (scheme, limiter) in SCHEMES.into_iter().filter(|(_, limiter)| *limiter != "none") {
        assert_kept(&run(&verification(&[Suite::Lauritzen], &[120], scheme, limiter)), 10);
    }
}

/// In three dimensions the prototype had latitude and height only.
#[test]
#[ignore = "minutes of computation"]
fn overturning_cells_at_one_degree() {
    for (scheme, limiter) in SCHEMES.into_iter().filter(|(_, limiter)| *limiter != "none") {
        assert_kept(&run(&verification(&[Suite::Dcmip12], &[90], scheme, limiter)), 3);
    }
}

#[test]
fn overturning_cells_at_two_degrees() {
    let reports = run(&verification(&[Suite::Dcmip12], &[45], "ppm", "huynh_pd"));
    assert!(reports[0].checks.iter().any(|check| check.source.contains("latitude and height")));
    assert_kept(&reports, 3);
}
