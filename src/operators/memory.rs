//! Memory that operators take, worked out before they do.

use decomposition::{Axis, ExchangeKind, HaloPlan, Layout};
use kernels::scheme::{LinRood, SeamGhost};
use kernels::{Scalar, Scheme};

use super::advection::MESSAGE_BYTES;
use super::advection::linrood::LinRoodOperator;
use super::advection::wave::levels_per_block;
use super::columns::{ColumnStore, Convection, Diffusion, widest};
use crate::state::{Slabs, TileSet};

/// Vertical physics of a run, as far as its memory depends on it.
#[derive(Clone, Copy, Debug)]
pub struct ColumnOperators<'a> {
    /// Diffusion.
    pub diffusion: Option<&'a Diffusion>,
    /// Convection.
    pub convection: Option<&'a Convection>,
    /// Sources of all tracers.
    pub sources: usize,
}

impl ColumnOperators<'_> {
    /// Bytes that the operators keep for every column of a rank: ledgers, compensations of sources, areas of cells.
    pub fn kept_bytes<R: Scalar>(&self, set: &TileSet, tracers: usize) -> u64 {
        let mut bytes = 0;
        if self.diffusion.is_some() || self.sources > 0 {
            bytes += ColumnStore::<R>::bytes(set, 2 * tracers + self.sources);
        }
        if self.convection.is_some() {
            bytes += ColumnStore::<R>::bytes(set, 2 * tracers) + Slabs::<R>::bytes(set, 1, 1);
        }
        bytes
    }

    /// Values per layer and column that a thread works on besides those of the advection.
    fn work_layers(&self, tracers: usize) -> usize {
        // Rates, exchange and fractions; factors of the solver.
        let centre = if self.diffusion.is_some() || self.sources > 0 { 3 } else { 0 };
        let solver = if self.diffusion.is_some() { 2 } else { 0 };
        // Air and four fields of forcing; contents of tracers; what the explicit scheme prepares.
        let convection = match self.convection {
            None => 0,
            Some(Convection::Cmfmc(_)) => 5 + 1 + 3,
            Some(Convection::Tm5(_) | Convection::CmfmcMatrix(_)) => 5 + tracers,
        };
        centre + solver + convection
    }
}

/// Planes that a thread works on for horizontal sweeps: reciprocals, Courant numbers and fluxes of the air.
const SWEEP_PLANES: usize = 3;
/// Values per layer and column that a thread works on for vertical sweeps: air twice, fluxes, a tracer, and three
/// coefficients of two passes.
const SWEEP_LAYERS: usize = 4 + 2 * 3;

/// Transport of a run, as far as its memory depends on it.
#[derive(Clone, Copy, Debug)]
pub struct TransportSize<'a> {
    /// Scheme, if anything is advected.
    pub scheme: Option<Scheme>,
    /// Tiles and ranks.
    pub layout: &'a Layout,
    /// The rank.
    pub rank: usize,
    /// Levels.
    pub levels: usize,
    /// Tracers.
    pub tracers: usize,
}

/// What a rank sends and receives in one horizontal leg of the Lin–Rood operator in one pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LegTraffic {
    /// Values sent.
    pub sent: usize,
    /// Values received.
    pub received: usize,
    /// Messages sent, one for each block of levels counted once.
    pub messages: usize,
}

impl TransportSize<'_> {
    /// Contents, predictors, amounts that both panels agree on, and the parts that cells can afford, as far as they are exchanged.
    pub fn linrood_leg(&self, operator: LinRood) -> LegTraffic {
        let (kind, agreed) = match operator.ghost {
            SeamGhost::Copy => (ExchangeKind::Edges, 0),
            SeamGhost::Remap => (ExchangeKind::Full, 1),
        };
        let plan = HaloPlan::new(self.layout, kind, self.rank);
        let depth = self.layout.halo();
        let single = agreed + usize::from(operator.rule.is_positive());
        let values = |cells: usize| {
            let deep = LinRood::HALO * (2 * self.tracers + 1) + single * self.tracers;
            cells / depth * deep * self.levels
        };
        let exchanges = 2 + single;
        LegTraffic {
            sent: values(plan.send_cells()),
            received: values(plan.receive_cells()),
            messages: exchanges * plan.sends.len().max(plan.receives.len()),
        }
    }

    /// Bytes that the threads of the rank with tiles `set` work on.
    pub fn work_bytes<R: Scalar>(&self, set: &TileSet, threads: usize, columns: &ColumnOperators<'_>) -> u64 {
        let plane = set.shapes().iter().map(|shape| shape.plane_len()).max().unwrap_or(0);
        let layers = SWEEP_LAYERS + columns.work_layers(self.tracers);
        let horizontal = match self.scheme {
            Some(Scheme::LinRood(_)) => {
                LinRoodOperator::<R>::work_bytes(set, self.tracers, threads, self.block::<R>(threads))
            }
            _ => (threads * SWEEP_PLANES * plane * size_of::<R>()) as u64,
        };
        horizontal + (threads * layers * (self.levels + 1) * widest(set) * size_of::<R>()) as u64
    }

    /// Levels whose messages travel together; `None` without messages.
    fn block<R: Scalar>(&self, threads: usize) -> Option<usize> {
        let plans = [Axis::X, Axis::Y].map(|axis| HaloPlan::new(self.layout, ExchangeKind::Sweep(axis), self.rank));
        let cells = plans.iter().flat_map(|plan| &plan.sends).map(|message| message.cells()).max()?;
        let bytes = cells * (self.tracers + 1) * size_of::<R>();
        Some(levels_per_block(self.levels, bytes, MESSAGE_BYTES, threads))
    }

    /// Bytes of the messages of the rank: everything that horizontal legs send and receive.
    pub fn message_bytes<R: Scalar>(&self) -> u64 {
        if let Some(Scheme::LinRood(operator)) = self.scheme {
            let leg = self.linrood_leg(operator);
            return ((leg.sent + leg.received) * size_of::<R>()) as u64;
        }
        let cells = |axis| {
            let plan = HaloPlan::new(self.layout, ExchangeKind::Sweep(axis), self.rank);
            plan.send_cells() + plan.receive_cells()
        };
        let cells: usize = [Axis::X, Axis::Y].into_iter().map(cells).sum();
        (cells * self.levels * (self.tracers + 1) * size_of::<R>()) as u64
    }
}
