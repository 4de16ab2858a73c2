//! Gauss-Legendre quadrature.

/// Nodes on [0, 1] and weights (sum 1) of the four-point rule, exact to degree 7 (Abramowitz & Stegun table 25.4).
pub(super) fn unit_interval() -> [(f64, f64); 4] {
    const X: [f64; 2] = [0.339_981_043_584_856_3, 0.861_136_311_594_052_6];
    const W: [f64; 2] = [0.652_145_154_862_546_1, 0.347_854_845_137_453_85];
    [
        (0.5 * (1.0 - X[1]), 0.5 * W[1]),
        (0.5 * (1.0 - X[0]), 0.5 * W[0]),
        (0.5 * (1.0 + X[0]), 0.5 * W[0]),
        (0.5 * (1.0 + X[1]), 0.5 * W[1]),
    ]
}

/// Times and weights in s for an integral over [`start`, `end`] of functions that vary over `scale` or slower.
pub(super) fn time_nodes(start: f64, end: f64, scale: f64) -> Vec<(f64, f64)> {
    let pieces = (32.0 * (end - start) / scale).ceil().max(1.0) as usize;
    let length = (end - start) / pieces as f64;
    let piece = |n: usize| unit_interval().map(|(x, w)| (start + (n as f64 + x) * length, w * length));
    (0..pieces).flat_map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrates_polynomials_and_waves() {
        for degree in 0..8 {
            let sum: f64 = unit_interval().iter().map(|(x, w)| w * x.powi(degree)).sum();
            assert!((sum - 1.0 / f64::from(degree + 1)).abs() < 1e-15);
        }
        let sum: f64 = time_nodes(3.0, 11.0, 5.0).iter().map(|(t, w)| w * t.sin()).sum();
        assert!((sum - (3f64.cos() - 11f64.cos())).abs() < 1e-10);
    }
}
