//! Columns of tests, side by side in a block.
#![allow(dead_code)]

use kernels::Scalar;
use kernels::columns::{ColumnBlock, FluxFormFactors, Ledger, LedgerStats, MassSpaceFactors};

/// One value per layer of each column, top first.
pub type Columns<R> = Vec<Vec<R>>;

/// Puts columns side by side; the padding repeats `padding`.
pub fn packed<R: Scalar>(block: ColumnBlock, columns: &[Vec<R>], padding: f64) -> Vec<R> {
    let mut out = vec![R::lit(padding); block.values()];
    for (i, column) in columns.iter().enumerate() {
        for (k, &value) in column.iter().enumerate() {
            out[k * block.width() + i] = value;
        }
    }
    out
}

/// Takes columns out of a block.
pub fn unpacked<R: Scalar>(block: ColumnBlock, field: &[R]) -> Columns<R> {
    let column = |i: usize| (0..block.nk()).map(|k| field[k * block.width() + i]).collect();
    (0..block.columns()).map(column).collect()
}

/// Air and exchange of a set of columns.
#[derive(Clone)]
pub struct Fixture<R> {
    pub mass: Columns<R>,
    pub exchange: Columns<R>,
    pub dt: f64,
}

/// A way to solve, with its factors.
pub enum Solver<R> {
    MassSpace(MassSpaceFactors<R>),
    FluxForm(FluxFormFactors<R>),
    Matrix(FluxFormFactors<R>),
}

/// Which residuals return to the field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Off,
    WithoutCarry,
    Carry,
}

/// A fixture in block form, ready to solve.
pub struct Bench<R> {
    pub block: ColumnBlock,
    pub mass: Vec<R>,
    pub solver: Solver<R>,
    pub carry: Vec<R>,
    pub mode: Mode,
}

impl<R: Scalar> Bench<R> {
    pub fn new(fixture: &Fixture<R>, mode: Mode, solver: fn(usize, usize) -> Solver<R>) -> Self {
        let block = ColumnBlock::new(fixture.mass.len(), fixture.mass[0].len());
        let mass = packed(block, &fixture.mass, 1.0);
        let exchange = packed(block, &fixture.exchange, 0.3);
        let mut solver = solver(block.width(), block.nk());
        match &mut solver {
            Solver::MassSpace(factors) => factors.prepare(block, &mass, &exchange, R::from_f64(fixture.dt)),
            Solver::FluxForm(factors) | Solver::Matrix(factors) => {
                factors.prepare(block, &mass, &exchange, R::from_f64(fixture.dt));
            }
        }
        Self { block, mass, solver, carry: vec![R::lit(0.0); block.width()], mode }
    }

    /// One solve of a field in block form.
    pub fn step(&mut self, field: &mut [R]) -> LedgerStats {
        let ledger = match self.mode {
            Mode::Off => Ledger::Off,
            Mode::WithoutCarry => Ledger::WithoutCarry,
            Mode::Carry => Ledger::Carry(&mut self.carry),
        };
        match &mut self.solver {
            Solver::MassSpace(factors) => factors.solve(&self.mass, field, ledger),
            Solver::FluxForm(factors) => factors.solve(&self.mass, field, ledger),
            Solver::Matrix(factors) => {
                factors.solve_matrix_form(&self.mass, field);
                LedgerStats::default()
            }
        }
    }

    /// Solves `steps` times; padding has a ratio of its own.
    pub fn run(&mut self, start: &[Vec<R>], steps: usize) -> Columns<R> {
        let mut field = packed(self.block, start, 0.7);
        for _ in 0..steps {
            assert_eq!(self.step(&mut field).refused, 0, "only rounding is left over");
        }
        assert!(field.iter().all(|x| Scalar::is_finite(*x)));
        unpacked(self.block, &field)
    }
}

pub fn mass_space<R: Scalar>(width: usize, nk: usize) -> Solver<R> {
    Solver::MassSpace(MassSpaceFactors::new(width, nk))
}

pub fn flux_form<R: Scalar>(width: usize, nk: usize) -> Solver<R> {
    Solver::FluxForm(FluxFormFactors::new(width, nk))
}

pub fn matrix<R: Scalar>(width: usize, nk: usize) -> Solver<R> {
    Solver::Matrix(FluxFormFactors::new(width, nk))
}
