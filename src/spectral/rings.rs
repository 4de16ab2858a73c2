//! Rings of points along parallels, and the latitudes of Gaussian grids.

use std::collections::BTreeMap;

use super::SpectralError;
use super::legendre::Parallel;

/// Evenly spaced points along a parallel, eastward.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ring {
    /// Latitude in degrees, −90 to 90.
    pub latitude: f64,
    /// Number of points, at least 1; even or odd.
    pub points: usize,
    /// Longitude of the first point, degrees.
    pub first_longitude: f64,
}

/// Latitudes in degrees, north to south, of the Gaussian grid with `pairs` latitudes between a pole and the equator:
/// the zeros of the Legendre polynomial of degree 2·`pairs`. Symmetric to the last bit.
pub fn gaussian_latitudes(pairs: usize) -> Vec<f64> {
    let degree = 2 * pairs;
    let colatitude = |k: usize| {
        // McMahon's approximation, then Newton's iteration in colatitude.
        let first = std::f64::consts::PI * (4 * k + 3) as f64 / (4 * degree + 2) as f64;
        let mut theta = first + 1.0 / (first.tan() * (8 * degree * degree) as f64);
        for _ in 0..10 {
            let (value, slope) = legendre_polynomial(degree, theta);
            let step = value / slope;
            theta -= step;
            if step.abs() < 1e-15 {
                break;
            }
        }
        theta
    };
    let north: Vec<f64> = (0..pairs).map(|k| 90.0 - colatitude(k).to_degrees()).collect();
    north.iter().copied().chain(north.iter().rev().map(|lat| -lat)).collect()
}

/// Legendre polynomial of `degree` ≥ 1 at cos θ, and its derivative in θ.
fn legendre_polynomial(degree: usize, theta: f64) -> (f64, f64) {
    let (sine, cosine) = theta.sin_cos();
    let (mut before, mut here) = (1.0, cosine);
    for n in 2..=degree {
        let n = n as f64;
        (before, here) = (here, ((2.0 * n - 1.0) * cosine * here - (n - 1.0) * before) / n);
    }
    (here, degree as f64 * (cosine * here - before) / sine)
}

/// Rings at the same distance from the equator.
#[derive(Clone, Debug)]
pub(super) struct Latitude {
    /// The northern parallel.
    pub(super) parallel: Parallel,
    /// Rings and the hemispheres they are in.
    pub(super) rings: Vec<(usize, Hemisphere)>,
    /// Highest zonal wave that the ring with most points resolves.
    pub(super) waves: usize,
}

/// Side of the equator, which counts as north.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hemisphere {
    North,
    South,
}

/// Refuses rings that are none.
pub(super) fn check(rings: &[Ring]) -> Result<(), SpectralError> {
    for (n, ring) in rings.iter().enumerate() {
        let refuse = |problem| Err(SpectralError::Ring { ring: n + 1, problem });
        if !(-90.0..=90.0).contains(&ring.latitude) {
            return refuse(format!("latitude {} degrees", ring.latitude));
        }
        if ring.points == 0 {
            return refuse("no points".into());
        }
        if !ring.first_longitude.is_finite() {
            return refuse(format!("its first point lies at {} degrees", ring.first_longitude));
        }
    }
    Ok(())
}

/// Rings grouped by the size of their latitude, from the equator to the poles.
pub(super) fn latitudes(rings: &[Ring]) -> Vec<Latitude> {
    let mut groups = BTreeMap::new();
    for (n, ring) in rings.iter().enumerate() {
        let size = ring.latitude.abs();
        let group = groups.entry(size.to_bits()).or_insert_with(|| Latitude {
            parallel: Parallel::at(size),
            rings: Vec::new(),
            waves: 0,
        });
        let side = if ring.latitude < 0.0 { Hemisphere::South } else { Hemisphere::North };
        group.rings.push((n, side));
        group.waves = group.waves.max(ring.points / 2);
    }
    groups.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaussian_latitudes_of_small_grids_are_known_zeros() {
        // Zeros of P2 and P4: 1/√3; √(3/7 ± 2/7 √(6/5)).
        let sines = |pairs| gaussian_latitudes(pairs).iter().map(|l: &f64| l.to_radians().sin()).collect::<Vec<_>>();
        assert!((sines(1)[0] - (1.0f64 / 3.0).sqrt()).abs() < 1e-15);
        let root = 2.0 / 7.0 * 1.2f64.sqrt();
        for (found, expected) in sines(2).iter().zip([(3.0 / 7.0 + root).sqrt(), (3.0 / 7.0 - root).sqrt()]) {
            assert!((found - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn gaussian_latitudes_of_n320_are_those_published() {
        // First, second and last northern latitude as ecCodes 2.28 gives them.
        let found = gaussian_latitudes(320);
        assert_eq!(found.len(), 640);
        for (found, table) in [(found[0], 89.784876907219), (found[1], 89.506202738206), (found[319], 0.140515179668)] {
            assert!((found - table).abs() < 1e-12, "{found} {table}");
        }
        assert!(found.windows(2).all(|w| w[1] < w[0]));
        assert!((0..640).all(|n| found[n] == -found[639 - n]));
        for latitude in &found[..320] {
            let (value, slope) = legendre_polynomial(640, (90.0 - latitude).to_radians());
            assert!((value / slope).abs() < 1e-14);
        }
    }

    #[test]
    fn mirrored_rings_share_their_functions() {
        let ring = |latitude, points| Ring { latitude, points, first_longitude: 0.0 };
        let groups = latitudes(&[ring(60.0, 9), ring(-0.0, 4), ring(-60.0, 20), ring(30.0, 2)]);
        let rings: Vec<Vec<usize>> = groups.iter().map(|g| g.rings.iter().map(|r| r.0).collect()).collect();
        assert_eq!(rings, [vec![1], vec![3], vec![0, 2]]);
        assert_eq!(groups[2].rings[1].1, Hemisphere::South);
        assert_eq!((groups[0].waves, groups[2].waves), (2, 10));
    }

    #[test]
    fn rings_that_are_none_are_refused() {
        let ring = Ring { latitude: 10.0, points: 4, first_longitude: 0.0 };
        for bad in [
            Ring { latitude: 90.1, ..ring },
            Ring { latitude: f64::NAN, ..ring },
            Ring { points: 0, ..ring },
            Ring { first_longitude: f64::INFINITY, ..ring },
        ] {
            assert!(matches!(check(&[ring, bad]), Err(SpectralError::Ring { ring: 2, .. })));
        }
    }
}
