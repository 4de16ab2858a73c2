//! Plane, column and seam loops against naive loops that gather every face anew: same bits.

mod common;

use common::{Random, bits, naive_flux, naive_line};
use kernels::cpu::{
    ColumnCoefficients, FaceCoefficients, FaceState, SeamCoefficients, SeamLine, SeamSide, StencilOrder, Workspace,
    apply_seam, prepare_seam, prepare_x, prepare_y, prepare_z,
};
use kernels::scheme::{CellScheme, kernel};
use kernels::{Scalar, Scheme, TileShape};

const SIZES: [(usize, usize); 5] = [(3, 7), (7, 3), (45, 8), (90, 5), (13, 45)];
const ENDS: [[FaceState; 2]; 3] =
    [[FaceState::Open, FaceState::Open], [FaceState::Closed, FaceState::Open], [FaceState::Open, FaceState::Closed]];

/// Random plane: masses about 1, signed tracer, fluxes up to `courant` of a cell; padding beyond the halo is 0.
struct Plane<R> {
    shape: TileShape,
    m: Vec<R>,
    rm: Vec<R>,
    flux: Vec<R>,
}

fn plane<R: Scalar>(ni: usize, nj: usize, courant: f64, random: &mut Random) -> Plane<R> {
    let shape = TileShape::new(ni, nj, 3);
    let len = shape.plane_len();
    let (mut m, mut rm, mut flux) = (vec![R::lit(0.0); len], vec![R::lit(0.0); len], vec![R::lit(0.0); len]);
    for row in 0..shape.rows {
        for i in 0..ni + 6 {
            let at = row * shape.pitch + i;
            m[at] = random.between(0.8, 1.2);
            rm[at] = random.between(-0.5, 1.5);
            flux[at] = random.between(-courant, courant);
        }
    }
    Plane { shape, m, rm, flux }
}

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
        kernel.sweep_x(&shape, &mut rm, &faces, &mut workspace);
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
        kernel.sweep_y(&shape, &mut rm, &faces, &mut workspace);
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
    for_each_scheme!(horizontal::<f32>(3.0));
    for_each_scheme!(horizontal::<f64>(3.0));
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

/// The four edges of a tile as seam lines of their owner, running in either direction.
fn owner_lines<R: Scalar>(shape: &TileShape) -> Vec<SeamLine<R>> {
    let (pitch, ni, nj) = (shape.pitch as isize, shape.ni as isize, shape.nj as isize);
    let one = R::lit(1.0);
    let line = |i, j, along, inward, len, order, face, leaving| SeamLine {
        cell: shape.index(i, j),
        along,
        inward,
        len,
        order,
        face,
        face_along: along,
        face_factor: one,
        leaving,
    };
    use StencilOrder::{HaloFirst, InteriorFirst};
    vec![
        line(ni - 1, 0, pitch, -1, shape.nj, InteriorFirst, shape.index(ni, 0), one),
        line(0, 0, pitch, 1, shape.nj, HaloFirst, shape.index(0, 0), -one),
        line(0, nj - 1, 1, -pitch, shape.ni, InteriorFirst, shape.index(0, nj), one),
        line(ni - 1, 0, -1, pitch, shape.ni, HaloFirst, shape.index(ni - 1, 0), -one),
    ]
}

fn seams<S: CellScheme, R: Scalar>(scheme: Scheme, courant: f64) {
    let kernel = kernel::<R>(scheme);
    let mut random = Random(13);
    for &(ni, nj) in &SIZES {
        let tile = plane::<R>(ni, nj, courant, &mut random);
        let mut workspace = Workspace::new([&tile.shape]);
        let mut seam = SeamCoefficients::new(ni.max(nj), scheme.halo());
        let scale = R::lit(0.9);
        for line in owner_lines::<R>(&tile.shape) {
            let stats = prepare_seam(&tile.m, &tile.flux, scale, &line, &mut seam);
            let mut amounts = vec![R::lit(0.0); line.len];
            kernel.seam_fluxes(&tile.rm, &line, &seam, &mut amounts, &mut workspace);
            let mut clamped = 0;
            let mut rest = tile.rm.clone();
            apply_seam(&mut rest, &line, &amounts, SeamSide::Owner);
            for s in 0..line.len {
                let cell = line.cell as isize + s as isize * line.along;
                let steps = |x: isize| match line.order {
                    StencilOrder::InteriorFirst => 2 - x,
                    StencilOrder::HaloFirst => x - 3,
                };
                let gather = |v: &[R]| (0..6).map(|x| v[(cell + steps(x) * line.inward) as usize]).collect::<Vec<R>>();
                let air = scale * tile.flux[(line.face as isize + s as isize * line.face_along) as usize];
                let (flux, was_clamped) = naive_flux::<S, R>(&gather(&tile.rm), &gather(&tile.m), 3, air, |_| false);
                clamped += u64::from(was_clamped);
                let amount = line.leaving * flux;
                assert_eq!(bits(amounts[s]), bits(amount), "{} seam {s}", S::NAME);
                assert_eq!(bits(seam.air()[s]), bits(line.leaving * air));
                assert_eq!(bits(rest[cell as usize]), bits(tile.rm[cell as usize] - amount));
            }
            assert_eq!(stats.clamped, clamped);
        }
    }
}

#[test]
fn seam_transfers_have_the_bits_of_naive_loops() {
    for_each_scheme!(seams::<f32>(0.8));
    for_each_scheme!(seams::<f64>(0.8));
    for_each_scheme!(seams::<f32>(3.0));
    for_each_scheme!(seams::<f64>(3.0));
}
