//! High-order swept means: exactness, order, bounds in divergent air, mirror symmetry, traces.

mod common;

use common::{Random, bits};
use kernels::Scalar;
use kernels::numerics::{face_coefficients, flux_monotonicity_preserving, flux_universal};
use proptest::prelude::*;

type Flux<R> = fn(R, R, R, [R; 5]) -> R;

fn schemes<R: Scalar>() -> [(&'static str, Flux<R>); 2] {
    [("universal", flux_universal), ("monotonicity-preserving", flux_monotonicity_preserving)]
}

/// One sweep of a ring; `air[i]` flows from cell `i − 1` to cell `i`.
fn sweep<R: Scalar>(scheme: Flux<R>, rm: &mut [R], m: &mut [R], air: &[R]) {
    let n = rm.len();
    let r: Vec<R> = m.iter().map(|&m| R::lit(1.0) / m).collect();
    let q: Vec<R> = rm.iter().zip(&r).map(|(&rm, &r)| rm * r).collect();
    let flux: Vec<R> = (0..n)
        .map(|i| {
            let l = (i + n - 1) % n;
            let (c, carrier, _) = face_coefficients(air[i], m[l], m[i], r[l], r[i]);
            scheme(carrier, c, q[(i + n - 3) % n], core::array::from_fn(|x| q[(i + n + x - 2) % n]))
        })
        .collect();
    for i in 0..n {
        rm[i] += flux[i] - flux[(i + 1) % n];
        m[i] += air[i] - air[(i + 1) % n];
    }
}

fn advect<R: Scalar>(scheme: Flux<R>, start: &[R], courant: R, steps: usize) -> Vec<R> {
    let mut rm = start.to_vec();
    let mut m = vec![R::lit(1.0); start.len()];
    for _ in 0..steps {
        sweep(scheme, &mut rm, &mut m, &vec![courant; start.len()]);
    }
    rm
}

/// RMS error of the cell means of 2 + sin 2πx after one revolution.
fn sine_error(scheme: Flux<f64>, n: usize, courant: f64) -> f64 {
    use std::f64::consts::TAU;
    let integral = |i: usize| -(TAU * i as f64 / n as f64).cos() / TAU * n as f64;
    let start: Vec<f64> = (0..n).map(|i| 2.0 + integral(i + 1) - integral(i)).collect();
    let end = advect(scheme, &start, courant, (n as f64 / courant).round() as usize);
    (start.iter().zip(&end).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / n as f64).sqrt()
}

#[test]
fn polynomials_of_degree_five_are_swept_exactly() {
    // Antiderivative of a rising profile; the cells lie at [x, x + 1], x = −3 … 2, the face at 0.
    let whole =
        |x: f64| 8.0 * x + x.powi(2) + 0.1 * x.powi(3) - 0.02 * x.powi(4) + 0.001 * x.powi(5) - 2e-4 * x.powi(6);
    let mean = |x: f64| whole(x + 1.0) - whole(x);
    let w = [-2.0, -1.0, 0.0, 1.0, 2.0].map(mean);
    for (name, scheme) in schemes::<f64>() {
        for c in [0.1, 0.45, 0.8, 1.0] {
            let rightward = whole(0.0) - whole(-c);
            let leftward = whole(0.0) - whole(c);
            assert!((scheme(c, c, mean(-3.0), w) - rightward).abs() < 1e-14, "{name} {c}");
            assert!((scheme(-c, c, mean(-3.0), w) - leftward).abs() < 1e-14, "{name} {c}");
        }
    }
}

#[test]
fn smooth_extrema_keep_sixth_order() {
    for courant in [0.4, 0.8] {
        let errors = [20, 40, 80].map(|n| sine_error(flux_monotonicity_preserving, n, courant));
        for pair in errors.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!(order > 5.7, "{errors:?}");
        }
    }
    // Monotone means clip extrema, yet less than monotone parabolas do: 6.68e-3 and 1.69e-3 there.
    let errors = [40, 80].map(|n| sine_error(flux_universal, n, 0.4));
    assert!(errors[0] < 6.68e-3 && errors[1] < 1.69e-3, "{errors:?}");
}

fn box_stays_within_bounds<R: Scalar>() {
    let eps = R::EPSILON.to_f64();
    for width in [1, 5] {
        let start: Vec<R> = (0..40).map(|i| R::lit(if (10..10 + width).contains(&i) { 1.0 } else { 0.0 })).collect();
        for courant in [0.05, 0.3, 0.7, 0.95, 1.0, -0.45] {
            for (name, scheme) in schemes::<R>() {
                let (mut lo, mut hi, mut q) = (0.0, 0.0, start.clone());
                for _ in 0..100 {
                    q = advect(scheme, &q, R::lit(courant), 1);
                    lo = q.iter().map(|q| q.to_f64()).fold(lo, f64::min);
                    hi = q.iter().map(|q| q.to_f64()).fold(hi, f64::max);
                }
                let mass: f64 = q.iter().map(|q| q.to_f64()).sum();
                assert!((mass / width as f64 - 1.0).abs() <= 40.0 * eps, "{name} at {courant}: mass {mass}");
                assert!(lo >= -eps, "{name} at {courant}: {lo}");
                let above = if name == "universal" { 4.0 * eps } else { 0.15 };
                assert!(hi <= 1.0 + above, "{name} at {courant}: {hi}");
            }
        }
    }
}

#[test]
fn boxes_and_spikes_stay_within_bounds() {
    box_stays_within_bounds::<f64>();
    box_stays_within_bounds::<f32>();
}

/// Air fluxes of a ring that may empty a cell through one face and take a quarter of it through two.
fn divergent_air<R: Scalar>(m: &[R], random: &mut Random) -> Vec<R> {
    let n = m.len();
    let mut air: Vec<R> = (0..n)
        .map(|i| {
            let c: R = random.between(-1.0, 1.0);
            c * if c < R::lit(0.0) { m[i] } else { m[(i + n - 1) % n] }
        })
        .collect();
    for i in 0..n {
        let (west, east) = (air[i], air[(i + 1) % n]);
        if west < R::lit(0.0) && east > R::lit(0.0) {
            let factor = R::lit(0.2499) * m[i] / (east - west);
            if factor < R::lit(1.0) {
                air[i] = west * factor;
                air[(i + 1) % n] = east * factor;
            }
        }
    }
    air
}

fn divergent_bounds<R: Scalar>() {
    let mut random = Random(11);
    let eps = R::EPSILON.to_f64();
    for _ in 0..2000 {
        let start: Vec<R> = random.field(24, 0.5, 1.5);
        let q: Vec<R> =
            (0..24).map(|_| if random.unit() < 0.4 { R::lit(0.0) } else { random.between(0.0, 1.0) }).collect();
        let content: Vec<R> = start.iter().zip(&q).map(|(&m, &q)| m * q).collect();
        let air = divergent_air(&start, &mut random);
        for (name, scheme) in schemes::<R>() {
            let (mut rm, mut m) = (content.clone(), start.clone());
            sweep(scheme, &mut rm, &mut m, &air);
            let total = |x: &[R]| x.iter().map(|x| x.to_f64()).sum::<f64>();
            assert!((total(&rm) / total(&content) - 1.0).abs() < 24.0 * eps);
            for i in 0..24 {
                assert!(rm[i].to_f64() >= -4.0 * eps, "{name}: {:?}", rm[i]);
                if name == "universal" {
                    let near: Vec<f64> = [23, 0, 1].map(|x| q[(i + x) % 24].to_f64()).into();
                    let (lo, hi) = near.iter().fold((f64::MAX, f64::MIN), |(l, h), q| (l.min(*q), h.max(*q)));
                    let (rm, m) = (rm[i].to_f64(), m[i].to_f64());
                    assert!(rm >= lo * m - 8.0 * eps && rm <= hi * m + 8.0 * eps, "{rm} of {m}: {lo} to {hi}");
                }
            }
        }
    }
}

#[test]
fn bounds_hold_in_divergent_air() {
    divergent_bounds::<f64>();
    divergent_bounds::<f32>();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mirrored_faces_have_the_same_bits(q in prop::array::uniform6(-1.0..1.0_f64), c in 0.001..1.0_f64) {
        fn check<R: Scalar>(q: [f64; 6], c: f64) -> Result<(), TestCaseError> {
            let (q, c) = (q.map(R::lit), R::lit(c));
            for (_, scheme) in schemes::<R>() {
                let there = scheme(c, c, q[0], [q[1], q[2], q[3], q[4], q[5]]);
                let back = scheme(-c, c, q[5], [q[4], q[3], q[2], q[1], q[0]]);
                prop_assert_eq!(bits(there), bits(-back));
            }
            Ok(())
        }
        check::<f32>(q, c)?;
        check::<f64>(q, c)?;
    }

    #[test]
    fn traces_have_the_shape_of_large_ratios(q in prop::array::uniform6(-1.0..1.0_f32), c in 0.001..1.0_f32) {
        let tiny = (-70.0_f32).exp2();
        for (_, scheme) in schemes::<f32>() {
            let at = |s: f32| scheme(c, c, q[0] * s, [q[1], q[2], q[3], q[4], q[5]].map(|q| q * s));
            prop_assert_eq!(at(tiny), at(1.0) * tiny);
        }
    }

    #[test]
    fn uniform_ratios_move_with_the_air(q in -1.0..1.0_f64, flux in -1.0..1.0_f64, c in 0.0..1.0_f64) {
        for (_, scheme) in schemes::<f64>() {
            prop_assert_eq!(scheme(flux, c, q, [q; 5]), flux * q);
        }
    }
}
