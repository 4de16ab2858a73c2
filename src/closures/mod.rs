//! Closures: what mixes a column of air vertically, from stored surface and upper-air fields.
//!
//! Plain f64 functions on single columns, called once per window on the host. Conventions:
//! - Slices run from the model top to the surface. A slice over edges has one entry more than there are layers; entry
//!   `k` is the top edge of layer `k`, the last entry is the surface.
//! - Fluxes of heat are positive upward (out of the surface); winds in m s⁻¹, specific humidity in kg kg⁻¹.
//! - Exchange is the air mass in kg s⁻¹ that two neighbouring layers swap: entry `k` belongs to the lower edge of layer
//!   `k`, the last entry is zero. With masses per area in place of masses it is per area as well.
//!
//! Nothing here allocates; what a closure needs besides its results lies in scratch that the caller keeps.

mod beljaars_viterbo;
pub mod constants;
mod convective_fluxes;
mod friction;
mod geometry;
mod geoschem;
mod holtslag_boville;
mod tm5;

pub use beljaars_viterbo::{LocalSurface, beljaars_viterbo};
pub use convective_fluxes::{ConvectiveFluxes, DraftCounts, DraftError, Drafts, drafts_from_fluxes};
pub use friction::{Friction, TenMetreWind, tm5_friction};
pub use geometry::{
    LayerTemperature, edges_from_mass, exchange_from_edge_diffusivity, exchange_rates, hybrid_edges, layer_thickness,
    unusable_layer,
};
pub use geoschem::{
    NonlocalColumn, NonlocalProfiles, NonlocalState, NonlocalSurface, PblHeight, emission_profile_at_surface,
    geoschem_diffusivity, geoschem_exchange, geoschem_nonlocal, geoschem_pbl_layers,
};
pub use holtslag_boville::{LocalColumn, holtslag_boville_local};
pub use tm5::{Tm5Column, Tm5Result, Tm5Rules, Tm5Scratch, tm5_boundary_layer};
