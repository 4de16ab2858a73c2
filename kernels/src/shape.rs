//! Padded horizontal plane of one tile: the unit all horizontal loops work on.

/// Shape of one padded plane: `rows × pitch` values, i contiguous.
///
/// Interior cells are `i ∈ 0..ni`, `j ∈ 0..nj`; halo cells have `i` or `j` in `-halo..0` and `n..n+halo`.
/// Face values use the same plane: face `i` (`j`) is the west (south) side of cell `i` (`j`), so the last
/// face of the tile lies at `i = ni` (`j = nj`) and needs `halo ≥ 1`.
/// Cells of the plane beyond `ni + 2·halo` pad the row to whole cache lines; they hold finite values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileShape {
    /// Interior cells along i.
    pub ni: usize,
    /// Interior cells along j.
    pub nj: usize,
    /// Halo width in cells, at least 1.
    pub halo: usize,
    /// Distance between rows, in values; a multiple of 16.
    pub pitch: usize,
    /// Number of padded rows, `nj + 2·halo`.
    pub rows: usize,
}

impl TileShape {
    /// Row pitch granularity in values: one cache line of f32.
    pub const PITCH_UNIT: usize = 16;

    /// Shape of a tile of `ni × nj` cells with a halo of `halo` cells (raised to 1, since the last face needs a place).
    pub fn new(ni: usize, nj: usize, halo: usize) -> Self {
        let halo = halo.max(1);
        let pitch = (ni + 2 * halo).next_multiple_of(Self::PITCH_UNIT);
        Self { ni, nj, halo, pitch, rows: nj + 2 * halo }
    }

    /// Number of values of one plane.
    pub fn plane_len(&self) -> usize {
        self.rows * self.pitch
    }

    /// Position of cell or face `(i, j)` within the plane; `i`, `j` count from the first interior cell and may be negative.
    #[inline(always)]
    pub fn index(&self, i: isize, j: isize) -> usize {
        let h = self.halo as isize;
        debug_assert!(i >= -h && i < (self.ni as isize) + h && j >= -h && j < (self.nj as isize) + h);
        ((j + h) * self.pitch as isize + i + h) as usize
    }

    /// Position of the first interior cell of interior row `j`.
    #[inline(always)]
    pub fn row_start(&self, j: usize) -> usize {
        (j + self.halo) * self.pitch + self.halo
    }
}
