//! Exact totals, column sums, budgets and timers.

mod columns;
mod exact_sum;
mod totals;

pub use columns::ColumnSums;
pub use exact_sum::{ExactSum, SumError};
pub use totals::{exact_total, level_sum, local_sums, plane_total, tracer_totals, tracer_totals_into};
