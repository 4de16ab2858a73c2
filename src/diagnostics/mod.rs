//! Exact totals, column sums, sums over time, the tropopause.

mod columns;
mod exact_sum;
mod means;
mod totals;
mod transfers;
mod tropopause;

pub use columns::ColumnSums;
pub use exact_sum::{ExactSum, SumError};
pub use means::StateSums;
pub use totals::{exact_total, level_sum, local_sums, plane_total, tracer_totals, tracer_totals_into};
pub use transfers::{ColumnTransfers, Transfer};
pub use tropopause::{Tropopause, tropopause};
