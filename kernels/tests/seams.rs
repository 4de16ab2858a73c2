//! Seam transfers against naive loops that gather every face anew, and on both sides of a seam: same bits.

mod common;

use common::{Random, bits, naive_flux, plane};
use kernels::cpu::{SeamCoefficients, SeamLine, SeamSide, StencilOrder, Workspace, apply_seam, prepare_seam};
use kernels::scheme::{CellScheme, kernel};
use kernels::{Scalar, Scheme, TileShape};

const SIZES: [(usize, usize); 5] = [(3, 7), (7, 3), (45, 8), (90, 5), (13, 45)];

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
