//! Vertical exchange between layers and the tridiagonal solve of its backward Euler step.
//!
//! The exchange D of an interface is in kg of air per second, the exchange of a step `dt · D` in kg.

use crate::Real;

/// Exchange of the interface between two layers in kg/s, from the rate (1/s) at which it exchanges their air:
/// `D = (m + m') r`, where diffusivities K and thicknesses dz give `r = (K + K') / (dz + dz')²`.
#[inline(always)]
pub fn exchange_from_rate<R: Real>(mass_above: R, mass_below: R, rate: R) -> R {
    (mass_above + mass_below) * rate
}

/// Exchange of a step relative to the air mass of a layer; 0 for a layer without air.
#[inline(always)]
pub fn exchange_ratio<R: Real>(exchange: R, mass: R) -> R {
    R::select(mass.gt(R::lit(0.0)), exchange / mass, R::lit(0.0))
}

/// Exchange through an interface whose layers both hold air, else 0.
#[inline(always)]
pub fn open_exchange<R: Real>(exchange: R, mass_above: R, mass_below: R) -> R {
    let zero = R::lit(0.0);
    R::select(R::and(mass_above.gt(zero), mass_below.gt(zero)), exchange, zero)
}

/// Mixing ratio of a layer; 0 without air.
#[inline(always)]
pub fn mixing_ratio<R: Real>(content: R, mass: R) -> R {
    R::select(mass.gt(R::lit(0.0)), content / mass, R::lit(0.0))
}

/// Uniform background that can be taken off a column: the end nearest zero of the range of its mixing ratios; 0 if they span
/// zero.
#[inline(always)]
pub fn background_ratio<R: Real>(smallest: R, largest: R) -> R {
    let zero = R::lit(0.0);
    R::select(smallest.gt(zero), smallest, largest.min(zero))
}

/// Tracer content of a layer above the background ratio, rounded once; 0 without air.
///
/// Were the background content rounded by itself, in a nearly uniform column the layers would all round the same way when
/// it is put back, and the ledger would hand their sum to one cell.
#[inline(always)]
pub fn content_above_background<R: Real>(content: R, mass: R, background: R) -> R {
    R::select(mass.gt(R::lit(0.0)), (-background).mul_add(mass, content), R::lit(0.0))
}

/// The reverse of [`content_above_background`], rounded once; 0 without air.
#[inline(always)]
pub fn content_on_background<R: Real>(departure: R, mass: R, background: R) -> R {
    R::select(mass.gt(R::lit(0.0)), background.mul_add(mass, departure), R::lit(0.0))
}

/// Row of the tridiagonal system for mixing ratios, eliminated from the top: `(lower, pivot, upper)`.
///
/// `above` and `below` are the exchanges of a step through the two interfaces of the layer, 0 if it holds no air;
/// `upper_above` is the third value of the layer above (0 at the top).
#[inline(always)]
pub fn tridiagonal_factors<R: Real>(above: R, below: R, mass: R, upper_above: R) -> (R, R, R) {
    let lower = -exchange_ratio(above, mass);
    let pivot = R::lit(1.0) + exchange_ratio(above + below, mass) - lower * upper_above;
    (lower, pivot, -exchange_ratio(below, mass) / pivot)
}

/// Elimination step from the top: `(value − lower · reduced_above) / pivot`.
#[inline(always)]
pub fn tridiagonal_forward<R: Real>(value: R, lower: R, pivot: R, reduced_above: R) -> R {
    (value - lower * reduced_above) / pivot
}

/// Substitution step from the bottom: `reduced − upper · solution_below`.
#[inline(always)]
pub fn tridiagonal_backward<R: Real>(reduced: R, upper: R, solution_below: R) -> R {
    reduced - upper * solution_below
}

/// Tracer amount that passes an interface downward in a step.
#[inline(always)]
pub fn diffusive_flux<R: Real>(exchange: R, ratio_above: R, ratio_below: R) -> R {
    exchange * (ratio_above - ratio_below)
}

/// Content after what comes from above and what leaves below, in two roundings: the net of both would round the same way
/// in every step on a large background.
#[inline(always)]
pub fn flux_update<R: Real>(content: R, from_above: R, to_below: R) -> R {
    (content + from_above) - to_below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchange_is_mass_times_rate() {
        // Equal layers: 2 m · 2 K / (2 dz)² = m K / dz².
        assert_eq!(exchange_from_rate(8.0, 8.0, 6.0 / 16.0), 6.0);
    }

    #[test]
    fn layers_without_air_exchange_nothing() {
        assert_eq!(exchange_ratio(2.0, 0.0), 0.0);
        assert_eq!(open_exchange(2.0, 0.0, 1.0), 0.0);
        assert_eq!(open_exchange(2.0, 1.0, -1.0), 0.0);
        assert_eq!(open_exchange(2.0, 1.0, 1.0), 2.0);
        assert_eq!(mixing_ratio(2.0, 0.0), 0.0);
        assert_eq!(content_above_background(2.0, 0.0, 0.1), 0.0);
        assert_eq!(content_on_background(2.0, 0.0, 0.1), 0.0);
    }

    #[test]
    fn the_background_is_the_end_nearest_zero() {
        assert_eq!(background_ratio(1.0, 2.0), 1.0);
        assert_eq!(background_ratio(-2.0, -1.0), -1.0);
        assert_eq!(background_ratio(-2.0, 1.0), 0.0);
    }

    #[test]
    fn two_layers_meet_as_backward_euler_says() {
        // m = (2, 4), dt D = 1, q = (1, 0): q'_1 = (1 + a/m_2)/(1 + a/m_1 + a/m_2) = 1.25/1.75.
        let (lower_1, pivot_1, upper_1) = tridiagonal_factors(0.0, 1.0, 2.0, 0.0);
        let (lower_2, pivot_2, _) = tridiagonal_factors(1.0, 0.0, 4.0, upper_1);
        let reduced = tridiagonal_forward(1.0, lower_1, pivot_1, 0.0);
        let below = tridiagonal_forward(0.0, lower_2, pivot_2, reduced);
        let above = tridiagonal_backward(reduced, upper_1, below);
        assert!((above - 1.25 / 1.75_f64).abs() < 1e-15);
        let flux = diffusive_flux(1.0, above, below);
        assert!((flux_update(2.0, 0.0, flux) - 2.0 * above).abs() < 1e-15);
        assert!((flux_update(0.0, flux, 0.0) - 4.0 * below).abs() < 1e-15);
    }
}
