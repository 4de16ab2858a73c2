//! Order of elimination: the cube is cut in two again and again, the cells along each cut come after both parts.

use decomposition::Panel;

use super::super::FaceTable;
use crate::grid::{CubedSphere, GeometryBundle};

/// Parts of at most this many cells are not cut any further.
const LEAF: usize = 8;

/// Cells that are eliminated together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Place of its first cell in the order.
    pub first: usize,
    /// Number of cells.
    pub len: usize,
    /// Number of earlier blocks directly below it in the tree of cuts.
    pub children: usize,
}

/// Order of elimination of all cells.
#[derive(Clone, Debug)]
pub(super) struct Dissection {
    /// Cells in their order.
    pub cells: Vec<u32>,
    /// Blocks in the order of elimination, children before parents; they cover `cells`.
    pub blocks: Vec<Block>,
}

/// Nested dissection by planes through the cube. Integers only: the order is the same everywhere.
pub(super) fn dissect(faces: &FaceTable, neighbours: &[[u32; 4]]) -> Dissection {
    let count = faces.cells();
    let mut cutter = Cutter {
        positions: positions(faces),
        neighbours,
        part: vec![0; count],
        parts: 0,
        found: Dissection { cells: Vec::with_capacity(count), blocks: Vec::new() },
    };
    let mut all: Vec<u32> = (0..count as u32).collect();
    cutter.cut(&mut all);
    cutter.found
}

/// Centres of the cells on the surface of a cube with sides of 2·nc, by symmetry about its middle.
fn positions(faces: &FaceTable) -> Vec<[i32; 3]> {
    let nc = faces.nc() as i32;
    let bundle = GeometryBundle::ALL.into_iter().find(|bundle| bundle.convention() == faces.convention());
    let bundle = bundle.expect("each convention belongs to a bundle");
    let cube = CubedSphere::new(1, bundle, 0.0, 1.0).expect("a cube of six cells exists");
    let mut positions = Vec::with_capacity(faces.cells());
    for panel in Panel::ALL {
        // Corners of the panel, at ±1 along each axis.
        let corner = |i, j| cube.corner(panel, i, j).map(|x| x.signum() as i32);
        let (origin, along_i, along_j) = (corner(0, 0), corner(1, 0), corner(0, 1));
        for j in 0..nc {
            for i in 0..nc {
                positions.push(std::array::from_fn(|c| {
                    let (x, y) = ((along_i[c] - origin[c]) / 2, (along_j[c] - origin[c]) / 2);
                    origin[c] * nc + x * (2 * i + 1) + y * (2 * j + 1)
                }));
            }
        }
    }
    positions
}

struct Cutter<'a> {
    positions: Vec<[i32; 3]>,
    neighbours: &'a [[u32; 4]],
    /// Number of the part that a cell belongs to.
    part: Vec<u32>,
    parts: u32,
    found: Dissection,
}

/// A plane normal to `axis`; cells at `level` and beyond lie above it.
#[derive(Clone, Copy)]
struct Plane {
    axis: usize,
    level: i32,
    /// Cells above that touch one below: they separate the parts.
    separator: usize,
    below: usize,
    above: usize,
}

impl Plane {
    /// Whether this cut is better: few separating cells between even parts.
    fn beats(&self, other: &Plane) -> bool {
        let evenness = |plane: &Plane| plane.below as u128 * plane.above as u128;
        self.separator as u128 * evenness(other) < other.separator as u128 * evenness(self)
    }
}

impl Cutter<'_> {
    /// Orders the cells of one part; returns whether that made a block.
    fn cut(&mut self, cells: &mut [u32]) -> usize {
        if cells.is_empty() {
            return 0;
        }
        self.parts += 1;
        for cell in cells.iter() {
            self.part[*cell as usize] = self.parts;
        }
        let Some(plane) = self.best_plane(cells) else {
            self.push(cells, 0);
            return 1;
        };
        // Below first, then above, then the separator.
        let side = |cutter: &Self, cell: u32| match cutter.is_above(plane, cell) {
            false => 0,
            true if !cutter.touches_below(plane, cell) => 1,
            true => 2,
        };
        let mut sorted: Vec<(u8, u32)> = cells.iter().map(|cell| (side(self, *cell), *cell)).collect();
        sorted.sort_unstable();
        cells.iter_mut().zip(sorted).for_each(|(to, (_, cell))| *to = cell);
        let (below, rest) = cells.split_at_mut(plane.below);
        let (above, separator) = rest.split_at_mut(plane.above);
        let children = self.cut(below) + self.cut(above);
        self.push(separator, children);
        1
    }

    fn push(&mut self, cells: &[u32], children: usize) {
        let first = self.found.cells.len();
        self.found.cells.extend_from_slice(cells);
        self.found.blocks.push(Block { first, len: cells.len(), children });
    }

    /// The best of the cuts through the middle along each axis; `None` for parts that are small enough.
    fn best_plane(&self, cells: &[u32]) -> Option<Plane> {
        if cells.len() <= LEAF {
            return None;
        }
        let planes = (0..3).filter_map(|axis| {
            let mut levels: Vec<i32> = cells.iter().map(|cell| self.positions[*cell as usize][axis]).collect();
            levels.sort_unstable();
            let middle = levels[levels.len() / 2];
            let level = if middle > levels[0] { middle } else { *levels.iter().find(|level| **level > middle)? };
            let mut plane = Plane { axis, level, separator: 0, below: 0, above: 0 };
            for cell in cells {
                match (self.is_above(plane, *cell), self.touches_below(plane, *cell)) {
                    (false, _) => plane.below += 1,
                    (true, false) => plane.above += 1,
                    (true, true) => plane.separator += 1,
                }
            }
            (plane.above > 0).then_some(plane)
        });
        planes.reduce(|best, plane| if plane.beats(&best) { plane } else { best })
    }

    fn is_above(&self, plane: Plane, cell: u32) -> bool {
        self.positions[cell as usize][plane.axis] >= plane.level
    }

    fn touches_below(&self, plane: Plane, cell: u32) -> bool {
        let own = self.part[cell as usize];
        let neighbours = self.neighbours[cell as usize].iter();
        neighbours.into_iter().any(|n| self.part[*n as usize] == own && !self.is_above(plane, *n))
    }
}

#[cfg(test)]
mod tests {
    use decomposition::PanelConvention;

    use super::super::neighbours_of;
    use super::*;

    #[test]
    fn neighbours_lie_side_by_side_on_the_cube() {
        for convention in [PanelConvention::Gnomonic, PanelConvention::GeosNative] {
            let faces = FaceTable::new(5, convention);
            let positions = positions(&faces);
            for face in 0..faces.faces() {
                let (a, b) = (positions[faces.left(face)], positions[faces.right(face)]);
                let mut apart: [i32; 3] = std::array::from_fn(|c| (a[c] - b[c]).abs());
                apart.sort_unstable();
                let seam = faces.seam(face).is_some();
                assert_eq!(apart, if seam { [0, 1, 1] } else { [0, 0, 2] }, "face {face}");
            }
        }
    }

    /// Every cell once; no cell touches a block that is neither below nor above its own.
    #[test]
    fn blocks_cover_the_cube_and_cuts_separate() {
        for (nc, convention) in
            [(1, PanelConvention::Gnomonic), (2, PanelConvention::GeosNative), (9, PanelConvention::GeosNative)]
        {
            let faces = FaceTable::new(nc, convention);
            let Dissection { cells, blocks } = dissect(&faces, &neighbours_of(&faces));
            let mut sorted = cells.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..faces.cells() as u32));

            let mut block_of = vec![0; faces.cells()];
            let mut parent = vec![usize::MAX; blocks.len()];
            let (mut open, mut next) = (Vec::new(), 0);
            for (number, block) in blocks.iter().enumerate() {
                assert_eq!(block.first, next);
                next += block.len;
                cells[block.first..next].iter().for_each(|cell| block_of[*cell as usize] = number);
                for child in open.split_off(open.len() - block.children) {
                    parent[child] = number;
                }
                open.push(number);
            }
            assert_eq!((next, open.len()), (faces.cells(), 1));
            for face in 0..faces.faces() {
                let (a, b) = (block_of[faces.left(face)], block_of[faces.right(face)]);
                let (mut low, high) = (a.min(b), a.max(b));
                while low != high && parent[low] != usize::MAX {
                    low = parent[low];
                }
                assert_eq!(low, high, "blocks {a} and {b} touch");
            }
        }
    }
}
