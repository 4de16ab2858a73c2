//! Acceptance of the mass-space solve.

#[path = "common/columns.rs"]
mod columns;
mod common;
#[path = "common/extended.rs"]
mod extended;
#[path = "common/plain_mass_space.rs"]
mod plain_mass_space;
#[path = "common/vertical.rs"]
mod vertical;

use columns::{Bench, Columns, Fixture, Mode, mass_space, packed, unpacked};
use common::{Random, bits};
use extended::{Extended, backward_euler};
use kernels::Scalar;
use kernels::columns::{ColumnBlock, Ledger, MassSpaceFactors};
use vertical::{TRACERS, boundary_layers, random_exchange, random_tracers};

const STRENGTHS: [f64; 8] = [0.0, 1e-14, 1e-8, 1e-2, 1.0, 40.0, 1e3, 1e6];

fn all_bits<R: Scalar>(values: &[R]) -> Vec<u64> {
    values.iter().map(|&x| bits(x)).collect()
}

/// Worst relative error of the 2-norm (D1), conservation in units of epsilon times the largest content (D2), deviation of the
/// constant (D3).
fn single_solves<R: Scalar>() -> (f64, f64, f64) {
    let mut random = Random(2);
    let eps = R::EPSILON.to_f64();
    let (mut accuracy, mut conservation, mut uniformity) = (0.0_f64, 0.0_f64, 0.0_f64);
    for (count, nk) in [(16, 2), (16, 3), (35, 7), (16, 20), (35, 66)] {
        for strength in STRENGTHS {
            let fixture = random_exchange::<R>(count, nk, strength, &mut random);
            for (kind, start) in random_tracers(&fixture.mass, &mut random).iter().enumerate() {
                let end = Bench::new(&fixture, Mode::Carry, mass_space).run(start, 1);
                for i in 0..count {
                    let (mass, before, after) = (&fixture.mass[i], &start[i], &end[i]);
                    let exact = backward_euler(mass, &fixture.exchange[i], 1.0, before);
                    let norm = exact.iter().map(|x| x.to_f64().powi(2)).sum::<f64>().sqrt();
                    let error = exact.iter().zip(after).map(|(&x, &y)| (Extended::new(y) - x).to_f64().powi(2));
                    accuracy = accuracy.max(error.sum::<f64>().sqrt() / norm.max(f64::MIN_POSITIVE));
                    let largest = after.iter().fold(0.0_f64, |l, x| l.max(x.to_f64().abs()));
                    let change = Extended::sum(after.iter().copied()) - Extended::sum(before.iter().copied());
                    conservation = conservation.max(change.abs() / (eps * largest.max(f64::MIN_POSITIVE)));
                    match TRACERS[kind] {
                        "constant" => {
                            for (rm, m) in after.iter().zip(mass) {
                                uniformity = uniformity.max((rm.to_f64() / (4e-4 * m.to_f64()) - 1.0).abs());
                            }
                        }
                        "positive" | "spike" => assert!(after.iter().all(|x| x.to_f64() >= 0.0)),
                        "zero" => assert!(after.iter().all(|x| x.to_f64() == 0.0)),
                        _ => {}
                    }
                    if strength == 0.0 {
                        assert_eq!(all_bits(after), all_bits(before), "nothing is exchanged");
                    }
                }
            }
        }
    }
    (accuracy, conservation, uniformity)
}

#[test]
fn d1_d2_d3_single_solves_in_single_precision() {
    let (accuracy, conservation, uniformity) = single_solves::<f32>();
    let eps = f64::from(f32::EPSILON);
    println!("f32: D1 {accuracy:.2e}, D2 {conservation:.2} eps, D3 {:.2} eps", uniformity / eps);
    assert!(accuracy <= 8e-7 && conservation <= 1.0 && uniformity <= 8.0 * eps);
}

#[test]
fn d1_d2_d3_single_solves_in_double_precision() {
    let (accuracy, conservation, uniformity) = single_solves::<f64>();
    println!("f64: D1 {accuracy:.2e}, D2 {conservation:.2} eps, D3 {uniformity:.2e}");
    assert!(accuracy <= 5e-12 && conservation <= 1.0 && uniformity <= 2e-14);
}

/// Any number of tracers and any width of a block: the bits of one column alone and of the plain form.
fn same_bits_in_any_company<R: Scalar>() {
    let mut random = Random(3);
    let mut fixture = random_exchange::<R>(35, 9, 2.0, &mut random);
    // Weak, strong and closed interfaces, and columns without air in a layer.
    for i in 0..35 {
        for k in 0..9 {
            let factor = [1.0, 1e-9, 30.0, 0.0][(random.unit() * 4.0) as usize];
            fixture.exchange[i][k] *= R::from_f64(factor);
        }
    }
    fixture.mass[4][3] = R::lit(0.0);
    fixture.mass[17][8] = R::lit(0.0);
    fixture.exchange[5].fill(R::lit(0.0));
    let dt = R::from_f64(fixture.dt);
    let tracers: Vec<Columns<R>> = (0..10).flat_map(|_| random_tracers(&fixture.mass, &mut random)).take(65).collect();
    for width in [1, 2, 15, 16, 17, 35] {
        let some =
            Fixture { mass: fixture.mass[..width].to_vec(), exchange: fixture.exchange[..width].to_vec(), dt: 1.0 };
        let mut bench = Bench::new(&some, Mode::Carry, mass_space);
        let mut carries = vec![vec![R::lit(0.0); bench.block.width()]; tracers.len()];
        for (tracer, carry) in tracers.iter().zip(&mut carries) {
            bench.carry.clone_from(carry);
            let mut field = packed(bench.block, &tracer[..width], 0.7);
            for _ in 0..3 {
                bench.step(&mut field);
            }
            carry.clone_from(&bench.carry);
            let end = unpacked(bench.block, &field);
            for i in 0..width {
                let (mut plain, mut plain_carry) = (tracer[i].clone(), R::lit(0.0));
                for _ in 0..3 {
                    plain_mass_space::solve(&some.mass[i], &some.exchange[i], dt, &mut plain, &mut plain_carry);
                }
                assert_eq!(all_bits(&end[i]), all_bits(&plain), "column {i} of {width}");
                assert_eq!(bits(carry[i]), bits(plain_carry));
            }
        }
    }
}

#[test]
fn d4_blocks_have_the_bits_of_single_columns() {
    same_bits_in_any_company::<f32>();
    same_bits_in_any_company::<f64>();
}

#[test]
fn padding_does_no_harm() {
    let mut random = Random(8);
    let fixture = random_exchange::<f32>(5, 12, 40.0, &mut random);
    let block = ColumnBlock::new(5, 12);
    let start = &random_tracers(&fixture.mass, &mut random)[3];
    let mut expected: Option<Columns<f32>> = None;
    for padding in [[1.0, 0.0, 0.0], [1.0, 1e6, 3e38], [0.0, 1.0, -5.0], [1e-30, 1e30, 1e-30], [-1.0, -1.0, 1.0]] {
        let mut factors = MassSpaceFactors::new(block.width(), block.nk());
        let mass = packed(block, &fixture.mass, padding[0]);
        factors.prepare(block, &mass, &packed(block, &fixture.exchange, padding[1]), 1.0);
        let mut field = packed(block, start, padding[2]);
        let mut carry = vec![0.0; block.width()];
        let stats = factors.solve(&mass, &mut field, Ledger::Carry(&mut carry));
        assert_eq!(stats.refused, 0, "padding counts nowhere");
        let end = unpacked(block, &field);
        assert_eq!(expected.get_or_insert_with(|| end.clone()), &end);
    }
}

fn isolated<R: Scalar>() {
    let mut random = Random(4);
    let mut fixture = random_exchange::<R>(16, 4, 40.0, &mut random);
    for exchange in &mut fixture.exchange {
        (exchange[1], exchange[2]) = (R::lit(0.0), R::lit(0.0));
    }
    for start in random_tracers(&fixture.mass, &mut random) {
        let end = Bench::new(&fixture, Mode::Carry, mass_space).run(&start, 20);
        for (before, after) in start.iter().zip(&end) {
            assert_eq!(all_bits(&before[2..]), all_bits(&after[2..]));
        }
    }
}

#[test]
fn d5_layers_without_exchange_keep_their_bits() {
    isolated::<f32>();
    isolated::<f64>();
}

fn weak<R: Scalar>(tolerance: f64) -> f64 {
    let mut worst = 0.0_f64;
    for strength in [1e-2, 1e-8, 1e-14] {
        let mass = vec![vec![R::lit(1e10); 2]; 2];
        let exchange = vec![vec![R::from_f64(strength * 1e10), R::lit(0.0)]; 2];
        let start = [[4e6, 0.0], [0.0, -4e6]].map(|column| column.map(R::lit).to_vec());
        let fixture = Fixture { mass, exchange, dt: 1.0 };
        let end = Bench::new(&fixture, Mode::Carry, mass_space).run(&start, 1);
        let step = fixture.exchange[0][0].to_f64() / 1e10;
        let expected = 4e6 * step / (1.0 + 2.0 * step);
        for moved in [end[0][1].to_f64(), -end[1][0].to_f64()] {
            worst = worst.max((moved / expected - 1.0).abs());
        }
        let negated: Columns<R> = start.iter().map(|rm| rm.iter().map(|&x| -x).collect()).collect();
        let mirrored = Bench::new(&fixture, Mode::Carry, mass_space).run(&negated, 1);
        assert!(
            end.iter().flatten().zip(mirrored.iter().flatten()).all(|(&x, &y)| x == -y),
            "the same for either sign"
        );
        assert!(worst <= tolerance, "{strength}: {worst:e}");
    }
    worst
}

#[test]
fn d6_weak_exchange_into_an_empty_layer_survives() {
    let eps = f64::from(f32::EPSILON);
    println!("D6: f32 {:.2} eps, f64 {:.2e}", weak::<f32>(6.0 * eps) / eps, weak::<f64>(4e-15));
}

/// Repeated solves: mean drift, largest drift of a column, largest change of a column with its carry, largest error of a
/// cell, all relative.
fn repeated<R: Scalar>(
    fixture: &Fixture<R>,
    exact: &[Vec<f64>],
    start: &[Vec<R>],
    mode: Mode,
    steps: usize,
) -> [f64; 4] {
    let mut bench = Bench::new(fixture, mode, mass_space);
    let end = bench.run(start, steps);
    let (mut mean, mut column, mut with_carry, mut cell) = (0.0, 0.0_f64, 0.0_f64, 0.0_f64);
    for i in 0..start.len() {
        let before = Extended::sum(start[i].iter().copied());
        let change = Extended::sum(end[i].iter().copied()) - before;
        mean += change.to_f64() / before.to_f64() / start.len() as f64;
        column = column.max(change.abs() / before.to_f64());
        with_carry = with_carry.max((change + Extended::new(bench.carry[i])).abs() / before.to_f64());
        for (x, &y) in exact[i].iter().zip(&end[i]) {
            cell = cell.max((y.to_f64() / x - 1.0).abs());
        }
    }
    [mean.abs(), column, with_carry, cell]
}

fn repeated_solves<R: Scalar>() {
    const STEPS: usize = 200;
    let (fixture, tracers) = boundary_layers::<R>();
    // Limits are those of single precision; what is left of the carried sum is of second order.
    let unit = R::EPSILON.to_f64() / f64::from(f32::EPSILON);
    for (name, start) in ["P0", "P1", "P2"].into_iter().zip(&tracers) {
        let exact: Vec<Vec<f64>> = (0..start.len())
            .map(|i| {
                let [mass, exchange] = [&fixture.mass, &fixture.exchange].map(|f| widened(&f[i]));
                (0..STEPS).fold(widened(&start[i]), |rm, _| {
                    backward_euler(&mass, &exchange, fixture.dt, &rm).iter().map(|x| x.to_f64()).collect()
                })
            })
            .collect();
        for mode in [Mode::Off, Mode::WithoutCarry, Mode::Carry] {
            let [mean, column, with_carry, cell] = repeated(&fixture, &exact, start, mode, STEPS);
            println!(
                "D8 {} {name} {mode:?}: mean {mean:.1e}, column {column:.1e}, + carry {with_carry:.1e}, cell {cell:.1e}",
                R::NAME
            );
            if mode == Mode::Carry {
                assert!(mean <= 1e-9 * unit && column <= 1.2e-8 * unit && cell <= 6e-5 * unit, "{name}");
                assert!(with_carry <= f64::max(1e-12 * unit.powi(2), 1e-28), "{name}: {with_carry:e}");
                assert!(name != "P2" || column <= 1e-10 * unit, "{column:e}");
            }
            if mode == Mode::Off && name != "P2" {
                assert!(column > 1e-7 * unit, "without the ledger the fixture drifts");
            }
        }
    }
}

#[test]
fn d8_repeated_solves_do_not_drift() {
    repeated_solves::<f32>();
    repeated_solves::<f64>();
}

fn widened<R: Scalar>(values: &[R]) -> Vec<f64> {
    values.iter().map(|x| x.to_f64()).collect()
}

fn absorbing<R: Scalar>() {
    let mut random = Random(6);
    let mut fixture = random_exchange::<R>(8, 12, 1.0, &mut random);
    for i in 0..8 {
        fixture.mass[i][i + 2] = R::lit(0.0);
    }
    let start: Columns<R> =
        fixture.mass.iter().map(|m| m.iter().map(|&m| m * R::lit(1e-6) + R::lit(1e3)).collect()).collect();
    let mut bench = Bench::new(&fixture, Mode::Carry, mass_space);
    bench.carry.fill(R::lit(0.125));
    let end = bench.run(&start, 1);
    assert!(bench.carry.iter().take(8).all(|&c| c == R::lit(0.125)), "such a column is no part of the ledger");
    for i in 0..8 {
        let hole = i + 2;
        assert_eq!(end[i][hole].to_f64(), 0.0);
        let kept = (0..12).filter(|&k| k != hole).map(|k| end[i][k]);
        // Limit of a layer that has no air: its neighbours lose `dt D q'` of their own layer to it, nothing comes back.
        let (above, below) =
            (absorbed(&fixture, i, 0..hole, &start[i]), absorbed(&fixture, i, hole + 1..12, &start[i]));
        let exact = above + below;
        let lost = Extended::sum(start[i].iter().copied()) - Extended::sum(kept);
        let routed = lost - Extended::new(start[i][hole]);
        let total = Extended::sum(start[i].iter().copied()).to_f64();
        assert!((routed - exact).abs() <= 4.0 * R::EPSILON.to_f64() * total, "{routed:?} {exact:?}");
        assert!(exact.to_f64() > 0.01 * total, "the hole swallows something");
    }
}

/// What a run of layers loses to the layer without air next to it: a very thin layer takes its place in the exact solve.
fn absorbed<R: Scalar>(fixture: &Fixture<R>, i: usize, layers: std::ops::Range<usize>, start: &[R]) -> Extended {
    let n = layers.len();
    let wide = |values: &[R]| values[layers.clone()].iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
    let (mut mass, mut exchange, mut contents) = (wide(&fixture.mass[i]), wide(&fixture.exchange[i]), wide(start));
    // A ratio of 0 is held by a huge amount of clean air.
    const CLEAN: f64 = 1e40;
    if layers.start == 0 {
        mass.push(CLEAN);
        contents.push(0.0);
        exchange.push(0.0);
    } else {
        mass.insert(0, CLEAN);
        contents.insert(0, 0.0);
        exchange.insert(0, fixture.exchange[i][layers.start - 1].to_f64());
    }
    let end = backward_euler(&mass, &exchange, fixture.dt, &contents);
    if layers.start == 0 { end[n] } else { end[0] }
}

#[test]
fn d9_a_layer_without_air_swallows_what_reaches_it() {
    absorbing::<f32>();
    absorbing::<f64>();
}
