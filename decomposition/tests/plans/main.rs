//! Layouts, halo plans and seam plans against an independent description of the cube.

mod checks;
mod exhaustive;
mod oracle;
mod properties;
