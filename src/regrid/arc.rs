//! Great circles in longitude and latitude.
//!
//! A great circle is fixed by its northernmost point. With δ the longitude from there, θ the colatitude of a point and τ
//! that of the northernmost point, Napier's rules give cos δ = tan τ / tan θ. Latitudes are kept as the distances from
//! both poles, so that nothing is lost next to either.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Point of an outline: longitude from some meridian in radian, continued without jumps, and the distances from
/// the north and the south pole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub lon: f64,
    pub north: f64,
    pub south: f64,
}

/// The pole from which colatitudes are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Pole {
    #[default]
    North,
    South,
}

impl Point {
    /// Distance from a pole.
    pub fn colatitude(&self, pole: Pole) -> f64 {
        match pole {
            Pole::North => self.north,
            Pole::South => self.south,
        }
    }

    /// Whether `self` lies further north than `other`.
    pub fn is_north_of(&self, other: &Point) -> bool {
        self.north < other.north || (self.north == other.north && self.south > other.south)
    }
}

/// `angle` to within half a turn of zero.
pub(super) fn wrapped(angle: f64) -> f64 {
    angle - TAU * (angle / TAU).round()
}

/// A great circle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circle {
    /// Longitudes of the northernmost and the southernmost point. Half a turn apart, but neither is derived from the
    /// other: a sum with π would cost the last digits.
    apex: [f64; 2],
    /// Distance of these points from their poles, 0..=π/2, with sine and cosine.
    tilt: f64,
    sin: f64,
    cos: f64,
}

impl Circle {
    /// Great circle through `a` and `b`, in longitudes from the x axis.
    pub fn through(a: [f64; 3], b: [f64; 3]) -> Self {
        // (a − b) × (a + b) = 2 a × b without cancellation for neighbouring points.
        let d: [f64; 3] = std::array::from_fn(|c| a[c] - b[c]);
        let s: [f64; 3] = std::array::from_fn(|c| a[c] + b[c]);
        let n = [d[1] * s[2] - d[2] * s[1], d[2] * s[0] - d[0] * s[2], d[0] * s[1] - d[1] * s[0]];
        let up = if n[2] < 0.0 { -1.0 } else { 1.0 };
        let tilt = n[2].abs().atan2(n[0].hypot(n[1]));
        let (sin, cos) = tilt.sin_cos();
        let apex = [-up, up].map(|sign| (sign * n[1]).atan2(sign * n[0]));
        Self { apex, tilt, sin, cos }
    }

    /// The northernmost and the southernmost point.
    pub fn extremes(&self) -> [Point; 2] {
        let (near, far) = (self.tilt, PI - self.tilt);
        let [north, south] = self.apex;
        [Point { lon: north, north: near, south: far }, Point { lon: south, north: far, south: near }]
    }

    /// Point at a longitude.
    pub fn at(&self, lon: f64) -> Point {
        let [north, south] = self.apex;
        let towards = if north.abs() <= south.abs() { (lon - north).cos() } else { -(lon - south).cos() };
        let towards = self.cos * towards;
        Point { lon, north: self.sin.atan2(towards), south: self.sin.atan2(-towards) }
    }

    /// Longitude near `about` at which the circle meets the parallel at `colatitude` (at most π/2) from `pole`; `about`
    /// lies between the two extremes on the side of the meeting point.
    pub fn meets(&self, pole: Pole, colatitude: f64, about: f64) -> f64 {
        let extreme = match pole {
            Pole::North => self.apex[0],
            Pole::South => self.apex[1],
        };
        // tan²(δ/2) = (1 − cos δ)/(1 + cos δ) = sin(θ − τ)/sin(θ + τ).
        let sum = (colatitude + self.tilt).sin();
        let half = if sum > 0.0 { ((colatitude - self.tilt).sin().max(0.0) / sum).sqrt().atan() } else { 0.25 * PI };
        let from_extreme = wrapped(about - extreme);
        let nearest = extreme + TAU * ((about - extreme) / TAU).round();
        nearest + (2.0 * half).copysign(from_extreme)
    }
}

/// cos a − cos b without cancellation.
pub(super) fn cosine_difference(a: f64, b: f64) -> f64 {
    2.0 * (0.5 * (a + b)).sin() * (0.5 * (b - a)).sin()
}

/// ∫ (cos θ − cos `level`) dλ along the great circle from colatitude `from` to colatitude `to` over the longitudes
/// `width` (signed, at most π/2 in size).
///
/// ∫ cos θ dλ = 2 atan(S tan(width/2)) with S = cos((from + to)/2) / cos((from − to)/2) is the area down to the equator;
/// it is taken apart into (S − cos level) · width and a remainder of third order, so that small areas keep their
/// accuracy.
pub(super) fn area_under_arc(from: f64, to: f64, level: f64, width: f64) -> f64 {
    let (middle, spread) = (0.5 * (from + to), 0.5 * (from - to));
    let cos_spread = spread.cos();
    let bulge = 2.0 * (0.5 * spread).sin().powi(2) / cos_spread;
    // S − cos(level).
    let height = cosine_difference(middle, level) + middle.cos() * bulge;
    // 1 − S.
    let depth = 2.0 * (0.5 * from).sin() * (0.5 * to).sin() / cos_spread;
    height * width + third_order(width, depth)
}

/// 2 atan(S tan(width/2)) − S·width, with S = 1 − `depth`.
fn third_order(width: f64, depth: f64) -> f64 {
    let t = (0.5 * width).tan();
    let s = 1.0 - depth;
    if t.abs() > 0.1 {
        // The area up to the pole is 2 atan(t (1 − S)/(1 + t² S)).
        return depth * width - 2.0 * (t * depth).atan2(1.0 + t * t * s);
    }
    // Difference of the two series in t.
    let (tt, ss) = (t * t, s * s);
    let (mut sum, mut power, mut geometric) = (0.0, tt, 1.0);
    let mut k = 3.0;
    while power.abs() > 1e-17 {
        sum += power * geometric / k;
        power *= -tt;
        geometric = 1.0 + ss * geometric;
        k += 2.0;
    }
    2.0 * t * s * depth * (2.0 - depth) * sum
}

/// Distances of a parallel from both poles, radian.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parallel {
    /// The nearer pole.
    pub pole: Pole,
    pub north: f64,
    pub south: f64,
}

impl Parallel {
    /// Parallel at a latitude in degrees.
    pub fn new(lat_deg: f64) -> Self {
        let pole = if lat_deg < 0.0 { Pole::South } else { Pole::North };
        Self { pole, north: (90.0 - lat_deg).to_radians(), south: (90.0 + lat_deg).to_radians() }
    }

    /// Distance from a pole.
    pub fn colatitude(&self, pole: Pole) -> f64 {
        match pole {
            Pole::North => self.north,
            Pole::South => self.south,
        }
    }

    /// Whether it lies south of a point.
    pub fn is_south_of(&self, point: &Point) -> bool {
        match self.pole {
            Pole::North => point.north < self.north,
            Pole::South => point.south > self.south,
        }
    }

    /// Whether it lies north of a point.
    pub fn is_north_of(&self, point: &Point) -> bool {
        match self.pole {
            Pole::North => point.north > self.north,
            Pole::South => point.south < self.south,
        }
    }

    /// Longitude near `about` where a circle meets it.
    pub fn meets(&self, circle: &Circle, about: f64) -> f64 {
        circle.meets(self.pole, self.colatitude(self.pole).min(FRAC_PI_2), about)
    }
}

#[cfg(test)]
#[path = "arc_tests.rs"]
mod tests;
