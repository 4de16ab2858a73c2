//! The window and substep loop.

mod budget;
mod checks;
pub mod clock;
mod control;
mod engine;
mod error;
mod interval;
mod meteorology;
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
pub use run::{run, run_under};
pub use stall::Stall;
