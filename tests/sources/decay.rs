//! Decay decrements and budgets.

use atmostr::sources::{Decay, decayed_burden, emitted, known_half_life, known_molar_mass, molar_mass};
use atmostr::sources::{SourceError, SourceTimes};

/// `exp(x) − 1` by its series, for small |x|.
fn series(x: f64) -> f64 {
    (1..=12).rev().fold(0.0, |sum, n| x / f64::from(n) * (1.0 + sum))
}

/// The decrement is the rounded exact one. `1 − exp` in single precision is up to 3.4e-5 off, with these signs (known
/// figures).
#[test]
fn decrements_are_exact() {
    let rate = (std::f64::consts::LN_2 / (3.8235 * 86_400.0)) as f32;
    let decay = Decay::from_rate(f64::from(rate)).unwrap();
    for (seconds, naive_error) in
        [(300.0, -3.36e-5), (400.0, 2.6e-7), (450.0, 2.9e-5), (600.0, -3.1e-6), (900.0, -4.4e-6)]
    {
        let exact = series(-f64::from(rate) * seconds);
        let found: f32 = decay.decrement(seconds);
        assert_eq!(found, exact as f32, "{seconds}");
        let double: f64 = decay.decrement(seconds);
        assert!((double / exact - 1.0).abs() < 1e-15);
        assert!((f64::from(found) / exact - 1.0).abs() <= 3.2e-8);
        let naive = f64::from(1.0 - (-rate * seconds as f32).exp());
        let error = naive / -exact - 1.0;
        assert!((error / naive_error - 1.0).abs() < 0.05, "{seconds}: {error:e}");
    }
}

#[test]
fn half_lives_and_molar_masses() {
    let radon = Decay::from_half_life(known_half_life("rn222").unwrap()).unwrap();
    assert!((radon.rate() / 2.0982e-6 - 1.0).abs() < 1e-4);
    assert!((radon.survival(330_350.4) - 0.5).abs() < 1e-15);
    assert_eq!((known_half_life("kr85"), known_half_life("co2")), (Some(3.394e8), None));
    for half_life in [0.0, -1.0, f64::NAN] {
        assert!(Decay::from_half_life(half_life).is_err() && Decay::from_rate(half_life).is_err());
    }
    for (name, mass) in [("co2", 44.0095e-3), ("fossil_CO2", 44.0095e-3), ("SF6", 146.055e-3), ("rn222", 0.222)] {
        assert_eq!(known_molar_mass(name), Some(mass));
        assert_eq!(molar_mass(name, None), Ok(mass));
    }
    assert_eq!(molar_mass("methane", Some(16.04e-3)), Ok(16.04e-3));
    assert_eq!(molar_mass("methane", None), Err(SourceError::MolarMass { tracer: "methane".into() }));
    assert!(molar_mass("co2", Some(0.0)).is_err());
}

/// Budget of a steady source with decay at the ends of windows: the burden after n windows is a geometric sum, and the
/// bias against continuous decay is −λT/2.
#[test]
fn budget_of_a_decaying_tracer() {
    let decay = Decay::from_half_life(330_350.4).unwrap();
    let (times, window) = (SourceTimes::constant(), 3600.0);
    let mut burden = 0.0;
    let windows = 24 * 30;
    for n in 0..windows {
        burden = decayed_burden(burden, emitted(&times, &[2.0], window * f64::from(n), window), decay, window);
    }
    let kept = decay.survival(window);
    let expected = 2.0 * window * kept * (1.0 - kept.powi(windows)) / (1.0 - kept);
    assert!((burden / expected - 1.0).abs() < 1e-12);
    let continuous = 2.0 * -series_free(-decay.rate() * window * f64::from(windows)) / decay.rate();
    let bias = burden / continuous - 1.0;
    assert!((bias / -3.8e-3 - 1.0).abs() < 0.02, "{bias}");
}

/// `exp(x) − 1` for any x.
fn series_free(x: f64) -> f64 {
    x.exp() - 1.0
}
