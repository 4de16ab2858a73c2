//! The cubed sphere that meteorology is prepared for.

use std::sync::{Arc, OnceLock};

use super::faces::FaceTable;
use super::poisson::Poisson;
use crate::grid::CubedSphere;
use crate::regrid::{Mesh, Overlap, RegridError, WeightCache};

/// Grid of the transport files with what all windows share: faces, areas, the factored balance and regridding weights.
#[derive(Debug)]
pub struct Target {
    grid: CubedSphere,
    faces: FaceTable,
    areas: Vec<f64>,
    poisson: OnceLock<Poisson>,
    weights: WeightCache,
}

impl Target {
    /// Prepares `grid`; regridding weights are kept in `weights`.
    pub fn new(grid: CubedSphere, weights: WeightCache) -> Self {
        let nc = grid.nc();
        let areas = (0..nc * nc).map(|c| grid.area(c % nc, c / nc)).collect::<Vec<_>>().repeat(6);
        let faces = FaceTable::new(nc, grid.convention());
        Self { grid, faces, areas, poisson: OnceLock::new(), weights }
    }

    /// The grid.
    pub fn grid(&self) -> &CubedSphere {
        &self.grid
    }

    /// Its unique faces.
    pub fn faces(&self) -> &FaceTable {
        &self.faces
    }

    /// Cells: 6·Nc².
    pub fn cells(&self) -> usize {
        self.areas.len()
    }

    /// Areas of the cells in m², `[panel][j][i]`.
    pub fn areas(&self) -> &[f64] {
        &self.areas
    }

    /// The factored Laplacian of the faces; made at the first call.
    pub fn poisson(&self) -> &Poisson {
        self.poisson.get_or_init(|| Poisson::new(&self.faces))
    }

    /// Weights from `source` to the grid.
    ///
    /// # Errors
    /// [`RegridError`] if the weights cannot be made or kept.
    pub fn weights_from(&self, source: &Mesh) -> Result<Arc<Overlap>, RegridError> {
        self.weights.get(source, &Mesh::Cube(self.grid.clone()))
    }

    /// A cell in words, from its index in `[panel][j][i]`.
    pub fn cell_words(&self, cell: usize) -> String {
        let nc = self.grid.nc();
        let (panel, rest) = (cell / (nc * nc), cell % (nc * nc));
        format!("panel {} ({}, {})", panel + 1, rest % nc + 1, rest / nc + 1)
    }
}
