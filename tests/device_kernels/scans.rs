//! Scans between windows.

use atmostr::device::Argument;
use atmostr::diagnostics::{ColumnSums, ExactSum};
use kernels::cpu::{LevelFluxes, outflow_budget};
use kernels::device::KernelName;
use kernels::{Scalar, TileShape};

use crate::rig::{Rig, int, real};
use crate::world::{World, table};

pub fn largest_outflow<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let rows = world.rows();
    let scanned = rows.len() * world.depth();
    let (ratios, cells) = (rig.put(&vec![R::from_f64(-7.0); scanned]), rig.put(&vec![-7_i32; scanned]));
    let [stride, field_stride] = world.strides();
    let arguments = [
        rig.put(world.state.slabs().data()),
        rig.put(world.fluxes[0].data()),
        rig.put(world.fluxes[1].data()),
        rig.put(world.fluxes[2].data()),
        rig.put(&world.tiles()),
        rig.put(&table(&rows)),
        ratios,
        cells,
        Argument::Int(int(rows.len())),
        real(world.scale),
        stride,
        field_stride,
    ];
    rig.launch(KernelName::LargestOutflow, [rows.len(), world.depth(), 1], &arguments);
    // The kernel writes the largest number where the processor says infinity.
    let largest = if size_of::<R>() == 4 { f32::MAX.into() } else { f64::MAX };
    let (mut expected_ratios, mut expected_cells) = (Vec::new(), Vec::new());
    for level in 0..world.depth() {
        for &(tile, j) in &rows {
            // A plane that begins one row after the other ends with row j as its first and only one.
            let shape = world.set.shapes()[tile];
            let row = TileShape { nj: 1, rows: 1 + 2 * shape.halo, ..shape };
            let from = j * shape.pitch;
            let [x, y] = [0, 1].map(|axis| &world.fluxes[axis].plane(level, tile, 0)[from..]);
            let [top, bottom] = [0, 1].map(|n| &world.fluxes[2].plane(level + n, tile, 0)[from..]);
            let air = &world.state.slabs().plane(level, tile, 0)[from..];
            let worst = outflow_budget(&row, air, LevelFluxes { west: x, south: y, top, bottom }, world.scale);
            expected_ratios.push(R::from_f64(worst.ratio.min(largest)));
            expected_cells.push(int(worst.cell.0));
        }
    }
    rig.assert_memory(ratios, &expected_ratios);
    rig.assert_ints(cells, &expected_cells);
}

pub fn first_unusable<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let rows = world.rows();
    let keys = rig.put(&vec![-7_i32; rows.len() * world.depth()]);
    let arguments = [
        rig.put(world.state.slabs().data()),
        rig.put(&world.tiles()),
        rig.put(&table(&rows)),
        keys,
        Argument::Int(int(rows.len())),
        Argument::Int(int(world.planes())),
        world.strides()[0],
    ];
    rig.launch(KernelName::FirstUnusable, [rows.len(), world.depth(), 1], &arguments);
    let usable = |plane: usize, x: R| Scalar::is_finite(x) && (plane > 0 || x.to_f64() > 0.0);
    let mut expected = Vec::new();
    for level in 0..world.depth() {
        for &(tile, j) in &rows {
            let shape = &world.set.shapes()[tile];
            let first = (0..world.planes()).find_map(|plane| {
                let row = &world.state.slabs().plane(level, tile, plane)[shape.row_start(j)..][..shape.ni];
                row.iter().position(|x| !usable(plane, *x)).map(|i| int(65_536 * plane + i))
            });
            expected.push(first.unwrap_or(i32::MAX));
        }
    }
    rig.assert_ints(keys, &expected);
}

pub fn exact_sums<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    // Limbs of a sum and the first of them among those of double precision: see `scans.h`.
    let (limbs, first) = if size_of::<R>() == 4 { (11, 28) } else { (68, 0) };
    let (rows, planes) = (world.rows(), world.planes());
    let sums = rig.put(&vec![-7_i64; rows.len() * planes * (limbs + 3)]);
    let arguments = [
        rig.put(world.state.slabs().data()),
        rig.put(&world.tiles()),
        rig.put(&table(&rows)),
        sums,
        Argument::Int(int(rows.len())),
        Argument::Int(int(world.depth())),
        world.strides()[0],
    ];
    rig.launch(KernelName::ExactSums, [rows.len(), planes, 1], &arguments);
    let found = rig.get::<i64>(sums, rows.len() * planes * (limbs + 3));
    for (n, part) in found.chunks_exact(limbs + 3).enumerate() {
        let (plane, (tile, j)) = (n / rows.len(), rows[n % rows.len()]);
        let shape = &world.set.shapes()[tile];
        let mut expected = ExactSum::new();
        for level in 0..world.depth() {
            let row = &world.state.slabs().plane(level, tile, plane)[shape.row_start(j)..][..shape.ni];
            row.iter().for_each(|x| expected.add(x.to_f64()));
        }
        let mut sum = ExactSum::new();
        let (value, special) = part.split_at(limbs);
        sum.merge_limbs(first, value, special.try_into().unwrap(), int(shape.ni * world.depth()) as u32);
        assert!(sum.limbs_mut() == expected.limbs_mut(), "{}: plane {plane}, tile {tile}, row {j}", rig.what());
    }
}

pub fn column_sums<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let (rows, emptied) = (world.rows(), world.random.once_in(2));
    let mut expected = ColumnSums::zeros(world.set.clone(), world.planes());
    expected.parts_mut().data_mut().iter_mut().for_each(|sum| *sum = world.value());
    let columns = rig.put(expected.parts().data());
    let state = rig.put(world.state.slabs().data());
    let arguments = [
        state,
        columns,
        rig.put(&world.tiles()),
        rig.put(&table(&rows)),
        Argument::Int(int(world.depth())),
        world.strides()[0],
        Argument::Int(i32::from(emptied)),
    ];
    rig.cover(KernelName::ColumnSums, world.widest(), [rows.len(), world.planes()], &arguments);
    expected.add_up(world.state.slabs());
    rig.assert_memory(columns, expected.parts().data());
    let mut left = world.state.slabs().clone();
    if emptied {
        for (tile, shape) in world.set.shapes().iter().enumerate() {
            for (level, plane) in (0..world.depth()).flat_map(|k| (0..world.planes()).map(move |p| (k, p))) {
                let cells = left.plane_mut(level, tile, plane);
                (0..shape.nj).for_each(|j| cells[shape.row_start(j)..][..shape.ni].fill(R::default()));
            }
        }
    }
    rig.assert_memory(state, left.data());
}
