//! Convection of a row of 96 columns of 72 layers, all of them convecting, 10 tracers: implicit
//! matrix and explicit plume, with and without ledger, both precisions. Throughput in cells times tracers.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kernels::Scalar;
use kernels::columns::convection::ColumnAir;
use kernels::columns::convection::cmfmc::{Cmfmc, CmfmcForcing, CmfmcOptions, Update};
use kernels::columns::convection::tm5::{Downdraft, Solve, Tm5, Tm5Forcing, Tm5Options};
use kernels::columns::{ColumnBlock, Ledger};
use kernels::cpu::AlignedBuffer;

const WIDTH: usize = 96;
const LAYERS: usize = 72;
const TRACERS: usize = 10;

/// A value of every layer of every column.
fn rows<R: Scalar>(layers: usize, value: impl Fn(usize, usize) -> f64) -> AlignedBuffer<R> {
    let mut out = AlignedBuffer::zeros(layers * WIDTH);
    for (at, x) in out.iter_mut().enumerate() {
        *x = R::lit(value(at / WIDTH, at % WIDTH));
    }
    out
}

/// Cloud mass flux through the top of layer `k`: from layer 20 to 66, the top varies from column to column.
fn cloud_flux(k: usize, column: usize) -> f64 {
    if k > 20 + column % 8 && k <= 66 { 0.01 + 0.01 * (k as f64 * 0.3).sin().abs() } else { 0.0 }
}

#[derive(Clone, Copy)]
enum LedgerUse {
    Kept,
    Omitted,
}

impl LedgerUse {
    fn of<R>(self, carry: &mut [R]) -> Ledger<'_, R> {
        match self {
            Self::Kept => Ledger::Carry(carry),
            Self::Omitted => Ledger::Off,
        }
    }
}

const LEDGERS: [(&str, LedgerUse); 2] = [("", LedgerUse::Kept), (" without ledger", LedgerUse::Omitted)];

fn convection<R: Scalar>(c: &mut Criterion) {
    let air_mass = rows::<R>(LAYERS, |k, _| 1e10 * (20.0 + 3.0 * k as f64));
    let area = vec![R::lit(1e10); WIDTH];
    let block = ColumnBlock::new(WIDTH, LAYERS);
    let air = ColumnAir { block, mass: &air_mass, area: &area };
    let mut tracers = AlignedBuffer::<R>::zeros(TRACERS * LAYERS * WIDTH);
    for (at, x) in tracers.iter_mut().enumerate() {
        *x = air_mass[at % (LAYERS * WIDTH)] * R::lit(1e-6 * (1.5 + (at as f64 * 0.37).sin()));
    }
    let mut carry = vec![R::lit(0.0); TRACERS * WIDTH];
    let detrained = |k: usize, column: usize| 0.1 * cloud_flux(k + 1, column);
    let entrained = |k, column| cloud_flux(k, column) - cloud_flux(k + 1, column) + detrained(k, column);
    let entu = rows::<R>(LAYERS, |k, column| entrained(k, column).max(0.0));
    let detu = rows::<R>(LAYERS, |k, column| detrained(k, column) - entrained(k, column).min(0.0));
    let entd = rows::<R>(LAYERS, |k, _| if (40..60).contains(&k) { 2e-4 } else { 0.0 });
    let detd = rows::<R>(LAYERS, |k, _| if (60..72).contains(&k) { 3e-4 } else { 0.0 });
    let flux = rows::<R>(LAYERS + 1, cloud_flux);
    let detrainment = rows::<R>(LAYERS, detrained);

    let mut group = c.benchmark_group(format!("{} convection", R::NAME));
    group.throughput(Throughput::Elements((TRACERS * LAYERS * WIDTH) as u64));
    for (name, downdraft) in [("tm5", None), ("tm5 downdraught", Some(Downdraft { entd: &entd, detd: &detd }))] {
        for (solve_name, solve) in [("", Solve::Plain), (" delta", Solve::Delta)] {
            for (ledger_name, ledger) in LEDGERS {
                let mut work = Tm5::new(LAYERS, Tm5Options { solve, ..Default::default() }).unwrap();
                let forcing = Tm5Forcing { entu: &entu, detu: &detu, downdraft };
                group.bench_function(format!("{name}{solve_name}{ledger_name}"), |b| {
                    let tracers = black_box(&mut tracers);
                    b.iter(|| work.convect(&air, &forcing, R::lit(1800.0), tracers, ledger.of(&mut carry)));
                });
            }
        }
    }
    for (name, update) in [("plume", Update::MixingRatio), ("plume mass flux", Update::MassFlux)] {
        for (ledger_name, ledger) in LEDGERS {
            let mut work = Cmfmc::new(block, CmfmcOptions { update, ..Default::default() });
            let forcing = CmfmcForcing { cloud_flux: &flux, detrainment: Some(&detrainment), cloud_base: None };
            group.bench_function(format!("{name}{ledger_name}"), |b| {
                b.iter(|| {
                    work.prepare(&air, &forcing, R::lit(600.0), 1).unwrap();
                    for (tracer, carry) in tracers.chunks_exact_mut(LAYERS * WIDTH).zip(carry.chunks_exact_mut(WIDTH)) {
                        work.convect(&air, black_box(tracer), ledger.of(carry));
                    }
                });
            });
        }
    }
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400))
}

criterion_group! {
    name = benches;
    config = short();
    targets = convection::<f32>, convection::<f64>
}
criterion_main!(benches);
