//! Error norms, the filament and the mixing diagnostic (Lauritzen et al. 2012). All sums are exact, so that no figure
//! depends on ranks, tiles or threads.

use serde::Serialize;

use crate::comm::Communicator;
use crate::diagnostics::{ExactSum, SumError, exact_total};

use super::shapes::correlated;

/// Error norms of a tracer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Norms {
    /// Σw|φ−φT| / Σw|φT|.
    pub l1: f64,
    /// (Σw(φ−φT)² / Σw φT²)^½.
    pub l2: f64,
    /// max|φ−φT| / max|φT|.
    pub linf: f64,
    /// (max φ − max φT) / range of φT.
    pub phi_max: f64,
    /// (min φ − min φT) / range of φT.
    pub phi_min: f64,
    /// Smallest mixing ratio.
    pub minimum: f64,
    /// Largest mixing ratio.
    pub maximum: f64,
    /// (mass at the end − mass at the start) / mass at the start.
    pub mass_rel_error: f64,
}

/// Sum of w·f over all ranks. Collective.
pub(super) fn weighted_sum(
    comm: &dyn Communicator,
    weights: &[f64],
    values: impl Iterator<Item = f64>,
) -> Result<f64, SumError> {
    let mut sum = ExactSum::new();
    weights.iter().zip(values).for_each(|(w, v)| sum.add(w * v));
    exact_total(comm, sum)
}

/// Smallest and largest of the values of all ranks. Collective.
pub(super) fn extremes(comm: &dyn Communicator, values: &[f64]) -> [f64; 2] {
    let mut found = [f64::NEG_INFINITY; 2];
    for &v in values {
        found = [found[0].max(-v), found[1].max(v)];
    }
    comm.max_f64(&mut found);
    [-found[0], found[1]]
}

/// Largest |v| of all ranks; infinite where a value is no number. Collective.
pub(super) fn largest(comm: &dyn Communicator, values: impl Iterator<Item = f64>) -> f64 {
    let worst = |most: f64, v: f64| if v.is_nan() { f64::INFINITY } else { most.max(v.abs()) };
    let mut most = [values.fold(0.0, worst)];
    comm.max_f64(&mut most);
    most[0]
}

impl Norms {
    /// Norms of `found` against `exact`, both on the cells of this rank. Collective.
    ///
    /// # Errors
    /// Values that are no finite numbers.
    pub(super) fn of(
        comm: &dyn Communicator,
        weights: &[f64],
        found: &[f64],
        exact: &[f64],
        mass_rel_error: f64,
    ) -> Result<Self, SumError> {
        let sum =
            |f: &dyn Fn(f64, f64) -> f64| weighted_sum(comm, weights, found.iter().zip(exact).map(|(&a, &b)| f(a, b)));
        let l1 = sum(&|a, b| (a - b).abs())? / sum(&|_, b| b.abs())?;
        let l2 = (sum(&|a, b| (a - b) * (a - b))? / sum(&|_, b| b * b)?).sqrt();
        let error = largest(comm, found.iter().zip(exact).map(|(a, b)| a - b));
        let [minimum, maximum] = extremes(comm, found);
        let [low, high] = extremes(comm, exact);
        let range = high - low;
        Ok(Self {
            l1,
            l2,
            linf: error / low.abs().max(high.abs()),
            phi_max: (maximum - high) / range,
            phi_min: (minimum - low) / range,
            minimum,
            maximum,
            mass_rel_error,
        })
    }
}

/// Area where a tracer is at least as large as each threshold, over that of the start, in percent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Filament {
    /// Thresholds.
    pub threshold: Vec<f64>,
    /// Percent of the area at the start; 0 where that is 0.
    pub percent: Vec<f64>,
}

impl Filament {
    /// Thresholds 0.1, 0.15, … 1. Collective.
    ///
    /// # Errors
    /// Values that are no finite numbers.
    pub(super) fn of(comm: &dyn Communicator, weights: &[f64], found: &[f64], start: &[f64]) -> Result<Self, SumError> {
        let threshold: Vec<f64> = (2..=20).map(|n| f64::from(n) / 20.0).collect();
        let mut percent = Vec::new();
        for &level in &threshold {
            // Slack for rounding of values that lie on a threshold.
            let area = |values: &[f64]| {
                let above = values.iter().map(|&v| if v >= level - 1e-12 { 1.0 } else { 0.0 });
                weighted_sum(comm, weights, above)
            };
            let (now, then) = (area(found)?, area(start)?);
            percent.push(if then > 0.0 { 100.0 * now / then } else { 0.0 });
        }
        Ok(Self { threshold, percent })
    }
}

/// How two correlated tracers have been mixed: mean distances from the curve that joins them at the start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mixing {
    /// Between the curve and its chord, where mixing could have led.
    pub real_mixing: f64,
    /// Elsewhere within the bounds of the start.
    pub range_preserving_unmixing: f64,
    /// Beyond the bounds of the start.
    pub overshooting: f64,
}

/// Slack of the regions for values that lie on a border.
const SLACK: f64 = 1e-7;

/// Ends of the curve: smallest and largest value of the bells.
const ENDS: [f64; 2] = [0.1, 1.0];

impl Mixing {
    /// Of the cosine bells `chi` and the correlated bells `xi`. Collective.
    ///
    /// # Errors
    /// Values that are no finite numbers.
    pub(super) fn of(comm: &dyn Communicator, weights: &[f64], chi: &[f64], xi: &[f64]) -> Result<Self, SumError> {
        let area = weighted_sum(comm, weights, weights.iter().map(|_| 1.0))?;
        let mut sums = [0.0; 3];
        let cells: Vec<(usize, f64)> = chi.iter().zip(xi).map(|(&chi, &xi)| distance(chi, xi)).collect();
        for (region, sum) in sums.iter_mut().enumerate() {
            let inside = cells.iter().map(|&(r, d)| if r == region { d } else { 0.0 });
            *sum = weighted_sum(comm, weights, inside)? / area;
        }
        let [real_mixing, range_preserving_unmixing, overshooting] = sums;
        Ok(Self { real_mixing, range_preserving_unmixing, overshooting })
    }
}

/// Region (mixed, unmixed within bounds, beyond) and distance from the curve, both axes scaled by their ranges.
fn distance(chi: f64, xi: f64) -> (usize, f64) {
    let root = nearest(chi, xi);
    let (high, low) = (correlated(ENDS[0]), correlated(ENDS[1]));
    let d = ((chi - root) / (ENDS[1] - ENDS[0])).hypot((xi - correlated(root)) / (high - low));
    let chord = high + (chi - ENDS[0]) / (ENDS[1] - ENDS[0]) * (low - high);
    let within = (ENDS[0] - SLACK..=ENDS[1] + SLACK).contains(&chi);
    let region = if within && xi >= chord - SLACK && xi <= correlated(chi) + SLACK {
        0
    } else if within && (low - SLACK..=high + SLACK).contains(&xi) {
        1
    } else {
        2
    };
    (region, d)
}

/// Abscissa of the nearest point of the curve (Lauritzen et al. 2012, appendix B).
fn nearest(chi: f64, xi: f64) -> f64 {
    let under =
        -1_687_296.0 + xi * (12_168_000.0 + xi * (-29_250_000.0 + 23_437_500.0 * xi)) + 29_648_025.0 * chi * chi;
    let c = (65_340.0 * chi + 12.0 * under.max(0.0).sqrt()).cbrt() / 60.0;
    let root = if c == 0.0 { 0.0 } else { c + (13.0 / 75.0 - 5.0 / 12.0 * xi) / c };
    root.clamp(ENDS[0], ENDS[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::Solo;

    #[test]
    fn norms_of_two_cells() {
        let norms = Norms::of(&Solo, &[1.0, 3.0], &[1.5, 2.0], &[1.0, 2.0], 0.0).unwrap();
        assert!((norms.l1 - 0.5 / 7.0).abs() < 1e-15);
        assert!((norms.l2 - (0.25f64 / 13.0).sqrt()).abs() < 1e-15);
        assert_eq!((norms.linf, norms.phi_max, norms.phi_min), (0.25, 0.0, 0.5));
        assert_eq!((norms.minimum, norms.maximum), (1.5, 2.0));
        assert!(Norms::of(&Solo, &[1.0], &[f64::NAN], &[1.0], 0.0).is_err());
    }

    #[test]
    fn points_are_sorted_by_their_place_beside_the_curve() {
        // On the curve, on the chord, above the curve, outside of the box.
        assert!(distance(0.5, correlated(0.5)).1 < 1e-7);
        assert_eq!(distance(0.55, 0.5).0, 0);
        assert_eq!(distance(0.9, 0.8).0, 1);
        assert_eq!(distance(0.5, 0.3).0, 1);
        assert_eq!(distance(1.01, 0.5).0, 2);
        assert_eq!(distance(0.05, 0.9).0, 2);
        let moved = Mixing::of(&Solo, &[1.0, 1.0], &[0.55, 1.01], &[0.5, 0.5]).unwrap();
        assert!(moved.real_mixing > 0.0 && moved.overshooting > 0.0 && moved.range_preserving_unmixing == 0.0);
    }

    #[test]
    fn the_nearest_point_is_nearest() {
        for (chi, xi) in [(0.3, 0.6), (0.7, 0.3), (0.9, 0.9), (0.2, 0.85)] {
            let d = |x: f64| ((chi - x) / 0.9).hypot((xi - correlated(x)) / 0.792);
            let best = (0..=9000).map(|n| d(0.1 + f64::from(n) * 1e-4)).fold(f64::INFINITY, f64::min);
            assert!(d(nearest(chi, xi)) < best + 1e-7, "{chi} {xi}");
        }
    }

    #[test]
    fn areas_above_thresholds() {
        let filament = Filament::of(&Solo, &[1.0, 2.0], &[0.5, 0.1], &[0.5, 0.5]).unwrap();
        assert_eq!(filament.threshold.len(), 19);
        assert_eq!([filament.percent[0], filament.percent[8], filament.percent[9]], [100.0, 100.0 / 3.0, 0.0]);
    }
}
