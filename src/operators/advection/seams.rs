//! Seam transfers of the tiles of a rank, resolved to positions in their planes.

use decomposition::{Axis, CellStep, Layout, SeamPlan, SeamSegment};
use kernels::cpu::{
    FaceState, SeamCoefficients, SeamLine, SeamSide, StencilOrder, SweepKernel, SweepStats, TransferPlanes, Workspace,
    apply_seam, book_seam, prepare_seam,
};
use kernels::{Scalar, TileShape};

use crate::state::TileSet;

/// What one sweep group does at the boundary of one tile.
pub(in crate::operators) struct TileSeams<R> {
    pub(in crate::operators) shape: TileShape,
    /// State of the tile's low and high faces along the swept axis: panel edges are closed, the seams carry the flux.
    pub(in crate::operators) ends: [FaceState; 2],
    /// Seam segments of the group that touch the tile, in table order.
    pub(in crate::operators) lines: Vec<TileSeam<R>>,
}

/// One segment of a seam on one tile.
pub(in crate::operators) struct TileSeam<R> {
    pub(in crate::operators) line: SeamLine<R>,
    pub(in crate::operators) side: SeamSide,
    /// Axis of the face plane that holds the boundary fluxes on this side.
    pub(in crate::operators) face_axis: Axis,
}

impl<R: Scalar> TileSeams<R> {
    /// Seams of the group of `axis`, for every tile of the rank.
    pub(in crate::operators) fn of_rank(layout: &Layout, axis: Axis, set: &TileSet, rank: usize) -> Vec<Self> {
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

impl<R: Scalar> TileSeam<R> {
    fn new(segment: &SeamSegment, shape: &TileShape) -> Self {
        let step = |s: CellStep| s.dj * shape.pitch as isize + s.di;
        let index = |(i, j): (isize, isize)| shape.index(i, j);
        let (side, face_factor) = match segment.side {
            decomposition::SeamSide::Owner => (SeamSide::Owner, 1.0),
            decomposition::SeamSide::Other => (SeamSide::Neighbour, segment.sign.factor()),
        };
        Self {
            line: SeamLine {
                cell: index(segment.cell),
                along: step(segment.along),
                inward: step(segment.inward),
                len: segment.len,
                order: match segment.order {
                    decomposition::StencilOrder::InteriorFirst => StencilOrder::InteriorFirst,
                    decomposition::StencilOrder::HaloFirst => StencilOrder::HaloFirst,
                },
                face: index(segment.face),
                face_along: step(segment.face_along),
                face_factor: R::from_f64(face_factor),
                leaving: R::from_f64(segment.leaves_owner),
            },
            side,
            face_axis: segment.edge.axis(),
        }
    }

    /// Coefficients and air amount from the state before the sweep. Clamped faces are counted on the owner's side.
    pub(super) fn prepare(&self, air: &[R], faces: &[R], scale: R, out: &mut SeamCoefficients<R>) -> SweepStats {
        let stats = prepare_seam(air, faces, scale, &self.line, out);
        match self.side {
            SeamSide::Owner => stats,
            SeamSide::Neighbour => SweepStats::default(),
        }
    }

    /// Tracer amounts leaving the owner, from the state before the sweep.
    pub(super) fn tracer_amounts(
        &self,
        kernel: &dyn SweepKernel<R>,
        tracer: &[R],
        prepared: &SeamCoefficients<R>,
        workspace: &mut Workspace<R>,
        out: &mut [R],
    ) {
        kernel.seam_fluxes(tracer, &self.line, prepared, out, workspace);
    }

    /// Books the amounts at the edge cells of this side.
    pub(super) fn book(&self, transfers: TransferPlanes<'_, R>, amounts: &[R]) {
        book_seam(transfers, &self.line, amounts, self.side);
    }

    /// Takes the amounts from the owner's edge cells or gives them to the other side's.
    pub(super) fn apply(&self, plane: &mut [R], amounts: &[R]) {
        apply_seam(plane, &self.line, amounts, self.side);
    }
}
