//! GEOS-IT and GEOS-FP on their own cubed sphere (spec 40 §1.3, §1.4, §1.11).
//!
//! The archives hold what the model moved: dry air through the eastern and northern faces of every cell (MFXC, MFYC), as a
//! pressure times an area for one dynamics step of 450 s, averaged over the hour. No winds are needed. Masses and fluxes are
//! taken on the archive's cells and summed over blocks of cells for a coarser cube.

mod bilinear;
mod cube;
mod fallback;
mod files;
mod layout;
mod mapping;
mod reader;

use std::path::PathBuf;

use super::archive::PhysicsGroup;
use super::gridded::LevelOrder;

pub use layout::GeosProduct;
pub use reader::GeosReader;

/// Hours of a day: windows are hours.
const HOURS: usize = 24;
/// Length of the dynamics step whose transport the archives hold, s.
const STEP_SECONDS: f64 = 450.0;

/// Where the archive is and what is taken from it.
#[derive(Clone, Debug, PartialEq)]
pub struct GeosSource {
    /// Which archive.
    pub product: GeosProduct,
    /// Folder of the archive.
    pub root: PathBuf,
    /// Folder of the files with physics; GEOS-IT has all in `root`.
    pub physics_root: PathBuf,
    /// Cells per panel edge of the archive.
    pub nc: usize,
    /// Order of the layers in the files.
    pub order: LevelOrder,
    /// Physics to write; GEOS-FP has none of [`PhysicsGroup::Vdiff`].
    pub physics: Vec<PhysicsGroup>,
}

impl GeosSource {
    /// Whether a group of physics is wanted.
    fn wants(&self, group: PhysicsGroup) -> bool {
        self.physics.contains(&group)
    }
}
