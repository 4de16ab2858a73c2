//! Exact totals, budgets and timers.

mod exact_sum;
mod totals;

pub use exact_sum::{ExactSum, SumError};
pub use totals::{exact_total, local_sums, plane_total, tracer_totals};
