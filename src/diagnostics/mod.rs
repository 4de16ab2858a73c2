//! Exact totals, budgets and timers.
