//! Exact totals, budgets and timers.

mod exact_sum;

pub use exact_sum::{ExactSum, SumError};
