//! Advection on the whole sphere: layout independence, an independent reference, conservation, seams, budgets.

mod budgets;
mod case;
mod conservation;
mod layouts;
mod long_runs;
mod naive;
mod naive_linrood;
mod reference;
mod run;
mod schemes;
mod seams;
mod sphere;
mod vertical;
