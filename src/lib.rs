//! Global trace-gas transport on the cubed sphere, driven by archived winds.
//!
//! Rooms, each depending on earlier ones only: [`interrupt`], [`files`], [`grid`], [`regrid`], [`gridded`], [`spectral`], [`state`],
//! [`device`], [`comm`], [`timers`], [`met`], [`closures`], [`sources`], [`preprocess`], [`operators`],
//! [`diagnostics`], [`output`], [`restart`], [`initial`], [`config`], [`model`], [`mod@bench`],
//! [`verify`], [`cli`].

pub mod bench;
pub mod cli;
pub mod closures;
pub mod comm;
pub mod config;
pub mod device;
pub mod diagnostics;
pub mod files;
pub mod grid;
pub mod gridded;
pub mod initial;
pub mod interrupt;
pub mod met;
pub mod model;
pub mod operators;
pub mod output;
pub mod preprocess;
pub mod regrid;
pub mod restart;
pub mod sources;
pub mod spectral;
pub mod state;
pub mod timers;
pub mod verify;
