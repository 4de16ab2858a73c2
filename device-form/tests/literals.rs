//! Constants keep their bits in both precisions.

use device_form::literal::{fault, text};
use proptest::prelude::*;

/// The two decimals of a literal.
fn decimals(value: f64) -> (String, String) {
    let text = text(value);
    let inside = text.strip_prefix("LITERAL(").and_then(|t| t.strip_suffix(')')).expect("a literal");
    let (single, double) = inside.split_once(", ").expect("two numbers");
    (single.strip_suffix('f').expect("a suffix").to_owned(), double.to_owned())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn decimals_read_back_exactly(single in prop::num::f32::NORMAL, below in 0_u64..1 << 29) {
        // A double between two singles.
        let value = f64::from_bits(f64::from(single).to_bits() | below);
        prop_assume!(fault(value).is_none());
        let (single, double) = decimals(value);
        prop_assert_eq!(single.parse::<f32>().unwrap().to_bits(), (value as f32).to_bits());
        prop_assert_eq!(double.parse::<f64>().unwrap().to_bits(), value.to_bits());
        for decimal in [single, double] {
            prop_assert!(decimal.contains(['.', 'e']), "{}", decimal);
        }
    }

    #[test]
    fn decimals_are_the_shortest(digits in 1_u32..100_000, exponent in -30_i32..30) {
        // Five digits suffice, so no more are written.
        let value: f64 = format!("{digits}e{exponent}").parse().unwrap();
        let (single, double) = decimals(value);
        for decimal in [single, double] {
            let mantissa = decimal.split('e').next().unwrap();
            let significant = mantissa.replace('.', "");
            prop_assert!(significant.trim_matches('0').len() <= 5, "{}", decimal);
        }
    }
}

#[test]
fn the_range_is_that_of_normal_singles_and_zero() {
    for fine in [0.0, 1.0, -2.0, f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX), 1e-25] {
        assert_eq!(fault(fine), None, "{fine}");
    }
    let denormal = f64::from(f32::MIN_POSITIVE) * 0.5;
    for wrong in [-0.0, denormal, 1e-50, 1e39, f64::INFINITY, f64::NAN] {
        assert!(fault(wrong).is_some(), "{wrong}");
    }
    assert_eq!(text(7.0 / 12.0), "LITERAL(0.5833333f, 0.5833333333333334)");
    assert_eq!(text(1e-25), "LITERAL(1e-25f, 1e-25)");
    assert_eq!(text(-2.0), "LITERAL(-2.0f, -2.0)");
}
