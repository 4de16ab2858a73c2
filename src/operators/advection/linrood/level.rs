//! The steps of one pass over one level of all tiles of the rank.

use std::sync::{Arc, Mutex};

use decomposition::{Axis, ExchangeKind, Layout};
use kernels::Scalar;
use kernels::cpu::{
    AlignedBuffer, LinRoodCoefficients, LinRoodKernel, LinRoodPlanes, PanelFaces, SweepStats, Workspace, linrood_limit,
    linrood_parts, linrood_prepare, linrood_update,
};
use kernels::scheme::{LinRood, SeamGhost, Sign, linrood_kernel};

use super::seams::PanelEdges;
use super::strips::{EdgeStrips, Side};
use crate::operators::advection::Winds;
use crate::operators::advection::transfers::LevelTransfers;
use crate::state::{AIR, Slabs, TileSet};
use crate::timers::{Clock, Timed};

/// What all levels and threads share.
pub(super) struct LevelSteps<R: Scalar> {
    kernel: &'static dyn LinRoodKernel<R>,
    /// Whether amounts are limited to what cells hold.
    pub(super) positive: bool,
    pub(super) strips: EdgeStrips,
    set: Arc<TileSet>,
    panels: Vec<PanelFaces>,
    /// First plane of each tile in a level of the state, and in the planes of a tracer at work.
    state_tiles: Vec<usize>,
    work_tiles: Vec<usize>,
    /// Values of the planes of a tracer at work.
    pub(super) work_len: usize,
    /// Panel edges whose ghosts are remapped.
    edges: Option<PanelEdges<R>>,
    scratch: Vec<Mutex<Scratch<R>>>,
}

/// Scratch of a thread.
struct Scratch<R> {
    workspace: Workspace<R>,
    /// A row beyond an edge, before and after it is remapped.
    row: Vec<R>,
}

/// Coefficients and planes of one level at work.
pub(super) struct LevelWork<R: Scalar> {
    coefficients: Vec<LinRoodCoefficients<R>>,
    pub(super) planes: AlignedBuffer<R>,
}

impl<R: Scalar> LevelWork<R> {
    /// For `tracers` at the same time.
    pub(super) fn new(set: &TileSet, tracers: usize) -> Self {
        let values: usize = set.shapes().iter().map(|shape| LinRoodPlanes::<R>::PLANES * shape.plane_len()).sum();
        Self {
            coefficients: set.shapes().iter().map(LinRoodCoefficients::new).collect(),
            planes: AlignedBuffer::zeros(tracers * values),
        }
    }

    /// Bytes of such a storage.
    pub(super) fn bytes(set: &TileSet, tracers: usize) -> u64 {
        let planes = LinRoodCoefficients::<R>::PLANES + tracers * LinRoodPlanes::<R>::PLANES;
        let values: usize = set.shapes().iter().map(|shape| planes * shape.plane_len()).sum();
        (values * size_of::<R>()) as u64
    }
}

impl<R: Scalar> LevelSteps<R> {
    pub(super) fn new(operator: LinRood, layout: &Layout, slabs: &Slabs<R>, threads: usize, rank: usize) -> Self {
        let set = slabs.tile_set();
        let faces = set.tiles().iter().zip(set.shapes());
        let scratch = || Scratch {
            workspace: Workspace::new(set.shapes()),
            row: vec![R::default(); 2 * PanelEdges::<R>::room(layout)],
        };
        let kind = match operator.ghost {
            SeamGhost::Copy => ExchangeKind::Edges,
            // Rows are interpolated between cells beyond the ends of a tile.
            SeamGhost::Remap => ExchangeKind::Full,
        };
        let mut work_len = 0;
        let mut work_start = |len: usize| {
            work_len += len;
            work_len - len
        };
        Self {
            kernel: linrood_kernel(operator.rule),
            positive: operator.rule.is_positive(),
            strips: EdgeStrips::new(layout, kind, set, rank),
            panels: faces.map(|(t, s)| PanelFaces::new(s, operator.edge, (t.i0, t.j0), layout.nc())).collect(),
            state_tiles: (0..set.len()).map(|tile| slabs.tile_offset(tile)).collect(),
            work_tiles: set.shapes().iter().map(|s| work_start(LinRoodPlanes::<R>::PLANES * s.plane_len())).collect(),
            work_len,
            edges: (operator.ghost == SeamGhost::Remap).then(|| PanelEdges::new(layout, set)),
            scratch: (0..threads).map(|_| Mutex::new(scratch())).collect(),
            set: set.clone(),
        }
    }

    /// Whether amounts of a tracer of this sign are limited to what cells hold.
    pub(super) fn keeps_positive(&self, sign: Sign) -> bool {
        self.positive && sign == Sign::NonNegative
    }

    /// Where a plane of the state begins at the tile of a side.
    pub(super) fn content(&self, plane: usize) -> impl Fn(&Side) -> usize {
        move |side| self.state_tiles[side.tile] + plane * self.set.shapes()[side.tile].plane_len()
    }

    /// Where the predictor begins that is advected along the edge of a side, of the tracer in `slot`.
    pub(super) fn predictor(&self, slot: usize) -> impl Fn(&Side) -> usize {
        move |side| {
            let len = self.set.shapes()[side.tile].plane_len();
            let along_j = usize::from(side.across_axis == Axis::X);
            slot * self.work_len + self.work_tiles[side.tile] + along_j * len
        }
    }

    /// Whether both panels have to agree on amounts through their common edges.
    pub(super) fn agrees(&self) -> bool {
        self.edges.is_some()
    }

    /// Where the amounts through the edge of a side begin, counted from its cells.
    pub(super) fn edge_amounts(&self, slot: usize) -> impl Fn(&Side) -> usize {
        move |side| {
            let len = self.set.shapes()[side.tile].plane_len();
            let along_j = usize::from(side.across_axis == Axis::Y);
            slot * self.work_len + self.work_tiles[side.tile] + (2 + along_j) * len + side.to_faces()
        }
    }

    /// Where the parts begin that cells can afford, and before them the amounts that a neighbour finds.
    pub(super) fn part(&self, slot: usize) -> impl Fn(&Side) -> usize {
        move |side| slot * self.work_len + self.work_tiles[side.tile] + self.set.shapes()[side.tile].plane_len()
    }

    /// What the tracers share; the air moves.
    pub(super) fn air(
        &self,
        slab: &mut [R],
        (winds, level, scale): (&Winds<'_, R>, usize, R),
        work: &mut LevelWork<R>,
        clock: &mut Clock<'_>,
    ) -> SweepStats {
        self.strips.copy(slab, LinRood::HALO, self.content(AIR), self.content(AIR));
        clock.lap(Timed::LinRoodHalo);
        let mut stats = SweepStats::default();
        for (tile, (shape, out)) in self.set.shapes().iter().zip(&mut work.coefficients).enumerate() {
            let faces = [winds.x.plane(level, tile, 0), winds.y.plane(level, tile, 0)];
            let start = self.state_tiles[tile] + AIR * shape.plane_len();
            let air = &mut slab[start..start + shape.plane_len()];
            stats = stats.merge(linrood_prepare(shape, air, faces, scale, out));
        }
        clock.lap(Timed::LinRoodInner);
        stats
    }

    /// Inner faces and predictors of the tracer in a plane of the state.
    pub(super) fn inner(
        &self,
        slab: &mut [R],
        plane: usize,
        work: &mut LevelWork<R>,
        slot: usize,
        thread: usize,
        clock: &mut Clock<'_>,
    ) {
        self.strips.copy(slab, LinRood::HALO, self.content(plane), self.content(plane));
        let Scratch { workspace, row } = &mut *self.scratch[thread].lock().expect("a pass does not panic");
        if let Some(edges) = &self.edges {
            for (tile, shape) in self.set.shapes().iter().enumerate() {
                let (len, start) = (shape.plane_len(), self.state_tiles[tile]);
                let (before, content) = slab[start..start + (plane + 1) * len].split_at_mut(plane * len);
                edges.remap_contents(tile, content, &before[AIR * len..(AIR + 1) * len], row);
            }
        }
        clock.lap(Timed::LinRoodHalo);
        let LevelWork { coefficients, planes } = work;
        for (tile, shape) in self.set.shapes().iter().enumerate() {
            let start = self.state_tiles[tile] + plane * shape.plane_len();
            let content = &slab[start..start + shape.plane_len()];
            let mut planes = self.planes(planes, slot, tile);
            self.kernel.inner(shape, &self.panels[tile], content, &coefficients[tile], &mut planes, workspace);
        }
        clock.lap(Timed::LinRoodInner);
    }

    /// Outer faces.
    pub(super) fn outer(&self, work: &mut LevelWork<R>, slot: usize, thread: usize, clock: &mut Clock<'_>) {
        let LevelWork { coefficients, planes } = work;
        self.strips.copy(planes, LinRood::HALO, self.predictor(slot), self.predictor(slot));
        let Scratch { workspace, row } = &mut *self.scratch[thread].lock().expect("a pass does not panic");
        if let Some(edges) = &self.edges {
            for tile in 0..self.set.len() {
                edges.remap_predictors(tile, &mut self.planes(planes, slot, tile).after, row);
            }
        }
        clock.lap(Timed::LinRoodHalo);
        for (tile, shape) in self.set.shapes().iter().enumerate() {
            let mut planes = self.planes(planes, slot, tile);
            self.kernel.outer(shape, &self.panels[tile], &coefficients[tile], &mut planes, workspace);
        }
        clock.lap(Timed::LinRoodOuter);
    }

    /// Amounts through panel edges that both panels agree on.
    pub(super) fn agree(&self, work: &mut LevelWork<R>, slot: usize, clock: &mut Clock<'_>) {
        let Some(edges) = &self.edges else { return };
        self.strips.copy(&mut work.planes, 1, self.edge_amounts(slot), self.part(slot));
        for tile in 0..self.set.len() {
            edges.agree(tile, &mut self.planes(&mut work.planes, slot, tile));
        }
        clock.lap(Timed::LinRoodHalo);
    }

    /// What cells can afford.
    pub(super) fn parts(&self, slab: &[R], plane: usize, work: &mut LevelWork<R>, slot: usize, clock: &mut Clock<'_>) {
        for (tile, shape) in self.set.shapes().iter().enumerate() {
            let start = self.state_tiles[tile] + plane * shape.plane_len();
            let content = &slab[start..start + shape.plane_len()];
            linrood_parts(shape, content, &mut self.planes(&mut work.planes, slot, tile));
        }
        clock.lap(Timed::LinRoodUpdate);
    }

    /// New contents of the tracer of this sign in a plane of the state.
    pub(super) fn update(
        &self,
        slab: &mut [R],
        (plane, sign): (usize, Sign),
        work: &mut LevelWork<R>,
        slot: usize,
        books: &mut Option<LevelTransfers<'_, R>>,
        clock: &mut Clock<'_>,
    ) {
        let positive = self.keeps_positive(sign);
        if positive {
            self.strips.copy(&mut work.planes, 1, self.part(slot), self.part(slot));
            clock.lap(Timed::LinRoodHalo);
        }
        for (tile, shape) in self.set.shapes().iter().enumerate() {
            let start = self.state_tiles[tile] + plane * shape.plane_len();
            let range = start..start + shape.plane_len();
            let mut planes = self.planes(&mut work.planes, slot, tile);
            if positive {
                linrood_limit(shape, &mut planes);
            }
            let books = books.as_mut().map(|books| books.plane(range.clone()));
            linrood_update(shape, &mut slab[range], &planes, books);
        }
        clock.lap(Timed::LinRoodUpdate);
    }

    fn planes<'a>(&self, planes: &'a mut [R], slot: usize, tile: usize) -> LinRoodPlanes<'a, R> {
        let start = slot * self.work_len + self.work_tiles[tile];
        LinRoodPlanes::new(&self.set.shapes()[tile], &mut planes[start..])
    }
}
