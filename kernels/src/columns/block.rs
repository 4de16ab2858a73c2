//! Shape of a block of columns, and the lines of vector lanes it is cut into.

/// Shape of a block of columns: `nk` layers of `width` contiguous values, top first.
///
/// The first `columns` of each layer are columns of the model, the others pad it. Padding goes through
/// the same arithmetic and counts nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColumnBlock {
    columns: usize,
    width: usize,
    nk: usize,
}

impl ColumnBlock {
    /// Columns that are worked on together at most; widths are multiples of it.
    pub const UNIT: usize = 32;

    /// Block of `columns` columns of `nk` layers, padded to a multiple of 32 columns. Several short rows of a tile are
    /// best put into one block.
    pub fn new(columns: usize, nk: usize) -> Self {
        Self { columns, width: columns.next_multiple_of(Self::UNIT), nk }
    }

    /// Columns of the model.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Values of a layer; a multiple of [`UNIT`](Self::UNIT).
    pub fn width(&self) -> usize {
        self.width
    }

    /// Layers.
    pub fn nk(&self) -> usize {
        self.nk
    }

    /// Values of the block, `nk · width`.
    pub fn values(&self) -> usize {
        self.nk * self.width
    }

    /// Lines of `W` columns.
    #[inline(always)]
    pub(super) fn lines<const W: usize>(&self) -> usize {
        self.width / W
    }

    /// Columns of the model in a line.
    #[inline(always)]
    pub(super) fn columns_of_line<const W: usize>(&self, line: usize) -> usize {
        self.columns.saturating_sub(line * W).min(W)
    }

    /// The values of this block in `field`, cut into lines: layer k of line l is at `k · lines + l`. Panics if there are
    /// fewer.
    #[inline(always)]
    pub(super) fn cut<'a, R, const W: usize>(&self, field: &'a [R]) -> &'a [[R; W]] {
        field[..self.values()].as_chunks::<W>().0
    }

    /// As [`cut`](Self::cut), to be written.
    #[inline(always)]
    pub(super) fn cut_mut<'a, R, const W: usize>(&self, field: &'a mut [R]) -> &'a mut [[R; W]] {
        field[..self.values()].as_chunks_mut::<W>().0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_padded_to_cache_lines() {
        let block = ColumnBlock::new(35, 7);
        assert_eq!((block.columns(), block.width(), block.nk(), block.values()), (35, 64, 7, 448));
        let counts: Vec<usize> = (0..block.lines::<8>()).map(|line| block.columns_of_line::<8>(line)).collect();
        assert_eq!(counts, [8, 8, 8, 8, 3, 0, 0, 0]);
    }
}
