//! One column of the flux-form solve, number by number: the smallest mixing ratio is looked for from the top.

use kernels::numerics::{
    diffusive_flux, flux_update, ledger_bound, ledger_step, mixing_ratio, neumaier_add, open_exchange, sum_gap,
    tridiagonal_backward, tridiagonal_factors, tridiagonal_forward,
};
use kernels::{Real, Scalar};

/// Solves in place; a column that exchanges anything keeps a ledger.
pub fn solve<R: Scalar>(mass: &[R], exchange: &[R], dt: R, rm: &mut [R], carry: &mut R) {
    let (n, zero) = (mass.len(), R::lit(0.0));
    // Exchange through the top of layer k; 0 at both ends.
    let step = |k: usize| {
        if k == 0 || k == n { zero } else { open_exchange(dt * exchange[k - 1], mass[k - 1], mass[k]) }
    };
    let mut lowest = R::lit(f64::MAX);
    for k in 0..n {
        if mass[k] > zero {
            lowest = Real::min(lowest, mixing_ratio(rm[k], mass[k]));
        }
    }
    let (mut upper, mut reduced) = (vec![zero; n], vec![zero; n]);
    let (mut upper_above, mut reduced_above) = (zero, zero);
    for k in 0..n {
        let (lower, pivot, up) = tridiagonal_factors(step(k), step(k + 1), mass[k], upper_above);
        let departure = if mass[k] > zero { mixing_ratio(rm[k], mass[k]) - lowest } else { zero };
        reduced_above = tridiagonal_forward(departure, lower, pivot, reduced_above);
        (upper[k], reduced[k], upper_above) = (up, reduced_above, up);
    }
    let mut solution = reduced;
    for k in (0..n - 1).rev() {
        solution[k] = tridiagonal_backward(solution[k], upper[k], solution[k + 1]);
    }
    let flux = |k: usize| {
        if k == 0 || k == n { zero } else { diffusive_flux(step(k), solution[k - 1], solution[k]) }
    };
    let (mut before, mut after) = ((zero, zero), (zero, zero));
    let (mut largest, mut size, mut count) = (0, -R::lit(1.0), zero);
    for k in (0..n).rev() {
        before = neumaier_add(before.0, before.1, rm[k]);
        if step(k) > zero || step(k + 1) > zero {
            rm[k] = flux_update(rm[k], flux(k), flux(k + 1));
            count += R::lit(1.0);
            if Real::abs(rm[k]) > size {
                (largest, size) = (k, Real::abs(rm[k]));
            }
        }
        after = neumaier_add(after.0, after.1, rm[k]);
    }
    if count > zero && size >= zero {
        let bound = ledger_bound(count, size, R::EPSILON);
        (rm[largest], *carry) = ledger_step(rm[largest], sum_gap(before, after), *carry, bound);
    }
}
