//! Scratch of the sweeps, allocated once.

use crate::cpu::AlignedBuffer;
use crate::real::Scalar;
use crate::shape::TileShape;

/// Guard cells on either side of a row buffer: a cache line of f32, so that the first value stays aligned.
pub(crate) const GUARD: usize = 16;

/// Values handled by one pass of the row loops: small enough that all row buffers stay in the first-level cache.
const BATCH: usize = 288;

/// Row buffers of the X sweeps: mixing ratio, half slopes, edges, both profile offsets, fluxes.
const ROW_BUFFERS: usize = 6;

/// Cells across a seam.
pub(crate) const SEAM_CELLS: usize = 6;

/// Scratch for sweeps over the planes of a rank; one per thread.
#[derive(Debug)]
pub struct Workspace<R> {
    batch: usize,
    row_stride: usize,
    rows: AlignedBuffer<R>,
    seam_stride: usize,
    seam: AlignedBuffer<R>,
}

impl<R: Scalar> Workspace<R> {
    /// Scratch large enough for any plane and any seam of tiles of these shapes.
    pub fn new<'a>(shapes: impl IntoIterator<Item = &'a TileShape>) -> Self {
        let (mut pitch, mut side) = (TileShape::PITCH_UNIT, 1);
        for shape in shapes {
            pitch = pitch.max(shape.pitch);
            side = side.max(shape.ni.max(shape.nj));
        }
        let batch = BATCH.max(pitch);
        let row_stride = spread::<R>(batch + 2 * GUARD);
        let seam_stride = spread::<R>(side.next_multiple_of(GUARD));
        Self {
            batch,
            row_stride,
            rows: AlignedBuffer::zeros(ROW_BUFFERS * row_stride),
            seam_stride,
            seam: AlignedBuffer::zeros(SEAM_CELLS * seam_stride),
        }
    }

    /// Largest number of values one pass of the row loops may take.
    pub(crate) fn batch(&self) -> usize {
        self.batch
    }

    /// The row buffers, each with [`GUARD`] values before and after a batch.
    pub(crate) fn row_buffers(&mut self) -> [&mut [R]; ROW_BUFFERS] {
        split(&mut self.rows, self.row_stride)
    }

    /// Rows for the mixing ratios of the cells across a seam.
    pub(crate) fn seam_rows(&mut self) -> [&mut [R]; SEAM_CELLS] {
        split(&mut self.seam, self.seam_stride)
    }
}

/// Distance between buffers of `len` values such that they do not fall on the same sets of the first-level cache.
fn spread<R>(len: usize) -> usize {
    const PAGE: usize = 4096;
    let line = 64 / size_of::<R>();
    let mut stride = len.next_multiple_of(line);
    while (stride * size_of::<R>()) % PAGE < 256 {
        stride += line;
    }
    stride
}

fn split<R, const N: usize>(all: &mut [R], stride: usize) -> [&mut [R]; N] {
    let mut parts = all.chunks_exact_mut(stride);
    core::array::from_fn(|_| parts.next().expect("allocated as N strides"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_do_not_alias_in_the_cache_and_hold_a_row_of_the_widest_tile() {
        let shapes = [TileShape::new(720, 10, 3), TileShape::new(90, 90, 3)];
        let mut workspace = Workspace::<f64>::new(&shapes);
        assert!(workspace.batch() >= shapes[0].pitch);
        assert!(workspace.row_stride >= workspace.batch() + 2 * GUARD);
        assert!((workspace.row_stride * 8) % 4096 >= 256);
        let rows = workspace.row_buffers();
        assert!(rows.iter().all(|row| row.as_ptr() as usize % 64 == 0));
        assert!(workspace.seam_rows().iter().all(|row| row.len() >= 720));
    }
}
