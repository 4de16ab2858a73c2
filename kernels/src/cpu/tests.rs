//! Same bits on every processor class.

use multiversion::multiversion;

use crate::cpu::{
    ColumnCoefficients, FaceCoefficients, FaceState, SeamCoefficients, SeamLine, StencilOrder, Workspace, coefficients,
    march, prepare_seam, prepare_x, prepare_y, prepare_z, rows, seams,
};
use crate::scheme::{PpmHuynhPd, PpmLimiter, Scheme, kernel};
use crate::shape::TileShape;

const NK: usize = 12;

fn wave(len: usize, mean: f64, amplitude: f64, frequency: f64) -> Vec<f64> {
    (0..len).map(|i| mean + amplitude * (i as f64 * frequency).sin()).collect()
}

struct Start {
    shape: TileShape,
    mass: Vec<f64>,
    tracer: Vec<f64>,
    flux: Vec<f64>,
    line: SeamLine<f64>,
}

fn start() -> Start {
    let shape = TileShape::new(37, NK, 3);
    let len = shape.plane_len();
    let line = SeamLine {
        cell: shape.index(36, 0),
        along: shape.pitch as isize,
        inward: -1,
        len: NK,
        order: StencilOrder::InteriorFirst,
        face: shape.index(37, 0),
        face_along: shape.pitch as isize,
        face_factor: 1.0,
        leaving: 1.0,
    };
    let flux = wave(len, 0.0, 0.9, 1.1);
    Start { shape, mass: wave(len, 1.0, 0.3, 0.7), tracer: wave(len, 0.5, 0.6, 2.3), flux, line }
}

const OPEN: [FaceState; 2] = [FaceState::Open; 2];

/// All loops in a row through the public functions.
fn dispatched(start: &Start) -> Vec<u64> {
    let Start { shape, line, flux, .. } = start;
    let (mut m, mut rm) = (start.mass.clone(), start.tracer.clone());
    let kernel = kernel::<f64>(Scheme::Ppm(PpmLimiter::HuynhPd));
    let (mut faces, mut workspace) = (FaceCoefficients::new([shape]), Workspace::new([shape]));
    let mut amounts = vec![0.0; NK];
    let (mut seam, mut columns) = (SeamCoefficients::new(NK, 3), ColumnCoefficients::new(shape.pitch, NK));
    let mut clamped = prepare_seam(&m, flux, 1.0, line, &mut seam).clamped;
    kernel.seam_fluxes(&rm, line, &seam, &mut amounts, &mut workspace);
    clamped += prepare_x(shape, &mut m, flux, 1.0, OPEN, &mut faces).clamped;
    kernel.sweep_x(shape, &mut rm, &faces, None, &mut workspace);
    clamped += prepare_y(shape, &mut m, flux, 1.0, OPEN, &mut faces).clamped;
    kernel.sweep_y(shape, &mut rm, &faces, None, &mut workspace);
    clamped += prepare_z(shape.pitch, NK, &mut m, flux, 1.0, &mut columns).clamped;
    kernel.sweep_z(shape.pitch, NK, &mut rm, &columns);
    assert!(clamped > 0);
    bits(&m, &rm, &amounts)
}

/// The same through the loops themselves, compiled for whatever the caller is compiled for.
#[inline(always)]
fn direct(start: &Start) -> Vec<u64> {
    let Start { shape, line, flux, .. } = start;
    let (mut m, mut rm) = (start.mass.clone(), start.tracer.clone());
    let (mut faces, mut workspace) = (FaceCoefficients::new([shape]), Workspace::new([shape]));
    let mut amounts = vec![0.0; NK];
    let (mut seam, mut columns) = (SeamCoefficients::new(NK, 3), ColumnCoefficients::new(shape.pitch, NK));
    seams::prepare_seam::<f64, 8>(&m, flux, 1.0, line, &mut seam);
    seams::seam_fluxes::<PpmHuynhPd, f64, 8>(&rm, line, &seam, &mut amounts, &mut workspace);
    coefficients::prepare_x::<f64, 8>(shape, &mut m, flux, 1.0, OPEN, &mut faces);
    rows::sweep_x::<PpmHuynhPd, f64>(shape, &mut rm, &faces, None, &mut workspace);
    coefficients::prepare_y::<f64, 8>(shape, &mut m, flux, 1.0, OPEN, &mut faces);
    march::sweep_y::<PpmHuynhPd, f64, 8>(shape, &mut rm, &faces, None);
    coefficients::prepare_z::<f64, 8>(shape.pitch, NK, &mut m, flux, 1.0, &mut columns);
    march::sweep_z::<PpmHuynhPd, f64, 8>(shape.pitch, NK, &mut rm, &columns);
    bits(&m, &rm, &amounts)
}

fn bits(m: &[f64], rm: &[f64], amounts: &[f64]) -> Vec<u64> {
    let values = m.iter().chain(rm).chain(amounts);
    // Padding columns have no mass in a real block; here every value is an ordinary number.
    values.map(|x| x.to_bits()).collect()
}

#[multiversion(targets("x86_64+avx2"))]
fn with_avx2(start: &Start) -> Vec<u64> {
    direct(start)
}

#[multiversion(targets("x86_64+avx2+fma"))]
fn with_fused_units(start: &Start) -> Vec<u64> {
    direct(start)
}

#[test]
fn processor_classes_give_the_same_bits() {
    let start = start();
    let expected = direct(&start);
    assert!(expected == dispatched(&start), "dispatched");
    assert!(expected == with_avx2(&start), "AVX2");
    assert!(expected == with_fused_units(&start), "AVX2 and FMA: nothing may be fused");
}
