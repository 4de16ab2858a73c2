//! Balanced and closed windows pass the checks of transport files, as they are stored.

use kernels::Scalar;

use super::testing::Window;
use super::*;
use crate::met::gates::{self, Levels, PanelArrays};

/// From `[k][cell]` to the order of files, `[panel][k][j][i]`.
fn panels(levels: &[f64], nc: usize) -> Vec<f64> {
    let (panel, cells) = (nc * nc, 6 * nc * nc);
    (0..6)
        .flat_map(|p| levels.chunks(cells).flat_map(move |level| level[p * panel..(p + 1) * panel].to_vec()))
        .collect()
}

/// Largest outflow of one of the substeps chosen, and errors of replay and of the mirror rule.
fn check<R: Scalar>(balance: impl Fn(LayerWeights) -> Balance, seed: u64) -> [f64; 3] {
    let (nc, layers) = (12, 5);
    let Window { faces, mut flux, m, m_next, b } = Window::new(nc, layers, seed);
    let weights = LayerWeights::new(ColumnWeights::HybridMass, &b);
    balance(weights.clone()).apply(&Poisson::new(&faces), &mut flux, &m, &m_next).unwrap();
    let mut cm = vec![0.0; (layers + 1) * faces.cells()];
    close_columns(&faces, &weights, &flux, &m, &m_next, &mut cm);
    let rule = StepRule { least: 1, most: 100, target: 0.95 };
    let ratio = outflow_ratio(&faces, &flux, &cm, &m, &m_next);
    let steps = f64::from(rule.steps(ratio));
    assert!(ratio > 0.95, "a window that needs substeps");

    as_stored::<R>(&mut flux, 2.0 * steps);
    close_columns(&faces, &weights, &flux, &m, &m_next, &mut cm);
    cm.iter_mut().for_each(|flux| *flux = R::from_f64(*flux / (2.0 * steps)).to_f64());
    flux.iter_mut().for_each(|flux| *flux /= 2.0 * steps);
    let len = 6 * layers * nc * (nc + 1);
    let (mut am, mut bm) = (vec![0.0f64; len], vec![0.0f64; len]);
    faces.scatter_levels(&flux, layers, &mut am, &mut bm);
    let rounded = |mass: &[f64]| panels(&mass.iter().map(|m| R::from_f64(*m).to_f64()).collect::<Vec<_>>(), nc);
    let (m, m_next, cm) = (rounded(&m), rounded(&m_next), panels(&cm, nc));
    let stored = PanelArrays { nc, nlevel: layers, m: &m, m_next: &m_next, am: &am, bm: &bm, cm: &cm };
    assert_eq!(stored.nlevel(), layers);
    let positivity = gates::positivity(&stored, 1.0);
    assert!((positivity.ratio * steps / ratio - 1.0).abs() < 1e-5, "{positivity:?} {ratio} {steps}");
    [
        positivity.ratio,
        gates::replay(&stored, 2.0 * steps).relative,
        gates::mirror(&stored, faces.convention()).relative,
    ]
}

#[test]
fn closed_windows_pass_the_gates_in_both_precisions() {
    for seed in 0..4 {
        for balance in [Balance::Column as fn(LayerWeights) -> Balance, |_| Balance::PerLayer] {
            let [outflow, replay, mirror] = check::<f64>(balance, seed);
            assert!(outflow <= 0.95 && replay <= 1e-14 && mirror == 0.0, "{outflow} {replay} {mirror}");
            let [outflow, replay, mirror] = check::<f32>(balance, seed);
            assert!(outflow <= 0.95 * (1.0 + 1e-6) && replay <= 1e-6 && mirror == 0.0, "{outflow} {replay} {mirror}");
        }
    }
}
