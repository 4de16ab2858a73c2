//! Choice of the tile grid for a number of ranks.

use crate::TileGrid;
use crate::layout::first_tile_of;

/// First index of each of `parts` pieces of 0..`n`, then `n`; 1 ≤ `parts` ≤ `n`.
///
/// Lengths differ by at most one. The cut is its own mirror image unless `n` is odd and `parts` even, so that tiles
/// on both sides of a reversed seam face each other one to one.
pub(crate) fn split_evenly(n: usize, parts: usize) -> Vec<usize> {
    let rounded = |part: usize| (2 * part * n + parts) / (2 * parts);
    (0..=parts).map(|part| if 2 * part <= parts { rounded(part) } else { n - rounded(parts - part) }).collect()
}

/// Largest number of ranks for which panels of `nc` cells can be cut into tiles no narrower than `halo`.
///
/// 0 if no layout exists: without cells, or with a halo wider than a panel.
pub fn largest_usable_ranks(nc: usize, halo: usize) -> usize {
    let largest = nc / halo.max(1);
    6usize.saturating_mul(largest).saturating_mul(largest)
}

/// Tile grid for 1 ≤ `ranks` ≤ 6·`largest`² ranks, with px and py at most `largest`.
pub(crate) fn most_even_grid(nc: usize, ranks: usize, largest: usize) -> TileGrid {
    if [1, 2, 3, 6].contains(&ranks) {
        return TileGrid { px: 1, py: 1 };
    }
    if ranks.is_multiple_of(6)
        && let Some(grid) = squarest_grid(ranks / 6, largest)
        && score(nc, ranks, grid, busiest_accepted(nc, ranks)).is_some()
    {
        return grid;
    }
    // With 6 ranks / gcd(6, ranks) tiles every rank has equally many, so more than `ranks` tiles per panel gain nothing
    // worth their edges.
    let mut best = squarest_cover(ranks);
    let mut best_score = score(nc, ranks, best, usize::MAX).expect("no limit to exceed");
    for px in 1..=largest.min(ranks) {
        for py in ranks.div_ceil(6 * px)..=largest.min(ranks / px) {
            let grid = TileGrid { px, py };
            if let Some(candidate) = score(nc, ranks, grid, best_score.busiest)
                && candidate < best_score
            {
                (best, best_score) = (grid, candidate);
            }
        }
    }
    best
}

/// Cells on the busiest rank, a fifth above the mean, up to which one tile per rank is preferred to a search.
fn busiest_accepted(nc: usize, ranks: usize) -> usize {
    6 * nc * nc * 6 / (5 * ranks)
}

/// The most nearly square px × py = `tiles` with px ≤ py ≤ `largest`: long rows along i, the contiguous index.
fn squarest_grid(tiles: usize, largest: usize) -> Option<TileGrid> {
    let px = (1..=tiles.isqrt()).rev().find(|px| tiles.is_multiple_of(*px))?;
    let py = tiles / px;
    (py <= largest).then_some(TileGrid { px, py })
}

/// Smallest square grid with a tile for every rank.
fn squarest_cover(ranks: usize) -> TileGrid {
    let needed = ranks.div_ceil(6);
    let side = needed.isqrt();
    let side = if side * side < needed { side + 1 } else { side };
    TileGrid { px: side, py: side }
}

/// Order of preference among grids: fields compared from the first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    /// Cells of the busiest rank.
    busiest: usize,
    /// Tile edges per panel row and column, a measure of all halo cells.
    edges: usize,
    tiles: usize,
    /// Breaks the last tie toward long rows along i.
    px: usize,
}

/// Score of `grid`, or nothing once a rank has more than `limit` cells.
fn score(nc: usize, ranks: usize, grid: TileGrid, limit: usize) -> Option<Score> {
    let smallest_tile = (nc / grid.px) * (nc / grid.py);
    if grid.tiles().div_ceil(ranks) * smallest_tile > limit {
        return None;
    }
    let (columns, rows) = (split_evenly(nc, grid.px), split_evenly(nc, grid.py));
    // Cells of all tiles before the given one.
    let cells_before = |tile: usize| {
        let (panel, in_panel) = (tile / (grid.px * grid.py), tile % (grid.px * grid.py));
        let (row, column) = (in_panel / grid.px, in_panel % grid.px);
        panel * nc * nc + rows[row] * nc + columns[column] * (rows[row + 1] - rows[row])
    };
    let mut busiest = 0;
    let mut before = 0;
    for rank in 1..=ranks {
        let end = cells_before(first_tile_of(rank, ranks, grid));
        busiest = busiest.max(end - before);
        if busiest > limit {
            return None;
        }
        before = end;
    }
    Some(Score { busiest, edges: grid.px + grid.py, tiles: grid.tiles(), px: grid.px })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_differ_by_one_cell_and_mirror() {
        for n in 1..=60 {
            for parts in 1..=n {
                let cuts = split_evenly(n, parts);
                assert_eq!((cuts.len(), cuts[0], cuts[parts]), (parts + 1, 0, n));
                for pair in cuts.windows(2) {
                    let length = pair[1] - pair[0];
                    assert!(length == n / parts || length == n.div_ceil(parts), "{n} in {parts}: {cuts:?}");
                }
                if n % 2 == 0 || parts % 2 == 1 {
                    assert!((0..=parts).all(|k| cuts[k] + cuts[parts - k] == n), "{n} in {parts}: {cuts:?}");
                }
            }
        }
    }

    #[test]
    fn multiples_of_six_get_square_tiles() {
        for (ranks, px, py) in [(24, 2, 2), (54, 3, 3), (96, 4, 4), (12, 1, 2), (36, 2, 3), (30, 1, 5)] {
            assert_eq!(most_even_grid(90, ranks, 30), TileGrid { px, py });
        }
        // 13 strips of C24 would be narrower than 3 cells, so several tiles per rank take their place.
        let grid = most_even_grid(24, 78, 8);
        assert!(grid.px <= 8 && grid.py <= 8 && grid.tiles() > 78);
    }

    #[test]
    fn other_rank_counts_are_balanced() {
        // Five and four ranks divide 30 and 12 equal tiles without remainder.
        assert_eq!(most_even_grid(90, 5, 30), TileGrid { px: 1, py: 5 });
        assert_eq!(most_even_grid(90, 4, 30), TileGrid { px: 1, py: 2 });
        for ranks in 1..=200 {
            let grid = most_even_grid(90, ranks, 30);
            let busiest = score(90, ranks, grid, usize::MAX).unwrap().busiest;
            assert!(busiest * ranks <= 6 * 90 * 90 * 5 / 4, "{ranks} ranks: {grid}, busiest {busiest}");
        }
    }

    #[test]
    fn choice_stays_quick_for_thousands_of_ranks() {
        let start = std::time::Instant::now();
        let grid = most_even_grid(1440, 4099, 480);
        assert!(grid.tiles() >= 4099);
        assert!(start.elapsed().as_secs() < 5);
    }
}
