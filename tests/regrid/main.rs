//! Conservative regridding: weights of other programs, sums, fields, files.

mod areas;
mod fields;
mod files;
mod meshes;
mod reference;
