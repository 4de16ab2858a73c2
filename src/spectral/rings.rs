//! Rings of points along parallels.

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
