//! Run configuration (TOML).
