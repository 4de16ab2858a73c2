//! Seam transfers of the tiles of a rank, resolved to positions in their planes.

use decomposition::{Axis, Edge, Layout, SeamPlan, SeamSegment, SeamSide};
use kernels::cpu::{FaceState, SeamCoefficients, SeamLine, SweepStats, Workspace, apply_seam, prepare_seam};
use kernels::scheme::SweepKernel;
use kernels::{Scalar, TileShape};

use crate::state::TileSet;

/// What one sweep group does at the boundary of one tile.
pub(super) struct TileSeams<R> {
    pub(super) shape: TileShape,
    /// State of the tile's low and high faces along the swept axis: panel edges are closed, the seams carry the flux.
    pub(super) ends: [FaceState; 2],
    /// Seam segments of the group that touch the tile, in table order.
    pub(super) lines: Vec<TileSeam<R>>,
}

/// One segment of a seam on one tile.
pub(super) struct TileSeam<R> {
    line: SeamLine<R>,
    /// Axis of the face plane that holds the boundary fluxes on this side.
    pub(super) face_axis: Axis,
}

impl<R: Scalar> TileSeams<R> {
    /// Seams of the group of `axis`, for every tile of the rank.
    pub(super) fn of_rank(layout: &Layout, axis: Axis, set: &TileSet, rank: usize) -> Vec<Self> {
        let segments = SeamPlan::new(layout, axis, rank);
        set.tiles()
            .iter()
            .zip(set.shapes())
            .map(|(tile, shape)| {
                let (low, high) = match axis {
                    Axis::X => (tile.i0 == 0, tile.i0 + tile.ni == layout.nc()),
                    Axis::Y => (tile.j0 == 0, tile.j0 + tile.nj == layout.nc()),
                };
                let state = |at_panel_edge| if at_panel_edge { FaceState::Closed } else { FaceState::Open };
                Self {
                    shape: *shape,
                    ends: [state(low), state(high)],
                    lines: segments.iter().filter(|s| s.tile == tile.id).map(|s| TileSeam::new(s, shape)).collect(),
                }
            })
            .collect()
    }
}
