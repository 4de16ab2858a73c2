//! ERA5 in GRIB: spectral vorticity, divergence, temperature and surface pressure, humidity on the reduced Gaussian grid,
//! every hour (spec 40 §1.10).
//!
//! Winds are evaluated from their spectra at the points of the Gaussian grid, where humidity is, and integrated along the
//! faces of the cube. Points of a ring begin at 0° east, so that cells have their centres there. A few levels are in work at a
//! time; files are never read as a whole.
//!
//! The reader itself needs feature `grib`; what it is told is here without it too.

#[cfg(feature = "grib")]
mod archive_files;
#[cfg(feature = "grib")]
mod convection;
#[cfg(feature = "grib")]
mod diffusion;
#[cfg(feature = "grib")]
mod grids;
#[cfg(feature = "grib")]
mod hours;
#[cfg(feature = "grib")]
mod parameters;
#[cfg(feature = "grib")]
mod reader;
#[cfg(feature = "grib")]
mod surface;

use std::path::PathBuf;

use super::archive::{NextDay, PhysicsGroup};

#[cfg(feature = "grib")]
pub use reader::Era5Reader;

/// Where the archive is and what is taken from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Era5Source {
    /// Folder of the core files.
    pub root: PathBuf,
    /// Folder of the files of convection and of the surface.
    pub physics_root: PathBuf,
    /// From winds to fluxes through faces.
    pub faces: Era5Faces,
    /// Physics to write.
    pub physics: Vec<PhysicsGroup>,
    /// What is done at the end of a day whose next day is not there.
    pub next_day: NextDay,
}

/// From winds to fluxes through faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era5Faces {
    /// Integrals of the archive's winds along the faces.
    LineIntegral,
    /// Means of the winds over the cells, and from these to the faces as for other archives.
    CellMeans,
}

#[cfg(feature = "grib")]
impl Era5Source {
    /// Whether a group of physics is wanted.
    fn wants(&self, group: PhysicsGroup) -> bool {
        self.physics.contains(&group)
    }
}
