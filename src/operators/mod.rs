//! What to launch when: advection sweeps over all tiles of a rank.

pub mod advection;
pub mod device;
mod halo;
mod threads;

pub use halo::{HaloCopies, HaloMessages, plan_halos};
pub use threads::Threads;
