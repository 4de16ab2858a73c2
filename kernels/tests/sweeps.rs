//! Plane, column and seam loops against naive loops that gather every face anew: same bits.

mod common;

use common::{Random, bits, naive_flux, naive_line};
use kernels::cpu::{
    ColumnCoefficients, FaceCoefficients, FaceState, LevelFluxes, SeamCoefficients, SeamLine, SeamSide, StencilOrder,
    Workspace, apply_seam, outflow_budget, prepare_seam, prepare_x, prepare_y, prepare_z,
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
    for_each_scheme!(seams::<f32>(6.0));
    for_each_scheme!(seams::<f64>(6.0));
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
    kernel.sweep_x(&shape, &mut rm, &faces, &mut workspace);
    prepare_y(&turned, &mut mt, &turn(&along_i.flux), one, ENDS[0], &mut faces);
    kernel.sweep_y(&turned, &mut rmt, &faces, &mut workspace);
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
                kernel.sweep_x(&shape, tracer, &faces, &mut workspace);
            } else {
                kernel.sweep_y(&shape, tracer, &faces, &mut workspace);
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

/// Two tiles meet at an edge: the owner's east side, and the neighbour's north side with reversed running direction, so
/// that the two store opposite fluxes.
fn shared_seam<S: CellScheme, R: Scalar>(scheme: Scheme) {
    let kernel = kernel::<R>(scheme);
    let mut random = Random(23);
    let owner = plane::<R>(20, 11, 0.5, &mut random);
    let other_shape = TileShape::new(11, 9, 3);
    let mut other = plane::<R>(11, 9, 0.5, &mut random);
    let one = R::lit(1.0);
    for s in 0..11_isize {
        for depth in 0..3 {
            // Cells beyond the owner's edge are the neighbour's interior rows from the north edge inward, and back.
            let (beyond, inside) = (owner.shape.index(20 + depth, s), owner.shape.index(19 - depth, s));
            let (theirs, halo) = (other_shape.index(10 - s, 8 - depth), other_shape.index(10 - s, 9 + depth));
            (other.m[theirs], other.rm[theirs]) = (owner.m[beyond], owner.rm[beyond]);
            (other.m[halo], other.rm[halo]) = (owner.m[inside], owner.rm[inside]);
        }
        other.flux[other_shape.index(10 - s, 9)] = -owner.flux[owner.shape.index(20, s)];
    }
    let line = owner_lines::<R>(&owner.shape)[0];
    let other_line = SeamLine {
        cell: other_shape.index(10, 8),
        along: -1,
        inward: -(other_shape.pitch as isize),
        len: 11,
        order: StencilOrder::HaloFirst,
        face: other_shape.index(10, 9),
        face_along: -1,
        face_factor: -one,
        leaving: one,
    };
    let mut workspace = Workspace::new([&owner.shape, &other_shape]);
    let [(a, air_a), (b, air_b)] = [(&owner, line), (&other, other_line)].map(|(tile, line)| {
        let mut seam = SeamCoefficients::new(20, scheme.halo());
        let mut amounts = vec![R::lit(0.0); 11];
        prepare_seam(&tile.m, &tile.flux, one, &line, &mut seam);
        kernel.seam_fluxes(&tile.rm, &line, &seam, &mut amounts, &mut workspace);
        (amounts, seam.air()[..11].to_vec())
    });
    for s in 0..11 {
        assert_eq!(bits(a[s]), bits(b[s]), "{}", S::NAME);
        assert_eq!(bits(air_a[s]), bits(air_b[s]));
    }
    let mut gain = vec![R::lit(0.0); other_shape.plane_len()];
    apply_seam(&mut gain, &other_line, &b, SeamSide::Neighbour);
    assert_eq!(bits(gain[other_shape.index(10, 8)]), bits(a[0]));
    assert_eq!(bits(gain[other_shape.index(0, 8)]), bits(a[10]));
}

#[test]
fn both_sides_of_a_seam_get_the_same_bits() {
    for_each_scheme!(shared_seam::<f32>());
    for_each_scheme!(shared_seam::<f64>());
}

#[test]
fn outflow_budget_finds_the_worst_cell() {
    let shape = TileShape::new(21, 6, 1);
    let zeros = vec![0.0_f32; shape.plane_len()];
    let mut m = zeros.clone();
    for j in 0..6 {
        m[shape.row_start(j)..][..21].fill(2.0);
    }
    let [mut west, mut south, mut top, mut bottom] = [(); 4].map(|()| zeros.clone());
    // Cell (20, 3) loses 0.1 west, 0.2 east, 0.05 south, 0.05 north, 0.1 up and 0.1 down; its neighbours gain.
    west[shape.index(20, 3)] = -0.1;
    west[shape.index(20, 3) + 1] = 0.2;
    south[shape.index(20, 3)] = -0.05;
    south[shape.index(20, 4)] = 0.05;
    top[shape.index(20, 3)] = -0.1;
    bottom[shape.index(20, 3)] = 0.1;
    let budget = |m: &[f32]| {
        let fluxes = LevelFluxes { west: &west, south: &south, top: &top, bottom: &bottom };
        outflow_budget(&shape, m, fluxes, 0.5)
    };
    let found = budget(&m);
    assert_eq!(found.cell, (20, 3));
    assert!((found.ratio - 2.0 * 0.5 * 0.6 / 2.0).abs() < 1e-6, "{found:?}");
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let mut m = m.clone();
        m[shape.index(4, 1)] = bad;
        assert_eq!(budget(&m).cell, (4, 1));
        assert_eq!(budget(&m).ratio, f64::INFINITY);
    }
    let mut m = m.clone();
    m[shape.index(-1, 1)] = f32::NAN;
    assert_eq!(budget(&m).cell, (20, 3), "halo cells are no cells of the plane");
}

#[test]
fn undefined_fluxes_break_the_budget() {
    let shape = TileShape::new(5, 4, 1);
    let (ones, zeros) = (vec![1.0_f64; shape.plane_len()], vec![0.0; shape.plane_len()]);
    for (which, i, j) in [(0, 2, 2), (0, 5, 2), (1, 2, 2), (1, 2, 4), (2, 4, 3), (3, 0, 0)] {
        let mut bad = zeros.clone();
        bad[shape.index(i, j)] = f64::NAN;
        let pick = |n| if n == which { &bad[..] } else { &zeros[..] };
        let fluxes = LevelFluxes { west: pick(0), south: pick(1), top: pick(2), bottom: pick(3) };
        assert_eq!(outflow_budget(&shape, &ones, fluxes, 1.0).ratio, f64::INFINITY, "flux {which}");
    }
}
