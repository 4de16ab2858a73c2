//! The window and substep loop.
