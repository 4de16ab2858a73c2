use proptest::prelude::*;

use super::super::ColumnWeights;
use super::super::testing::Window;
use super::*;

/// Largest |net outflow − (m − m_next)| over the cells, of single layers or of whole columns.
fn missed(faces: &FaceTable, flux: &[f64], m: &[f64], m_next: &[f64]) -> f64 {
    let mut out = vec![0.0; faces.cells()];
    let mut worst = 0.0f64;
    for (k, flux) in flux.chunks(faces.faces()).enumerate() {
        faces.divergence(flux, &mut out);
        for (c, out) in out.iter().enumerate() {
            let c = k * faces.cells() + c;
            worst = worst.max((out - (m[c] - m_next[c])).abs());
        }
    }
    worst
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn columns_are_balanced_for_any_weights(nc in 1usize..13, layers in 1usize..5, seed in any::<u64>(), kind in 0usize..3) {
        let Window { faces, flux, m, m_next, b } = Window::new(nc, layers, seed);
        let weights = LayerWeights::new(ColumnWeights::ALL[kind], &b);
        let solver = Poisson::new(&faces);
        let mut balanced = flux.clone();
        let report = Balance::Column(weights).apply(&solver, &mut balanced, &m, &m_next).unwrap();
        prop_assert!(report.after <= 1e-12 * report.before, "{:?}", report);
        prop_assert!(report.mean <= 1e-12 * report.before, "{:?}", report);
        let column = |values: &[f64], width| sum_levels(values, width);
        let (m_sum, next_sum) = (column(&m, faces.cells()), column(&m_next, faces.cells()));
        let after = column(&balanced, faces.faces());
        prop_assert!(missed(&faces, &after, &m_sum, &next_sum) <= 1e-12 * report.before);
        // The target has the sign of an outflow: balanced the other way round, twice the change is missing.
        let mut reversed = flux.clone();
        Balance::Column(LayerWeights::new(ColumnWeights::ALL[kind], &b)).apply(&solver, &mut reversed, &m_next, &m).unwrap();
        prop_assert!(missed(&faces, &column(&reversed, faces.faces()), &m_sum, &next_sum) > 1e-3 * report.before);
        // The same correction in all weights, up to rounding.
        let before = column(&flux, faces.faces());
        let mut even = flux.clone();
        Balance::Column(LayerWeights::new(ColumnWeights::Mass, &b)).apply(&solver, &mut even, &m, &m_next).unwrap();
        let even = column(&even, faces.faces());
        for face in 0..faces.faces() {
            let scale = before[face].abs().max(report.change) * layers as f64;
            prop_assert!((after[face] - even[face]).abs() <= 8.0 * f64::EPSILON * scale);
        }
    }

    #[test]
    fn layers_are_balanced_each_on_its_own(nc in 2usize..9, layers in 1usize..4, seed in any::<u64>()) {
        let Window { faces, mut flux, m, mut m_next, .. } = Window::new(nc, layers, seed);
        // Each layer keeps its total, as horizontal fluxes cannot change it.
        for (m, next) in m.chunks(faces.cells()).zip(m_next.chunks_mut(faces.cells())) {
            let excess = (next.iter().sum::<f64>() - m.iter().sum::<f64>()) / m.len() as f64;
            next.iter_mut().for_each(|m| *m -= excess);
        }
        let report = Balance::PerLayer.apply(&Poisson::new(&faces), &mut flux, &m, &m_next).unwrap();
        prop_assert!(report.after <= 1e-12 * report.before, "{:?}", report);
        prop_assert!(missed(&faces, &flux, &m, &m_next) <= 1e-12 * report.before);
    }
}

/// A change goes to the layers by the weights of the two cells beside a face; the column changes by the whole of it.
#[test]
fn changes_are_shared_out_by_weight() {
    let Window { faces, flux, m, .. } = Window::new(3, 4, 7);
    let b = [0.0, 0.0, 0.3, 0.3, 1.0];
    let change: Vec<f64> = (0..faces.faces()).map(|f| 1e6 * (1.0 + f as f64)).collect();
    let step = |weights: &LayerWeights, f: usize, k: usize| {
        let mut changed = flux.clone();
        spread(&faces, weights, &change, &m, &mut changed);
        let at = k * faces.faces() + f;
        (changed[at] - flux[at]) / change[f]
    };
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    for face in [0, 17, faces.faces() - 1] {
        let mass = |k: usize| m[k * faces.cells() + faces.left(face)] + m[k * faces.cells() + faces.right(face)];
        let all: f64 = (0..4).map(mass).sum();
        for (k, delta_b) in [0.0, 0.3, 0.0, 0.7].into_iter().enumerate() {
            assert!(near(step(&LayerWeights::new(ColumnWeights::Mass, &b), face, k), mass(k) / all));
            assert!(near(step(&LayerWeights::new(ColumnWeights::HybridB, &b), face, k), delta_b));
            let sloping = if delta_b > 0.0 { mass(k) / (mass(1) + mass(3)) } else { 0.0 };
            let hybrid_mass = step(&LayerWeights::new(ColumnWeights::HybridMass, &b), face, k);
            assert!(near(hybrid_mass, sloping) && (hybrid_mass == 0.0) == (delta_b == 0.0));
            assert!(near(step(&LayerWeights::new(ColumnWeights::HybridB, &[0.5; 5]), face, k), 0.25));
        }
    }
}

/// A change too small to show in most layers still changes the column.
#[test]
fn the_column_takes_the_whole_change() {
    let Window { faces, mut flux, m, b, .. } = Window::new(2, 6, 11);
    flux.iter_mut().for_each(|flux| *flux = 1e9 + (*flux).round());
    let before = sum_levels(&flux, faces.faces());
    let change = vec![3e-7; faces.faces()];
    spread(&faces, &LayerWeights::new(ColumnWeights::Mass, &b), &change, &m, &mut flux);
    for (before, levels) in before.iter().enumerate().map(|(f, before)| {
        // Differences from whole numbers are exact, so that their sum shows the change alone.
        (before, (0..6).map(|k| flux[k * faces.faces() + f] - flux[k * faces.faces() + f].round()).sum::<f64>())
    }) {
        assert!(*before > 0.0 && (levels - 3e-7).abs() <= 1.2e-7, "{levels}");
    }
}

#[test]
fn values_that_are_not_finite_are_named() {
    let refused = |spoil: fn(&mut Window)| {
        let mut window = Window::new(3, 2, 4);
        spoil(&mut window);
        let Window { faces, mut flux, m, m_next, b } = window;
        let solver = Poisson::new(&faces);
        let weights = LayerWeights::new(ColumnWeights::Mass, &b);
        let column = Balance::Column(weights).apply(&solver, &mut flux.clone(), &m, &m_next).unwrap_err();
        assert_eq!(
            Balance::PerLayer.apply(&solver, &mut flux, &m, &m_next).unwrap_err().to_string(),
            column.to_string()
        );
        assert!(!column.help().is_empty());
        column.to_string()
    };
    assert_eq!(
        refused(|w| w.m[54 + 9 + 5] = f64::NAN),
        "the air mass at the start of a window at (panel, i, j, k) = (2, 3, 2, 2) is NaN"
    );
    assert_eq!(
        refused(|w| w.m_next[0] = f64::INFINITY),
        "the air mass at the end of a window at (panel, i, j, k) = (1, 1, 1, 1) is inf"
    );
    assert_eq!(refused(|w| w.flux[1] = f64::NAN), "the flux along i at (panel, i, j, k) = (1, 3, 1, 1) is NaN");
    assert!(refused(|w| w.m.fill(1e308)).contains("too large"));
}

/// The answer is the same with one thread and with several.
#[test]
fn threads_change_nothing() {
    let with = |threads: usize| {
        let Window { faces, mut flux, m, m_next, b } = Window::new(20, 3, 8);
        let weights = LayerWeights::new(ColumnWeights::HybridMass, &b);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Balance::Column(weights).apply(&Poisson::new(&faces), &mut flux, &m, &m_next).unwrap());
        flux
    };
    assert_eq!(with(1), with(3));
}
