//! Implicit convection.

use atmostr::device::Argument;
use atmostr::state::Slabs;
use kernels::Scalar;
use kernels::columns::Ledger;
use kernels::columns::convection::ColumnAir;
use kernels::columns::convection::tm5::{Downdraft, Solve, Tm5, Tm5Forcing, Tm5Options};
use kernels::device::{KernelName, Tm5Room};

use crate::columns::{Books, Columns, size, tables};
use crate::device::Random;
use crate::rig::{Rig, int, real};
use crate::world::World;

const DT: f64 = 3600.0;

/// Columns with plumes: none, an updraught, both, or a downdraught alone.
struct Convecting<R> {
    columns: Columns<R>,
    /// Into and out of the updraught and the downdraught.
    rates: [Slabs<R>; 4],
    sinks: bool,
    areas: Slabs<R>,
    options: Tm5Options,
}

/// Which columns have plumes, as shares of all.
#[derive(Clone, Copy)]
struct Weather {
    rising: f64,
    sinking: f64,
}

impl<R: Scalar> Convecting<R> {
    fn new(world: &mut World<R>) -> Self {
        let columns = Columns::new(world);
        let random = &mut world.random;
        let depth = columns.depth;
        let areas = columns.field(1, random, |random, _| 1e10 * (2.0 + random.unit()));
        let lmax_conv = [0, random.between(1, depth)][random.below(2)];
        let taking_part = if lmax_conv == 0 { depth } else { lmax_conv };
        let n_merge = [1, random.between(1, taking_part)][random.below(2)];
        let solve = [Solve::Plain, Solve::Delta][random.below(2)];
        let options = Tm5Options { solve, lmax_conv, n_merge };
        let weather = Weather { rising: random.unit().abs(), sinking: [0.0, 0.5][random.below(2)] };
        let mut rates = [0; 4].map(|_| columns.unset(depth));
        for row in columns.rows() {
            let mut parts = [0; 4].map(|_| vec![R::default(); row.block.values()]);
            for column in 0..row.block.columns() {
                let made = plumes(random, depth, weather);
                for (part, values) in parts.iter_mut().zip(&made) {
                    for (k, value) in values.iter().enumerate() {
                        part[k * row.block.width() + column] = R::from_f64(*value);
                    }
                }
            }
            for (field, part) in rates.iter_mut().zip(&parts) {
                row.scatter(part, field, 0);
            }
        }
        let sinks = random.below(4) > 0;
        Self { columns, rates, sinks, areas, options }
    }

    fn layers(&self) -> usize {
        let Tm5Options { lmax_conv, n_merge, .. } = self.options;
        (if lmax_conv == 0 { self.columns.depth } else { lmax_conv }) / n_merge
    }

    /// Arguments from the layers on.
    fn choices(&self, world: &World<R>) -> [Argument; 9] {
        let shift = self.columns.depth - self.layers() * self.options.n_merge;
        let [stride, field_stride] = world.strides();
        [
            Argument::Int(i32::from(self.sinks)),
            Argument::Int(i32::from(self.options.solve == Solve::Delta)),
            size(self.layers()),
            size(self.options.n_merge),
            size(shift),
            real(R::from_f64(DT)),
            size(self.columns.planes),
            stride,
            field_stride,
        ]
    }

    /// State and books afterwards.
    fn convected(&self, books: &mut Books<R>) -> Slabs<R> {
        let mut after = self.columns.state.clone();
        let mut work = Tm5::new(self.columns.depth, self.options).unwrap();
        let planes = 1..self.columns.planes;
        for row in self.columns.rows() {
            let [entu, detu, entd, detd] = self.rates.each_ref().map(|field| row.gather(field, 0, 0.0));
            let (mass, area) = (row.gather(&self.columns.state, 0, 1.0), row.gather(&self.areas, 0, 1.0));
            let downdraft = self.sinks.then_some(Downdraft { entd: &entd, detd: &detd });
            let air = ColumnAir { block: row.block, mass: &mass, area: &area };
            let all = |slabs: &Slabs<R>| -> Vec<R> { planes.clone().flat_map(|p| row.gather(slabs, p, 0.0)).collect() };
            let (mut tracers, mut carry) = (all(&self.columns.state), all(&books.carry));
            let mut returned = all(&books.returned);
            let ledger = Ledger::Booked { carry: &mut carry, returned: &mut returned };
            let forcing = Tm5Forcing { entu: &entu, detu: &detu, downdraft };
            books.refused += work.convect(&air, &forcing, R::from_f64(DT), &mut tracers, ledger).refused;
            for plane in planes.clone() {
                let (values, width) = (row.block.values(), row.block.width());
                row.scatter(&tracers[(plane - 1) * values..][..values], &mut after, plane);
                row.scatter(&carry[(plane - 1) * width..][..width], &mut books.carry, plane);
                row.scatter(&returned[(plane - 1) * width..][..width], &mut books.returned, plane);
            }
        }
        after
    }

    /// Compares both forms: `launch(rig, before, behind)` launches with the arguments before and behind those of a form.
    fn compare(
        &self,
        rig: &mut Rig<R>,
        world: &mut World<R>,
        launch: impl Fn(&Self, &mut Rig<R>, &World<R>, &[Argument], &[Argument]),
    ) {
        let mut books = Books::new(rig, &self.columns, &mut world.random);
        let state = rig.put(self.columns.state.data());
        let rates = self.rates.each_ref().map(|field| rig.put(field.data()));
        let before = [&[state], &rates[..], &[rig.put(self.areas.data())]].concat();
        let behind = [&books.arguments()[..], &tables(rig, world)].concat();
        launch(self, rig, world, &before, &behind);
        let expected = self.convected(&mut books);
        rig.assert_memory(state, expected.data());
        books.assert(rig);
    }
}

/// Entrainment and detrainment of an updraught and a downdraught.
fn plumes(random: &mut Random, depth: usize, weather: Weather) -> [Vec<f64>; 4] {
    let mut rates = [0; 4].map(|_| vec![0.0; depth]);
    let mut plume = |share: f64, strength: f64, random: &mut Random, first: usize| {
        if random.unit().abs() >= share {
            return;
        }
        let (a, b) = (random.below(depth), random.below(depth));
        for k in a.min(b)..=a.max(b) {
            for n in [first, first + 1] {
                rates[n][k] = if random.once_in(5) { 0.0 } else { strength * random.unit().abs() };
            }
        }
    };
    plume(weather.rising, 0.03, random, 0);
    plume(weather.sinking, 0.01, random, 2);
    rates
}

pub fn tm5_collaborative<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    Convecting::new(world).compare(rig, world, |case, rig, world, before, behind| {
        let arguments = [before, behind, &case.choices(world)].concat();
        rig.cover(KernelName::Tm5Collaborative, world.widest(), [world.rows().len(), 1], &arguments);
    });
}

/// Some rows at a time, with room for their columns.
pub fn tm5_serial<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let at_once = world.random.between(1, world.rows().len());
    Convecting::new(world).compare(rig, world, |case, rig, world, before, behind| {
        let (width, rows) = (world.widest(), world.rows().len());
        let room = Tm5Room::alone(case.layers());
        let slab = rig.put(&vec![R::from_f64(-7.0); room.words() * width * at_once]);
        let pivots = rig.put(&vec![-7_i32; case.layers() * width * at_once]);
        for first in (0..rows).step_by(at_once) {
            let count = at_once.min(rows - first);
            let part = [first, count, width].map(|n| Argument::Int(int(n)));
            let arguments = [before, &[slab, pivots], behind, &part, &case.choices(world)].concat();
            rig.cover(KernelName::Tm5Serial, width, [count, 1], &arguments);
        }
    });
}
