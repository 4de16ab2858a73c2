//! What to launch when: advection sweeps over all tiles of a rank.

pub mod advection;
mod air_mass;
pub mod columns;
mod decay;
pub mod device;
mod halo;
mod memory;
mod threads;

pub use air_mass::{TracersAtReset, WindowEnd, reset_air_mass};
pub use decay::{Decaying, decay};
pub use halo::{HaloCopies, HaloMessages, plan_halos};
pub use memory::{ColumnOperators, LegTraffic, TransportSize};
pub use threads::Threads;
