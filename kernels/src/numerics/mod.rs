//! Pure scalar numerics.
