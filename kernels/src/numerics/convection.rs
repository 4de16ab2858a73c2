//! Convective mass fluxes: plumes, their effect on layers, Courant numbers.

use crate::Real;

/// Air flux out of the top of a layer of an updraught and the share of the plume that goes on, `(flux, share)`.
///
/// A plume that loses all of its air ends: both are 0.
#[inline(always)]
pub fn updraft_step<R: Real>(flux_below: R, entrained: R, detrained: R) -> (R, R) {
    let zero = R::lit(0.0);
    let total = flux_below + entrained;
    let flux = total - detrained;
    let share = (R::lit(1.0) - detrained / total).max(zero);
    let rises = flux.gt(zero);
    (flux.max(zero), R::select(rises, share, zero))
}

/// Air flux out of the bottom of a layer of a downdraught (negative: downward) and the share of the plume that goes on.
#[inline(always)]
pub fn downdraft_step<R: Real>(flux_above: R, entrained: R, detrained: R) -> (R, R) {
    let zero = R::lit(0.0);
    let total = flux_above - entrained;
    let flux = total + detrained;
    let share = (R::lit(1.0) + detrained / total).max(zero);
    let sinks = flux.lt(zero);
    (flux.min(zero), R::select(sinks, share, zero))
}

/// Tracer an updraught carries out of the top of a layer.
#[inline(always)]
pub fn updraft_tracer<R: Real>(from_below: R, entrained: R, ratio: R, share: R) -> R {
    (from_below + entrained * ratio) * share
}

/// Tracer a downdraught carries out of the bottom of a layer (negative: downward).
#[inline(always)]
pub fn downdraft_tracer<R: Real>(from_above: R, entrained: R, ratio: R, share: R) -> R {
    (from_above - entrained * ratio) * share
}

/// Net upward tracer flux through the top of a layer: both plumes and the air that takes their place.
#[inline(always)]
pub fn convective_flux<R: Real>(plumes: R, updraft_air: R, ratio_above: R, downdraft_air: R, ratio: R) -> R {
    (plumes - updraft_air * ratio_above) - downdraft_air * ratio
}

/// Element of the implicit matrix, `identity − dt · (below − here)`, from the fluxes through the bottom and the top.
#[inline(always)]
pub fn implicit_element<R: Real>(identity: R, dt: R, below: R, here: R) -> R {
    identity - dt * (below - here)
}

/// Courant number of a cloud mass flux, `|flux| · dt / (m / area)` with the smaller mass of both neighbours.
///
/// 0 where a mass is not above 0 (or no number); not a number where the flux is none.
#[inline(always)]
pub fn cloud_courant<R: Real>(flux: R, dt: R, mass_above: R, mass_below: R, area: R) -> R {
    let zero = R::lit(0.0);
    let smaller = mass_above.min(mass_below) / area;
    let valid = R::and(R::and(mass_above.gt(zero), mass_below.gt(zero)), smaller.gt(zero));
    R::select(valid, flux.abs() * dt / smaller, flux.abs() * zero)
}

/// The larger of two numbers ≥ 0; not a number if either is none or infinite.
#[inline(always)]
pub fn finite_max<R: Real>(a: R, b: R) -> R {
    let zero = R::lit(0.0);
    (a.max(b) + a * zero) + b * zero
}

/// Mixing ratio of an updraught above a layer.
///
/// Without flux from below (above `smallest`) the plume starts from the layer. Where the plume entrains, it mixes; where
/// it only loses air, it stays as it was.
#[inline(always)]
pub fn plume_ratio<R: Real>(flux_below: R, leaving: R, plume: R, layer: R, smallest: R) -> R {
    let entrained = leaving - flux_below;
    let mixed = (flux_below * plume + entrained * layer) / leaving;
    let entrains = R::and(entrained.ge(R::lit(0.0)), leaving.gt(smallest));
    let kept = R::select(entrains, mixed, plume);
    R::select(flux_below.gt(smallest), kept, layer)
}

/// Mixing ratio of the well-mixed layer below cloud base after it exchanged the air `exchanged` (mass per area) with the
/// layer at cloud base; `content` and `mass` are its tracer and air per area.
#[inline(always)]
pub fn subcloud_ratio<R: Real>(content: R, mass: R, exchanged: R, base_ratio: R) -> R {
    (content + exchanged * base_ratio) / (mass + exchanged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plumes_end_where_they_lose_all_air() {
        assert_eq!(updraft_step(3.0, 1.0, 1.0), (3.0, 0.75));
        assert_eq!(updraft_step(3.0, 1.0, 5.0), (0.0, 0.0));
        assert_eq!(updraft_step(0.0, 0.0, 0.0), (0.0, 0.0));
        assert_eq!(downdraft_step(-3.0, 1.0, 1.0), (-3.0, 0.75));
        assert_eq!(downdraft_step(-3.0, 1.0, 5.0), (0.0, 0.0));
    }

    #[test]
    fn courant_numbers_skip_layers_without_air_and_keep_what_is_no_number() {
        assert_eq!(cloud_courant(-0.5, 100.0, 1000.0, 400.0, 2.0), 0.25);
        for (above, below) in [(0.0, 1.0), (1.0, f64::NAN), (f64::NAN, 1.0)] {
            assert_eq!(cloud_courant(0.5, 100.0, above, below, 2.0), 0.0);
            assert!(cloud_courant(f64::NAN, 100.0, above, below, 2.0).is_nan());
        }
        assert_eq!(finite_max(1.0, 2.0), 2.0);
        assert!(finite_max(f64::NAN, 2.0).is_nan() && finite_max(2.0, f64::NAN).is_nan());
        assert!(finite_max(f64::INFINITY, 2.0).is_nan());
    }

    #[test]
    fn a_plume_starts_mixes_and_stays() {
        assert_eq!(plume_ratio(0.0, 2.0, 9.0, 1.0, 1e-14), 1.0);
        assert_eq!(plume_ratio(1.0, 2.0, 9.0, 1.0, 1e-14), 5.0);
        assert_eq!(plume_ratio(1.0, 0.5, 9.0, 1.0, 1e-14), 9.0);
    }
}
