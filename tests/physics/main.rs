//! Vertical physics in whole runs and between the sweeps: bits on every layout, conservation, order of operators.

mod case;
mod centre;
mod clouds;
mod conservation;
mod layouts;
mod runs;
