//! Associated Legendre functions, normalised so that half the integral of P² over the sine of latitude is one.
//!
//! Columns of one zonal wave are filled by the recurrence in the total wave, which is stable. Seeds ∏ cosφ^m fall below the
//! range of a double near the poles (cosφ = 0.01, m = 200 is 1e-400) while later members of their column are of order
//! one, so a number is kept as x·2^(960 e) until it is in range (as in Fukushima 2012, J. Geodesy 86).

/// Exponent of two of one step of range.
const STEP: i32 = 960;
/// 2^480: a number beyond it moves up one step of range.
const LARGE: f64 = f64::from_bits((1023 + 480) << 52);
/// 2^−480.
const SMALL: f64 = f64::from_bits((1023 - 480) << 52);
/// 2^−960.
const DOWN: f64 = f64::from_bits((1023 - STEP as u64) << 52);
/// 2^960.
const UP: f64 = f64::from_bits((1023 + STEP as u64) << 52);

/// Sine and cosine of a latitude; the cosine keeps its relative accuracy towards the poles, where it is exactly zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Parallel {
    pub(super) sine: f64,
    pub(super) cosine: f64,
}

impl Parallel {
    /// At `latitude` in degrees.
    pub(super) fn at(latitude: f64) -> Self {
        let colatitude = (90.0 - latitude.abs()).to_radians();
        let sine = if latitude.abs() < 45.0 { latitude.abs().to_radians().sin() } else { colatitude.cos() };
        Self { sine: sine.copysign(latitude), cosine: colatitude.sin() }
    }
}

/// A number x·2^(960 e), e ≤ 0.
#[derive(Clone, Copy, Debug)]
struct Ranged {
    x: f64,
    e: i32,
}

/// The functions of zonal waves 0, 1, 2 … at one latitude, in this order.
#[derive(Clone, Debug)]
pub(super) struct Seeds {
    parallel: Parallel,
    weight: Weight,
    seed: Ranged,
    wave: usize,
}

/// What the functions are multiplied by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// Nothing.
    One,
    /// 1/cosφ. At a pole zonal wave 1 has its limit, wave 0 is zero: winds have no part of that wave there.
    Secant,
}

impl Seeds {
    pub(super) fn new(parallel: Parallel, weight: Weight) -> Self {
        let x = match weight {
            Weight::One => 1.0,
            Weight::Secant if parallel.cosine > 0.0 => 1.0 / parallel.cosine,
            Weight::Secant => 0.0,
        };
        Self { parallel, weight, seed: Ranged { x, e: 0 }, wave: 0 }
    }

    /// Goes to the next zonal wave.
    pub(super) fn advance(&mut self) {
        self.wave += 1;
        let m = self.wave as f64;
        let growth = ((2.0 * m + 1.0) / (2.0 * m)).sqrt();
        if self.wave == 1 && self.weight == Weight::Secant {
            self.seed = Ranged { x: growth, e: 0 };
            return;
        }
        self.seed.x *= growth * self.parallel.cosine;
        if self.seed.x < SMALL && self.seed.x > 0.0 {
            self.seed = Ranged { x: self.seed.x * UP, e: self.seed.e - 1 };
        }
    }

    /// Functions n = m, m + 1 … of the zonal wave m where this is, into every `stride`-th entry of `values`. What is
    /// below 2^−480 is zero.
    pub(super) fn column(&self, recurrence: &Recurrence, values: &mut [f64], stride: usize) {
        let (a, b) = recurrence.of(self.wave);
        let sine = self.parallel.sine;
        let Ranged { x, mut e } = self.seed;
        let (mut before, mut here) = (0.0, x);
        for (n, value) in values.iter_mut().step_by(stride).enumerate() {
            if n > 0 {
                let next = a[n] * (sine * here) - b[n] * before;
                (before, here) = (here, next);
                if e < 0 && here.abs() > LARGE {
                    (before, here, e) = (before * DOWN, here * DOWN, e + 1);
                }
            }
            *value = if e == 0 { here } else { 0.0 };
        }
    }
}

/// Factors of the recurrence P(n) = a sinφ P(n−1) − b P(n−2) for zonal waves and total waves up to a truncation.
#[derive(Clone, Debug)]
pub(super) struct Recurrence {
    truncation: usize,
    /// Entry n − m of block m; the first of a block is not used, the second has b = 0.
    a: Vec<f64>,
    b: Vec<f64>,
}

impl Recurrence {
    pub(super) fn new(truncation: usize) -> Self {
        let mut factors = Self { truncation, a: Vec::new(), b: Vec::new() };
        for m in 0..=truncation {
            for n in m..=truncation {
                let (a, b) = if n == m { (0.0, 0.0) } else { Self::factors(m as f64, n as f64) };
                factors.a.push(a);
                factors.b.push(b);
            }
        }
        factors
    }

    fn factors(m: f64, n: f64) -> (f64, f64) {
        let squares = (n - m) * (n + m);
        let a = ((2.0 * n - 1.0) * (2.0 * n + 1.0) / squares).sqrt();
        if n == m + 1.0 {
            return (a, 0.0);
        }
        let ratio = (2.0 * n + 1.0) * (n - m - 1.0) * (n + m - 1.0) / ((2.0 * n - 3.0) * squares);
        (a, ratio.sqrt())
    }

    fn of(&self, m: usize) -> (&[f64], &[f64]) {
        let start = m * (self.truncation + 1) - m * (m.max(1) - 1) / 2;
        let end = start + self.truncation + 1 - m;
        (&self.a[start..end], &self.b[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(truncation: usize, latitude: f64, weight: Weight) -> Vec<Vec<f64>> {
        let recurrence = Recurrence::new(truncation);
        let mut seeds = Seeds::new(Parallel::at(latitude), weight);
        let column = |m: usize| {
            if m > 0 {
                seeds.advance();
            }
            let mut values = vec![0.0; truncation + 1 - m];
            seeds.column(&recurrence, &mut values, 1);
            values
        };
        (0..=truncation).map(column).collect()
    }

    #[test]
    fn low_functions_are_the_polynomials() {
        for latitude in [-90.0, -71.3, -45.0, 0.0, 12.0, 45.1, 89.9, 90.0] {
            let Parallel { sine: s, cosine: c } = Parallel::at(latitude);
            let p = columns(3, latitude, Weight::One);
            let expected = [
                (0, 0, 1.0),
                (0, 1, 3f64.sqrt() * s),
                (0, 2, 5f64.sqrt() * 0.5 * (3.0 * s * s - 1.0)),
                (0, 3, 7f64.sqrt() * 0.5 * s * (5.0 * s * s - 3.0)),
                (1, 1, 1.5f64.sqrt() * c),
                (1, 2, 7.5f64.sqrt() * s * c),
                (1, 3, (7.0f64 / 48.0).sqrt() * 3.0 * c * (5.0 * s * s - 1.0)),
                (2, 2, (5.0f64 / 24.0).sqrt() * 3.0 * c * c),
                (3, 3, (7.0f64 / 720.0).sqrt() * 15.0 * c * c * c),
            ];
            for (m, n, value) in expected {
                assert!((p[m][n - m] - value).abs() < 2e-15, "{m} {n} at {latitude}: {} {value}", p[m][n - m]);
            }
        }
    }

    /// Addition theorem: over all zonal waves, the squares of a total wave sum to 2n + 1 at every latitude.
    #[test]
    fn squares_sum_to_the_number_of_waves_up_to_truncation_1279() {
        let truncation = 1279;
        for latitude in [0.0, 0.07, 33.3, -60.0, 80.0, 89.0, -89.9, 89.99, 90.0] {
            let mut sums = vec![0.0; truncation + 1];
            for (m, column) in columns(truncation, latitude, Weight::One).iter().enumerate() {
                let twice = if m == 0 { 1.0 } else { 2.0 };
                column.iter().enumerate().for_each(|(k, p)| sums[m + k] += twice * p * p);
            }
            for (n, sum) in sums.iter().enumerate() {
                let error = sum / (2 * n + 1) as f64 - 1.0;
                // Where waves are longer than the way to the pole, rounding adds up as n squared.
                let tolerance = if latitude.abs() > 89.5 { 5e-10 } else { 5e-12 };
                assert!(error.abs() < tolerance, "n = {n} at {latitude}: {error:e}");
            }
        }
    }

    #[test]
    fn columns_survive_seeds_below_the_range_of_a_double() {
        // cos(89.9) ^ 400 is about 1e-1103; the column reaches order one where n cosφ is about m.
        let (m, n, latitude) = (60, 4000, 89.0);
        let recurrence = Recurrence::new(n);
        let mut seeds = Seeds::new(Parallel::at(latitude), Weight::One);
        (0..m).for_each(|_| seeds.advance());
        assert_eq!(seeds.seed.e, 0);
        let mut seeds = Seeds::new(Parallel::at(89.9), Weight::One);
        (0..400).for_each(|_| seeds.advance());
        assert!(seeds.seed.e < -2 && seeds.seed.x >= SMALL);
        let mut values = vec![f64::NAN; n + 1 - 400];
        seeds.column(&recurrence, &mut values, 1);
        assert_eq!(values[0], 0.0);
        assert!(values.iter().all(|v| v.is_finite()));
    }

    #[test]
    fn secant_divides_by_the_cosine() {
        for latitude in [-88.0, 5.0, 60.0] {
            let cosine = Parallel::at(latitude).cosine;
            let (p, q) = (columns(40, latitude, Weight::One), columns(40, latitude, Weight::Secant));
            for (p, q) in p.iter().flatten().zip(q.iter().flatten()) {
                assert!((q * cosine - p).abs() <= 1e-13 * p.abs().max(1.0), "{p} {q}");
            }
        }
        // At the pole: P(1,1)/cosφ = √1.5, P(2,1)/cosφ = √7.5 sinφ.
        let south = columns(2, -90.0, Weight::Secant);
        assert_eq!(south[0], [0.0; 3]);
        assert!((south[1][0] - 1.5f64.sqrt()).abs() < 1e-15 && (south[1][1] + 7.5f64.sqrt()).abs() < 1e-15);
        assert_eq!(south[2], [0.0]);
    }
}
