//! A day of diffusion with sources and decay (spec 30 §6.3 Z4): what the solves alone change in the totals.

#[path = "common/columns.rs"]
mod columns;
mod common;
#[path = "common/vertical.rs"]
mod vertical;

use columns::{Bench, Columns, Mode, Solver, flux_form, mass_space, packed};
use common::Random;
use kernels::Scalar;
use kernels::columns::{decay, decay_decrement, deposit_in_layer};
use kernels::numerics::{neumaier_add, sum_gap};
use vertical::{contents, many_hybrid_columns};

const SOLVES: usize = 376;
const COLUMNS: usize = 288;
const LAYERS: usize = 72;

/// A tracer of the run: contents at first, and what enters the surface layer of each column in a step.
struct Tracer<R> {
    name: &'static str,
    start: Columns<R>,
    amounts: Vec<R>,
    decrement: Option<R>,
}

/// The five tracers; emissions are in kg a step, 0 to 1e-9 of the mass of the surface layer.
fn tracers<R: Scalar>(mass: &[Vec<R>], [blob, background, uniform]: [Columns<R>; 3], dt: f64) -> [Tracer<R>; 5] {
    let mut random = Random(23);
    let mut amounts = |scale: f64, shift: f64| -> Vec<R> {
        let of = |m: &Vec<R>| R::from_f64(scale * (random.unit() - shift) * m[LAYERS - 1].to_f64());
        mass.iter().map(of).collect()
    };
    let none = vec![R::lit(0.0); mass.len()];
    let empty = contents(mass, |_, _| 0.0);
    let radon = contents(mass, |_, k| 1e-21 * (-((LAYERS - 1 - k) as f64) / 5.0).exp());
    let radon_decay = Some(decay_decrement(2.0982e-6, dt));
    [
        Tracer { name: "blob", start: blob, amounts: none.clone(), decrement: None },
        Tracer { name: "CO2 with fluxes", start: background, amounts: amounts(4e-9, 0.5), decrement: None },
        Tracer { name: "fossil CO2", start: empty, amounts: amounts(1e-9, 0.0), decrement: None },
        Tracer { name: "Rn-222", start: radon, amounts: amounts(5e-25, 0.0), decrement: radon_decay },
        Tracer { name: "uniform", start: uniform, amounts: none, decrement: None },
    ]
}

/// A way to solve as its constructor.
type Build<R> = fn(usize, usize) -> Solver<R>;

/// Change of the total by the solves of a day, without and with the carries, relative to the burden at the end.
fn day<R: Scalar>(build: Build<R>, mode: Mode) -> Vec<(&'static str, f64, f64)> {
    let dt = 86_400.0 / SOLVES as f64;
    let (fixture, starts) = many_hybrid_columns::<R>(COLUMNS, dt);
    let mut out = Vec::new();
    for tracer in tracers(&fixture.mass, starts, dt) {
        let mut bench = Bench::new(&fixture, mode, build);
        let width = bench.block.width();
        let mut field = packed(bench.block, &tracer.start, 0.0);
        let mut compensation = vec![R::lit(0.0); COLUMNS];
        let total = |field: &[R]| {
            let values = field.chunks_exact(width).flat_map(|row| &row[..COLUMNS]);
            values.fold((0.0, 0.0), |sum, x| neumaier_add(sum.0, sum.1, x.to_f64()))
        };
        let mut lost = 0.0;
        for _ in 0..SOLVES {
            let surface = &mut field[(LAYERS - 1) * width..][..COLUMNS];
            deposit_in_layer(surface, &mut compensation, &tracer.amounts);
            let before = total(&field);
            assert_eq!(bench.step(&mut field).refused, 0, "{}", tracer.name);
            lost += sum_gap(before, total(&field));
            if let Some(decrement) = tracer.decrement {
                decay(&mut field, decrement);
            }
        }
        assert!(field.iter().all(|x| *x >= R::lit(0.0)), "{}", tracer.name);
        let (burden, carried) = (total(&field).0, bench.carry[..COLUMNS].iter().map(|c| c.to_f64()).sum::<f64>());
        out.push((tracer.name, -lost / burden, (carried - lost) / burden));
    }
    out
}

/// Largest change a day may make, in units of single precision's 5e-10.
fn limit<R: Scalar>() -> f64 {
    5e-10 * R::EPSILON.to_f64() / f64::from(f32::EPSILON)
}

fn solves_keep_totals<R: Scalar>() {
    let builds: [(&str, Build<R>); 2] = [("mass space", mass_space), ("flux", flux_form)];
    for (form, build) in builds {
        for (name, change, with_carry) in day::<R>(build, Mode::Carry) {
            println!("Z4 {} {form}, {name}: {change:+.1e} a day, with carry {with_carry:+.1e}", R::NAME);
            assert!(change.abs() < limit::<R>(), "{form} {name}: {change:e}");
            assert!(with_carry.abs() < 1e-3 * limit::<R>(), "{form} {name}: {with_carry:e}");
        }
    }
}

#[test]
fn z4_a_day_of_solves_keeps_the_totals_in_single_precision() {
    solves_keep_totals::<f32>();
    // Without the ledger they drift, or the test shows nothing.
    let drifts = day::<f32>(mass_space, Mode::Off).into_iter().filter(|(_, change, _)| change.abs() > 5e-10);
    assert!(drifts.count() >= 3);
}

#[test]
fn z4_a_day_of_solves_keeps_the_totals_in_double_precision() {
    solves_keep_totals::<f64>();
}
