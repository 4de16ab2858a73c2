//! Weights of conservative regridding that several fields share.

use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::grid::CubedSphere;
use crate::regrid::{Fingerprint, LatLonMesh, Mesh, Overlap, RegridError, WeightCache};

/// Weights from longitude-latitude meshes to a cubed sphere: each computed, or read from a folder, once.
#[derive(Debug)]
pub struct Weights {
    cache: WeightCache,
    known: Mutex<Vec<(Fingerprint, Fingerprint, Arc<Overlap>)>>,
}

impl Weights {
    /// Weights kept in `folder` between runs, if there is one.
    pub fn new(folder: Option<&Path>) -> Self {
        let cache = folder.map_or_else(WeightCache::none, WeightCache::at);
        Self { cache, known: Mutex::default() }
    }

    /// Weights from `mesh` to the cells of `grid`.
    ///
    /// # Errors
    /// [`RegridError::Io`] if the folder cannot be used.
    pub fn to_cube(&self, mesh: &LatLonMesh, grid: &CubedSphere) -> Result<Arc<Overlap>, RegridError> {
        let (from, to) = (Mesh::LatLon(mesh.clone()), Mesh::Cube(grid.clone()));
        let (source, target) = (from.fingerprint(), to.fingerprint());
        let mut known = self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some((.., overlap)) = known.iter().find(|(a, b, _)| *a == source && *b == target) {
            return Ok(overlap.clone());
        }
        let overlap = self.cache.get(&from, &to)?;
        known.push((source, target, overlap.clone()));
        Ok(overlap)
    }
}
