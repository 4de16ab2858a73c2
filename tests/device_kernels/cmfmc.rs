//! Explicit convection.

use atmostr::device::Argument;
use atmostr::state::Slabs;
use kernels::Scalar;
use kernels::columns::Ledger;
use kernels::columns::convection::ColumnAir;
use kernels::columns::convection::cmfmc::{
    BaseExchange, CloudBase, Cmfmc, CmfmcForcing, CmfmcOptions, Negative, Update, largest_courant,
};
use kernels::device::KernelName;
use kernels::numerics::finite_max;

use crate::columns::{Books, Columns, Row, size, tables};
use crate::rig::{Rig, real};
use crate::world::World;

const DT: f64 = 3600.0;

/// Columns with a cloud mass flux, or without.
struct Convecting<R> {
    columns: Columns<R>,
    flux: Slabs<R>,
    detrainment: Slabs<R>,
    base: Slabs<R>,
    areas: Slabs<R>,
    /// Whether the detrainment is given.
    detrains: bool,
    options: CmfmcOptions,
    substeps: usize,
}

impl<R: Scalar> Convecting<R> {
    fn new(world: &mut World<R>) -> Self {
        let columns = Columns::new(world);
        let random = &mut world.random;
        let depth = columns.depth;
        let share = random.unit().abs();
        let mut flux = columns.field(depth + 1, random, |_, _| 0.0);
        for row in Row::all(&columns.set, depth + 1) {
            let mut part = row.gather(&flux, 0, 0.0);
            for column in (0..row.block.columns()).filter(|_| random.unit().abs() < share).collect::<Vec<_>>() {
                let (a, b) = (random.below(depth + 1), random.below(depth + 1));
                for e in a.min(b)..=a.max(b) {
                    // Some edges carry next to nothing.
                    let strength = if random.once_in(5) { 1e-7 } else { 0.02 };
                    part[e * row.block.width() + column] = R::from_f64(strength * random.unit().abs());
                }
            }
            row.scatter(&part, &mut flux, 0);
        }
        let detrainment = columns.field(depth, random, |random, _| match random.below(3) {
            0 => 0.0,
            _ => 0.01 * random.unit().abs(),
        });
        let base = columns.field(1, random, |random, _| random.between(0, depth + 1) as f64);
        let areas = columns.field(1, random, |random, _| 1e10 * (2.0 + random.unit()));
        let options = CmfmcOptions {
            cloud_base: [CloudBase::CloudFlux, CloudBase::Archived, CloudBase::None][random.below(3)],
            exchange: [BaseExchange::BeforePlume, BaseExchange::WithPlume][random.below(2)],
            update: [Update::MixingRatio, Update::MassFlux][random.below(2)],
            negative: [Negative::Kept, Negative::Clamped][random.below(2)],
        };
        let (detrains, substeps) = (random.once_in(2), random.between(1, 4));
        Self { columns, flux, detrainment, base, areas, detrains, options, substeps }
    }

    /// Largest Courant number of each row.
    fn courants(&self) -> Vec<R> {
        let rows = self.columns.rows();
        let of_row = |row: &Row| {
            let (mass, area) = (row.gather(&self.columns.state, 0, 1.0), row.gather(&self.areas, 0, 1.0));
            let air = ColumnAir { block: row.block, mass: &mass, area: &area };
            largest_courant(&air, &row.gather(&self.flux, 0, 0.0), R::from_f64(DT))
        };
        rows.iter().map(of_row).collect()
    }

    /// State and books afterwards.
    fn convected(&self, books: &mut Books<R>) -> Slabs<R> {
        let mut after = self.columns.state.clone();
        for row in self.columns.rows() {
            let (mass, area) = (row.gather(&self.columns.state, 0, 1.0), row.gather(&self.areas, 0, 1.0));
            let air = ColumnAir { block: row.block, mass: &mass, area: &area };
            let [flux, detrainment, base] =
                [&self.flux, &self.detrainment, &self.base].map(|field| row.gather(field, 0, 0.0));
            let forcing = CmfmcForcing {
                cloud_flux: &flux,
                detrainment: self.detrains.then_some(&detrainment),
                cloud_base: Some(&base),
            };
            let mut work = Cmfmc::new(row.block, self.options);
            work.prepare(&air, &forcing, R::from_f64(DT), self.substeps).unwrap();
            for plane in 1..self.columns.planes {
                let mut tracer = row.gather(&self.columns.state, plane, 0.0);
                let mut carry = row.gather(&books.carry, plane, 0.0);
                let mut returned = row.gather(&books.returned, plane, 0.0);
                let ledger = Ledger::Booked { carry: &mut carry, returned: &mut returned };
                books.refused += work.convect(&air, &mut tracer, ledger).refused;
                row.scatter(&tracer, &mut after, plane);
                row.scatter(&carry, &mut books.carry, plane);
                row.scatter(&returned, &mut books.returned, plane);
            }
        }
        after
    }
}

pub fn cloud_courant<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let mut case = Convecting::new(world);
    if world.random.once_in(4) {
        let not_a_number = R::from_f64([f64::NAN, f64::INFINITY][world.random.below(2)]);
        let level = world.random.below(case.columns.depth + 1);
        let row = Row::all(&case.columns.set, case.columns.depth + 1).remove(0);
        let mut part = row.gather(&case.flux, 0, 0.0);
        part[level * row.block.width()] = not_a_number;
        row.scatter(&part, &mut case.flux, 0);
    }
    let rows = world.rows().len();
    let largest = rig.put(&vec![R::from_f64(-7.0); rows]);
    let before = [&case.columns.state, &case.flux, &case.areas].map(|field| rig.put(field.data()));
    let behind = [real(R::from_f64(DT)), size(case.columns.depth)];
    let arguments = [&before[..], &[largest], &tables(rig, world), &behind, &world.strides()].concat();
    rig.launch(KernelName::CloudCourant, [rows, 1, 1], &arguments);
    let expected = case.courants();
    rig.assert_memory(largest, &expected);
    // The host takes the largest of all rows, in any order.
    let fold = |rows: &[R]| rows.iter().fold(R::default(), |a, b| finite_max(a, *b));
    let backward: Vec<R> = expected.iter().rev().copied().collect();
    assert!(crate::device::same(fold(&expected), fold(&backward)));
}

/// Preparation and solve: what the first leaves shows in the second.
pub fn cmfmc<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let case = Convecting::new(world);
    let (columns, depth, options) = (&case.columns, case.columns.depth, case.options);
    let mut books = Books::new(rig, columns, &mut world.random);
    let dt = real(R::from_f64(DT) / R::from_f64(case.substeps as f64));
    let flag = |set: bool| Argument::Int(i32::from(set));
    let clamped = flag(options.negative == Negative::Clamped);
    let areas = rig.put(case.areas.data());
    let state = rig.put(columns.state.data());
    let forcing = [&case.flux, &case.detrainment, &case.base].map(|field| rig.put(field.data()));
    let shared = [depth, depth, depth, 4].map(|levels| rig.put(columns.unset(levels).data()));
    let tables = tables(rig, world);
    let rule = match options.cloud_base {
        CloudBase::CloudFlux => 0,
        CloudBase::Archived => 1,
        CloudBase::None => 2,
    };
    let behind = [&[dt, size(depth)], &world.strides()[..]].concat();
    let choices = [flag(case.detrains), Argument::Int(rule), clamped];
    let arguments = [&[state], &forcing[..], &[areas], &shared, &tables, &choices, &behind].concat();
    let rows = world.rows().len();
    rig.cover(KernelName::CmfmcPrepare, world.widest(), [rows, 1], &arguments);
    let choices = [
        size(case.substeps),
        flag(options.exchange == BaseExchange::BeforePlume),
        flag(options.update == Update::MassFlux),
        clamped,
    ];
    let arguments = [&[state, areas], &shared[..], &books.arguments(), &tables, &choices, &behind].concat();
    rig.cover(KernelName::CmfmcConvect, world.widest(), [columns.planes - 1, rows], &arguments);
    let expected = case.convected(&mut books);
    rig.assert_memory(state, expected.data());
    books.assert(rig);
}
