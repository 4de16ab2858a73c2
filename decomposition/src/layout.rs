//! Cutting the panels into tiles and sharing the tiles among ranks.

use serde::{Deserialize, Serialize};

use crate::split::{largest_usable_ranks, most_even_grid, split_evenly};
use crate::{Edge, Panel, PanelConvention, Tile};

/// Tiles per panel along i and j, the same on all six panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TileGrid {
    /// Tiles along i.
    pub px: usize,
    /// Tiles along j.
    pub py: usize,
}

impl TileGrid {
    /// Tiles on the whole sphere.
    pub fn tiles(self) -> usize {
        6usize.saturating_mul(self.px).saturating_mul(self.py)
    }
}

impl std::fmt::Display for TileGrid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} x {}", self.px, self.py)
    }
}

/// Why a layout cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Panels without cells.
    #[error("a panel needs at least one cell along its edge")]
    NoCells,
    /// More cells than indices are made for.
    #[error("{nc} cells along a panel edge are more than the largest supported, {largest}")]
    PanelTooLarge {
        /// Cells along a panel edge.
        nc: usize,
        /// Largest supported number.
        largest: usize,
    },
    /// No rank to own the tiles.
    #[error("at least one rank is needed")]
    NoRanks,
    /// Halo strips would reach beyond the neighbouring panel.
    #[error("a halo of {halo} cells is wider than a panel of {nc} cells: no number of ranks is usable")]
    HaloWiderThanPanel {
        /// Cells along a panel edge.
        nc: usize,
        /// Halo width in cells.
        halo: usize,
    },
    /// So many ranks that tiles would be narrower than the halo.
    #[error(
        "{ranks} ranks would need tiles narrower than the halo ({halo}) on C{nc}: the largest usable number is {usable}"
    )]
    TooManyRanks {
        /// Ranks asked for.
        ranks: usize,
        /// Cells along a panel edge.
        nc: usize,
        /// Halo width in cells.
        halo: usize,
        /// Largest number of ranks, not above `ranks`, that has a layout.
        usable: usize,
    },
    /// A forced tile grid with tiles narrower than the halo, or with none.
    #[error("a tile grid of {grid} does not fit C{nc} with halo {halo}: px and py must be 1 to {largest}")]
    GridOutOfRange {
        /// Forced grid.
        grid: TileGrid,
        /// Cells along a panel edge.
        nc: usize,
        /// Halo width in cells.
        halo: usize,
        /// Largest usable px and py.
        largest: usize,
    },
    /// A forced tile grid that leaves ranks without a tile.
    #[error(
        "a tile grid of {grid} gives {tiles} tiles, too few for {ranks} ranks: the largest usable number is {tiles}"
    )]
    FewerTilesThanRanks {
        /// Forced grid.
        grid: TileGrid,
        /// Tiles of that grid, hence the largest usable number of ranks.
        tiles: usize,
        /// Ranks asked for.
        ranks: usize,
    },
}

/// Cells along a panel edge that indices and cell counts are made for.
const LARGEST_NC: usize = 1 << 20;

/// All tiles of the sphere and their owners.
///
/// Tiles are listed panel by panel, then along j, then along i; a rank owns a contiguous run of that list and at least
/// one tile. The run of a rank ([`Layout::tiles_of`]) is also its part of a gather: each tile names its panel, first
/// cell and extent, and the tiles of all ranks cover every cell once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    nc: usize,
    convention: PanelConvention,
    ranks: usize,
    halo: usize,
    grid: TileGrid,
    /// First cell of each tile column, then nc.
    columns: Vec<usize>,
    /// First cell of each tile row, then nc.
    rows: Vec<usize>,
    tiles: Vec<Tile>,
    /// First tile of each rank, then the number of tiles.
    first_tile: Vec<usize>,
}

impl Layout {
    /// Layout of `nc` x `nc` cells per panel on `ranks` ranks with a halo of `halo` cells.
    ///
    /// Without `forced`, the tile grid follows from the number of ranks: whole panels for 1, 2, 3 and 6; one tile per
    /// rank, as square as possible, for other multiples of six unless rounding leaves the busiest rank a fifth above
    /// the mean; else the grid of at most `ranks` tiles per panel with the fewest cells on the busiest rank, then the
    /// shortest tile edges, then the fewest tiles. Equal arguments give
    /// equal layouts.
    ///
    /// # Errors
    /// See [`LayoutError`]. Every tile must be at least `halo` cells wide, so that a halo strip reads only the
    /// neighbouring tiles.
    pub fn new(
        nc: usize,
        convention: PanelConvention,
        ranks: usize,
        halo: usize,
        forced: Option<TileGrid>,
    ) -> Result<Layout, LayoutError> {
        if nc == 0 {
            return Err(LayoutError::NoCells);
        }
        if nc > LARGEST_NC {
            return Err(LayoutError::PanelTooLarge { nc, largest: LARGEST_NC });
        }
        if ranks == 0 {
            return Err(LayoutError::NoRanks);
        }
        let largest = nc / halo.max(1);
        if largest == 0 {
            return Err(LayoutError::HaloWiderThanPanel { nc, halo });
        }
        let grid = match forced {
            Some(grid) => {
                if !(1..=largest).contains(&grid.px) || !(1..=largest).contains(&grid.py) {
                    return Err(LayoutError::GridOutOfRange { grid, nc, halo, largest });
                }
                if grid.tiles() < ranks {
                    return Err(LayoutError::FewerTilesThanRanks { grid, tiles: grid.tiles(), ranks });
                }
                grid
            }
            None => {
                let usable = largest_usable_ranks(nc, halo);
                if ranks > usable {
                    return Err(LayoutError::TooManyRanks { ranks, nc, halo, usable });
                }
                most_even_grid(nc, ranks, largest)
            }
        };
        Ok(Layout::with_grid(nc, convention, ranks, halo, grid))
    }

    fn with_grid(nc: usize, convention: PanelConvention, ranks: usize, halo: usize, grid: TileGrid) -> Layout {
        let columns = split_evenly(nc, grid.px);
        let rows = split_evenly(nc, grid.py);
        let first_tile: Vec<usize> = (0..=ranks).map(|rank| first_tile_of(rank, ranks, grid)).collect();
        let mut tiles = Vec::with_capacity(grid.tiles());
        let mut rank = 0;
        for panel in Panel::ALL {
            for row in rows.windows(2) {
                for column in columns.windows(2) {
                    let id = tiles.len();
                    if id == first_tile[rank + 1] {
                        rank += 1;
                    }
                    let (ni, nj) = (column[1] - column[0], row[1] - row[0]);
                    tiles.push(Tile { id, panel, i0: column[0], j0: row[0], ni, nj, rank });
                }
            }
        }
        Layout { nc, convention, ranks, halo, grid, columns, rows, tiles, first_tile }
    }

    /// Cells along a panel edge.
    pub fn nc(&self) -> usize {
        self.nc
    }

    /// Panel convention.
    pub fn convention(&self) -> PanelConvention {
        self.convention
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Halo width in cells.
    pub fn halo(&self) -> usize {
        self.halo
    }

    /// Tiles per panel.
    pub fn tile_grid(&self) -> TileGrid {
        self.grid
    }

    /// All tiles; a tile's `id` is its position here.
    pub fn tiles(&self) -> &[Tile] {
        &self.tiles
    }

    /// Tiles of `rank`, empty for a rank the layout does not have.
    pub fn tiles_of(&self, rank: usize) -> &[Tile] {
        match (self.first_tile.get(rank), self.first_tile.get(rank + 1)) {
            (Some(&first), Some(&end)) => &self.tiles[first..end],
            _ => &[],
        }
    }

    /// Tile that holds cell (`i`, `j`) of `panel`, both in 0..nc.
    ///
    /// # Panics
    /// If the cell lies outside the panel.
    pub fn tile_at(&self, panel: Panel, i: usize, j: usize) -> &Tile {
        assert!(i < self.nc && j < self.nc, "cell ({i}, {j}) lies outside a panel of {} cells", self.nc);
        let column = self.columns.partition_point(|&first| first <= i) - 1;
        let row = self.rows.partition_point(|&first| first <= j) - 1;
        &self.tiles[(panel.index() * self.grid.py + row) * self.grid.px + column]
    }

    /// Rank that owns cell (`i`, `j`) of `panel`, both in 0..nc.
    ///
    /// # Panics
    /// If the cell lies outside the panel.
    pub fn owner_of_cell(&self, panel: Panel, i: usize, j: usize) -> usize {
        self.tile_at(panel, i, j).rank
    }

    /// Largest number of ranks for which this resolution and halo have a layout.
    pub fn max_usable_ranks(&self) -> usize {
        largest_usable_ranks(self.nc, self.halo)
    }

    /// Whether `edge` of `tile` lies on the panel boundary.
    pub fn on_panel_edge(&self, tile: &Tile, edge: Edge) -> bool {
        match edge {
            Edge::North => tile.j0 + tile.nj == self.nc,
            Edge::South => tile.j0 == 0,
            Edge::East => tile.i0 + tile.ni == self.nc,
            Edge::West => tile.i0 == 0,
        }
    }
}

/// First tile of `rank` when the tiles are shared out in runs whose lengths differ by at most one.
pub(crate) fn first_tile_of(rank: usize, ranks: usize, grid: TileGrid) -> usize {
    // Ranks and tiles are at most 6 * 2^40, so the product needs more than 64 bits only on absurd layouts.
    (rank as u128 * grid.tiles() as u128 / ranks as u128) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(nc: usize, ranks: usize, halo: usize, forced: Option<TileGrid>) -> Result<Layout, LayoutError> {
        Layout::new(nc, PanelConvention::GeosNative, ranks, halo, forced)
    }

    #[test]
    fn impossible_requests_are_named() {
        assert_eq!(layout(0, 1, 3, None), Err(LayoutError::NoCells));
        assert_eq!(layout(24, 0, 3, None), Err(LayoutError::NoRanks));
        assert_eq!(layout(2, 1, 3, None), Err(LayoutError::HaloWiderThanPanel { nc: 2, halo: 3 }));
        assert!(matches!(layout(usize::MAX, 1, 3, None), Err(LayoutError::PanelTooLarge { .. })));
        assert_eq!(
            layout(12, 97, 3, None).unwrap_err().to_string(),
            "97 ranks would need tiles narrower than the halo (3) on C12: the largest usable number is 96"
        );
        assert_eq!(
            layout(12, 6, 3, Some(TileGrid { px: 2, py: 5 })).unwrap_err().to_string(),
            "a tile grid of 2 x 5 does not fit C12 with halo 3: px and py must be 1 to 4"
        );
        assert_eq!(
            layout(12, 7, 3, Some(TileGrid { px: 1, py: 1 })).unwrap_err().to_string(),
            "a tile grid of 1 x 1 gives 6 tiles, too few for 7 ranks: the largest usable number is 6"
        );
        assert!(matches!(layout(12, usize::MAX, 3, None), Err(LayoutError::TooManyRanks { usable: 96, .. })));
    }

    #[test]
    fn few_ranks_own_whole_panels() {
        for ranks in [1, 2, 3, 6] {
            let layout = layout(24, ranks, 3, None).unwrap();
            for rank in 0..ranks {
                let tiles = layout.tiles_of(rank);
                assert_eq!(tiles.len(), 6 / ranks);
                assert!(tiles.iter().all(|tile| (tile.ni, tile.nj) == (24, 24)));
            }
        }
    }

    #[test]
    fn tiles_run_along_i_then_j_then_panels() {
        let layout = layout(10, 6, 3, Some(TileGrid { px: 3, py: 2 })).unwrap();
        let start = |id: usize| (layout.tiles()[id].panel.number(), layout.tiles()[id].i0, layout.tiles()[id].j0);
        let starts: Vec<_> = (0..7).map(start).collect();
        assert_eq!(starts, [(1, 0, 0), (1, 3, 0), (1, 7, 0), (1, 0, 5), (1, 3, 5), (1, 7, 5), (2, 0, 0)]);
        let tile = layout.tile_at(Panel::ALL[1], 6, 5);
        assert_eq!((tile.id, tile.i0, tile.ni, tile.j0, tile.nj), (10, 3, 4, 5, 5));
        assert_eq!(layout.owner_of_cell(Panel::ALL[1], 6, 5), 1);
    }
}
