//! Acceptance of the flux-form solve, and both solves side by side.

#[path = "common/columns.rs"]
mod columns;
mod common;
#[path = "common/extended.rs"]
mod extended;
#[path = "common/plain_flux_form.rs"]
mod plain_flux_form;
#[path = "common/vertical.rs"]
mod vertical;

use columns::{Bench, Columns, Fixture, Mode, Solver, flux_form, mass_space, matrix, packed, unpacked};
use common::{Random, bits};
use extended::{Extended, backward_euler};
use kernels::Scalar;
use kernels::columns::{ColumnBlock, exchange_from_rates};
use kernels::numerics::exchange_from_rate;
use vertical::{contents, hybrid_columns, normal, strong_exchange};

fn all_bits<R: Scalar>(values: &[R]) -> Vec<u64> {
    values.iter().map(|&x| bits(x)).collect()
}

fn column_change<R: Scalar>(before: &[R], after: &[R]) -> f64 {
    let total = Extended::sum(before.iter().copied());
    (Extended::sum(after.iter().copied()) - total).to_f64() / total.to_f64()
}

/// Diffusivities of the layer centres and thicknesses to an exchange, through the block function.
fn from_kz<R: Scalar>(mass: Columns<R>, kz: impl Fn(usize) -> f64, dz: impl Fn(usize) -> f64, dt: f64) -> Fixture<R> {
    let block = ColumnBlock::new(mass.len(), mass[0].len());
    let rates = vertical::columns::<R>(block.columns(), block.nk(), |_, k| {
        if k + 1 == block.nk() { 0.0 } else { (kz(k) + kz(k + 1)) / (dz(k) + dz(k + 1)).powi(2) }
    });
    let mut out = vec![R::lit(7.0); block.values()];
    exchange_from_rates(block, &packed(block, &mass, 1.0), &packed(block, &rates, 1.0), &mut out);
    let exchange = unpacked(block, &out);
    for (i, exchange) in exchange.iter().enumerate() {
        for k in 0..block.nk() - 1 {
            let expected = exchange_from_rate(mass[i][k], mass[i][k + 1], rates[i][k]);
            assert_eq!(bits(exchange[k]), bits(expected));
        }
        assert_eq!(exchange[block.nk() - 1], R::lit(0.0), "the ground is closed");
    }
    Fixture { mass, exchange, dt }
}

/// The panel of Z1.
fn smooth_panel<R: Scalar>(nk: usize) -> Fixture<R> {
    let z = move |k: usize| k as f64 / (nk - 1) as f64;
    let mass = vertical::columns(16, nk, |_, k| 1e15 * (0.05 * (k as f64 + 1.0 - nk as f64)).exp());
    let kz = move |k: usize| 0.5 + 50.0 * (1.0 - (z(k) - 0.7).abs() / 0.3).max(0.0);
    from_kz(mass, kz, move |k| 2000.0 - 1900.0 * z(k), 450.0)
}

/// Signed, empty and broken columns, zeros of both signs, layers without air or exchange: the bits of the plain form.
fn bits_of_the_plain_form<R: Scalar>() {
    let (count, nk) = (40, 23);
    let mut random = Random(13);
    let mut fixture = vertical::random_exchange::<R>(count, nk, 2.0, &mut random);
    for i in 0..count {
        for k in 0..nk {
            fixture.exchange[i][k] *= R::from_f64([1.0, 1e-9, 30.0, 0.0][(random.unit() * 4.0) as usize]);
        }
    }
    fixture.mass[4][3] = R::lit(0.0);
    fixture.mass[17][nk - 1] = R::lit(-1.0);
    let mut start: Columns<R> =
        contents(&fixture.mass, |i, _| if i % 2 == 0 { random.unit() } else { normal(&mut random) });
    for i in 0..count {
        for k in 0..nk {
            match (i % 5, (random.unit() * 3.0) as usize) {
                (2, 0) => start[i][k] = R::lit(0.0),
                (2, 1) => start[i][k] = -R::lit(0.0),
                _ => {}
            }
        }
    }
    start[23][7] = R::lit(f64::NAN);
    let mut bench = Bench::new(&fixture, Mode::Carry, flux_form);
    let mut field = packed(bench.block, &start, 0.7);
    let mut carries = vec![R::lit(0.0); count];
    for _ in 0..3 {
        bench.step(&mut field);
        let end = unpacked(bench.block, &field);
        for i in 0..count {
            let (mass, exchange) = (&fixture.mass[i], &fixture.exchange[i]);
            plain_flux_form::solve(mass, exchange, R::lit(1.0), &mut start[i], &mut carries[i]);
            let number = |x: &R| if x.to_f64().is_nan() { None } else { Some(bits(*x)) };
            let [found, expected] = [&end[i], &start[i]].map(|rm| rm.iter().map(number).collect::<Vec<_>>());
            assert_eq!(found, expected, "column {i}");
            assert_eq!(bits(bench.carry[i]), bits(carries[i]), "column {i}");
        }
    }
}

#[test]
fn flux_form_has_the_bits_of_the_plain_form() {
    bits_of_the_plain_form::<f32>();
    bits_of_the_plain_form::<f64>();
}

fn alone_or_together<R: Scalar>() {
    let fixture = smooth_panel::<R>(7);
    let mut random = Random(12);
    let tracers: Vec<Columns<R>> = (0..4).map(|_| contents(&fixture.mass, |_, _| normal(&mut random).abs())).collect();
    let mut bench = Bench::new(&fixture, Mode::WithoutCarry, flux_form);
    let together: Vec<Columns<R>> = tracers.iter().map(|start| bench.run(start, 3)).collect();
    for (start, together) in tracers.iter().zip(&together) {
        for i in 0..16 {
            let one =
                Fixture { mass: vec![fixture.mass[i].clone()], exchange: vec![fixture.exchange[i].clone()], dt: 450.0 };
            let alone = Bench::new(&one, Mode::WithoutCarry, flux_form).run(&[start[i].clone()], 3);
            assert_eq!(all_bits(&alone[0]), all_bits(&together[i]));
        }
    }
}

#[test]
fn z1_columns_keep_their_mass_alone_and_together() {
    let fixture = smooth_panel::<f64>(8);
    let mut random = Random(11);
    let start: Columns<f64> = vertical::columns(16, 8, |_, _| normal(&mut random).abs());
    let end = Bench::new(&fixture, Mode::Off, flux_form).run(&start, 1);
    let worst = start.iter().zip(&end).fold(0.0_f64, |w, (a, b)| w.max(column_change(a, b).abs()));
    println!("Z1: {worst:.1e}");
    assert!(worst <= 1e-12);
    assert!(start != end);
    alone_or_together::<f32>();
    alone_or_together::<f64>();
}

#[test]
fn z2_a_day_in_single_precision() {
    let mass: Columns<f32> = vertical::columns(16, 20, |_, k| 1e4 * (1.0 + 0.1 * (k as f64 + 1.0)));
    let fixture = from_kz(mass, |_| 50.0, |_| 300.0, 900.0);
    for (mode, limit) in [(Mode::WithoutCarry, 2e-7), (Mode::Carry, 1e-8)] {
        let mut worst = 0.0_f64;
        for t in 1..=4 {
            let start = contents(&fixture.mass, |column, k| {
                let anomaly = if k == 19 { 1e-6 * ((column % 4 + column / 4) % 5 * t) as f64 } else { 0.0 };
                (400.0 + 10.0 * t as f64) * 1e-6 + anomaly
            });
            let end = Bench::new(&fixture, mode, flux_form).run(&start, 96);
            worst = start.iter().zip(&end).fold(worst, |w, (a, b)| w.max(column_change(a, b).abs()));
        }
        println!("Z2 {mode:?}: {worst:.1e}");
        assert!(worst < limit);
    }
}

/// A way to solve as its constructor.
type Build<R> = fn(usize, usize) -> Solver<R>;

/// Global drift, with the carries, and the largest drift of a column, after 192 solves.
fn drift<R: Scalar>(fixture: &Fixture<R>, start: &[Vec<R>], mode: Mode, build: Build<R>) -> [f64; 3] {
    let mut bench = Bench::new(fixture, mode, build);
    let end = bench.run(start, 192);
    let total = Extended::sum(start.iter().flatten().copied());
    let change = Extended::sum(end.iter().flatten().copied()) - total;
    let carried = change + Extended::sum(bench.carry[..start.len()].iter().copied());
    let column = start.iter().zip(&end).fold(0.0_f64, |w, (a, b)| w.max(column_change(a, b).abs()));
    [change.to_f64() / total.to_f64(), carried.abs() / total.to_f64(), column]
}

const NAMES: [&str; 3] = ["blob", "peaked background", "uniform"];

fn global_total<R: Scalar>() {
    let (fixture, tracers) = hybrid_columns::<R>();
    // Limits are those of single precision; what is left of the carried sum is of second order.
    let unit = R::EPSILON.to_f64() / f64::from(f32::EPSILON);
    let cases: [(&str, Mode, Build<R>); 7] = [
        ("matrix", Mode::Off, matrix::<R>),
        ("flux", Mode::Off, flux_form::<R>),
        ("flux", Mode::WithoutCarry, flux_form::<R>),
        ("flux", Mode::Carry, flux_form::<R>),
        ("mass space", Mode::Off, mass_space::<R>),
        ("mass space", Mode::WithoutCarry, mass_space::<R>),
        ("mass space", Mode::Carry, mass_space::<R>),
    ];
    for (solver, mode, build) in cases {
        for (name, start) in NAMES.into_iter().zip(&tracers) {
            let [global, carried, column] = drift(&fixture, start, mode, build);
            println!(
                "Z3 {} {solver} {mode:?} {name}: {global:+.1e}, + carry {carried:.1e}, column {column:.1e}",
                R::NAME
            );
            match (solver, mode) {
                ("matrix", _) if name == "blob" => assert!(global.abs() >= 1e-6 * unit, "the test bites"),
                (_, Mode::Carry) => {
                    assert!(carried <= f64::max(5e-14 * unit.powi(2), 1e-28), "{solver} {name}: {carried:e}");
                    assert!(global.abs() <= 2e-9 * unit, "{solver} {name}: {global:e}");
                    assert!(name != "uniform" || global.abs() <= 1e-10 * unit, "{global:e}");
                }
                _ => {}
            }
        }
    }
}

#[test]
fn z3_the_global_total_stays() {
    global_total::<f32>();
    global_total::<f64>();
}

/// Worst error of a cell (relative to itself, and to the largest of its column) and of a column's mass in one solve with exchange up to `strongest`.
fn strong<R: Scalar>(strongest: f64, mode: Mode, build: fn(usize, usize) -> Solver<R>) -> [f64; 3] {
    let (fixture, start) = strong_exchange::<R>(strongest);
    let end = Bench::new(&fixture, mode, build).run(&start, 1);
    let (mut cell, mut scaled, mut column) = (0.0_f64, 0.0_f64, 0.0_f64);
    for i in 0..start.len() {
        let exact = backward_euler(&fixture.mass[i], &fixture.exchange[i], fixture.dt, &start[i]);
        let largest = exact.iter().fold(0.0_f64, |l, x| l.max(x.to_f64()));
        for (&x, &y) in exact.iter().zip(&end[i]) {
            cell = cell.max((Extended::new(y) - x).abs() / x.to_f64());
            scaled = scaled.max((Extended::new(y) - x).abs() / largest);
            assert!(y.to_f64() >= 0.0, "no negative cell");
        }
        column = column.max(column_change(&start[i], &end[i]).abs());
    }
    [cell, scaled, column]
}

#[test]
fn z5_strong_exchange_stays_accurate() {
    for (name, mode, build) in [
        ("flux", Mode::Carry, flux_form::<f32> as Build<f32>),
        ("matrix", Mode::Off, matrix::<f32>),
        ("mass space", Mode::Carry, mass_space::<f32>),
    ] {
        let [cell, scaled, column] = strong(1e3, mode, build);
        println!("Z5 f32 {name}: cell {cell:.1e}, of largest {scaled:.1e}, column {column:.1e}");
        assert!(name == "matrix" || (scaled <= 2e-4 && column <= 1e-8));
        assert!(name != "mass space" || cell <= 2e-6);
    }
    for (strongest, limit) in [(1.0, 5e-15), (1e3, 5e-13)] {
        for (name, mode, build) in [
            ("flux", Mode::Carry, flux_form::<f64> as Build<f64>),
            ("matrix", Mode::Off, matrix::<f64>),
            ("mass space", Mode::Carry, mass_space::<f64>),
        ] {
            let [cell, scaled, column] = strong(strongest, mode, build);
            println!(
                "Z5 f64 {name} up to {strongest:e}: cell {cell:.1e}, of largest {scaled:.1e}, column {column:.1e}"
            );
            assert!(scaled <= limit);
        }
    }
}

/// Layers without exchange, next to a layer without air too.
fn closed_layers<R: Scalar>() {
    let mut random = Random(21);
    let mut fixture = vertical::random_exchange::<R>(16, 10, 3.0, &mut random);
    for i in 0..16 {
        (2..6).for_each(|k| fixture.exchange[i][k] = R::lit(0.0));
        fixture.mass[i][8] = R::lit(0.0);
    }
    let start: Columns<R> = vertical::columns(16, 10, |_, _| normal(&mut random));
    let end = Bench::new(&fixture, Mode::Carry, flux_form).run(&start, 20);
    for (before, after) in start.iter().zip(&end) {
        // 3, 4 and 5 are closed on both sides, 8 has no air, 9 only a neighbour without air.
        for k in [3, 4, 5, 8, 9] {
            assert_eq!(bits(before[k]), bits(after[k]), "layer {k}");
        }
        assert!(before[0] != after[0] && before[6] != after[6]);
        assert!(column_change(before, after).abs() * Extended::sum(before.iter().copied()).abs() <= 1e-6);
    }
}

#[test]
fn z6_layers_without_exchange_keep_their_bits() {
    closed_layers::<f32>();
    closed_layers::<f64>();
}

#[test]
fn z6_two_half_steps_differ_at_second_order() {
    for build in [flux_form::<f64>, mass_space::<f64>] {
        let difference = |dt: f64| {
            let (mut whole, start) = strong_exchange::<f64>(0.2);
            whole.dt = dt;
            let half = Fixture { dt: dt / 2.0, ..whole.clone() };
            let once = Bench::new(&whole, Mode::Off, build).run(&start, 1);
            let twice = Bench::new(&half, Mode::Off, build).run(&start, 2);
            let pairs = once.iter().flatten().zip(twice.iter().flatten());
            pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        };
        let differences = [900.0, 450.0, 225.0].map(difference);
        for pair in differences.windows(2) {
            println!("Z6: {:.2}", pair[0] / pair[1]);
            assert!((2.5..=5.5).contains(&(pair[0] / pair[1])));
        }
    }
}

#[test]
fn a_uniform_field_is_left_alone_where_its_ratios_are_equal() {
    let (fixture, _) = hybrid_columns::<f32>();
    // Powers of two divide without rounding.
    let start = contents(&fixture.mass, |_, _| 2_f64.powi(-11));
    for build in [flux_form::<f32>, mass_space::<f32>] {
        assert_eq!(Bench::new(&fixture, Mode::Carry, build).run(&start, 5), start);
    }
}

#[test]
fn signed_and_empty_fields_pass() {
    let (fixture, _) = hybrid_columns::<f32>();
    let mut random = Random(31);
    for build in [flux_form::<f32>, mass_space::<f32>] {
        let zero = contents(&fixture.mass, |_, _| 0.0);
        assert_eq!(Bench::new(&fixture, Mode::Carry, build).run(&zero, 3), zero);
        let signed = contents(&fixture.mass, |_, _| normal(&mut random));
        let end = Bench::new(&fixture, Mode::Carry, build).run(&signed, 3);
        for (before, after) in signed.iter().zip(&end) {
            let largest = before.iter().fold(0.0_f64, |l, x| l.max(f64::from(x.abs())));
            let change = Extended::sum(after.iter().copied()) - Extended::sum(before.iter().copied());
            assert!(change.abs() <= f64::from(f32::EPSILON) * largest);
        }
    }
}

#[test]
fn a_column_that_is_broken_is_counted_and_alone() {
    let (fixture, tracers) = hybrid_columns::<f32>();
    for build in [flux_form::<f32>, mass_space::<f32>] {
        let expected = Bench::new(&fixture, Mode::Carry, build).run(&tracers[1], 1);
        let mut bench = Bench::new(&fixture, Mode::Carry, build);
        let mut field = packed(bench.block, &tracers[1], f64::NAN);
        field[30 * bench.block.width() + 7] = f32::NAN;
        assert_eq!(bench.step(&mut field).refused, 1);
        let end = unpacked(bench.block, &field);
        assert!(end[7][30].is_nan());
        assert!((0..96).filter(|&i| i != 7).all(|i| end[i] == expected[i]));
        assert_eq!(bench.carry[7], 0.0);
    }
}
