//! Weights kept in memory and on disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::{Fingerprint, Mesh, Overlap, RegridError, store};
use crate::files::{UnusableTarget, writable_folder};

/// Where weights are kept between uses.
///
/// Weights in use are shared within the process. In a folder there is one file per pair of geometries, named by their
/// fingerprints and the version of the format; both precisions of a run use the same one. A file that is damaged, of
/// another version or of other meshes is replaced.
#[derive(Debug)]
pub struct WeightCache {
    folder: Option<PathBuf>,
    in_use: Mutex<HashMap<(Fingerprint, Fingerprint), Weak<Overlap>>>,
}

impl WeightCache {
    /// Weights are computed when they are needed.
    pub fn none() -> Self {
        Self { folder: None, in_use: Mutex::default() }
    }

    /// Weights are kept as files in a folder, which is made if needed.
    pub fn at(folder: impl AsRef<Path>) -> Self {
        Self { folder: Some(folder.as_ref().to_path_buf()), in_use: Mutex::default() }
    }

    /// Weights from `src` to `dst`: those in use, else those on disk, else new ones.
    ///
    /// # Errors
    /// [`RegridError::Io`] if the folder cannot be made or written.
    pub fn get(&self, src: &Mesh, dst: &Mesh) -> Result<Arc<Overlap>, RegridError> {
        let key = (src.fingerprint(), dst.fingerprint());
        let in_use = || self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(weights) = in_use().get(&key).and_then(Weak::upgrade) {
            return Ok(weights);
        }
        // Not locked meanwhile: a thread that waits for its part of the work may be given another call of this.
        let weights = Arc::new(match &self.folder {
            None => Overlap::new(src, dst),
            Some(folder) => on_disk(folder, src, dst)?,
        });
        let mut in_use = in_use();
        if let Some(earlier) = in_use.get(&key).and_then(Weak::upgrade) {
            return Ok(earlier);
        }
        in_use.insert(key, Arc::downgrade(&weights));
        Ok(weights)
    }

    /// Whether the weights from `src` to `dst` can be had: they are in the folder, or it takes new ones. Leaves nothing behind.
    ///
    /// # Errors
    /// The folder, and why it cannot be used.
    pub fn check(&self, src: &Mesh, dst: &Mesh) -> Result<(), (PathBuf, UnusableTarget)> {
        let Some(folder) = &self.folder else { return Ok(()) };
        if folder.join(store::file_name(src, dst)).is_file() {
            return Ok(());
        }
        writable_folder(folder).map_err(|problem| (folder.clone(), problem))
    }

    /// The file that holds the weights from `src` to `dst`, whether it exists or not.
    pub fn file(&self, src: &Mesh, dst: &Mesh) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(store::file_name(src, dst)))
    }
}

fn on_disk(folder: &Path, src: &Mesh, dst: &Mesh) -> Result<Overlap, RegridError> {
    let path = folder.join(store::file_name(src, dst));
    match store::read(&path, src, dst) {
        Ok(weights) => {
            tracing::debug!("weights of {}", path.display());
            return Ok(weights);
        }
        Err(problem) if path.exists() => tracing::warn!("{}: {problem}; made anew", path.display()),
        Err(_) => {}
    }
    let weights = Overlap::new(src, dst);
    std::fs::create_dir_all(folder).map_err(RegridError::io(folder, "make the folder of weights"))?;
    store::write(&path, src, dst, &weights).map_err(RegridError::io(&path, "keep the weights"))?;
    Ok(weights)
}
