//! The window and substep loop.

mod air_mass;
mod checks;
pub mod clock;
mod error;
pub mod report;
mod run;
mod setup;

pub use error::{Blame, RunError, agree_on};
pub use run::run;
