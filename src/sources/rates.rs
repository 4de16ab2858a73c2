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
            for (n, (tile, shape)) in set.tiles().iter().zip(set.shapes()).enumerate() {
                let plane = rates.plane_mut(slice, n, 0);
                for (j, i) in (0..shape.nj).flat_map(|j| (0..shape.ni).map(move |i| (j, i))) {
                    let cell = (tile.panel.index() * nc + tile.j0 + j) * nc + tile.i0 + i;
                    plane[shape.row_start(j) + i] = R::from_f64(cells[cell] * conversion.factor());
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
