//! How the cells of the grid are shared out over the ranks.

use decomposition::Tile;

use super::error::OutputError;
use crate::comm::{Communicator, agree};
use crate::state::TileSet;

/// A rectangle of one panel: panel, first i, first j, cells along i and j.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rectangle {
    pub panel: usize,
    pub i0: usize,
    pub j0: usize,
    pub ni: usize,
    pub nj: usize,
}

impl Rectangle {
    pub(crate) fn of(tile: &Tile) -> Self {
        Self { panel: tile.panel.index(), i0: tile.i0, j0: tile.j0, ni: tile.ni, nj: tile.nj }
    }

    pub(crate) fn cells(&self) -> usize {
        self.ni * self.nj
    }

    /// As it is sent to other ranks.
    pub(super) fn numbers(&self) -> [u64; 5] {
        [self.panel, self.i0, self.j0, self.ni, self.nj].map(|n| n as u64)
    }

    /// From what [`Rectangle::numbers`] gives.
    pub(super) fn from_numbers(n: &[u64]) -> Self {
        let [panel, i0, j0, ni, nj] = [0, 1, 2, 3, 4].map(|k| n[k] as usize);
        Self { panel, i0, j0, ni, nj }
    }
}

/// What every rank must know of the tiles of all ranks.
#[derive(Clone, Debug)]
pub(crate) struct Sharing {
    /// Tiles of each rank; only on rank 0.
    pub all: Option<Vec<Vec<Rectangle>>>,
    /// Largest number of tiles of a rank.
    pub max_tiles: usize,
    /// Common size (ni, nj) of all tiles, if they have one.
    pub common: Option<(usize, usize)>,
}

impl Sharing {
    /// Collective: collects the tiles of all ranks and checks that they cover the panels of `nc` × `nc` cells.
    pub(crate) fn new(tiles: &TileSet, nc: usize, comm: &dyn Communicator) -> Result<Self, OutputError> {
        let own: Vec<u64> = tiles.tiles().iter().flat_map(|tile| Rectangle::of(tile).numbers()).collect();
        let gathered = comm.gather(bytemuck::cast_slice(&own));
        let all = gathered.map(|ranks| ranks.iter().map(|b| decode(b)).collect::<Vec<_>>());
        let checked = match &all {
            Some(all) => check_cover(all, nc),
            None => Ok(()),
        };
        agree(comm, checked)?;

        // One maximum over ranks serves all: the count, and largest and (negated) smallest sizes.
        let mut extremes = [tiles.len() as f64, 0.0, 0.0, f64::NEG_INFINITY, f64::NEG_INFINITY];
        for tile in tiles.tiles() {
            let (ni, nj) = (tile.ni as f64, tile.nj as f64);
            for (extreme, value) in extremes[1..].iter_mut().zip([ni, nj, -ni, -nj]) {
                *extreme = extreme.max(value);
            }
        }
        comm.max_f64(&mut extremes);
        let [max_tiles, ni, nj, least_ni, least_nj] = extremes;
        let common = (ni == -least_ni && nj == -least_nj).then_some((ni as usize, nj as usize));
        Ok(Self { all, max_tiles: max_tiles as usize, common })
    }
}

fn decode(bytes: &[u8]) -> Vec<Rectangle> {
    let numbers: Vec<u64> = bytemuck::pod_collect_to_vec(bytes);
    numbers.chunks_exact(5).map(Rectangle::from_numbers).collect()
}

fn check_cover(all: &[Vec<Rectangle>], nc: usize) -> Result<(), OutputError> {
    let mut owned = vec![false; 6 * nc * nc];
    let mut covered = 0;
    for r in all.iter().flatten() {
        for j in r.j0..r.j0 + r.nj {
            for i in r.i0..r.i0 + r.ni {
                let inside = i < nc && j < nc;
                covered += usize::from(inside && !std::mem::replace(&mut owned[(r.panel * nc + j) * nc + i], true));
            }
        }
    }
    let (cells, wanted) = (owned.len(), all.iter().flatten().map(Rectangle::cells).sum::<usize>());
    if covered == cells && wanted == cells { Ok(()) } else { Err(OutputError::Coverage { covered, cells }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_and_overlaps_are_found() {
        let panel = |panel| Rectangle { panel, i0: 0, j0: 0, ni: 2, nj: 2 };
        let mut all = vec![(0..4).map(panel).collect::<Vec<_>>(), vec![panel(4), panel(5)]];
        assert!(check_cover(&all, 2).is_ok());
        all[1][0] = panel(5);
        assert!(matches!(check_cover(&all, 2), Err(OutputError::Coverage { covered: 20, cells: 24 })));
        all[1] = vec![panel(4), panel(5), panel(5)];
        assert!(check_cover(&all, 2).is_err());
    }
}
