//! Columns as the processor takes them, and what they hold.

use std::sync::Arc;

use atmostr::device::Argument;
use atmostr::state::{Slabs, TileSet};
use kernels::columns::ColumnBlock;
use kernels::{Scalar, TileShape};

use crate::device::Random;
use crate::rig::{Rig, int};
use crate::world::{World, table};

/// Layers of the deepest columns.
pub const DEEPEST: usize = 24;

/// What lies around the cells of a field.
const AROUND: f64 = 17.0;

/// A row of columns, padded as blocks are.
pub struct Row {
    pub tile: usize,
    /// Position of the first cell in a plane.
    at: usize,
    ni: usize,
    pub block: ColumnBlock,
}

impl Row {
    /// All rows of the tiles of a set, for columns of `depth` layers.
    pub fn all(set: &TileSet, depth: usize) -> Vec<Self> {
        let shapes = set.shapes().iter().enumerate();
        let row = move |(tile, shape): (usize, &TileShape)| -> Vec<Self> {
            let block = ColumnBlock::new(shape.ni, depth);
            (0..shape.nj).map(|j| Self { tile, at: shape.row_start(j), ni: shape.ni, block }).collect()
        };
        shapes.flat_map(row).collect()
    }

    /// The cells of a plane in all levels; `padding` beyond the row.
    pub fn gather<R: Scalar>(&self, slabs: &Slabs<R>, plane: usize, padding: f64) -> Vec<R> {
        let mut values = vec![R::from_f64(padding); slabs.levels() * self.block.width()];
        for (level, layer) in values.chunks_exact_mut(self.block.width()).enumerate() {
            layer[..self.ni].copy_from_slice(&slabs.plane(level, self.tile, plane)[self.at..self.at + self.ni]);
        }
        values
    }

    /// Puts cells back.
    pub fn scatter<R: Scalar>(&self, values: &[R], slabs: &mut Slabs<R>, plane: usize) {
        for (level, layer) in values.chunks_exact(self.block.width()).enumerate() {
            slabs.plane_mut(level, self.tile, plane)[self.at..self.at + self.ni].copy_from_slice(&layer[..self.ni]);
        }
    }
}

/// A state of columns that physics may meet: positive air, but for some layers without any, and tracers of several kinds.
pub struct Columns<R> {
    pub set: Arc<TileSet>,
    pub depth: usize,
    pub planes: usize,
    pub state: Slabs<R>,
}

impl<R: Scalar> Columns<R> {
    /// Columns on the tiles of a world, with as many tracers.
    pub fn new(world: &mut World<R>) -> Self {
        let most = if world.planes() > 10 { 9 } else { DEEPEST };
        let depth = world.random.between(1, most);
        Self::with_tracers(world, depth, world.planes() - 1)
    }

    /// Columns of `depth` layers with `tracers` tracers.
    pub fn with_tracers(world: &mut World<R>, depth: usize, tracers: usize) -> Self {
        let (set, planes) = (world.set.clone(), tracers + 1);
        let mut columns = Self { state: Slabs::zeros(set.clone(), depth, planes), set, depth, planes };
        let random = &mut world.random;
        let mut masses = columns.field(depth, random, |random, _| 1e10 * (16.0 + 15.0 * random.unit()));
        let emptied = columns.field(depth, random, |random, _| f64::from(u8::from(random.once_in(60))));
        for (mass, empty) in masses.data_mut().iter_mut().zip(emptied.data()) {
            if empty.to_f64() == 1.0 {
                *mass = R::from_f64(0.0);
            }
        }
        for plane in 0..planes {
            let kind = random.below(6);
            for tile in 0..columns.set.len() {
                for level in 0..depth {
                    let air = masses.plane(level, tile, 0).to_vec();
                    let values = columns.state.plane_mut(level, tile, plane);
                    for (value, mass) in values.iter_mut().zip(air) {
                        let inside = mass.to_f64() != AROUND;
                        *value = match plane {
                            0 => mass,
                            _ if inside => R::from_f64(ratio(random, kind) * mass.to_f64()),
                            _ => R::from_f64(AROUND),
                        };
                    }
                }
            }
        }
        columns
    }

    /// A field of `levels` levels whose cells are `value(random, level)`.
    pub fn field(
        &self,
        levels: usize,
        random: &mut Random,
        mut value: impl FnMut(&mut Random, usize) -> f64,
    ) -> Slabs<R> {
        self.filled(levels, 1, |level, _| value(random, level))
    }

    /// Values of a level or field layout with cells `value(level, plane)`.
    pub fn filled(&self, levels: usize, planes: usize, mut value: impl FnMut(usize, usize) -> f64) -> Slabs<R> {
        let mut field = Slabs::zeros(self.set.clone(), levels, planes);
        field.data_mut().fill(R::from_f64(AROUND));
        for level in 0..levels {
            for (tile, shape) in self.set.shapes().iter().enumerate() {
                for plane in 0..planes {
                    let values = field.plane_mut(level, tile, plane);
                    for at in (0..shape.nj).flat_map(|j| shape.row_start(j)..shape.row_start(j) + shape.ni) {
                        values[at] = R::from_f64(value(level, plane));
                    }
                }
            }
        }
        field
    }

    /// Memory of a field that a kernel has to fill.
    pub fn unset(&self, levels: usize) -> Slabs<R> {
        self.filled(levels, 1, |_, _| -7.0)
    }

    pub fn rows(&self) -> Vec<Row> {
        Row::all(&self.set, self.depth)
    }
}

/// A mixing ratio: positive, of either sign, constant, close to a background, none, or a rare peak.
fn ratio(random: &mut Random, kind: usize) -> f64 {
    let unit = random.unit();
    match kind {
        0 => unit.abs(),
        1 => unit,
        2 => 4e-4,
        3 => 4e-4 + 1e-9 * unit,
        4 => 0.0,
        _ if random.once_in(9) => 0.4,
        _ => 0.0,
    }
}

/// A ledger of columns and tracers in memory, and what it becomes.
pub struct Books<R> {
    pub carry: Slabs<R>,
    pub returned: Slabs<R>,
    pub refused: u64,
    memories: [Argument; 3],
}

impl<R: Scalar> Books<R> {
    /// Carries left by earlier solves, some too large to be kept.
    pub fn new(rig: &mut Rig<R>, columns: &Columns<R>, random: &mut Random) -> Self {
        let carry = columns.filled(1, columns.planes, |_, _| match random.below(3) {
            0 => 0.0,
            1 => 10.0 * random.unit(),
            _ => 1e9 * random.unit(),
        });
        let returned = columns.filled(1, columns.planes, |_, _| random.unit());
        let memories = [rig.put(carry.data()), rig.put(returned.data()), rig.put(&[0_i32])];
        Self { carry, returned, refused: 0, memories }
    }

    /// Carries, what was returned, and the counter, as arguments.
    pub fn arguments(&self) -> [Argument; 3] {
        self.memories
    }

    pub fn assert(&self, rig: &mut Rig<R>) {
        rig.assert_memory(self.memories[0], self.carry.data());
        rig.assert_memory(self.memories[1], self.returned.data());
        rig.assert_count(self.memories[2], self.refused);
    }
}

/// Tables of tiles and rows, as arguments.
pub fn tables<R: Scalar>(rig: &mut Rig<R>, world: &World<R>) -> [Argument; 2] {
    [rig.put(&world.tiles()), rig.put(&table(&world.rows()))]
}

/// A size as an argument.
pub fn size(value: usize) -> Argument {
    Argument::Int(int(value))
}
