//! Convection of the columns of a rank, block of rows by block of rows.

use std::sync::Mutex;

use kernels::Scalar;
use kernels::columns::convection::cmfmc::{self, Cmfmc, CmfmcForcing};
use kernels::columns::convection::tm5::{Downdraft, Tm5, Tm5Forcing};
use kernels::columns::convection::{ColumnAir, ConvectionError};
use kernels::columns::{ColumnBlock, Ledger, LedgerStats};
use kernels::cpu::AlignedBuffer;
use kernels::numerics::finite_max;
use ndarray::{ArrayView4, ArrayViewMut4, Axis, ShapeBuilder};
use rayon::prelude::*;

use super::centre::gather_field;
use super::rows::{ColumnStore, RowBlocks, gather, pad, scatter, widest};
use super::settings::Convection;
use super::window::WindowField;
use crate::grid::CubedSphere;
use crate::met::{Derived, Section, WindowBuffer};
use crate::operators::Threads;
use crate::state::{AIR, PackedState, Slabs, TileSet};
use crate::timers::{self, Timed};

/// Convection of one rank on the processor, with what it keeps from step to step.
#[derive(Debug)]
pub struct ConvectionOperator<R: Scalar> {
    settings: Convection,
    /// Areas of the cells, m²: one level, one plane.
    areas: Slabs<R>,
    /// Per tracer the carry and what the ledger has returned.
    store: ColumnStore<R>,
    work: Vec<Mutex<Work<R>>>,
}

/// Work space of one thread.
#[derive(Debug)]
struct Work<R> {
    scheme: Scheme<R>,
    air: AlignedBuffer<R>,
    area: AlignedBuffer<R>,
    tracers: AlignedBuffer<R>,
    forcing: [AlignedBuffer<R>; 4],
    base: AlignedBuffer<R>,
    /// Carries and returned amounts of all tracers, one after the other.
    carry: AlignedBuffer<R>,
    returned: AlignedBuffer<R>,
}

#[derive(Debug)]
enum Scheme<R> {
    Implicit(Box<Tm5<R>>),
    Explicit(Box<Cmfmc<R>>),
}

/// Areas of the cells of a rank in m², rounded once: one level, one plane.
pub fn cell_areas<R: Scalar>(set: &std::sync::Arc<TileSet>, grid: &CubedSphere) -> Slabs<R> {
    let mut areas = Slabs::zeros(set.clone(), 1, 1);
    for (n, (tile, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
        let plane = areas.plane_mut(0, n, 0);
        for (j, i) in (0..shape.nj).flat_map(|j| (0..shape.ni).map(move |i| (j, i))) {
            plane[shape.row_start(j) + i] = R::from_f64(grid.area(tile.i0 + i, tile.j0 + j));
        }
    }
    areas
}

impl<R: Scalar> ConvectionOperator<R> {
    /// For states like `state` on `grid` and a number of threads.
    ///
    /// # Errors
    /// Choices that do not fit the number of layers.
    pub fn new(
        settings: Convection,
        state: &PackedState<R>,
        grid: &CubedSphere,
        threads: usize,
    ) -> Result<Self, ConvectionError> {
        let (set, levels, tracers) = (state.tile_set(), state.levels(), state.tracers().len());
        let width = widest(set);
        // Explicit convection takes one tracer at a time and keeps its ledger in place.
        let together = match settings {
            Convection::Cmfmc(_) => 1,
            Convection::Tm5(_) | Convection::CmfmcMatrix(_) => tracers,
        };
        let work = || {
            let cells = || AlignedBuffer::zeros((levels + 1) * width);
            Ok(Mutex::new(Work {
                scheme: match settings {
                    Convection::Tm5(choice) | Convection::CmfmcMatrix(choice) => {
                        Scheme::Implicit(Box::new(Tm5::new(levels, choice.options)?))
                    }
                    Convection::Cmfmc(options) => {
                        Scheme::Explicit(Box::new(Cmfmc::new(ColumnBlock::new(width, levels), options)))
                    }
                },
                air: cells(),
                area: AlignedBuffer::zeros(width),
                tracers: AlignedBuffer::zeros(together * levels * width),
                forcing: [cells(), cells(), cells(), cells()],
                base: AlignedBuffer::zeros(width),
                carry: AlignedBuffer::zeros(together * width),
                returned: AlignedBuffer::zeros(together * width),
            }))
        };
        Ok(Self {
            settings,
            areas: cell_areas(set, grid),
            store: ColumnStore::zeros(set, 2 * tracers),
            work: (0..threads).map(|_| work()).collect::<Result<_, _>>()?,
        })
    }

    /// The choices.
    pub fn settings(&self) -> &Convection {
        &self.settings
    }

    /// Per tracer the carry (`2 t`) and what was returned (`2 t + 1`).
    pub fn store(&self) -> &ColumnStore<R> {
        &self.store
    }

    /// The same, to be written.
    pub fn store_mut(&mut self) -> &mut ColumnStore<R> {
        &mut self.store
    }

    /// Largest Courant number of the cloud mass flux on this rank for a step of `dt` s; 0 for implicit convection. Not a
    /// number, or infinite, where a flux is none.
    pub fn largest_courant(&self, state: &PackedState<R>, window: &WindowBuffer<R>, dt: f64, threads: &Threads) -> f64 {
        let Convection::Cmfmc(_) = self.settings else { return 0.0 };
        let dt = R::from_f64(dt);
        let largest = |work: &mut Work<R>, place: &Place<'_, R>| {
            let Work { air, area, forcing, .. } = work;
            place.fill(
                area,
                forcing,
                [Some(window.get(Section::Cmfmc).expect("read with the window")), None, None, None],
            );
            let air = ColumnAir { block: place.block, mass: air, area };
            cmfmc::largest_courant(&air, &forcing[0], dt)
        };
        let mut found = R::default();
        let slabs = state.slabs();
        for (tile, shape) in slabs.tile_set().shapes().iter().enumerate() {
            let blocks = RowBlocks::new(shape);
            let view = tile_view(slabs, tile);
            let of_tile = (0..blocks.count())
                .into_par_iter()
                .map(|n| {
                    let mut work = self.work[threads.index()].lock().expect("no operator panics");
                    let rows = blocks.range(n);
                    let place =
                        Place { areas: &self.areas, tile, blocks, n, block: blocks.block(rows.len(), slabs.levels()) };
                    let air = view.slice(ndarray::s![.., AIR, rows, ..]);
                    gather(air.outer_iter(), place.block.width(), &mut work.air);
                    pad(&mut work.air, place.block, slabs.levels(), R::lit(1.0));
                    largest(&mut work, &place)
                })
                .reduce(R::default, finite_max);
            found = finite_max(found, of_tile);
        }
        found.to_f64()
    }

    /// Convects all tracers for `dt` s, explicit convection in `substeps` equal parts.
    pub fn convect(
        &mut self,
        state: &mut PackedState<R>,
        window: &WindowBuffer<R>,
        dt: f64,
        substeps: usize,
        threads: &Threads,
    ) -> LedgerStats {
        let _timed = timers::section(Timed::Convection);
        let dt = R::from_f64(dt);
        let fields = forcing(&self.settings, window);
        let base = window.get(Section::CmfmcCloudBase);
        let (levels, set) = (state.levels(), state.tile_set().clone());
        let mut stats = LedgerStats::default();
        for (tile, shape) in set.shapes().iter().enumerate() {
            let blocks = RowBlocks::new(shape);
            let length = self.store.block_len(tile);
            let Self { areas, store, work, .. } = self;
            let mut view = tile_view_mut(state.slabs_mut(), tile);
            let of_tile = view
                .axis_chunks_iter_mut(Axis(2), blocks.rows())
                .into_par_iter()
                .zip(store.tile_mut(tile).par_chunks_mut(length))
                .enumerate()
                .map(|(n, (mut rows, kept))| {
                    let work = &mut *work[threads.index()].lock().expect("no operator panics");
                    let block = blocks.block(rows.len_of(Axis(2)), levels);
                    let place = Place { areas, tile, blocks, n, block };
                    let air = rows.index_axis(Axis(1), AIR);
                    gather(air.outer_iter(), block.width(), &mut work.air);
                    pad(&mut work.air, block, levels, R::lit(1.0));
                    place.fill(&mut work.area, &mut work.forcing, fields);
                    if let Some(base) = base {
                        gather_field(base, tile, blocks, n, block, &mut work.base, R::lit(1.0));
                    }
                    let mut tracers = rows.slice_axis_mut(Axis(1), ndarray::Slice::from(AIR + 1..));
                    work.convect(&place, fields, base.is_some(), dt, substeps, &mut tracers, kept)
                })
                .reduce(LedgerStats::default, LedgerStats::merge);
            stats = stats.merge(of_tile);
        }
        stats
    }
}

/// Fields that force convection: entrainment and detrainment of both plumes, or flux and detrainment of one.
type Forcing<'a, R> = [Option<&'a Slabs<R>>; 4];

/// The same as names: for implicit schemes entrainment and detrainment of the updraught, then of the downdraught; for explicit
/// ones the flux and the detrainment, which windows may lack.
pub(in crate::operators) fn convection_forcing(settings: &Convection) -> [Option<WindowField>; 4] {
    let stored = |section| Some(WindowField::Stored(section));
    let derived = |field| Some(WindowField::Derived(field));
    match settings {
        Convection::Tm5(_) => [Section::Entu, Section::Detu, Section::Entd, Section::Detd].map(stored),
        Convection::CmfmcMatrix(_) => [derived(Derived::Entrainment), derived(Derived::Detrainment), None, None],
        Convection::Cmfmc(_) => [stored(Section::Cmfmc), stored(Section::Dtrain), None, None],
    }
}

fn forcing<'a, R: Scalar>(settings: &Convection, window: &'a WindowBuffer<R>) -> Forcing<'a, R> {
    convection_forcing(settings).map(|field| match field? {
        WindowField::Stored(section) => window.get(section),
        WindowField::Derived(field) => window.derived(field),
    })
}

/// One block of a tile.
struct Place<'a, R> {
    areas: &'a Slabs<R>,
    tile: usize,
    blocks: RowBlocks,
    n: usize,
    block: ColumnBlock,
}

impl<R: Scalar> Place<'_, R> {
    /// Copies areas and forcing; what pads the block does not convect.
    fn fill(&self, area: &mut [R], forcing: &mut [AlignedBuffer<R>; 4], fields: Forcing<'_, R>) {
        gather_field(self.areas, self.tile, self.blocks, self.n, self.block, area, R::lit(1.0));
        for (field, into) in fields.into_iter().zip(forcing) {
            if let Some(field) = field {
                gather_field(field, self.tile, self.blocks, self.n, self.block, into, R::default());
            }
        }
    }
}

impl<R: Scalar> Work<R> {
    /// Convects the tracers `(level, tracer, row, i)` of a block whose air and forcing are in place.
    fn convect(
        &mut self,
        place: &Place<'_, R>,
        fields: Forcing<'_, R>,
        has_base: bool,
        dt: R,
        substeps: usize,
        tracers: &mut ArrayViewMut4<'_, R>,
        kept: &mut [R],
    ) -> LedgerStats {
        let Self { scheme, air, area, tracers: contents, forcing, base, carry, returned } = self;
        let (block, stride) = (place.block, place.blocks.width());
        let (values, width, count) = (block.values(), block.width(), tracers.len_of(Axis(1)));
        let air = ColumnAir { block, mass: air, area };
        let held = |n: usize| fields[n].map(|_| &forcing[n][..]);
        match scheme {
            Scheme::Implicit(scheme) => {
                for t in 0..count {
                    let from = tracers.index_axis(Axis(1), t);
                    gather(from.outer_iter(), width, &mut contents[t * values..(t + 1) * values]);
                    carry[t * width..(t + 1) * width].copy_from_slice(&kept[2 * t * stride..][..width]);
                    returned[t * width..(t + 1) * width].copy_from_slice(&kept[(2 * t + 1) * stride..][..width]);
                }
                let forcing = Tm5Forcing {
                    entu: &forcing[0],
                    detu: &forcing[1],
                    downdraft: held(2).zip(held(3)).map(|(entd, detd)| Downdraft { entd, detd }),
                };
                let (carry, returned) = (&mut carry[..count * width], &mut returned[..count * width]);
                let ledger = Ledger::Booked { carry, returned };
                let stats = scheme.convect(&air, &forcing, dt, &mut contents[..count * values], ledger);
                for t in 0..count {
                    let mut to = tracers.index_axis_mut(Axis(1), t);
                    scatter(&contents[t * values..(t + 1) * values], width, to.outer_iter_mut());
                    kept[2 * t * stride..][..width].copy_from_slice(&carry[t * width..(t + 1) * width]);
                    kept[(2 * t + 1) * stride..][..width].copy_from_slice(&returned[t * width..(t + 1) * width]);
                }
                stats
            }
            Scheme::Explicit(scheme) => {
                let forcing = CmfmcForcing {
                    cloud_flux: &forcing[0],
                    detrainment: held(1),
                    cloud_base: has_base.then_some(&base[..]),
                };
                scheme.prepare(&air, &forcing, dt, substeps).expect("the cloud base is read where it is needed");
                let mut stats = LedgerStats::default();
                for t in 0..count {
                    let contents = &mut contents[..values];
                    gather(tracers.index_axis(Axis(1), t).outer_iter(), width, contents);
                    let (carry, returned) = kept[2 * t * stride..][..2 * stride].split_at_mut(stride);
                    let ledger = Ledger::Booked { carry: &mut carry[..width], returned: &mut returned[..width] };
                    stats = stats.merge(scheme.convect(&air, contents, ledger));
                    scatter(contents, width, tracers.index_axis_mut(Axis(1), t).outer_iter_mut());
                }
                stats
            }
        }
    }
}

/// The interior of a tile as `(level, plane, j, i)`.
pub(in crate::operators) fn tile_view<R: Scalar>(slabs: &Slabs<R>, tile: usize) -> ArrayView4<'_, R> {
    let shape = &slabs.tile_set().shapes()[tile];
    let extent = (slabs.levels(), slabs.planes(), shape.nj, shape.ni);
    let strides = (slabs.level_stride(), shape.plane_len(), shape.pitch, 1);
    let first = slabs.tile_offset(tile) + shape.row_start(0);
    ArrayView4::from_shape(extent.strides(strides), &slabs.data()[first..])
        .expect("a tile's planes lie within its slabs")
}

/// The same, to be written.
pub(in crate::operators) fn tile_view_mut<R: Scalar>(slabs: &mut Slabs<R>, tile: usize) -> ArrayViewMut4<'_, R> {
    let shape = slabs.tile_set().shapes()[tile];
    let extent = (slabs.levels(), slabs.planes(), shape.nj, shape.ni);
    let strides = (slabs.level_stride(), shape.plane_len(), shape.pitch, 1);
    let first = slabs.tile_offset(tile) + shape.row_start(0);
    let data = &mut slabs.data_mut()[first..];
    ArrayViewMut4::from_shape(extent.strides(strides), data).expect("a tile's planes lie within its slabs")
}
