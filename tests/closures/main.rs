//! Boundary-layer closures: formulas, columns of other programs, and columns of a real forecast.

mod formulas;
mod mixing;
mod real;
mod reference;
