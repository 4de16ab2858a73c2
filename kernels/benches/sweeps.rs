//! Single sweeps of one tracer, all schemes, both precisions: 90 × 90 cells along i and j, 90 columns of 66 layers, one
//! seam line of 90 faces. Throughput in cells (faces for the seam).

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kernels::cpu::{
    AlignedBuffer, ColumnCoefficients, FaceCoefficients, FaceState, SeamCoefficients, SeamLine, SplineCoefficients,
    SplineWorkspace, StencilOrder, Workspace, prepare_seam, prepare_spline, prepare_x, prepare_y, prepare_z,
    sweep_spline,
};
use kernels::scheme::{Sign, kernel};
use kernels::{Scalar, Scheme, TileShape};

const SIDE: usize = 90;
const LAYERS: usize = 66;

fn wave<R: Scalar>(len: usize, mean: f64, amplitude: f64) -> AlignedBuffer<R> {
    let mut out = AlignedBuffer::zeros(len);
    for (at, value) in out.iter_mut().enumerate() {
        *value = R::lit(mean + amplitude * (at as f64 * 0.37).sin());
    }
    out
}

fn sweeps<R: Scalar>(c: &mut Criterion) {
    let shape = TileShape::new(SIDE, SIDE, 3);
    let ends = [FaceState::Closed; 2];
    let mass = wave::<R>(shape.plane_len(), 1.0, 0.3);
    let flux = wave::<R>(shape.plane_len(), 0.0, 1e-4);
    let mut tracer = wave::<R>(shape.plane_len(), 1.0, 0.3);
    let mut workspace = Workspace::new([&shape]);
    let mut faces = FaceCoefficients::new([&shape]);
    let mut columns = ColumnCoefficients::new(shape.pitch, LAYERS);
    let line = SeamLine {
        cell: shape.index(SIDE as isize - 1, 0),
        along: shape.pitch as isize,
        inward: -1,
        len: SIDE,
        order: StencilOrder::InteriorFirst,
        face: shape.index(SIDE as isize, 0),
        face_along: shape.pitch as isize,
        face_factor: R::lit(1.0),
        leaving: R::lit(1.0),
    };
    let mut amounts = vec![R::lit(0.0); SIDE];
    let one = R::lit(1.0);
    for scheme in Scheme::ALL {
        let kernel = kernel::<R>(scheme);
        let mut group = c.benchmark_group(format!("{} {}", R::NAME, scheme.name()));
        group.throughput(Throughput::Elements((SIDE * SIDE) as u64));
        prepare_x(&shape, &mut mass.clone(), &flux, one, ends, &mut faces);
        group.bench_function(BenchmarkId::from_parameter("x"), |b| {
            b.iter(|| kernel.sweep_x(&shape, black_box(&mut tracer), &faces, None, &mut workspace));
        });
        prepare_y(&shape, &mut mass.clone(), &flux, one, ends, &mut faces);
        group.bench_function(BenchmarkId::from_parameter("y"), |b| {
            b.iter(|| kernel.sweep_y(&shape, black_box(&mut tracer), &faces, None, &mut workspace));
        });
        group.throughput(Throughput::Elements((SIDE * LAYERS) as u64));
        prepare_z(shape.pitch, LAYERS, &mut mass.clone(), &flux, one, &mut columns);
        group.bench_function(BenchmarkId::from_parameter("z"), |b| {
            b.iter(|| kernel.sweep_z(shape.pitch, LAYERS, black_box(&mut tracer), &columns));
        });
        group.throughput(Throughput::Elements(SIDE as u64));
        let mut seam = SeamCoefficients::new(SIDE, kernel.halo());
        prepare_seam(&mass, &flux, one, &line, &mut seam);
        group.bench_function(BenchmarkId::from_parameter("seam"), |b| {
            b.iter(|| kernel.seam_fluxes(black_box(&tracer), &line, &seam, &mut amounts, &mut workspace));
        });
        group.finish();
    }
}

/// Vertical sweeps with spline profiles.
fn splines<R: Scalar>(c: &mut Criterion) {
    let width = TileShape::new(SIDE, SIDE, 3).pitch;
    let mut mass = wave::<R>(width * LAYERS, 1.0, 0.3);
    let flux = wave::<R>(width * (LAYERS + 1), 0.0, 1e-4);
    let mut tracer = wave::<R>(width * LAYERS, 1.0, 0.3);
    let (mut columns, mut spline) = (ColumnCoefficients::new(width, LAYERS), SplineCoefficients::new(width, LAYERS));
    let mut workspace = SplineWorkspace::new(LAYERS);
    let mut group = c.benchmark_group(format!("{} fv3_kord8", R::NAME));
    group.throughput(Throughput::Elements((SIDE * LAYERS) as u64));
    group.bench_function(BenchmarkId::from_parameter("rows"), |b| {
        b.iter(|| prepare_spline(width, LAYERS, black_box(&mass), &mut spline));
    });
    prepare_spline(width, LAYERS, &mass, &mut spline);
    prepare_z(width, LAYERS, &mut mass, &flux, R::lit(1.0), &mut columns);
    for (name, sign) in [("z", Sign::NonNegative), ("z signed", Sign::Any)] {
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| sweep_spline(sign, width, LAYERS, black_box(&mut tracer), &columns, &spline, &mut workspace));
        });
    }
    group.finish();
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(20))
        .measurement_time(Duration::from_millis(100))
}

criterion_group! {
    name = benches;
    config = short();
    targets = sweeps::<f32>, sweeps::<f64>, splines::<f32>, splines::<f64>
}
criterion_main!(benches);
