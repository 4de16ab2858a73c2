//! From a cube to a coarser one whose cells are blocks of its cells.

use decomposition::{Axis, Panel};

use super::FaceTable;
use crate::grid::CubedSphere;

/// Why a cube is not a coarser version of another.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CoarseningError {
    /// The numbers of cells do not divide.
    #[error("C{fine} cannot be coarsened to C{coarse}: {fine} is no multiple of {coarse}")]
    Ratio {
        /// Cells per panel edge of the finer cube.
        fine: usize,
        /// Cells per panel edge of the coarser cube.
        coarse: usize,
    },
    /// The cubes are not the same but for the number of cells.
    #[error("C{fine} cannot be coarsened to C{coarse}: they differ in {what}, {fine_value} and {coarse_value}")]
    Definition {
        /// Cells per panel edge of the finer cube.
        fine: usize,
        /// Cells per panel edge of the coarser cube.
        coarse: usize,
        /// In what they differ.
        what: &'static str,
        /// The value of the finer cube.
        fine_value: String,
        /// The value of the coarser cube.
        coarse_value: String,
    },
}

impl CoarseningError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Ratio { .. } => "take a divisor of the archive's number of cells",
            Self::Definition { .. } => "take the geometry of the archive",
        }
    }
}

/// Sums and means over blocks of R × R cells, and sums over the R faces that make up a coarser one.
#[derive(Clone, Debug)]
pub struct Coarsening {
    fine: FaceTable,
    coarse: FaceTable,
    ratio: usize,
    /// Areas of the cells of a fine panel, m².
    areas: Vec<f64>,
}

impl Coarsening {
    /// Coarsening from `fine` to `coarse`; the same cube is allowed.
    ///
    /// # Errors
    /// [`CoarseningError`] unless both have the same geometry, offset and radius and the cells divide evenly.
    pub fn new(fine: &CubedSphere, coarse: &CubedSphere) -> Result<Self, CoarseningError> {
        let differ = |what: &'static str, fine_value: String, coarse_value: String| {
            Err(CoarseningError::Definition { fine: fine.nc(), coarse: coarse.nc(), what, fine_value, coarse_value })
        };
        if fine.bundle() != coarse.bundle() {
            let name = |grid: &CubedSphere| grid.bundle().cs_definition().to_owned();
            return differ("definition", name(fine), name(coarse));
        }
        if fine.longitude_offset_deg() != coarse.longitude_offset_deg() {
            let offset = |grid: &CubedSphere| format!("{} deg", grid.longitude_offset_deg());
            return differ("longitude offset", offset(fine), offset(coarse));
        }
        if fine.radius_m() != coarse.radius_m() {
            return differ("radius", format!("{} m", fine.radius_m()), format!("{} m", coarse.radius_m()));
        }
        if !fine.nc().is_multiple_of(coarse.nc()) {
            return Err(CoarseningError::Ratio { fine: fine.nc(), coarse: coarse.nc() });
        }
        let nc = fine.nc();
        Ok(Self {
            fine: FaceTable::new(nc, fine.convention()),
            coarse: FaceTable::new(coarse.nc(), coarse.convention()),
            ratio: nc / coarse.nc(),
            areas: (0..nc * nc).map(|c| fine.area(c % nc, c / nc)).collect(),
        })
    }

    /// Fine cells along the side of a coarse one.
    pub fn ratio(&self) -> usize {
        self.ratio
    }

    /// Faces of the finer cube.
    pub fn fine(&self) -> &FaceTable {
        &self.fine
    }

    /// Faces of the coarser cube.
    pub fn coarse(&self) -> &FaceTable {
        &self.coarse
    }

    /// Fluxes through the faces of one level: the sum of those through the fine faces that make up a coarse one.
    pub fn fluxes(&self, fine: &[f64], coarse: &mut [f64]) {
        assert!(fine.len() == self.fine.faces() && coarse.len() == self.coarse.faces(), "faces of a level");
        let (nc, ratio) = (self.coarse.nc(), self.ratio);
        let mut sum = |from: super::faces::FaceLine, to: super::faces::FaceLine| {
            for n in 0..nc {
                let part = (n * ratio..(n + 1) * ratio).map(|m| fine[from.first + m * from.step]);
                coarse[to.first + n * to.step] = part.sum();
            }
        };
        for panel in Panel::ALL {
            for across in 1..nc {
                for axis in [Axis::X, Axis::Y] {
                    sum(self.fine.line(panel, axis, across * ratio), self.coarse.line(panel, axis, across));
                }
            }
        }
        (0..12).for_each(|seam| sum(self.fine.seam_line(seam), self.coarse.seam_line(seam)));
    }

    /// Sums over the cells of each block: amounts such as kg.
    pub fn sums(&self, fine: &[f64], coarse: &mut [f64]) {
        self.blocks(coarse, |block| block.map(|cell| fine[cell]).sum());
    }

    /// Means by area over the cells of each block: flux densities and surface fields.
    pub fn area_means(&self, fine: &[f64], coarse: &mut [f64]) {
        let panel = self.areas.len();
        self.blocks(coarse, |block| mean(block.map(|cell| (fine[cell], self.areas[cell % panel]))));
    }

    /// Means over the cells of each block by `weights` of the fine cells, such as air masses; plain means where these sum
    /// to zero.
    pub fn weighted_means(&self, fine: &[f64], weights: &[f64], coarse: &mut [f64]) {
        assert!(weights.len() == self.fine.cells(), "weights of a level");
        self.blocks(coarse, |block| {
            let total: f64 = block.clone().map(|cell| weights[cell]).sum();
            let weight = |cell: usize| if total == 0.0 { 1.0 } else { weights[cell] };
            mean(block.map(|cell| (fine[cell], weight(cell))))
        });
    }

    /// Sets every coarse cell from its fine cells.
    fn blocks(&self, coarse: &mut [f64], value: impl Fn(Block) -> f64) {
        assert!(coarse.len() == self.coarse.cells(), "cells of a level");
        let (nc, ratio) = (self.coarse.nc(), self.ratio);
        for (cell, coarse) in coarse.iter_mut().enumerate() {
            let (row, i) = (cell / nc, cell % nc);
            let first = (row * ratio * nc + i) * ratio;
            *coarse = value(Block { first, ratio, row: nc * ratio, n: 0 });
        }
    }
}

/// The fine cells of a block, row by row.
#[derive(Clone)]
struct Block {
    first: usize,
    ratio: usize,
    /// From one row to the next.
    row: usize,
    n: usize,
}

impl Iterator for Block {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let n = self.n;
        self.n += 1;
        (n < self.ratio * self.ratio).then(|| self.first + n / self.ratio * self.row + n % self.ratio)
    }
}

/// Mean of values with weights.
fn mean(values: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (sum, weights) = values.fold((0.0, 0.0), |(sum, weights), (value, w)| (sum + value * w, weights + w));
    sum / weights
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::uneven;
    use super::*;
    use crate::grid::GeometryBundle;

    fn cube(nc: usize, bundle: GeometryBundle) -> CubedSphere {
        CubedSphere::new(nc, bundle, bundle.default_offset_deg(), 6_371_229.0).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// What leaves a coarse cell is what leaves its fine cells together.
        #[test]
        fn divergence_is_that_of_the_blocks(nc in 1usize..6, ratio in 1usize..5, seed in any::<u64>(), geos in any::<bool>()) {
            let bundle = GeometryBundle::ALL[usize::from(geos)];
            let coarsening = Coarsening::new(&cube(nc * ratio, bundle), &cube(nc, bundle)).unwrap();
            prop_assert_eq!(coarsening.ratio(), ratio);
            let (fine, coarse) = (coarsening.fine(), coarsening.coarse());
            // Whole numbers, whose sums are exact.
            let flux: Vec<f64> = uneven(fine.faces(), seed).map(|v| (1e9 * v).round()).collect();
            let (mut fine_out, mut out) = (vec![0.0; fine.cells()], vec![0.0; coarse.cells()]);
            fine.divergence(&flux, &mut fine_out);
            let mut summed = vec![0.0; coarse.cells()];
            coarsening.sums(&fine_out, &mut summed);
            let mut coarse_flux = vec![0.0; coarse.faces()];
            coarsening.fluxes(&flux, &mut coarse_flux);
            coarse.divergence(&coarse_flux, &mut out);
            prop_assert_eq!(out, summed);
        }

        /// Means of a constant are that constant; by area they keep the integral, by mass the amount.
        #[test]
        fn means_keep_integrals(nc in 1usize..5, ratio in 1usize..5, seed in any::<u64>(), geos in any::<bool>()) {
            let bundle = GeometryBundle::ALL[usize::from(geos)];
            let (fine, coarse) = (cube(nc * ratio, bundle), cube(nc, bundle));
            let coarsening = Coarsening::new(&fine, &coarse).unwrap();
            let values: Vec<f64> = uneven(coarsening.fine().cells(), seed).map(|v| 2.0 + v).collect();
            let masses: Vec<f64> = uneven(coarsening.fine().cells(), seed ^ 7).map(|v| 2.0 + v).collect();
            let mut out = vec![0.0; coarsening.coarse().cells()];
            coarsening.area_means(&values, &mut out);
            let integral = |grid: &CubedSphere, values: &[f64]| {
                let n = grid.nc();
                values.iter().enumerate().map(|(c, v)| v * grid.area(c % n, c / n % n)).sum::<f64>()
            };
            // Fine corners lie on the sides of coarse cells, which are great circles: blocks fill their cells.
            prop_assert!((integral(&coarse, &out) / integral(&fine, &values) - 1.0).abs() < 1e-12);
            coarsening.weighted_means(&values, &masses, &mut out);
            let (mut sums, mut amounts) = (out.clone(), out.clone());
            coarsening.sums(&masses, &mut sums);
            let parts: Vec<f64> = values.iter().zip(&masses).map(|(v, m)| v * m).collect();
            coarsening.sums(&parts, &mut amounts);
            prop_assert!(out.iter().zip(sums.iter().zip(&amounts)).all(|(v, (m, a))| (v * m / a - 1.0).abs() < 1e-14));
            let constant = vec![3.5; values.len()];
            coarsening.weighted_means(&constant, &masses, &mut out);
            prop_assert!(out.iter().all(|v| (v - 3.5).abs() < 1e-14));
            coarsening.weighted_means(&values, &vec![0.0; masses.len()], &mut out);
            prop_assert!(out.iter().all(|v| (1.0..3.0).contains(v)));
            coarsening.area_means(&constant, &mut out);
            prop_assert!(out.iter().all(|v| (v - 3.5).abs() < 1e-14));
        }
    }

    /// Corners of coarse cells are corners of fine ones, so that blocks fill their cells.
    #[test]
    fn corners_are_shared() {
        for bundle in GeometryBundle::ALL {
            let (fine, coarse) = (cube(12, bundle), cube(4, bundle));
            for panel in Panel::ALL {
                for n in 0..25 {
                    let (i, j) = (n % 5, n / 5);
                    let (a, b) = (coarse.corner(panel, i, j), fine.corner(panel, 3 * i, 3 * j));
                    assert!((0..3).all(|c| (a[c] - b[c]).abs() < 1e-15));
                }
            }
        }
    }

    #[test]
    fn other_cubes_are_refused() {
        let fine = cube(12, GeometryBundle::GeosNative);
        let error = |coarse: CubedSphere| {
            let error = Coarsening::new(&fine, &coarse).unwrap_err();
            assert!(!error.help().is_empty());
            error.to_string()
        };
        assert_eq!(error(cube(5, GeometryBundle::GeosNative)), "C12 cannot be coarsened to C5: 12 is no multiple of 5");
        assert!(error(cube(24, GeometryBundle::GeosNative)).contains("no multiple"));
        assert!(
            error(cube(6, GeometryBundle::Gnomonic))
                .contains("definition, gmao_equal_distance and equiangular_gnomonic")
        );
        let turned = CubedSphere::new(6, GeometryBundle::GeosNative, 0.0, 6_371_229.0).unwrap();
        assert!(error(turned).contains("longitude offset, -10 deg and 0 deg"));
        let larger = CubedSphere::new(6, GeometryBundle::GeosNative, -10.0, 6_371_230.0).unwrap();
        assert!(error(larger).contains("radius, 6371229 m and 6371230 m"));
    }
}
