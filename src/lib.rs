//! Global trace-gas transport on the cubed sphere, driven by archived winds.
//!
//! Rooms, in the direction of their dependencies: [`grid`], [`state`], [`comm`] ← [`met`], [`operators`],
//! [`diagnostics`] ← [`output`], [`model`] ← [`config`], [`cli`].

pub mod bench;
pub mod cli;
pub mod comm;
pub mod config;
pub mod diagnostics;
pub mod files;
pub mod grid;
pub mod met;
pub mod model;
pub mod operators;
pub mod output;
pub mod state;
