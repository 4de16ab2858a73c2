//! Blocks of rows: how the columns of a tile are taken side by side, and what is kept for each column.

use std::ops::Range;

use kernels::columns::ColumnBlock;
use kernels::{Scalar, TileShape};
use ndarray::{ArrayView2, ArrayViewMut2};

use crate::state::{Slabs, TileSet};

/// Columns that make the loops over columns long enough; short rows of a tile are put together up to this many.
const COLUMNS: usize = 96;

/// The rows of a tile in groups whose columns are worked on side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowBlocks {
    rows: usize,
    ni: usize,
    nj: usize,
}

impl RowBlocks {
    /// Groups of the rows of a tile.
    pub fn new(shape: &TileShape) -> Self {
        Self { rows: (COLUMNS / shape.ni.max(1)).clamp(1, shape.nj.max(1)), ni: shape.ni, nj: shape.nj }
    }

    /// Rows of a group; the last one may have fewer.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of groups.
    pub fn count(&self) -> usize {
        self.nj.div_ceil(self.rows)
    }

    /// Interior rows of group `n`.
    pub fn range(&self, n: usize) -> Range<usize> {
        n * self.rows..((n + 1) * self.rows).min(self.nj)
    }

    /// Shape of a block of `rows` rows with `nk` layers.
    pub fn block(&self, rows: usize, nk: usize) -> ColumnBlock {
        ColumnBlock::new(rows * self.ni, nk)
    }

    /// Values of a layer of a whole group.
    pub fn width(&self) -> usize {
        self.block(self.rows, 1).width()
    }
}

/// Largest width of a block of any tile.
pub fn widest(set: &TileSet) -> usize {
    set.shapes().iter().map(|shape| RowBlocks::new(shape).width()).max().unwrap_or(0)
}

/// Values kept for every column: `fields` of them, tile by tile and block by block, so that a block's values are
/// contiguous.
#[derive(Clone, Debug)]
pub struct ColumnStore<R> {
    fields: usize,
    tiles: Vec<(usize, RowBlocks)>,
    data: Vec<R>,
}

impl<R: Scalar> ColumnStore<R> {
    /// Bytes of a store of this size.
    pub fn bytes(set: &TileSet, fields: usize) -> u64 {
        let values = |shape| {
            let blocks = RowBlocks::new(shape);
            blocks.count() * blocks.width() * fields
        };
        (set.shapes().iter().map(values).sum::<usize>() * size_of::<R>()) as u64
    }

    /// Zeros.
    pub fn zeros(set: &TileSet, fields: usize) -> Self {
        let mut end = 0;
        let place = |shape| {
            let blocks = RowBlocks::new(shape);
            let start = end;
            end += blocks.count() * blocks.width() * fields;
            (start, blocks)
        };
        let tiles = set.shapes().iter().map(place).collect();
        Self { fields, tiles, data: vec![R::default(); end] }
    }

    /// Values of one block of a tile: `fields` times the width of a whole group.
    pub fn block_len(&self, tile: usize) -> usize {
        self.fields * self.tiles[tile].1.width()
    }

    /// All values of a tile, block after block.
    pub fn tile_mut(&mut self, tile: usize) -> &mut [R] {
        let (start, blocks) = self.tiles[tile];
        &mut self.data[start..start + blocks.count() * blocks.width() * self.fields]
    }

    /// Value of a field in a column of a tile.
    pub fn get(&self, field: usize, tile: usize, j: usize, i: usize) -> R {
        self.data[self.index(field, tile, j, i)]
    }

    /// The same, to be written.
    pub fn get_mut(&mut self, field: usize, tile: usize, j: usize, i: usize) -> &mut R {
        let at = self.index(field, tile, j, i);
        &mut self.data[at]
    }

    fn index(&self, field: usize, tile: usize, j: usize, i: usize) -> usize {
        let (start, blocks) = self.tiles[tile];
        let (block, row) = (j / blocks.rows, j % blocks.rows);
        start + (block * self.fields + field) * blocks.width() + row * blocks.ni + i
    }

    /// Values of a field in all columns of the model, in no particular order.
    pub fn values<'a>(&'a self, field: usize, set: &'a TileSet) -> impl Iterator<Item = R> + 'a {
        let cells = |(tile, shape): (usize, &TileShape)| {
            let ni = shape.ni;
            (0..shape.nj * ni).map(move |n| (tile, n / ni, n % ni))
        };
        set.shapes().iter().enumerate().flat_map(cells).map(move |(tile, j, i)| self.get(field, tile, j, i))
    }

    /// Copies a field into the first plane of the lowest level of a storage on the same tiles.
    pub fn read(&self, field: usize, into: &mut Slabs<R>) {
        let set = into.tile_set().clone();
        for (tile, shape) in set.shapes().iter().enumerate() {
            let plane = into.plane_mut(0, tile, 0);
            for j in 0..shape.nj {
                let row = &mut plane[shape.row_start(j)..][..shape.ni];
                row.iter_mut().enumerate().for_each(|(i, into)| *into = self.get(field, tile, j, i));
            }
        }
    }

    /// Copies a field from there.
    pub fn write(&mut self, field: usize, from: &Slabs<R>) {
        for (tile, shape) in from.tile_set().shapes().iter().enumerate() {
            let plane = from.plane(0, tile, 0);
            for j in 0..shape.nj {
                let row = &plane[shape.row_start(j)..][..shape.ni];
                row.iter().enumerate().for_each(|(i, value)| *self.get_mut(field, tile, j, i) = *value);
            }
        }
    }

    /// Sets a field to zero everywhere.
    pub fn clear(&mut self, field: usize) {
        for (start, blocks) in &self.tiles {
            for block in 0..blocks.count() {
                let at = start + (block * self.fields + field) * blocks.width();
                self.data[at..at + blocks.width()].fill(R::default());
            }
        }
    }
}

/// Copies layers of rows `(level, row, i)` of a strided field into a block of `width` values per layer.
pub fn gather<'a, R: Scalar>(layers: impl Iterator<Item = ArrayView2<'a, R>>, width: usize, into: &mut [R]) {
    for (layer, into) in layers.zip(into.chunks_exact_mut(width)) {
        let ni = layer.ncols();
        for (row, into) in layer.rows().into_iter().zip(into.chunks_exact_mut(ni)) {
            into.copy_from_slice(row.to_slice().expect("i is contiguous"));
        }
    }
}

/// Copies a block of `width` values per layer back into layers of rows of a strided field.
pub fn scatter<'a, R: Scalar>(from: &[R], width: usize, layers: impl Iterator<Item = ArrayViewMut2<'a, R>>) {
    for (mut layer, from) in layers.zip(from.chunks_exact(width)) {
        let ni = layer.ncols();
        for (row, from) in layer.rows_mut().into_iter().zip(from.chunks_exact(ni)) {
            row.into_slice().expect("i is contiguous").copy_from_slice(from);
        }
    }
}

/// Fills the columns that pad a block, so that they hold finite numbers.
pub fn pad<R: Scalar>(values: &mut [R], block: ColumnBlock, layers: usize, value: R) {
    if block.columns() < block.width() {
        values.chunks_exact_mut(block.width()).take(layers).for_each(|layer| layer[block.columns()..].fill(value));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use decomposition::{Panel, Tile};

    use super::*;

    fn set() -> Arc<TileSet> {
        let tile = |id, ni, nj| Tile { id, panel: Panel::ALL[0], i0: 0, j0: 0, ni, nj, rank: 0 };
        Arc::new(TileSet::new(vec![tile(0, 24, 7), tile(1, 90, 3), tile(2, 5, 2)], 3))
    }

    #[test]
    fn short_rows_are_put_together() {
        let blocks: Vec<RowBlocks> = set().shapes().iter().map(RowBlocks::new).collect();
        assert_eq!(blocks.iter().map(RowBlocks::rows).collect::<Vec<_>>(), [4, 1, 2]);
        assert_eq!(blocks.iter().map(RowBlocks::width).collect::<Vec<_>>(), [96, 96, 32]);
        assert_eq!((blocks[0].count(), blocks[0].range(1)), (2, 4..7));
        assert_eq!(widest(&set()), 96);
    }

    #[test]
    fn every_column_has_a_place_of_its_own() {
        let set = set();
        let mut store = ColumnStore::<f64>::zeros(&set, 3);
        let mut n = 0.0;
        for (tile, shape) in set.shapes().iter().enumerate() {
            for (field, j, i) in
                (0..3).flat_map(|f| (0..shape.nj).flat_map(move |j| (0..shape.ni).map(move |i| (f, j, i))))
            {
                n += 1.0;
                *store.get_mut(field, tile, j, i) = n;
            }
        }
        let sum: f64 = (0..3).flat_map(|field| store.values(field, &set).collect::<Vec<_>>()).sum();
        assert_eq!(sum, n * (n + 1.0) / 2.0);
        store.clear(1);
        assert!(store.values(1, &set).all(|x| x == 0.0) && store.values(2, &set).all(|x| x > 0.0));
    }
}
