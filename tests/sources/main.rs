//! Surface sources and decay: time axes, rates, two-word steps, files on the model's grid, budgets.

mod decay;
mod emission;
mod injection;
mod inventory;
mod inventory_files;
mod inventory_times;
mod native;
mod times;
