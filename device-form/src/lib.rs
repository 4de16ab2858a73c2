//! Writes the device form of the numerics.
//!
//! The numerics are pure scalar functions over a trait `Real`, in a small subset of Rust. [`Form::read`] checks that they
//! keep to it and turns them into C that CUDA, OpenCL and Metal share: arrays and tuples become structs handed on by
//! value, so that no pointer and no address space occurs; every operation stays where it is written, so that the bits are
//! those of the Rust functions. [`Form::functions_text`] is that C. [`Form::conformance_text`] and
//! [`Form::conformance_table`] are one kernel and one Rust call per public function over the same flat numbers: the test
//! of all devices.
//!
//! The C expects the words `REAL`, `INLINE`, `LITERAL`, `real_min`, `real_max`, `REAL_ABS`, `REAL_SQRT`, `REAL_FMA` and,
//! for the kernels, `KERNEL`, `GLOBAL`, `VALUE`, `THREADS`, `LANE`, `GROUP`, `WIDTH` of the header it is put behind.

mod body;
mod conformance;
mod constants;
mod expression;
mod form;
mod index;
mod items;
pub mod literal;
mod meaning;
mod method;
mod names;
mod pattern;
mod rejection;
mod types;

pub use form::{Form, SourceFile};
pub use rejection::Rejection;
