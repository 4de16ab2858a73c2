//! Rates, and emitted mass of whole windows.

use std::sync::Arc;

use atmostr::grid::constants::MOLAR_MASS_AIR;
use atmostr::grid::{CubedSphere, GeometryBundle};
use atmostr::sources::{Conversion, Source, SourceTimes, TimeScheme};
use atmostr::state::TileSet;
use decomposition::Layout;
use kernels::Scalar;
use kernels::columns::TwoWord;
use kernels::numerics::kahan_add;

pub(crate) fn grid(nc: usize) -> CubedSphere {
    let bundle = GeometryBundle::GeosNative;
    CubedSphere::new(nc, bundle, bundle.default_offset_deg(), 6_371_229.0).unwrap()
}

/// The tiles of one of `ranks` ranks.
pub(crate) fn tiles(nc: usize, ranks: usize, rank: usize) -> Arc<TileSet> {
    let layout = Layout::new(nc, grid(nc).convention(), ranks, 3, None).unwrap();
    Arc::new(TileSet::new(layout.tiles_of(rank).to_vec(), layout.halo()))
}

fn whole_sphere(nc: usize) -> Arc<TileSet> {
    tiles(nc, 1, 0)
}

/// SplitMix64, uniform in [0, 1).
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Rates are density × area × scale × M_air / M, rounded once.
#[test]
fn rates_of_a_uniform_source() {
    let (grid, set) = (grid(12), whole_sphere(12));
    let conversion = Conversion::new(2.0, 44.0095e-3).unwrap();
    let source = Source::<f32>::uniform(set.clone(), &grid, 3e-9, &conversion);
    let mut total = 0.0;
    for (n, (tile, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
        for (j, i) in (0..tile.nj).flat_map(|j| (0..tile.ni).map(move |i| (j, i))) {
            let found = source.rates().plane(0, n, 0)[shape.row_start(j) + i];
            let exact = 3e-9 * grid.area(tile.i0 + i, tile.j0 + j) * 2.0 * MOLAR_MASS_AIR / 44.0095e-3;
            assert!((f64::from(found) / exact - 1.0).abs() <= 6e-8);
            total += f64::from(found);
        }
    }
    let exact = 3e-9 * grid.total_area() * 2.0 * MOLAR_MASS_AIR / 44.0095e-3;
    assert!((total / exact - 1.0).abs() < 1e-8, "{total} {exact}");
    for (scale, mass) in [(1.0, 0.0), (1.0, -1.0), (f64::NAN, 1.0)] {
        assert!(Conversion::new(scale, mass).is_err());
    }
}

/// Mass gained in one window of an hour cut into `steps`, relative to the exact integral of the rounded rates.
/// `amount(rate, seconds)` is the increment of a slice.
fn error<R: Scalar>(source: &Source<R>, steps: usize, amount: impl Fn(R, f64) -> R) -> f64 {
    let (rates, window, start) = (source.rates(), 3600.0, 5400.0);
    let set = rates.tile_set().clone();
    let (mut gained, mut exact) = (0.0, 0.0);
    for (n, shape) in set.shapes().iter().enumerate() {
        for cell in (0..shape.nj).flat_map(|j| (0..shape.ni).map(move |i| shape.row_start(j) + i)) {
            let rate = |slice: usize| rates.plane(slice, n, 0)[cell];
            let (background, mut carry) = (R::from_f64(2e7), R::from_f64(0.0));
            let mut stored = background;
            for step in 0..steps {
                let at = start + window * step as f64 / steps as f64;
                for segment in source.times().segments(at, window / steps as f64) {
                    let mut x = amount(rate(segment.first), segment.first_seconds);
                    if segment.second != segment.first {
                        x += amount(rate(segment.second), segment.second_seconds);
                    }
                    (stored, carry) = kahan_add(stored, carry, x);
                }
            }
            gained += (stored.to_f64() - background.to_f64()) - carry.to_f64();
            for segment in source.times().segments(start, window) {
                let [first, second] = [segment.first, segment.second].map(|s| rate(s).to_f64());
                exact += segment.first_seconds * first + segment.second_seconds * second;
            }
        }
    }
    gained / exact - 1.0
}

/// A source with a different random rate in every cell and slice.
fn random_source<R: Scalar>(times: SourceTimes) -> Source<R> {
    let grid = grid(48);
    let densities = std::cell::RefCell::new(17u64);
    let conversion = Conversion::new(1.0, 44.0095e-3).unwrap();
    Source::from_densities(whole_sphere(48), &grid, times, &conversion, |_, _, _, _| {
        1e-8 * uniform(&mut densities.borrow_mut())
    })
}

/// Emitted mass does not depend on the number of steps, with 13824 cells, one constant slice or three slices that
/// change within the window. With the step rounded to one word it does, by the error of that word.
#[test]
fn emitted_mass_is_that_of_any_number_of_steps() {
    let changing = |scheme| SourceTimes::new(vec![0.0, 6000.0, 8000.0, 12_000.0], scheme).unwrap();
    let cases = [SourceTimes::constant(), changing(TimeScheme::Stepwise), changing(TimeScheme::Conservative)];
    for times in cases {
        let label = (times.times().len(), times.scheme());
        let single = random_source::<f32>(times.clone());
        let double = random_source::<f64>(times);
        let (mut worst, mut worst_double) = (0.0f64, 0.0f64);
        for steps in 1..=13 {
            worst = worst.max(error(&single, steps, |rate, s| TwoWord::new(s).amount(rate)).abs());
            worst_double = worst_double.max(error(&double, steps, |rate, s| TwoWord::new(s).amount(rate)).abs());
        }
        println!("{label:?}: {worst:.1e} in f32, {worst_double:.1e} in f64");
        assert!(worst <= 1e-9 && worst_double <= 1e-13, "{label:?}: {worst:e} {worst_double:e}");
    }
    let constant = random_source::<f32>(SourceTimes::constant());
    for (steps, known) in [(13, -4.24e-8), (11, 2.54e-8), (7, -1.70e-8)] {
        let one_word = error(&constant, steps, |rate, s| rate * s as f32);
        assert!((one_word - known).abs() < 2e-9, "{steps}: {one_word:e}");
    }
}

/// Two words hold what one cannot.
#[test]
fn two_words_hold_a_step() {
    let dt = 3600.0 / 13.0;
    let single = TwoWord::<f32>::new(dt);
    assert!(((f64::from(single.high) + f64::from(single.low)) / dt - 1.0).abs() < 1e-14);
    assert!((f64::from(single.high) / dt - 1.0).abs() > 4e-8);
    assert_eq!(TwoWord::<f64>::new(dt), TwoWord { high: dt, low: 0.0 });
}
