//! Diffusion and emissions between the two halves of a substep, block of rows by block of rows.

use std::sync::Mutex;

use kernels::Scalar;
use kernels::columns::{
    ColumnBlock, Dose, FluxFormFactors, Ledger, LedgerStats, MassSpaceFactors, TwoWord, deposit_by_profile,
    deposit_in_layer, emission_amounts, exchange_from_rates,
};
use kernels::cpu::AlignedBuffer;

use super::rows::{ColumnStore, RowBlocks, widest};
use super::settings::{Centre, Diffusion, KzUpdate};
use super::window::WindowField;
use crate::met::{Derived, WindowBuffer};
use crate::sources::Source;
use crate::state::{Slabs, TileSet};

/// A source of a run and where it enters the columns.
#[derive(Clone, Debug)]
pub struct Emitter<R> {
    /// Tracer in storage order.
    pub tracer: usize,
    /// Its rates.
    pub source: Source<R>,
    /// Field with the share of each layer; `None`: all of it enters the lowest layer.
    pub profile: Option<Derived>,
}

/// When a substep takes place.
#[derive(Clone, Copy, Debug)]
pub struct CentreStep {
    /// Start of the substep, s since the start of the run.
    pub start: f64,
    /// Its length, s.
    pub seconds: f64,
}

/// What the columns noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnStats {
    /// Of the ledgers.
    pub ledger: LedgerStats,
    /// Columns whose emission could not be lofted and entered the lowest layer, counted per deposit.
    pub unlofted: u64,
}

impl ColumnStats {
    /// Both together.
    pub fn merge(self, other: Self) -> Self {
        Self { ledger: self.ledger.merge(other.ledger), unlofted: self.unlofted + other.unlofted }
    }
}

/// Diffusion and emissions of the columns of one rank, with what they keep from step to step.
#[derive(Debug)]
pub struct CentrePhysics<R: Scalar> {
    diffusion: Option<(KzUpdate, WindowField)>,
    halves: Halves,
    emitters: Vec<Emitter<R>>,
    /// Per tracer the carry and what the ledger has returned, then per source its compensation.
    store: ColumnStore<R>,
    work: Vec<Mutex<Work<R>>>,
    tracers: usize,
    blocks: Vec<RowBlocks>,
}

/// Parts in which the diffusion of a run is done: all tracers alike, so that tracers add up to their sum.
pub(in crate::operators) fn halves<R>(diffusion: Option<&Diffusion>, emitters: &[Emitter<R>]) -> Halves {
    match diffusion.map(|d| d.centre) {
        Some(Centre::DiffuseEmitDiffuse) if !emitters.is_empty() => Halves::Two,
        _ => Halves::One,
    }
}

/// Parts the diffusion of a substep is done in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::operators) enum Halves {
    /// All of it behind the emissions.
    One,
    /// Half before, half behind them.
    Two,
}

/// Work space of one thread.
#[derive(Debug)]
struct Work<R> {
    rates: AlignedBuffer<R>,
    exchange: AlignedBuffer<R>,
    solver: Solver<R>,
    amounts: AlignedBuffer<R>,
    fractions: AlignedBuffer<R>,
    /// What `fractions` holds.
    loaded: Option<Derived>,
}

#[derive(Debug)]
enum Solver<R> {
    None,
    MassSpace(MassSpaceFactors<R>),
    Flux(FluxFormFactors<R>),
    Matrix(FluxFormFactors<R>),
}

impl<R: Scalar> CentrePhysics<R> {
    /// For the tiles of `set` with `levels` layers, `tracers` tracers and a number of threads. `None` if nothing diffuses
    /// and nothing is emitted.
    pub fn new(
        diffusion: Option<&Diffusion>,
        emitters: Vec<Emitter<R>>,
        set: &TileSet,
        levels: usize,
        tracers: usize,
        threads: usize,
    ) -> Option<Self> {
        if diffusion.is_none() && emitters.is_empty() {
            return None;
        }
        let halves = halves(diffusion, &emitters);
        let width = widest(set);
        let work = || Work {
            rates: AlignedBuffer::zeros(levels * width),
            exchange: AlignedBuffer::zeros(levels * width),
            solver: match diffusion.map(|d| d.update) {
                None => Solver::None,
                Some(KzUpdate::MassSpace) => Solver::MassSpace(MassSpaceFactors::new(width, levels)),
                Some(KzUpdate::Flux) => Solver::Flux(FluxFormFactors::new(width, levels)),
                Some(KzUpdate::Matrix) => Solver::Matrix(FluxFormFactors::new(width, levels)),
            },
            amounts: AlignedBuffer::zeros(width),
            fractions: AlignedBuffer::zeros(levels * width),
            loaded: None,
        };
        Some(Self {
            diffusion: diffusion.map(|d| (d.update, d.exchange())),
            halves,
            store: ColumnStore::zeros(set, 2 * tracers + emitters.len()),
            emitters,
            work: (0..threads).map(|_| Mutex::new(work())).collect(),
            tracers,
            blocks: set.shapes().iter().map(RowBlocks::new).collect(),
        })
    }

    /// Sources, in the order in which they act.
    pub fn emitters(&self) -> &[Emitter<R>] {
        &self.emitters
    }

    /// Per tracer the carry (`2 t`) and what was returned (`2 t + 1`), then the compensation of each source.
    pub fn store(&self) -> &ColumnStore<R> {
        &self.store
    }

    /// The same, to be written.
    pub fn store_mut(&mut self) -> &mut ColumnStore<R> {
        &mut self.store
    }

    /// What acts on the blocks of a tile, and the values kept for them, block after block.
    pub(in crate::operators) fn tile<'a>(
        &'a mut self,
        window: &'a WindowBuffer<R>,
        step: CentreStep,
        tile: usize,
    ) -> (BlockCentre<'a, R>, &'a mut [R], usize) {
        let exchange = self.diffusion.map(|(_, field)| match field {
            WindowField::Stored(section) => (window.get(section).expect("read with the window"), Form::Exchange),
            WindowField::Derived(field) => {
                let values = window.derived(field).expect("computed with the window");
                let form = if field == Derived::ExchangeRate { Form::Rate } else { Form::Exchange };
                (values, form)
            }
        });
        let centre = BlockCentre {
            window,
            step,
            tile,
            exchange,
            halves: self.halves,
            emitters: &self.emitters,
            work: &self.work,
            tracers: self.tracers,
            blocks: self.blocks[tile],
        };
        let length = self.store.block_len(tile);
        (centre, self.store.tile_mut(tile), length)
    }
}

/// What an exchange field holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// kg/s.
    Exchange,
    /// 1/s.
    Rate,
}

/// Diffusion and emissions of the blocks of one tile; shared by the threads.
pub(in crate::operators) struct BlockCentre<'a, R: Scalar> {
    window: &'a WindowBuffer<R>,
    step: CentreStep,
    tile: usize,
    exchange: Option<(&'a Slabs<R>, Form)>,
    halves: Halves,
    emitters: &'a [Emitter<R>],
    work: &'a [Mutex<Work<R>>],
    tracers: usize,
    blocks: RowBlocks,
}

impl<R: Scalar> BlockCentre<'_, R> {
    /// Prepares what all tracers of block `n` share, from its air mass. `thread` is that of the caller.
    pub(in crate::operators) fn prepare(&self, n: usize, block: ColumnBlock, air: &[R], thread: usize) {
        let mut work = self.work[thread].lock().expect("no operator panics");
        let Work { rates, exchange, solver, loaded, .. } = &mut *work;
        *loaded = None;
        let Some((field, form)) = self.exchange else { return };
        match form {
            Form::Exchange => self.gather(field, n, block, exchange, R::default()),
            Form::Rate => {
                self.gather(field, n, block, rates, R::default());
                exchange_from_rates(block, air, rates, exchange);
            }
        }
        let parts = match self.halves {
            Halves::One => 1.0,
            Halves::Two => 2.0,
        };
        let dt = R::from_f64(self.step.seconds / parts);
        match solver {
            Solver::None => {}
            Solver::MassSpace(factors) => factors.prepare(block, air, exchange, dt),
            Solver::Flux(factors) | Solver::Matrix(factors) => factors.prepare(block, air, exchange, dt),
        }
    }

    /// Diffusion and emissions of one tracer of block `n` in place; `kept` are the values of the block.
    pub(in crate::operators) fn act(
        &self,
        n: usize,
        block: ColumnBlock,
        tracer: usize,
        air: &[R],
        contents: &mut [R],
        kept: &mut [R],
        thread: usize,
    ) -> ColumnStats {
        let work = &mut *self.work[thread].lock().expect("no operator panics");
        let mut stats = ColumnStats::default();
        if self.halves == Halves::Two {
            stats.ledger = stats.ledger.merge(self.diffuse(block, tracer, air, contents, kept, work));
        }
        for (number, emitter) in self.emitters.iter().enumerate().filter(|(_, e)| e.tracer == tracer) {
            let width = self.blocks.width();
            let compensation = &mut kept[(2 * self.tracers + number) * width..][..block.width()];
            stats.unlofted += self.emit(n, block, emitter, contents, compensation, work);
        }
        stats.ledger = stats.ledger.merge(self.diffuse(block, tracer, air, contents, kept, work));
        stats
    }

    fn diffuse(
        &self,
        block: ColumnBlock,
        tracer: usize,
        air: &[R],
        contents: &mut [R],
        kept: &mut [R],
        work: &mut Work<R>,
    ) -> LedgerStats {
        let width = self.blocks.width();
        let (carry, returned) = kept[2 * tracer * width..][..2 * width].split_at_mut(width);
        let (carry, returned) = (&mut carry[..block.width()], &mut returned[..block.width()]);
        match &mut work.solver {
            Solver::None => LedgerStats::default(),
            Solver::MassSpace(factors) => factors.solve(air, contents, Ledger::Booked { carry, returned }),
            Solver::Flux(factors) => factors.solve(air, contents, Ledger::Booked { carry, returned }),
            Solver::Matrix(factors) => {
                factors.solve_matrix_form(air, contents);
                LedgerStats::default()
            }
        }
    }

    /// Adds what a source emits during the step; columns that could not be lofted.
    fn emit(
        &self,
        n: usize,
        block: ColumnBlock,
        emitter: &Emitter<R>,
        contents: &mut [R],
        compensation: &mut [R],
        work: &mut Work<R>,
    ) -> u64 {
        let Work { amounts, fractions, loaded, .. } = work;
        let (width, columns) = (block.width(), block.columns());
        if let Some(profile) = emitter.profile.filter(|profile| *loaded != Some(*profile)) {
            let field = self.window.derived(profile).expect("computed with the window");
            self.gather(field, n, block, fractions, R::default());
            *loaded = Some(profile);
        }
        let mut unlofted = 0;
        let rates = emitter.source.rates();
        let shape = &rates.tile_set().shapes()[self.tile];
        amounts[columns..width].fill(R::default());
        for segment in emitter.source.times().segments(self.step.start, self.step.seconds) {
            let seconds = [segment.first_seconds, segment.second_seconds].map(TwoWord::new);
            for (row, j) in self.blocks.range(n).enumerate() {
                let cells = shape.row_start(j)..shape.row_start(j) + shape.ni;
                let slice = |slice| &rates.plane(slice, self.tile, 0)[cells.clone()];
                let first = Dose { rates: slice(segment.first), seconds: seconds[0] };
                let second = (segment.first != segment.second)
                    .then(|| Dose { rates: slice(segment.second), seconds: seconds[1] });
                emission_amounts(first, second, &mut amounts[row * shape.ni..(row + 1) * shape.ni]);
            }
            match emitter.profile {
                None => {
                    let lowest = &mut contents[(block.nk() - 1) * width..block.nk() * width];
                    deposit_in_layer(&mut lowest[..columns], &mut compensation[..columns], &amounts[..columns]);
                }
                Some(field) => {
                    let profile = field.profile();
                    let amounts = &amounts[..width];
                    unlofted += deposit_by_profile(block, contents, compensation, amounts, fractions, profile);
                }
            }
        }
        unlofted
    }

    /// Copies block `n` of a field with one plane per level; padding gets `padding`.
    fn gather(&self, field: &Slabs<R>, n: usize, block: ColumnBlock, into: &mut [R], padding: R) {
        gather_field(field, self.tile, self.blocks, n, block, into, padding);
    }
}

/// Copies block `n` of a tile out of a field with one plane per level (or level interface); padding gets `padding`.
pub(crate) fn gather_field<R: Scalar>(
    field: &Slabs<R>,
    tile: usize,
    blocks: RowBlocks,
    n: usize,
    block: ColumnBlock,
    into: &mut [R],
    padding: R,
) {
    let shape = &field.tile_set().shapes()[tile];
    for (level, layer) in into.chunks_exact_mut(block.width()).take(field.levels()).enumerate() {
        let plane = field.plane(level, tile, 0);
        for (j, row) in blocks.range(n).zip(layer.chunks_exact_mut(shape.ni)) {
            row.copy_from_slice(&plane[shape.row_start(j)..][..shape.ni]);
        }
        layer[block.columns()..].fill(padding);
    }
}
