//! A window of synthetic weather with all sections of vertical physics, and a state in it.

use std::sync::Arc;

use decomposition::Layout;
use kernels::Scalar;

use crate::bench::{BenchError, BenchSize};
use crate::grid::{CubedSphere, GeometryBundle, HybridCoordinate};
use crate::met::synth::{self, SynthFlow, SynthOptions, SynthPhysics};
use crate::met::{FloatType, FluxForm, Section, TransportFile, Underivable, WindowBuffer};
use crate::operators::advection::Winds;
use crate::operators::columns::{Centre, CentreStep, Convection, Diffusion, ExchangeSource, KzUpdate, WindowPhysics};
use crate::sources::{Conversion, Injection, Source};
use crate::state::{AIR, PackedState, TileSet};

/// Fields, state and grid of the globe on one rank.
pub(super) struct PhysicsCase<R> {
    pub(super) layout: Layout,
    pub(super) grid: CubedSphere,
    vertical: HybridCoordinate,
    /// Every section of the file.
    pub(super) window: WindowBuffer<R>,
    /// State at the start of the window.
    start: PackedState<R>,
    /// State that the measurement moves.
    pub(super) state: PackedState<R>,
    /// Length of the window, s.
    pub(super) seconds: f64,
    /// Substeps of the window.
    pub(super) substeps: u32,
}

impl<R: Scalar> PhysicsCase<R> {
    pub(super) fn new(size: &BenchSize) -> Result<Self, BenchError> {
        let bundle = GeometryBundle::GeosNative;
        let layout = Layout::new(size.nc, bundle.convention(), 1, size.scheme.halo(), None)?;
        let set = Arc::new(TileSet::new(layout.tiles_of(0).to_vec(), size.scheme.halo()));
        let mut options = SynthOptions::new(SynthFlow::Weather, size.nc, size.levels);
        (options.bundle, options.physics, options.windows) = (bundle, SynthPhysics::All, 1);
        if size_of::<R>() == size_of::<f64>() {
            options.float = FloatType::Float64;
        }
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("winds.bin");
        synth::write(&path, &options, |_| {})?;
        let file = TransportFile::open(&path)?;
        let header = file.header();
        let sections: Vec<Section> = Section::ALL.into_iter().filter(|section| header.has(*section)).collect();
        let mut window = WindowBuffer::new(set.clone(), header, &sections).with_flux_form(FluxForm::HalfSweep);
        file.load_window(0, &mut window)?;
        let grid = CubedSphere::new(size.nc, bundle, header.longitude_offset_deg(), header.radius_m())
            .expect("the file has been written on this grid");
        let vertical = HybridCoordinate::new(header.a_ifc().to_vec(), header.b_ifc().to_vec())
            .expect("the file has been written with these layers");
        let start = state(&set, size, &window);
        Ok(Self {
            state: start.clone(),
            seconds: header.dt_met_seconds(),
            substeps: header.steps()[0],
            layout,
            grid,
            vertical,
            window,
            start,
        })
    }

    /// Puts the state back to the start of the window.
    pub(super) fn restore(&mut self) {
        self.state.slabs_mut().data_mut().copy_from_slice(self.start.slabs().data());
    }

    /// Chooses the fields that are derived from the window, and derives them.
    pub(super) fn derive(&mut self, physics: WindowPhysics) -> Result<(), BenchError> {
        self.window.set_derived(Arc::new(physics));
        self.derive_again()
    }

    /// Derives the same fields once more.
    pub(super) fn derive_again(&mut self) -> Result<(), BenchError> {
        self.window.derive().map_err(|Underivable { cell, problem }| BenchError::Underivable {
            cell: format!("panel {}, i {}, j {}", cell.panel + 1, cell.i + 1, cell.j + 1),
            problem,
        })
    }

    /// What computes the derived fields of a run.
    pub(super) fn window_physics(
        &self,
        diffusion: Option<&Diffusion>,
        convection: Option<&Convection>,
        injections: &[Injection],
    ) -> WindowPhysics {
        let set = self.window.tile_set().clone();
        WindowPhysics::new(set, &self.grid, &self.vertical, diffusion, convection, injections)
    }

    /// Winds of a substep.
    pub(super) fn winds(window: &WindowBuffer<R>) -> Winds<'_, R> {
        let field = |section| window.get(section).expect("every transport file has fluxes");
        Winds { x: field(Section::FluxX), y: field(Section::FluxY), z: field(Section::FluxZ), scale: 1.0 }
    }

    /// The first substep of the window.
    pub(super) fn step(&self) -> CentreStep {
        CentreStep { start: 0.0, seconds: self.seconds / f64::from(self.substeps) }
    }

    /// A surface source that does not vary.
    pub(super) fn source(&self) -> Source<R> {
        let conversion = Conversion::new(1.0, 44.0095e-3).expect("a positive molar mass");
        Source::uniform(self.window.tile_set().clone(), &self.grid, 1e-9, &conversion)
    }

    /// Cells of the globe, all layers.
    pub(super) fn cells(&self) -> f64 {
        self.columns() * self.state.levels() as f64
    }

    /// Columns of the globe.
    pub(super) fn columns(&self) -> f64 {
        let shapes = self.state.tile_set().shapes();
        shapes.iter().map(|shape| shape.ni * shape.nj).sum::<usize>() as f64
    }

    /// Tracers.
    pub(super) fn tracers(&self) -> f64 {
        self.state.tracers().len() as f64
    }

    /// Values of a section of the window.
    pub(super) fn values(&self, section: Section) -> f64 {
        self.window.get(section).map_or(0.0, |field| self.columns() * field.levels() as f64)
    }
}

/// Diffusion of a kind in the form that is usual for it.
pub(super) fn diffusion(source: ExchangeSource) -> Diffusion {
    let centre = match source {
        ExchangeSource::NonlocalVdiff => Centre::EmitThenDiffuse,
        _ => Centre::DiffuseEmitDiffuse,
    };
    Diffusion { source, update: KzUpdate::MassSpace, centre }
}

/// Air mass of the window; tracers smooth, positive, and more of them below.
fn state<R: Scalar>(set: &Arc<TileSet>, size: &BenchSize, window: &WindowBuffer<R>) -> PackedState<R> {
    let names = (0..size.tracers).map(|t| format!("tracer_{t}")).collect();
    let mut state = PackedState::<R>::zeros(set.clone(), size.levels, names);
    let air = window.get(Section::AirMass).expect("every transport file has the air mass");
    for level in 0..size.levels {
        let height = 1.0 - (level as f64 + 0.5) / size.levels as f64;
        for (tile, shape) in set.shapes().iter().enumerate() {
            let mass = air.plane(level, tile, 0);
            state.slabs_mut().plane_mut(level, tile, AIR).copy_from_slice(mass);
            for t in 0..size.tracers {
                let plane = state.slabs_mut().plane_mut(level, tile, AIR + 1 + t);
                for (j, i) in (0..shape.nj).flat_map(|j| (0..shape.ni).map(move |i| (j, i))) {
                    let cell = shape.row_start(j) + i;
                    let wave = (0.1 * i as f64 + t as f64).sin() * (0.07 * j as f64).cos();
                    let ratio = 4e-4 * (1.0 + 0.1 * (-4.0 * height).exp() * (1.0 + wave));
                    plane[cell] = R::from_f64(ratio * mass[cell].to_f64());
                }
            }
        }
    }
    state
}
