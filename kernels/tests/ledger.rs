//! Acceptance of the conservation kit: sums, ledger, decay, Kahan cells.

mod common;
#[path = "common/extended.rs"]
mod extended;

use common::{Random, bits};
use extended::Extended;
use kernels::Scalar;
use kernels::columns::{decay, decay_decrement};
use kernels::numerics::{
    compensated_add, decayed, kahan_add, ledger_bound, ledger_step, ledger_step_without_carry, neumaier_add, sum_gap,
    two_sum,
};

/// A standard normal number (Box & Muller 1958).
fn normal(random: &mut Random) -> f64 {
    (-2.0 * (1.0 - random.unit()).ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

/// Relative to what half a unit in the last place of `at` is.
fn epsilon<R: Scalar>() -> f64 {
    R::EPSILON.to_f64()
}

#[test]
fn k1_two_sum_is_exact() {
    let mut random = Random(1);
    let mut draw = || {
        let exponent = (random.unit() * 7.0).floor() - 3.0;
        normal(&mut random) * 10_f64.powf(exponent)
    };
    for _ in 0..10_000 {
        let (a, b) = (draw(), draw());
        let (s, e) = two_sum(a as f32, b as f32);
        // Sums of two such numbers fit 53 bits only if their exponents are close: compare as pairs of doubles.
        let rest = Extended::new(a as f32) + Extended::new(b as f32) - Extended::new(s) - Extended::new(e);
        assert_eq!(rest.to_f64(), 0.0, "{a} + {b}");
        let (s, e) = two_sum(a, b);
        let rest = Extended::new(a) + Extended::new(b) - Extended::new(s) - Extended::new(e);
        assert_eq!(rest.to_f64(), 0.0, "{a} + {b}");
    }
}

#[test]
fn k2_compensated_sums_keep_small_terms() {
    let (mut plain, mut sum, mut errors) = (1e6_f32, 1e6_f32, 0.0_f32);
    for _ in 0..10_000 {
        plain += 0.01;
        (sum, errors) = neumaier_add(sum, errors, 0.01);
    }
    let exact = 1e6 + 1e4 * f64::from(0.01_f32);
    let error = (f64::from(sum) + f64::from(errors) - exact).abs();
    println!("K2: plain {:.1}, compensated {error:.2e}", f64::from(plain) - exact);
    assert!((f64::from(plain) - exact).abs() > 50.0);
    assert!(error <= 0.0625 / 8.0, "ulp(1e6) in single precision is 1/16");
}

#[test]
fn k3_totals_are_exact_to_one_rounding() {
    let mut random = Random(3);
    let panels: Vec<f32> = (0..6 * 9 * 9 * 5).map(|_| (4e-4 * (1.0 + random.unit())) as f32).collect();
    let interior = |n: usize| (1..8).contains(&(n % 9)) && (1..8).contains(&(n / 9 % 9));
    for whole in [true, false] {
        let values = || panels.iter().enumerate().filter(|(n, _)| whole || interior(*n)).map(|(_, &x)| x);
        // Each panel has its own lane, lanes are combined afterwards.
        let mut total = (0.0_f64, 0.0_f64);
        let (mut lane, mut count) = ((0.0, 0.0), 0);
        for value in values() {
            lane = neumaier_add(lane.0, lane.1, f64::from(value));
            count += 1;
            if count % 405 == 0 {
                total = neumaier_add(total.0, total.1, lane.0);
                total = neumaier_add(total.0, total.1, lane.1);
                lane = (0.0, 0.0);
            }
        }
        total = neumaier_add(total.0, total.1, lane.0 + lane.1);
        let exact = Extended::sum(values());
        let error = (Extended::new(total.0 + total.1) - exact).abs();
        assert!(error <= f64::EPSILON * exact.to_f64(), "{error:e}");
        let fed_back = values().fold((0.0, 0.0), |(s, c), x| compensated_add(s, c, f64::from(x)));
        assert!((Extended::new(fed_back.0) - exact).abs() <= f64::EPSILON * exact.to_f64());
    }
}

/// Solves `a x = b` by Gaussian elimination with row exchanges.
fn dense_solve<R: Scalar>(mut a: Vec<Vec<R>>, mut b: Vec<R>) -> Vec<R> {
    let n = b.len();
    for k in 0..n {
        let best = (k..n).max_by(|&i, &j| a[i][k].abs().partial_cmp(&a[j][k].abs()).unwrap()).unwrap();
        a.swap(k, best);
        b.swap(k, best);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                let above = a[k][j];
                a[i][j] -= factor * above;
            }
            let above = b[k];
            b[i] -= factor * above;
        }
    }
    for k in (0..n).rev() {
        for j in k + 1..n {
            let known = b[j];
            b[k] -= a[k][j] * known;
        }
        b[k] /= a[k][k];
    }
    b
}

fn summed<R: Scalar>(values: &[R]) -> (R, R) {
    values.iter().fold((R::lit(0.0), R::lit(0.0)), |(s, c), &x| neumaier_add(s, c, x))
}

fn guard<R: Scalar>() {
    const N: usize = 40;
    let mut random = Random(4);
    for leaks in [false, true] {
        let mut matrix = vec![vec![R::lit(0.0); N]; N];
        (0..N).for_each(|k| matrix[k][k] = R::lit(1.0));
        for k in 0..N - 1 {
            let exchange = random.between::<R>(0.0, 0.3);
            for (i, j, sign) in [(k, k, 1.0), (k + 1, k, -1.0), (k + 1, k + 1, 1.0), (k, k + 1, -1.0)] {
                matrix[i][j] += R::lit(sign) * exchange;
            }
        }
        if leaks {
            matrix[N - 1][N - 1] += R::lit(1e-3);
        }
        let before: Vec<R> = random.field(N, 4.0, 8.0);
        let mut after = dense_solve(matrix, before.clone());
        let largest = (0..N).max_by(|&i, &j| after[i].partial_cmp(&after[j]).unwrap()).unwrap();
        let bound = ledger_bound(R::lit(N as f64), after[largest], R::EPSILON);
        let gap = sum_gap(summed(&before), summed(&after));
        let (value, carry) = ledger_step(after[largest], gap, R::lit(0.0), bound);
        after[largest] = value;
        let total = Extended::sum(before.iter().copied());
        let change = (Extended::sum(after.iter().copied()) - total).abs();
        println!("K4 {} leaking {leaks}: {:.2e} of the sum", R::NAME, change / total.to_f64());
        if leaks {
            assert!(change > 1e-5 * total.to_f64());
            assert_eq!(bits(carry), 0, "a leak never enters the carry");
        } else {
            assert!(change <= epsilon::<R>() * value.to_f64(), "{change:e}");
        }
    }
}

#[test]
fn k4_the_ledger_repairs_rounding_and_leaves_leaks() {
    guard::<f32>();
    guard::<f64>();
}

fn carry_algebra<R: Scalar>() {
    let mut random = Random(5);
    let zero = R::lit(0.0);
    for _ in 0..10_000 {
        let value = random.between::<R>(0.5, 8.0);
        let bound = ledger_bound(R::lit(30.0), value, R::EPSILON);
        let quarter = bound.to_f64() / 4.0;
        let (gap, carry) = (random.between::<R>(-quarter, quarter), random.between::<R>(-quarter, quarter));
        let (settled, left) = ledger_step(value, gap, carry, bound);
        let rest = Extended::new(value) + Extended::new(gap) + Extended::new(carry)
            - Extended::new(settled)
            - Extended::new(left);
        assert!(rest.abs() <= epsilon::<R>() / 2.0 * left.to_f64().abs(), "{rest:?}");
        assert!(left.to_f64().abs() <= epsilon::<R>() * settled.to_f64());

        let (alone, _) = ledger_step(value, gap, zero, bound);
        assert_eq!(bits(alone), bits(ledger_step_without_carry(value, gap, bound)));

        let over = bound * R::lit(1.01);
        let (dropped, rest) = ledger_step(value, gap, over, bound);
        assert_eq!((bits(dropped), rest.to_f64()), (bits(alone), ledger_step(value, gap, zero, bound).1.to_f64()));

        assert_eq!(bits(ledger_step(value, R::lit(f64::NAN), zero, bound).0), bits(value));
        assert_eq!(bits(ledger_step(value, over, zero, bound).0), bits(value));
        assert_eq!(bits(ledger_step_without_carry(value, R::lit(f64::NAN), bound)), bits(value));
    }
}

#[test]
fn k5_value_and_carry_keep_the_sum() {
    carry_algebra::<f32>();
    carry_algebra::<f64>();
}

#[test]
fn k7_decay_is_that_of_double_precision() {
    // Radon-222, half-life 3.8235 days.
    let lambda = f64::from((2_f64.ln() / (3.8235 * 86400.0)) as f32);
    let naive = |dt: f64| {
        let decrement = (-(lambda as f32) * dt as f32).exp() - 1.0;
        f64::from(decrement) / (-lambda * dt).exp_m1() - 1.0
    };
    for (dt, expected) in [(300.0, -3.36e-5), (400.0, 2.6e-7), (450.0, 2.9e-5), (600.0, -3.1e-6), (900.0, -4.4e-6)] {
        let exact = (-lambda * dt).exp_m1();
        let decrement: f32 = decay_decrement(lambda, dt);
        assert_eq!(decrement.to_bits(), (exact as f32).to_bits());
        let error = (f64::from(decrement) / exact - 1.0).abs();
        println!("K7 dt {dt}: {error:.2e}, naive {:.2e} (table {expected:e})", naive(dt));
        assert!(error <= 3.2e-8);
        assert!((naive(dt) / expected - 1.0).abs() < 0.3, "the naive form is what the table says");
    }
}

fn decay_of_any_length<R: Scalar>() {
    let decrement: R = decay_decrement(2.0982e-6, 900.0);
    for len in [0, 1, 15, 16, 17, 100] {
        let start = Random(len as u64).field::<R>(len, 0.0, 1e-20);
        let mut contents = start.clone();
        decay(&mut contents, decrement);
        for (&before, &after) in start.iter().zip(&contents) {
            assert_eq!(bits(after), bits(decayed(before, decrement)));
            assert!(after < before);
        }
    }
}

#[test]
fn decay_is_the_same_in_every_place() {
    decay_of_any_length::<f32>();
    decay_of_any_length::<f64>();
}

#[test]
fn k10_kahan_cells_gain_what_is_added() {
    let (mut cell, mut compensation, mut plain) = (2e6_f32, 0.0_f32, 2e6_f32);
    let (added, count) = (0.0371_f32, 100_000);
    for _ in 0..count {
        (cell, compensation) = kahan_add(cell, compensation, added);
        plain += added;
    }
    let due = f64::from(added) * f64::from(count);
    let error = (f64::from(cell) - 2e6 - (due + f64::from(compensation))).abs() / due;
    println!("K10: {error:.2e}");
    assert!(error <= 1e-7);
    assert_eq!(plain, 2e6);
}
