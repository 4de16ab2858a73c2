//! Runs that are stopped and go on: the same bits as in one piece, on any layout and device (promise P3).

#[allow(dead_code)]
#[path = "../physics/case.rs"]
mod case;
mod chain;
#[cfg(unix)]
mod program;
mod refusals;
#[path = "../support/mod.rs"]
mod support;
