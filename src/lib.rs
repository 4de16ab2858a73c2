//! Global trace-gas transport on the cubed sphere, driven by archived winds.
//!
//! Rooms, each depending on earlier ones only: [`files`], [`grid`], [`state`], [`device`], [`comm`], [`timers`], [`met`], [`operators`],
//! [`diagnostics`], [`output`], [`initial`], [`config`], [`model`], [`bench`], [`cli`].

pub mod bench;
pub mod cli;
pub mod comm;
pub mod config;
pub mod device;
pub mod diagnostics;
pub mod files;
pub mod grid;
pub mod initial;
pub mod met;
pub mod model;
pub mod operators;
pub mod output;
pub mod state;
pub mod timers;
