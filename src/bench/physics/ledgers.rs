//! What ledgers cost: booked and plain solves of the same blocks in cache, in turns.

use std::sync::Mutex;
use std::time::Instant;

use kernels::columns::convection::ColumnAir;
use kernels::columns::convection::cmfmc::{Cmfmc, CmfmcForcing};
use kernels::columns::convection::tm5::{Downdraft, Tm5, Tm5Forcing};
use kernels::columns::{ColumnBlock, FluxFormFactors, Ledger, MassSpaceFactors, exchange_from_rates};
use kernels::cpu::AlignedBuffer;
use kernels::{Scalar, TileShape};
use rayon::prelude::*;

use super::Bench;
use super::case::PhysicsCase;
use super::report::LedgerTiming;
use super::times::Turns;
use crate::bench::BenchError;
use crate::met::{Derived, Section};
use crate::operators::columns::{Convection, RowBlocks, cell_areas, gather_field, widest};
use crate::state::Slabs;

/// Solves with a ledger.
#[derive(Clone, Copy)]
pub(super) enum Solves {
    MassSpace,
    Flux,
    /// Convection for a window, an explicit scheme in a number of parts.
    Convection(Convection, usize),
}

/// Whether residuals are booked.
#[derive(Clone, Copy, PartialEq)]
enum Residuals {
    Left,
    Booked,
}

/// A solve with its scratch.
enum Solver<R> {
    MassSpace(MassSpaceFactors<R>),
    Flux(FluxFormFactors<R>),
    Implicit(Box<Tm5<R>>),
    Explicit(Box<Cmfmc<R>>, usize),
}

/// Work space of one thread for one block.
struct Work<R> {
    solver: Solver<R>,
    air: AlignedBuffer<R>,
    area: AlignedBuffer<R>,
    forcing: [AlignedBuffer<R>; 4],
    exchange: AlignedBuffer<R>,
    /// Contents of the tracers that a call solves, before and after.
    start: AlignedBuffer<R>,
    contents: AlignedBuffer<R>,
    carry: AlignedBuffer<R>,
    returned: AlignedBuffer<R>,
}

/// Fields that force a solve.
type Forcing<'a, R> = [Option<&'a Slabs<R>>; 4];

impl Solves {
    fn forcing<'a, R: Scalar>(&self, case: &'a PhysicsCase<R>) -> Forcing<'a, R> {
        let (stored, derived) = (|s| case.window.get(s), |f| case.window.derived(f));
        match self {
            Self::MassSpace | Self::Flux => [derived(Derived::ExchangeRate), None, None, None],
            Self::Convection(Convection::Tm5(_), _) => {
                [Section::Entu, Section::Detu, Section::Entd, Section::Detd].map(stored)
            }
            Self::Convection(Convection::Cmfmc(_), _) => [stored(Section::Cmfmc), stored(Section::Dtrain), None, None],
            Self::Convection(Convection::CmfmcMatrix(_), _) => {
                [derived(Derived::Entrainment), derived(Derived::Detrainment), None, None]
            }
        }
    }

    /// Tracers of a call: implicit convection solves all together.
    fn tracers_of_call(&self, tracers: usize) -> usize {
        match self {
            Self::Convection(Convection::Tm5(_) | Convection::CmfmcMatrix(_), _) => tracers,
            _ => 1,
        }
    }
}

impl<R: Scalar> Work<R> {
    fn new(solves: &Solves, width: usize, levels: usize, tracers: usize) -> Result<Self, BenchError> {
        let cells = || AlignedBuffer::zeros((levels + 1) * width);
        let count = solves.tracers_of_call(tracers);
        let solver = match solves {
            Solves::MassSpace => Solver::MassSpace(MassSpaceFactors::new(width, levels)),
            Solves::Flux => Solver::Flux(FluxFormFactors::new(width, levels)),
            Solves::Convection(Convection::Tm5(choice) | Convection::CmfmcMatrix(choice), _) => {
                Solver::Implicit(Box::new(Tm5::new(levels, choice.options)?))
            }
            Solves::Convection(Convection::Cmfmc(options), parts) => {
                Solver::Explicit(Box::new(Cmfmc::new(ColumnBlock::new(width, levels), *options)), *parts)
            }
        };
        Ok(Self {
            solver,
            air: cells(),
            area: AlignedBuffer::zeros(width),
            forcing: [cells(), cells(), cells(), cells()],
            exchange: cells(),
            start: AlignedBuffer::zeros(count * levels * width),
            contents: AlignedBuffer::zeros(count * levels * width),
            carry: AlignedBuffer::zeros(count * width),
            returned: AlignedBuffer::zeros(count * width),
        })
    }

    /// Prepares what the tracers of a block share, once its air, areas and forcing are in place.
    fn prepare(&mut self, block: ColumnBlock, dt: R) {
        let Self { solver, air, area, forcing, exchange, start, .. } = self;
        for contents in start.chunks_exact_mut(block.values()) {
            for (k, (contents, air)) in
                contents.chunks_exact_mut(block.width()).zip(air.chunks_exact(block.width())).enumerate()
            {
                let ratio = R::from_f64(4e-4 * (1.0 + 0.1 * (k as f64 / block.nk() as f64).powi(4)));
                contents.iter_mut().zip(air).for_each(|(content, air)| *content = *air * ratio);
            }
        }
        match solver {
            Solver::MassSpace(factors) => {
                exchange_from_rates(block, air, &forcing[0], exchange);
                factors.prepare(block, air, exchange, dt);
            }
            Solver::Flux(factors) => {
                exchange_from_rates(block, air, &forcing[0], exchange);
                factors.prepare(block, air, exchange, dt);
            }
            Solver::Implicit(_) => {}
            Solver::Explicit(scheme, parts) => {
                let air = ColumnAir { block, mass: air, area };
                let forcing =
                    CmfmcForcing { cloud_flux: &forcing[0], detrainment: Some(&forcing[1]), cloud_base: None };
                scheme.prepare(&air, &forcing, dt, *parts).expect("the cloud base is that of the flux");
            }
        }
    }

    /// Seconds of one call from the same contents.
    fn solve(&mut self, block: ColumnBlock, dt: R, has_downdraft: bool, residuals: Residuals) -> f64 {
        let Self { solver, air, area, forcing, start, contents, carry, returned, .. } = self;
        let count = start.len() / block.values();
        let values = count * block.values();
        let contents = &mut contents[..values];
        contents.copy_from_slice(&start[..values]);
        let ledger = match residuals {
            Residuals::Left => Ledger::Off,
            Residuals::Booked => {
                let length = count * block.width();
                Ledger::Booked { carry: &mut carry[..length], returned: &mut returned[..length] }
            }
        };
        let begin = Instant::now();
        match solver {
            Solver::MassSpace(factors) => factors.solve(air, contents, ledger),
            Solver::Flux(factors) => factors.solve(air, contents, ledger),
            Solver::Implicit(scheme) => {
                let [entu, detu, entd, detd] = &*forcing;
                let downdraft = has_downdraft.then_some(Downdraft { entd, detd });
                let air = ColumnAir { block, mass: air, area };
                scheme.convect(&air, &Tm5Forcing { entu, detu, downdraft }, dt, contents, ledger)
            }
            Solver::Explicit(scheme, _) => scheme.convect(&ColumnAir { block, mass: air, area }, contents, ledger),
        };
        begin.elapsed().as_secs_f64()
    }
}

impl<R: Scalar> Bench<'_, R> {
    /// Measures the ledger of a solve in the derived window; `whole` is the wall time of a substep with the operator (s).
    pub(super) fn ledger(&self, solves: Solves, whole: f64) -> Result<LedgerTiming, BenchError> {
        let (case, threads) = (&self.case, self.threads);
        let set = case.window.tile_set();
        let (levels, tracers) = (case.state.levels(), case.state.tracers().len());
        let work = || Ok(Mutex::new(Work::new(&solves, widest(set), levels, tracers)?));
        let work = (0..threads.count()).map(|_| work()).collect::<Result<Vec<_>, BenchError>>()?;
        let areas = cell_areas::<R>(set, &case.grid);
        let air = case.window.get(Section::AirMass).expect("every transport file has the air mass");
        let forcing = solves.forcing(case);
        let calls = tracers / solves.tracers_of_call(tracers);
        let dt = R::from_f64(match solves {
            Solves::MassSpace | Solves::Flux => case.step().seconds,
            Solves::Convection(..) => case.seconds,
        });
        let block_times = |turn: usize, place: &Place| {
            let work = &mut *work[threads.index()].lock().expect("no solve panics");
            let Place { tile, blocks, n } = *place;
            let block = blocks.block(blocks.range(n).len(), levels);
            gather_field(air, tile, blocks, n, block, &mut work.air, R::lit(1.0));
            gather_field(&areas, tile, blocks, n, block, &mut work.area, R::lit(1.0));
            for (field, into) in forcing.iter().zip(&mut work.forcing) {
                if let Some(field) = field {
                    gather_field(field, tile, blocks, n, block, into, R::default());
                }
            }
            work.prepare(block, dt);
            let mut seconds = [0.0; 2];
            for call in 0..calls {
                let mut order = [(0, Residuals::Left), (1, Residuals::Booked)];
                if (turn + n + call) % 2 == 1 {
                    order.reverse();
                }
                for (at, residuals) in order {
                    seconds[at] += work.solve(block, dt, forcing[2].is_some(), residuals);
                }
            }
            seconds
        };
        let count = self.repetitions.max(1);
        let places: Vec<Place> = Place::all(set.shapes());
        let mut seconds = vec![[0.0; 2]; places.len() * count];
        // A first turn does not count.
        for turn in std::iter::once(0).chain(0..count) {
            let blocks = seconds.par_chunks_mut(count).zip(&places);
            blocks.for_each(|(seconds, place)| seconds[turn] = block_times(turn, place));
        }
        // Best and median of each block: what else the machine does disturbs few of them in most turns.
        let part = 1.0 / threads.count() as f64;
        let turns = seconds.chunks(count).map(Turns::of).fold(Turns::NONE, |all, block| all.then(block, part));
        Ok(self.yardstick.ledger(&turns, whole))
    }
}

/// A block of a tile.
struct Place {
    tile: usize,
    blocks: RowBlocks,
    n: usize,
}

impl Place {
    fn all(shapes: &[TileShape]) -> Vec<Self> {
        let of_tile = |(tile, shape): (usize, &TileShape)| {
            let blocks = RowBlocks::new(shape);
            (0..blocks.count()).map(move |n| Self { tile, blocks, n })
        };
        shapes.iter().enumerate().flat_map(of_tile).collect()
    }
}
