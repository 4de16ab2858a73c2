//! Memory that operators take, worked out before they do.

use decomposition::{Axis, ExchangeKind, HaloPlan, Layout};
use kernels::Scalar;

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

/// Bytes that the threads of a rank work on.
pub fn work_bytes<R: Scalar>(
    set: &TileSet,
    levels: usize,
    tracers: usize,
    threads: usize,
    columns: &ColumnOperators<'_>,
) -> u64 {
    let plane = set.shapes().iter().map(|shape| shape.plane_len()).max().unwrap_or(0);
    let layers = SWEEP_LAYERS + columns.work_layers(tracers);
    let values = SWEEP_PLANES * plane + layers * (levels + 1) * widest(set);
    (threads * values * size_of::<R>()) as u64
}

/// Bytes of the messages of a rank: halos of all planes and levels before sweeps along i and along j, sent and received.
pub fn message_bytes<R: Scalar>(layout: &Layout, rank: usize, levels: usize, planes: usize) -> u64 {
    let cells = |axis| {
        let plan = HaloPlan::new(layout, ExchangeKind::Sweep(axis), rank);
        plan.send_cells() + plan.receive_cells()
    };
    let cells: usize = [Axis::X, Axis::Y].into_iter().map(cells).sum();
    (cells * levels * planes * size_of::<R>()) as u64
}
