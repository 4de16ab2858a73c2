//! Level-major storage: everything a rank holds at one level is one contiguous slab.
//!
//! A slab lists, tile by tile, `planes` padded planes (for the packed state: air mass, then the tracers). Horizontal
//! work on a level (halo copies, X and Y sweeps of all tiles and tracers) therefore touches one contiguous piece of
//! memory that fits the cache, and levels can be shared out over threads without any unsafe code.

use std::ops::Range;
use std::sync::Arc;

use decomposition::Tile;
use kernels::{Scalar, TileShape};

/// The tiles of one rank with their padded shapes, in the order of the layout.
#[derive(Clone, Debug, PartialEq)]
pub struct TileSet {
    tiles: Vec<Tile>,
    shapes: Vec<TileShape>,
}

impl TileSet {
    /// Tiles with a common halo width in cells.
    pub fn new(tiles: Vec<Tile>, halo: usize) -> Self {
        let shapes = tiles.iter().map(|t| TileShape::new(t.ni, t.nj, halo)).collect();
        Self { tiles, shapes }
    }

    /// The tiles.
    pub fn tiles(&self) -> &[Tile] {
        &self.tiles
    }

    /// Padded plane shape of each tile.
    pub fn shapes(&self) -> &[TileShape] {
        &self.shapes
    }

    /// Position within the set of the tile with this layout id, if it belongs to the set.
    pub fn local(&self, id: usize) -> Option<usize> {
        self.tiles.iter().position(|t| t.id == id)
    }

    /// Number of tiles.
    pub fn len(&self) -> usize {
        self.tiles.len()
    }

    /// Whether the rank owns no tile.
    pub fn is_empty(&self) -> bool {
        self.tiles.is_empty()
    }
}

/// `levels × tiles × planes` padded planes of one rank.
#[derive(Clone, Debug)]
pub struct Slabs<R> {
    set: Arc<TileSet>,
    levels: usize,
    planes: usize,
    level_stride: usize,
    tile_ranges: Arc<[Range<usize>]>,
    data: Vec<R>,
}

/// Values between the slabs of levels. Columns step by slab and gap: a multiple of 4 KiB would map every level onto the
/// same cache sets.
const SPREAD: usize = 64;

impl<R: Scalar> Slabs<R> {
    /// Bytes of a storage of this size.
    pub fn bytes(set: &TileSet, levels: usize, planes: usize) -> u64 {
        let slab: usize = set.shapes().iter().map(|shape| planes * shape.plane_len()).sum();
        ((slab + SPREAD) * levels * size_of::<R>()) as u64
    }

    /// Zero-filled storage.
    pub fn zeros(set: Arc<TileSet>, levels: usize, planes: usize) -> Self {
        let mut slab = 0;
        let tile_ranges = set
            .shapes()
            .iter()
            .map(|shape| {
                let start = slab;
                slab += planes * shape.plane_len();
                start..slab
            })
            .collect();
        let level_stride = slab + SPREAD;
        Self { data: vec![R::default(); level_stride * levels], set, levels, planes, level_stride, tile_ranges }
    }

    /// The tiles stored here.
    pub fn tile_set(&self) -> &Arc<TileSet> {
        &self.set
    }

    /// Number of levels.
    pub fn levels(&self) -> usize {
        self.levels
    }

    /// Number of planes per tile and level.
    pub fn planes(&self) -> usize {
        self.planes
    }

    /// Distance between levels, in values.
    pub fn level_stride(&self) -> usize {
        self.level_stride
    }

    /// Position, within a level's slab, of the first plane of `tile`.
    pub fn tile_offset(&self, tile: usize) -> usize {
        self.tile_ranges[tile].start
    }

    /// Part of a level's slab that each tile occupies.
    pub fn tile_ranges(&self) -> Arc<[Range<usize>]> {
        self.tile_ranges.clone()
    }

    fn range(&self, level: usize, tile: usize, plane: usize) -> Range<usize> {
        assert!(level < self.levels && plane < self.planes);
        let len = self.set.shapes()[tile].plane_len();
        let start = level * self.level_stride + self.tile_ranges[tile].start + plane * len;
        start..start + len
    }

    /// One padded plane.
    pub fn plane(&self, level: usize, tile: usize, plane: usize) -> &[R] {
        &self.data[self.range(level, tile, plane)]
    }

    /// One padded plane, mutable.
    pub fn plane_mut(&mut self, level: usize, tile: usize, plane: usize) -> &mut [R] {
        let range = self.range(level, tile, plane);
        &mut self.data[range]
    }

    /// The slab of one level.
    pub fn level(&self, level: usize) -> &[R] {
        &self.data[level * self.level_stride..(level + 1) * self.level_stride]
    }

    /// All values, level after level.
    pub fn data(&self) -> &[R] {
        &self.data
    }

    /// All values, mutable.
    pub fn data_mut(&mut self) -> &mut [R] {
        &mut self.data
    }
}
