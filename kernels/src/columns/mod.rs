//! Operators of single columns, vectorised over columns or tracers.

pub mod convection;
