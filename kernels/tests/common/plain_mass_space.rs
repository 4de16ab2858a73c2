//! One column of the mass-space solve, number by number: only the ratios of the downward transfers are kept, the upward ones
//! are recovered, layers without exchange are told by the exchange itself.

use kernels::Scalar;
use kernels::numerics::{exchange_ratio, ledger_bound, ledger_step, neumaier_add, partition, partition_share, sum_gap};

/// Exchange of a step below layer `k`.
fn step<R: Scalar>(exchange: &[R], dt: R, k: usize) -> R {
    if k + 1 < exchange.len() { dt * exchange[k] } else { R::lit(0.0) }
}

/// Solves in place; a column whose layers all hold air and that exchanges anything keeps a ledger.
pub fn solve<R: Scalar>(mass: &[R], exchange: &[R], dt: R, rm: &mut [R], carry: &mut R) {
    let (n, zero, one) = (mass.len(), R::lit(0.0), R::lit(1.0));
    let step = |k: usize| step(exchange, dt, k);
    let mut r = vec![zero; n];
    let upward = |r: &[R], k: usize| {
        if k == 0 { zero } else { exchange_ratio(step(k - 1), mass[k]) / (one + r[k - 1]) }
    };
    for k in 0..n {
        r[k] = exchange_ratio(step(k), mass[k]) / (one + upward(&r, k));
    }
    let isolated = |k: usize| step(k) == zero && (k == 0 || step(k - 1) == zero);
    let full = mass.iter().all(|&m| m > zero);

    let mut before = (zero, zero);
    rm.iter().rev().for_each(|&x| before = neumaier_add(before.0, before.1, x));
    let ratios = || rm.iter().zip(mass).map(|(&rm, &m)| rm / m);
    let background = if !full {
        zero
    } else if ratios().all(|q| q > zero) {
        ratios().reduce(|a, b| if b < a { b } else { a }).unwrap()
    } else if ratios().all(|q| q < zero) {
        ratios().reduce(|a, b| if b > a { b } else { a }).unwrap()
    } else {
        zero
    };

    let (mut incoming, mut correction) = (zero, zero);
    for k in 0..n {
        if isolated(k) {
            (incoming, correction) = (zero, zero);
        } else {
            let value = if mass[k] > zero { (-background).mul_add(mass[k], rm[k]) } else { zero };
            (rm[k], incoming, correction) = partition(value, incoming, correction, partition_share(r[k]));
        }
    }
    let (mut after, mut largest, mut size, mut count) = ((zero, zero), 0, -one, zero);
    (incoming, correction) = (zero, zero);
    for k in (0..n).rev() {
        if isolated(k) {
            (incoming, correction) = (zero, zero);
            if mass[k] <= zero {
                rm[k] = zero;
            }
        } else {
            let kept;
            (kept, incoming, correction) = partition(rm[k], incoming, correction, partition_share(upward(&r, k)));
            rm[k] = if mass[k] > zero { background.mul_add(mass[k], kept) } else { zero };
            count += one;
            if rm[k].abs() > size {
                (largest, size) = (k, rm[k].abs());
            }
        }
        after = neumaier_add(after.0, after.1, rm[k]);
    }
    if full && count > zero {
        let bound = ledger_bound(count, size, R::EPSILON);
        (rm[largest], *carry) = ledger_step(rm[largest], sum_gap(before, after), *carry, bound);
    }
}
