//! Plane and column loops against naive loops that gather every face anew: same bits.

mod common;

use common::{Random, bits, naive_line, plane};
use kernels::cpu::{ColumnCoefficients, FaceCoefficients, FaceState, Workspace, prepare_x, prepare_y, prepare_z};
use kernels::scheme::{CellScheme, kernel};
use kernels::{Scalar, Scheme, TileShape};

const SIZES: [(usize, usize); 5] = [(3, 7), (7, 3), (45, 8), (90, 5), (13, 45)];
const ENDS: [[FaceState; 2]; 3] =
    [[FaceState::Open, FaceState::Open], [FaceState::Closed, FaceState::Open], [FaceState::Open, FaceState::Closed]];

fn line_of<R: Scalar>(values: &[R], start: usize, stride: usize, n: usize) -> Vec<R> {
    (0..n).map(|x| values[start + x * stride]).collect()
}

fn closed<R: Scalar>(mut air: Vec<R>, ends: [FaceState; 2], n: usize, scale: R) -> Vec<R> {
    for a in &mut air {
        *a = scale * *a;
    }
    for (end, at) in ends.into_iter().zip([3, 3 + n]) {
        if end == FaceState::Closed {
            air[at] = R::lit(0.0);
        }
    }
    air
}

fn horizontal<S: CellScheme, R: Scalar>(scheme: Scheme, courant: f64) {
    let kernel = kernel::<R>(scheme);
    assert_eq!((kernel.halo(), kernel.name()), (scheme.halo(), scheme.name()));
    let mut random = Random(7);
    for (case, &(ni, nj)) in SIZES.iter().enumerate() {
        let ends = ENDS[case % ENDS.len()];
        let scale = R::lit(if case % 2 == 0 { 1.0 } else { 0.3 });
        let start = plane::<R>(ni, nj, courant, &mut random);
        let shape = start.shape;
        let mut faces = FaceCoefficients::new([&shape, &TileShape::new(90, 90, 3)]);
        let mut workspace = Workspace::new([&shape]);

        let mut clamped = 0;
        let (mut m, mut rm) = (start.m.clone(), start.rm.clone());
        let stats = prepare_x(&shape, &mut m, &start.flux, scale, ends, &mut faces);
        kernel.sweep_x(&shape, &mut rm, &faces, None, &mut workspace);
        for j in 0..nj {
            let row = (j + 3) * shape.pitch;
            let [mut q, mut a, air] = [&start.rm, &start.m, &start.flux].map(|v| line_of(v, row, 1, ni + 6));
            let air = closed(air, ends, ni, scale);
            clamped += naive_line::<S, R>(&mut q, &mut a, &air, 3..3 + ni, |_| false);
            for i in 3..3 + ni {
                assert_eq!(bits(rm[row + i]), bits(q[i]), "{} x {ni}×{nj} ({i}, {j})", S::NAME);
                assert_eq!(bits(m[row + i]), bits(a[i]));
            }
        }
        assert_eq!(stats.clamped, clamped);
        assert!(rm.iter().all(|x| Scalar::is_finite(*x)));

        clamped = 0;
        let (mut m, mut rm) = (start.m.clone(), start.rm.clone());
        let stats = prepare_y(&shape, &mut m, &start.flux, scale, ends, &mut faces);
        kernel.sweep_y(&shape, &mut rm, &faces, None, &mut workspace);
        for i in 3..3 + ni {
            let [mut q, mut a, air] = [&start.rm, &start.m, &start.flux].map(|v| line_of(v, i, shape.pitch, nj + 6));
            let air = closed(air, ends, nj, scale);
            clamped += naive_line::<S, R>(&mut q, &mut a, &air, 3..3 + nj, |_| false);
            for j in 3..3 + nj {
                let at = j * shape.pitch + i;
                assert_eq!(bits(rm[at]), bits(q[j]), "{} y {ni}×{nj} ({i}, {j})", S::NAME);
                assert_eq!(bits(m[at]), bits(a[j]));
            }
        }
        assert_eq!(stats.clamped, clamped);
        assert_eq!(clamped > 0, courant > 1.0);
        assert!(rm.iter().all(|x| Scalar::is_finite(*x)));
    }
}

#[test]
fn plane_sweeps_have_the_bits_of_naive_loops() {
    for_each_scheme!(horizontal::<f32>(0.4));
    for_each_scheme!(horizontal::<f64>(0.4));
}

#[test]
fn clamped_plane_sweeps_have_the_bits_of_naive_loops() {
    for_each_scheme!(horizontal::<f32>(6.0));
    for_each_scheme!(horizontal::<f64>(6.0));
}

fn vertical<S: CellScheme, R: Scalar>(scheme: Scheme, courant: f64) {
    let kernel = kernel::<R>(scheme);
    let mut random = Random(11);
    for (width, nk) in [(16, 1), (16, 2), (32, 3), (16, 4), (48, 5), (96, 66)] {
        let (mut m, mut rm) = (random.field::<R>(width * nk, 0.8, 1.2), random.field::<R>(width * nk, -0.5, 1.5));
        // Non-zero fluxes at top and bottom must not act.
        let flux = random.field::<R>(width * (nk + 1), -courant, courant);
        let (m0, rm0) = (m.clone(), rm.clone());
        let mut faces = ColumnCoefficients::new(96, 66);
        let stats = prepare_z(width, nk, &mut m, &flux, R::lit(0.5), &mut faces);
        kernel.sweep_z(width, nk, &mut rm, &faces);
        let mut clamped = 0;
        let reach = S::HALO - 1;
        for column in 0..width {
            let mut q = line_of(&rm0, column, width, nk);
            let mut a = line_of(&m0, column, width, nk);
            let mut air: Vec<R> = line_of(&flux, column, width, nk + 1).into_iter().map(|f| R::lit(0.5) * f).collect();
            (air[0], air[nk]) = (R::lit(0.0), R::lit(0.0));
            clamped += naive_line::<S, R>(&mut q, &mut a, &air, 0..nk, |k| k < reach || k + reach >= nk);
            for k in 0..nk {
                let at = k * width + column;
                assert_eq!(bits(rm[at]), bits(q[k]), "{} z {width}×{nk} ({column}, {k})", S::NAME);
                assert_eq!(bits(m[at]), bits(a[k]));
            }
        }
        assert_eq!(stats.clamped, clamped);
        assert!(nk == 1 || clamped > 0 || courant < 1.0);
    }
}

#[test]
fn column_sweeps_have_the_bits_of_naive_loops() {
    for_each_scheme!(vertical::<f32>(0.8));
    for_each_scheme!(vertical::<f64>(0.8));
    for_each_scheme!(vertical::<f32>(6.0));
    for_each_scheme!(vertical::<f64>(6.0));
}

fn transposed<S: CellScheme, R: Scalar>(scheme: Scheme) {
    let kernel = kernel::<R>(scheme);
    let along_i = plane::<R>(45, 13, 0.4, &mut Random(17));
    let shape = along_i.shape;
    let turned = TileShape::new(13, 45, 3);
    let turn = |values: &[R]| {
        let mut out = vec![R::lit(0.0); turned.plane_len()];
        for j in -3..16 {
            for i in -3..48 {
                out[turned.index(j, i)] = values[shape.index(i, j)];
            }
        }
        out
    };
    let (mut m, mut rm, one) = (along_i.m.clone(), along_i.rm.clone(), R::lit(1.0));
    let (mut mt, mut rmt) = (turn(&m), turn(&rm));
    let mut workspace = Workspace::new([&shape, &turned]);
    let mut faces = FaceCoefficients::new([&shape, &turned]);
    prepare_x(&shape, &mut m, &along_i.flux, one, ENDS[0], &mut faces);
    kernel.sweep_x(&shape, &mut rm, &faces, None, &mut workspace);
    prepare_y(&turned, &mut mt, &turn(&along_i.flux), one, ENDS[0], &mut faces);
    kernel.sweep_y(&turned, &mut rmt, &faces, None, &mut workspace);
    for j in 0..13 {
        for i in 0..45 {
            assert_eq!(bits(rm[shape.index(i, j)]), bits(rmt[turned.index(j, i)]), "{}", S::NAME);
            assert_eq!(bits(m[shape.index(i, j)]), bits(mt[turned.index(j, i)]));
        }
    }
}

#[test]
fn sweeps_along_i_and_j_are_transposes() {
    for_each_scheme!(transposed::<f32>());
    for_each_scheme!(transposed::<f64>());
}

/// Total over the interior, compensated in double precision.
fn total<R: Scalar>(shape: &TileShape, values: &[R]) -> f64 {
    let (mut sum, mut compensation) = (0.0, 0.0);
    for j in 0..shape.nj {
        for value in &values[shape.row_start(j)..][..shape.ni] {
            (sum, compensation) = kernels::numerics::compensated_add(sum, compensation, value.to_f64());
        }
    }
    sum + compensation
}

fn closure<S: CellScheme, R: Scalar>(scheme: Scheme) {
    let kernel = kernel::<R>(scheme);
    let closed = [FaceState::Closed; 2];
    let mut tile = plane::<R>(45, 45, 0.1, &mut Random(19));
    let shape = tile.shape;
    let ratio = R::lit(411.0e-6);
    let mut uniform: Vec<R> = tile.m.iter().map(|&m| m * ratio).collect();
    let mut workspace = Workspace::new([&shape]);
    let mut faces = FaceCoefficients::new([&shape]);
    let before = [&tile.m, &tile.rm, &uniform].map(|v| total(&shape, v));
    for step in 0..8 {
        // A closed box: halo cells only shape the profiles next to the walls.
        let prepare = if step % 2 == 0 { prepare_x } else { prepare_y };
        for j in -3..48_isize {
            for i in -3..48_isize {
                let (inner_i, inner_j) = (i.clamp(0, 44), j.clamp(0, 44));
                let (to, from) = (shape.index(i, j), shape.index(inner_i, inner_j));
                (tile.m[to], tile.rm[to], uniform[to]) = (tile.m[from], tile.rm[from], uniform[from]);
            }
        }
        let scale = R::lit(if step < 4 { 1.0 } else { -1.0 });
        let stats = prepare(&shape, &mut tile.m, &tile.flux, scale, closed, &mut faces);
        assert_eq!(stats.clamped, 0);
        assert!(stats.max_courant > 0.0 && stats.max_courant < 1.0);
        for tracer in [&mut tile.rm, &mut uniform] {
            if step % 2 == 0 {
                kernel.sweep_x(&shape, tracer, &faces, None, &mut workspace);
            } else {
                kernel.sweep_y(&shape, tracer, &faces, None, &mut workspace);
            }
        }
    }
    let eps = R::EPSILON.to_f64();
    for (before, values) in before.into_iter().zip([&tile.m, &tile.rm, &uniform]) {
        assert!((total(&shape, values) / before - 1.0).abs() < 2.0 * eps, "{}", S::NAME);
    }
    for j in 0..45 {
        for i in 0..45 {
            let at = shape.index(i, j);
            let deviation = uniform[at].to_f64() / tile.m[at].to_f64() / ratio.to_f64() - 1.0;
            assert!(deviation.abs() < 16.0 * eps, "{}: {deviation}", S::NAME);
        }
    }
}

#[test]
fn closed_box_keeps_mass_and_uniform_ratios() {
    for_each_scheme!(closure::<f32>());
    for_each_scheme!(closure::<f64>());
}
