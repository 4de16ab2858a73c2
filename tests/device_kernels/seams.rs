//! Transfers across seams.

use atmostr::device::Argument;
use kernels::Scalar;
use kernels::cpu::{
    SeamCoefficients, SeamLine, SeamSide, StencilOrder, SweepKernel, TransferPlanes, Workspace, apply_seam, book_seam,
    prepare_seam,
};
use kernels::device::KernelName;
use kernels::scheme::kernel;

use crate::device::Random;
use crate::rig::{Rig, int, real};
use crate::world::World;

/// Bits of a face: see `seams.h`.
const FLUX_ALONG_J: i32 = 1;
const FLUX_REVERSED: i32 = 2;
const LEAVES_BACKWARD: i32 = 4;
const COUNTED: i32 = 8;

/// A stretch of one side of a tile.
struct Seam<R> {
    tile: usize,
    /// Axis of the tile's own flux.
    axis: usize,
    side: SeamSide,
    line: SeamLine<R>,
    /// Number of its first face.
    first_face: usize,
}

/// A random stretch of most sides of the tiles, at least of one.
fn seams<R: Scalar>(world: &mut World<R>) -> Vec<Seam<R>> {
    let World { random, set, .. } = world;
    let mut seams = Vec::<Seam<R>>::new();
    for (tile, shape) in set.shapes().iter().enumerate() {
        for side in 0..4 {
            if random.once_in(4) && !seams.is_empty() {
                continue;
            }
            let axis = side / 2;
            let (pitch, length) = (shape.pitch as isize, [shape.nj, shape.ni][axis]);
            let (across, along) = [(1, pitch), (pitch, 1)][axis];
            let (inward, last) = if side % 2 == 0 { (across, false) } else { (-across, true) };
            let low = random.below(length);
            let high = random.between(low, length - 1);
            let (start, along) = if random.once_in(2) { (low, along) } else { (high, -along) };
            let edge = if last { [shape.ni, shape.nj][axis] - 1 } else { 0 };
            let place = |edge: usize| {
                let (i, j) = if axis == 0 { (edge, start) } else { (start, edge) };
                shape.index(i as isize, j as isize)
            };
            let sign = |random: &mut Random| R::from_f64(if random.once_in(2) { 1.0 } else { -1.0 });
            let line = SeamLine {
                cell: place(edge),
                along,
                inward,
                len: high - low + 1,
                order: if random.once_in(2) { StencilOrder::InteriorFirst } else { StencilOrder::HaloFirst },
                face: place(edge + usize::from(last)),
                face_along: along,
                face_factor: sign(random),
                leaving: sign(random),
            };
            let side = if random.once_in(2) { SeamSide::Owner } else { SeamSide::Neighbour };
            let first_face = seams.last().map_or(0, |seam| seam.first_face + seam.line.len);
            seams.push(Seam { tile, axis, side, line, first_face });
        }
    }
    seams
}

fn face_count<R>(seams: &[Seam<R>]) -> usize {
    seams.iter().map(|seam| seam.line.len).sum()
}

/// Position of place `s` of a line.
fn along(start: usize, step: isize, s: usize) -> usize {
    start.wrapping_add_signed(step * s as isize)
}

/// Table of the faces of a scheme that reads `halo` cells on either side: see `seams.h`.
fn faces<R: Scalar>(world: &World<R>, seams: &[Seam<R>], halo: usize) -> Vec<i32> {
    let mut table = Vec::new();
    let halo = halo as isize;
    for Seam { tile, axis, side, line, .. } in seams {
        let (state, field) = (world.state.slabs().tile_offset(*tile), world.fluxes[0].tile_offset(*tile));
        let (back, step) = match line.order {
            StencilOrder::InteriorFirst => ((halo - 1) * line.inward, -line.inward),
            StencilOrder::HaloFirst => (-halo * line.inward, line.inward),
        };
        let negative = |x: R| x.to_f64() < 0.0;
        let bits = [
            (*axis == 1, FLUX_ALONG_J),
            (negative(line.face_factor), FLUX_REVERSED),
            (negative(line.leaving), LEAVES_BACKWARD),
            (*side == SeamSide::Owner, COUNTED),
        ];
        let bits = bits.iter().map(|(set, bit)| if *set { *bit } else { 0 }).sum();
        for s in 0..line.len {
            let first = int(state + along(line.cell, line.along, s).wrapping_add_signed(back));
            let plane = int(world.set.shapes()[*tile].plane_len());
            table.extend([first, step as i32, plane, int(field + along(line.face, line.face_along, s)), bits]);
        }
    }
    table
}

/// Place of an amount.
fn amount_at<R: Scalar>(world: &World<R>, faces: usize, level: usize, plane: usize, face: usize) -> usize {
    (level * world.planes() + plane) * faces + face
}

pub fn seam_amounts<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let seams = seams(world);
    let (count, halo) = (face_count(&seams), rig.scheme.halo());
    let mut expected: Vec<R> = (0..world.depth() * world.planes() * count).map(|_| world.value()).collect();
    let (amounts, counter) = (rig.put(&expected), rig.put(&[0_i32]));
    let [stride, field_stride] = world.strides();
    // Groups share out the planes.
    let groups = 1 + world.random.below(world.planes());
    let arguments = [
        rig.put(world.state.slabs().data()),
        rig.put(world.fluxes[0].data()),
        rig.put(world.fluxes[1].data()),
        rig.put(&faces(world, &seams, halo)),
        amounts,
        counter,
        Argument::Int(int(count)),
        real(world.scale),
        Argument::Int(int(world.planes())),
        Argument::Int(int(groups)),
        stride,
        field_stride,
        Argument::Int(int(world.levels.start)),
    ];
    rig.cover(KernelName::SeamAmounts, count, [groups, world.levels.len()], &arguments);
    let sweeps: &dyn SweepKernel<R> = kernel(rig.scheme);
    let mut workspace = Workspace::new(world.set.shapes());
    let mut clamped = 0;
    for level in world.levels.clone() {
        for Seam { tile, axis, side, line, first_face } in &seams {
            let mut coefficients = SeamCoefficients::new(line.len, halo);
            let plane = |n| world.state.slabs().plane(level, *tile, n);
            let flux = world.fluxes[*axis].plane(level, *tile, 0);
            let stats = prepare_seam(plane(0), flux, world.scale, line, &mut coefficients);
            clamped += if *side == SeamSide::Owner { stats.clamped } else { 0 };
            let range = |n| {
                let first = amount_at(world, count, level, n, *first_face);
                first..first + line.len
            };
            expected[range(0)].copy_from_slice(&coefficients.air()[..line.len]);
            for n in 1..world.planes() {
                sweeps.seam_fluxes(plane(n), line, &coefficients, &mut expected[range(n)], &mut workspace);
            }
        }
    }
    rig.assert_memory(amounts, &expected);
    rig.assert_clamped(counter, clamped);
}

/// Table of the cells at seams: see `seams.h`.
fn edges<R: Scalar>(world: &World<R>, seams: &[Seam<R>]) -> Vec<i32> {
    let mut cells: Vec<[i32; 10]> = Vec::new();
    for Seam { tile, side, line, first_face, .. } in seams {
        for s in 0..line.len {
            let cell = int(world.state.slabs().tile_offset(*tile) + along(line.cell, line.along, s));
            let place = cells.iter().position(|entry| entry[0] == cell).unwrap_or_else(|| {
                let plane = int(world.set.shapes()[*tile].plane_len());
                cells.push([cell, plane, -1, 0, -1, 0, -1, 0, -1, 0]);
                cells.len() - 1
            });
            let free = (2..10).step_by(2).find(|n| cells[place][*n] < 0).expect("a cell has four sides");
            cells[place][free] = int(first_face + s);
            cells[place][free + 1] = i32::from(*side == SeamSide::Neighbour);
        }
    }
    cells.concat()
}

pub fn seam_apply<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let seams = seams(world);
    let count = face_count(&seams);
    let amounts: Vec<R> = (0..world.depth() * world.planes() * count).map(|_| world.value()).collect();
    let edges = edges(world, &seams);
    let state = rig.put(world.state.slabs().data());
    let [stride, _] = world.strides();
    let arguments = [
        state,
        rig.put(&amounts),
        rig.put(&edges),
        Argument::Int(int(edges.len() / 10)),
        Argument::Int(int(count)),
        Argument::Int(int(world.planes())),
        stride,
        Argument::Int(int(world.levels.start)),
    ];
    rig.cover(KernelName::SeamApply, edges.len() / 10, [world.planes(), world.levels.len()], &arguments);
    let mut expected = world.state.slabs().clone();
    for level in world.levels.clone() {
        for Seam { tile, side, line, first_face, .. } in &seams {
            for plane in 0..world.planes() {
                let amounts = &amounts[amount_at(world, count, level, plane, *first_face)..][..line.len];
                apply_seam(expected.plane_mut(level, *tile, plane), line, amounts, *side);
            }
        }
    }
    rig.assert_memory(state, expected.data());
}

/// Bits of an entry: see `seams.h`.
const BOOK_ALONG_J: i32 = 1;
const BOOK_REVERSED: i32 = 2;

/// Table of the cells whose books seam faces are entered in: see `seams.h`.
fn books<R: Scalar>(world: &World<R>, seams: &[Seam<R>]) -> Vec<i32> {
    let mut table = Vec::new();
    for Seam { tile, axis, line, .. } in seams {
        let reversed = line.leaving.to_f64() * line.face_factor.to_f64() < 0.0;
        let bits = i32::from(*axis == 1) * BOOK_ALONG_J + i32::from(reversed) * BOOK_REVERSED;
        let (offset, plane) = (world.state.slabs().tile_offset(*tile), world.set.shapes()[*tile].plane_len());
        table.extend((0..line.len).flat_map(|s| [int(offset + along(line.cell, line.along, s)), int(plane), bits]));
    }
    table
}

pub fn book_seams<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    // A cell with two faces across the same axis, as in tiles one cell wide, is not booked on devices.
    let mut seams = seams(world);
    seams.retain(|seam| {
        let shape = world.set.shapes()[seam.tile];
        [shape.ni, shape.nj][seam.axis] > 1
    });
    let mut first = 0;
    for seam in &mut seams {
        seam.first_face = first;
        first += seam.line.len;
    }
    let count = first;
    let amounts: Vec<R> = (0..world.depth() * world.planes() * count).map(|_| world.value()).collect();
    let mut through = [0, 1].map(|_| world.state.slabs().clone());
    for value in through.iter_mut().flat_map(|slabs| slabs.data_mut()) {
        *value = world.value();
    }
    let [along_i, along_j] = [0, 1].map(|axis| rig.put(through[axis].data()));
    let [stride, _] = world.strides();
    let arguments = [
        along_i,
        along_j,
        rig.put(&amounts),
        rig.put(&books(world, &seams)),
        Argument::Int(int(count)),
        Argument::Int(int(world.planes())),
        stride,
        Argument::Int(int(world.levels.start)),
    ];
    rig.cover(KernelName::BookSeams, count, [world.planes() - 1, world.levels.len()], &arguments);
    for level in world.levels.clone() {
        for Seam { tile, axis, side, line, first_face } in &seams {
            for plane in 1..world.planes() {
                let amounts = &amounts[amount_at(world, count, level, plane, *first_face)..][..line.len];
                let through = through[*axis].plane_mut(level, *tile, plane);
                let mut gain = vec![R::default(); through.len()];
                book_seam(TransferPlanes { gain: &mut gain, through }, line, amounts, *side);
            }
        }
    }
    rig.assert_memory(along_i, through[0].data());
    rig.assert_memory(along_j, through[1].data());
}
