//! 200 implicit steps of the same columns (spec 30 §6.5 T7, fixture TM5-P).

use core::f64::consts::PI;

use kernels::Scalar;
use kernels::columns::convection::tm5::{Solve, Tm5, Tm5Options};

use crate::common::Random;
use crate::fixtures::{Clouds, Column, LedgerUse, Packed, pack, total, unpack};

const COLUMNS: usize = 64;
const N: usize = 66;
const STEPS: usize = 200;

/// The columns, and the mixing ratios of three tracers.
fn fixture(downdraft: bool) -> (Clouds, [Column; 3]) {
    let mut random = Random(11);
    let mut clouds = Clouds::default();
    for _ in 0..COLUMNS {
        let gamma = |k: usize| if k + 7 >= N { 0.4 } else { 1.0 };
        let air = (0..N)
            .map(|k| (30.0 + 270.0 * (k + 1) as f64 / N as f64) * gamma(k) * (1.0 + 0.05 * random.unit()))
            .collect();
        let (top, base) = (N / 3 + (random.unit() * N as f64 / 4.0) as usize, N - 6);
        let strength = 0.5 + random.unit();
        let flux = |k: usize| match k {
            _ if k <= top => 0.0,
            _ if k > base => 0.01 * (N - k) as f64 / 6.0,
            _ => 0.01 + 0.03 * (PI * (base - k) as f64 / (base - top + 1) as f64).sin() * strength,
        };
        let mut rates: [Column; 4] = core::array::from_fn(|_| vec![0.0; N]);
        for k in top..N {
            let detrained = if k < base { 0.15 * flux(k + 1) } else { 0.0 };
            let entrained = flux(k) - flux(k + 1) + detrained;
            rates[0][k] = entrained.max(0.0);
            rates[1][k] = detrained - entrained.min(0.0);
        }
        if downdraft {
            let mut sinking = 0.0;
            for k in top + (N - top) / 3..N - 1 {
                if k <= N - 11 {
                    rates[2][k] = 0.002 * random.unit();
                } else {
                    rates[3][k] = 0.3 * sinking;
                }
                sinking += rates[2][k] - rates[3][k];
            }
        }
        clouds.push(air, rates);
    }
    let depth = |k: usize| (N - 1 - k) as f64 / 4.0;
    let peaked = (0..N).map(|k| 1e-6 * (-depth(k)).exp() + 1e-9).collect();
    let background = (0..N).map(|k| 4e-4 + 2e-5 * (-depth(k)).exp()).collect();
    (clouds, [peaked, background, vec![4e-4; N]])
}

/// Relative drift of the columns and largest error of a cell, in units of the column's largest mixing ratio.
#[derive(Debug)]
struct Drift {
    mean: f64,
    worst: f64,
    with_carry: f64,
    cell: f64,
}

/// Drift of each tracer after all steps; cells against `exact`.
fn drift<R: Scalar>(
    packed: &Packed<R>,
    tracers: &[Column; 3],
    options: Tm5Options,
    ledger: LedgerUse,
    exact: &[Vec<Column>],
) -> Vec<Drift> {
    let (after, carry) = run(packed, tracers, options, ledger);
    let start = contents::<R>(packed, tracers);
    (0..3)
        .map(|t| {
            let mut out = Drift { mean: 0.0, worst: 0.0, with_carry: 0.0, cell: 0.0 };
            for c in 0..COLUMNS {
                let plane = N * packed.width;
                let column = |x: &[R]| unpack(&x[t * plane..(t + 1) * plane], packed.width, c);
                let (old, new) = (column(&start), column(&after));
                let (before, change) = (total(&old), total(&new) - total(&old));
                out.mean += change / before / COLUMNS as f64;
                out.worst = f64::max(out.worst, (change / before).abs());
                let settled = change + carry[t * packed.width + c].to_f64();
                out.with_carry = f64::max(out.with_carry, (settled / before).abs());
                let ratio = |x: &[f64], k: usize| x[k] / packed.air[k * packed.width + c].to_f64();
                let largest = (0..N).map(|k| ratio(&exact[t][c], k)).fold(0.0, f64::max);
                for k in 0..N {
                    let error = (ratio(&new, k) - ratio(&exact[t][c], k)) / largest;
                    out.cell = f64::max(out.cell, error.abs());
                }
            }
            out
        })
        .collect()
}

fn contents<R: Scalar>(packed: &Packed<R>, tracers: &[Column; 3]) -> Vec<R> {
    let mut out = Vec::new();
    for tracer in tracers {
        let q = pack::<R>(&vec![tracer.clone(); COLUMNS]);
        out.extend(q.iter().zip(&packed.air).map(|(q, m)| *q * *m));
    }
    out
}

fn run<R: Scalar>(
    packed: &Packed<R>,
    tracers: &[Column; 3],
    options: Tm5Options,
    ledger: LedgerUse,
) -> (Vec<R>, Vec<R>) {
    let mut state = contents::<R>(packed, tracers);
    let mut carry = vec![R::lit(0.0); 3 * packed.width];
    let mut work = Tm5::new(N, options).unwrap();
    for _ in 0..STEPS {
        let stats = work.convect(&packed.air(), &packed.forcing(), R::lit(1800.0), &mut state, ledger.of(&mut carry));
        assert_eq!(stats.refused, 0);
    }
    (state, carry)
}

/// Result of the delta form in double precision of what precision `R` starts from: for double precision the other form is
/// measured against it.
fn exact<R: Scalar>(clouds: &Clouds, tracers: &[Column; 3]) -> Vec<Vec<Column>> {
    let given = clouds.packed::<R>();
    let start = contents::<R>(&given, tracers);
    let widen = |x: &[R]| x.iter().map(|x| x.to_f64()).collect::<Vec<_>>();
    let packed = Packed {
        block: given.block,
        width: given.width,
        air: widen(&given.air),
        area: widen(&given.area),
        rates: given.rates.each_ref().map(|rate| widen(rate)),
    };
    let (mut state, mut carry) = (widen(&start), vec![0.0; 3 * packed.width]);
    let mut work = Tm5::new(N, Tm5Options { solve: Solve::Delta, ..Default::default() }).unwrap();
    for _ in 0..STEPS {
        work.convect(&packed.air(), &packed.forcing(), 1800.0, &mut state, LedgerUse::Kept.of(&mut carry));
    }
    let plane = N * packed.width;
    (0..3)
        .map(|t| (0..COLUMNS).map(|c| unpack(&state[t * plane..(t + 1) * plane], packed.width, c)).collect())
        .collect()
}

fn repeated<R: Scalar>() {
    for downdraft in [false, true] {
        let (clouds, tracers) = fixture(downdraft);
        let exact = exact::<R>(&clouds, &tracers);
        let packed = clouds.packed::<R>();
        for solve in [Solve::Plain, Solve::Delta] {
            for ledger in [LedgerUse::Omitted, LedgerUse::Kept] {
                let options = Tm5Options { solve, ..Default::default() };
                let all = drift(&packed, &tracers, options, ledger, &exact);
                for (name, d) in ["peaked", "background", "uniform"].iter().zip(&all) {
                    println!(
                        "{} downdraught {downdraft} {solve:?} ledger {ledger:?} {name}: mean {:.1e} worst {:.1e} with carry {:.1e} cell {:.1e}",
                        R::NAME,
                        d.mean,
                        d.worst,
                        d.with_carry,
                        d.cell
                    );
                    if ledger == LedgerUse::Kept {
                        assert!(d.mean.abs() <= 1e-9 && d.worst <= 1e-8 && d.with_carry <= 1e-12, "{d:?}");
                    }
                    if R::EPSILON.to_f64() > 1e-10 && solve == Solve::Plain && ledger == LedgerUse::Omitted {
                        // Without the ledger the fixture must drift, or it tests nothing.
                        assert!(d.worst > 1e-8, "{d:?}");
                    }
                }
                // Both forms solve the same equations.
                assert!(all.iter().all(|d| d.cell <= 1e3 * R::EPSILON.to_f64()), "{all:?}");
                if solve == Solve::Delta && R::EPSILON.to_f64() > 1e-10 {
                    // A uniform tracer stays to one rounding per step, in practice to the bit.
                    assert!(all[2].cell <= 2.0 * R::EPSILON.to_f64(), "{:?}", all[2]);
                }
            }
        }
    }
}

#[test]
fn repeated_steps_drift_by_the_carry_only() {
    repeated::<f32>();
    repeated::<f64>();
}
