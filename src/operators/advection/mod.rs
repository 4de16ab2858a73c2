//! Directionally split advection of all packed tracers of all tiles of a rank.
//!
//! One substep is the palindrome `X Y Z | M | Z Y X`, M being the midpoint operator (vertical physics). Each leg
//! applies the stored half-sweep amounts; air mass moves with the tracers. At panel seams the face flux is evaluated
//! by both sides from the same six cells in the orientation of the lower-numbered panel, so no result depends on how
//! the sphere is divided.

pub(super) mod budget;
mod horizontal;
pub(super) mod linrood;
pub(super) mod seams;
mod transfers;
mod vertical;
pub(super) mod wave;

use std::ops::Range;
use std::sync::Mutex;
use std::time::Duration;

use decomposition::{Axis, ExchangeKind, Layout};
use kernels::Scalar;
use kernels::cpu::{SweepKernel, SweepStats};
use kernels::scheme::{Scheme, Sign, Vertical, kernel};

pub use kernels::scheme::Choice;

pub use budget::{CellBudget, largest_budget};
pub use transfers::Transfers;
pub use vertical::{ColumnRows, Midpoint, RowStats};

use self::horizontal::LevelScratch;
use self::linrood::LinRoodOperator;
use self::seams::TileSeams;
use self::vertical::Legs;
use self::wave::level_blocks;
use super::{HaloCopies, HaloMessages, Threads, plan_halos};
use crate::comm::Communicator;
use crate::state::{PackedState, Slabs};
use crate::timers::Timed;

/// Face amounts of one window (kg per half-sweep, times `scale`): `x`, `y` one plane per level, `z` at `levels + 1`
/// interfaces, positive toward larger i, j and downward.
#[derive(Clone, Copy)]
pub struct Winds<'a, R> {
    /// Through the west side of each cell.
    pub x: &'a Slabs<R>,
    /// Through the south side of each cell.
    pub y: &'a Slabs<R>,
    /// Through the top of each layer.
    pub z: &'a Slabs<R>,
    /// Factor on the stored values: 1 for half-sweep amounts, 1/(2·steps) for whole-window amounts.
    pub scale: f64,
}

/// Advection operator of one rank with all its work space.
pub struct Advection<R: Scalar> {
    kernel: &'static dyn SweepKernel<R>,
    horizontal: Horizontal<R>,
    rows: ColumnRows<R>,
    vertical: Vertical,
    /// Of each tracer.
    signs: Vec<Sign>,
}

/// The horizontal legs.
enum Horizontal<R: Scalar> {
    /// Sweeps along one axis after the other.
    Split(Box<SplitSweeps<R>>),
    /// Both axes at once.
    LinRood(Box<LinRoodOperator<R>>),
}

/// Directional sweeps with their messages.
struct SplitSweeps<R: Scalar> {
    sweeps: Sweeps<R>,
    messages: PerAxis<HaloMessages>,
    blocks: Vec<Range<usize>>,
    sequence: Vec<Axis>,
}

/// What the threads of a rank share while they sweep.
struct Sweeps<R: Scalar> {
    kernel: &'static dyn SweepKernel<R>,
    copies: PerAxis<HaloCopies>,
    seams: PerAxis<Vec<TileSeams<R>>>,
    level_scratch: Vec<Mutex<LevelScratch<R>>>,
}

/// One value for each horizontal axis.
pub(super) struct PerAxis<T> {
    pub(super) x: T,
    pub(super) y: T,
}

impl<T> PerAxis<T> {
    pub(super) fn get(&self, axis: Axis) -> &T {
        match axis {
            Axis::X => &self.x,
            Axis::Y => &self.y,
        }
    }

    pub(super) fn get_mut(&mut self, axis: Axis) -> &mut T {
        match axis {
            Axis::X => &mut self.x,
            Axis::Y => &mut self.y,
        }
    }
}

impl<R: Scalar> SplitSweeps<R> {
    fn new(scheme: Scheme, layout: &Layout, slabs: &Slabs<R>, threads: &Threads, comm: &dyn Communicator) -> Self {
        let blocks = level_blocks(layout, slabs, MESSAGE_BYTES, threads.count(), comm);
        let halos = |axis| plan_halos(layout, ExchangeKind::Sweep(axis), slabs, &blocks, comm);
        let ((copies_x, messages_x), (copies_y, messages_y)) = (halos(Axis::X), halos(Axis::Y));
        let seams = |axis| TileSeams::of_rank(layout, axis, slabs.tile_set(), comm.rank());
        let per_thread = 0..threads.count();
        Self {
            sweeps: Sweeps {
                kernel: kernel(scheme),
                copies: PerAxis { x: copies_x, y: copies_y },
                seams: PerAxis { x: seams(Axis::X), y: seams(Axis::Y) },
                level_scratch: per_thread.map(|_| Mutex::new(LevelScratch::new(slabs, scheme.halo()))).collect(),
            },
            messages: PerAxis { x: messages_x, y: messages_y },
            blocks,
            sequence: Vec::with_capacity(2 * MAX_PASSES),
        }
    }
}

impl<R: Scalar> Advection<R> {
    /// Time spent waiting for messages of other ranks since the last call.
    pub fn take_waited(&mut self) -> Duration {
        match &mut self.horizontal {
            Horizontal::Split(split) => split.messages.x.take_waited() + split.messages.y.take_waited(),
            Horizontal::LinRood(operator) => operator.take_waited(),
        }
    }

    /// Builds plans and work space for states shaped like `state`. Collective over `comm`.
    ///
    /// # Panics
    /// If the halo of the layout is narrower than the scheme needs, [`Scheme::halo`](kernels::Scheme::halo), or the columns
    /// have fewer layers than the vertical scheme, [`Vertical::least_layers`].
    pub fn new(
        choice: impl Into<Choice>,
        layout: &Layout,
        state: &PackedState<R>,
        threads: &Threads,
        comm: &dyn Communicator,
    ) -> Self {
        let choice = choice.into();
        let Choice { scheme, vertical, .. } = choice;
        assert!(state.levels() >= vertical.least_layers(), "too few layers for {}", vertical.name());
        assert!(layout.halo() >= scheme.halo(), "a halo of {} is too narrow for {}", layout.halo(), scheme.name());
        let slabs = state.slabs();
        let horizontal = match scheme {
            Scheme::LinRood(operator) => {
                Horizontal::LinRood(Box::new(LinRoodOperator::new(operator, layout, slabs, threads, comm)))
            }
            Scheme::Upwind | Scheme::Slopes(_) | Scheme::Ppm(_) => {
                Horizontal::Split(Box::new(SplitSweeps::new(scheme, layout, slabs, threads, comm)))
            }
        };
        Self {
            kernel: kernel(scheme),
            horizontal,
            rows: ColumnRows::of_choice(slabs, threads.count(), choice),
            vertical,
            signs: vec![Sign::NonNegative; state.tracers().len()],
        }
    }

    /// The same for tracers of these signs, one for each; without it none is below 0.
    ///
    /// # Panics
    /// If there is not one for each tracer.
    pub fn with_signs(mut self, signs: &[Sign]) -> Self {
        assert_eq!(signs.len(), self.signs.len(), "a sign for each tracer");
        self.signs.copy_from_slice(signs);
        self
    }

    /// Largest outflow budget of a substep in one pass per leg, from the air mass at the start of a window: of all six sides
    /// of a cell for directional sweeps; of its four sides or of top and bottom, whichever is larger, for the Lin–Rood
    /// operator, which afterwards takes levels that need less through fewer passes. Collective.
    pub fn largest_budget(&mut self, air: &Slabs<R>, winds: Winds<'_, R>, comm: &dyn Communicator) -> CellBudget {
        match &mut self.horizontal {
            Horizontal::Split(_) => largest_budget(air, winds, comm),
            Horizontal::LinRood(operator) => operator.largest_budget(air, winds, comm),
        }
    }

    /// One substep: the palindrome, each leg in `passes` equal parts, or fewer where [`Advection::largest_budget`] found that
    /// they do. What its horizontal sweeps move is added to `transfers`, if it is asked for.
    ///
    /// Returns what the sweeps noticed on this rank.
    pub fn substep(
        &mut self,
        state: &mut PackedState<R>,
        winds: Winds<'_, R>,
        passes: usize,
        midpoint: Option<Midpoint<'_, R>>,
        mut transfers: Option<&mut Transfers<R>>,
        threads: &Threads,
    ) -> RowStats {
        let (there, back) = ([Axis::X, Axis::Y], [Axis::Y, Axis::X]);
        let swept = self.horizontal(state, &winds, there, passes, transfers.as_deref_mut(), threads);
        let vertical = match &self.horizontal {
            Horizontal::Split(_) => passes,
            Horizontal::LinRood(operator) => operator.vertical_passes(passes),
        };
        let columns = self.columns(state, winds, vertical, midpoint, threads);
        RowStats::from(swept)
            .merge(columns)
            .merge(self.horizontal(state, &winds, back, passes, transfers, threads).into())
    }

    /// One horizontal leg in `passes` equal parts; split sweeps take the axes in this order.
    fn horizontal(
        &mut self,
        state: &mut PackedState<R>,
        winds: &Winds<'_, R>,
        axes: [Axis; 2],
        passes: usize,
        transfers: Option<&mut Transfers<R>>,
        threads: &Threads,
    ) -> SweepStats {
        match &mut self.horizontal {
            Horizontal::Split(split) => {
                let scale = R::from_f64(winds.scale / passes as f64);
                split.horizontal(state, winds, scale, axes, passes, transfers, threads)
            }
            Horizontal::LinRood(operator) => operator.leg(state, winds, passes, &self.signs, transfers, threads),
        }
    }

    /// The vertical part of a substep: both legs, each in `passes` equal parts, and what lies between them.
    pub fn columns(
        &self,
        state: &mut PackedState<R>,
        winds: Winds<'_, R>,
        passes: usize,
        midpoint: Option<Midpoint<'_, R>>,
        threads: &Threads,
    ) -> RowStats {
        let scale = R::from_f64(winds.scale / passes as f64);
        let Self { kernel, vertical, ref signs, .. } = *self;
        let legs = Legs { kernel, vertical, signs, winds: &winds, scale, passes };
        self.rows.run(state, Some(legs), midpoint, threads)
    }
}

/// Timed section of the sweeps along an axis.
pub(super) fn sweep_section(axis: Axis) -> Timed {
    match axis {
        Axis::X => Timed::SweepX,
        Axis::Y => Timed::SweepY,
    }
}

/// Timed section of the halo copies before them.
pub(super) fn halo_section(axis: Axis) -> Timed {
    match axis {
        Axis::X => Timed::HaloX,
        Axis::Y => Timed::HaloY,
    }
}

/// Most parts a leg may be divided into.
pub const MAX_PASSES: usize = 4096;

/// Bytes of a message worth its latency: some microseconds on a fast network.
pub(super) const MESSAGE_BYTES: usize = 32 << 10;
