//! Fluxes through one face between a left and a right cell.

use crate::Real;

/// What all tracers share at a face: `(c, Ft, |F|/m)`.
///
/// `flux` is the air mass F through the face, positive from left to right; the donor is the left cell if F ≥ 0.
/// `|F|/m` is the swept fraction of the donor, formed with its reciprocal mass; `c` is that fraction, at most 1; `Ft` is
/// the air that carries tracers: F, or the whole donor with the sign of F where the fraction exceeds 1. The air itself
/// always moves by F.
#[inline(always)]
pub fn face_coefficients<R: Real>(flux: R, mass_l: R, mass_r: R, reciprocal_l: R, reciprocal_r: R) -> (R, R, R) {
    let one = R::lit(1.0);
    let leftward = flux.lt(R::lit(0.0));
    let fraction = flux.abs() * R::select(leftward, reciprocal_r, reciprocal_l);
    let whole = R::select(leftward, -mass_r, mass_l);
    (fraction.min(one), R::select(fraction.gt(one), whole, flux), fraction)
}

/// First-order upwind tracer flux: `Ft · q` of the donor.
#[inline(always)]
pub fn flux_donor<R: Real>(flux: R, q_l: R, q_r: R) -> R {
    flux * R::select(flux.lt(R::lit(0.0)), q_r, q_l)
}

/// Tracer flux from the donor's edge offset alone: `Ft · (q + (1 − c) b_d)` with `b_d` on the downwind side; exact for
/// linear profiles.
///
/// `b_l` is the offset at the face of the left cell (its high edge), `b_r` that of the right cell (its low edge).
#[inline(always)]
pub fn flux_linear<R: Real>(flux: R, courant: R, q_l: R, b_l: R, q_r: R, b_r: R) -> R {
    let leftward = flux.lt(R::lit(0.0));
    let q = R::select(leftward, q_r, q_l);
    let downwind = R::select(leftward, b_r, b_l);
    flux * (q + (R::lit(1.0) - courant) * downwind)
}

/// Tracer flux as the exact mean of the donor's parabola over the swept part (Colella & Woodward 1984 eq. 1.12):
/// `Ft · (q + (1 − c)(b_d − c (b_d + b_u)))`.
///
/// `left` and `right` are the profiles `(b_l, b_r)` of the two cells.
#[inline(always)]
pub fn flux_parabola<R: Real>(flux: R, courant: R, q_l: R, left: (R, R), q_r: R, right: (R, R)) -> R {
    let leftward = flux.lt(R::lit(0.0));
    let q = R::select(leftward, q_r, q_l);
    let downwind = R::select(leftward, right.0, left.1);
    let upwind = R::select(leftward, right.1, left.0);
    flux * (q + (R::lit(1.0) - courant) * (downwind - courant * (downwind + upwind)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_take_the_donor_and_clamp_at_its_mass() {
        assert_eq!(face_coefficients(2.0, 10.0, 4.0, 0.1, 0.25), (0.2, 2.0, 0.2));
        assert_eq!(face_coefficients(-2.0, 10.0, 4.0, 0.1, 0.25), (0.5, -2.0, 0.5));
        assert_eq!(face_coefficients(-8.0, 10.0, 4.0, 0.1, 0.25), (1.0, -4.0, 2.0));
        assert_eq!(face_coefficients(20.0, 10.0, 4.0, 0.1, 0.25), (1.0, 10.0, 2.0));
    }

    #[test]
    fn slopes_move_half_a_difference() {
        // q = 1..6, m = 10, F = ±2 between the third and the fourth cell: the sign and factor of the half slope.
        let q = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        for slope in [crate::numerics::half_slope_centred::<f64>, crate::numerics::half_slope_monotone] {
            let (l, r) = (slope(q[1], q[2], q[3]), slope(q[2], q[3], q[4]));
            let flux = |f: f64| flux_linear(f, 0.2, q[2], l, q[3], -r);
            assert!((flux(2.0) - 6.8).abs() < 1e-15);
            assert!((flux(-2.0) + 7.2).abs() < 1e-15);
        }
    }

    #[test]
    fn parabola_flux_is_the_swept_integral() {
        // p(x) = q + b_l + x ((b_r − b_l) − 3 (b_l + b_r)(1 − x)), integrated numerically over the last part c.
        let (q, b_l, b_r, c) = (2.0, -0.4, 0.7, 0.3);
        let p = |x: f64| q + b_l + x * ((b_r - b_l) - 3.0 * (b_l + b_r) * (1.0 - x));
        let n = 100_000;
        let mean = (0..n).map(|i| p(1.0 - c + c * (i as f64 + 0.5) / n as f64)).sum::<f64>() / n as f64;
        let flux = flux_parabola(c, c, q, (b_l, b_r), 9.0, (9.0, 9.0));
        assert!((flux - c * mean).abs() < 1e-9);
    }
}
