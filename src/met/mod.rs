//! Meteorology: transport files, their windows and analytic flows.

pub mod synth;
