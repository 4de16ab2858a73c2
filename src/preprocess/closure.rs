//! Vertical fluxes from the horizontal ones and the change of air mass.

use kernels::Scalar;
use rayon::prelude::*;

use super::columns::for_columns;
use super::{FaceTable, LayerWeights};

/// What a closure removed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosureReport {
    /// Largest amount, kg over the window, that a column's horizontal fluxes miss its change of air mass by, and which was
    /// taken out of its vertical fluxes; NaN if an input is not finite.
    pub residual: f64,
}

/// Makes every flux what a reader of the file will find: divided by `parts`, rounded to `R`, multiplied by `parts`.
///
/// `parts` is 2·n for amounts of one of the two applications of each of n substeps, 1 for amounts of the whole window.
pub fn as_stored<R: Scalar>(flux: &mut [f64], parts: f64) {
    flux.par_iter_mut().for_each(|value| *value = R::from_f64(*value / parts).to_f64() * parts);
}

/// Vertical fluxes `cm` `[interface][cell]`, kg over the window, positive downward, zero at the top and at the ground.
///
/// From the top, the flux through the lower interface of a layer is the one through its upper interface, less the net
/// horizontal outflow, less the gain of air mass. What is then left at the ground is taken out in proportion to the
/// weights of the layers above each interface, evenly where they are all zero. Give the fluxes as the file will hold them
/// ([`as_stored`]), so that rounding is closed too. `flux` is `[k][face]`, `m` and `m_next` are `[k][cell]`, in kg over
/// the whole window; `cm` has one level more than they.
pub fn close_columns(
    faces: &FaceTable,
    weights: &LayerWeights,
    flux: &[f64],
    m: &[f64],
    m_next: &[f64],
    cm: &mut [f64],
) -> ClosureReport {
    let (cells, layers) = (faces.cells(), weights.layers());
    assert!(m.len() == layers * cells && m_next.len() == m.len(), "air masses of {layers} layers");
    assert!(flux.len() == layers * faces.faces(), "fluxes of {layers} layers");
    assert!(cm.len() == (layers + 1) * cells, "fluxes through {} interfaces", layers + 1);
    let (top, below) = cm.split_at_mut(cells);
    top.fill(0.0);
    // Gain of each layer by vertical fluxes alone, with the sign of a loss.
    below.par_chunks_mut(cells).zip(flux.par_chunks(faces.faces())).enumerate().for_each(|(k, (level, flux))| {
        faces.divergence(flux, level);
        let masses = m[k * cells..].iter().zip(&m_next[k * cells..]);
        level.iter_mut().zip(masses).for_each(|(out, (m, next))| *out = -*out - (next - m));
    });
    let worst = Worst::default();
    for_columns(cm, cells, |first, levels| {
        let width = levels[0].len();
        let mut total = vec![0.0; width];
        for k in 0..layers {
            let (above, below) = levels.split_at_mut(k + 1);
            for n in 0..width {
                below[0][n] += above[k][n];
                total[n] += weights.of(k, m[k * cells + first + n]);
            }
        }
        let residual = levels[layers].to_vec();
        worst.see(&residual);
        let mut summed = vec![0.0; width];
        for k in 0..layers - 1 {
            for n in 0..width {
                summed[n] += weights.of(k, m[k * cells + first + n]);
                let share = if total[n] > 0.0 { summed[n] / total[n] } else { (k + 1) as f64 / layers as f64 };
                levels[k + 1][n] -= residual[n] * share;
            }
        }
        levels[layers].fill(0.0);
    });
    ClosureReport { residual: worst.value() }
}

/// Largest magnitude seen by any thread. Magnitudes order as their bits do, NaN after all numbers.
#[derive(Default)]
struct Worst(std::sync::atomic::AtomicU64);

impl Worst {
    fn see(&self, values: &[f64]) {
        let largest = values.iter().map(|value| value.abs().to_bits()).max().unwrap_or(0);
        self.0.fetch_max(largest, std::sync::atomic::Ordering::Relaxed);
    }

    fn value(&self) -> f64 {
        f64::from_bits(self.0.load(std::sync::atomic::Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use decomposition::PanelConvention;
    use proptest::prelude::*;

    use super::super::testing::{Window, uneven};
    use super::super::{Balance, ColumnWeights, Poisson};
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Closed columns change by m_next − m in every layer, within a hair, for any weights; the ends let nothing through.
        #[test]
        fn closed_columns_carry_the_air_mass(
            nc in 1usize..7, layers in 1usize..6, seed in any::<u64>(), kind in 0usize..3, single in any::<bool>(), n in 1u32..9,
        ) {
            let Window { faces, mut flux, m, m_next, b } = Window::new(nc, layers, seed);
            let weights = LayerWeights::new(ColumnWeights::ALL[kind], &b);
            let parts = 2.0 * f64::from(n);
            Balance::Column(weights.clone()).apply(&Poisson::new(&faces), &mut flux, &m, &m_next).unwrap();
            if single { as_stored::<f32>(&mut flux, parts) } else { as_stored::<f64>(&mut flux, parts) }
            let cells = faces.cells();
            let mut cm = vec![f64::NAN; (layers + 1) * cells];
            let report = close_columns(&faces, &weights, &flux, &m, &m_next, &mut cm);
            let largest = m.iter().chain(&m_next).fold(0.0f64, |a, m| a.max(*m));
            let epsilon = if single { f64::from(f32::EPSILON) } else { f64::EPSILON };
            prop_assert!(report.residual <= 40.0 * epsilon * largest * layers as f64, "{}", report.residual / largest);
            // What the balance had to leave: 1e-10·max(m)/(2n) per application of a substep.
            prop_assert!(single || report.residual / parts <= 1e-10 * largest / parts);
            prop_assert!(cm[..cells].iter().chain(&cm[layers * cells..]).all(|flux| *flux == 0.0));
            let mut out = vec![0.0; cells];
            for k in 0..layers {
                faces.divergence(&flux[k * faces.faces()..(k + 1) * faces.faces()], &mut out);
                for c in 0..cells {
                    let evolved = m[k * cells + c] - out[c] - (cm[(k + 1) * cells + c] - cm[k * cells + c]);
                    let error = (evolved - m_next[k * cells + c]).abs();
                    prop_assert!(error <= report.residual + 8.0 * f64::EPSILON * largest * layers as f64);
                }
            }
        }
    }

    /// The residual goes to the layers by their weights: with weights of B, layers without it keep their budget exactly.
    #[test]
    fn residuals_follow_the_weights() {
        let faces = FaceTable::new(2, PanelConvention::Gnomonic);
        let (cells, layers) = (faces.cells(), 4);
        let m: Vec<f64> = uneven(layers * cells, 3).map(|v| 1000.0 + v).collect();
        let mut m_next = m.clone();
        m_next[3 * cells + 5] += 8.0;
        let flux = vec![0.0; layers * faces.faces()];
        let mut cm = vec![0.0; (layers + 1) * cells];
        let close = |b: &[f64], cm: &mut [f64]| {
            let weights = LayerWeights::new(ColumnWeights::HybridB, b);
            let report = close_columns(&faces, &weights, &flux, &m, &m_next, cm);
            assert!((report.residual - 8.0).abs() < 1e-12);
            (0..=layers).map(|k| cm[k * cells + 5]).collect::<Vec<f64>>()
        };
        let column = close(&[0.0, 0.0, 0.25, 0.25, 1.0], &mut cm);
        assert!(column.iter().zip([0.0, 0.0, 2.0, 2.0, 0.0]).all(|(c, e)| (c - e).abs() < 1e-12), "{column:?}");
        // Without any weight, evenly.
        let column = close(&[0.0; 5], &mut cm);
        assert!(column.iter().zip([0.0, 2.0, 4.0, 6.0, 0.0]).all(|(c, e)| (c - e).abs() < 1e-12), "{column:?}");
        let others = (0..cm.len()).filter(|n| n % cells != 5);
        assert!(others.into_iter().all(|n| cm[n] == 0.0));
    }

    #[test]
    fn stored_values_are_those_read_back() {
        let mut flux = vec![1.0 / 3.0, -7e9, 0.0];
        as_stored::<f32>(&mut flux, 6.0);
        assert_eq!(flux[0], f64::from((1.0f64 / 18.0) as f32) * 6.0);
        let once = flux.clone();
        as_stored::<f32>(&mut flux, 6.0);
        assert_eq!(flux, once);
        as_stored::<f64>(&mut flux, 1.0);
        assert_eq!(flux, once);
    }

    #[test]
    fn values_that_are_not_finite_are_told() {
        let Window { faces, mut flux, m, m_next, b } = Window::new(3, 2, 9);
        flux[20] = f64::NAN;
        let weights = LayerWeights::new(ColumnWeights::Mass, &b);
        let mut cm = vec![0.0; 3 * faces.cells()];
        assert!(close_columns(&faces, &weights, &flux, &m, &m_next, &mut cm).residual.is_nan());
    }
}
