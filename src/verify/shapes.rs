//! Initial mixing ratios of the suites, and how they are laid onto cells.

use super::flows::centres;
use crate::grid::vector::{angle, dot, from_lonlat, subtract};
use crate::grid::{CubedSphere, GridError};

use super::bed::Cell;

/// How a function becomes values of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Area-weighted means of four by four parts of each cell.
    Means,
    /// Values at the centres of cells.
    Centres,
}

impl Sampling {
    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Sampling::Means => "cell means",
            Sampling::Centres => "cell centres",
        }
    }
}

/// Parts of a cell along each axis for its mean.
const PARTS: usize = 4;

/// Values of a function on cells.
pub(super) struct Sampler {
    grid: CubedSphere,
    sampling: Sampling,
}

impl Sampler {
    /// For the cells of a grid.
    ///
    /// # Errors
    /// Means need [`PARTS`] times as many cells as a grid may have.
    pub(super) fn new(grid: &CubedSphere, sampling: Sampling) -> Result<Self, GridError> {
        let nc = match sampling {
            Sampling::Means => PARTS * grid.nc(),
            Sampling::Centres => grid.nc(),
        };
        let grid = CubedSphere::new(nc, grid.bundle(), grid.longitude_offset_deg(), 1.0)?;
        Ok(Self { grid, sampling })
    }

    /// Values on some cells.
    pub(super) fn sample(&self, cells: &[Cell], f: impl Fn([f64; 3]) -> f64) -> Vec<f64> {
        cells.iter().map(|cell| self.value(cell, &f)).collect()
    }

    fn value(&self, cell: &Cell, f: &impl Fn([f64; 3]) -> f64) -> f64 {
        if self.sampling == Sampling::Centres {
            return f(self.grid.center(cell.panel, cell.i, cell.j));
        }
        let (mut sum, mut area) = (0.0, 0.0);
        for j in PARTS * cell.j..PARTS * (cell.j + 1) {
            for i in PARTS * cell.i..PARTS * (cell.i + 1) {
                let part = self.grid.solid_angle(i, j);
                sum += part * f(self.grid.center(cell.panel, i, j));
                area += part;
            }
        }
        sum / area
    }
}

/// Two Gaussian hills of height 0.95.
pub(super) fn gaussian_hills(p: [f64; 3]) -> f64 {
    let hill = |centre| 0.95 * (-5.0 * squared_distance(p, centre)).exp();
    centres().map(hill).iter().sum()
}

/// Two cosine bells of radius 1/2 between 0.1 and 1.
pub(super) fn cosine_bells(p: [f64; 3]) -> f64 {
    0.1 + 0.9 * centres().map(|centre| bell(p, centre, 0.5)).iter().sum::<f64>()
}

/// What a cosine bell is on the curve of correlated tracers.
pub(super) fn correlated(bells: f64) -> f64 {
    0.9 - 0.8 * bells * bells
}

/// Correlated cosine bells.
pub(super) fn correlated_bells(p: [f64; 3]) -> f64 {
    correlated(cosine_bells(p))
}

/// Two cylinders of radius 1/2 with a slot, 1 inside and 0.1 outside.
pub(super) fn slotted_cylinders(p: [f64; 3]) -> f64 {
    let latitude = p[2].clamp(-1.0, 1.0).asin();
    let [first, second] = centres();
    let inside = |centre: [f64; 3], beyond_slot: bool| {
        let along = (p[1] * centre[0] - p[0] * centre[1]).atan2(p[0] * centre[0] + p[1] * centre[1]);
        angle(p, centre) <= 0.5 && (along.abs() >= 1.0 / 12.0 || beyond_slot)
    };
    if inside(first, latitude < -5.0 / 24.0) || inside(second, latitude > 5.0 / 24.0) { 1.0 } else { 0.1 }
}

/// Where the tracers of the solid-body rotation begin.
fn rotating_centre() -> [f64; 3] {
    from_lonlat(270.0, 0.0)
}

/// A cosine bell of height 1 and radius 1/3 (Williamson et al. 1992, case 1).
pub(super) fn williamson_bell(p: [f64; 3]) -> f64 {
    bell(p, rotating_centre(), 1.0 / 3.0)
}

/// A Gaussian of height 1.
pub(super) fn gaussian(p: [f64; 3]) -> f64 {
    (-5.0 * squared_distance(p, rotating_centre())).exp()
}

/// A cylinder of radius 1/2 without a slot, 1 inside and 0.1 outside.
pub(super) fn cylinder(p: [f64; 3]) -> f64 {
    if angle(p, rotating_centre()) < 0.5 { 1.0 } else { 0.1 }
}

fn squared_distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    let d = subtract(a, b);
    dot(d, d)
}

/// A cosine bell of height 1.
fn bell(p: [f64; 3], centre: [f64; 3], radius: f64) -> f64 {
    let r = angle(p, centre) / radius;
    if r < 1.0 { 0.5 * (1.0 + (std::f64::consts::PI * r).cos()) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_their_published_values() {
        let at = from_lonlat;
        assert!((gaussian_hills(at(150.0, 0.0)) - 0.95 * (1.0 + (-5.0f64).exp())).abs() < 1e-15);
        assert_eq!(cosine_bells(at(150.0, 0.0)), 1.0);
        assert_eq!(cosine_bells(at(30.0, 40.0)), 0.1);
        assert!((correlated_bells(at(210.0, 0.0)) - 0.1).abs() < 1e-15);
        // The slots run through the centres, half of each: south of the first, north of the second is closed.
        assert_eq!([0.0, 10.0, 20.0].map(|lat| slotted_cylinders(at(150.0, lat))), [0.1; 3]);
        assert_eq!(slotted_cylinders(at(150.0, -20.0)), 1.0);
        assert_eq!([0.0, -20.0, 20.0].map(|lat| slotted_cylinders(at(210.0, lat))), [0.1, 0.1, 1.0]);
        assert_eq!(slotted_cylinders(at(156.0, 0.0)), 1.0);
        assert_eq!([williamson_bell(at(270.0, 0.0)), gaussian(at(270.0, 0.0)), cylinder(at(270.0, 0.0))], [1.0; 3]);
    }
}
