//! The prognostic state: air mass and tracers of one rank.

use std::sync::Arc;

use kernels::Scalar;

use super::{Slabs, TileSet};

/// Plane of the air mass in the packed state; tracer `t` lies in plane `t + 1`.
pub const AIR: usize = 0;

/// Dry air mass (kg) and, per tracer, mixing ratio × dry air mass (kg of carrier air), halo-padded, level-major.
#[derive(Clone, Debug)]
pub struct PackedState<R> {
    slabs: Slabs<R>,
    tracers: Vec<String>,
}

impl<R: Scalar> PackedState<R> {
    /// State of zeros. `tracers` are names in storage order.
    pub fn zeros(set: Arc<TileSet>, levels: usize, tracers: Vec<String>) -> Self {
        Self { slabs: Slabs::zeros(set, levels, tracers.len() + 1), tracers }
    }

    /// Tracer names in storage order.
    pub fn tracers(&self) -> &[String] {
        &self.tracers
    }

    /// Storage of all planes.
    pub fn slabs(&self) -> &Slabs<R> {
        &self.slabs
    }

    /// Storage of all planes, mutable.
    pub fn slabs_mut(&mut self) -> &mut Slabs<R> {
        &mut self.slabs
    }

    /// Tiles of this rank.
    pub fn tile_set(&self) -> &Arc<TileSet> {
        self.slabs.tile_set()
    }

    /// Number of levels.
    pub fn levels(&self) -> usize {
        self.slabs.levels()
    }
}
