//! Convection over the tiles of a rank (specification 30, acceptance C1, D2, V3 on panels).

use std::sync::Arc;

use atmostr::grid::{CubedSphere, GeometryBundle};
use atmostr::met::{Section, WindowBuffer};
use atmostr::operators::Threads;
use atmostr::operators::advection::{ColumnRows, Midpoint};
use atmostr::operators::columns::{CentrePhysics, CentreStep, Convection, ConvectionOperator, Emitter};
use atmostr::sources::{Conversion, Source};
use atmostr::state::{PackedState, TileSet};
use decomposition::{Layout, TileGrid};
use kernels::Scalar;
use kernels::columns::convection::cmfmc::CmfmcOptions;

const NC: usize = 7;
const LEVELS: usize = 5;
const MASS: f64 = 1e13;
const HALO_VALUE: f64 = 17.0;

struct Globe<R: Scalar> {
    set: Arc<TileSet>,
    grid: CubedSphere,
    state: PackedState<R>,
    window: WindowBuffer<R>,
    threads: Arc<Threads>,
}

/// A thread can belong to one pool only.
fn one_thread() -> Arc<Threads> {
    Arc::new(Threads::new(1).unwrap())
}

impl<R: Scalar> Globe<R> {
    /// Cells of equal mass, halos full of 17, a cloud mass flux of 0.01 kg m⁻² s⁻¹ at every inner edge.
    fn new(threads: &Arc<Threads>) -> Self {
        let bundle = GeometryBundle::GeosNative;
        let tiles = Some(TileGrid { px: 2, py: 3 });
        let layout = Layout::new(NC, bundle.convention(), 1, 1, tiles).unwrap();
        let set = Arc::new(TileSet::new(layout.tiles_of(0).to_vec(), 1));
        let grid = CubedSphere::new(NC, bundle, bundle.default_offset_deg(), 6.371e6).unwrap();
        let mut state = PackedState::zeros(set.clone(), LEVELS, vec!["a".into(), "b".into()]);
        state.slabs_mut().data_mut().fill(R::from_f64(HALO_VALUE));
        let sections = [Section::Cmfmc];
        let mut window = WindowBuffer::empty(set.clone(), NC, LEVELS, bundle.convention(), &sections);
        for (tile, shape) in set.shapes().iter().enumerate() {
            for at in (0..shape.nj).flat_map(|j| (0..shape.ni).map(move |i| shape.row_start(j) + i)) {
                for level in 0..LEVELS {
                    state.slabs_mut().plane_mut(level, tile, 0)[at] = R::from_f64(MASS);
                    for tracer in 1..3 {
                        let content = 1e7 * (1 + level * tracer) as f64;
                        state.slabs_mut().plane_mut(level, tile, tracer)[at] = R::from_f64(content);
                    }
                }
                let flux = window.get_mut(Section::Cmfmc).unwrap();
                (1..LEVELS).for_each(|edge| flux.plane_mut(edge, tile, 0)[at] = R::from_f64(0.01));
            }
        }
        Self { set, grid, state, window, threads: threads.clone() }
    }

    fn convection(&self) -> ConvectionOperator<R> {
        let settings = Convection::Cmfmc(CmfmcOptions::default());
        ConvectionOperator::new(settings, &self.state, &self.grid, 1).unwrap()
    }

    fn courant(&self, dt: f64) -> f64 {
        self.convection().largest_courant(&self.state, &self.window, dt, &self.threads)
    }

    /// Area of a cell, m².
    fn area(&self, tile: usize, j: usize, i: usize) -> f64 {
        let place = &self.set.tiles()[tile];
        self.grid.area(place.i0 + i, place.j0 + j)
    }

    fn flux(&mut self, edge: usize, tile: usize, j: usize, i: usize, value: f64) {
        let at = self.set.shapes()[tile].row_start(j) + i;
        self.window.get_mut(Section::Cmfmc).unwrap().plane_mut(edge, tile, 0)[at] = R::from_f64(value);
    }

    /// Every value outside the interiors, and the interiors of air and the second tracer.
    fn untouched(&self) -> Vec<R> {
        let mut values = Vec::new();
        for (tile, shape) in self.set.shapes().iter().enumerate() {
            let inside: Vec<usize> =
                (0..shape.nj).flat_map(|j| (0..shape.ni).map(move |i| shape.row_start(j) + i)).collect();
            for (level, plane) in (0..LEVELS).flat_map(|level| (0..3).map(move |plane| (level, plane))) {
                let all = self.state.slabs().plane(level, tile, plane).iter().enumerate();
                values.extend(all.filter(|(at, _)| plane != 1 || !inside.contains(at)).map(|(_, value)| *value));
            }
        }
        values
    }
}

fn the_largest_courant_number_is_found<R: Scalar>() {
    let dt = 600.0;
    let threads = &one_thread();
    let corners = |globe: &Globe<R>| -> Vec<(usize, usize, usize)> {
        let shapes = globe.set.shapes().iter().enumerate();
        shapes.flat_map(|(tile, s)| [(tile, 0, 0), (tile, s.nj - 1, s.ni - 1), (tile, s.nj / 2, 0)]).collect()
    };
    for (tile, j, i) in corners(&Globe::<R>::new(threads)) {
        for edge in [0, 2, LEVELS] {
            let mut globe = Globe::<R>::new(threads);
            globe.flux(edge, tile, j, i, -50.0);
            let expected = 50.0 * dt * globe.area(tile, j, i) / MASS;
            let found = globe.courant(dt);
            assert!((found / expected - 1.0).abs() < 8.0 * R::EPSILON.to_f64(), "{tile} {j} {i} {edge}: {found}");
            // One call for dt asks for as many sub-steps as two calls of half of it together.
            assert!((2.0 * globe.courant(0.5 * dt) / found - 1.0).abs() < 8.0 * R::EPSILON.to_f64());
            // Without air nothing is divided by; beside a mass that is no number neither.
            let at = globe.set.shapes()[tile].row_start(j) + i;
            for mass in [0.0, f64::NAN] {
                (0..LEVELS).for_each(|k| globe.state.slabs_mut().plane_mut(k, tile, 0)[at] = R::from_f64(mass));
                assert!(globe.courant(dt) < expected);
            }
        }
        for value in [f64::NAN, f64::INFINITY] {
            let mut globe = Globe::<R>::new(threads);
            globe.flux(3, tile, j, i, value);
            assert!(!globe.courant(dt).is_finite(), "{value} is seen");
        }
    }
}

#[test]
fn the_largest_courant_number_is_found_wherever_it_is() {
    std::thread::scope(|s| s.spawn(the_largest_courant_number_is_found::<f32>).join().unwrap());
    std::thread::scope(|s| s.spawn(the_largest_courant_number_is_found::<f64>).join().unwrap());
}

fn only_the_emitting_tracer_changes<R: Scalar>() {
    let mut globe = Globe::<R>::new(&one_thread());
    let before = globe.untouched();
    let source = Source::uniform(globe.set.clone(), &globe.grid, 1e-8, &Conversion::new(1.0, 0.044).unwrap());
    let emitters = vec![Emitter { tracer: 0, source, profile: None }];
    let mut physics = CentrePhysics::new(None, emitters, &globe.set, LEVELS, 2, 1).unwrap();
    let rows = ColumnRows::new(globe.state.slabs(), 1);
    let step = CentreStep { start: 0.0, seconds: 450.0 };
    let first = globe.state.clone();
    rows.act(&mut globe.state, Midpoint { physics: &mut physics, window: &globe.window, step }, &globe.threads);
    assert!(before == globe.untouched(), "halos, air and the other tracer stay");
    for (tile, shape) in globe.set.shapes().iter().enumerate() {
        for level in 0..LEVELS {
            let [a, b] = [&first, &globe.state].map(|s| s.slabs().plane(level, tile, 1)[shape.row_start(0)]);
            assert_eq!(a != b, level + 1 == LEVELS, "level {level}");
        }
    }
}

#[test]
fn only_the_lowest_layer_of_the_emitting_tracer_changes() {
    std::thread::scope(|s| s.spawn(only_the_emitting_tracer_changes::<f32>).join().unwrap());
    std::thread::scope(|s| s.spawn(only_the_emitting_tracer_changes::<f64>).join().unwrap());
}

fn halos_stay<R: Scalar>() {
    let mut globe = Globe::<R>::new(&one_thread());
    let outside = |globe: &Globe<R>| -> Vec<R> {
        let set = globe.set.clone();
        let mut values = Vec::new();
        for (tile, shape) in set.shapes().iter().enumerate() {
            for (level, plane) in (0..LEVELS).flat_map(|level| (0..3).map(move |plane| (level, plane))) {
                let row = globe.state.slabs().plane(level, tile, plane);
                values.extend_from_slice(&row[..shape.row_start(0)]);
                values.extend((0..shape.nj).flat_map(|j| &row[shape.row_start(j) + shape.ni..shape.row_start(j + 1)]));
            }
        }
        values
    };
    let before = outside(&globe);
    let first = globe.state.clone();
    let mut convection = globe.convection();
    let stats = convection.convect(&mut globe.state, &globe.window, 600.0, 2, &globe.threads);
    assert_eq!(stats.refused, 0);
    assert!(before == outside(&globe));
    assert!(first.slabs().data() != globe.state.slabs().data(), "the clouds moved something");
}

#[test]
fn convection_leaves_halos_alone() {
    std::thread::scope(|s| s.spawn(halos_stay::<f32>).join().unwrap());
    std::thread::scope(|s| s.spawn(halos_stay::<f64>).join().unwrap());
}
