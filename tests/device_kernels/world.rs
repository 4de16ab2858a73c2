//! Random tiles, states and winds.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use atmostr::state::{AIR, PackedState, Slabs, TileSet};
use decomposition::{Panel, Tile};
use kernels::Scalar;
use kernels::cpu::FaceState;
use kernels::scheme::Scheme;

use crate::device::Random;
use crate::rig::int;

/// Cells of the widest tile along i.
pub const WIDEST: usize = 37;

/// Extents of tiles.
const EXTENTS: [usize; 10] = [1, 2, 3, 5, 8, 13, 16, 17, 30, WIDEST];

/// Numbers of tracers.
const TRACERS: [usize; 6] = [1, 65, 2, 7, 3, 31];

/// Everything a kernel may be launched on.
pub struct World<R: Scalar> {
    seed: u64,
    pub random: Random,
    /// One value of so many is unusual.
    unusual: usize,
    pub set: Arc<TileSet>,
    pub state: PackedState<R>,
    /// Through the low-i sides, the low-j sides and the tops; of the last there is a level more.
    pub fluxes: [Slabs<R>; 3],
    pub scale: R,
    /// West, east, south and north end of each tile.
    pub ends: Vec<[FaceState; 4]>,
    /// Levels of a launch that is for some of them.
    pub levels: Range<usize>,
}

impl<R: Scalar> World<R> {
    pub fn new(seed: u64, scheme: Scheme) -> Self {
        let mut random = Random(seed);
        let tracers = TRACERS[seed as usize % TRACERS.len()];
        let levels = random.between(1, 9);
        let first = random.below(levels);
        let (most, largest) = if tracers > 10 { (2, 6) } else { (4, EXTENTS.len()) };
        let tiles = (0..random.between(1, most)).map(|id| {
            let (ni, nj) = (EXTENTS[random.below(largest)], EXTENTS[random.below(largest)]);
            Tile { id, panel: Panel::ALL[id], i0: 0, j0: 0, ni, nj, rank: 0 }
        });
        let tiles = tiles.collect();
        let set = Arc::new(TileSet::new(tiles, scheme.halo() + random.below(3)));
        let end = |random: &mut Random| if random.once_in(2) { FaceState::Open } else { FaceState::Closed };
        let ends = (0..set.len()).map(|_| std::array::from_fn(|_| end(&mut random))).collect();
        let levels = Levels { all: levels, some: first..random.between(first + 1, levels) };
        let unusual = [1000, 40, 8][seed as usize / 2 % 3];
        let scale = R::from_f64([1.0, 1.0 / 3.0, 0.5, -0.7][random.below(4)]);
        let names = (0..tracers).map(|t| format!("t{t}")).collect();
        let field = |levels| Slabs::zeros(set.clone(), levels, 1);
        let mut world = Self {
            seed,
            random,
            unusual,
            state: PackedState::zeros(set.clone(), levels.all, names),
            fluxes: [field(levels.all), field(levels.all), field(levels.all + 1)],
            set,
            scale,
            ends,
            levels: levels.some,
        };
        world.fill();
        world
    }

    /// Fills planes, halos and padding alike, so that whatever is changed shows.
    fn fill(&mut self) {
        let mut state = self.state.slabs().clone();
        for level in 0..state.levels() {
            for tile in 0..self.set.len() {
                for plane in 0..state.planes() {
                    let values = state.plane_mut(level, tile, plane);
                    let kind = self.random.below(4);
                    for value in values {
                        *value = if plane == AIR { self.mass() } else { self.content(kind) };
                    }
                }
            }
        }
        *self.state.slabs_mut() = state;
        for n in 0..3 {
            let mut fluxes = self.fluxes[n].clone();
            fluxes.data_mut().iter_mut().for_each(|flux| *flux = self.flux());
            self.fluxes[n] = fluxes;
        }
    }

    /// An air mass, now and then one that no cell should have.
    pub fn mass(&mut self) -> R {
        let random = &mut self.random;
        if !random.once_in(self.unusual) {
            return R::from_f64(10.0 + 3.0 * random.unit());
        }
        match random.below(7) {
            0 | 1 => R::from_f64(0.0),
            2 => random.denormal(),
            3 => R::from_f64(10.0 * random.unit()),
            4 => R::from_f64(1e30 * random.unit()),
            // Around the least air whose mixing ratio a reset keeps.
            5 => R::EPSILON * R::from_f64([0.5, 1.0, 1.5][random.below(3)]),
            _ => random.special(),
        }
    }

    /// A tracer content: smooth, positive, of either sign or small.
    fn content(&mut self, kind: usize) -> R {
        let random = &mut self.random;
        if random.once_in(self.unusual) {
            return match random.below(4) {
                0 => random.bits(),
                1 => random.denormal(),
                2 => R::from_f64(0.0),
                _ => random.special(),
            };
        }
        let unit = random.unit();
        match kind {
            0 => R::from_f64(4e-3 * (1.0 + 0.01 * unit)),
            1 if unit < 0.0 => R::from_f64([0.0, -0.0][random.below(2)]),
            1 => R::from_f64(10.0 * unit),
            2 => R::from_f64(5.0 * unit),
            _ => R::from_f64(if size_of::<R>() == 4 { 1e-38 } else { 1e-307 } * unit),
        }
    }

    /// An air flux, some beyond what the donor holds.
    fn flux(&mut self) -> R {
        let random = &mut self.random;
        let unit = random.unit();
        if random.once_in(self.unusual) {
            return if random.once_in(2) { random.special() } else { R::from_f64(0.0 * unit) };
        }
        R::from_f64(if random.once_in(12) { 60.0 } else { 5.0 } * unit)
    }

    /// Any value at all, for fields that are only copied or added.
    pub fn value(&mut self) -> R {
        let kind = self.random.below(4);
        self.content(kind)
    }

    /// The ends of a tile along an axis: 0 for west and east, 1 for south and north.
    pub fn ends(&self, tile: usize, axis: usize) -> [FaceState; 2] {
        [self.ends[tile][2 * axis], self.ends[tile][2 * axis + 1]]
    }

    /// Table of the tiles: see `tiles.h`.
    pub fn tiles(&self) -> Vec<i32> {
        let shapes = self.set.shapes().iter().enumerate();
        shapes
            .flat_map(|(t, s)| {
                let closed = |n: usize| i32::from(self.ends[t][n] == FaceState::Closed) << n;
                let (state, field) = (self.state.slabs().tile_offset(t), self.fluxes[0].tile_offset(t));
                let [a, b, c, d, e, f, g] = [state, field, s.ni, s.nj, s.halo, s.pitch, s.plane_len()].map(int);
                [a, b, c, d, e, f, g, (0..4).map(closed).sum()]
            })
            .collect()
    }

    /// All rows: tile and j.
    pub fn rows(&self) -> Vec<(usize, usize)> {
        let shapes = self.set.shapes().iter().enumerate();
        shapes.flat_map(|(t, shape)| (0..shape.nj).map(move |j| (t, j))).collect()
    }

    /// Cells of the widest tile along i.
    pub fn widest(&self) -> usize {
        self.set.shapes().iter().map(|shape| shape.ni).max().unwrap()
    }

    /// Number of levels.
    pub fn depth(&self) -> usize {
        self.state.levels()
    }

    /// Number of planes.
    pub fn planes(&self) -> usize {
        self.state.slabs().planes()
    }

    /// Distances between levels of the state and of a field, as arguments.
    pub fn strides(&self) -> [atmostr::device::Argument; 2] {
        let strides = [self.state.slabs().level_stride(), self.fluxes[0].level_stride()];
        strides.map(|stride| atmostr::device::Argument::Int(int(stride)))
    }
}

/// All levels, and those of a launch that is for some of them.
struct Levels {
    all: usize,
    some: Range<usize>,
}

/// A list of pairs as a table.
pub fn table(pairs: &[(usize, usize)]) -> Vec<i32> {
    pairs.iter().flat_map(|(a, b)| [int(*a), int(*b)]).collect()
}

impl<R: Scalar> fmt::Display for World<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extents: Vec<_> = self.set.shapes().iter().map(|shape| (shape.ni, shape.nj)).collect();
        let (halo, tracers, levels) = (self.set.shapes()[0].halo, self.planes() - 1, self.depth());
        let Range { start, end } = self.levels;
        write!(
            f,
            "(world {}: tiles {extents:?}, halo {halo}, {tracers} tracers, levels {start}..{end} of {levels})",
            self.seed
        )
    }
}
