//! Advection schemes as types, and the choice of one at model build.
