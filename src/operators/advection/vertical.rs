//! Vertical sweeps: rows of columns, shared out over the threads.

use kernels::Scalar;
use kernels::cpu::{ColumnCoefficients, SweepStats, prepare_z};
use ndarray::{ArrayView1, ArrayView3, ArrayViewMut1, ArrayViewMut3, ArrayViewMut4, Axis, ShapeBuilder};
use rayon::prelude::*;

use super::{Sweeps, Winds};
use crate::operators::Threads;
use crate::state::{AIR, PackedState, Slabs};
use crate::timers::{self, Timed};

/// Work space of one thread for one row of columns.
pub(super) struct RowScratch<R> {
    air: Vec<R>,
    flux: Vec<R>,
    tracer: Vec<R>,
    passes: Vec<ColumnCoefficients<R>>,
}

/// Columns handled side by side are rounded up to this many.
const WIDTH_UNIT: usize = 16;

impl<R: Scalar> RowScratch<R> {
    pub(super) fn new(slabs: &Slabs<R>) -> Self {
        let shapes = slabs.tile_set().shapes();
        let width = shapes.iter().map(|s| s.ni.next_multiple_of(WIDTH_UNIT)).max().unwrap_or(0);
        let levels = slabs.levels();
        Self {
            air: vec![R::lit(1.0); levels * width],
            flux: vec![R::default(); (levels + 1) * width],
            tracer: vec![R::default(); levels * width],
            passes: (0..2).map(|_| ColumnCoefficients::new(width, levels)).collect(),
        }
    }
}

impl<R: Scalar> Sweeps<R> {
    /// `passes` vertical sweeps of all tiles.
    pub(super) fn vertical(
        &self,
        state: &mut PackedState<R>,
        winds: &Winds<'_, R>,
        scale: R,
        passes: usize,
        threads: &Threads,
    ) -> SweepStats {
        let _timed = timers::section(Timed::SweepZ);
        let slabs = state.slabs_mut();
        let (levels, planes, stride) = (slabs.levels(), slabs.planes(), slabs.level_stride());
        let set = slabs.tile_set().clone();
        let mut stats = SweepStats::default();
        for (tile, shape) in set.shapes().iter().enumerate() {
            let interior = shape.row_start(0);
            let width = shape.ni.next_multiple_of(WIDTH_UNIT);
            let flux = ArrayView3::from_shape(
                (levels + 1, shape.nj, shape.ni).strides((winds.z.level_stride(), shape.pitch, 1)),
                &winds.z.data()[winds.z.tile_offset(tile) + interior..],
            )
            .expect("a tile's faces lie within the wind storage");
            let first = slabs.tile_offset(tile) + interior;
            let mut columns = ArrayViewMut4::from_shape(
                (levels, planes, shape.nj, shape.ni).strides((stride, shape.plane_len(), shape.pitch, 1)),
                &mut slabs.data_mut()[first..],
            )
            .expect("a tile's planes lie within the state");
            stats = stats.merge(
                columns
                    .axis_iter_mut(Axis(2))
                    .into_par_iter()
                    .zip(flux.axis_iter(Axis(1)).into_par_iter())
                    .map(|(mut row, flux)| {
                        let scratch = &mut *self.row_scratch[threads.index()].lock().expect("a sweep does not panic");
                        let mut stats = SweepStats::default();
                        pad(&mut scratch.flux, width, levels + 1, shape.ni, R::lit(0.0));
                        gather(flux.outer_iter(), width, &mut scratch.flux);
                        // Two passes share one stay of the column in cache.
                        for done in (0..passes).step_by(2) {
                            stats =
                                stats.merge(self.sweep_row(&mut row, width, scale, (passes - done).min(2), scratch));
                        }
                        stats
                    })
                    .reduce(SweepStats::default, SweepStats::merge),
            );
        }
        stats
    }

    /// One or two passes over one row: air mass first, then every tracer.
    fn sweep_row(
        &self,
        row: &mut ArrayViewMut3<'_, R>,
        width: usize,
        scale: R,
        passes: usize,
        scratch: &mut RowScratch<R>,
    ) -> SweepStats {
        let RowScratch { air, flux, tracer, passes: coefficients } = scratch;
        let (levels, planes, _) = row.dim();
        let coefficients = &mut coefficients[..passes];
        let mut stats = SweepStats::default();
        pad(air, width, levels, row.dim().2, R::lit(1.0));
        gather(row.index_axis(Axis(1), AIR).outer_iter(), width, air);
        for pass in coefficients.iter_mut() {
            stats = stats.merge(prepare_z(width, levels, &mut air[..levels * width], flux, scale, pass));
        }
        scatter(air, width, row.index_axis_mut(Axis(1), AIR).outer_iter_mut());
        for plane in AIR + 1..planes {
            gather(row.index_axis(Axis(1), plane).outer_iter(), width, tracer);
            for pass in coefficients.iter() {
                self.kernel.sweep_z(width, levels, &mut tracer[..levels * width], pass);
            }
            scatter(tracer, width, row.index_axis_mut(Axis(1), plane).outer_iter_mut());
        }
        stats
    }
}

/// Copies rows of a strided block into contiguous rows of `width`.
fn gather<'a, R: Scalar>(rows: impl Iterator<Item = ArrayView1<'a, R>>, width: usize, into: &mut [R]) {
    for (row, into) in rows.zip(into.chunks_exact_mut(width)) {
        let row = row.to_slice().expect("i is contiguous");
        into[..row.len()].copy_from_slice(row);
    }
}

/// Copies contiguous rows of `width` back into a strided block.
fn scatter<'a, R: Scalar>(from: &[R], width: usize, rows: impl Iterator<Item = ArrayViewMut1<'a, R>>) {
    for (row, from) in rows.zip(from.chunks_exact(width)) {
        let row = row.into_slice().expect("i is contiguous");
        row.copy_from_slice(&from[..row.len()]);
    }
}

/// Fills the lanes beyond `used` of each row, so that they hold finite numbers.
fn pad<R: Scalar>(block: &mut [R], width: usize, rows: usize, used: usize, value: R) {
    if used < width {
        block.chunks_exact_mut(width).take(rows).for_each(|row| row[used..].fill(value));
    }
}
