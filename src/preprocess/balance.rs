//! Horizontal balance: the smallest change of the face fluxes that makes them carry one air mass into the next.

use decomposition::Axis;
use rayon::prelude::*;

use super::columns::{for_columns, sum_levels};
use super::{FacePlace, FaceTable, LayerWeights, Poisson, PoissonScratch, Solved};
use crate::met::CellIndex;

/// What is balanced.
#[derive(Clone, Debug, PartialEq)]
pub enum Balance {
    /// The sum over each column; its change is shared out over the layers by weight.
    Column(LayerWeights),
    /// Every layer on its own.
    PerLayer,
}

/// What a balance did; amounts in kg over the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BalanceReport {
    /// Largest amount by which a cell (a layer's or a column's) missed its air mass, less the mean.
    pub before: f64,
    /// The same after the balance, from the changed fluxes.
    pub after: f64,
    /// Largest mean over the sphere of that amount: no flux through faces removes it.
    pub mean: f64,
    /// Largest change of a column flux (of a layer's flux when layers are balanced on their own).
    pub change: f64,
}

/// Why fluxes were not balanced.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BalanceError {
    /// A value that is no number.
    #[error("{what} at {cell} is {value}")]
    NotFinite {
        /// Which value.
        what: &'static str,
        /// Where.
        cell: CellIndex,
        /// The value.
        value: f64,
    },
    /// Finite values whose sums are not.
    #[error("air masses and fluxes of a window are too large to be added up")]
    Overflow,
}

impl BalanceError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        "check the winds, pressures and humidities that this window was made from"
    }
}

impl Balance {
    /// Changes the fluxes of a window so that the net outflow of every cell is `m − m_next`, up to the mean of the sphere.
    ///
    /// `flux` is `[k][face]`, `m` and `m_next` are `[k][cell]`, from the model top; all in kg over the whole window. The
    /// answer does not depend on the number of threads.
    ///
    /// # Errors
    /// [`BalanceError`] if a value is not finite.
    pub fn apply(
        &self,
        solver: &Poisson,
        flux: &mut [f64],
        m: &[f64],
        m_next: &[f64],
    ) -> Result<BalanceReport, BalanceError> {
        let faces = solver.faces();
        let layers = m.len() / faces.cells();
        assert!(layers > 0 && m.len() == layers * faces.cells() && m_next.len() == m.len(), "air masses of layers");
        assert!(flux.len() == layers * faces.faces(), "fluxes of {layers} layers");
        let report = match self {
            Balance::Column(weights) => {
                assert!(weights.layers() == layers, "weights of {layers} layers");
                let (m_sum, next_sum) = (sum_levels(m, faces.cells()), sum_levels(m_next, faces.cells()));
                let column = sum_levels(flux, faces.faces());
                let mut change = vec![0.0; faces.faces()];
                let solved = Layer::default().solve(solver, &column, &m_sum, &next_sum, &mut change);
                if !solved.largest.is_finite() {
                    return Err(culprit(faces, flux, m, m_next));
                }
                spread(faces, weights, &change, m, flux);
                let column = sum_levels(flux, faces.faces());
                let after = Layer::default().missing(faces, &column, &m_sum, &next_sum, solved.mean);
                let change = change.iter().fold(0.0f64, |a, c| a.max(c.abs()));
                BalanceReport { before: solved.largest, after, mean: solved.mean.abs(), change }
            }
            Balance::PerLayer => {
                let masses = m.par_chunks(faces.cells()).zip(m_next.par_chunks(faces.cells()));
                let reports: Vec<BalanceReport> = (flux.par_chunks_mut(faces.faces()).zip(masses))
                    .map_init(
                        || (Layer::default(), vec![0.0; faces.faces()]),
                        |(layer, change), (flux, (m, m_next))| {
                            let solved = layer.solve(solver, flux, m, m_next, change);
                            flux.iter_mut().zip(change.iter()).for_each(|(flux, change)| *flux += change);
                            let after = layer.missing(faces, flux, m, m_next, solved.mean);
                            let change = change.iter().fold(0.0f64, |a, c| a.max(c.abs()));
                            BalanceReport { before: solved.largest, after, mean: solved.mean.abs(), change }
                        },
                    )
                    .collect();
                reports.into_iter().reduce(BalanceReport::worst).expect("there are layers")
            }
        };
        if report.before.is_finite() && report.after.is_finite() {
            Ok(report)
        } else {
            Err(culprit(faces, flux, m, m_next))
        }
    }
}

impl BalanceReport {
    fn worst(self, other: Self) -> Self {
        // NaN stays.
        let worse = |a: f64, b: f64| if a > b || a.is_nan() { a } else { b };
        Self {
            before: worse(self.before, other.before),
            after: worse(self.after, other.after),
            mean: worse(self.mean, other.mean),
            change: worse(self.change, other.change),
        }
    }
}

/// Memory for the balance of one layer.
#[derive(Default)]
struct Layer {
    rhs: Vec<f64>,
    scratch: PoissonScratch,
}

impl Layer {
    /// Change of the fluxes of a layer that makes it carry `m` into `m_next`.
    fn solve(&mut self, solver: &Poisson, flux: &[f64], m: &[f64], m_next: &[f64], change: &mut [f64]) -> Solved {
        self.right_hand_side(solver.faces(), flux, m, m_next);
        solver.correction(&self.rhs, change, &mut self.scratch)
    }

    /// Largest amount that a cell misses beyond the mean.
    fn missing(&mut self, faces: &FaceTable, flux: &[f64], m: &[f64], m_next: &[f64], mean: f64) -> f64 {
        self.right_hand_side(faces, flux, m, m_next);
        self.rhs.iter().fold(0.0f64, |a, r| a.max((r - mean).abs()))
    }

    /// Net outflow less the outflow wanted, m − m_next.
    fn right_hand_side(&mut self, faces: &FaceTable, flux: &[f64], m: &[f64], m_next: &[f64]) {
        self.rhs.resize(m.len(), 0.0);
        faces.divergence(flux, &mut self.rhs);
        let wanted = m.iter().zip(m_next).map(|(m, next)| m - next);
        self.rhs.iter_mut().zip(wanted).for_each(|(out, wanted)| *out -= wanted);
    }
}

/// Adds `change` of each face to its column of fluxes, by the weights of the layers in the two cells beside it, evenly
/// where all weights are zero. The lowest layer with a weight takes what is left, so that the column changes by `change`
/// to one rounding of that layer's flux.
fn spread(faces: &FaceTable, weights: &LayerWeights, change: &[f64], m: &[f64], flux: &mut [f64]) {
    let layers = weights.layers();
    for_columns(flux, faces.faces(), |first, levels| {
        let width = levels[0].len();
        let (left, right) = (&faces.lefts()[first..first + width], &faces.rights()[first..first + width]);
        let weight = |k: usize, n: usize| {
            let level = &m[k * faces.cells()..(k + 1) * faces.cells()];
            weights.of(k, level[left[n] as usize]) + weights.of(k, level[right[n] as usize])
        };
        let (mut total, mut last) = (vec![0.0; width], vec![layers - 1; width]);
        for k in 0..layers {
            for n in 0..width {
                let weight = weight(k, n);
                total[n] += weight;
                if weight > 0.0 {
                    last[n] = k;
                }
            }
        }
        let mut applied = vec![0.0; width];
        for (k, level) in levels.iter_mut().enumerate() {
            for n in 0..width {
                let change = change[first + n];
                let step = if k == last[n] {
                    change - applied[n]
                } else if total[n] > 0.0 {
                    change * (weight(k, n) / total[n])
                } else {
                    change / layers as f64
                };
                let changed = level[n] + step;
                applied[n] += changed - level[n];
                level[n] = changed;
            }
        }
    });
}

/// The first value that is not finite.
fn culprit(faces: &FaceTable, flux: &[f64], m: &[f64], m_next: &[f64]) -> BalanceError {
    let nc = faces.nc();
    let in_cell = |what: &'static str, values: &[f64]| {
        let n = values.iter().position(|value| !value.is_finite())?;
        let (k, cell) = (n / faces.cells(), n % faces.cells());
        let cell = CellIndex { panel: cell / (nc * nc), i: cell % nc, j: cell / nc % nc, k };
        Some(BalanceError::NotFinite { what, cell, value: values[n] })
    };
    let on_face = || {
        let n = flux.iter().position(|value| !value.is_finite())?;
        let FacePlace { panel, axis, i, j } = faces.place(n % faces.faces());
        let what = match axis {
            Axis::X => "the flux along i",
            Axis::Y => "the flux along j",
        };
        let cell = CellIndex { panel: panel.index(), i, j, k: n / faces.faces() };
        Some(BalanceError::NotFinite { what, cell, value: flux[n] })
    };
    in_cell("the air mass at the start of a window", m)
        .or_else(|| in_cell("the air mass at the end of a window", m_next))
        .or_else(on_face)
        .unwrap_or(BalanceError::Overflow)
}

#[cfg(test)]
#[path = "balance_tests.rs"]
mod tests;
