//! The window and substep loop.

mod budget;
mod checks;
pub mod clock;
mod control;
mod engine;
mod error;
mod facts;
mod interval;
mod memory;
mod meteorology;
mod outlook;
mod physics;
pub mod report;
mod restart;
mod run;
mod setup;
mod snapshots;
mod stall;
mod timing;

pub use control::{Accepted, RunControl, StartFrom};
pub use error::{Blame, RunError, agree_on};
pub use outlook::{DiskUse, HaloUse, MemoryOutlook, Outlook, outlook};
pub use run::{run, run_under};
pub use stall::Stall;
