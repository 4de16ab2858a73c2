//! Halo cells: copies and messages.

use atmostr::device::Argument;
use kernels::device::KernelName;
use kernels::{Scalar, TileShape};

use crate::rig::{Rig, int, interior};
use crate::world::World;

/// A cell of the air plane: its position within a level, and the distance between planes of its tile.
#[derive(Clone, Copy, PartialEq)]
struct Cell {
    at: usize,
    plane: usize,
}

/// Cells of all tiles in any order: those inside, and those of the halos.
fn cells<R: Scalar>(world: &mut World<R>) -> [Vec<Cell>; 2] {
    let mut found = [Vec::new(), Vec::new()];
    for (tile, shape) in world.set.shapes().iter().enumerate() {
        let offset = world.state.slabs().tile_offset(tile);
        let TileShape { pitch, rows, ni, halo, .. } = *shape;
        let inside: Vec<usize> = interior(shape).collect();
        for at in (0..rows).flat_map(|row| row * pitch..row * pitch + ni + 2 * halo) {
            let kind = usize::from(!inside.contains(&at));
            found[kind].push(Cell { at: offset + at, plane: shape.plane_len() });
        }
    }
    for list in &mut found {
        for n in (1..list.len()).rev() {
            list.swap(n, world.random.below(n + 1));
        }
    }
    found
}

pub fn halo_copy<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let [inside, mut halo] = cells(world);
    halo.truncate(world.random.between(1, halo.len()));
    let pairs: Vec<(Cell, Cell)> = halo.into_iter().map(|to| (inside[world.random.below(inside.len())], to)).collect();
    let table: Vec<i32> = pairs.iter().flat_map(|(from, to)| [from.at, to.at, from.plane, to.plane].map(int)).collect();
    let state = rig.put(world.state.slabs().data());
    let arguments = [
        state,
        rig.put(&table),
        Argument::Int(int(pairs.len())),
        world.strides()[0],
        Argument::Int(int(world.levels.start)),
    ];
    rig.cover(KernelName::HaloCopy, pairs.len(), [world.planes(), world.levels.len()], &arguments);
    let before = world.state.slabs();
    let mut expected = before.data().to_vec();
    for level in world.levels.clone() {
        let start = level * before.level_stride();
        for (from, to) in &pairs {
            for p in 0..world.planes() {
                expected[start + to.at + p * to.plane] = before.data()[start + from.at + p * from.plane];
            }
        }
    }
    rig.assert_memory(state, &expected);
}

/// Messages, one after the other: the cells of each.
fn messages<R: Scalar>(world: &mut World<R>, cells: &[Cell]) -> Vec<Vec<Cell>> {
    let mut rest = cells;
    let mut messages = Vec::new();
    while !rest.is_empty() && messages.len() < 4 {
        let (message, others) = rest.split_at(world.random.between(1, rest.len()));
        messages.push(message.to_vec());
        rest = others;
    }
    messages
}

/// Table of the cells of messages: see `halo.h`.
fn table(messages: &[Vec<Cell>]) -> Vec<i32> {
    let mut table = Vec::new();
    let mut before = 0;
    for message in messages {
        for (n, cell) in message.iter().enumerate() {
            table.extend([cell.at, cell.plane, before, message.len(), n].map(int));
        }
        before += message.len();
    }
    table
}

/// Positions in the state of all values of all messages, in the order in which they are sent.
fn places<R: Scalar>(world: &World<R>, messages: &[Vec<Cell>]) -> Vec<usize> {
    let mut places = Vec::new();
    for message in messages {
        for level in world.levels.clone() {
            for p in 0..world.planes() {
                let start = level * world.state.slabs().level_stride();
                places.extend(message.iter().map(|cell| start + cell.at + p * cell.plane));
            }
        }
    }
    places
}

/// Launches a kernel on messages.
fn move_cells<R: Scalar>(
    rig: &mut Rig<R>,
    kernel: KernelName,
    world: &World<R>,
    messages: &[Vec<Cell>],
    [state, values]: [Argument; 2],
) {
    let count = messages.iter().map(Vec::len).sum();
    let arguments = [
        state,
        values,
        rig.put(&table(messages)),
        Argument::Int(int(count)),
        Argument::Int(int(world.planes())),
        Argument::Int(int(world.levels.len())),
        world.strides()[0],
        Argument::Int(int(world.levels.start)),
    ];
    rig.cover(kernel, count, [world.planes(), world.levels.len()], &arguments);
}

pub fn halo_pack<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let [inside, _] = cells(world);
    let messages = messages(world, &inside);
    let places = places(world, &messages);
    let state = world.state.slabs().data();
    let memories = [rig.put(state), rig.put(&vec![R::from_f64(-7.0); places.len()])];
    move_cells(rig, KernelName::HaloPack, world, &messages, memories);
    let expected: Vec<R> = places.iter().map(|at| state[*at]).collect();
    rig.assert_memory(memories[1], &expected);
    rig.assert_memory(memories[0], state);
}

pub fn halo_unpack<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let [_, halo] = cells(world);
    let messages = messages(world, &halo);
    let places = places(world, &messages);
    let values: Vec<R> = places.iter().map(|_| world.value()).collect();
    let mut expected = world.state.slabs().data().to_vec();
    let memories = [rig.put(&expected), rig.put(&values)];
    move_cells(rig, KernelName::HaloUnpack, world, &messages, memories);
    for (at, value) in places.iter().zip(&values) {
        expected[*at] = *value;
    }
    rig.assert_memory(memories[0], &expected);
}
