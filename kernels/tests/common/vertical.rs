//! Columns with air, exchange and tracers for the tests of vertical exchange.
#![allow(dead_code)]

use kernels::Scalar;

use super::columns::{Columns, Fixture};
use crate::common::Random;

/// A standard normal number (Box & Muller 1958).
pub fn normal(random: &mut Random) -> f64 {
    (-2.0 * (1.0 - random.unit()).ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

/// Columns from a function of column and layer.
pub fn columns<R: Scalar>(count: usize, nk: usize, mut value: impl FnMut(usize, usize) -> f64) -> Columns<R> {
    (0..count).map(|i| (0..nk).map(|k| R::from_f64(value(i, k))).collect()).collect()
}

/// Contents of a mixing ratio given by layer.
pub fn contents<R: Scalar>(mass: &[Vec<R>], mut ratio: impl FnMut(usize, usize) -> f64) -> Columns<R> {
    columns(mass.len(), mass[0].len(), |i, k| ratio(i, k) * mass[i][k].to_f64())
}

/// Random columns: masses over a factor of 30, the exchange of a step `strength` times the smaller mass.
pub fn random_exchange<R: Scalar>(count: usize, nk: usize, strength: f64, random: &mut Random) -> Fixture<R> {
    let mass: Columns<R> = columns(count, nk, |_, _| 1e10 * (1.0 + 30.0 * random.unit()));
    let smaller = |i: usize, k: usize| mass[i][k].to_f64().min(mass[i][(k + 1).min(nk - 1)].to_f64());
    let exchange = columns(count, nk, |i, k| if k + 1 < nk { strength * smaller(i, k) } else { 0.0 });
    Fixture { mass, exchange, dt: 1.0 }
}

/// Kinds of tracer fields in [`random_tracers`], in order.
pub const TRACERS: [&str; 7] = ["positive", "signed", "constant", "background", "zero", "spike", "negative background"];

/// One field of each kind.
pub fn random_tracers<R: Scalar>(mass: &[Vec<R>], random: &mut Random) -> Vec<Columns<R>> {
    let nk = mass[0].len();
    vec![
        contents(mass, |_, _| random.unit()),
        contents(mass, |_, _| normal(random)),
        contents(mass, |_, _| 4e-4),
        contents(mass, |_, _| 4e-4 + 1e-9 * normal(random)),
        contents(mass, |_, _| 0.0),
        contents(mass, |i, k| if k == i % nk { 0.4 } else { 0.0 }),
        contents(mass, |_, _| -4e-4 + 1e-9 * normal(random)),
    ]
}

/// 64 columns of 66 layers with exchange that falls off above a boundary layer, and three tracers: peaked at the surface,
/// the same on a background, uniform.
pub fn boundary_layers<R: Scalar>() -> (Fixture<R>, [Columns<R>; 3]) {
    const N: usize = 66;
    let mut random = Random(7);
    let mass: Columns<R> = columns(64, N, |_, k| {
        let height = (N - 1 - k) as f64 / (N - 1) as f64;
        let pressure = if height > 0.83 {
            300.0
        } else {
            200.0 + 2500.0 * (std::f64::consts::PI * (1.2 * height + 0.05).min(1.0)).sin()
        };
        pressure * 1e10 / 9.80665 * (1.0 + 0.02 * random.unit())
    });
    let exchange = columns(64, N, |i, k| {
        if k + 1 == N {
            return 0.0;
        }
        let h = (N - 1 - k) as f64;
        let strength = if h < 12.0 { 0.02 * (h + 1.0) * (12.0 - h) / 36.0 } else { 2e-5 };
        let smaller = mass[i][k].to_f64().min(mass[i][k + 1].to_f64());
        strength * (0.5 + random.unit()) * smaller / 450.0
    });
    let peak = |k: usize| (-((N - 1 - k) as f64) / 6.0).exp();
    let tracers = [
        contents(&mass, |_, k| 2e-6 * peak(k)),
        contents(&mass, |_, k| 4e-4 + 2e-5 * peak(k)),
        contents(&mass, |_, _| 4e-4),
    ];
    (Fixture { mass, exchange, dt: 450.0 }, tracers)
}

/// 96 hybrid columns of 72 layers with diffusivities, and three tracers: a blob aloft, one peaked at the surface on a
/// background, uniform.
pub fn hybrid_columns<R: Scalar>() -> (Fixture<R>, [Columns<R>; 3]) {
    many_hybrid_columns(96, 900.0)
}

/// Any number of such columns, and any step in seconds.
pub fn many_hybrid_columns<R: Scalar>(count: usize, dt: f64) -> (Fixture<R>, [Columns<R>; 3]) {
    const N: usize = 72;
    let mut random = Random(5);
    let (mut mass, mut exchange) = (Columns::new(), Columns::new());
    for _ in 0..count {
        let area = 4e10 * (0.6 + 0.8 * random.unit());
        let surface = 98500.0 + 3000.0 * (random.unit() - 0.5);
        let edge = |k: usize| {
            if k <= 40 {
                1.0 + 17699.0 * (k as f64 / 40.0).powf(2.2)
            } else {
                let b = (k as f64 - 40.0) / 32.0;
                17700.0 * (1.0 - b) + b * surface
            }
        };
        let m: Vec<f64> = (0..N).map(|k| (edge(k + 1) - edge(k)) * area / 9.80665).collect();
        let dz = |k: usize| 287.0 * 260.0 / 9.80665 * (edge(k + 1) - edge(k)) / (0.5 * (edge(k) + edge(k + 1)));
        let mut interface = |k: usize| {
            let diffusivity = if k > 60 { 50.0 * (1.0 + random.unit()) } else { 0.5 };
            2.0 * diffusivity * (m[k] + m[k + 1]) / (dz(k) + dz(k + 1)).powi(2)
        };
        exchange.push((0..N).map(|k| R::from_f64(if k + 1 < N { interface(k) } else { 0.0 })).collect());
        mass.push(m.into_iter().map(R::from_f64).collect());
    }
    let tracers = [
        contents(&mass, |_, k| 1e-6 * (-((k as f64 - 18.0) / 6.0).powi(2)).exp()),
        contents(&mass, |_, k| 4e-4 + 2e-5 * (-((N - 1 - k) as f64) / 4.0).exp()),
        contents(&mass, |_, _| 4e-4),
    ];
    (Fixture { mass, exchange, dt }, tracers)
}

/// 400 columns of 40 layers whose lower half exchanges up to `strongest` times the smaller mass in a step.
pub fn strong_exchange<R: Scalar>(strongest: f64) -> (Fixture<R>, Columns<R>) {
    const N: usize = 40;
    let mut random = Random(9);
    let mass: Columns<R> = columns(400, N, |_, _| 1e12 * (0.3 + random.unit()));
    let exchange = columns(400, N, |i, k| {
        if k + 1 == N || k < N / 2 {
            return 0.0;
        }
        strongest * random.unit().powi(2) * mass[i][k].to_f64().min(mass[i][k + 1].to_f64()) / 900.0
    });
    let tracer = contents(&mass, |_, _| 1e-6 * random.unit());
    (Fixture { mass, exchange, dt: 900.0 }, tracer)
}
