//! What to launch when: advection sweeps over all tiles of a rank.

pub mod advection;
mod halo;
mod threads;

pub use halo::HaloExchange;
pub use threads::Threads;
