//! The `atmostr` program.
fn main() {}
