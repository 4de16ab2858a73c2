//! Vertical sweeps with spline profiles against a transcription of FV3's `scalar_profile` (`kord = 8`), against integrals
//! of its parabolas, and for what they promise.

mod common;

use common::{Random, bits};
use kernels::Scalar;
use kernels::cpu::{
    ColumnCoefficients, SplineCoefficients, SplineWorkspace, SweepStats, prepare_spline, prepare_z, sweep_spline,
};
use kernels::numerics::{face_coefficients, flux_parabola, flux_within_content};
use kernels::scheme::{PpmLimiter, Scheme, Sign, kernel};
use proptest::prelude::*;

#[path = "common/scalar_profile.rs"]
mod scalar_profile;

use scalar_profile::{Edges, scalar_profile};

const WIDTH: usize = 16;
const SIGNS: [Sign; 2] = [Sign::NonNegative, Sign::Any];

/// Columns side by side: `nk` layers of [`WIDTH`] values, and fluxes through `nk + 1` edges.
#[derive(Clone)]
struct Columns<R> {
    nk: usize,
    mass: Vec<R>,
    content: Vec<R>,
    flux: Vec<R>,
}

impl<R: Scalar> Columns<R> {
    /// `of(column)` gives masses, mixing ratios and fluxes of one column.
    fn new(nk: usize, mut of: impl FnMut(usize) -> [Vec<f64>; 3]) -> Self {
        let zeros = |rows: usize| vec![R::lit(0.0); rows * WIDTH];
        let mut columns = Self { nk, mass: zeros(nk), content: zeros(nk), flux: zeros(nk + 1) };
        for column in 0..WIDTH {
            let [mass, q, flux] = of(column);
            for k in 0..nk {
                let m = R::lit(mass[k]);
                columns.mass[k * WIDTH + column] = m;
                columns.content[k * WIDTH + column] = R::lit(q[k]) * m;
            }
            for (k, flux) in flux.into_iter().enumerate() {
                columns.flux[k * WIDTH + column] = R::lit(flux);
            }
        }
        columns
    }

    fn sweep(&mut self, sign: Sign) -> SweepStats {
        let nk = self.nk;
        let (mut faces, mut spline) = (ColumnCoefficients::new(WIDTH, nk), SplineCoefficients::new(WIDTH, nk));
        prepare_spline(WIDTH, nk, &self.mass, &mut spline);
        let stats = prepare_z(WIDTH, nk, &mut self.mass, &self.flux, R::lit(1.0), &mut faces);
        let mut workspace = SplineWorkspace::new(nk);
        sweep_spline(sign, WIDTH, nk, &mut self.content, &faces, &spline, &mut workspace);
        stats
    }

    fn column(values: &[R], column: usize) -> Vec<R> {
        values.iter().skip(column).step_by(WIDTH).copied().collect()
    }

    fn total(values: &[R], column: usize) -> f64 {
        values.iter().skip(column).step_by(WIDTH).map(|x| x.to_f64()).sum()
    }
}

/// The six profiles of the reference's test: smooth, step, spike, zeros with a pulse, noisy, surface maximum.
fn profile(kind: usize, k: usize, nk: usize, random: &mut Random) -> f64 {
    let x = (k as f64 + 0.5) / nk as f64;
    match kind {
        0 => 2.0 + (7.0 * x).sin(),
        1 => f64::from(x > 0.4) + 0.5,
        2 => {
            if k == nk / 2 {
                3.0
            } else {
                0.1
            }
        }
        3 => {
            if (0.3..0.5).contains(&x) {
                1.0
            } else {
                0.0
            }
        }
        4 => random.unit(),
        _ => 1e-3 + x.powi(6),
    }
}

fn masses(random: &mut Random, nk: usize) -> Vec<f64> {
    (0..nk).map(|k| 0.2 + k as f64 / nk as f64 + 0.3 * random.unit()).collect()
}

/// Fluxes that take at most `part` of every layer through both its ends.
fn fluxes(random: &mut Random, mass: &[f64], part: f64) -> Vec<f64> {
    let nk = mass.len();
    let mut flux = vec![0.0; nk + 1];
    for k in 1..nk {
        flux[k] = (2.0 * random.unit() - 1.0) * 0.5 * part * mass[k - 1].min(mass[k]);
    }
    flux
}

fn cases<R: Scalar>(nk: usize, part: f64, seed: u64, negative: f64) -> Columns<R> {
    let mut random = Random(seed);
    Columns::new(nk, |column| {
        let mass = masses(&mut random, nk);
        let q = (0..nk).map(|k| profile(column % 6, k, nk, &mut random) - negative).collect();
        let flux = fluxes(&mut random, &mass, part);
        [mass, q, flux]
    })
}

/// A sweep of one column with the edges of the transcription.
fn transcribed<R: Scalar>(sign: Sign, mass: &[R], content: &[R], flux: &[R]) -> Vec<R> {
    let (nk, one, zero) = (mass.len(), R::lit(1.0), R::lit(0.0));
    let q: Vec<R> = content.iter().zip(mass).map(|(c, m)| *c * (one / *m)).collect();
    let edges = scalar_profile(&q, mass, sign == Sign::NonNegative);
    let offsets = |k: usize| (edges[k].upper - q[k], edges[k].lower - q[k]);
    let mut moved = vec![zero; nk + 1];
    for k in (1..nk).rev() {
        let (courant, carrier, _) = face_coefficients(flux[k], mass[k - 1], mass[k], one / mass[k - 1], one / mass[k]);
        moved[k] = flux_parabola(carrier, courant, q[k - 1], offsets(k - 1), q[k], offsets(k));
        if sign == Sign::NonNegative {
            let left = if moved[k + 1].to_f64() > 0.0 { content[k] - moved[k + 1] } else { content[k] };
            moved[k] = flux_within_content(moved[k], content[k - 1], left);
        }
    }
    (0..nk).map(|k| content[k] + (moved[k] - moved[k + 1])).collect()
}

fn is_transcribed<R: Scalar>() {
    for sign in SIGNS {
        for (nk, seed) in [(4, 1), (5, 2), (6, 3), (7, 4), (23, 5), (72, 6)] {
            for negative in [0.0, 0.4] {
                let start = cases::<R>(nk, 0.9, seed, negative);
                let mut end = start.clone();
                end.sweep(sign);
                for column in 0..WIDTH {
                    let [mass, content, flux] =
                        [&start.mass, &start.content, &start.flux].map(|values| Columns::column(values, column));
                    let expected = transcribed(sign, &mass, &content, &flux);
                    let found = Columns::column(&end.content, column);
                    for k in 0..nk {
                        assert_eq!(
                            bits(found[k]),
                            bits(expected[k]),
                            "{sign:?}, {nk} layers, column {column}, layer {k}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn profiles_are_those_of_fv3() {
    is_transcribed::<f64>();
    is_transcribed::<f32>();
}

/// Integral of a layer's parabola from its top to the part `x` of its mass.
fn integral(q: f64, edges: Edges<f64>, x: f64) -> f64 {
    // p(s) = e_u + s ((e_l − e_u) + a (1 − s)), a = 6 q − 3 (e_u + e_l).
    let bend = 6.0 * q - 3.0 * (edges.upper + edges.lower);
    edges.upper * x + 0.5 * (edges.lower - edges.upper + bend) * x * x - bend * x * x * x / 3.0
}

#[test]
fn a_sweep_is_a_remap_between_moved_edges() {
    for sign in SIGNS {
        let start = cases::<f64>(40, 0.95, 9, 0.0);
        let mut end = start.clone();
        end.sweep(sign);
        for column in 0..WIDTH {
            let [mass, content, flux] =
                [&start.mass, &start.content, &start.flux].map(|values| Columns::column(values, column));
            let q: Vec<f64> = content.iter().zip(&mass).map(|(c, m)| c * (1.0 / m)).collect();
            let edges = scalar_profile(&q, &mass, sign == Sign::NonNegative);
            let mut tops = vec![0.0];
            mass.iter().for_each(|m| tops.push(tops[tops.len() - 1] + m));
            // Content between the model top and a place in air mass.
            let above = |place: f64| -> f64 {
                (0..40).map(|k| mass[k] * integral(q[k], edges[k], ((place - tops[k]) / mass[k]).clamp(0.0, 1.0))).sum()
            };
            for k in 0..40 {
                let expected = above(tops[k + 1] - flux[k + 1]) - above(tops[k] - flux[k]);
                let found = end.content[k * WIDTH + column];
                assert!((found - expected).abs() < 1e-12, "{sign:?}, column {column}, layer {k}: {found} {expected}");
            }
        }
    }
}

fn conserved<R: Scalar>() {
    let eps = R::EPSILON.to_f64();
    for sign in SIGNS {
        for nk in [4, 5, 66] {
            let start = cases::<R>(nk, 1.0, 21, 0.0);
            let mut end = start.clone();
            assert_eq!(end.sweep(sign).clamped, 0);
            for column in 0..WIDTH {
                let largest = Columns::column(&start.content, column).into_iter().map(R::to_f64).fold(0.0, f64::max);
                let gap = Columns::total(&end.content, column) - Columns::total(&start.content, column);
                assert!(gap.abs() <= 4.0 * nk as f64 * eps * largest, "{sign:?} {nk}: {gap:e}");
            }
            if sign == Sign::NonNegative {
                assert!(end.content.iter().all(|x| x.to_f64() >= 0.0), "{nk}");
            }
            // A uniform mixing ratio stays.
            let mut uniform = cases::<R>(nk, 0.5, 22, 0.0);
            let start = uniform.clone();
            uniform.content.iter_mut().zip(&start.mass).for_each(|(c, m)| *c = R::lit(411.0) * *m);
            uniform.sweep(sign);
            for (c, m) in uniform.content.iter().zip(&uniform.mass) {
                let q = c.to_f64() / m.to_f64();
                assert!((q / 411.0 - 1.0).abs() <= 8.0 * eps, "{sign:?} {nk}: {q}");
            }
        }
    }
}

#[test]
fn columns_keep_their_contents_and_uniform_ratios() {
    conserved::<f64>();
    conserved::<f32>();
}

fn emptied<R: Scalar>() {
    let eps = R::EPSILON.to_f64();
    for sign in SIGNS {
        for direction in [1.0, -1.0] {
            let mut columns = cases::<R>(9, 0.0, 3, -0.2);
            let (from, face) = (4, if direction > 0.0 { 5 } else { 4 });
            for column in 0..WIDTH {
                let at = from * WIDTH + column;
                columns.flux[face * WIDTH + column] = R::lit(direction * 1.7) * columns.mass[at];
            }
            let start = columns.clone();
            let stats = columns.sweep(sign);
            assert_eq!(stats.clamped, WIDTH as u64);
            for column in 0..WIDTH {
                let at = from * WIDTH + column;
                let (left, was) = (columns.content[at].to_f64(), start.content[at].to_f64());
                assert!(left.abs() <= 4.0 * eps * was.abs(), "{sign:?}: {left:e} of {was}");
                assert!(sign == Sign::Any || left >= 0.0);
            }
        }
    }
}

#[test]
fn a_layer_is_emptied_beyond_its_mass() {
    emptied::<f64>();
    emptied::<f32>();
}

#[test]
fn traces_are_limited_like_anything_else() {
    // Radon: 1e-21. Powers of 2 change no bit but the exponent.
    let scale = (-70.0_f32).exp2();
    for sign in SIGNS {
        let mut large = cases::<f32>(30, 0.9, 5, 0.0);
        let mut small = large.clone();
        small.content.iter_mut().for_each(|x| *x *= scale);
        for _ in 0..20 {
            large.sweep(sign);
            small.sweep(sign);
        }
        for (l, s) in large.content.iter().zip(&small.content) {
            // Values that came so close to 0 that the small ones have no bits left.
            assert!((l * scale - s).abs() <= 1e-6 * scale, "{sign:?}: {l} {s}");
        }
    }
}

/// Error of a bump of half-width 6 layers after 600 sweeps that move it by 30 layers.
fn translation_error(mut sweep: impl FnMut(&mut Columns<f64>)) -> f64 {
    let bump = |k: usize, centre: f64| 1.0 + (-((k as f64 + 0.5 - centre) / 6.0).powi(2) / 2.0).exp();
    let mut flux = vec![0.05; 121];
    (flux[0], flux[120]) = (0.0, 0.0);
    let mut columns =
        Columns::<f64>::new(120, |_| [vec![1.0; 120], (0..120).map(|k| bump(k, 45.0)).collect(), flux.clone()]);
    for _ in 0..600 {
        sweep(&mut columns);
        // The ends gain and lose air: kept as they were.
        columns.content.iter_mut().zip(&mut columns.mass).for_each(|(c, m)| (*c, *m) = (*c / *m, 1.0));
    }
    let error = |k: usize| (columns.content[k * WIDTH] - bump(k, 75.0)).powi(2);
    (20..110).map(error).sum::<f64>().sqrt()
}

#[test]
fn a_bump_travels_with_a_tenth_of_the_error_of_ppm() {
    let spline = translation_error(|columns| {
        columns.sweep(Sign::NonNegative);
    });
    let ppm = translation_error(|columns| {
        let mut faces = ColumnCoefficients::new(WIDTH, 120);
        prepare_z(WIDTH, 120, &mut columns.mass, &columns.flux, 1.0, &mut faces);
        kernel(Scheme::Ppm(PpmLimiter::Monotone)).sweep_z(WIDTH, 120, &mut columns.content, &faces);
    });
    assert!(spline < 0.1 * ppm, "{spline:e} {ppm:e}");
}

proptest! {
    #[test]
    fn nothing_falls_below_zero_and_nothing_is_lost(
        nk in 4_usize..40,
        seed in 0_u64..1_000_000,
        part in 0.0..1.0_f64,
        exponent in -70_i32..1,
    ) {
        fn holds<R: Scalar>(nk: usize, seed: u64, part: f64, exponent: i32) -> Result<(), TestCaseError> {
            let mut random = Random(seed);
            let scale = f64::from(exponent).exp2();
            let mut columns = Columns::<R>::new(nk, |column| {
                let mass = masses(&mut random, nk);
                let one = |k: usize, random: &mut Random| match column % 3 {
                    0 => random.unit() * scale,
                    1 => if random.unit() < 0.7 { 0.0 } else { scale },
                    _ => profile(column % 6, k, nk, random) * scale,
                };
                let q = (0..nk).map(|k| one(k, &mut random)).collect();
                // Anything that takes no more than all of a layer through both its ends.
                let mut flux = vec![0.0; nk + 1];
                let mut left = mass.clone();
                for k in 1..nk {
                    let down = random.unit() < 0.5;
                    let from = if down { k - 1 } else { k };
                    let amount = part * left[from] * if random.unit() < 0.2 { 1.0 } else { random.unit() };
                    left[from] -= amount;
                    flux[k] = if down { amount } else { -amount };
                }
                [mass, q, flux]
            });
            let start = columns.clone();
            columns.sweep(Sign::NonNegative);
            prop_assert!(columns.content.iter().all(|x| x.to_f64() >= 0.0));
            for column in 0..WIDTH {
                let before = Columns::total(&start.content, column);
                let gap = Columns::total(&columns.content, column) - before;
                prop_assert!(gap.abs() <= 4.0 * nk as f64 * R::EPSILON.to_f64() * before);
            }
            Ok(())
        }
        holds::<f64>(nk, seed, part, exponent)?;
        holds::<f32>(nk, seed, part, exponent)?;
    }
}
