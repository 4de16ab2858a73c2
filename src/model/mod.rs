//! The window and substep loop.

pub mod clock;
pub mod initial;
