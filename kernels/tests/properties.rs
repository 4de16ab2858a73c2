//! Properties of the numerics that hold for any numbers: mirror symmetry, lanes equal scalars, stages equal profiles.

mod common;

use common::bits;
use kernels::numerics as nm;
use kernels::scheme::*;
use kernels::{Lanes, Real, Scalar};
use proptest::prelude::*;

/// Numbers of all kinds: zeros of both signs, subnormal, tiny, huge, of order one, and small integers (frequent ties).
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(-0.0),
        (-3_i32..4).prop_map(f64::from),
        -1.0..1.0_f64,
        (-1.0..1.0_f64).prop_map(|x| x * 1e-40),
        (-1.0..1.0_f64).prop_map(|x| x * 1e-21),
        (-1.0..1.0_f64).prop_map(|x| x * 1e30),
        (0.9999..1.0001_f64).prop_map(|x| x * 4e-4),
    ]
}

/// Same bits, or both not a number.
fn same<R: Scalar>(a: R, b: R) -> bool {
    bits(a) == bits(b) || (a.to_f64().is_nan() && b.to_f64().is_nan())
}

/// A function of eight numbers that gives three.
macro_rules! functions {
    ($($name:ident($x:ident) $body:block)*) => {
        $(fn $name<R: Real>($x: [R; 8]) -> [R; 3] $body)*

        fn lanes_match_scalars<R: Scalar, const W: usize>(values: &[[f64; 8]]) -> Result<(), TestCaseError> {
            let input: [Lanes<R, W>; 8] =
                core::array::from_fn(|x| Lanes(core::array::from_fn(|l| R::lit(values[l % values.len()][x]))));
            $({
                let wide = $name(input);
                for l in 0..W {
                    let narrow = $name(input.map(|x| x.0[l]));
                    for o in 0..3 {
                        prop_assert!(
                            same(wide[o].0[l], narrow[o]),
                            "{}: {:?} -> {} and {}", stringify!($name), values[l % values.len()], wide[o].0[l], narrow[o]
                        );
                    }
                }
            })*
            Ok(())
        }
    };
}

fn pair<R: Real>((a, b): (R, R)) -> [R; 3] {
    [a, b, R::lit(0.0)]
}

fn triple<R: Real>((a, b, c): (R, R, R)) -> [R; 3] {
    [a, b, c]
}

fn window<R: Real>(x: [R; 8]) -> [R; 5] {
    [x[0], x[1], x[2], x[3], x[4]]
}

functions! {
    arithmetic(x) { [x[0] / x[1] - x[2] * x[3], -x[4] + x[5], x[6].abs().sqrt()] }
    extremes(x) { [x[0].min(x[1]), x[0].max(x[1]), x[2].min(R::lit(0.0))] }
    choices(x) {
        let inside = R::and(x[0].le(x[1]), x[1].lt(x[2]));
        let outside = R::or(x[3].ge(x[4]), x[4].gt(x[5]));
        [R::select(inside, x[0], x[1]), R::select(outside, x[2], x[3]), R::lit(0.1)]
    }
    two_sum(x) { pair(nm::two_sum(x[0], x[1])) }
    compensated_add(x) { pair(nm::compensated_add(x[0], x[1], x[2])) }
    neumaier_add(x) { pair(nm::neumaier_add(x[0], x[1], x[2])) }
    kahan_add(x) { pair(nm::kahan_add(x[0], x[1], x[2])) }
    sums(x) { [nm::sum_gap((x[0], x[1]), (x[2], x[3])), nm::decayed(x[4], x[5]), nm::partition_share(x[6])] }
    ledger(x) {
        let (value, carry) = nm::ledger_step(x[0], x[1], x[2], x[3]);
        [value, carry, nm::ledger_step_without_carry(x[4], x[5], nm::ledger_bound(x[6], x[7], x[0]))]
    }
    ledger_refusal(x) {
        let refusal = |a, b, c, d| nm::ledger_refusal(a, b, c, d);
        [refusal(x[0], x[1], x[2], x[3]), refusal(x[4], x[5], x[6], x[7]), refusal(x[0], x[2], x[4], x[6])]
    }
    partition(x) { triple(nm::partition(x[0], x[1], x[2], x[3])) }
    transfer_ratios(x) { pair(nm::transfer_ratios(x[0], x[1], x[2])) }
    exchange(x) {
        [
            nm::exchange_from_rate(x[0], x[1], x[2]),
            nm::open_exchange(x[0], x[1], x[2]),
            nm::exchange_ratio(x[6], x[7]),
        ]
    }
    background(x) {
        [
            nm::background_ratio(x[0], x[1]),
            nm::content_above_background(x[2], x[3], x[4]),
            nm::content_on_background(x[5], x[6], x[7]),
        ]
    }
    tridiagonal_factors(x) { triple(nm::tridiagonal_factors(x[0], x[1], x[2], x[3])) }
    tridiagonal_solve(x) {
        [
            nm::tridiagonal_forward(x[0], x[1], x[2], x[3]),
            nm::tridiagonal_backward(x[4], x[5], x[6]),
            nm::flux_update(nm::mixing_ratio(x[0], x[1]), nm::diffusive_flux(x[2], x[3], x[4]), x[5]),
        ]
    }
    half_slopes(x) {
        [
            nm::half_slope_centred(x[0], x[1], x[2]),
            nm::half_slope_monotone(x[0], x[1], x[2]),
            nm::half_slope_positive(x[0], x[1], x[2]),
        ]
    }
    edges(x) {
        [
            nm::edge_fourth_order(x[0], x[1], x[2], x[3]),
            nm::edge_large_scale(x[0], x[1], x[2], x[3]),
            nm::edge_colella_woodward(x[0], x[1], x[2], x[3]),
        ]
    }
    cell_colella_woodward(x) { pair(nm::cell_colella_woodward(x[0], x[1])) }
    cell_extremum_flat(x) { pair(nm::cell_extremum_flat(x[0], x[1])) }
    cell_fast_monotone(x) { pair(nm::cell_fast_monotone(x[0], x[1], x[2])) }
    cell_huynh(x) { pair(nm::cell_huynh(window(x), x[5], x[6])) }
    cell_huynh_positive(x) { pair(nm::cell_huynh_positive(window(x), x[5], x[6])) }
    cell_huynh_where_curved(x) {
        pair(nm::cell_huynh_where_curved(window(x), [x[4], x[5], x[6]], x[6], x[7]))
    }
    cell_positive_definite(x) { pair(nm::cell_positive_definite(x[0], x[1], x[2])) }
    face_coefficients(x) { triple(nm::face_coefficients(x[0], x[1], x[2], x[3], x[4])) }
    fluxes(x) {
        [
            nm::flux_donor(x[0], x[1], x[2]),
            nm::flux_linear(x[0], x[1], x[2], x[3], x[4], x[5]),
            nm::flux_parabola(x[0], x[1], x[2], (x[3], x[4]), x[5], (x[6], x[7])),
        ]
    }
    plumes(x) { pair(nm::updraft_step(x[0], x[1], x[2])) }
    downdrafts(x) { pair(nm::downdraft_step(x[0], x[1], x[2])) }
    plume_tracers(x) {
        [
            nm::updraft_tracer(x[0], x[1], x[2], x[3]),
            nm::downdraft_tracer(x[0], x[1], x[2], x[3]),
            nm::convective_flux(x[0], x[1], x[2], x[3], x[4]),
        ]
    }
    plume_ratios(x) {
        [
            nm::plume_ratio(x[0], x[1], x[2], x[3], x[4]),
            nm::subcloud_ratio(x[0], x[1], x[2], x[3]),
            nm::implicit_element(x[4], x[5], x[6], x[7]),
        ]
    }
    cloud_courants(x) { pair((nm::cloud_courant(x[0], x[1], x[2], x[3], x[4]), nm::finite_max(x[5], x[6]))) }
    swept_fluxes(x) {
        let w = [x[3], x[4], x[5], x[6], x[7]];
        pair((nm::flux_universal(x[0], x[1], x[2], w), nm::flux_monotonicity_preserving(x[0], x[1], x[2], w)))
    }
    upwind(x) { pair(nm::profile_upwind(window(x))) }
    slopes_none(x) { pair(nm::profile_slopes_none(window(x))) }
    slopes_monotone(x) { pair(nm::profile_slopes_monotone(window(x))) }
    slopes_positivity(x) { pair(nm::profile_slopes_positivity(window(x))) }
    ppm_none(x) { pair(nm::profile_ppm_none(window(x))) }
    ppm_monotone(x) { pair(nm::profile_ppm_monotone(window(x))) }
    ppm_cw84(x) { pair(nm::profile_ppm_cw84(window(x))) }
    ppm_huynh_pd(x) { pair(nm::profile_ppm_huynh_pd(window(x))) }
    clipped_fourth_order(x) { pair(nm::profile_clipped_fourth_order(window(x))) }
    fv3_hord8(x) { pair(nm::profile_fv3_hord8(window(x))) }
    fv3_hord10(x) { pair(nm::profile_fv3_hord10(window(x))) }
    linrood_ord5(x) { pair(nm::profile_linrood_ord5(window(x))) }
}

/// Equal numbers; a zero may differ in sign, anything else has the same bits.
fn equal<R: Scalar>(a: R, b: R) -> bool {
    same(a, b) || a == b
}

type Profile<R> = fn([R; 5]) -> (R, R);

fn mirror<R: Scalar>(values: [f64; 5]) -> Result<(), TestCaseError> {
    let profiles: [(&str, Profile<R>); 12] = [
        ("upwind", nm::profile_upwind),
        ("slopes none", nm::profile_slopes_none),
        ("slopes monotone", nm::profile_slopes_monotone),
        ("slopes positivity", nm::profile_slopes_positivity),
        ("ppm none", nm::profile_ppm_none),
        ("ppm monotone", nm::profile_ppm_monotone),
        ("ppm cw84", nm::profile_ppm_cw84),
        ("ppm huynh_pd", nm::profile_ppm_huynh_pd),
        ("clipped fourth order", nm::profile_clipped_fourth_order),
        ("hord 8", nm::profile_fv3_hord8),
        ("hord 10", nm::profile_fv3_hord10),
        ("linrood order 5", nm::profile_linrood_ord5),
    ];
    let w = values.map(R::lit);
    let reversed = [w[4], w[3], w[2], w[1], w[0]];
    for (name, profile) in profiles {
        let ((l, r), (ml, mr)) = (profile(w), profile(reversed));
        prop_assert!(equal(l, mr) && equal(r, ml), "{name}: {w:?} -> ({l}, {r}), mirrored ({ml}, {mr})");
    }
    Ok(())
}

fn stages<S: CellScheme, R: Scalar>(w: [R; 5]) -> Result<(), TestCaseError> {
    let h = [S::slope(w[0], w[1], w[2]), S::slope(w[1], w[2], w[3]), S::slope(w[2], w[3], w[4])];
    let edge_l = S::edge(w[0], w[1], w[2], w[3], h[0], h[1]);
    let edge_r = S::edge(w[1], w[2], w[3], w[4], h[1], h[2]);
    let ((l, r), (sl, sr)) = (S::profile(w), S::limit(w, edge_l, edge_r));
    prop_assert!(same(l, sl) && same(r, sr), "{}: {w:?}", S::NAME);
    Ok(())
}

macro_rules! all_stages {
    ($real:ty, $w:expr) => {
        for check in [
            stages::<Upwind, $real>,
            stages::<SlopesNone, $real>,
            stages::<SlopesMonotone, $real>,
            stages::<SlopesPositivity, $real>,
            stages::<PpmNone, $real>,
            stages::<PpmNoneLinear, $real>,
            stages::<PpmMonotone, $real>,
            stages::<PpmCw84, $real>,
            stages::<PpmHuynhPd, $real>,
            stages::<Fv3Hord8, $real>,
            stages::<Fv3Hord13, $real>,
            stages::<SweptUniversal, $real>,
            stages::<SweptMpPd, $real>,
        ] {
            check($w)?;
        }
    };
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lanes_have_the_bits_of_scalars(values in prop::collection::vec(prop::array::uniform8(number()), 16)) {
        lanes_match_scalars::<f32, 16>(&values)?;
        lanes_match_scalars::<f64, 8>(&values)?;
    }

    #[test]
    fn profiles_are_mirror_symmetric(values in prop::array::uniform5(number())) {
        mirror::<f32>(values)?;
        mirror::<f64>(values)?;
    }

    #[test]
    fn stages_compose_to_profiles(values in prop::array::uniform5(number())) {
        all_stages!(f32, values.map(|x| x as f32));
        all_stages!(f64, values);
    }

    #[test]
    fn profiles_ignore_scale_by_powers_of_two(values in prop::array::uniform5(-1.0..1.0_f32)) {
        // A trace of 1e-21 gets the shape of one of order 1: no product of mixing ratios underflows.
        let tiny = (-70.0_f32).exp2();
        for profile in [nm::profile_ppm_cw84, nm::profile_ppm_huynh_pd, nm::profile_linrood_ord5, nm::profile_ppm_monotone] {
            let (l, r) = profile(values);
            let (sl, sr) = profile(values.map(|x| x * tiny));
            prop_assert_eq!((sl, sr), (l * tiny, r * tiny));
        }
    }

    #[test]
    fn constants_are_flat(q in number()) {
        for profile in [nm::profile_ppm_cw84, nm::profile_ppm_huynh_pd, nm::profile_slopes_monotone, nm::profile_slopes_none] {
            let (l, r) = profile([q; 5]);
            prop_assert!(l.abs() <= f64::EPSILON * q.abs() && r.abs() <= f64::EPSILON * q.abs());
        }
    }

    #[test]
    fn straight_lines_are_reproduced(q in -1.0..1.0_f64, slope in 0.001..1.0_f64) {
        let w = core::array::from_fn(|x| q + slope * (x as f64 - 2.0));
        for profile in [
            nm::profile_slopes_none, nm::profile_slopes_monotone, nm::profile_ppm_none, nm::profile_ppm_cw84,
            nm::profile_linrood_ord5, nm::profile_fv3_hord8, nm::profile_fv3_hord10, nm::profile_ppm_monotone,
        ] {
            let (l, r) = profile(w);
            prop_assert!((l + slope / 2.0).abs() < 2e-15 && (r - slope / 2.0).abs() < 2e-15);
        }
    }

    #[test]
    fn nothing_is_lost_between_two_layers(
        value in 0.0..1.0_f32, incoming in 0.0..1.0_f32, correction in -3e-8..3e-8_f32, exponent in -14.0..6.0_f64,
    ) {
        let ratio = 10_f64.powf(exponent) as f32;
        let (kept, sent, error) = nm::partition(value, incoming, correction, nm::partition_share(ratio));
        let [all, parts] = [[value, incoming, correction], [kept, sent, error]].map(|x| x.map(f64::from).iter().sum::<f64>());
        // The kept part is rounded once; its error is all that may be lost.
        prop_assert!((all - parts).abs() <= f64::from(f32::EPSILON) * f64::from(kept).abs() + 1e-14);
        prop_assert!(kept >= 0.0 || value + incoming < 1e-6);
    }
}
