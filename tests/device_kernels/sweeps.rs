//! Sweeps of the tracers, and what else one preparation of a sweep gives.

use atmostr::device::Argument;
use kernels::Scalar;
use kernels::TileShape;
use kernels::cpu::{
    ColumnCoefficients, FaceCoefficients, SPLINE_LAYERS, SplineCoefficients, SplineWorkspace, SweepKernel, SweepStats,
    TransferPlanes, Workspace, fuse_columns, prepare_spline, prepare_x, prepare_y, prepare_z, sweep_spline,
};
use kernels::device::KernelName;
use kernels::numerics::{fused_parts, outflow_ratio};
use kernels::scheme::{Scheme, Sign, kernel};

use atmostr::state::Slabs;

use crate::device::same;
use crate::rig::{Rig, copy_interior, int, real};
use crate::world::{World, table};

/// Air after a sweep of one plane along axis 0 or 1, and what the sweep saw; tracers are swept with `faces`.
pub fn prepare<R: Scalar>(
    world: &World<R>,
    axis: usize,
    (level, tile): (usize, usize),
    faces: &mut FaceCoefficients<R>,
) -> (Vec<R>, SweepStats) {
    let shape = &world.set.shapes()[tile];
    let mut air = world.state.slabs().plane(level, tile, 0).to_vec();
    let flux = world.fluxes[axis].plane(level, tile, 0);
    let prepare = [prepare_x, prepare_y][axis];
    let stats = prepare(shape, &mut air, flux, world.scale, world.ends(tile, axis), faces);
    (air, stats)
}

/// Books of the gains of cells and of the fluxes through them.
type Books<R> = [Slabs<R>; 2];

/// Books that hold something.
fn books<R: Scalar>(world: &mut World<R>) -> Books<R> {
    [0, 1].map(|_| {
        let mut book = world.state.slabs().clone();
        book.data_mut().iter_mut().for_each(|value| *value = world.value());
        book
    })
}

/// A sweep along axis 0 or 1 by the processor: all values of the state, and the number of clamped faces. Adds to the books.
fn horizontal<R: Scalar>(world: &World<R>, axis: usize, scheme: Scheme, books: &mut Books<R>) -> (Vec<R>, u64) {
    let shapes = world.set.shapes();
    let (mut faces, mut workspace) = (FaceCoefficients::new(shapes), Workspace::new(shapes));
    let sweeps: &dyn SweepKernel<R> = kernel(scheme);
    let mut expected = world.state.slabs().clone();
    let mut clamped = 0;
    for level in world.levels.clone() {
        for (tile, shape) in shapes.iter().enumerate() {
            clamped += prepare(world, axis, (level, tile), &mut faces).1.clamped;
            for plane in 1..world.planes() {
                let mut tracer = world.state.slabs().plane(level, tile, plane).to_vec();
                let mut of_cells = [0, 1].map(|book: usize| books[book].plane(level, tile, plane).to_vec());
                let [gain, through] = &mut of_cells;
                let transfers = Some(TransferPlanes { gain, through });
                match axis {
                    0 => sweeps.sweep_x(shape, &mut tracer, &faces, transfers, &mut workspace),
                    _ => sweeps.sweep_y(shape, &mut tracer, &faces, transfers, &mut workspace),
                }
                for (book, found) in books.iter_mut().zip(&of_cells) {
                    copy_interior(shape, found, book.plane_mut(level, tile, plane));
                }
                copy_interior(shape, &tracer, expected.plane_mut(level, tile, plane));
            }
        }
    }
    (expected.data().to_vec(), clamped)
}

pub fn sweep_x<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let state = rig.put(world.state.slabs().data());
    let (mut books, booked) = (books(world), world.random.once_in(2));
    let [gain, through] = [0, 1].map(|n: usize| rig.put(books[n].data()));
    let rows = world.rows();
    let [stride, field_stride] = world.strides();
    let counter = rig.put(&[0_i32]);
    let arguments = [
        state,
        rig.put(world.fluxes[0].data()),
        rig.put(&world.tiles()),
        rig.put(&table(&rows)),
        counter,
        Argument::Int(int(rows.len())),
        real(world.scale),
        Argument::Int(int(world.planes())),
        stride,
        field_stride,
        Argument::Int(int(world.levels.start)),
        gain,
        through,
        Argument::Int(i32::from(booked)),
    ];
    rig.cover(KernelName::SweepX, rows.len(), [world.levels.len(), 1], &arguments);
    let untouched = books.clone();
    let (expected, clamped) = horizontal(world, 0, rig.scheme, &mut books);
    rig.assert_memory(state, &expected);
    let books = if booked { books } else { untouched };
    rig.assert_memory(gain, books[0].data());
    rig.assert_memory(through, books[1].data());
    rig.assert_clamped(counter, clamped);
}

pub fn sweep_y<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let state = rig.put(world.state.slabs().data());
    let (mut books, booked) = (books(world), world.random.once_in(2));
    let [gain, through] = [0, 1].map(|n: usize| rig.put(books[n].data()));
    let width = rig.shapes.items(KernelName::SweepY);
    let shapes = world.set.shapes().iter().enumerate();
    let blocks: Vec<_> = shapes.flat_map(|(t, s)| (0..s.ni).step_by(width).map(move |i| (t, i))).collect();
    let [stride, field_stride] = world.strides();
    let counter = rig.put(&[0_i32]);
    let arguments = [
        state,
        rig.put(world.fluxes[1].data()),
        rig.put(&world.tiles()),
        rig.put(&table(&blocks)),
        counter,
        real(world.scale),
        stride,
        field_stride,
        Argument::Int(int(world.levels.start)),
        gain,
        through,
        Argument::Int(i32::from(booked)),
    ];
    rig.launch(KernelName::SweepY, [blocks.len(), world.planes() - 1, world.levels.len()], &arguments);
    let untouched = books.clone();
    let (expected, clamped) = horizontal(world, 1, rig.scheme, &mut books);
    rig.assert_memory(state, &expected);
    let books = if booked { books } else { untouched };
    rig.assert_memory(gain, books[0].data());
    rig.assert_memory(through, books[1].data());
    rig.assert_clamped(counter, clamped);
}

/// A row of columns as the processor takes it: `depth` layers, padded to whole cache lines.
struct Row {
    tile: usize,
    /// Position of the first cell in a plane.
    at: usize,
    ni: usize,
    width: usize,
}

impl Row {
    fn new<R: Scalar>(world: &World<R>, (tile, j): (usize, usize)) -> Self {
        let shape = &world.set.shapes()[tile];
        let width = shape.ni.next_multiple_of(TileShape::PITCH_UNIT);
        Self { tile, at: shape.row_start(j), ni: shape.ni, width }
    }

    /// The cells of a plane in all levels; `padding` beyond the row.
    fn gather<R: Scalar>(&self, slabs: &Slabs<R>, plane: usize, padding: f64) -> Vec<R> {
        let mut block = vec![R::from_f64(padding); slabs.levels() * self.width];
        for (level, layer) in block.chunks_exact_mut(self.width).enumerate() {
            layer[..self.ni].copy_from_slice(&slabs.plane(level, self.tile, plane)[self.at..self.at + self.ni]);
        }
        block
    }

    fn scatter<R: Scalar>(&self, block: &[R], slabs: &mut Slabs<R>, plane: usize) {
        for (level, layer) in block.chunks_exact(self.width).enumerate() {
            slabs.plane_mut(level, self.tile, plane)[self.at..self.at + self.ni].copy_from_slice(&layer[..self.ni]);
        }
    }
}

/// A vertical sweep as a part of a pair: which part, and which columns take both at once.
pub struct Paired<R: Scalar> {
    part: i32,
    allowed: Slabs<R>,
    /// Fluxes of the part.
    fluxes: Slabs<R>,
}

impl<R: Scalar> Paired<R> {
    pub fn new(world: &mut World<R>) -> Self {
        let part = world.random.below(3);
        let mut allowed = Slabs::zeros(world.set.clone(), 1, 1);
        allowed.data_mut().iter_mut().for_each(|one| *one = R::from_f64(f64::from(u8::from(world.random.once_in(2)))));
        let mut fluxes = world.fluxes[2].clone();
        for level in 0..if part == 0 { 0 } else { fluxes.levels() } {
            for tile in 0..world.set.len() {
                let flags = allowed.plane(0, tile, 0);
                for (flux, allowed) in fluxes.plane_mut(level, tile, 0).iter_mut().zip(flags) {
                    let parts = fused_parts(*allowed);
                    *flux = if part == 1 { parts.0 } else { parts.1 } * *flux;
                }
            }
        }
        Self { part: int(part), allowed, fluxes }
    }

    /// Both as arguments.
    pub fn arguments(&self, rig: &mut Rig<R>) -> [Argument; 2] {
        [rig.put(self.allowed.data()), Argument::Int(self.part)]
    }
}

/// Vertical sweeps of the tracers of a row.
pub enum Vertical {
    Profiles(Scheme),
    /// One sign for each tracer.
    Spline(Vec<Sign>),
}

/// A vertical sweep by the processor: air and tracers of the state, and the number of clamped faces.
pub fn vertical<R: Scalar>(world: &World<R>, fluxes: &Slabs<R>, sweeps: &Vertical) -> ([Vec<R>; 2], u64) {
    let (depth, before) = (world.depth(), world.state.slabs());
    let (mut air, mut tracers) = (before.clone(), before.clone());
    let mut clamped = 0;
    for row in world.rows() {
        let row = Row::new(world, row);
        let mut faces = ColumnCoefficients::new(row.width, depth);
        let flux = row.gather(fluxes, 0, 0.0);
        let mut mass = row.gather(before, 0, 1.0);
        let mut spline = SplineCoefficients::new(row.width, depth);
        if let Vertical::Spline(_) = sweeps {
            prepare_spline(row.width, depth, &mass, &mut spline);
        }
        clamped += prepare_z(row.width, depth, &mut mass, &flux, world.scale, &mut faces).clamped;
        row.scatter(&mass, &mut air, 0);
        for plane in 1..world.planes() {
            let mut tracer = row.gather(before, plane, 0.0);
            match sweeps {
                Vertical::Profiles(scheme) => kernel(*scheme).sweep_z(row.width, depth, &mut tracer, &faces),
                Vertical::Spline(signs) => {
                    let mut workspace = SplineWorkspace::new(depth);
                    let sign = signs[plane - 1];
                    sweep_spline(sign, row.width, depth, &mut tracer, &faces, &spline, &mut workspace);
                }
            }
            row.scatter(&tracer, &mut tracers, plane);
        }
    }
    ([air, tracers].map(|slabs| slabs.data().to_vec()), clamped)
}

/// Air after a vertical sweep by the processor: all values of the state.
pub fn vertical_air<R: Scalar>(world: &World<R>, paired: &Paired<R>) -> Vec<R> {
    let ([air, _], _) = vertical(world, &paired.fluxes, &Vertical::Profiles(Scheme::Upwind));
    air
}

pub fn sweep_z<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let state = rig.put(world.state.slabs().data());
    let rows = world.rows();
    let [stride, field_stride] = world.strides();
    let counter = rig.put(&[0_i32]);
    let paired = Paired::new(world);
    let [allowed, part] = paired.arguments(rig);
    let arguments = [
        state,
        rig.put(world.fluxes[2].data()),
        rig.put(&world.tiles()),
        rig.put(&table(&rows)),
        counter,
        real(world.scale),
        Argument::Int(int(world.depth())),
        stride,
        field_stride,
        allowed,
        part,
    ];
    rig.cover(KernelName::SweepZ, world.widest(), [world.planes() - 1, rows.len()], &arguments);
    let ([_, expected], clamped) = vertical(world, &paired.fluxes, &Vertical::Profiles(rig.scheme));
    rig.assert_memory(state, &expected);
    rig.assert_clamped(counter, clamped);
}

/// A random sign for each tracer.
fn signs<R: Scalar>(world: &mut World<R>) -> Vec<Sign> {
    (1..world.planes()).map(|_| if world.random.once_in(2) { Sign::Any } else { Sign::NonNegative }).collect()
}

/// The two kernels of sweeps with spline profiles, some tracers at a time.
pub fn spline<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    if world.depth() < SPLINE_LAYERS {
        return;
    }
    let state = rig.put(world.state.slabs().data());
    let rows = world.rows();
    let [stride, field_stride] = world.strides();
    let counter = rig.put(&[0_i32]);
    let paired = Paired::new(world);
    let [allowed, part] = paired.arguments(rig);
    let (flux, tiles) = (rig.put(world.fluxes[2].data()), rig.put(&world.tiles()));
    let listed = rig.put(&table(&rows));
    let field = vec![R::default(); world.fluxes[2].data().len()];
    let (at_once, tracers) = (1 + world.random.below(3), world.planes() - 1);
    let [ratios, pivots, uppers] = std::array::from_fn(|_| rig.put(&field));
    let edges = rig.put(&vec![R::default(); at_once * world.fluxes[0].data().len()]);
    let levels = Argument::Int(int(world.depth()));
    let arguments = [state, ratios, pivots, uppers, tiles, listed, levels, stride, field_stride];
    rig.cover(KernelName::SplineRows, world.widest(), [rows.len(), 1], &arguments);
    let signs = signs(world);
    let numbers: Vec<i32> = signs.iter().map(|sign| i32::from(*sign == Sign::Any)).collect();
    let signs_there = rig.put(&numbers);
    for first in (0..tracers).step_by(at_once) {
        let arguments = [
            state,
            flux,
            ratios,
            pivots,
            uppers,
            edges,
            allowed,
            signs_there,
            tiles,
            listed,
            counter,
            real(world.scale),
            part,
            Argument::Int(int(first)),
            levels,
            stride,
            field_stride,
        ];
        let count = at_once.min(tracers - first);
        rig.cover(KernelName::SweepSpline, world.widest(), [count, rows.len()], &arguments);
    }
    let ([_, expected], clamped) = vertical(world, &paired.fluxes, &Vertical::Spline(signs));
    rig.assert_memory(state, &expected);
    rig.assert_clamped(counter, clamped);
}

/// Columns that take two sweeps at once.
pub fn fuse<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let rows = world.rows();
    let [stride, field_stride] = world.strides();
    let mut expected = Slabs::zeros(world.set.clone(), 1, 1);
    let allowed = rig.put(expected.data());
    // Weak enough for some columns.
    let scale = R::from_f64(0.1) * world.scale;
    let arguments = [
        rig.put(world.state.slabs().data()),
        rig.put(world.fluxes[2].data()),
        allowed,
        rig.put(&world.tiles()),
        rig.put(&table(&rows)),
        real(scale),
        Argument::Int(int(world.depth())),
        stride,
        field_stride,
    ];
    rig.cover(KernelName::FuseColumns, world.widest(), [rows.len(), 1], &arguments);
    for place in rows {
        let row = Row::new(world, place);
        let ones = vec![R::from_f64(1.0); (world.depth() + 1) * row.width];
        let mut parts = [ones.clone(), ones];
        let (mass, flux) = (row.gather(world.state.slabs(), 0, 1.0), row.gather(&world.fluxes[2], 0, 0.0));
        let [first, second] = &mut parts;
        // Fluxes of 1 in the row below the last would show the factors; there are only the fluxes themselves.
        fuse_columns(row.width, world.depth(), &mass, &flux, scale, [first, second]);
        let allowed: Vec<R> =
            (0..row.width).map(|column| allowed_of(column, &row, world.depth(), &mass, &flux, scale)).collect();
        for (column, allowed) in allowed.iter().enumerate() {
            let (one, two) = fused_parts(*allowed);
            for at in (0..=world.depth()).map(|k| k * row.width + column) {
                assert!(same(first[at], one * flux[at]) && same(second[at], two * flux[at]), "{}", rig.what());
            }
        }
        row.scatter(&allowed, &mut expected, 0);
    }
    rig.assert_memory(allowed, expected.data());
}

/// Whether a column takes both, from each of its cells.
fn allowed_of<R: Scalar>(column: usize, row: &Row, depth: usize, mass: &[R], flux: &[R], scale: R) -> R {
    let zero = R::default();
    let at = |k: usize| k * row.width + column;
    let within = (0..depth).all(|k| {
        let top = if k == 0 { zero } else { flux[at(k)] };
        let bottom = if k + 1 == depth { zero } else { flux[at(k + 1)] };
        outflow_ratio(mass[at(k)], scale, zero, zero, zero, zero, top, bottom) <= R::from_f64(0.95)
    });
    R::from_f64(f64::from(u8::from(within)))
}
