//! Pure scalar numerics.
//!
//! Every function here is straight-line code over [`Real`](crate::Real): no branches (choices are
//! [`Real::select`](crate::Real::select)), no loops over data, no state, a multiply-add only where written. The same text
//! therefore serves scalars, [`Lanes`](crate::Lanes) and the [device form](crate::device), with the same bits.
//!
//! Conventions shared by all functions:
//! - A *window* `[R; 5]` holds the mixing ratios of five neighbouring cells in index order, the cell concerned in the
//!   middle. A *profile* is the pair `(b_l, b_r)`: edge value minus cell mean at the low and the high side.
//! - A *half slope* is half the difference of the mixing ratio across a cell, i.e. the offset of a linear profile at
//!   the cell's edge.
//! - Signed zeros: a compare-select against a constant is folded by some compilers into a hardware minimum that orders
//!   −0 below +0. With the constant as the second operand of `min` and `max`, and never −0, both give the same bits.
//! - All profiles are equivariant under reversal: the profile of the reversed window is the swapped profile (a zero may
//!   change its sign). Products of two mixing ratios are avoided, since they underflow in single precision for traces
//!   such as radon (1e-21).

mod cells;
mod convection;
mod decay;
mod deposit;
mod diffusion;
mod edges;
mod elimination;
mod faces;
mod fv3;
mod ledger;
mod masses;
mod partition;
mod profiles;
mod slopes;
mod spline;
mod sums;
mod swept;

pub use cells::{
    cell_colella_woodward, cell_colella_woodward_edges, cell_extremum_flat, cell_extremum_flat_edges,
    cell_fast_monotone, cell_fast_monotone_edges, cell_huynh, cell_huynh_positive, cell_huynh_where_curved,
    cell_positive_definite, cell_positive_definite_edges, cell_unlimited_edges,
};
pub use convection::{
    cloud_courant, convective_flux, downdraft_step, downdraft_tracer, finite_max, implicit_element, plume_ratio,
    subcloud_ratio, updraft_step, updraft_tracer,
};
pub use decay::decayed;
pub use deposit::{content_after_loss, deposit_part, deposit_rest, emitted_amount};
pub use diffusion::{
    background_ratio, content_above_background, content_on_background, diffusive_flux, exchange_from_rate,
    exchange_ratio, flux_update, mixing_ratio, open_exchange, tridiagonal_backward, tridiagonal_factors,
    tridiagonal_forward,
};
pub use edges::{edge_colella_woodward, edge_fourth_order, edge_large_scale, edge_one_sided, edge_two_sided};
pub use elimination::eliminated;
pub use faces::{face_coefficients, flux_donor, flux_linear, flux_parabola};
pub use fv3::{
    bends_little, cell_lin_rood_positive, cell_positive_between, edge_beside_face_edge, edge_two_sided_spaced,
    edge_two_sided_within, edges_fv3, face_value, lies_between, profile_fv3_hord_minus5, profile_fv3_hord11,
    profile_fv3_hord12, profile_fv3_hord13,
};
pub use ledger::{ledger_accepted, ledger_bound, ledger_refusal, ledger_step, ledger_step_without_carry};
pub use masses::{
    affordable_amount, affordable_part, content_at_kept_ratio, fused_parts, fusion_allowed, leaving_amount,
    mean_amount, outflow_ratio, predicted_mass,
};
pub use partition::{partition, partition_share, transfer_ratios};
pub use profiles::{
    profile_clipped_fourth_order, profile_fv3_hord8, profile_fv3_hord10, profile_linrood_ord5, profile_ppm_cw84,
    profile_ppm_huynh_pd, profile_ppm_monotone, profile_ppm_none, profile_slopes_monotone, profile_slopes_none,
    profile_slopes_positivity, profile_upwind,
};
pub use slopes::{half_slope_centred, half_slope_monotone, half_slope_positive};
pub use spline::{
    edge_between, edge_spline, edge_spline_positive, flux_within_content, held_after, layer_at_end, layer_beside_end,
    layer_positive, spline_bottom, spline_finish, spline_forward, spline_row, spline_start, spline_top,
};
pub use sums::{compensated_add, kahan_add, neumaier_add, sum_gap, two_sum};
pub use swept::{flux_monotonicity_preserving, flux_universal};
