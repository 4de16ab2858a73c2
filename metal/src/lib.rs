//! The calls of Metal that the program makes: devices, programs, memory, and queues of launches and copies.
//!
//! On other systems than macOS the crate is empty. It knows nothing of the program: [`Gpu`] compiles text, a [`Queue`]
//! runs it on [`Buffer`]s, an [`Event`] orders one queue behind the other.

#[cfg(target_os = "macos")]
mod gpu;
#[cfg(target_os = "macos")]
mod queue;

#[cfg(target_os = "macos")]
pub use gpu::{Buffer, Facts, Gpu, Kernel, Library, count};
#[cfg(target_os = "macos")]
pub use queue::{Argument, Event, Mark, Queue};
