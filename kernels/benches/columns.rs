//! Vertical exchange of a row of 90 columns with 72 layers and ten tracers, both solves, both precisions, with and without
//! ledger. Throughput in cells times tracers (cells for what all tracers share).

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kernels::Scalar;
use kernels::columns::{ColumnBlock, FluxFormFactors, Ledger, MassSpaceFactors, exchange_from_rates};
use kernels::cpu::AlignedBuffer;

const COLUMNS: usize = 90;
const LAYERS: usize = 72;
const TRACERS: usize = 10;

fn field<R: Scalar>(block: ColumnBlock, value: impl Fn(usize, f64) -> f64) -> AlignedBuffer<R> {
    let mut out = AlignedBuffer::zeros(block.values());
    for (at, out) in out.iter_mut().enumerate() {
        *out = R::from_f64(value(at / block.width(), (at as f64 * 0.37).sin()));
    }
    out
}

fn solves<R: Scalar>(c: &mut Criterion) {
    let block = ColumnBlock::new(COLUMNS, LAYERS);
    let mass = field::<R>(block, |_, wave| 1e12 * (1.0 + 0.3 * wave));
    // Layers of 250 m; the lowest ten are well mixed.
    let rates = field::<R>(block, |k, wave| if k > 61 { 50.0 * (1.2 + wave) } else { 0.5 } * 2.0 / 500.0_f64.powi(2));
    let start = field::<R>(block, |k, wave| 1e12 * (4e-4 + 1e-6 * k as f64 + 1e-6 * wave));
    let mut tracers = vec![start; TRACERS];
    let mut carry = vec![R::lit(0.0); block.width()];
    let mut exchange = AlignedBuffer::zeros(block.values());
    let dt = R::lit(450.0);
    let mut mass_space = MassSpaceFactors::new(block.width(), LAYERS);
    let mut flux_form = FluxFormFactors::new(block.width(), LAYERS);
    exchange_from_rates(block, &mass, &rates, &mut exchange);
    mass_space.prepare(block, &mass, &exchange, dt);
    flux_form.prepare(block, &mass, &exchange, dt);

    let mut group = c.benchmark_group(format!("{} columns", R::NAME));
    group.throughput(Throughput::Elements((COLUMNS * LAYERS) as u64));
    group.bench_function("exchange", |b| {
        b.iter(|| exchange_from_rates(block, black_box(&mass), &rates, &mut exchange));
    });
    group.bench_function("mass space prepare", |b| {
        b.iter(|| mass_space.prepare(block, black_box(&mass), &exchange, dt));
    });
    group.bench_function("flux prepare", |b| {
        b.iter(|| flux_form.prepare(block, black_box(&mass), &exchange, dt));
    });
    group.throughput(Throughput::Elements((COLUMNS * LAYERS * TRACERS) as u64));
    for (name, with_ledger) in [("ledger", true), ("plain", false)] {
        // Carries of several tracers do not matter here: all share one.
        group.bench_function(format!("mass space {name}"), |b| {
            b.iter(|| {
                for tracer in &mut tracers {
                    let ledger = if with_ledger { Ledger::Carry(&mut carry) } else { Ledger::Off };
                    mass_space.solve(&mass, black_box(tracer), ledger);
                }
            });
        });
        group.bench_function(format!("flux {name}"), |b| {
            b.iter(|| {
                for tracer in &mut tracers {
                    let ledger = if with_ledger { Ledger::Carry(&mut carry) } else { Ledger::Off };
                    flux_form.solve(&mass, black_box(tracer), ledger);
                }
            });
        });
    }
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(500))
}

criterion_group! {
    name = benches;
    config = short();
    targets = solves::<f32>, solves::<f64>
}
criterion_main!(benches);
