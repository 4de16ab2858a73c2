//! Rates of a source in the cells of a rank.

use std::sync::Arc;

use kernels::Scalar;

use super::{SourceError, SourceTimes};
use crate::grid::CubedSphere;
use crate::grid::constants::MOLAR_MASS_AIR;
use crate::state::{Slabs, TileSet};

/// How a flux density of a file becomes one of carrier air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conversion {
    scale: f64,
    molar_mass: f64,
}

impl Conversion {
    /// `scale` times a flux density of a species of `molar_mass` kg mol⁻¹.
    ///
    /// # Errors
    /// [`SourceError::NotPositive`] for the molar mass, or for a scale that is not finite.
    pub fn new(scale: f64, molar_mass: f64) -> Result<Self, SourceError> {
        for (what, value, fits) in [
            ("molar_mass_kg_mol", molar_mass, molar_mass.is_finite() && molar_mass > 0.0),
            ("surface_flux.scale", scale, scale.is_finite()),
        ] {
            if !fits {
                return Err(SourceError::NotPositive { what, value });
            }
        }
        Ok(Self { scale, molar_mass })
    }

    /// Molar mass of the species, kg mol⁻¹.
    pub fn molar_mass(&self) -> f64 {
        self.molar_mass
    }

    /// The scale.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// kg of carrier air per kg of the species, with the scale.
    fn factor(&self) -> f64 {
        self.scale * (MOLAR_MASS_AIR / self.molar_mass)
    }
}

/// Rates of one source, one level of the storage per time slice, one plane; kg of carrier air per second and cell.
#[derive(Clone, Debug)]
pub struct Source<R> {
    times: SourceTimes,
    rates: Slabs<R>,
}

impl<R: Scalar> Source<R> {
    /// Source from flux densities, kg of species m⁻² s⁻¹: `density(slice, tile, i, j)` with the tile's position in the
    /// set and interior indices from 0. Each rate is computed in f64 and rounded once.
    pub fn from_densities(
        set: Arc<TileSet>,
        grid: &CubedSphere,
        times: SourceTimes,
        conversion: &Conversion,
        density: impl Fn(usize, usize, usize, usize) -> f64,
    ) -> Self {
        let mut rates = Slabs::zeros(set.clone(), times.times().len(), 1);
        for slice in 0..times.times().len() {
            for (n, (tile, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
                let plane = rates.plane_mut(slice, n, 0);
                for (j, i) in (0..shape.nj).flat_map(|j| (0..shape.ni).map(move |i| (j, i))) {
                    let amount = density(slice, n, i, j) * grid.area(tile.i0 + i, tile.j0 + j);
                    plane[shape.row_start(j) + i] = R::from_f64(amount * conversion.factor());
                }
            }
        }
        Self { times, rates }
    }

    /// Source from amounts in kg of the species s⁻¹: `amounts(slice, cells)` sets every cell of the sphere, panel by
    /// panel, row by row. Each rate is computed in f64 and rounded once.
    ///
    /// # Errors
    /// Those of `amounts`.
    pub(super) fn from_amounts<E>(
        set: Arc<TileSet>,
        grid: &CubedSphere,
        times: SourceTimes,
        conversion: &Conversion,
        mut amounts: impl FnMut(usize, &mut [f64]) -> Result<(), E>,
    ) -> Result<Self, E> {
        let nc = grid.nc();
        let mut rates = Slabs::zeros(set.clone(), times.times().len(), 1);
        let mut cells = vec![0.0; 6 * nc * nc];
        for slice in 0..times.times().len() {
            amounts(slice, &mut cells)?;
            cells.iter_mut().for_each(|amount| *amount *= conversion.factor());
            let rounded: Vec<R> = rounded_with_sum(&cells);
            for (n, (tile, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
                let plane = rates.plane_mut(slice, n, 0);
                for (j, i) in (0..shape.nj).flat_map(|j| (0..shape.ni).map(move |i| (j, i))) {
                    let cell = (tile.panel.index() * nc + tile.j0 + j) * nc + tile.i0 + i;
                    plane[shape.row_start(j) + i] = rounded[cell];
                }
            }
        }
        Ok(Self { times, rates })
    }

    /// Source of the same density (kg of species m⁻² s⁻¹) everywhere and always.
    pub fn uniform(set: Arc<TileSet>, grid: &CubedSphere, density: f64, conversion: &Conversion) -> Self {
        Self::from_densities(set, grid, SourceTimes::constant(), conversion, |_, _, _, _| density)
    }

    /// Times of the slices.
    pub fn times(&self) -> &SourceTimes {
        &self.times
    }

    /// The rates: level = slice, plane 0; halos are zero.
    pub fn rates(&self) -> &Slabs<R> {
        &self.rates
    }
}

/// Part of the sum of magnitudes at which a sum of rounded values is good enough.
const SUM_TOLERANCE: f64 = 1e-12;

/// Rounds every value, and so many of them to the other neighbour as the sum needs to stay what it is: first those that
/// lie nearest to the middle of both. No value moves by a whole spacing.
fn rounded_with_sum<R: Scalar>(exact: &[f64]) -> Vec<R> {
    let mut rounded: Vec<R> = exact.iter().map(|x| R::from_f64(*x)).collect();
    let off = |n: usize, to: R| exact[n] - to.to_f64();
    let mut missing: f64 = (0..exact.len()).map(|n| off(n, rounded[n])).sum();
    let tolerance = SUM_TOLERANCE * exact.iter().map(|x| x.abs()).sum::<f64>();
    // How many times farther off the other neighbour is: for the most part those near the middle suffice.
    for limits in [1.0..2.0, 2.0..f64::INFINITY] {
        if missing.abs() <= tolerance {
            break;
        }
        let candidate = |n: usize| {
            let (value, near) = (rounded[n].to_f64(), off(n, rounded[n]));
            // 0.7 to 1.4 spacings away, which rounds to one.
            let to = R::from_f64(value + (0.7 * R::EPSILON.to_f64() * value.abs()).copysign(near));
            let times = off(n, to).abs() / near.abs();
            (near * missing > 0.0 && limits.contains(&times)).then_some((n, to, times))
        };
        let mut candidates: Vec<(usize, R, f64)> = (0..exact.len()).filter_map(candidate).collect();
        candidates.sort_by(|a, b| a.2.total_cmp(&b.2).then(a.0.cmp(&b.0)));
        for (n, to, _) in candidates {
            let gain = to.to_f64() - rounded[n].to_f64();
            if (missing - gain).abs() < missing.abs() {
                rounded[n] = to;
                missing -= gain;
            }
            if missing.abs() <= tolerance {
                break;
            }
        }
    }
    rounded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_survive_rounding_and_no_value_moves_far() {
        // A few large values among many small ones, of both signs.
        let value = |n: usize| ((n * 37 % 101) as f64 / 7.0).exp() * if n.is_multiple_of(5) { -0.3 } else { 1.0 };
        for count in [1, 40, 3456] {
            let exact: Vec<f64> = (0..count).map(value).collect();
            let (sum, size) = (exact.iter().sum::<f64>(), exact.iter().map(|x| x.abs()).sum::<f64>());
            let rounded: Vec<f32> = rounded_with_sum(&exact);
            let off = rounded.iter().map(|x| f64::from(*x)).sum::<f64>() - sum;
            for (x, r) in exact.iter().zip(&rounded) {
                let spacing = f64::from(r.abs().next_up() - r.abs());
                assert!((f64::from(*r) - x).abs() < spacing, "{x} became {r}");
            }
            if count > 1000 {
                assert!(off.abs() <= 1e-10 * size, "{count}: {:e}", off / size);
            }
            assert_eq!(rounded_with_sum::<f64>(&exact), exact);
        }
        assert_eq!(rounded_with_sum::<f32>(&[0.0, 0.0]), [0.0, 0.0]);
    }
}
