use std::f64::consts::PI;

use proptest::prelude::*;

use super::*;

const RADIUS: f64 = 6_371_229.0;

fn spectrum(truncation: usize, waves: &[(usize, usize, [f64; 2])]) -> Vec<f64> {
    let mut values = vec![0.0; coefficient_count(truncation)];
    for &(m, n, c) in waves {
        let place = coefficient_index(truncation, m, n);
        values[place..place + 2].copy_from_slice(&c);
    }
    values
}

/// Some spectrum, with amplitudes that fall off like those of the atmosphere.
fn mixed(truncation: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let waves = (0..=truncation).flat_map(|m| (m..=truncation).map(move |n| (m, n))).collect::<Vec<_>>();
    let waves: Vec<_> = waves
        .into_iter()
        .map(|(m, n)| {
            let size = 1.0 / (1 + n) as f64;
            (m, n, [size * next(), if m == 0 { 0.0 } else { size * next() }])
        })
        .collect();
    spectrum(truncation, &waves)
}

/// Longitudes (degrees), sines and cosines of latitude of all points.
fn points(rings: &[Ring]) -> Vec<(f64, f64, f64)> {
    let of_ring = |ring: &Ring| {
        let (lat, step, first) = (ring.latitude.to_radians(), 360.0 / ring.points as f64, ring.first_longitude);
        (0..ring.points)
            .map(move |i| ((first + i as f64 * step).to_radians(), lat.sin(), lat.cos()))
            .collect::<Vec<_>>()
    };
    rings.iter().flat_map(of_ring).collect()
}

fn rings(points: &[usize], first_longitude: f64) -> Vec<Ring> {
    let latitudes = [-90.0, -89.2, -50.0, -3.0, 0.0, 3.0, 41.0, 50.0, 88.0, 90.0];
    let all = latitudes.into_iter().zip(points.iter().cycle());
    all.map(|(latitude, &points)| Ring { latitude, points, first_longitude }).collect()
}

fn scalar(truncation: usize, rings: &[Ring], spectrum: &[f64]) -> Vec<f64> {
    let synthesis = Synthesis::new(truncation, rings.to_vec()).unwrap();
    let mut field = vec![f64::NAN; synthesis.points()];
    synthesis.scalars(&[spectrum], &mut [&mut field]).unwrap();
    field
}

fn winds(truncation: usize, rings: &[Ring], vorticity: &[f64], divergence: &[f64]) -> [Vec<f64>; 2] {
    let synthesis = Synthesis::new(truncation, rings.to_vec()).unwrap();
    let [mut u, mut v] = [0, 1].map(|_| vec![f64::NAN; synthesis.points()]);
    synthesis.winds(RADIUS, &[vorticity], &[divergence], &mut [&mut u], &mut [&mut v]).unwrap();
    [u, v]
}

fn assert_close(found: &[f64], expected: impl Iterator<Item = f64>, tolerance: f64) {
    let expected: Vec<f64> = expected.collect();
    assert_eq!(found.len(), expected.len());
    for (n, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert!((found - expected).abs() <= tolerance, "point {n}: {found} {expected}");
    }
}

/// P(2,1) = √7.5 sinφ cosφ, P(5,5) = √(11/10!) 945 cos⁵φ (tables of associated Legendre functions).
#[test]
fn single_waves_equal_their_formulas_on_even_and_odd_rings() {
    for (counts, first) in [([11, 12], 0.0), ([36, 15], 12.0), ([13, 640], -0.28125)] {
        let rings = rings(&counts, first);
        let (re, im) = (0.7, -1.3);
        let y21 = scalar(6, &rings, &spectrum(6, &[(1, 2, [re, im])]));
        let y55 = scalar(6, &rings, &spectrum(6, &[(5, 5, [re, im])]));
        let wave = |m: f64, lon: f64| 2.0 * (re * (m * lon).cos() - im * (m * lon).sin());
        let expected = points(&rings);
        assert_close(&y21, expected.iter().map(|&(lon, s, c)| 7.5f64.sqrt() * s * c * wave(1.0, lon)), 1e-14);
        let scale = 945.0 * (11.0f64 / 3_628_800.0).sqrt();
        assert_close(&y55, expected.iter().map(|&(lon, _, c)| scale * c.powi(5) * wave(5.0, lon)), 1e-13);
    }
}

/// The highest wave that an odd ring tells from others has its full amplitude, half on an even ring; none are folded.
#[test]
fn rings_take_the_waves_they_resolve() {
    let (truncation, n) = (12, 12);
    let ring = |points| [Ring { latitude: 35.0, points, first_longitude: 4.0 }];
    let field = |points, m| scalar(truncation, &ring(points), &spectrum(truncation, &[(m, n, [1.0, 0.5])]));
    let whole = |points, m: usize| {
        let all = field(points * 8, m);
        (0..points).map(|i| all[8 * i]).collect::<Vec<f64>>()
    };
    for (points, m) in [(11, 5), (9, 4), (12, 5), (25, 12)] {
        assert_close(&field(points, m), whole(points, m).into_iter(), 1e-13);
        assert!(field(points, m).iter().any(|v| v.abs() > 0.01));
    }
    for (points, m) in [(12, 6), (8, 4), (24, 12)] {
        assert_close(&field(points, m), whole(points, m).into_iter().map(|v| 0.5 * v), 1e-13);
    }
    for (points, m) in [(12, 7), (11, 6), (1, 1), (2, 2), (4, 12)] {
        assert_close(&field(points, m), std::iter::repeat_n(0.0, points), 0.0);
    }
}

#[test]
fn the_first_coefficient_is_the_mean() {
    let rings = rings(&[1, 2, 7], 0.0);
    let field = scalar(3, &rings, &spectrum(3, &[(0, 0, [2.5, 0.0])]));
    assert_close(&field, std::iter::repeat_n(2.5, field.len()), 1e-15);
}

/// Rotation about the axis has vorticity 2ω sinφ and u = ω R cosφ; about the x axis u = −ω R sinφ cosλ, v = ω R sinλ.
#[test]
fn solid_body_rotation_has_its_winds() {
    let omega = 3e-6;
    let rings = rings(&[16, 9], 1.5);
    let none = spectrum(4, &[]);
    let axial = spectrum(4, &[(0, 1, [2.0 * omega / 3f64.sqrt(), 0.0])]);
    let [u, v] = winds(4, &rings, &axial, &none);
    let (speed, all) = (omega * RADIUS, points(&rings));
    assert_close(&u, all.iter().map(|&(_, _, c)| speed * c), 1e-12 * speed);
    assert_close(&v, all.iter().map(|_| 0.0), 1e-12 * speed);
    // 2ω cosφ cosλ is twice the real part of c √1.5 cosφ exp(iλ) with c = ω/√1.5.
    let tilted = spectrum(4, &[(1, 1, [omega / 1.5f64.sqrt(), 0.0])]);
    let [u, v] = winds(4, &rings, &tilted, &none);
    assert_close(&u, all.iter().map(|&(lon, s, _)| -speed * s * lon.cos()), 1e-12 * speed);
    assert_close(&v, all.iter().map(|&(lon, _, _)| speed * lon.sin()), 1e-12 * speed);
    // The same numbers as divergence turn the wind by a right angle, clockwise.
    let [du, dv] = winds(4, &rings, &none, &tilted);
    assert_close(&du, v.iter().copied(), 1e-12 * speed);
    assert_close(&dv, u.iter().map(|u| -u), 1e-12 * speed);
}

/// Derivatives of velocity potential and streamfunction by fourth-order differences.
#[test]
fn winds_are_gradients_of_potential_and_streamfunction() {
    let truncation = 10;
    let [vorticity, divergence] =
        [3, 4].map(|seed| mixed(truncation, seed).iter().map(|c| 1e-5 * c).collect::<Vec<_>>());
    let inverse = |field: &[f64]| {
        let mut values = field.to_vec();
        values[..2].fill(0.0);
        for m in 0..=truncation {
            for n in m.max(1)..=truncation {
                let place = coefficient_index(truncation, m, n);
                values[place..place + 2].iter_mut().for_each(|c| *c *= -RADIUS * RADIUS / (n * (n + 1)) as f64);
            }
        }
        values
    };
    let (psi, chi) = (inverse(&vorticity), inverse(&divergence));
    let step = 0.02;
    for latitude in [-74.0, 8.0, 61.0] {
        let ring = |latitude, first_longitude| Ring { latitude, points: 24, first_longitude };
        let [u, v] = winds(truncation, &[ring(latitude, 5.0)], &vorticity, &divergence);
        let northward = |field: &[f64]| {
            let at = |k: f64| scalar(truncation, &[ring(latitude + k * step, 5.0)], field);
            slope([at(-2.0), at(-1.0), at(1.0), at(2.0)], step)
        };
        let eastward = |field: &[f64]| {
            let at = |k: f64| scalar(truncation, &[ring(latitude, 5.0 + k * step)], field);
            let cosine = latitude.to_radians().cos();
            slope([at(-2.0), at(-1.0), at(1.0), at(2.0)], step * cosine)
        };
        let largest = u.iter().chain(&v).fold(0.0f64, |a, b| a.max(b.abs()));
        let (psi_n, psi_e, chi_n, chi_e) = (northward(&psi), eastward(&psi), northward(&chi), eastward(&chi));
        assert_close(&u, chi_e.iter().zip(&psi_n).map(|(a, b)| (a - b) / RADIUS), 1e-8 * largest);
        assert_close(&v, chi_n.iter().zip(&psi_e).map(|(a, b)| (a + b) / RADIUS), 1e-8 * largest);
    }
}

fn slope([a, b, c, d]: [Vec<f64>; 4], step: f64) -> Vec<f64> {
    let h = step.to_radians();
    (0..a.len()).map(|i| (8.0 * (c[i] - b[i]) - (d[i] - a[i])) / (12.0 * h)).collect()
}

/// By the addition theorem the waves of one total wavenumber with equal amplitudes have the mean square 2n + 1 on every
/// parallel.
#[test]
fn a_field_at_truncation_639_has_the_energy_of_its_spectrum() {
    let (truncation, n) = (639, 600);
    let ring = |latitude| Ring { latitude, points: 1280, first_longitude: 0.0 };
    let rings = [0.0, 0.14, -33.0, 71.0, -89.2].map(ring);
    let waves: Vec<_> = (0..=n).map(|m| (m, n, if m == 0 { [1.0, 0.0] } else { [0.6, 0.8] })).collect();
    let field = scalar(truncation, &rings, &spectrum(truncation, &waves));
    for ring in field.chunks(1280) {
        let mean_square = ring.iter().map(|v| v * v).sum::<f64>() / 1280.0;
        assert!((mean_square / (2 * n + 1) as f64 - 1.0).abs() < 1e-11, "{mean_square}");
    }
}

fn bits(field: &[f64]) -> Vec<u64> {
    field.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn results_know_neither_batches_nor_threads() {
    let truncation = 31;
    let rings = rings(&[40, 31, 7], 0.3);
    let spectra: Vec<Vec<f64>> = (0..70).map(|seed| mixed(truncation, seed)).collect();
    let spectra: Vec<&[f64]> = spectra.iter().map(|s| &s[..]).collect();
    let synthesis = Synthesis::new(truncation, rings.clone()).unwrap();
    let run = |threads: usize| {
        let mut fields = vec![vec![0.0; synthesis.points()]; spectra.len()];
        let mut views: Vec<&mut [f64]> = fields.iter_mut().map(|f| &mut f[..]).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| synthesis.scalars(&spectra, &mut views)).unwrap();
        fields
    };
    let together = run(1);
    assert_eq!(together, run(3));
    for level in [0, 31, 32, 69] {
        assert_eq!(bits(&scalar(truncation, &rings, spectra[level])), bits(&together[level]));
    }
    let mut u = vec![vec![0.0; synthesis.points()]; 40];
    let mut v = u.clone();
    let [mut us, mut vs] = [&mut u, &mut v].map(|w| w.iter_mut().map(|f| &mut f[..]).collect::<Vec<_>>());
    synthesis.winds(RADIUS, &spectra[..40], &spectra[30..], &mut us, &mut vs).unwrap();
    let [one_u, one_v] = winds(truncation, &rings, spectra[37], spectra[67]);
    assert_eq!((bits(&u[37]), bits(&v[37])), (bits(&one_u), bits(&one_v)));
}

#[test]
fn what_does_not_fit_is_refused() {
    let synthesis = Synthesis::new(3, vec![Ring { latitude: 0.0, points: 8, first_longitude: 0.0 }]).unwrap();
    let (good, mut bad) = (vec![0.0; coefficient_count(3)], vec![0.0; coefficient_count(3)]);
    bad[5] = f64::NAN;
    let mut room = vec![0.0; 8];
    let error = synthesis.scalars(&[&bad], &mut [&mut room]).unwrap_err();
    assert!(matches!(error, SpectralError::Value { field: 1, m: 0, n: 2, .. }), "{error}");
    assert!(error.to_string().contains("zonal wave 0, total wave 2") && !error.help().is_empty());
    let error = synthesis.scalars(&[&good[1..]], &mut [&mut room]).unwrap_err();
    assert_eq!(error, SpectralError::Length { field: 1, found: 19, truncation: 3, expected: 20 });
    let error = synthesis.scalars(&[&good], &mut [&mut room[1..]]).unwrap_err();
    assert_eq!(error, SpectralError::Points { field: 1, found: 7, expected: 8 });
    let error = synthesis.scalars(&[&good, &good], &mut [&mut room]).unwrap_err();
    assert_eq!(error, SpectralError::Fields { spectra: 2, fields: 1 });
    let mut more = room.clone();
    let error = synthesis.winds(1.0, &[&good], &[], &mut [&mut room], &mut [&mut more]).unwrap_err();
    assert_eq!(error, SpectralError::Fields { spectra: 0, fields: 1 });
    assert!(Synthesis::new(3, vec![Ring { latitude: 91.0, points: 8, first_longitude: 0.0 }]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// The transform is linear and turns with the first longitude.
    #[test]
    fn fields_turn_with_the_longitude(seed in 0u64..1000, points in 20usize..60, shift in 1usize..19) {
        let truncation = 9;
        let spectrum = mixed(truncation, seed);
        let step = 360.0 / points as f64;
        let ring = |first_longitude| [Ring { latitude: 27.0, points, first_longitude }];
        let here = scalar(truncation, &ring(0.0), &spectrum);
        let there = scalar(truncation, &ring(shift as f64 * step), &spectrum);
        for i in 0..points {
            prop_assert!((there[i] - here[(i + shift) % points]).abs() < 1e-12);
        }
        let twice: Vec<f64> = spectrum.iter().map(|c| 2.0 * c).collect();
        let double: Vec<f64> = here.iter().map(|v| 2.0 * v).collect();
        prop_assert_eq!(scalar(truncation, &ring(0.0), &twice), double);
    }
}

#[test]
fn a_whole_turn_of_a_ring_starts_anywhere() {
    // The turn is taken modulo 360 degrees.
    let spectrum = mixed(20, 8);
    let ring = |first_longitude| [Ring { latitude: -12.0, points: 48, first_longitude }];
    let far = scalar(20, &ring(7.5 - 720.0), &spectrum);
    assert_eq!(far, scalar(20, &ring(7.5), &spectrum));
    assert!(far.iter().all(|v| v.abs() < 2.0 * PI));
}
