//! Vertical diffusion.

use atmostr::device::Argument;
use atmostr::state::Slabs;
use kernels::Scalar;
use kernels::columns::{FluxFormFactors, Ledger, MassSpaceFactors, exchange_from_rates};
use kernels::device::KernelName;

use crate::columns::{Books, Columns, Row, size, tables};
use crate::rig::{Rig, real};
use crate::world::World;

const DT: f64 = 450.0;

/// Whether the field holds rates or the exchange itself.
#[derive(Clone, Copy, PartialEq)]
enum Given {
    Rates,
    Exchange,
}

/// Columns with the exchange between their layers.
struct Exchanging<R> {
    columns: Columns<R>,
    field: Slabs<R>,
    given: Given,
}

impl<R: Scalar> Exchanging<R> {
    /// From no exchange at all to much more than the layers hold.
    fn new(world: &mut World<R>, tracers: Option<usize>) -> Self {
        let mut columns = Columns::new(world);
        if let Some(tracers) = tracers {
            columns = Columns::with_tracers(world, columns.depth, tracers);
        }
        let random = &mut world.random;
        let given = [Given::Rates, Given::Exchange][random.below(2)];
        let scale = if given == Given::Rates { 1.0 } else { 1e10 } / DT;
        let field = columns.field(columns.depth, random, |random, _| match random.below(4) {
            0 => 0.0,
            1 => 1e-9 * scale * random.unit().abs(),
            2 => scale * random.unit().abs(),
            _ => 1e4 * scale * random.unit().abs(),
        });
        Self { columns, field, given }
    }

    fn per_rate(&self) -> Argument {
        Argument::Int(i32::from(self.given == Given::Rates))
    }

    /// Air and exchange of a row.
    fn of(&self, row: &Row) -> (Vec<R>, Vec<R>) {
        let mass = row.gather(&self.columns.state, 0, 1.0);
        let field = row.gather(&self.field, 0, 0.0);
        if self.given == Given::Exchange {
            return (mass, field);
        }
        let mut exchange = vec![R::default(); field.len()];
        exchange_from_rates(row.block, &mass, &field, &mut exchange);
        (mass, exchange)
    }

    fn mass_space(&self, row: &Row) -> (Vec<R>, MassSpaceFactors<R>) {
        let (mass, exchange) = self.of(row);
        let mut factors = MassSpaceFactors::new(row.block.width(), row.block.nk());
        factors.prepare(row.block, &mass, &exchange, R::from_f64(DT));
        (mass, factors)
    }

    fn flux_form(&self, row: &Row) -> (Vec<R>, FluxFormFactors<R>) {
        let (mass, exchange) = self.of(row);
        let mut factors = FluxFormFactors::new(row.block.width(), row.block.nk());
        factors.prepare(row.block, &mass, &exchange, R::from_f64(DT));
        (mass, factors)
    }

    /// Solves row by row and tracer by tracer; the state afterwards, with books.
    fn solve(&self, books: &mut Books<R>, mut solve: impl FnMut(&Row, &mut [R], Ledger<R>) -> u64) -> Slabs<R> {
        let mut after = self.columns.state.clone();
        for row in self.columns.rows() {
            for plane in 1..self.columns.planes {
                let mut tracer = row.gather(&self.columns.state, plane, 0.0);
                let mut carry = row.gather(&books.carry, plane, 0.0);
                let mut returned = row.gather(&books.returned, plane, 0.0);
                let ledger = Ledger::Booked { carry: &mut carry, returned: &mut returned };
                books.refused += solve(&row, &mut tracer, ledger);
                row.scatter(&tracer, &mut after, plane);
                row.scatter(&carry, &mut books.carry, plane);
                row.scatter(&returned, &mut books.returned, plane);
            }
        }
        after
    }

    /// The same by mass-space factors.
    fn solve_mass_space(&self, books: &mut Books<R>) -> Slabs<R> {
        self.solve(books, |row, tracer, ledger| {
            let (mass, factors) = self.mass_space(row);
            factors.solve(&mass, tracer, ledger).refused
        })
    }

    /// Cells of the ledger of every column, found from what a solve does.
    fn per_column(&self, of_row: impl Fn(&Row) -> Vec<R>) -> Slabs<R> {
        let mut found = self.columns.unset(1);
        for row in self.columns.rows() {
            row.scatter(&of_row(&row), &mut found, 0);
        }
        found
    }

    /// A field from the rows.
    fn per_cell(&self, of_row: impl Fn(&Row) -> Vec<R>) -> Slabs<R> {
        let mut found = self.columns.unset(self.columns.depth);
        for row in self.columns.rows() {
            row.scatter(&of_row(&row), &mut found, 0);
        }
        found
    }
}

/// Launches the kernel of mass-space factors; shares down and up, and cells.
fn mass_space_factors<R: Scalar>(rig: &mut Rig<R>, world: &World<R>, case: &Exchanging<R>) -> [Argument; 3] {
    let [tiles, rows] = tables(rig, world);
    let [stride, field_stride] = world.strides();
    let depth = case.columns.depth;
    let [down, up] = [0, 1].map(|_| rig.put(case.columns.unset(depth).data()));
    let cells = rig.put(case.columns.unset(1).data());
    let arguments = [
        rig.put(case.columns.state.data()),
        rig.put(case.field.data()),
        down,
        up,
        cells,
        tiles,
        rows,
        case.per_rate(),
        real(R::from_f64(DT)),
        size(depth),
        stride,
        field_stride,
    ];
    rig.cover(KernelName::DiffusionFactors, world.widest(), [world.rows().len(), 1], &arguments);
    [down, up, cells]
}

pub fn diffusion_factors<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let case = Exchanging::new(world, None);
    let [down, up, cells] = mass_space_factors(rig, world, &case);
    rig.assert_memory(down, case.per_cell(|row| case.mass_space(row).1.down().to_vec()).data());
    rig.assert_memory(up, case.per_cell(|row| case.mass_space(row).1.up().to_vec()).data());
    rig.assert_memory(cells, case.per_column(|row| case.mass_space(row).1.cells().to_vec()).data());
}

pub fn diffuse<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let case = Exchanging::new(world, None);
    let [down, up, cells] = mass_space_factors(rig, world, &case);
    let mut books = Books::new(rig, &case.columns, &mut world.random);
    let [carry, returned, refused] = books.arguments();
    let [tiles, rows] = tables(rig, world);
    let [stride, field_stride] = world.strides();
    let state = rig.put(case.columns.state.data());
    let depth = size(case.columns.depth);
    let arguments = [state, down, up, cells, carry, returned, refused, tiles, rows, depth, stride, field_stride];
    let groups = [case.columns.planes - 1, world.rows().len()];
    rig.cover(KernelName::Diffuse, world.widest(), groups, &arguments);
    let expected = case.solve_mass_space(&mut books);
    rig.assert_memory(state, expected.data());
    books.assert(rig);
}

pub fn diffuse_single<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    if world.planes() != 2 {
        return;
    }
    let case = Exchanging::new(world, Some(1));
    let mut books = Books::new(rig, &case.columns, &mut world.random);
    let [carry, returned, refused] = books.arguments();
    let [tiles, rows] = tables(rig, world);
    let [stride, field_stride] = world.strides();
    let state = rig.put(case.columns.state.data());
    let [down, up] = [0, 1].map(|_| rig.put(case.columns.unset(case.columns.depth).data()));
    let arguments = [
        state,
        rig.put(case.field.data()),
        down,
        up,
        carry,
        returned,
        refused,
        tiles,
        rows,
        case.per_rate(),
        real(R::from_f64(DT)),
        size(case.columns.depth),
        stride,
        field_stride,
    ];
    rig.cover(KernelName::DiffuseSingle, world.widest(), [world.rows().len(), 1], &arguments);
    let expected = case.solve_mass_space(&mut books);
    rig.assert_memory(state, expected.data());
    books.assert(rig);
}

/// Launches the kernel of tridiagonal factors: exchange of the step, lower, pivot, upper, and cells.
fn tridiagonal<R: Scalar>(rig: &mut Rig<R>, world: &World<R>, case: &Exchanging<R>) -> [Argument; 5] {
    let [tiles, rows] = tables(rig, world);
    let [stride, field_stride] = world.strides();
    let depth = case.columns.depth;
    let [steps, lowers, pivots, uppers] = [0; 4].map(|_| rig.put(case.columns.unset(depth).data()));
    let cells = rig.put(case.columns.unset(1).data());
    let arguments = [
        rig.put(case.columns.state.data()),
        rig.put(case.field.data()),
        steps,
        lowers,
        pivots,
        uppers,
        cells,
        tiles,
        rows,
        case.per_rate(),
        real(R::from_f64(DT)),
        size(depth),
        stride,
        field_stride,
    ];
    rig.cover(KernelName::FluxFormFactors, world.widest(), [world.rows().len(), 1], &arguments);
    [steps, lowers, pivots, uppers, cells]
}

pub fn flux_form_factors<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let case = Exchanging::new(world, None);
    let [steps, lowers, pivots, uppers, cells] = tridiagonal(rig, world, &case);
    for (n, memory) in [steps, lowers, pivots, uppers].into_iter().enumerate() {
        rig.assert_memory(memory, case.per_cell(|row| case.flux_form(row).1.rows()[n].to_vec()).data());
    }
    rig.assert_memory(cells, case.per_column(|row| case.flux_form(row).1.cells().to_vec()).data());
}

pub fn diffuse_flux_form<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let case = Exchanging::new(world, None);
    let factors = tridiagonal(rig, world, &case);
    let mut books = Books::new(rig, &case.columns, &mut world.random);
    let [tiles, rows] = tables(rig, world);
    let [stride, field_stride] = world.strides();
    let state = rig.put(case.columns.state.data());
    let (tracers, depth) = (case.columns.planes - 1, case.columns.depth);
    let at_once = world.random.between(1, tracers);
    let scratch = rig.put(case.columns.unset(depth * at_once).data());
    for first in (0..tracers).step_by(at_once) {
        let after = [tiles, rows, size(first), size(depth), stride, field_stride];
        let arguments = [&[state], &factors[..], &[scratch], &books.arguments(), &after].concat();
        let groups = [at_once.min(tracers - first), world.rows().len()];
        rig.cover(KernelName::DiffuseFluxForm, world.widest(), groups, &arguments);
    }
    let expected = case.solve(&mut books, |row, tracer, ledger| {
        let (mass, mut factors) = case.flux_form(row);
        factors.solve(&mass, tracer, ledger).refused
    });
    rig.assert_memory(state, expected.data());
    books.assert(rig);
}

pub fn diffuse_matrix_form<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let case = Exchanging::new(world, None);
    let factors = tridiagonal(rig, world, &case);
    let mut books = Books::new(rig, &case.columns, &mut world.random);
    let [tiles, rows] = tables(rig, world);
    let [stride, field_stride] = world.strides();
    let state = rig.put(case.columns.state.data());
    let (tracers, depth) = (case.columns.planes - 1, case.columns.depth);
    let scratch = rig.put(case.columns.unset(depth * tracers).data());
    let after = [scratch, tiles, rows, size(0), size(depth), stride, field_stride];
    let arguments = [&[state], &factors[1..4], &after].concat();
    rig.cover(KernelName::DiffuseMatrixForm, world.widest(), [tracers, world.rows().len()], &arguments);
    let expected = case.solve(&mut books, |row, tracer, _| {
        let (mass, mut factors) = case.flux_form(row);
        factors.solve_matrix_form(&mass, tracer);
        0
    });
    rig.assert_memory(state, expected.data());
    books.assert(rig);
}
