//! Same bits on every processor class.

use multiversion::multiversion;

use super::{ColumnBlock, FluxFormFactors, Ledger, MassSpaceFactors, decay, flux_form, mass_space};
use crate::Scalar;
use crate::columns::fields;

const NK: usize = 11;

struct Start<R> {
    block: ColumnBlock,
    mass: Vec<R>,
    exchange: Vec<R>,
    tracer: Vec<R>,
}

fn start<R: Scalar>() -> Start<R> {
    let block = ColumnBlock::new(37, NK);
    let wave = |mean: f64, amplitude: f64, frequency: f64| -> Vec<R> {
        (0..block.values()).map(|at| R::from_f64(mean + amplitude * (at as f64 * frequency).sin())).collect()
    };
    let mut exchange = wave(2.0, 1.9, 1.1);
    exchange.iter_mut().step_by(5).for_each(|x| *x = R::lit(0.0));
    exchange.iter_mut().step_by(7).for_each(|x| *x *= R::lit(1e-7));
    Start { block, mass: wave(1.0, 0.3, 0.7), exchange, tracer: wave(0.5, 0.2, 2.3) }
}

fn bits<R: Scalar>(fields: [&[R]; 2]) -> Vec<u64> {
    fields.into_iter().flatten().map(|x| x.to_f64().to_bits()).collect()
}

/// All loops in a row through the public functions.
fn dispatched<R: Scalar>(start: &Start<R>) -> Vec<u64> {
    let Start { block, mass, exchange, tracer } = start;
    let (mut rm, mut carry) = (tracer.clone(), vec![R::lit(0.0); block.width()]);
    let mut factors = MassSpaceFactors::new(block.width(), NK);
    factors.prepare(*block, mass, exchange, R::lit(0.7));
    assert_eq!(factors.solve(mass, &mut rm, Ledger::Carry(&mut carry)).refused, 0);
    let mut factors = FluxFormFactors::new(block.width(), NK);
    factors.prepare(*block, mass, exchange, R::lit(0.7));
    assert_eq!(factors.solve(mass, &mut rm, Ledger::Carry(&mut carry)).refused, 0);
    decay(&mut rm, R::lit(-0.001));
    factors.solve_matrix_form(mass, &mut rm);
    bits([&rm, &carry])
}

/// The same through the loops themselves, compiled for whatever the caller is compiled for.
#[inline(always)]
fn direct<R: Scalar, const W: usize>(start: &Start<R>) -> Vec<u64> {
    let Start { block, mass, exchange, tracer } = start;
    let (mut rm, mut carry) = (tracer.clone(), vec![R::lit(0.0); block.width()]);
    let mut factors = MassSpaceFactors::new(block.width(), NK);
    mass_space::prepare::<R, W>(*block, mass, exchange, R::lit(0.7), &mut factors);
    mass_space::solve::<R, W>(&factors, mass, &mut rm, Ledger::Carry(&mut carry));
    let mut factors = FluxFormFactors::new(block.width(), NK);
    flux_form::prepare::<R, W>(*block, mass, exchange, R::lit(0.7), &mut factors);
    flux_form::solve::<R, W>(&mut factors, mass, &mut rm, Ledger::Carry(&mut carry));
    fields::decay_all::<R, W>(&mut rm, R::lit(-0.001));
    flux_form::solve_matrix_form::<R, W>(&mut factors, mass, &mut rm);
    bits([&rm, &carry])
}

#[multiversion(targets("x86_64+avx2"))]
fn with_avx2(single: &Start<f32>, double: &Start<f64>) -> [Vec<u64>; 2] {
    [direct::<f32, 16>(single), direct::<f64, 8>(double)]
}

#[multiversion(targets("x86_64+avx2+fma"))]
fn with_fused_units(single: &Start<f32>, double: &Start<f64>) -> [Vec<u64>; 2] {
    [direct::<f32, 8>(single), direct::<f64, 4>(double)]
}

#[test]
fn processor_classes_give_the_same_bits() {
    let (single, double) = (start::<f32>(), start::<f64>());
    let expected = [direct::<f32, 1>(&single), direct::<f64, 1>(&double)];
    assert!(expected == [dispatched(&single), dispatched(&double)], "dispatched");
    assert!(expected == with_avx2(&single, &double), "AVX2");
    assert!(expected == with_fused_units(&single, &double), "AVX2 and FMA: only what is written so is fused");
}
