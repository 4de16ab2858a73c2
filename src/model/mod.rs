//! The window and substep loop.

mod checks;
pub mod clock;
mod engine;
mod error;
pub mod report;
mod run;
mod setup;
mod snapshots;
mod timing;

pub use error::{Blame, RunError, agree_on};
pub use run::run;
