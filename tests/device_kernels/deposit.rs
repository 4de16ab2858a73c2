//! Deposit of emissions.

use atmostr::device::Argument;
use atmostr::state::Slabs;
use kernels::Scalar;
use kernels::columns::{Dose, Profile, TwoWord, deposit_by_profile, deposit_in_layer, emission_amounts};
use kernels::device::KernelName;

use crate::columns::{Columns, Row, size, tables};
use crate::rig::{Rig, real};
use crate::world::World;

/// Rates of a source, their times, and where they go.
struct Emitting<R> {
    columns: Columns<R>,
    /// Slices of rates.
    rates: Slabs<R>,
    /// Slices that act, and their times.
    acting: Vec<(usize, TwoWord<R>)>,
    compensation: Slabs<R>,
    plane: usize,
}

impl<R: Scalar> Emitting<R> {
    /// One slice of rates or two, some negative, from nothing at all to as much as a layer holds.
    fn new(world: &mut World<R>) -> Self {
        let columns = Columns::new(world);
        let random = &mut world.random;
        let count = random.between(1, 4);
        let rates = columns.field(count, random, |random, _| {
            let unit = random.unit();
            [0.0, 1e-3, 1e4, 1e7][random.below(4)] * unit
        });
        let acting = (0..random.between(1, 2))
            .map(|n| (random.below(count), TwoWord::new(3600.0 / (13.0 + n as f64))))
            .collect();
        let compensation = columns.field(1, random, |random, _| random.unit());
        let plane = random.between(1, columns.planes - 1);
        Self { columns, rates, acting, compensation, plane }
    }

    /// Slices and the words of their times.
    fn times(&self) -> [Argument; 6] {
        let times = |n: usize| match self.acting.get(n) {
            Some((slice, time)) => [size(*slice), real(time.high), real(time.low)],
            None => [Argument::Int(-1), real(R::default()), real(R::default())],
        };
        let ([a, b, c], [d, e, f]) = (times(0), times(1));
        [a, b, c, d, e, f]
    }

    /// Amounts of a row.
    fn amounts(&self, row: &Row) -> Vec<R> {
        let (all, width) = (row.gather(&self.rates, 0, 0.0), row.block.width());
        let dose = |n: usize| {
            let (slice, seconds) = self.acting[n];
            Dose { rates: &all[slice * width..][..width], seconds }
        };
        let mut amounts = vec![R::default(); width];
        emission_amounts(dose(0), (self.acting.len() == 2).then(|| dose(1)), &mut amounts);
        amounts
    }

    /// State and compensation after `deposit(row, tracer, compensation, amounts)` on every row.
    fn deposited(&self, mut deposit: impl FnMut(&Row, &mut [R], &mut [R], &[R])) -> [Slabs<R>; 2] {
        let (mut state, mut kept) = (self.columns.state.clone(), self.compensation.clone());
        for row in self.columns.rows() {
            let mut tracer = row.gather(&self.columns.state, self.plane, 0.0);
            let mut compensation = row.gather(&self.compensation, 0, 0.0);
            deposit(&row, &mut tracer, &mut compensation, &self.amounts(&row));
            row.scatter(&tracer, &mut state, self.plane);
            row.scatter(&compensation, &mut kept, 0);
        }
        [state, kept]
    }
}

pub fn deposit_surface<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let case = Emitting::new(world);
    let (rates, times) = (rig.put(case.rates.data()), case.times());
    let memories = [rig.put(case.columns.state.data()), rig.put(case.compensation.data())];
    let before = [&[memories[0], rates, memories[1]], &tables(rig, world)[..]].concat();
    let arguments = [&before[..], &times, &[size(case.plane), size(case.columns.depth)], &world.strides()].concat();
    rig.cover(KernelName::DepositSurface, world.widest(), [world.rows().len(), 1], &arguments);
    let expected = case.deposited(|row, tracer, compensation, amounts| {
        let surface = tracer.len() - row.block.width();
        deposit_in_layer(&mut tracer[surface..], compensation, amounts);
    });
    for (memory, expected) in memories.into_iter().zip(expected) {
        rig.assert_memory(memory, expected.data());
    }
}

pub fn deposit_profile<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let case = Emitting::new(world);
    let (columns, depth) = (&case.columns, case.columns.depth);
    // Profiles that loft everything, some with negative fractions.
    let profile = columns.field(depth, &mut world.random, |random, _| random.unit().max(-0.2) / depth as f64);
    let (rates, times) = (rig.put(case.rates.data()), case.times());
    let memories = [rig.put(columns.state.data()), rig.put(case.compensation.data())];
    let (fractions, unlofted) = (rig.put(profile.data()), rig.put(&[0_i32]));
    let strides = world.strides();
    let before = [&[memories[0], rates, memories[1], fractions, unlofted], &tables(rig, world)[..]].concat();
    let (kind, lofts) = [(Profile::Lofting, 1.0), (Profile::Injection, 0.0)][world.random.below(2)];
    let more = [real(R::from_f64(lofts)), size(case.plane), size(depth)];
    let arguments = [&before[..], &times, &more, &strides].concat();
    rig.cover(KernelName::DepositProfile, world.widest(), [world.rows().len(), 1], &arguments);
    let mut count = 0;
    let expected = case.deposited(|row, tracer, compensation, amounts| {
        let fractions = row.gather(&profile, 0, 0.0);
        count += deposit_by_profile(row.block, tracer, compensation, amounts, &fractions, kind);
    });
    for (memory, expected) in memories.into_iter().zip(expected) {
        rig.assert_memory(memory, expected.data());
    }
    rig.assert_count(unlofted, count);
}
