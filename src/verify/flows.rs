//! Flows of the two-dimensional suites as stream functions on the unit sphere with period 1.
//!
//! Air flows with the larger values of ψ on its left: u = −∂ψ/∂θ, v = ∂ψ/∂λ / cosθ.

use std::f64::consts::{PI, TAU};

use crate::grid::vector::from_lonlat;

/// A stream function of a point on the unit sphere and of time in periods.
pub(super) type Stream = Box<dyn Fn([f64; 3], f64) -> f64 + Send + Sync>;

/// Which way a flow runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// As published.
    Forward,
    /// All velocities reversed.
    Backward,
}

impl Sense {
    fn factor(self) -> f64 {
        match self {
            Sense::Forward => 1.0,
            Sense::Backward => -1.0,
        }
    }
}

/// Deformation with rotation, case 4 of Nair & Lauritzen (2010): ψ = 10 sin²λ' cos²θ cos πt − 2π sinθ, λ' = λ − 2πt.
pub(super) fn deformation() -> Stream {
    Box::new(|[x, y, z], t| {
        let (sin, cos) = (TAU * t).sin_cos();
        // cosθ sinλ'.
        let side = y * cos - x * sin;
        10.0 * (PI * t).cos() * (side * side) - TAU * z
    })
}

/// Rotation about an axis tilted by `alpha` from the pole towards longitude 180°, case 1 of Williamson et al. (1992).
pub(super) fn solid_body(alpha: f64, sense: Sense) -> Stream {
    let (sin, cos) = alpha.sin_cos();
    Box::new(move |[x, _, z], _| -TAU * sense.factor() * (z * cos - x * sin))
}

/// Two vortices on opposite points of the equator, carried by a zonal rotation (Nair & Jablonowski 2008).
#[derive(Clone, Debug)]
pub(super) struct Vortices {
    /// ψ of the vortices at equal steps of the angle to the first centre, from 0 to π, and its slope there.
    table: Vec<[f64; 2]>,
}

/// Steps of the table of [`Vortices`].
const STEPS: usize = 4096;

impl Vortices {
    /// Tabulates the stream function.
    pub(super) fn new() -> Self {
        let step = PI / STEPS as f64;
        // ψ(δ) = −∫ ω(3 sin x) sin x dx; Simpson's rule on each step.
        let slope = |x: f64| -angular_speed(3.0 * x.sin()) * x.sin();
        let mut table = Vec::with_capacity(STEPS + 1);
        let mut psi = 0.0;
        table.push([psi, slope(0.0)]);
        for n in 0..STEPS {
            let x = n as f64 * step;
            psi += step / 6.0 * (slope(x) + 4.0 * slope(x + 0.5 * step) + slope(x + step));
            table.push([psi, slope(x + step)]);
        }
        Self { table }
    }

    /// ψ of the vortices at an angle from the first centre: a cubic through values and slopes.
    fn at(&self, angle: f64) -> f64 {
        let place = angle / PI * STEPS as f64;
        let n = (place as usize).min(STEPS - 1);
        let (s, h) = (place - n as f64, PI / STEPS as f64);
        let ([a, da], [b, db]) = (self.table[n], self.table[n + 1]);
        let r = 1.0 - s;
        (1.0 + 2.0 * s) * r * r * a + s * r * r * h * da + s * s * (3.0 - 2.0 * s) * b - s * s * r * h * db
    }

    /// The stream function.
    pub(super) fn stream(self) -> Stream {
        Box::new(move |[x, y, z], t| {
            let (sin, cos) = (TAU * t).sin_cos();
            let side = y * cos - x * sin;
            let across = x * cos + y * sin;
            -TAU * z + self.at((across * across + z * z).sqrt().atan2(side))
        })
    }

    /// The exact mixing ratio at a point and time: 1 − tanh((ρ'/5) sin(λ̂ − ωt)).
    pub(super) fn exact([x, y, z]: [f64; 3], t: f64) -> f64 {
        let (sin, cos) = (TAU * t).sin_cos();
        let across = x * cos + y * sin;
        let distance = 3.0 * (across * across + z * z).sqrt();
        // λ̂ = atan2(−cosλ', tanθ), both times cosθ.
        let turned = (-across).atan2(z) - angular_speed(distance) * t;
        1.0 - (distance / 5.0 * turned.sin()).tanh()
    }
}

/// ω of the vortices at ρ', rad per period: 2π·(3√3/2) tanh ρ' / (ρ' cosh² ρ').
fn angular_speed(distance: f64) -> f64 {
    let ratio = if distance < 1e-8 { 1.0 } else { distance.tanh() / distance };
    TAU * 1.5 * 3f64.sqrt() * ratio / distance.cosh().powi(2)
}

/// Centres of the tracers of the deformational flow.
pub(super) fn centres() -> [[f64; 3]; 2] {
    [from_lonlat(150.0, 0.0), from_lonlat(210.0, 0.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Velocity (east, north) of a stream function by differences.
    fn velocity(stream: &Stream, lon: f64, lat: f64, t: f64) -> [f64; 2] {
        let at = |dlon: f64, dlat: f64| stream(from_lonlat((lon + dlon).to_degrees(), (lat + dlat).to_degrees()), t);
        const H: f64 = 1e-5;
        [-(at(0.0, H) - at(0.0, -H)) / (2.0 * H), (at(H, 0.0) - at(-H, 0.0)) / (2.0 * H) / lat.cos()]
    }

    fn assert_near(found: [f64; 2], expected: [f64; 2]) {
        assert!((0..2).all(|n| (found[n] - expected[n]).abs() < 1e-7), "{found:?} instead of {expected:?}");
    }

    /// Velocities as published (Nair & Lauritzen 2010, Williamson et al. 1992, Nair & Jablonowski 2008), R = T = 1.
    #[test]
    fn velocities_are_the_published_ones() {
        let vortices = Vortices::new().stream();
        for (lon, lat, t) in [(0.3, 0.5, 0.0), (2.1, -0.9, 0.37), (5.0, 0.2, 0.8)] {
            let turned: f64 = lon - TAU * t;
            let strength = 10.0 * (PI * t).cos();
            assert_near(
                velocity(&deformation(), lon, lat, t),
                [
                    strength * turned.sin().powi(2) * (2.0 * lat).sin() + TAU * lat.cos(),
                    strength * (2.0 * turned).sin() * lat.cos(),
                ],
            );
            let (sin, cos) = 0.7f64.sin_cos();
            assert_near(
                velocity(&solid_body(0.7, Sense::Forward), lon, lat, t),
                [TAU * (lat.cos() * cos + lat.sin() * lon.cos() * sin), -TAU * lon.sin() * sin],
            );
            let distance = 3.0 * (1.0 - (lat.cos() * turned.sin()).powi(2)).sqrt();
            let omega = angular_speed(distance);
            assert_near(
                velocity(&vortices, lon, lat, t),
                [omega * turned.sin() * lat.sin() + TAU * lat.cos(), omega * turned.cos()],
            );
        }
    }

    /// The exact field obeys ∂φ/∂t + u·∇φ = 0.
    #[test]
    fn vortices_wind_up_with_the_flow() {
        let stream = Vortices::new().stream();
        const H: f64 = 1e-5;
        for (lon, lat, t) in [(0.3f64, 0.5f64, 0.2), (2.1, -0.9, 0.37), (5.0, 0.2, 0.8)] {
            let at = |lon: f64, lat: f64, t: f64| Vortices::exact(from_lonlat(lon.to_degrees(), lat.to_degrees()), t);
            let slope = |a: f64, b: f64| (a - b) / (2.0 * H);
            let [u, v] = velocity(&stream, lon, lat, t);
            let change = slope(at(lon, lat, t + H), at(lon, lat, t - H))
                + u / lat.cos() * slope(at(lon + H, lat, t), at(lon - H, lat, t))
                + v * slope(at(lon, lat + H, t), at(lon, lat - H, t));
            assert!(change.abs() < 1e-6, "{change:e}");
        }
    }
}
