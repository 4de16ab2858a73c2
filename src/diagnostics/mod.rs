//! Exact totals, budgets and timers.

mod totals;

pub use totals::{exact_total, tracer_totals};
