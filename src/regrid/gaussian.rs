//! Gaussian latitudes.

use std::f64::consts::PI;

/// Latitudes of Gauss–Legendre quadrature in sin φ, south to north, with the edges between them.
///
/// An edge is where the quadrature weights from the south pole add up to 1 + sin φ: so the area of each row is its
/// weight, and sums over rows are the quadrature. Each latitude lies within its own row (theorem of Chebyshev, Markov
/// and Stieltjes).
#[derive(Clone, Debug, PartialEq)]
pub struct GaussianLatitudes {
    centres: Vec<f64>,
    weights: Vec<f64>,
    edges: Vec<f64>,
}

impl GaussianLatitudes {
    /// The set of `n` latitudes, n ≥ 1; an `N320` grid has 640.
    pub fn new(n: usize) -> Self {
        let n = n.max(1);
        let (mut centres, mut weights) = (vec![0.0; n], vec![0.0; n]);
        for k in 0..n.div_ceil(2) {
            // Root counted from the north pole, as a colatitude: its cosine would lose the distance to the pole.
            let (colatitude, weight) = root(n, k);
            let latitude = if 2 * k + 1 == n { 0.0 } else { 90.0 - colatitude.to_degrees() };
            (centres[n - 1 - k], centres[k]) = (latitude, -latitude);
            (weights[n - 1 - k], weights[k]) = (weight, weight);
        }
        let mut edges = vec![0.0; n + 1];
        (edges[0], edges[n]) = (-90.0, 90.0);
        let mut below = 0.0;
        for k in 1..n.div_ceil(2) {
            below += weights[k - 1];
            // 1 + sin φ = 2 sin²(half the distance to the pole).
            let distance = 2.0 * (0.5f64 * below).sqrt().asin().to_degrees();
            (edges[k], edges[n - k]) = (distance - 90.0, 90.0 - distance);
        }
        if n % 2 == 1 && n > 1 {
            let k = n / 2;
            let distance = 2.0 * (0.5f64 * (1.0 - 0.5 * weights[k])).sqrt().asin().to_degrees();
            (edges[k], edges[k + 1]) = (distance - 90.0, 90.0 - distance);
        }
        Self { centres, weights, edges }
    }

    /// Latitudes in degrees, south to north.
    pub fn centres(&self) -> &[f64] {
        &self.centres
    }

    /// Quadrature weights; they add up to 2.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Edges of the rows in degrees, from −90 to 90.
    pub fn edges(&self) -> &[f64] {
        &self.edges
    }
}

/// Colatitude in radian of root `k` (0 next to the pole) of the Legendre polynomial of degree `n`, and its weight.
fn root(n: usize, k: usize) -> (f64, f64) {
    let degree = n as f64;
    // Tricomi's estimate, then Newton steps in the colatitude.
    let mut theta = (4.0 * k as f64 + 3.0) / (4.0 * degree + 2.0) * PI;
    theta += (1.0 - 1.0 / degree) / (8.0 * degree * degree) / theta.tan();
    let mut slope = 0.0;
    for _ in 0..10 {
        let (value, derivative) = legendre(n, theta);
        let step = value / derivative;
        theta -= step;
        slope = derivative;
        if step.abs() <= 1e-16 * theta {
            break;
        }
    }
    // w = 2 / ((1 − x²) P'(x)²), and dP/dθ = −sin θ P'(x).
    (theta, 2.0 / (slope * slope))
}

/// P_n(cos θ) and its derivative with respect to θ.
///
/// The recurrence runs in differences of neighbouring degrees and 1 − cos θ, which keeps its accuracy next to the pole.
fn legendre(n: usize, theta: f64) -> (f64, f64) {
    let half = (0.5 * theta).sin();
    let depth = 2.0 * half * half;
    let (mut step, mut value) = (-depth, 1.0 - depth);
    for m in 2..=n {
        let m = m as f64;
        step = ((m - 1.0) * step - (2.0 * m - 1.0) * depth * value) / m;
        value += step;
    }
    (value, n as f64 * (step - depth * value) / theta.sin())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Abramowitz & Stegun 1964, table 25.4.
    #[test]
    fn tabulated_roots_and_weights() {
        let four = GaussianLatitudes::new(4);
        let found: Vec<f64> = four.centres().iter().map(|lat| lat.to_radians().sin()).collect();
        let roots = [-0.861136311594053, -0.339981043584856, 0.339981043584856, 0.861136311594053];
        let weights = [0.347854845137454, 0.652145154862546, 0.652145154862546, 0.347854845137454];
        for k in 0..4 {
            assert!((found[k] - roots[k]).abs() < 1e-15 && (four.weights()[k] - weights[k]).abs() < 2e-15);
        }
        let five = GaussianLatitudes::new(5);
        assert_eq!(five.centres()[2], 0.0);
        assert!((five.weights()[2] - 0.568888888888889).abs() < 1e-15);
    }

    #[test]
    fn rows_hold_their_latitude_and_their_weight() {
        for n in [1, 2, 3, 31, 64, 640, 1281] {
            let set = GaussianLatitudes::new(n);
            let total: f64 = set.weights().iter().sum();
            assert!((total - 2.0).abs() < 1e-13, "{n}: {total}");
            for k in 0..n {
                let (south, north) = (set.edges()[k], set.edges()[k + 1]);
                assert!(south < set.centres()[k] && set.centres()[k] < north, "{n}: row {k}");
                let row = super::super::latlon::sine_difference(south, north);
                assert!((row / set.weights()[k] - 1.0).abs() < 1e-11, "{n}: row {k}: {row}");
                assert_eq!(set.edges()[k], -set.edges()[n - k]);
            }
        }
    }

    /// Quadrature with n points is exact up to degree 2n − 1.
    #[test]
    fn polynomials_are_integrated_exactly() {
        let set = GaussianLatitudes::new(12);
        for power in 0..24 {
            let terms = set.centres().iter().zip(set.weights()).map(|(lat, w)| w * lat.to_radians().sin().powi(power));
            let exact = if power % 2 == 0 { 2.0 / f64::from(power + 1) } else { 0.0 };
            assert!((terms.sum::<f64>() - exact).abs() < 4e-15, "{power}");
        }
    }
}
