//! Order of diffusion and emissions between the sweeps (specification 30 §0.1, acceptance Z6).

use std::sync::Arc;

use atmostr::comm::Solo;
use atmostr::grid::{CubedSphere, GeometryBundle};
use atmostr::met::{Derive, Derived, Section, Sections, TransportFile, Underivable, WindowBuffer};
use atmostr::operators::Threads;
use atmostr::operators::advection::{Advection, ColumnRows, Midpoint, Winds};
use atmostr::operators::columns::{Centre, CentrePhysics, CentreStep, Diffusion, Emitter, ExchangeSource, KzUpdate};
use atmostr::sources::{Conversion, Source};
use atmostr::state::{PackedState, Slabs, TileSet};
use decomposition::Layout;
use kernels::Scheme;
use kernels::columns::{ColumnBlock, Dose, Ledger, MassSpaceFactors, TwoWord, deposit_in_layer, emission_amounts};

const NC: usize = 6;
const LEVELS: usize = 9;
const SECONDS: f64 = 900.0;

/// Exchange that grows downward, kg/s.
#[derive(Debug)]
struct Growing;

impl Derive<f64> for Growing {
    fn fields(&self) -> Vec<Derived> {
        vec![Derived::ExchangeRate]
    }

    fn derive(&self, _: Sections<'_, f64>, fields: &mut [(Derived, Slabs<f64>)]) -> Result<(), Underivable> {
        let values = &mut fields[0].1;
        for level in 0..LEVELS - 1 {
            values.plane_mut(level, 0, 0).fill(1e-6 * 3f64.powi(level as i32));
        }
        Ok(())
    }
}

struct Case {
    layout: Layout,
    window: WindowBuffer<f64>,
    state: PackedState<f64>,
    grid: CubedSphere,
    threads: Threads,
    _dir: tempfile::TempDir,
}

impl Case {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        crate::case::make_winds(dir.path(), "w.bin", NC, LEVELS, 1, 1.0, atmostr::met::FloatType::Float64);
        let file = TransportFile::open(dir.path().join("w.bin")).unwrap();
        let header = file.header();
        let layout = Layout::new(NC, header.panel_convention(), 1, 3, None).unwrap();
        // One tile is enough to look at: its columns do not depend on the others.
        let set = Arc::new(TileSet::new(layout.tiles_of(0).to_vec(), 3));
        let sections = [Section::AirMass, Section::FluxX, Section::FluxY, Section::FluxZ];
        let mut window = WindowBuffer::new(set.clone(), header, &sections).with_derived(Arc::new(Growing));
        file.load_window(0, &mut window).unwrap();
        let mut state = PackedState::zeros(set, LEVELS, vec!["a".into(), "b".into()]);
        let air = window.get(Section::AirMass).unwrap();
        for level in 0..LEVELS {
            for tile in 0..6 {
                let mass = air.plane(level, tile, 0);
                state.slabs_mut().plane_mut(level, tile, 0).copy_from_slice(mass);
                for tracer in 1..3 {
                    let ratio = |n: usize| 1e-6 * (1.0 + (level * tracer) as f64 + (n % 7) as f64);
                    let plane = state.slabs_mut().plane_mut(level, tile, tracer);
                    plane.iter_mut().zip(mass).enumerate().for_each(|(n, (x, m))| *x = ratio(n) * m);
                }
            }
        }
        let bundle = GeometryBundle::GeosNative;
        let grid = CubedSphere::new(NC, bundle, bundle.default_offset_deg(), 6.371e6).unwrap();
        Self { layout, window, state, grid, threads: Threads::new(1).unwrap(), _dir: dir }
    }

    fn physics(&self, centre: Centre, rate: Option<f64>) -> CentrePhysics<f64> {
        let diffusion = Diffusion { source: ExchangeSource::Constant(1.0), update: KzUpdate::MassSpace, centre };
        let emitter = |rate| Emitter {
            tracer: 0,
            source: Source::uniform(
                self.state.tile_set().clone(),
                &self.grid,
                rate,
                &Conversion::new(1.0, 0.044).unwrap(),
            ),
            profile: None,
        };
        let emitters = rate.map(emitter).into_iter().collect();
        CentrePhysics::new(Some(&diffusion), emitters, self.state.tile_set(), LEVELS, 2, 1).unwrap()
    }

    /// A substep with winds that do not blow.
    fn still(&self, centre: Centre, rate: Option<f64>, seconds: f64) -> PackedState<f64> {
        let (mut state, mut physics) = (self.state.clone(), self.physics(centre, rate));
        let threads = &self.threads;
        let calm = |levels| Slabs::zeros(state.tile_set().clone(), levels, 1);
        let (x, y, z) = (calm(LEVELS), calm(LEVELS), calm(LEVELS + 1));
        let mut advection = Advection::new(Scheme::Upwind, &self.layout, &state, threads, &Solo);
        let step = CentreStep { start: 0.0, seconds };
        let midpoint = Midpoint { physics: &mut physics, window: &self.window, step };
        let winds = Winds { x: &x, y: &y, z: &z, scale: 1.0 };
        advection.substep(&mut state, winds, 2, Some(midpoint), None, threads);
        state
    }

    /// Columns of a tile one by one: diffusion for each of `seconds`, with the emissions behind the first `before` of them.
    fn alone(&self, seconds: &[f64], before: usize, rate: f64) -> PackedState<f64> {
        let mut state = self.state.clone();
        let source =
            Source::<f64>::uniform(state.tile_set().clone(), &self.grid, rate, &Conversion::new(1.0, 0.044).unwrap());
        let set = state.tile_set().clone();
        let block = ColumnBlock::new(1, LEVELS);
        let exchange_rate = self.window.derived(Derived::ExchangeRate).unwrap();
        let column = |slabs: &Slabs<f64>, tile, plane, at, padding: f64| {
            let mut values = vec![padding; block.values()];
            (0..LEVELS).for_each(|k| values[k * block.width()] = slabs.plane(k, tile, plane)[at]);
            values
        };
        for (tile, shape) in set.shapes().iter().enumerate() {
            for at in (0..shape.nj).flat_map(|j| (0..shape.ni).map(move |i| shape.row_start(j) + i)) {
                let air = column(state.slabs(), tile, 0, at, 1.0);
                let mut exchange = column(exchange_rate, tile, 0, at, 0.0);
                for k in 0..LEVELS - 1 {
                    exchange[k * block.width()] *= air[k * block.width()] + air[(k + 1) * block.width()];
                }
                for tracer in 1..3 {
                    let mut values = column(state.slabs(), tile, tracer, at, 0.0);
                    let emit = |values: &mut [f64]| {
                        let mut amount = [0.0];
                        let rates = &source.rates().plane(0, tile, 0)[at..=at];
                        emission_amounts(Dose { rates, seconds: TwoWord::new(SECONDS) }, None, &mut amount);
                        let lowest = (LEVELS - 1) * block.width();
                        deposit_in_layer(&mut values[lowest..=lowest], &mut [0.0], &amount);
                    };
                    for (n, seconds) in seconds.iter().enumerate() {
                        if n == before && tracer == 1 {
                            emit(&mut values);
                        }
                        let mut factors = MassSpaceFactors::new(block.width(), LEVELS);
                        factors.prepare(block, &air, &exchange, *seconds);
                        factors.solve(&air, &mut values, Ledger::WithoutCarry);
                    }
                    for k in 0..LEVELS {
                        state.slabs_mut().plane_mut(k, tile, tracer)[at] = values[k * block.width()];
                    }
                }
            }
        }
        state
    }
}

/// Largest difference of two states relative to the largest content of each plane.
fn difference(a: &PackedState<f64>, b: &PackedState<f64>) -> f64 {
    let mut worst = 0.0_f64;
    for plane in 1..3 {
        let (mut most, mut largest) = (0.0_f64, 0.0_f64);
        for (tile, shape) in a.tile_set().shapes().iter().enumerate() {
            for level in 0..LEVELS {
                for j in 0..shape.nj {
                    let cells = shape.row_start(j)..shape.row_start(j) + shape.ni;
                    let [x, y] = [a, b].map(|s| &s.slabs().plane(level, tile, plane)[cells.clone()]);
                    for (x, y) in x.iter().zip(y) {
                        most = most.max((x - y).abs());
                        largest = largest.max(x.abs());
                    }
                }
            }
        }
        worst = worst.max(most / largest);
    }
    worst
}

#[test]
fn both_centres_equal_their_parts_one_after_the_other() {
    let case = Case::new();
    let half = 0.5 * SECONDS;
    for (centre, rate, parts, before) in [
        (Centre::DiffuseEmitDiffuse, None, &[SECONDS][..], 9),
        (Centre::EmitThenDiffuse, None, &[SECONDS], 9),
        (Centre::DiffuseEmitDiffuse, Some(1e-8), &[half, half], 1),
        (Centre::EmitThenDiffuse, Some(1e-8), &[SECONDS], 0),
    ] {
        let (whole, parts) = (case.still(centre, rate, SECONDS), case.alone(parts, before, rate.unwrap_or(0.0)));
        let found = difference(&whole, &parts);
        assert!(found <= 1e-13, "{centre:?} {rate:?}: {found:e}");
        assert!(difference(&whole, &case.state) > 1e-3, "{centre:?}: something has happened");
    }
}

/// Backward Euler is no semigroup: one step and two halves differ at second order (Z6: halving the step divides the
/// difference by 2.5 to 5.5).
#[test]
fn halves_differ_from_the_whole_at_second_order() {
    let case = Case::new();
    let gap = |seconds: f64| {
        difference(&case.alone(&[seconds], 9, 0.0), &case.alone(&[0.5 * seconds, 0.5 * seconds], 9, 0.0))
    };
    let (whole, half) = (gap(20.0), gap(10.0));
    assert!((2.5..=5.5).contains(&(whole / half)), "{whole:e} {half:e}");
}

/// Without winds to carry them the columns go through the same operators.
#[test]
fn columns_alone_are_the_same_as_between_calm_sweeps() {
    let case = Case::new();
    let mut state = case.state.clone();
    let threads = &case.threads;
    let mut physics = case.physics(Centre::DiffuseEmitDiffuse, Some(1e-8));
    let rows = ColumnRows::new(state.slabs(), 1);
    let step = CentreStep { start: 0.0, seconds: SECONDS };
    let stats = rows.act(&mut state, Midpoint { physics: &mut physics, window: &case.window, step }, threads);
    assert_eq!((stats.ledger.refused, stats.unlofted), (0, 0));
    let calm = case.still(Centre::DiffuseEmitDiffuse, Some(1e-8), SECONDS);
    assert!(difference(&state, &calm) <= 1e-15);
}
