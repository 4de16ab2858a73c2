//! Winds from longitudes and latitudes to the cube (spec 40 §1.6).

use std::sync::Arc;

use rayon::prelude::*;

use super::Target;
use super::line_integral::axes;
use crate::grid::vector::{add, east_north, from_lonlat, scale};
use crate::regrid::{LatLonAxes, Mesh, Overlap, ReducedMesh, RegridError};
use crate::spectral::Ring;

/// How winds get to the cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindRegrid {
    /// As vectors in space.
    Cartesian,
    /// Both components as they are; wrong near the poles.
    Scalar,
}

/// Conservative regridding from one grid of parallels (longitudes and latitudes, or rings) to the cube, for fields and for
/// winds. Points of a level follow each other row by row from the south, each row eastwards.
#[derive(Clone, Debug)]
pub struct LatLonToCube {
    weights: Arc<Overlap>,
    /// East and north at the centres of the source.
    source: Vec<[[f64; 3]; 2]>,
    /// East and north at the centres of the cube.
    cube: Vec<[[f64; 3]; 2]>,
}

impl LatLonToCube {
    /// Weights and local axes.
    ///
    /// # Errors
    /// [`RegridError`] if the weights cannot be made or kept.
    pub fn new(target: &Target, axes: &LatLonAxes) -> Result<Self, RegridError> {
        let weights = target.weights_from(&Mesh::LatLon(axes.mesh().clone()))?;
        let centres = axes.lat_centres().iter().flat_map(|lat| axes.lon_centres().iter().map(|lon| (*lon, *lat)));
        // The wind at a pole is given along the meridian of each point, so the axes come from the angles.
        let source = centres
            .map(|(lon, lat)| {
                let (east, _) = east_north(from_lonlat(lon, 0.0));
                let away = from_lonlat(lon, 0.0);
                let (sin, cos) = lat.to_radians().sin_cos();
                [east, add(scale(away, -sin), [0.0, 0.0, cos])]
            })
            .collect();
        Ok(Self::with(target, weights, source))
    }

    /// As [`new`](Self::new) for the cells of `mesh`, whose centres are the points of `rings`, both from south to north.
    ///
    /// # Errors
    /// [`RegridError`] if the weights cannot be made or kept.
    pub fn of_rings(target: &Target, mesh: &ReducedMesh, rings: &[Ring]) -> Result<Self, RegridError> {
        let weights = target.weights_from(&Mesh::Reduced(mesh.clone()))?;
        Ok(Self::with(target, weights, axes(rings)))
    }

    fn with(target: &Target, weights: Arc<Overlap>, source: Vec<[[f64; 3]; 2]>) -> Self {
        let (grid, nc) = (target.grid(), target.grid().nc());
        let panels = decomposition::Panel::ALL.into_iter();
        let cells = panels.flat_map(|panel| (0..nc * nc).map(move |c| (panel, c % nc, c / nc)));
        let cube = cells
            .map(|(panel, i, j)| {
                let (east, north) = east_north(grid.center(panel, i, j));
                [east, north]
            })
            .collect();
        Self { weights, source, cube }
    }

    /// Levels of an intensive field, `[level][lat][lon]` to `[level][cell]`. NaN where the source does not cover the cube.
    pub fn field(&self, values: &[f64]) -> Vec<f64> {
        let (from, to) = (self.source.len(), self.cube.len());
        let mut out = vec![0.0; values.len() / from * to];
        out.par_chunks_mut(to).zip(values.par_chunks(from)).for_each(|(out, values)| {
            self.weights.intensive(values, out);
        });
        out
    }

    /// Levels of a wind (`[level][lat][lon]`, towards east and north, m s⁻¹) as components along x, y, z in space,
    /// `[level][cell]` each, without a part along the vertical.
    pub fn wind(&self, u: &[f64], v: &[f64], mode: WindRegrid) -> [Vec<f64>; 3] {
        match mode {
            WindRegrid::Cartesian => {
                let from = self.source.len();
                let mut components: [Vec<f64>; 3] = std::array::from_fn(|c| {
                    let mut component = vec![0.0; u.len()];
                    component.par_chunks_mut(from).enumerate().for_each(|(k, level)| {
                        for (n, (out, [east, north])) in level.iter_mut().zip(&self.source).enumerate() {
                            *out = u[k * from + n] * east[c] + v[k * from + n] * north[c];
                        }
                    });
                    self.field(&component)
                });
                self.flatten(&mut components);
                components
            }
            WindRegrid::Scalar => {
                let (u, v) = (self.field(u), self.field(v));
                let to = self.cube.len();
                std::array::from_fn(|c| {
                    let along = |n: usize| {
                        let [east, north] = self.cube[n % to];
                        u[n] * east[c] + v[n] * north[c]
                    };
                    (0..u.len()).into_par_iter().map(along).collect()
                })
            }
        }
    }

    /// Removes the vertical part of vectors at the centres of the cube.
    fn flatten(&self, components: &mut [Vec<f64>; 3]) {
        let to = self.cube.len();
        let [x, y, z] = components;
        let levels = x.par_chunks_mut(to).zip(y.par_chunks_mut(to)).zip(z.par_chunks_mut(to));
        levels.for_each(|((x, y), z)| {
            for (n, [east, north]) in self.cube.iter().enumerate() {
                let along = |axis: &[f64; 3]| x[n] * axis[0] + y[n] * axis[1] + z[n] * axis[2];
                let flat = add(scale(*east, along(east)), scale(*north, along(north)));
                [x[n], y[n], z[n]] = flat;
            }
        });
    }

    /// Components towards east and north of a wind on the cube, `[level][cell]` each.
    pub fn east_north(&self, [x, y, z]: &[Vec<f64>; 3]) -> [Vec<f64>; 2] {
        let to = self.cube.len();
        [0, 1].map(|axis| {
            let along = |n: usize| {
                let a = self.cube[n % to][axis];
                x[n] * a[0] + y[n] * a[1] + z[n] * a[2]
            };
            (0..x.len()).into_par_iter().map(along).collect()
        })
    }
}
