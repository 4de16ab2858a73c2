//! What the kernels look up: tiles, rows, halo cells and seam faces as lists of 32-bit integers.
//!
//! The layout of each list is described beside the kernel that reads it. Positions are those of the air plane within a
//! level of the packed state, or of the one plane of a field.

use decomposition::{Axis, ExchangeKind, HaloPlan, Layout, Message, StripSide};
use kernels::cpu::{FaceState, SeamSide, StencilOrder};
use kernels::{Scalar, TileShape};

use crate::operators::advection::seams::{TileSeam, TileSeams};
use crate::state::{Slabs, TileSet};

/// A position or a count as the kernels take it.
///
/// # Panics
/// Beyond 2³¹ − 1: one level of a rank never has as many values.
pub(super) fn int(value: usize) -> i32 {
    i32::try_from(value).expect("a level of a rank has less than 2^31 values")
}

/// Tiles of the rank, eight integers each.
pub(super) fn tiles<R: Scalar>(state: &Slabs<R>, field: &Slabs<R>, x: &[TileSeams<R>], y: &[TileSeams<R>]) -> Vec<i32> {
    let shapes = state.tile_set().shapes();
    let mut table = Vec::with_capacity(8 * shapes.len());
    for (t, shape) in shapes.iter().enumerate() {
        let closed = [x[t].ends[0], x[t].ends[1], y[t].ends[0], y[t].ends[1]];
        let bits = closed.iter().enumerate().map(|(n, end)| i32::from(*end == FaceState::Closed) << n).sum();
        let TileShape { ni, nj, halo, pitch, .. } = *shape;
        table.extend([state.tile_offset(t), field.tile_offset(t), ni, nj, halo, pitch, shape.plane_len()].map(int));
        table.push(bits);
    }
    table
}

/// Rows of all tiles: tile and j of each.
pub(super) fn rows(set: &TileSet) -> Vec<i32> {
    let tiles = set.shapes().iter().enumerate();
    tiles.flat_map(|(t, shape)| (0..shape.nj).flat_map(move |j| [int(t), int(j)])).collect()
}

/// Blocks of at most `width` columns: tile and first i of each.
pub(super) fn column_blocks(set: &TileSet, width: usize) -> Vec<i32> {
    let tiles = set.shapes().iter().enumerate();
    tiles.flat_map(|(t, shape)| (0..shape.ni).step_by(width).flat_map(move |i| [int(t), int(i)])).collect()
}

/// Position of every cell of one side of a strip, along the strip, then across, and the distance between planes.
fn side_cells<'a, R: Scalar>(
    side: &'a StripSide,
    len: usize,
    depth: usize,
    state: &Slabs<R>,
) -> impl Iterator<Item = [i32; 2]> + 'a {
    let set = state.tile_set();
    let t = set.local(side.tile).expect("plans name the rank's own tiles");
    let (shape, offset) = (set.shapes()[t], state.tile_offset(t));
    (0..depth).flat_map(move |d| {
        (0..len).map(move |s| {
            let (i, j) = side.cell(s, d);
            [int(offset + shape.index(i, j)), int(shape.plane_len())]
        })
    })
}

/// Halo cells filled from tiles of the same rank: from, to, distance between planes at either place.
pub(super) fn halo_pairs<R: Scalar>(plan: &HaloPlan, state: &Slabs<R>) -> Vec<i32> {
    let mut table = Vec::new();
    for strip in &plan.local {
        let from = side_cells(&strip.source, strip.len, strip.depth, state);
        let to = side_cells(&strip.target, strip.len, strip.depth, state);
        table.extend(from.zip(to).flat_map(|([from, step], [to, to_step])| [from, to, step, to_step]));
    }
    table
}

/// Which end of its strips a message is made for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageEnd {
    Source,
    Target,
}

/// Cells of all messages, five integers each, in the order of the messages.
pub(super) fn message_cells<R: Scalar>(messages: &[Message], end: MessageEnd, state: &Slabs<R>) -> Vec<i32> {
    let mut table = Vec::new();
    let mut before = 0;
    for message in messages {
        let cells = message.strips.iter().flat_map(|strip| {
            let side = match end {
                MessageEnd::Source => &strip.source,
                MessageEnd::Target => &strip.target,
            };
            side_cells(side, strip.len, strip.depth, state)
        });
        for (n, [cell, plane]) in cells.enumerate() {
            table.extend([cell, plane, int(before), int(message.cells()), int(n)]);
        }
        before += message.cells();
    }
    table
}

/// Plan of the halo exchange before a sweep.
pub(super) fn halo_plan(layout: &Layout, axis: Axis, rank: usize) -> HaloPlan {
    HaloPlan::new(layout, ExchangeKind::Sweep(axis), rank)
}

/// Bits of a seam face.
const FLUX_ALONG_J: i32 = 1;
const FLUX_REVERSED: i32 = 2;
const LEAVES_BACKWARD: i32 = 4;
const COUNTED: i32 = 8;

/// Bits of a book entry.
const BOOK_ALONG_J: i32 = 1;
const BOOK_REVERSED: i32 = 2;

/// Most seam faces that one cell takes part in.
const FACES_OF_A_CELL: usize = 4;

/// Seam faces and edge cells of one sweep.
pub(super) struct SeamTables {
    /// Five integers per face.
    pub(super) faces: Vec<i32>,
    /// Ten integers per cell.
    pub(super) edges: Vec<i32>,
    /// Three integers per face: where its flux is booked.
    pub(super) books: Vec<i32>,
}

/// Tables of the seams of one sweep, for a scheme that reads `halo` cells on each side of a face.
pub(super) fn seams<R: Scalar>(seams: &[TileSeams<R>], halo: usize, state: &Slabs<R>, field: &Slabs<R>) -> SeamTables {
    let (mut faces, mut books) = (Vec::new(), Vec::new());
    // Cells in the order in which they are first met, each with its faces in table order.
    let mut cells: Vec<([i32; 2], Vec<[i32; 2]>)> = Vec::new();
    for (t, tile) in seams.iter().enumerate() {
        let plane = int(tile.shape.plane_len());
        let first_of_tile = cells.len();
        for seam in &tile.lines {
            for s in 0..seam.line.len {
                let face = int(faces.len() / 5);
                faces.extend(face_entry(seam, s, halo, state.tile_offset(t), field.tile_offset(t), plane));
                let cell = int(place(state.tile_offset(t) + seam.line.cell, seam.line.along, s));
                books.extend([cell, plane, book_signs(seam)]);
                let entry = [face, i32::from(seam.side == SeamSide::Neighbour)];
                match cells[first_of_tile..].iter_mut().find(|(at, _)| at[0] == cell) {
                    Some((_, list)) => list.push(entry),
                    None => cells.push(([cell, plane], vec![entry])),
                }
            }
        }
    }
    let mut edges = Vec::with_capacity(10 * cells.len());
    for (cell, list) in cells {
        assert!(list.len() <= FACES_OF_A_CELL, "a cell has four sides");
        edges.extend(cell);
        edges.extend(list.into_iter().chain(std::iter::repeat([-1, 0])).take(FACES_OF_A_CELL).flatten());
    }
    SeamTables { faces, edges, books }
}

/// How an amount leaving the owner becomes a flux along the tile's own axis.
fn book_signs<R: Scalar>(seam: &TileSeam<R>) -> i32 {
    let reversed = seam.line.leaving * seam.line.face_factor < R::default();
    let signs = [(seam.face_axis == Axis::Y, BOOK_ALONG_J), (reversed, BOOK_REVERSED)];
    signs.iter().filter(|(set, _)| *set).map(|(_, bit)| bit).sum()
}

/// The `s`-th place from `start` on.
fn place(start: usize, step: isize, s: usize) -> usize {
    start.wrapping_add_signed(step * s as isize)
}

fn face_entry<R: Scalar>(
    seam: &TileSeam<R>,
    s: usize,
    halo: usize,
    state_offset: usize,
    field_offset: usize,
    plane: i32,
) -> [i32; 5] {
    let (line, halo) = (&seam.line, halo as isize);
    // Steps from the edge cell to the first cell of the stencil, and from cell to cell, in the owner's orientation.
    let (first, step) = match line.order {
        StencilOrder::InteriorFirst => ((halo - 1) * line.inward, -line.inward),
        StencilOrder::HaloFirst => (-halo * line.inward, line.inward),
    };
    let cell = place(state_offset + line.cell, line.along, s);
    let flux = place(field_offset + line.face, line.face_along, s);
    let zero = R::default();
    let signs = [
        (seam.face_axis == Axis::Y, FLUX_ALONG_J),
        (line.face_factor < zero, FLUX_REVERSED),
        (line.leaving < zero, LEAVES_BACKWARD),
        (seam.side == SeamSide::Owner, COUNTED),
    ];
    let signs = signs.iter().filter(|(set, _)| *set).map(|(_, bit)| bit).sum();
    let step = i32::try_from(step).expect("a row is short");
    [int(cell.wrapping_add_signed(first)), step, plane, int(flux), signs]
}
