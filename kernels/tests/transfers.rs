//! What sweeps book of their transfers: the gain of cells, to the bit, and the fluxes through their faces.

mod common;

use common::{Random, bits, plane};
use kernels::cpu::{
    FaceCoefficients, FaceState, SeamLine, SeamSide, StencilOrder, TransferPlanes, Workspace, apply_seam, book_seam,
    prepare_x, prepare_y,
};
use kernels::scheme::kernel;
use kernels::{Scalar, Scheme};

/// One sweep with books that were empty, low end closed: contents before and after, gain, through; positions of the cells
/// of each line along the swept axis.
struct Swept<R> {
    before: Vec<R>,
    after: Vec<R>,
    gain: Vec<R>,
    through: Vec<R>,
    lines: Vec<Vec<usize>>,
}

fn swept<R: Scalar>(scheme: Scheme, axis: usize) -> Swept<R> {
    let (ni, nj) = (21, 13);
    let start = plane::<R>(ni, nj, 0.4, &mut Random(31));
    let shape = start.shape;
    let kernel = kernel::<R>(scheme);
    let (mut faces, mut workspace) = (FaceCoefficients::new([&shape]), Workspace::new([&shape]));
    let ends = [FaceState::Closed, FaceState::Open];
    let empty = || vec![R::default(); shape.plane_len()];
    let (mut m, mut after, mut plain) = (start.m.clone(), start.rm.clone(), start.rm.clone());
    let (mut gain, mut through) = (empty(), empty());
    let books = Some(TransferPlanes { gain: &mut gain, through: &mut through });
    let cell = |i: usize, j: usize| shape.index(i as isize, j as isize);
    let lines = match axis {
        0 => {
            prepare_x(&shape, &mut m, &start.flux, R::lit(1.0), ends, &mut faces);
            kernel.sweep_x(&shape, &mut after, &faces, books, &mut workspace);
            kernel.sweep_x(&shape, &mut plain, &faces, None, &mut workspace);
            (0..nj).map(|j| (0..ni).map(|i| cell(i, j)).collect()).collect()
        }
        _ => {
            prepare_y(&shape, &mut m, &start.flux, R::lit(1.0), ends, &mut faces);
            kernel.sweep_y(&shape, &mut after, &faces, books, &mut workspace);
            kernel.sweep_y(&shape, &mut plain, &faces, None, &mut workspace);
            (0..ni).map(|i| (0..nj).map(|j| cell(i, j)).collect()).collect()
        }
    };
    let lines: Vec<Vec<usize>> = lines;
    for at in lines.iter().flatten() {
        assert_eq!(bits(after[*at]), bits(plain[*at]), "books change nothing");
    }
    Swept { before: start.rm, after, gain, through, lines }
}

fn books<R: Scalar>(tolerance: f64) {
    for scheme in Scheme::ALL {
        for axis in 0..2 {
            let Swept { before, after, gain, through, lines } = swept::<R>(scheme, axis);
            let mut largest = 0.0_f64;
            for line in lines {
                // Through the closed low end nothing passes; each further face passes what the cell before it does not keep.
                let mut low = 0.0;
                for at in line {
                    assert_eq!(bits(after[at]), bits(before[at] + gain[at]), "{scheme:?} {axis}");
                    let high = low - gain[at].to_f64();
                    assert!((through[at].to_f64() - (low + high)).abs() < tolerance, "{scheme:?} {axis}");
                    largest = largest.max(high.abs());
                    low = high;
                }
            }
            assert!(largest > 0.05, "something passes");
        }
    }
}

#[test]
fn gains_are_what_the_sweep_adds_and_fluxes_pass_from_cell_to_cell() {
    books::<f32>(2.0e-6);
    books::<f64>(4.0e-15);
}

#[test]
fn books_go_on_from_what_they_hold() {
    let once = swept::<f64>(Scheme::ALL[0], 0);
    let start = plane::<f64>(21, 13, 0.4, &mut Random(31));
    let shape = start.shape;
    let (mut faces, mut workspace) = (FaceCoefficients::new([&shape]), Workspace::new([&shape]));
    let (mut gain, mut through) = (vec![1.0; shape.plane_len()], vec![-2.0; shape.plane_len()]);
    let (mut m, mut rm) = (start.m.clone(), start.rm.clone());
    prepare_x(&shape, &mut m, &start.flux, 1.0, [FaceState::Closed, FaceState::Open], &mut faces);
    let books = TransferPlanes { gain: &mut gain, through: &mut through };
    kernel::<f64>(Scheme::ALL[0]).sweep_x(&shape, &mut rm, &faces, Some(books), &mut workspace);
    for at in once.lines.into_iter().flatten() {
        assert_eq!(gain[at], 1.0 + once.gain[at]);
        assert_eq!(through[at], -2.0 + once.through[at]);
    }
}

#[test]
fn seams_are_booked_on_both_sides_in_their_own_orientation() {
    // The east side of a tile of 4 × 3 owns the seam; for the neighbour the same faces lie on its west side, reversed.
    let shape = kernels::TileShape::new(4, 3, 3);
    let line = |i: isize, inward: isize, order, face_factor: f64, leaving: f64| SeamLine {
        cell: shape.index(i, 0),
        along: shape.pitch as isize,
        inward,
        len: 3,
        order,
        face: shape.index(i, 0),
        face_along: shape.pitch as isize,
        face_factor,
        leaving,
    };
    let amounts = [0.5, -0.25, 2.0];
    for (side, line, gain_sign, own_sign) in [
        // Leaving through a high edge is a positive flux.
        (SeamSide::Owner, line(3, -1, StencilOrder::InteriorFirst, 1.0, 1.0), -1.0, 1.0),
        // Leaving through a low edge is a negative one.
        (SeamSide::Owner, line(0, 1, StencilOrder::HaloFirst, 1.0, -1.0), -1.0, -1.0),
        // The neighbour gains, through its own low edge with the owner's orientation: a positive flux.
        (SeamSide::Neighbour, line(0, 1, StencilOrder::HaloFirst, 1.0, 1.0), 1.0, 1.0),
        // Through its high edge, where its axis runs against the owner's.
        (SeamSide::Neighbour, line(3, -1, StencilOrder::InteriorFirst, -1.0, 1.0), 1.0, -1.0),
    ] {
        let empty = vec![0.0_f64; shape.plane_len()];
        let (mut gain, mut through, mut content) = (empty.clone(), empty.clone(), empty);
        book_seam(TransferPlanes { gain: &mut gain, through: &mut through }, &line, &amounts, side);
        apply_seam(&mut content, &line, &amounts, side);
        assert_eq!(gain, content);
        for (s, amount) in amounts.into_iter().enumerate() {
            let at = line.cell + s * shape.pitch;
            assert_eq!((gain[at], through[at]), (gain_sign * amount, own_sign * amount));
        }
        assert_eq!(through.iter().filter(|x| **x != 0.0).count(), 3);
    }
}
