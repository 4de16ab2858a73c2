//! One-dimensional transport on a periodic ring, face by face.

use kernels::Scalar;
use kernels::numerics::{face_coefficients, flux_donor, flux_linear, flux_parabola};
use kernels::scheme::FluxKind;

/// Profile function and flux form of a scheme under test.
#[derive(Clone, Copy)]
pub struct RingScheme<R> {
    /// Window of five means to `(b_l, b_r)`.
    pub profile: fn([R; 5]) -> (R, R),
    /// Form of the flux.
    pub flux: FluxKind,
}

/// One sweep of a ring of tracer masses `rm` with air masses `m`; `air[i]` flows from cell `i − 1` to cell `i`.
pub fn sweep<R: Scalar>(scheme: RingScheme<R>, rm: &mut [R], m: &mut [R], air: &[R]) {
    let n = rm.len();
    let one = R::lit(1.0);
    let r: Vec<R> = m.iter().map(|&m| one / m).collect();
    let q: Vec<R> = rm.iter().zip(&r).map(|(&rm, &r)| rm * r).collect();
    let profile: Vec<(R, R)> =
        (0..n).map(|i| (scheme.profile)(core::array::from_fn(|x| q[(i + n + x - 2) % n]))).collect();
    let flux: Vec<R> = (0..n)
        .map(|i| {
            let l = (i + n - 1) % n;
            let (c, carrier, _) = face_coefficients(air[i], m[l], m[i], r[l], r[i]);
            match scheme.flux {
                FluxKind::Donor | FluxKind::Swept => flux_donor(carrier, q[l], q[i]),
                FluxKind::Linear => flux_linear(carrier, c, q[l], profile[l].1, q[i], profile[i].0),
                FluxKind::Parabola => flux_parabola(carrier, c, q[l], profile[l], q[i], profile[i]),
            }
        })
        .collect();
    for i in 0..n {
        rm[i] += flux[i] - flux[(i + 1) % n];
        m[i] += air[i] - air[(i + 1) % n];
    }
}

/// `steps` sweeps at constant Courant number with unit masses; the mixing ratios after them.
pub fn advect<R: Scalar>(scheme: RingScheme<R>, start: &[R], courant: R, steps: usize) -> Vec<R> {
    let mut rm = start.to_vec();
    let mut m = vec![R::lit(1.0); start.len()];
    let air = vec![courant; start.len()];
    for _ in 0..steps {
        sweep(scheme, &mut rm, &mut m, &air);
    }
    rm
}

/// RMS difference from the start after one revolution at Courant number 0.4 of the cell means of
/// `offset + sin 2πx` on `n` cells.
pub fn sine_error(scheme: RingScheme<f64>, n: usize, offset: f64) -> f64 {
    use std::f64::consts::TAU;
    let antiderivative = |i: usize| -(TAU * i as f64 / n as f64).cos() / TAU * n as f64;
    let start: Vec<f64> = (0..n).map(|i| offset + antiderivative(i + 1) - antiderivative(i)).collect();
    let steps = (n as f64 / 0.4).round() as usize;
    let end = advect(scheme, &start, 0.4, steps);
    (start.iter().zip(&end).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / n as f64).sqrt()
}
