//! The window and substep loop.

mod air_mass;
pub mod clock;
mod error;
pub mod initial;
pub mod report;
mod run;
mod setup;

pub use error::{Blame, RunError, agree_on};
pub use run::run;
