//! The window and substep loop.

mod budget;
mod checks;
pub mod clock;
mod engine;
mod error;
mod physics;
pub mod report;
mod run;
mod setup;
mod snapshots;
mod timing;

pub use error::{Blame, RunError, agree_on};
pub use run::run;
