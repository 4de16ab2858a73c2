//! Mass-flux convection: golden column, physical columns, layouts.

use kernels::Scalar;
use kernels::columns::Ledger;
use kernels::columns::convection::tm5::{Factors, LowerPart, Plumes, Solve, Tm5, Tm5Column, Tm5Options, cloud_indices};
use kernels::numerics as nm;

use crate::common::{Random, bits};
use crate::factors::Naive;
use crate::fixtures::{Clouds, LedgerUse, Packed, assert_no_leak, cloudy_column, pack, total, unpack};

/// The matrix of column `c`, all layers, and its form.
pub fn matrix<R: Scalar>(packed: &Packed<R>, c: usize, dt: R) -> (Vec<Vec<R>>, usize, LowerPart) {
    let column = |block: &[R]| block.chunks_exact(packed.width).map(|row| row[c]).collect::<Vec<R>>();
    let [entu, detu, entd, detd] = [0, 1, 2, 3].map(|r| column(&packed.rates[r]));
    let air = column(&packed.air);
    let n = air.len();
    let mut rows: Vec<Vec<R>> = (0..n).map(|i| (0..n).map(|j| R::lit(f64::from(u8::from(i == j)))).collect()).collect();
    let Some(indices) = cloud_indices(&detu, &entd) else { return (rows, n, LowerPart::Hessenberg) };
    let column = Tm5Column { air: &air, entu: &entu, detu: &detu, entd: &entd, detd: &detd };
    let (mut plumes, mut factors) = (Plumes::new(n), Factors::new(n));
    plumes.follow(&column, &indices);
    let lower = plumes.assemble(&column, &indices, dt, &mut factors);
    for i in indices.first..n {
        rows[i][indices.first..].copy_from_slice(factors.row(i - indices.first));
    }
    (rows, indices.first, lower)
}

const AIR: [f64; 4] = [100.0, 200.0, 300.0, 400.0];
const ENTU: [f64; 4] = [0.0, 0.0, 0.01, 0.03];
const DETU: [f64; 4] = [0.0, 0.03, 0.01, 0.0];

/// Matrix and solution of the golden column to `tolerance` (spec 30 §6.5 T1).
fn golden<R: Scalar>(tolerance: f64, solve: Solve) {
    let none = [0.0; 4];
    let cases = [
        (
            none,
            none,
            [0.0, 0.0, 0.03, 0.03, 0.0],
            [0.0; 5],
            [
                [1.0, 0.0, 0.0, 0.0],
                [0.0, 1.27, -0.045, -0.10125],
                [0.0, -0.27, 1.225, -0.03375],
                [0.0, 0.0, -0.18, 1.135],
            ],
            [0.0, 0.0721821370052, 0.040359904562, 0.887457958433],
        ),
        (
            [0.0, 0.004, 0.002, 0.0],
            [0.0, 0.0, 0.001, 0.005],
            [0.0, 0.0, 0.03, 0.03, 0.0],
            [0.0, 0.0, -0.004, -0.005, 0.0],
            [
                [1.0, 0.0, 0.0, 0.0],
                [0.0, 1.306, -0.069, -0.10125],
                [0.0, -0.276, 1.259, -0.05625],
                [0.0, -0.03, -0.19, 1.1575],
            ],
            [0.0, 0.0706980323982, 0.0545796560498, 0.874722311552],
        ),
    ];
    for (entd, detd, amu, amd, rows, solution) in cases {
        let packed = Clouds::of(&AIR, [&ENTU, &DETU, &entd, &detd]).packed::<R>();
        let (m, first, lower) = matrix(&packed, 0, R::lit(1800.0));
        // lo = 1 in layers counted from 1.
        assert_eq!((first, lower == LowerPart::Full), (0, entd[1] > 0.0));
        let real = |x: &[f64]| x.iter().map(|x| R::lit(*x)).collect::<Vec<_>>();
        let (air, entu, detu, entd, detd) = (real(&AIR), real(&ENTU), real(&DETU), real(&entd), real(&detd));
        let column = Tm5Column { air: &air, entu: &entu, detu: &detu, entd: &entd, detd: &detd };
        let mut plumes = Plumes::new(4);
        plumes.follow(&column, &cloud_indices(&detu, &entd).unwrap());
        for e in 0..5 {
            assert!((plumes.amu[e].to_f64() - amu[e]).abs() < tolerance);
            assert!((plumes.amd[e].to_f64() - amd[e]).abs() < tolerance);
        }
        let eps = R::EPSILON.to_f64();
        for i in 0..4 {
            let (mut column_sum, mut product) = (0.0, 0.0);
            for j in 0..4 {
                assert!((m[i][j].to_f64() - rows[i][j]).abs() < tolerance, "{i} {j}: {}", m[i][j]);
                column_sum += m[j][i].to_f64();
                product += m[i][j].to_f64() * AIR[j];
            }
            assert!((column_sum - 1.0).abs() <= 4.0 * eps && (product / AIR[i] - 1.0).abs() <= 4.0 * eps);
        }
        let mut work = Tm5::new(4, Tm5Options { solve, ..Default::default() }).unwrap();
        let mut tracer = pack::<R>(&[vec![0.0, 0.0, 0.0, 1.0]]);
        let mut carry = vec![R::lit(0.0); packed.width];
        work.convect(&packed.air(), &packed.forcing(), R::lit(1800.0), &mut tracer, Ledger::Carry(&mut carry));
        for (new, expected) in unpack(&tracer, packed.width, 0).iter().zip(solution) {
            assert!((new - expected).abs() < tolerance, "{new} {expected}");
        }
    }
}

#[test]
fn golden_column() {
    for solve in [Solve::Plain, Solve::Delta] {
        golden::<f64>(1e-12, solve);
        golden::<f32>(4e-7, solve);
    }
}

/// Physical columns, 65 tracers (spec 30 §6.5 T3).
fn physical<R: Scalar>() {
    let eps = R::EPSILON.to_f64();
    let mut random = Random(3);
    for n in [8, 25, 85, 137] {
        let mut clouds = Clouds::default();
        let mut sinking = Vec::new();
        for top in [0, 3] {
            for downdraft in [0.0, 0.01, eps * eps] {
                let air = (0..n).map(|_| 50.0 + 150.0 * random.unit()).collect();
                clouds.push(air, cloudy_column(n, top, downdraft, &mut random));
                sinking.push(downdraft > 0.0);
            }
        }
        let (packed, dt) = (clouds.packed::<R>(), R::lit(1800.0));
        let plane = n * packed.width;
        let mut start = vec![R::lit(0.0); 65 * plane];
        for (at, value) in start.iter_mut().enumerate() {
            *value = packed.air[at % plane] * random.between(0.0, 1.0);
        }
        for ledger in [LedgerUse::Omitted, LedgerUse::Kept] {
            let mut work = Tm5::new(n, Tm5Options { solve: Solve::Plain, ..Default::default() }).unwrap();
            let (mut tracers, mut carry) = (start.clone(), vec![R::lit(0.0); 65 * packed.width]);
            assert_no_leak(work.convect(&packed.air(), &packed.forcing(), dt, &mut tracers, ledger.of(&mut carry)));
            for c in 0..sinking.len() {
                let (m, first, lower) = matrix(&packed, c, dt);
                assert_eq!(lower == LowerPart::Full, sinking[c]);
                if !sinking[c] {
                    assert!((0..n).all(|i| m[i][..i.max(1) - 1].iter().all(|x| bits(*x) == 0)));
                }
                let naive = Naive::factor(m[first..].iter().map(|row| row[first..].to_vec()).collect());
                for t in 0..65 {
                    let column = |values: &[R]| unpack(&values[t * plane..(t + 1) * plane], packed.width, c);
                    let (old, new) = (column(&start), column(&tracers));
                    let mut expected: Vec<R> = old.iter().map(|x| R::lit(*x)).collect();
                    naive.solve(&mut expected[first..]);
                    if ledger == LedgerUse::Kept {
                        assert_eq!(bits(settle(&old, &mut expected, first)), bits(carry[t * packed.width + c]));
                    }
                    assert_eq!(new, expected.iter().map(|x| x.to_f64()).collect::<Vec<_>>());
                    let (before, after) = (total(&old), total(&new));
                    assert!(new.iter().all(|x| *x >= 0.0));
                    match ledger {
                        LedgerUse::Omitted => assert!((after / before - 1.0).abs() < 100.0 * eps),
                        LedgerUse::Kept => {
                            let largest = new.iter().fold(0.0, |a: f64, b| a.max(*b));
                            assert!((after - before).abs() <= eps * largest.max(1e-300) + before * 2.0_f64.powi(-52));
                        }
                    }
                }
            }
        }
    }
}

/// The ledger written out for one column (spec 30 §3.4), from an empty carry.
fn settle<R: Scalar>(old: &[f64], new: &mut [R], first: usize) -> R {
    let zero = R::lit(0.0);
    let (mut before, mut after) = ((zero, zero), (zero, zero));
    let mut p = first;
    for k in first..new.len() {
        before = nm::neumaier_add(before.0, before.1, R::lit(old[k]));
        after = nm::neumaier_add(after.0, after.1, new[k]);
        if new[k] > new[p] {
            p = k;
        }
    }
    let bound = R::lit(16.0 * (new.len() - first) as f64) * R::EPSILON * new[p];
    let gap = (before.0 - after.0) + (before.1 - after.1);
    let gap = if gap <= bound && -gap <= bound { gap } else { zero };
    let (value, carry) = nm::two_sum(new[p], gap);
    new[p] = value;
    carry
}

#[test]
fn physical_columns_are_the_dense_solve_and_its_ledger() {
    physical::<f32>();
    physical::<f64>();
}

/// Blocks: mass, change, identity without forcing, scratch that was used before (spec 30 §6.5 T4).
fn layouts<R: Scalar>() {
    let eps = R::EPSILON.to_f64();
    for (n, cloud, downdraft) in [(8, 2..6, 3..6), (6, 1..4, 1..4)] {
        let on = |range: &std::ops::Range<usize>, x: f64| -> Vec<f64> {
            (0..n).map(|k| if range.contains(&k) { x } else { 0.0 }).collect()
        };
        let rates = [on(&cloud, 0.03), on(&cloud, 0.02), on(&downdraft, 0.01), on(&downdraft, 0.005)];
        let mut clouds = Clouds::default();
        for c in 0..20 {
            // Columns without forcing in between.
            let rates = if c % 3 == 1 { core::array::from_fn(|_| vec![0.0; n]) } else { rates.clone() };
            clouds.push(vec![5e3; n], rates);
        }
        let packed = clouds.packed::<R>();
        let mut random = Random(4);
        let start: Vec<R> = (0..3 * n * packed.width).map(|_| random.between(1.0, 2.0)).collect();
        let mut used = Tm5::new(n, Tm5Options::default()).unwrap();
        let mut results = Vec::new();
        for round in 0..2 {
            let (mut tracers, mut carry) = (start.clone(), vec![R::lit(0.0); 3 * packed.width]);
            let mut fresh = Tm5::new(n, Tm5Options::default()).unwrap();
            let work = if round == 0 { &mut fresh } else { &mut used };
            if round == 1 {
                work.convect(
                    &packed.air(),
                    &packed.forcing(),
                    R::lit(60.0),
                    &mut tracers.clone(),
                    Ledger::Carry(&mut carry.clone()),
                );
            }
            assert_no_leak(work.convect(
                &packed.air(),
                &packed.forcing(),
                R::lit(600.0),
                &mut tracers,
                Ledger::Carry(&mut carry),
            ));
            results.push((tracers, carry));
        }
        assert_eq!(results[0], results[1]);
        for t in 0..3 {
            for c in 0..packed.width {
                let column = |x: &[R]| unpack(&x[t * n * packed.width..(t + 1) * n * packed.width], packed.width, c);
                let (old, new) = (column(&start), column(&results[0].0));
                if c >= 20 || c % 3 == 1 {
                    assert_eq!(old, new);
                } else {
                    assert_ne!(old, new);
                    assert!((total(&new) / total(&old) - 1.0).abs() < 1e4 * eps);
                }
            }
        }
    }
}

#[test]
fn blocks_conserve_and_leave_quiet_columns_alone() {
    layouts::<f32>();
    layouts::<f64>();
}

#[test]
fn tracers_and_batches_do_not_matter() {
    let mut random = Random(5);
    let n = 25;
    let mut clouds = Clouds::default();
    for _ in 0..16 {
        let air = (0..n).map(|_| 50.0 + 150.0 * random.unit()).collect();
        clouds.push(air, cloudy_column(n, 2, 0.01, &mut random));
    }
    let packed = clouds.packed::<f32>();
    let plane = n * packed.width;
    let start: Vec<f32> = (0..65 * plane).map(|_| random.between(-1.0, 1.0)).collect();
    let run = |tracers: &mut [f32]| {
        let mut work = Tm5::new(n, Tm5Options::default()).unwrap();
        let mut carry = vec![0.0; tracers.len() / n];
        work.convect(&packed.air(), &packed.forcing(), 1800.0, tracers, Ledger::Carry(&mut carry));
    };
    let mut together = start.clone();
    run(&mut together);
    for count in [1, 2, 7, 16, 17, 65] {
        let mut some = start[..count * plane].to_vec();
        run(&mut some);
        assert_eq!(some, together[..count * plane]);
    }
}

/// Steps so long that the matrix is all but singular: some changes round to more than a layer holds, where the plain solve
/// steps in.
fn emptied<R: Scalar>() {
    let (n, count) = (25, 25);
    let mut random = Random(16);
    let mut clouds = Clouds::default();
    for _ in 0..16 {
        let air = (0..n).map(|_| 50.0 + 150.0 * random.unit()).collect();
        clouds.push(air, cloudy_column(n, 2, 0.01, &mut random));
    }
    let packed = clouds.packed::<R>();
    let plane = n * packed.width;
    let mut start = vec![R::lit(0.0); count * plane];
    for t in 0..count {
        start[t * plane + t * packed.width..][..packed.width].fill(R::lit(1.0));
    }
    let run = |solve| {
        let mut tracers = start.clone();
        let mut work = Tm5::new(n, Tm5Options { solve, ..Default::default() }).unwrap();
        let dt = R::lit(1.2e4 / R::EPSILON.to_f64());
        work.convect(&packed.air(), &packed.forcing(), dt, &mut tracers, Ledger::Off);
        tracers
    };
    let (plain, delta) = (run(Solve::Plain), run(Solve::Delta));
    let (mut same, mut other) = (0, 0);
    // The layers above are outside of the matrix.
    for t in 2..count {
        for c in 0..16 {
            let column = |x: &[R]| unpack(&x[t * plane..(t + 1) * plane], packed.width, c);
            let (plain, delta) = (column(&plain), column(&delta));
            if plain.iter().all(|x| *x >= 0.0) {
                assert!(delta.iter().all(|x| *x >= 0.0), "{delta:?}");
                if plain == delta { same += 1 } else { other += 1 }
            }
        }
    }
    assert!(same > 10 && other > 10, "{same} {other}");
}

#[test]
fn a_change_that_would_leave_less_than_nothing_is_solved_plainly() {
    emptied::<f32>();
    emptied::<f64>();
}
