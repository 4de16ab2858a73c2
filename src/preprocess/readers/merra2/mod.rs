//! MERRA-2: winds and humidity on 0.625° × 0.5° with half rows at the poles, 72 layers (spec 40 §1.4, §1.6).
//!
//! States are instantaneous every 3 h, winds are means over the blocks between them. Everything is regridded to the cube once
//! per block; dry air, humidity and temperature are linear in time inside a block, and each window gets its part of the mass
//! change.

mod block;
mod files;
mod layout;
mod reader;

use std::path::PathBuf;

use super::archive::{NextDay, PhysicsGroup};
use super::gridded::LevelOrder;

pub use layout::Merra2Layout;
pub use reader::Merra2Reader;

/// Blocks of a day: the time between two states is 3 h.
const BLOCKS: usize = 8;

/// Where the archive is and what is taken from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Merra2Source {
    /// Folder of the archive.
    pub root: PathBuf,
    /// Which files it holds.
    pub layout: Merra2Layout,
    /// Order of the layers in the files.
    pub order: LevelOrder,
    /// Physics to write; none with [`Merra2Layout::Nasa`].
    pub physics: Vec<PhysicsGroup>,
    /// What is done at the end of a day whose next day is not there.
    pub next_day: NextDay,
}

impl Merra2Source {
    /// Whether a group of physics is wanted.
    fn wants(&self, group: PhysicsGroup) -> bool {
        self.physics.contains(&group)
    }
}
